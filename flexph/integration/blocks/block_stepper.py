"""Block stepper, which takes many steps of a mechanism in one call of the compiled loops; and sizes of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...control.coupling import AT_MIDDLE, CompiledCoupling, EvaluationPoints
from ...kernels.state import derive, touching_points
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.state import State, configuration
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ..loops.memory.codes import PASSED
from ..loops.memory.structures import GaussTable, Kinds, Pair, Parts, Rows, Table, no_calls, no_pair
from ..loops.near_pairs import NearPairs
from ..loops.stepper import Stepper
from ..schemes.scheme import EvaluatedState, StepResult, StepStart
from ..times.loop import Block, Run
from ..times.recorder import LARGEST_PIECE
from ..times.step_control import ErrorEstimate
from .single_steps import as_one, time_of_contact
from .unsolved import unsolved

if TYPE_CHECKING:
    from ..schemes.scheme import Scheme


_ROWS = ("state", "energy", "stage", "multipliers", "flows", "audit")
"""Columns of a recorder that the rows of the loops fill; the remaining row is the audit."""
PILE = 2
"""Value of ``Kinds.contact`` for free rigid bodies that only contacts couple."""
HALVINGS, PASSINGS = 4, 12
"""Largest numbers of divisions of a step that is not solved, and of one in which bodies pass through each other."""


FIRST, SHORTEST, LONGEST = 16, 0.05, 0.2
"""Least number of steps of the first block; durations [s] between which the size of blocks is kept, as a run can be
interrupted only at the end of a block."""
SLOW = 4e-7
"""Duration of a substep per velocity [s], measured with planar chains; others take half or twice as long. It sets the
size of the first block."""
GROWTH = 32
"""Largest growth factor from one block to the next: the first steps may be easy."""


def first_size(substeps: int, velocities: int) -> int:
    """Number of steps of the first block of a run, for an estimated computing time of at least SHORTEST [s].

    Each step costs as much as ``substeps`` substeps of a mechanism with the given number of velocities.
    """
    return max(FIRST, int(SHORTEST / (SLOW * substeps * max(velocities, 1))))


def next_size(size: int, elapsed: float) -> int:
    """Number of steps of the next block, after one of ``size`` steps that took ``elapsed`` [s] of computing time."""
    return int(size * min(GROWTH, max(SHORTEST / elapsed, 2.0))) if elapsed < SHORTEST else size


def largest_size(numbers: int) -> int:
    """Largest number of steps of a block that stores ``numbers`` values for each step, by the limit of its memory."""
    return max(1, LARGEST_PIECE // numbers)


class SavingRule(NamedTuple):
    """Rule that saves every ``every``-th step of the run, for a block with ``before`` earlier steps of the run."""

    every: int
    before: int

    def closes(self, step: int) -> bool:
        """True if the step with the number ``step`` in the block, from one, is saved."""
        return (self.before + step) % self.every == 0

    def rows(self, steps: int) -> int:
        """Number of rows that ``steps`` steps of the block need at most.

        There is a row for each saved step, and another one for steps after the last saved step.
        """
        return (self.before % self.every + steps) // self.every + 1


EACH = SavingRule(1, 0)
"""Request to save every step."""


def table_over(scheme: Scheme, times: Array) -> Table:
    """Table of prescribed quantities such as drives and inputs, over the steps between ``times`` and their substeps."""
    fine = times
    if len(scheme.shares) > 1:
        ends = times[:-1, None] + np.diff(times)[:, None] * np.cumsum(scheme.shares)
        ends[:, -1] = times[1:]
        fine = np.append(times[0], ends.ravel())
    table = scheme.table
    inputs = scheme.forcing.at_times(0.5 * (fine[1:] + fine[:-1]), (float(times[0]), float(times[-1])))
    given = fine, *table.at_times(fine), inputs, table.references.at_times(fine)
    return Table(*map(np.ascontiguousarray, given))  # single steps do not check the types


class BlockStepper:
    """Stepper that takes many steps of a mechanism in one call of the compiled loops.

    Its workspace has no memory between blocks. Inputs are evaluated at ``points`` instants of each step.
    """

    def __init__(self, scheme: Scheme) -> None:
        self.scheme, self.mechanism = scheme, scheme.mechanism
        self.parts = self._parts()
        self.compiled = self._loops()
        radius = 1.0 if scheme.radius is None else scheme.radius
        self.compiled.memory.decay_share[:] = (1.0 - radius) / (1.0 + radius)
        self.points = len(self.parts.shares)
        self.limit = self.limited(2 * self.points)

    def _parts(self) -> Parts:
        """Options of the compiled stepper: substeps, weights of their multipliers, depth of history, kind of steps."""
        scheme, contact = self.scheme, int(self.accounts.compliant.size > 0)
        if contact and not scheme.least_norm and self.mechanism.once(NearPairs).is_pile:
            contact = PILE
        friction = int(bool(scheme.arrays.bearings.number))
        kinds = Kinds(int(scheme.least_norm), int(scheme.radius is not None), contact, friction)
        return Parts(np.array(scheme.shares), np.array(scheme.weights), scheme.depth, self._pair(), kinds)

    def _loops(self) -> Stepper:
        """Compiled stepper for the steps of the mechanism."""
        return Stepper(self.mechanism, self.accounts, self.parts)

    @property
    def accounts(self) -> Accounts:
        """Accounts, which compute energies, works and losses of the mechanism."""
        return self.scheme.accounts

    @property
    def first(self) -> int:
        """Number of steps of the first block of a run."""
        return first_size(self.points, self.scheme.motions)

    @property
    def evaluation(self) -> EvaluationPoints:
        """Points of time within a step at which feedback that acts in it is evaluated."""
        return AT_MIDDLE

    @property
    def estimate(self) -> ErrorEstimate | None:
        """Error estimate that chooses the lengths of steps; None if they are prescribed."""
        return None

    def _pair(self) -> Pair:
        """Arrays for the error of a pair of steps; empty if the stepper takes single steps."""
        return no_pair()

    def limited(self, rows: int) -> int:
        """Largest number of steps of a block that memory allows.

        The table of prescribed quantities of the block has ``rows`` rows for each step.
        """
        of_table = rows * (self.scheme.arrays.term_row.size + self.scheme.rows)
        return largest_size(sum(self.compiled.widths) + of_table)

    def start(self, start: State) -> StepStart:
        """Start of the first step from the initial state of a run, which is also written into the loops."""
        return self.put(self.scheme.start(start))

    def put(self, start: StepStart) -> StepStart:
        """Write the start of the next step into the loops; return it with the energies that the loops compute there."""
        state = start.state
        points = lambda: touching_points(self.scheme.arrays, state.c.r, state.d.arm)  # noqa: E731
        prescribed = self.scheme.table.references.held_at(start.time)
        self.compiled.put(state.c, start.history, state.defect, points, prescribed)
        start = start._replace(energy=self.compiled.between()[1])
        self.compiled.name(start)
        return start

    def table(self, times: Array) -> Table | GaussTable:
        """Table of prescribed quantities such as drives and inputs, over the steps between ``times``."""
        return table_over(self.scheme, times)

    def spans(self) -> dict[str, tuple[int, int]]:
        """For each field of a table: number of rows from one step to the next, and number of rows that a step uses."""
        n = self.compiled.substeps
        ends, each = (n, n + 1), (n, n)
        return {
            "times": ends,
            "coefficient": ends,
            "offset": ends,
            "coefficient_rate": each,
            "offset_rate": each,
            "inputs": (self.points, self.points),
            "moved": each,
        }

    def step(self, start: StepStart, time: float, table: Table | GaussTable | None = None) -> StepResult:
        """Take the step from a start to a time [s], in parts if it is not solved as a whole; raises StepFailed.

        ``table`` has the prescribed quantities over the step; by default they are evaluated.
        """
        return self._step(start, time, table, 0)

    def _step(self, start: StepStart, time: float, table: Table | GaussTable | None, divisions: int) -> StepResult:
        """Take a step; if that fails and the step may be divided, take two parts of it in turn and merge them.

        ``divisions`` counts how often it is divided already. Only steps with impacts, dry friction or collocation are
        divided.
        """
        try:
            return self.whole(start, time, table)
        except MotionEnded:
            raise
        except StepFailed as failed:
            error, middle = failed, self.division(start, time, divisions)
        if middle is None:
            raise error
        try:
            first = self._step(start, middle, None, divisions + 1)
            return as_one(start, (first, self._step(first.end, time, None, divisions + 1)), error.iterations)
        except MotionEnded:
            raise
        except StepFailed as half:
            raise error from half

    def whole(self, start: StepStart, time: float, table: Table | GaussTable | None = None) -> StepResult:
        """Take the step from a start to a time [s] in one part; raises StepFailed if it cannot be solved undivided."""
        times = np.array([start.time, time])
        rows, solved = self._taken(start, times, table or self.table(times), EACH)
        if not solved:
            raise self.failed(start, time)
        return self.result(start, times, rows)

    def division(self, start: StepStart, time: float, divisions: int) -> float | None:
        """Time [s] at which to divide the last step, which was not solved; None if it must not be divided.

        ``divisions`` counts how often it is divided already.
        """
        passed = self.compiled.memory.run_failure[0] == PASSED
        if not self._divides or divisions >= (PASSINGS if passed else HALVINGS):
            return None
        if passed and not self.scheme.by_events:
            return time_of_contact(self.scheme, start, self.compiled.reached(), time)
        return 0.5 * (start.time + time)

    @property
    def _divides(self) -> bool:
        """True if a step that is not solved may be divided."""
        return self.estimate is None and bool(self.scheme.arrays.bearings.number)

    def failed(self, start: StepStart, time: float) -> StepFailed:
        """Error that explains why the last step, from a start to a time [s], was not solved.

        If a function of the user raised an exception in the step, this exception is raised instead.
        """
        if self.compiled.failure is not None:
            raise self.compiled.failure
        return unsolved(self.scheme, self.compiled, start, time)

    def result(self, start: StepStart, times: Array, rows: Rows) -> StepResult:
        """Result of the step from ``start`` between two times (2,), with the values in the first row of ``rows``."""
        time = float(times[1])
        return StepResult(
            end=self.end(time, rows.state[0]),
            middle=0.5 * (start.time + time),
            stage=rows.stage[0],
            multipliers=rows.multipliers[0],
            flows=rows.flow[0],
            residuals=rows.audit[0, :4],
            counts=rows.audit[0, 4:7],
            complementarity=float(rows.audit[0, 7]),
            output=self.compiled.memory.run_step_output.copy(),
        )

    def _taken(
        self,
        start: StepStart,
        times: Array,
        table: Table | GaussTable,
        save: SavingRule,
        *,
        flows: Any = 0.0,
        room: Mapping[str, Array] | None = None,
    ) -> tuple[Rows, int]:
        """Take the steps of a table from a start, up to one that fails; return their rows and how many are solved.

        ``save`` tells which steps end a row. The works and losses of the first row are added to the values ``flows``.
        Columns in ``room``, the arrays of a recorder, are written in place.
        """
        if start is not self.compiled.stands:
            self.put(start)
        solved, count, room = np.zeros(1, dtype=np.int64), save.rows(len(times) - 1), room or {}
        columns = zip(_ROWS, self.compiled.widths, strict=True)
        rows = Rows(*(room[name] if name in room else np.zeros((count, width)) for name, width in columns))
        rows.flow[0] = flows
        self.compiled.take(table, save.every, save.before, rows=rows, solved=solved)
        while not solved[0] and self.compiled.leaves_list:
            self.put(start)
            self.compiled.take(table, save.every, save.before, rows=rows, solved=solved)
        return rows, int(solved[0])

    def coupled_rows(self, start: StepStart, table: Table | GaussTable, coupling: CompiledCoupling) -> tuple[Rows, int]:
        """Take a step with controllers that are solved within it; return its row, and 1 if it is solved, else 0."""
        if start is not self.compiled.stands:
            self.put(start)
        rows, solved = self.compiled.row(), np.zeros(1, dtype=np.int64)
        calls = no_calls()._replace(within=self.compiled.within(coupling))
        self.compiled.take(table, 1, 0, rows=rows, solved=solved, calls=calls)
        return rows, int(solved[0])

    def take(self, start: State, table: Table | GaussTable) -> Rows:
        """Take the steps of a table from the initial state of a run; return a row for each, or raise StepFailed."""
        begin = self.start(start)
        rows, solved = self._taken(begin, table.times, table, EACH)
        if solved < len(table.times) - 1:
            raise self.failed(begin, float(table.times[solved + 1]))
        return rows

    def segment(self, start: StepStart, table: Table) -> Rows:
        """Take the steps of a table from a start; return a row for each, or raise StepFailed."""
        rows, solved = self._taken(start, table.times, table, EACH)
        if solved < len(table.times) - 1:
            raise self.failed(start, float(table.times[solved + 1]))
        return rows

    def steps(self, run: Run, times: Array, table: Table | GaussTable, save: SavingRule) -> Block:
        """Take steps of a run between ``times``, up to one that fails; return the block with their rows.

        ``save`` tells which steps end a row. If the last block ended within a row, the works and losses of the first
        row continue the sums of that row, so that they do not depend on the ends of blocks.
        """
        start, flows = run.start, run.recorder.open_values("flows")
        room = {} if run.watch.active else run.recorder.room(save.rows(len(times) - 1))  # steps may be taken again
        rows, steps = self._taken(start, times, table, save, flows=flows if save.every > 1 else 0.0, room=room)
        last = np.arange(save.every - save.before % save.every, steps + 1, save.every)  # step of each row
        saved = np.ones(last.size, dtype=bool)
        if steps and (not last.size or last[-1] < steps):
            last, saved = np.append(last, steps), np.append(saved, False)
        k = last.size
        if not k:
            return Block({}, saved, start, 0)
        return Block(
            self.columns(times, rows, last),
            saved,
            self.end(float(times[steps]), rows.state[k - 1].copy()),
            steps,
            ("flows",),
        )

    def columns(self, times: Array, rows: Rows, last: Array) -> dict[str, Array]:
        """Columns of the recorder by name, from the rows of steps.

        ``last`` (k,) is the number of the last step in each of k rows.
        """
        k, ends = last.size, times[last]
        return {
            "time": ends[:, None],
            "middle": 0.5 * (times[last - 1] + ends)[:, None],
            "state": rows.state[:k],
            "energy": rows.energy[:k],
            "multipliers": rows.multipliers[:k],
            "stage": rows.stage[:k],
            "flows": rows.flow[:k],
            "residuals": rows.audit[:k, :4],
            "counts": rows.audit[:k, 4:7],
            **({"complementarity": rows.audit[:k, 7:]} if self.accounts.has_contact_laws else {}),
        }

    def end(self, time: float, x: Array) -> StepStart:
        """Start of the next step at the time and flat state ``x`` that the loops have reached."""
        defect, energy = self.compiled.between()
        place = partial(configuration, self.mechanism), partial(derive, self.scheme.arrays)
        state = EvaluatedState(x, place, defect)
        end = StepStart(time, state, energy, self.compiled.history())
        self.compiled.name(end)
        return end
