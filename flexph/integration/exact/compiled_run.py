"""Runs in compiled blocks of steps: the same steps as one by one, and the same rows."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.joined import Joined, JoinedStep
from ...kernels.gradient import is_sparse
from ...kernels.state import Configuration, Derived, derive, node_points
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.state import State, configuration
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ...sensors.quantities import LastStep
from ..compiled.gauss.steps import GaussTable
from ..compiled.near import NearPairs
from ..compiled.stepper import Stepper
from ..compiled.steps.books import Rows
from ..compiled.steps.calls import Answering, Calls, Within, nothing_within
from ..compiled.steps.pairs import Pair, no_pair
from ..compiled.steps.step import Parts, Table
from ..times.events import Watch
from ..times.loop import Accepted, Block, Run
from ..times.protocols import Entry
from ..times.recorder import LARGEST_PIECE
from ..times.sampled import Holding, JoinedResult, JoinedSteps, Plan, held_steps, plan_of
from .advance import EvaluatedState
from .composition import ComposedStepper
from .decaying import DecayingStepper
from .step import ExactStepper, StepResult, StepStart
from .step import Stepper as OneStep

if TYPE_CHECKING:
    from ...control.agreement import CompiledAgreement
    from ...mechanisms.mechanism import Mechanism

FIRST, SHORTEST, LONGEST = 16, 0.05, 0.2
"""Least steps of the first block, and durations of a block [s] between which its size is kept: it can be interrupted
only at its end."""
SLOW = 1e-6
"""Duration of a substep for each velocity [s], two or three times what was measured: of it the first block is made."""
GROWTH = 32
"""By which it grows at most from one to the next: the first steps may be easy."""


class Save(NamedTuple):
    """That every so many steps are saved, and how many were taken before those of a block."""

    every: int
    before: int

    def closes(self, step: int) -> bool:
        """Whether a step of the block, counted from one, is saved."""
        return (self.before + step) % self.every == 0


EACH = Save(1, 0)
"""That every step has a row of its own."""


_ROWS = ("state", "energy", "stage", "multipliers", "flows", "audit")
"""Columns of a recorder that the rows of loops stand for; what is left is for an audit."""


def _rows_of(times: Array, save: Save) -> int:
    """Rows of the steps between times, the one under way at their end among them."""
    return (save.before % save.every + len(times) - 1) // save.every + 1


class Window:
    """What a table holds of one of its steps, under more inputs that are the same at all its times.

    It is written over for each step: that takes a third of the time of new arrays.
    """

    def __init__(self, table: Any, spans: Mapping[str, tuple[int, int]]) -> None:
        varying = {name: span for name, span in spans.items() if name == "inputs" or len(getattr(table, name)) > 1}
        own = {name: getattr(table, name)[: span[1]].copy() for name, span in varying.items()}
        self._table = table._replace(**own)
        self._inputs, self._given = self._table.inputs, table.inputs
        self._points = spans["inputs"][0] if len(table.inputs) > 1 else 0
        del varying["inputs"]
        self._rows = [(own[name], getattr(table, name), *span) for name, span in varying.items()]

    def at(self, k: int, inputs: Array) -> Any:
        """The table of the k-th step."""
        for own, given, step, rows in self._rows:
            own[:] = given[k * step : k * step + rows]
        first = k * self._points
        np.add(self._given[first : first + (self._points or 1)], inputs, out=self._inputs)
        return self._table


class BlockStepper:
    """Many steps of a stepper at once, by compiled loops: a workspace that keeps nothing from one block to the next.

    Inputs are taken at so many ``points`` of a step.
    """

    stepper: OneStep

    def __init__(self, mechanism: Mechanism, stepper: ExactStepper | ComposedStepper) -> None:
        self.mechanism, self.stepper = mechanism, stepper
        self.exact = stepper.inner if isinstance(stepper, ComposedStepper) else stepper
        redundant = (1,) if self.exact.least_norm else ()
        radius = self.exact.radius if isinstance(self.exact, DecayingStepper) else 1.0
        shares, weights = np.array(stepper.shares), np.array(stepper.weights)
        decay = (1,) if isinstance(self.exact, DecayingStepper) else ()
        contact: tuple[int, ...] = () if self.exact.arrays.contacts.laws.rigid.all() else (1,)
        if contact and not redundant and mechanism.once(NearPairs).is_pile:
            contact = (1, 1)
        self.parts = Parts(shares, weights, self.exact.depth, self._pair(), redundant, decay, contact)
        self.compiled = Stepper(mechanism, stepper.accounts, self.parts)
        self.compiled.memory.decay_share[:] = (1.0 - radius) / (1.0 + radius)
        self.points = len(self.parts.shares)
        self.limit = self.limited(2 * len(self.parts.shares))

    @property
    def accounts(self) -> Accounts:
        """The accounts of its energies and flows."""
        return self.stepper.accounts

    @property
    def cost(self) -> float:
        """Duration of a step by NumPy over that of one substep; those of large mechanisms may be refused there."""
        refused = isinstance(self.exact, DecayingStepper) and is_sparse(self.exact.arrays)
        return math.inf if refused else float(len(self.parts.shares))

    @property
    def first(self) -> int:
        """Steps of the first block."""
        return max(FIRST, int(SHORTEST / (SLOW * self.points * max(self.exact.motions, 1))))

    def _pair(self) -> Pair:
        """What pairs of steps are judged by, of steps that are none."""
        return no_pair()

    def limited(self, rows: int) -> int:
        """Most steps of a block whose table has so many rows for each."""
        of_table = rows * (self.exact.arrays.term_row.size + self.exact.rows_of_g)
        return max(1, LARGEST_PIECE // (sum(self.compiled.widths) + of_table))

    def start(self, start: State) -> StepStart:
        """Where a run starts."""
        return self.put(self.exact.standing(start))

    def put(self, start: StepStart) -> StepStart:
        """Set where the next step starts, with energies to the bits of those of the rows."""
        state = start.state
        points = lambda: node_points(self.exact.arrays, state.c.r, state.d.arm)  # noqa: E731
        self.compiled.put(state.c, start.history, state.defect, points)
        start = start._replace(energy=self.compiled.between()[1])
        self.compiled.name(start)
        return start

    def table(self, times: Array) -> Table | GaussTable:
        """What time prescribes over the steps between the times."""
        shares = self.parts.shares
        ends = times[:-1, None] + np.diff(times)[:, None] * np.cumsum(shares)
        ends[:, -1] = times[1:]
        fine = np.append(times[0], ends.ravel())
        table, inputs = self.exact.table, self.exact.forcing.over(0.5 * (fine[1:] + fine[:-1]))
        given = fine, *table.over(fine), inputs, table.references.over(fine)
        return Table(*map(np.ascontiguousarray, given))  # whose types single steps do not look at

    def spans(self) -> dict[str, tuple[int, int]]:
        """Of the fields of a table: by how many rows a step goes on, and how many it looks at."""
        n = self.compiled.substeps
        ends, each = (n, n + 1), (n, n)
        return {
            "times": ends,
            "coefficient": ends,
            "offset": ends,
            "own_coefficient": each,
            "own_offset": each,
            "inputs": (self.points, self.points),
            "moved": each,
        }

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s], by NumPy where the loops do not solve it; raises StepFailed."""
        times = np.array([start.time, time])
        rows, solved = self._taken(start, times, self.table(times), EACH)
        return self._result(start, times, rows) if solved else self.stepper.step(start, time)

    def _result(self, start: StepStart, times: Array, rows: Rows) -> StepResult:
        """The step between two times in its row."""
        time = float(times[1])
        return StepResult(
            end=self.end(time, rows.state[0]),
            middle=0.5 * (start.time + time),
            stage=rows.stage[0],
            multipliers=rows.multipliers[0],
            flows=rows.flow[0],
            residuals=rows.audit[0, :4],
            counts=rows.audit[0, 4:],
        )

    def _taken(
        self,
        start: StepStart,
        times: Array,
        table: Table | GaussTable,
        save: Save,
        flows: Any = 0.0,
        room: Mapping[str, Array] | None = None,
    ) -> tuple[Rows, int]:
        """Rows of the steps of a table, the first one going on from ``flows``, and how many steps are solved.

        What stands in rows that a recorder keeps is written to its ``room`` for them at once.
        """
        if start is not self.compiled.stands:
            self.put(start)
        solved, count, room = np.zeros(1, dtype=np.int64), _rows_of(times, save), room or {}
        sizes = zip(_ROWS, self.compiled.widths, strict=True)
        rows = Rows(*(room[name] if name in room else np.zeros((count, width)) for name, width in sizes))
        rows.flow[0] = flows
        self.compiled.take(table, save.every, save.before, rows=rows, solved=solved)
        while not solved[0] and self.compiled.leaves_list:
            self.put(start)
            self.compiled.take(table, save.every, save.before, rows=rows, solved=solved)
        return rows, int(solved[0])

    def steps(self, run: Run, times: Array, table: Table | GaussTable, save: Save) -> Block:
        """Steps of a run between the times, up to one that is not solved, in rows of those that are saved.

        Flows go on from those of the row under way: their sums are the same wherever blocks end.
        """
        start, flows = run.start, run.recorder.under_way("flows")
        room = {} if run.watch.active else run.recorder.room(_rows_of(times, save))  # steps may be taken again
        rows, steps = self._taken(start, times, table, save, flows if save.every > 1 else 0.0, room)
        last = np.arange(save.every - save.before % save.every, steps + 1, save.every)  # step of each row
        saved = np.ones(last.size, dtype=bool)
        if steps and (not last.size or last[-1] < steps):
            last, saved = np.append(last, steps), np.append(saved, False)
        k = last.size
        if not k:
            return Block({}, saved, start, 0)
        return Block(
            self.booked(times, rows, last),
            saved,
            self.end(float(times[steps]), rows.state[k - 1].copy()),
            steps,
            ("flows",),
        )

    def booked(self, times: Array, rows: Rows, last: Array) -> dict[str, Array]:
        """What is recorded of rows, by column; ``last`` is the last step of each."""
        k = last.size
        return {
            "time": times[last, None],
            "middle": 0.5 * (times[last - 1] + times[last])[:, None],
            "state": rows.state[:k],
            "energy": rows.energy[:k],
            "multipliers": rows.multipliers[:k],
            "stage": rows.stage[:k],
            "flows": rows.flow[:k],
            "residuals": rows.audit[:k, :4],
            "counts": rows.audit[:k, 4:],
        }

    def end(self, time: float, x: Array) -> StepStart:
        """Where the steps have come to, a flat state."""
        defect, energy = self.compiled.between()
        state = EvaluatedState(x, partial(self._place, x), defect)
        end = StepStart(time, state, energy, self.compiled.history())
        self.compiled.name(end)
        return end

    def _place(self, x: Array) -> tuple[Configuration, Derived]:
        c = configuration(self.mechanism, x)
        return c, derive(self.exact.arrays, c)


def in_blocks(run: Run, blocks: BlockStepper, grid: Array, save_every: int) -> Iterator[Entry]:
    """Steps from each time to the next, in blocks of a size that takes a tenth of a second."""
    done, size = run.reached, blocks.first
    while done < len(grid) - 1:
        clock, before = time.perf_counter(), done
        asked = slice(done, done + min(size, blocks.limit, len(grid) - 1 - done))
        save = Save(save_every, done)
        for entry in _entries(run, blocks, grid[asked.start : asked.stop + 1], save):
            done += entry.reached
            yield entry
        elapsed = time.perf_counter() - clock
        if isinstance(entry, Accepted) or elapsed > LONGEST:  # what was prepared for the rest of the block is lost
            size = max((asked.stop - before) // 2, 1)
        elif done == asked.stop:
            size = next_size(size, elapsed)


def next_size(size: int, elapsed: float) -> int:
    """Steps of a block after one of so many that took so long [s]."""
    return int(size * min(GROWTH, max(SHORTEST / elapsed, 2.0))) if elapsed < SHORTEST else size


def _entries(run: Run, blocks: BlockStepper, times: Array, save: Save) -> Iterator[Entry]:
    """Steps between the times, one at least; one that the compiled loop does not solve ends them."""
    run.trying(float(times[0]), float(times[-1]))
    try:
        table = blocks.table(times)
    except KeyboardInterrupt:
        if not run.watch.active:
            yield from _in_time(run, blocks, times, save)
        raise
    except ValueError:  # some time of the block has no value: the step by itself says what is wrong, if it is that one
        yield not_compiled(run, blocks.stepper, float(times[1]), save.closes(1))
        return
    if run.watch.active:
        yield from _watched(run, blocks, (times, table), save)
        return
    block = blocks.steps(run, times, table, save)
    k = block.reached
    if k:
        yield block
    if k < len(times) - 1 and not blocks.compiled.leaves_list:
        yield not_compiled(run, blocks.stepper, float(times[k + 1]), save.closes(k + 1))


def _watched(run: Run, blocks: BlockStepper, given: tuple[Array, Any], save: Save) -> Iterator[Entry]:
    """Steps between the times of a table up to one in which an event may occur, which is looked at by itself."""
    times, table = given
    block = blocks.steps(run, times, table, EACH)
    reached = block.reached
    assert isinstance(run.watch, Watch)
    quiet = run.watch.quiet(times[1 : reached + 1], block.rows["state"]) if reached else 0
    if 0 < quiet < reached:  # taken again, to where the step begins that an event occurs in
        block = blocks.steps(run, times[: quiet + 1], blocks.table(times[: quiet + 1]), EACH)
    if quiet:
        saved = np.array([save.closes(k) for k in range(1, quiet + 1)])
        yield block._replace(saved=saved, carried=())
    if quiet < reached:
        start, end = run.start, float(times[quiet + 1])
        run.trying(start.time, end)
        step = partial(blocks.step, start)
        yield Accepted(start, step(end), step, saved=save.closes(quiet + 1))
    elif reached < len(times) - 1 and not blocks.compiled.leaves_list:
        yield not_compiled(run, blocks.stepper, float(times[reached + 1]), save.closes(reached + 1))


def _in_time(run: Run, blocks: BlockStepper, times: Array, save: Save) -> Iterator[Entry]:
    """What can be finished of a block in the time that one takes."""
    clock = time.perf_counter()
    with suppress(ValueError):  # of drives and inputs at times to which the run does not come
        for k in range(len(times) - 1):
            if time.perf_counter() - clock > LONGEST:
                return
            step = times[k : k + 2]
            block = blocks.steps(run, step, blocks.table(step), save._replace(before=save.before + k))
            if not block.reached:
                return
            yield block


def not_compiled(run: Run, stepper: OneStep | Holding | JoinedSteps, time: float, saved: bool) -> Accepted:
    """A step without compiled kernels, which say why where they fail."""
    start = run.start
    run.trying(start.time, time)
    return Accepted(start, stepper.step(start, time), partial(stepper.step, start), saved=saved)


def in_chunks(run: Run, blocks: BlockStepper, loops: ControlLoops, grid: Array, save_every: int) -> Iterator[Entry]:
    """Steps of compiled loops, of which as many are booked together as take a tenth of a second."""
    plan, size = plan_of(run, loops, grid, save_every), FIRST
    k = plan.next
    while k < plan.times.size:
        clock = time.perf_counter()
        chunk = _Chunk(run, blocks, loops, (plan._replace(next=k), min(size, blocks.limit)))
        try:
            chunk.take()
        finally:  # an error of a controller or an interruption leaves what is finished
            if chunk.done:
                yield chunk.block()
        k += chunk.done
        if chunk.failed:
            end, saved = float(plan.times[k]), bool(plan.saved[k])
            step = not_compiled(run, held_steps(blocks.stepper, loops), end, saved)
            if isinstance(step.result, JoinedResult) and loops.joined is not None:
                loops.joined.commit(step.result.agreed)
            loops.follow(step.result, end - run.start.time)
            yield step._replace(reached=int(plan.of_grid[k]), then=loops.kept)
            k += 1
        else:
            size = next_size(size, time.perf_counter() - clock)


class _Chunk:
    """Some steps of a plan, and the rows that they leave."""

    def __init__(self, run: Run, blocks: BlockStepper, loops: ControlLoops, which: tuple[Plan, int]) -> None:
        self.run, self.blocks, self.loops = run, blocks, loops
        self.plan, most = which
        self.times = self.plan.times[self.plan.next - 1 : self.plan.next + most]
        self.rows = Rows(*(np.zeros((self.times.size - 1, width)) for width in blocks.compiled.widths))
        self.held = np.zeros((self.times.size - 1, loops.held.size))
        self.joined: list[JoinedStep] = []
        self.agreed: dict[str, Array] = {}
        self.done, self.failed = 0, False

    def take(self) -> None:
        """Take the steps, up to one that the loops do not solve."""
        self.run.trying(float(self.times[0]), float(self.times[-1]))
        self.blocks.put(self.run.start)
        joined = self.loops.joined
        if joined is None:
            self._take_in_one(nothing_within())
        elif self.loops.is_compiled:
            self._take_agreed(joined)
        else:
            self._take_joined(joined)

    def _take_in_one(self, within: Within, agreement: CompiledAgreement | None = None) -> None:
        """Steps in one loop, which calls those whose outputs are held."""
        times, states, start = self.times.tolist(), self.rows.state, self.run.start.x

        def call(k: int) -> None:
            self.loops.call(times[k], states[k - 1] if k else start, self._last(k))
            if agreement is not None:
                agreement.hold(k)

        answering, solved, due = Answering(call), np.zeros(1, dtype=np.int64), self.loops.due(self.times[:-1])
        asked: Any = None
        if self.loops.are_called_compiled:
            from ...control.agreement import CompiledCalls

            self.loops.begin_calls()
            asked = CompiledCalls(self.loops.feedback, self.times, (start, states), self.loops.held)
            asked.due[:] = due
        address, data = (answering.address, 0) if asked is None else (asked.address, asked.data)
        calls = Calls(address, data, due.max(axis=1, initial=0), self.loops.held, self.held, within)
        try:
            self.blocks.compiled.take(self._own_inputs(), 1, 0, rows=self.rows, solved=solved, calls=calls)
        finally:
            self.done = int(solved[0])
        if asked is not None:
            self.loops.end_calls(asked.calls())
            if self.done < len(due) and (asked.due[self.done] == 1).any():
                call(self.done)  # which says what is wrong with an answer
        if answering.error is not None:
            raise answering.error
        self.failed = self.done < len(self.times) - 1 and not self.blocks.compiled.leaves_list

    def _take_agreed(self, joined: Joined) -> None:
        """The same, with what acts within the steps in compiled code, too."""
        from ...control.agreement import CompiledAgreement

        start, states, ports = self.run.start, joined.states, self.loops.held.size
        try:
            agreement = CompiledAgreement(joined, self.times, start.x, ports)
        except ValueError:  # some time of the chunk has no value: the steps by themselves say what is wrong
            self._take_joined(joined)
            return
        try:
            self._take_in_one(self.blocks.compiled.within(agreement), agreement)
        finally:
            k = self.done
            agreement.commit(k)
            self.held[:k] += agreement.held(k)
            self.agreed, error = agreement.booked(states, k)
            energies, accounts = np.vstack([start.energy, self.rows.energy[:k]]), self.blocks.accounts
            self.rows.audit[:k, 0] = abs(accounts.balances(energies, self.rows.flow[:k]) + error)

    def _own_inputs(self) -> Any:
        """What time prescribes, with rows of inputs for each step."""
        table = self._table()
        if len(table.inputs) > 1:
            return table
        rows = (len(self.times) - 1) * self.blocks.points
        return table._replace(inputs=np.repeat(table.inputs, rows, axis=0))

    def _take_joined(self, joined: Joined) -> None:
        """Steps one by one, each until mechanism and controllers agree."""
        window, x, times = Window(self._table(), self.blocks.spans()), self.run.start.x, self.times.tolist()
        views = zip(*(rows[:, None] for rows in self.rows), strict=True)
        for k, own in enumerate(views):
            self.loops.call(times[k], x, self._last(k))
            self.held[k] = self.loops.held
            if not self._agree(joined, k, window, Rows(*own), x):
                self.failed = True
                return
            self.done, x = k + 1, self.rows.state[k]

    def _agree(self, joined: Joined, k: int, window: Window, rows: Rows, x: Array) -> bool:
        """Take a step with continuous controllers, each try from the same start; whether that is solved."""
        compiled, solved, held = self.blocks.compiled, np.zeros(1, dtype=np.int64), self.held[k].copy()
        start = compiled.kept()
        before = self.rows.energy[k - 1] if k else self.run.start.energy

        def take(answers: Array) -> tuple[None, Array]:
            compiled.go_back(start)
            if not compiled.step(window.at(k, held + answers), rows, solved):
                raise StepFailed("the compiled loops do not solve it", 0, 0.0)
            return None, rows.state[0]

        try:
            _, agreed = joined.step(x, (float(self.times[k]), float(self.times[k + 1])), take)
        except StepFailed:
            return False
        rows.audit[0, 0] = abs(self.blocks.accounts.balance(before, rows.energy[0], rows.flow[0]) + agreed.error)
        self.held[k] = held + agreed.held
        self.joined.append(agreed)
        joined.commit(agreed)
        return True

    def _last(self, k: int) -> LastStep:
        """What the step before the k-th one leaves, if any controller reads that."""
        if not (k and self.loops.read_steps):
            return self.loops.last
        return LastStep(self.rows.multipliers[k - 1], self.rows.flow[k - 1], float(self.times[k] - self.times[k - 1]))

    def _table(self) -> Any:
        """What time prescribes, without what the controllers hold."""
        held = self.loops.held.copy()
        self.loops.held[:] = 0.0
        try:
            return self.blocks.table(self.times)
        finally:
            self.loops.held[:] = held

    def block(self) -> Block:
        """The steps that are finished."""
        own = slice(self.plan.next, self.plan.next + self.done)
        last = self._last(self.done)
        self.loops.last = last._replace(multipliers=last.multipliers.copy(), flows=last.flows.copy())
        values = self.blocks.booked(self.times, self.rows, np.arange(1, self.done + 1))
        values["held"] = self.held[: self.done]
        if self.joined:
            rows = [step.row() for step in self.joined]
            self.agreed = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        values |= self.agreed
        end = self.blocks.end(float(self.times[self.done]), self.rows.state[self.done - 1].copy())
        return Block(values, self.plan.saved[own], end, int(self.plan.of_grid[own].sum()), then=self.loops.kept())
