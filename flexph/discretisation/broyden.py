"""The iteration of a step: Newton's method with Broyden's updates of a Jacobian, given or made by differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..numerics.arrays import Array
from ..numerics.differences import FORWARD, forward
from ..numerics.step_failed import StepFailed

SETTLED = 1e-17
"""Expected size of the next correction, relative to the unknowns, at which the iterate is exact to round-off."""
LEAST = 1e-3
"""Reduction by one iteration that is not trusted further: a lucky one says nothing about the next."""
STAGNATED = 1e-9
"""Correction below which an iteration that no longer improves has met the round-off of the equations."""
STALLED = 1e-6
"""The same where the Jacobian is of this iterate: a multiplier near zero may know no more digits of itself."""
SUDDEN = 1e-4
"""Reduction, by a Jacobian of the same step, after which a correction as small as NOISE is the last: noise follows."""
NOISE = 3e-12
"""Correction that counts as round-off also where the Jacobian is an older one."""
FAR = 0.3
"""Relative correction from which on every iteration has a Jacobian of its own."""
SLOW = 0.2
"""Reduction of the correction by one iteration above which the Jacobian is made anew."""
MAX_ITERATIONS = 60
LEFT_OVER = 0.3
"""Share of a correction that may be left over, of either sign, where a search along it ends."""
TRIED = 40
"""Points of a search along one correction."""


SINGULAR, DIVERGED, UNSETTLED = 1, 2, 3
REASONS = {
    SINGULAR: "the Jacobian of the step is singular",
    DIVERGED: "the iteration diverged",
    UNSETTLED: "the iteration did not settle",
}


@dataclass
class Newton:
    """An iteration that keeps the inverse of its Jacobian from one step to the next and improves it on the way.

    Broyden's update ``B += (s − B y) sᵀB / sᵀB y`` (Kelley, Iterative Methods for Linear and Nonlinear Equations,
    ch. 7) in unknowns scaled by their sizes; a new Jacobian where that converges slowly: the one given, or by
    differences.
    """

    _inverse: Array | None = field(default=None, repr=False)
    _size: Array | None = field(default=None, repr=False)

    def solve(
        self,
        residual: Callable[[Array], Array],
        guess: Array,
        size: Array,
        jacobian: Callable[[Array], Array] | None = None,
    ) -> tuple[Array, int]:
        """A root of the residual near the guess, iterated to stagnation; ``size`` is that of each unknown."""
        if self._inverse is not None and self._size is not None:
            self._inverse *= (self._size / size)[:, None]  # unknowns are scaled by other sizes now
        self._size = size.copy()
        x, defect = guess, residual(guess)
        previous, fresh, here, renewed = np.inf, False, False, np.inf
        for iteration in range(1, MAX_ITERATIONS + 1):
            if self._inverse is None:
                scaled = _differences(residual, x, defect, size) if jacobian is None else jacobian(x) * size
                self._inverse, fresh = _inverted(scaled, iteration, previous), True
                here = True
            step = self._inverse @ defect
            correction = size * step
            change = float((np.abs(correction) / np.maximum(np.abs(x), size)).max(initial=0.0))
            if not change <= FAR and not here:  # no far step by an old Jacobian
                self._inverse = None
                continue
            if not np.isfinite(change):
                raise StepFailed(REASONS[DIVERGED], iteration, change)
            x, newest, here = x - correction, here, False
            new = residual(x)
            if change <= STAGNATED and change * expected_reduction(change, previous) <= SETTLED:
                return x, iteration
            if fresh and np.isfinite(previous) and change <= min(NOISE, SUDDEN * previous):
                return x, iteration
            if change > 0.5 * previous and change <= (STALLED if newest else NOISE):
                return x, iteration
            if newest:
                if change > 0.5 * renewed and change <= STALLED:  # nor did the Jacobian before: to and fro in round-off
                    return x, iteration
                renewed = change
            late = iteration == 1 and jacobian is not None and not fresh  # one that is given is cheap
            if (late or change > SLOW * previous) and change > NOISE:
                self._inverse, fresh = None, False
            elif change > STAGNATED:  # below, differences of the residual are noise
                self._update(step, defect - new)
            previous, defect = change, new
        raise StepFailed(REASONS[UNSETTLED], MAX_ITERATIONS, previous)

    def searched(self, residual: Callable[[Array], Array], guess: Array, size: Array) -> tuple[Array, int]:
        """The same for steps in which a stiff relation turns over, as dry friction does: each correction goes only as

        far as the residual along it keeps its sign, and the Jacobian is of every iterate, by differences.
        """
        x, defect, previous, before = guess, residual(guess), np.inf, 0.0
        for iteration in range(1, MAX_ITERATIONS + 1):
            self._inverse = _inverted(_differences(residual, x, defect, size), iteration, previous)
            self._size = size.copy()
            step = self._inverse @ defect
            change = float((np.abs(size * step) / np.maximum(np.abs(x), size)).max(initial=0.0))
            if not np.isfinite(change):
                raise StepFailed(REASONS[DIVERGED], iteration, change)
            share, x, defect = self._along(residual, x, step, size)
            if change <= NOISE:  # what it leaves is less: no need for another Jacobian
                return x, iteration
            if share == before == 1.0 and 0.5 * previous < change <= STALLED:
                return x, iteration
            previous, before = change, share
        raise StepFailed(REASONS[UNSETTLED], MAX_ITERATIONS, previous)

    def _along(
        self, residual: Callable[[Array], Array], x: Array, step: Array, size: Array
    ) -> tuple[float, Array, Array]:
        """All of a correction, or the share of it at which the next one has no part along it, and x and residual there.

        By false position between shares with parts of different sign, that of an end that stays twice being halved.
        """
        assert self._inverse is not None
        seen = step @ self._inverse / max(float(step @ step), np.finfo(float).tiny)
        low, high, left, right, share = 0.0, 1.0, 1.0, 1.0, 1.0
        for _ in range(TRIED):
            y = x - share * size * step
            defect_there = residual(y)
            part = float(seen @ defect_there)
            if (share == 1.0 and part >= -LEFT_OVER) or abs(part) <= LEFT_OVER:
                break
            if part > 0.0:
                low, left, right = share, part, 0.5 * right
            else:
                high, right, left = share, part, 0.5 * left if share < 1.0 else left
            share = low + (high - low) * left / (left - right)
        return share, y, defect_there

    def polished(self, residual: Callable[[Array], Array], x: Array, size: Array) -> Array:
        """One correction past the root just found: what an iteration leaves would add up over many steps."""
        assert self._inverse is not None
        return x - size * (self._inverse @ residual(x))

    def _update(self, step: Array, change: Array) -> None:
        assert self._inverse is not None
        image = self._inverse @ change
        scale = float(step @ image)
        if abs(scale) > 0.1 * float(step @ step):  # an update that nearly makes the matrix singular is left out
            row = step @ self._inverse
            self._inverse += ((step - image) / scale)[:, None] * row


def expected_reduction(change: float, previous: float) -> float:
    """Of the next correction: that of the last one, or what an older Jacobian is kept for where this is the first."""
    return SLOW if previous == np.inf else max(LEAST, change / previous)


def _differences(residual: Callable[[Array], Array], x: Array, defect: Array, size: Array) -> Array:
    """Jacobian in scaled unknowns, by forward differences."""
    return forward(residual, x, defect, FORWARD * np.maximum(np.abs(x), size)) * size


def _inverted(jacobian: Array, iteration: int, previous: float) -> Array:
    rows = np.abs(jacobian).max(axis=1)
    try:
        if not np.all(np.isfinite(jacobian)) or np.any(rows == 0.0):
            raise np.linalg.LinAlgError
        inverse: Array = np.linalg.inv(jacobian / rows[:, None]) / rows
    except np.linalg.LinAlgError:
        raise StepFailed(REASONS[SINGULAR], iteration, previous) from None
    return inverse
