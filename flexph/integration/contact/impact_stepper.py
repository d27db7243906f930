"""Impacts of steps with rigid contacts: where gaps are closed, or of those that would close within a step."""

from __future__ import annotations

import numpy as np

from ...contacts.levels import SparseLevel, gap_rates
from ...kernels.contacts.gaps import gaps_between, vectors_of
from ...kernels.convergence.tolerances import RESOLUTION
from ...mechanisms.model.constraints import velocities_of
from ...numerics.arrays import Array
from ..exact.step import StepStart
from .part_stepper import PartStepper
from .parts import Part
from .strikes import MOST, RESTING, Strikes, are_closing, in_loops, in_numpy

STRIKES = 200
"""Impacts at the beginning of a step."""
WIDE = 0.5
"""How near gaps are predicted to come that may be struck at the beginning of a step, over the largest way of one."""


class ImpactStepper(PartStepper):
    """The step of the exact scheme with impacts of its rigid contacts."""

    def _struck_in(self, start: StepStart, time: float) -> list[Part]:
        """Impacts of the contacts that would close within a step, at its start: one, or of many bodies all foreseen."""
        h, rigid, touching = time - start.time, self._rigid, self._touching(start)
        rate = gap_rates(self.arrays, start.state.c, start.state.d)
        if not (rate[self._bouncing] < -RESOLUTION * self._size(start) / h).any():
            return []
        points = self._free_points(start, time)
        vectors = vectors_of(self._contacts, points)
        before, after = self._gaps(start), gaps_between(self._contacts, vectors, vectors).before
        closing = rigid[are_closing((before[rigid], after[rigid]), rate[rigid], h)]
        index = np.union1d(touching, rigid[after[rigid] <= WIDE * h * np.abs(rate[rigid]).max(initial=0.0)])
        strikes: Strikes | None = None
        parts: list[Part] = []
        now = start
        while self._bouncing[closing].any() and len(parts) < STRIKES:
            if strikes is None:
                level = None if index.size > MOST or self._sides(index) is None else self._level(start, index)
                if not isinstance(level, SparseLevel):
                    return [self._strike(start, np.union1d(closing, touching))]
                near = in_loops if self.compiled else in_numpy
                strikes = Strikes(self.arrays, start, (points, h), (level, index), near)
            parts.append(self._strike(now, *strikes.acting(closing, touching)))
            now = parts[-1].end
            closing = strikes.closing(now, velocities_of(self.mechanism, now.state.c))
        return parts

    def _struck_where_closed(self, at: StepStart, closed: Array, still: float) -> Part | None:
        """The impact of all contacts that touch, if one of them closes; None where none does, faster than ``still``."""
        if not closed.size:
            return None
        v = velocities_of(self.mechanism, at.state.c)
        level = self._level(at, closed)
        rates = level.rates(v)[: closed.size]
        if rates.min() >= -max(RESTING * level.terms(v).max(), still):  # round-off of slips is in them, too
            return None
        return self._strike(at, closed, level)
