"""Newton iteration of the steps of one run, with fallbacks if it does not converge."""

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
"""Component of the next correction along the present one, relative to the latter, below whose magnitude a line search
ends."""
TRIED = 40
"""Largest number of points of a line search."""
PARTS = np.linspace(0.125, 1.0, 8)
"""Shares of a step's length, in ascending order, for which it is solved in turn if the whole step is not solved
directly."""
REASONS = {
    SINGULAR: "the Jacobian of the step is singular",
    DIVERGED: "the iteration diverged",
    UNSETTLED: "the iteration did not converge",
}


@dataclass(frozen=True, eq=False)
class StepEquations:
    """Equations of a step as functions of the unknowns x and of the share ``part`` to which its length is reduced.

    ``terms`` gives the residual and its terms, ``derivative`` the derivative of the residual with respect to x; without
    it forward differences are used.
    """

    terms: Callable[[Array, float], tuple[Array, Any]]
    derivative: Callable[[Array, float], Array] | None = None
    part: float = 1.0

    def residual(self, x: Array) -> tuple[Array, Any]:
        """Residual and its terms."""
        return self.terms(x, self.part)

    def jacobian(self, x: Array, defect: Array, size: Array) -> Array:
        """Jacobian of the residual with respect to the unknowns divided by their sizes."""
        return self.differences(x, defect, size) if self.derivative is None else self.derivative(x, self.part) * size

    def differences(self, x: Array, defect: Array, size: Array) -> Array:
        """Jacobian of the residual by forward differences, with respect to the unknowns divided by their sizes.

        ``defect`` is the residual at x.
        """
        steps = FORWARD * np.maximum(np.abs(x), size)
        return forward(lambda y: self.residual(y)[0], x, defect, steps) * size


class Solved(NamedTuple):
    """Solution x of the equations of a step, the terms of the equations at x, and the number of iterations."""

    x: Array
    terms: Any
    iterations: int


class Newton:
    """Solver that keeps its inverse Jacobian from one step to the next (:mod:`.iteration`)."""

    def __init__(self) -> None:
        self._inverse = np.zeros((0, 0))
        self._size = np.ones(0)
        self._known = np.zeros(1, dtype=int)

    def snapshot(self) -> tuple[Array, Array, Array]:
        """Copies of the inverse Jacobian, the sizes of its unknowns and its validity, for :meth:`restore`."""
        return self._inverse.copy(), self._size.copy(), self._known.copy()

    def restore(self, saved: tuple[Array, Array, Array]) -> None:
        """Restore the data of :meth:`snapshot`."""
        self._inverse, self._size, self._known = (part.copy() for part in saved)

    def step(self, equations: StepEquations, x0: Array, guess: Array, size: Array) -> Solved:
        """Solve the equations of a step from x₀; raises StepFailed.

        If Newton's method fails from the guess, the length of the step is increased in stages, as long steps may
        reverse the motion. If that fails, too, :meth:`stiff_root` follows, for a friction force that changes its sign.
        ``size`` is the size of each unknown.
        """
        try:
            return self.solve(equations, guess, size)
        except StepFailed:
            pass
        try:
            return self._grown(equations, x0, size)
        except StepFailed as error:
            try:
                return self.stiff_root(equations, guess, size)
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
        """Root of the residual near the guess, to stagnation; ``size`` is the size of each unknown."""
        if self._size.size != guess.size:
            self._inverse, self._size = np.zeros((guess.size, guess.size)), np.ones(guess.size)
        given = equations.derivative is not None
        unknowns = Unknowns(guess, size, self._inverse, self._size, self._known, given)
        x, terms, (status, iterations, change) = newton(equations, unknowns)
        if status != SOLVED:
            raise StepFailed(REASONS[status], iterations, change)
        return Solved(x, terms, iterations)

    def stiff_root(self, equations: StepEquations, guess: Array, size: Array) -> Solved:
        """Root for steps in which a stiff relation changes sign, such as dry friction.

        Each correction is shortened to the point at which the residual along it changes its sign, and each iterate has
        a Jacobian by finite differences.
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
            share, x, defect, terms = self._line_search(equations, x, step, size)
            # a correction of noise leaves less: no further Jacobian is needed
            if change <= NEWTON.noise or (share == before == 1.0 and 0.5 * previous < change <= NEWTON.stalled):
                self._known[0] = 1
                return Solved(x, terms, iteration)
            previous, before = change, share
        raise StepFailed(REASONS[UNSETTLED], NEWTON.iterations, previous)

    def _line_search(
        self, equations: StepEquations, x: Array, step: Array, size: Array
    ) -> tuple[float, Array, Array, Any]:
        """Line search along a correction: returns its share (at most 1), the new x, and the residual and its terms.

        x − share · size · step is the new x. At this share the next correction has hardly any component along the
        present one. It is found by the Illinois variant of false position between shares at which that component has
        different signs.
        """
        row = step @ self._inverse / max(float(step @ step), np.finfo(float).tiny)
        low, high, left, right, share = 0.0, 1.0, 1.0, 1.0, 1.0
        for _ in range(TRIED):
            y = x - share * size * step
            defect, terms = equations.residual(y)
            slope = float(row @ defect)
            if (share == 1.0 and slope >= -LEFT_OVER) or abs(slope) <= LEFT_OVER:
                break
            if slope > 0.0:
                low, left, right = share, slope, 0.5 * right
            else:
                high, right, left = share, slope, 0.5 * left if share < 1.0 else left
            share = low + (high - low) * left / (left - right)
        return share, y, defect, terms

    def polished_root(self, x: Array, defect: Array, size: Array) -> Array:
        """Root after one more correction of x by its residual ``defect``, which would accumulate over many steps."""
        return x - size * (self._inverse @ defect)
