"""Newton's iteration of the steps of one run, and the search along its corrections where it does not settle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..numerics.differences import FORWARD, forward
from ..numerics.step_failed import StepFailed
from .iteration import DIVERGED, NEWTON, SINGULAR, SOLVED, UNSETTLED, Unknowns, invert, newton, relative

LEFT_OVER = 0.3
"""Share of a correction that may be left over, of either sign, where a search along it ends."""
TRIED = 40
"""Points of a search along one correction."""
PARTS = np.linspace(0.125, 1.0, 8)
"""Lengths of a step, over its own, by which its solution is followed where it is not found at once."""
REASONS = {
    SINGULAR: "the Jacobian of the step is singular",
    DIVERGED: "the iteration diverged",
    UNSETTLED: "the iteration did not settle",
}


@dataclass(frozen=True, eq=False)
class StepEquations:
    """The equations of a step: ``terms`` (x, part) is their residual with its terms, ``part`` its length over its own.

    ``derivative`` (x, part) is that of the residual; without it, it is taken by forward differences.
    """

    terms: Callable[[Array, float], tuple[Array, Any]]
    derivative: Callable[[Array, float], Array] | None = None
    part: float = 1.0

    def residual(self, x: Array) -> tuple[Array, Any]:
        """The residual and its terms."""
        return self.terms(x, self.part)

    def jacobian(self, x: Array, defect: Array, size: Array) -> Array:
        """The derivative of the residual by unknowns over their sizes."""
        return self.differences(x, defect, size) if self.derivative is None else self.derivative(x, self.part) * size

    def differences(self, x: Array, defect: Array, size: Array) -> Array:
        """The same by forward differences."""
        steps = FORWARD * np.maximum(np.abs(x), size)
        return forward(lambda y: self.residual(y)[0], x, defect, steps) * size


class Solved(NamedTuple):
    """The solution of the equations of a step, their terms there, and the number of iterations."""

    x: Array
    terms: Any
    iterations: int


class Newton:
    """An iteration that keeps the inverse of its Jacobian from one step to the next (:mod:`.iteration`)."""

    def __init__(self) -> None:
        self._inverse = np.zeros((0, 0))
        self._size = np.ones(0)
        self._known = np.zeros(1, dtype=int)

    def kept(self) -> tuple[Array, Array, Array]:
        """What the next step takes over: the inverse, its sizes, and whether it holds."""
        return self._inverse.copy(), self._size.copy(), self._known.copy()

    def restore(self, kept: tuple[Array, Array, Array]) -> None:
        """Set what the next step takes over."""
        self._inverse, self._size, self._known = (part.copy() for part in kept)

    def step(self, equations: StepEquations, x0: Array, guess: Array, size: Array) -> Solved:
        """The solution of a step from x₀; raises StepFailed.

        Where it is not found at once, long steps may turn the motion around: the step is grown up to its length. Where
        that fails too, friction may turn over.
        """
        try:
            return self.solve(equations, guess, size)
        except StepFailed:
            pass
        try:
            return self._grown(equations, x0, size)
        except StepFailed as error:
            try:
                return self.searched(equations, guess, size)
            except StepFailed:
                raise error from None

    def _grown(self, equations: StepEquations, x0: Array, size: Array) -> Solved:
        solved, iterations = Solved(x0, None, 0), 0
        for part in PARTS.tolist():
            self._known[0] = 0
            solved = self.solve(replace(equations, derivative=None, part=part), solved.x, size)
            iterations += solved.iterations
        return solved._replace(iterations=iterations)

    def solve(self, equations: StepEquations, guess: Array, size: Array) -> Solved:
        """A root of the residual near the guess, iterated to stagnation; ``size`` is that of each unknown."""
        if self._size.size != guess.size:
            self._inverse, self._size = np.zeros((guess.size, guess.size)), np.ones(guess.size)
        given = equations.derivative is not None
        unknowns = Unknowns(guess, size, self._inverse, self._size, self._known, given)
        x, terms, (status, iterations, change) = newton(equations, unknowns)
        if status != SOLVED:
            raise StepFailed(REASONS[status], iterations, change)
        return Solved(x, terms, iterations)

    def searched(self, equations: StepEquations, guess: Array, size: Array) -> Solved:
        """A root for steps in which a stiff relation turns over, as dry friction does.

        Each correction goes only as far as the residual along it keeps its sign, and the Jacobian is of every iterate,
        by differences.
        """
        x, previous, before = guess, np.inf, 0.0
        defect, terms = equations.residual(x)
        self._inverse, self._size = np.empty((x.size, x.size)), size.copy()
        for iteration in range(1, NEWTON.iterations + 1):
            if not invert(equations.differences(x, defect, size), self._inverse):
                raise StepFailed(REASONS[SINGULAR], iteration, previous)
            step = self._inverse @ defect
            change = relative(size * step, x, size)
            if not np.isfinite(change):
                raise StepFailed(REASONS[DIVERGED], iteration, change)
            share, x, defect, terms = self._along(equations, x, step, size)
            # of noise, what a correction leaves is less: no need for another Jacobian
            if change <= NEWTON.noise or (share == before == 1.0 and 0.5 * previous < change <= NEWTON.stalled):
                self._known[0] = 1
                return Solved(x, terms, iteration)
            previous, before = change, share
        raise StepFailed(REASONS[UNSETTLED], NEWTON.iterations, previous)

    def _along(self, equations: StepEquations, x: Array, step: Array, size: Array) -> tuple[float, Array, Array, Any]:
        """All of a correction, or the share of it at which the next one has no part along it; x, residual, terms there.

        By false position between shares with parts of different sign, that of an end that stays twice being halved.
        """
        seen = step @ self._inverse / max(float(step @ step), np.finfo(float).tiny)
        low, high, left, right, share = 0.0, 1.0, 1.0, 1.0, 1.0
        for _ in range(TRIED):
            y = x - share * size * step
            defect, terms = equations.residual(y)
            part = float(seen @ defect)
            if (share == 1.0 and part >= -LEFT_OVER) or abs(part) <= LEFT_OVER:
                break
            if part > 0.0:
                low, left, right = share, part, 0.5 * right
            else:
                high, right, left = share, part, 0.5 * left if share < 1.0 else left
            share = low + (high - low) * left / (left - right)
        return share, y, defect, terms

    def polished(self, x: Array, defect: Array, size: Array) -> Array:
        """One correction past the root just found, by its residual: what is left would add up over many steps."""
        return x - size * (self._inverse @ defect)
