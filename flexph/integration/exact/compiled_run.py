"""Runs in compiled blocks of steps: the same steps as one by one, and the same books."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...bodies.body import Body
from ...kernels.state import derive
from ...mechanisms.model.state import State, configuration
from ...mechanisms.poses.resolution import resolution
from ...numerics.arrays import Array
from ...results.ledger import make_ledger
from ...results.solution import Solution
from ..compiled.loops.steps import Parts, Rows, Table
from ..compiled.rows import LARGEST, BookedRows
from ..compiled.stepper import Stepper
from .advance import Place
from .step import Single, Station, Step

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism
    from .composition import Composed

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


class CompiledRun:
    """A run under way: rows of finished blocks, the row under way, and where the next step starts."""

    def __init__(self, mechanism: Mechanism, start: State, method: Single | Composed) -> None:
        self.mechanism, self.method, self.save_every, self.anchors = mechanism, method, 1, start.anchors
        self.single = method if isinstance(method, Single) else method.single
        shares, weights = (np.ones(1), np.ones(1)) if isinstance(method, Single) else (method.shares, method.weights)
        self.parts = Parts(np.array(shares, dtype=float), np.array(weights, dtype=float), self.single.depth)
        self.start = method.first(start)
        self.stepper = Stepper(mechanism, method.accounts, self.parts)
        self.stepper.put(self.start.place.c, self.start.memory, self.start.place.defect)
        self.start = self.start._replace(energy=self.stepper.memory.carried_energy.copy())  # to the bits of the rows
        self.rows = BookedRows(self.stepper.widths, self.start.x, self.start.energy)
        self.times, self.middles = [np.array([start.time])], [np.zeros(0)]
        self.steps = 0
        self.time = self.middle = start.time
        self.count, self.under_way = 0, (start.time, start.time)

    def march(self, grid: Array, bar: Any, save_every: int) -> None:
        """From each time to the next; raises NoConvergence, and what drives and inputs raise."""
        self.save_every, self.steps, size = save_every, len(grid) - 1, FIRST
        while self.count < len(grid) - 1:
            clock = time.perf_counter()
            asked = min(size, self._limit(), len(grid) - 1 - self.count)
            done = self._block(grid[self.count : self.count + asked + 1])
            bar.update(done)
            elapsed = time.perf_counter() - clock
            if done < asked or elapsed > LONGEST:  # what was prepared for the rest of the block is lost
                size = max(asked // 2, 1)
            elif elapsed < SHORTEST:
                size = int(size * min(GROWTH, max(SHORTEST / elapsed, 2.0)))

    def _limit(self) -> int:
        """Steps that a block may have."""
        a, stepper = self.single.arrays, self.stepper
        of_table = 2 * (a.term_row.size + self.single.rows_of_g) * len(self.parts.shares)
        return max(1, LARGEST // (sum(stepper.widths) + of_table))

    def _block(self, times: Array) -> int:
        """Take the steps between the times, one at least; how many were taken."""
        self.under_way = (float(times[0]), float(times[-1]))
        try:
            table = self._table(times)
        except KeyboardInterrupt:
            self._finish(times)
            raise
        except ValueError:  # some time of the block has no value: up to there one by one, which says what is wrong
            return self._one(float(times[1]))
        done = self._take(table, times)
        return done if done == len(times) - 1 else done + self._one(float(times[done + 1]))

    def _finish(self, times: Array) -> None:
        """What can be finished of a block in the time that one takes."""
        clock = time.perf_counter()
        with suppress(ValueError):  # of drives and inputs at times to which the run does not come
            for k in range(len(times) - 1):
                late = time.perf_counter() - clock > LONGEST
                if late or not self._take(self._table(times[k : k + 2]), times[k : k + 2]):
                    return

    def _take(self, table: Table, times: Array) -> int:
        """Take the steps of a table and keep those that were solved; how many."""
        solved = np.zeros(1, dtype=np.int64)
        rows = self._following(len(times) - 1)
        try:
            self.stepper.take(table, self.save_every, self.count, rows, solved)
        finally:
            if solved[0]:
                self._keep(times[: solved[0] + 1])
        return int(solved[0])

    def _table(self, times: Array) -> Table:
        shares = self.parts.shares
        ends = times[:-1, None] + np.diff(times)[:, None] * np.cumsum(shares)
        ends[:, -1] = times[1:]
        fine = np.append(times[0], ends.ravel())
        return Table(fine, *self.single.table.over(fine), self.single.forcing.over(0.5 * (fine[1:] + fine[:-1])))

    def _following(self, steps: int) -> Rows:
        """Rows for some steps, the first of them the one under way."""
        most = (self.count % self.save_every + max(self.steps - self.count, steps)) // self.save_every + 1
        return self.rows.following((self.count % self.save_every + steps) // self.save_every + 1, most)

    def _keep(self, times: Array) -> None:
        """Count the steps between the times, which are in the rows; the last row is under way until it is complete."""
        under_way = self.count % self.save_every
        self.rows.complete((under_way + len(times) - 1) // self.save_every)
        self.count += len(times) - 1
        ends = slice(self.save_every - 1 - under_way, None, self.save_every)
        self.times.append(times[1:][ends])
        self.middles.append(0.5 * (times[:-1] + times[1:])[ends])
        self.time, self.middle = float(times[-1]), 0.5 * float(times[-2] + times[-1])

    @property
    def _under_way(self) -> bool:
        """Whether the last row is not complete."""
        return self.count % self.save_every > 0

    def _station(self) -> Station:
        """Where the compiled steps stand."""
        if not self.count:
            return self.start
        m, x = self.stepper.memory, self.rows.state(self._under_way)
        c = configuration(self.mechanism, x)
        place = Place(x, c, derive(self.single.arrays, c), m.carried_defect.copy())
        return Station(self.time, place, m.carried_energy.copy(), self.stepper.remembered())

    def _one(self, time: float) -> int:
        """Take a step without compiled kernels, which say why where they fail."""
        self.under_way = (self.time, time)
        step = self.method.to(self._station(), time)
        _merge(step, self._following(1))
        self._keep(np.array([self.time, time]))
        self.stepper.put(step.end.place.c, step.end.memory, step.end.place.defect)
        return 1

    def longest(self, grid: Array) -> float:
        """The longest step of the run [s]."""
        return float(np.abs(self.parts.shares).max() * np.diff(grid).max())

    def solution(self) -> Solution:
        """The finished steps; the last one is always kept."""
        rows = self.rows.all(self._under_way)
        last, middle = ([self.time], [self.middle]) if self._under_way else ([], [])
        times, audit = np.concatenate([*self.times, last]), rows.audit[1:]
        resolved = resolution(self.mechanism, rows.state, np.diff(times) / audit[:, 5])
        return Solution(
            mechanism=self.mechanism,
            times=times,
            states=rows.state,
            multiplier_times=np.concatenate([*self.middles, middle]),
            multipliers=rows.multipliers[1:],
            stage_multipliers=rows.stage[1:],
            ledger=make_ledger(self.method.accounts, rows.energy, rows.flow[1:], audit, resolution=resolved),
            anchors=self.anchors,
            memory=self.stepper.remembered(),
        )


def _merge(step: Step, rows: Rows) -> None:
    """Book a step in the first of the rows, see record.merged."""
    rows.state[0], rows.energy[0], rows.stage[0] = step.end.x, step.end.energy, step.stage
    rows.multipliers[0] = step.multipliers
    rows.flow[0] += step.flows
    rows.audit[0, :4] = np.maximum(rows.audit[0], step.audit)[:4]
    rows.audit[0, 4:] += step.audit[4:]
