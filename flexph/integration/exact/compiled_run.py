"""Runs in compiled blocks of steps: the same steps as one by one, and the same rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...bodies.body import Body
from ...kernels.state import derive
from ...mechanisms.model.state import configuration
from ...numerics.arrays import Array
from ..compiled.gauss.steps import GaussTable
from ..compiled.stepper import Stepper
from ..compiled.steps.run import Parts, Rows, Table
from ..times.loop import Accepted, Block, Run
from ..times.protocols import Entry
from ..times.recorder import LARGEST_PIECE
from .advance import EvaluatedState
from .composition import ComposedStepper
from .step import ExactStepper, StepStart
from .step import Stepper as OneStep

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism

FIRST, SHORTEST, LONGEST = 16, 0.05, 0.2
"""Steps of the first block, and durations of a block [s] between which its size is kept: one can be interrupted."""
GROWTH = 32
"""By which it grows at most from one to the next: the first steps may be easy."""
WIDE = 1e8
"""Operations of a banded factorisation beyond which the sparse one of the NumPy kernels is faster."""


LARGE = 500
"""Coordinates of a body below which no band is too wide."""


def is_wide(mechanism: Mechanism) -> bool:
    """Whether the bands are too wide: many bodies that meet in one, a full matrix of a large body, or a large solid."""
    if any(_is_solid(body) for body in mechanism.bodies.values()):
        return True
    from ..compiled.build import constants

    border = mechanism.once(constants).border
    unknowns, width = (float(i) for i in border.size)
    return unknowns * width**2 + float(border.inners @ border.width.astype(float) ** 2) > WIDE


def _is_solid(body: Body) -> bool:
    """Whether a large body has a wide band in any order, as solids have: asked before arrays are made for the loops."""
    if body.size < LARGE or body.elasticity is None:
        return False
    strain = sparse.csr_array(body.elasticity.strain)
    linked = sparse.csr_array((np.ones(strain.nnz), strain.indices, strain.indptr), shape=strain.shape)
    pattern = sparse.coo_array(linked.T @ linked)
    place = np.argsort(reverse_cuthill_mckee(sparse.csr_array(pattern), symmetric_mode=True))
    width = float(np.abs(place[pattern.row] - place[pattern.col]).max())
    return body.size * width**2 > WIDE


def has_many_loops(mechanism: Mechanism) -> bool:
    """Whether closed loops have more constraints than the compiled search for dependent ones takes."""
    from ..compiled.redundancy import MOST_ROWS
    from ..compiled.workspace import constants_of_redundant

    return mechanism.once(constants_of_redundant).redundancy.row.size > MOST_ROWS


class Save(NamedTuple):
    """That every so many steps are saved, and how many were taken before those of a block."""

    every: int
    before: int

    def closes(self, step: int) -> bool:
        """Whether a step of the block, counted from one, is saved."""
        return (self.before + step) % self.every == 0


class BlockStepper:
    """Many steps of a stepper at once, by compiled loops: a workspace that keeps nothing from one block to the next."""

    stepper: OneStep

    def __init__(self, mechanism: Mechanism, stepper: ExactStepper | ComposedStepper) -> None:
        self.mechanism, self.stepper = mechanism, stepper
        self.exact = stepper.inner if isinstance(stepper, ComposedStepper) else stepper
        redundant = (1,) if self.exact.least_norm else ()
        self.parts = Parts(np.array(stepper.shares), np.array(stepper.weights), self.exact.depth, redundant)
        self.compiled = Stepper(mechanism, stepper.accounts, self.parts)
        self.limit = self.limited(2 * len(self.parts.shares))

    def limited(self, rows: int) -> int:
        """Most steps of a block whose table has so many rows for each."""
        of_table = rows * (self.exact.arrays.term_row.size + self.exact.rows_of_g)
        return max(1, LARGEST_PIECE // (sum(self.compiled.widths) + of_table))

    def put(self, start: StepStart) -> StepStart:
        """Set where the next step starts, with energies to the bits of those of the rows."""
        self.compiled.put(start.state.c, start.history, start.state.defect)
        return start._replace(energy=self.compiled.memory.run_energy.copy())

    def table(self, times: Array) -> Table | GaussTable:
        """What time prescribes over the steps between the times."""
        shares = self.parts.shares
        ends = times[:-1, None] + np.diff(times)[:, None] * np.cumsum(shares)
        ends[:, -1] = times[1:]
        fine = np.append(times[0], ends.ravel())
        return Table(fine, *self.exact.table.over(fine), self.exact.forcing.over(0.5 * (fine[1:] + fine[:-1])))

    def part(self, table: Any, k: int, inputs: Array) -> Any:
        """What a table holds of its k-th step, under inputs that are the same at all its times."""
        substeps = self.compiled.substeps
        first, last = slice(k * substeps, (k + 1) * substeps + 1), slice(k * substeps, (k + 1) * substeps)
        own = table._replace(times=table.times[first], inputs=inputs[None])
        if len(table.coefficient) == 1:
            return own
        return own._replace(
            coefficient=table.coefficient[first],
            offset=table.offset[first],
            own_coefficient=table.own_coefficient[last],
            own_offset=table.own_offset[last],
        )

    def steps(self, run: Run, times: Array, table: Table | GaussTable, save: Save) -> Block:
        """Steps of a run between the times, up to one that is not solved, in rows of those that are saved.

        Flows go on from those of the row under way: their sums are the same wherever blocks end.
        """
        start = run.start
        self.put(start)
        solved, count = np.zeros(1, dtype=np.int64), (save.before % save.every + len(times) - 1) // save.every + 1
        rows = Rows(*(np.zeros((count, width)) for width in self.compiled.widths))
        rows.flow[0] = run.recorder.under_way("flows")
        self.compiled.take(table, save.every, save.before, rows=rows, solved=solved)
        steps = int(solved[0])
        last = np.arange(save.every - save.before % save.every, steps + 1, save.every)  # step of each row
        saved = np.ones(last.size, dtype=bool)
        if steps and (not last.size or last[-1] < steps):
            last, saved = np.append(last, steps), np.append(saved, False)
        k = last.size
        if not k:
            return Block({}, saved, start, 0)
        values = {
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
        return Block(values, saved, self.end(float(times[steps]), rows.state[k - 1].copy()), steps, ("flows",))

    def end(self, time: float, x: Array) -> StepStart:
        """Where the steps have come to, a flat state."""
        c, m = configuration(self.mechanism, x), self.compiled.memory
        state = EvaluatedState(x, c, derive(self.exact.arrays, c), m.run_defect.copy())
        return StepStart(time, state, m.run_energy.copy(), self.compiled.history())


def in_blocks(run: Run, blocks: BlockStepper, grid: Array, save_every: int) -> Iterator[Entry]:
    """Steps from each time to the next, in blocks of a size that takes a tenth of a second."""
    done, size = run.reached, FIRST
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
        elif elapsed < SHORTEST:
            size = int(size * min(GROWTH, max(SHORTEST / elapsed, 2.0)))


def _entries(run: Run, blocks: BlockStepper, times: Array, save: Save) -> Iterator[Entry]:
    """Steps between the times, one at least; one that the compiled loop does not solve ends them."""
    run.trying(float(times[0]), float(times[-1]))
    try:
        table = blocks.table(times)
    except KeyboardInterrupt:
        yield from _in_time(run, blocks, times, save)
        raise
    except ValueError:  # some time of the block has no value: the step by itself says what is wrong, if it is that one
        yield not_compiled(run, blocks.stepper, float(times[1]), save.closes(1))
        return
    block = blocks.steps(run, times, table, save)
    k = block.reached
    if k:
        yield block
    if k < len(times) - 1:
        yield not_compiled(run, blocks.stepper, float(times[k + 1]), save.closes(k + 1))


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


def not_compiled(run: Run, stepper: OneStep, time: float, saved: bool) -> Accepted:
    """A step without compiled kernels, which say why where they fail."""
    start = run.start
    run.trying(start.time, time)
    return Accepted(start, stepper.step(start, time), partial(stepper.step, start), saved=saved)
