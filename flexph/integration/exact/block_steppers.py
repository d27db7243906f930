"""Compiled steps of Gauss collocation, and pairs of steps with an estimate of their error."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.gradient import is_sparse
from ...numerics.arrays import Array
from ..compiled.gauss.steps import GaussTable
from ..compiled.stepper import GaussSteps
from ..compiled.steps.books import Rows
from ..compiled.steps.controlled import (
    CONTROLS,
    ENERGY,
    ERROR,
    GOES_ON,
    LAST,
    LONGEST,
    MOST,
    REACHED,
    REJECTED,
    STATUS,
    TOO_SMALL,
    UNSOLVED,
    H,
)
from ..compiled.steps.pairs import Pair
from ..compiled.steps.step import Table
from ..times.loop import Block, Run
from ..times.protocols import Entry
from ..times.step_control import Tried, controlled
from ..times.step_size import StepControlFailed, StepSize, StepSizeControl, StepTooSmall
from .compiled_run import EACH, BlockStepper, Save, next_size
from .composition import ComposedStepper
from .gauss import GaussStepper
from .pairs_of_steps import PairStepper
from .step import ExactStepper, Stepper, StepStart

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism


def blocks_of(mechanism: Mechanism, stepper: Stepper) -> BlockStepper:
    """What takes the steps of a stepper in blocks."""
    if isinstance(stepper, GaussStepper):
        return GaussBlocks(mechanism, stepper)
    if isinstance(stepper, PairStepper):
        return PairBlocks(mechanism, stepper)
    assert isinstance(stepper, ExactStepper | ComposedStepper)
    return BlockStepper(mechanism, stepper)


class Standing(NamedTuple):
    """What the next pair is chosen from: the step size, the largest kinetic energy [J], steps rejected before it."""

    size: StepSize
    known: float
    rejected: float


class Chosen(NamedTuple):
    """A block of pairs of steps that loops chose, None of none, what the next pair is chosen from, why it ended."""

    block: Block | None
    then: Standing
    status: float
    error: float


class PairBlocks(BlockStepper):
    """Pairs of steps with an estimate of their error (see :class:`PairStepper`), which loops or Python choose."""

    stepper: PairStepper

    def _pair(self) -> Pair:
        a = self.exact.arrays
        sizes = 3, self.exact.motions, self.exact.rows_of_g, a.contacts.number, 0, 0, 0
        return Pair(*[*map(np.zeros, sizes), np.zeros((0, 2))])

    def table_of(self, times: Array) -> Table | None:
        """What time prescribes through times that loops may choose steps between: nothing that varies, else None."""
        table = self.table(times[:2])
        if isinstance(table, GaussTable) or any(len(part) > 1 for part in table[1:]):
            return None
        return table._replace(times=np.ascontiguousarray(times))

    def controlled(
        self, run: Run, control: StepSizeControl, at: Standing, times: Array, save: Save, tries: int
    ) -> Chosen:
        """Pairs that loops choose, as many as they may try, from where a run stands through the times."""
        table, start, values = self.table_of(times), run.start, self._values(control, at, tries)
        assert table is not None
        run.trying(start.time, float(times[-1]))
        if start is not self.compiled.stands:
            self.put(start)
        count, solved = (save.before % save.every + len(times) - 1) // save.every + 1, np.zeros(1, dtype=np.int64)
        rows = Rows(*(np.zeros((count, width)) for width in self.compiled.widths))
        rows.flow[0] = run.recorder.under_way("flows")
        spaces = np.zeros(self.compiled.motion), np.zeros(3), np.zeros((count, 2))
        pair = Pair(*self.parts.pair[:4], values, *spaces)
        self.compiled.take_controlled(table, pair, (save.every, save.before), rows=rows, solved=solved)
        run.longest = max(run.longest, float(values[LONGEST]))
        size, known = StepSize(float(values[H]), float(values[LAST])), float(values[ENERGY])
        block = self._chosen(rows, pair, save)._replace(then=(size, known, None)) if solved[0] else None
        return Chosen(
            block, Standing(size, known, float(values[REJECTED])), float(values[STATUS]), float(values[ERROR])
        )

    def _values(self, control: StepSizeControl, at: Standing, tries: int) -> Array:
        """What loops choose pairs by."""
        own, values = control.controller, np.zeros(CONTROLS)
        relative, size = self.stepper.tolerance.relative, at.size
        values[: MOST + 1] = (
            *(tries, size.h, size.error, at.known, relative, own.smallest),
            *(own.order, own.safety, own.least, own.most),
        )
        values[REJECTED] = at.rejected
        return values

    def _chosen(self, rows: Rows, pair: Pair, save: Save) -> Block:
        """The rows of the pairs that loops took, the last one open where its time is not saved."""
        reached = int(pair.control[REACHED])
        closed = (save.before + reached) // save.every - save.before // save.every
        k = closed + int(pair.spans[closed, 1] > pair.spans[closed, 0])
        values = self.booked(np.zeros(2), rows, np.ones(k, dtype=int))
        spans = pair.spans[:k]
        values |= {"time": spans[:, 1:].copy(), "middle": spans.mean(axis=1, keepdims=True)}
        end = self.end(float(spans[k - 1, 1]), rows.state[k - 1].copy())
        return Block(values, np.arange(k) < closed, end, reached, ("flows",))

    def known(self, start: StepStart) -> float:
        """See :meth:`PairStepper.known`."""
        return self.stepper.known(start)

    def count(self, known: float) -> int:
        """See :meth:`PairStepper.count`."""
        return self.stepper.count(known)

    def attempt(self, run: Run, times: Array, known: float) -> Tried:
        """See :meth:`PairStepper.attempt`; by NumPy where the loops do not solve it."""
        start, ends = run.start, times[[0, 2]]
        run.trying(start.time, float(ends[1]))
        rows, solved = self._taken(start, ends, self.table(ends), EACH)
        if not solved:
            return self.stepper.attempt(run, times, known)
        motion, left, energy = self.parts.pair.found.tolist()
        step = start, self._result(start, ends, rows), partial(self.step, start)
        return self.stepper.judged(step, (motion, left), known, max(known, energy))


def controlled_in_blocks(
    run: Run, blocks: PairBlocks, control: StepSizeControl, grid: Array, save_every: int
) -> Iterator[Entry]:
    """Pairs of steps that their error allows, from each time to the next: chosen by loops, in blocks of a tenth of a
    second; where they do not solve one, by Python (see step_control.controlled)."""
    size, known, done, tries, rejected = control.first, blocks.known(run.start), run.reached, blocks.first, 0.0
    if run.then:
        size, known = StepSize(*run.then[0]), run.then[1]
    while done < len(grid) - 1:
        clock = time.perf_counter()
        times = np.append(run.start.time, grid[done + 1 : done + 1 + min(tries, blocks.limit)])
        at = Standing(size, known, rejected)
        block, (size, known, rejected), status, error = blocks.controlled(
            run, control, at, times, Save(save_every, done), tries
        )
        if block is not None:
            done += block.reached
            yield block
        if status == TOO_SMALL:
            small, cause = StepTooSmall(size.h, control.controller.smallest), blocks.stepper.cause(error)
            raise StepControlFailed(f"{small}: {cause}", run.start.time)
        if status == GOES_ON:
            tries = next_size(tries, time.perf_counter() - clock)
        if status == UNSOLVED and not blocks.compiled.leaves_list:
            run.reached, run.then = done, (size, known, None)
            entry = next(controlled(run, blocks, control, grid, save_every=save_every))
            done += entry.reached
            assert callable(entry.then)
            size, known, _ = entry.then()
            yield entry._replace(rejected=entry.rejected + int(rejected))
            rejected = 0.0


class GaussBlocks(BlockStepper):
    """Many steps of Gauss collocation at once."""

    def __init__(self, mechanism: Mechanism, stepper: GaussStepper) -> None:
        self.mechanism, self.stepper, self.exact = mechanism, stepper, stepper.inner
        self.tableau = stepper.collocation.tableau
        self.compiled = GaussSteps(mechanism, stepper.accounts, self.tableau)
        self.points = len(self.tableau.nodes)
        self.limit = self.limited(2 * (len(self.tableau.given) + 1))

    @property
    def cost(self) -> float:
        """See :attr:`BlockStepper.cost`; by NumPy the stages of a step are solved together, unless they are refused."""
        return math.inf if is_sparse(self.exact.arrays) else 4.0 * self.points

    def table(self, times: Array) -> GaussTable:
        """What time prescribes over the steps between the times."""
        rk, table, length = self.tableau, self.exact.table, np.diff(times)
        steps, points = length.size, times[:-1, None] + length[:, None] * rk.given[None, :-1]
        ends = table.over(times)
        given = [self._at_nodes(values, steps) for values in table.along(np.append(points, times[-1]))]
        nodes = times[:-1, None] + length[:, None] * rk.nodes
        stages = given[0][0], given[0][1], given[1][1]
        return GaussTable(*map(np.ascontiguousarray, (times, *ends, *stages, self.exact.forcing.over(nodes.ravel()))))

    def spans(self) -> dict[str, tuple[int, int]]:
        """See :meth:`BlockStepper.spans`."""
        stages = self.tableau.nodes.size
        known = {name: span for name, span in super().spans().items() if name != "moved"}
        return known | dict.fromkeys(("stage_coefficient", "stage_rate", "stage_offset"), (stages, stages))

    def _at_nodes(self, values: Array, steps: int) -> tuple[Array, Array]:
        """Values and rates at the nodes of all steps, by the interpolant through the Gauss-Lobatto points of each."""
        rk, stages = self.tableau, self.tableau.nodes.size
        if len(values) == 1:
            return values, np.zeros_like(values)
        rows = stages * np.arange(steps)[:, None] + np.arange(stages + 1)
        own = values[rows].reshape(steps, stages + 1, -1)
        return tuple((weights @ own).reshape(steps * stages, -1) for weights in (rk.value, rk.rate))
