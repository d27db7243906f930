"""Algebraic states of a mode as solutions of its equations, followed along one branch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..consistency.conditions import Conditions, Inconsistency
from ..consistency.equations import Equations
from ..numerics.arrays import Array
from ..numerics.differences import FORWARD
from ..numerics.step_failed import StepFailed

SINGULAR = 1e-6
"""Smallest singular value of ∂g/∂x₂, relative to that at the start of the mode, below which the branch of algebraic
states ends. Times rounded to 1e-16 leave about 1e-8 at a fold."""
NEARLY = 1e-3
"""Smallest singular value of ∂g/∂x₂, relative to that at the start of the mode, up to which a fold is the cause of a
failed step. For other causes it is about 1."""
APART = 0.1
"""Distance of algebraic states in the middle of a step from their mean at both ends, relative to their size, above
which they are on another branch."""
ITERATIONS = 60
CONTRACTS = 0.6
"""Largest ratio of a correction of Newton's method to the last one with which it stays on the branch. Near a fold the
ratio is 1/2, beyond a fold there is no root."""
PIECES = 64
"""Largest number of pieces into which a step is divided if its branch is lost."""


class Branch:
    """Solver for algebraic states at a time, which remain on one branch of solutions during a mode.

    g(t, x) = 0 are the algebraic equations, x₂ the algebraic states.

    Steps compute algebraic states at their stages only. For index 1 Newton's method reuses its derivative; with
    ``careful`` the derivative is evaluated each time, and the states are followed from the last ones in small pieces.
    For index 2 the states are computed by :class:`flexph.consistency.conditions.Conditions`.
    """

    def __init__(self, equations: Equations, time: float, x: Array, *, careful: bool = False) -> None:
        self.equations, self.careful = equations, careful
        self._conditions = Conditions(equations, time, x)
        self._any = bool(equations.split.V2.shape[1])
        self.state = self._conditions.with_algebraic(x)
        self.left = self._conditions.report(self.state)
        self._time = time
        self._inverse: Array | None = None
        self._simple = self._any and not self._conditions.N.shape[1]
        self._unit = np.abs(equations.split.V2.T) @ np.maximum(np.abs(self.state), self._conditions.size)
        self._regular = self._smallest(time, self.state) if careful and self._simple else 1.0

    @property
    def inconsistency(self) -> Inconsistency:
        """Violation of the equations by the initial state."""
        return self.left

    def at(self, time: float, x: Array) -> Array:
        """State with the differential part of x and the algebraic states of the branch at a time [s].

        Raises StepFailed if no algebraic states are found, as where the branch has ended.
        """
        if not self._any:
            return x
        if not self._simple:
            self._conditions.move_to(time)
            try:
                return self._conditions.with_algebraic(x)
            except ArithmeticError as error:
                raise StepFailed(str(error), 0, np.inf) from error
        if not self.careful:
            return self._solved(time, x)
        return self._followed(time, x)

    def keep(self, time: float, x: Array) -> None:
        """Set the time and state from which the branch is followed; x must solve the equations."""
        self._time, self.state = time, x

    def ends(self, threshold: float = SINGULAR) -> bool:
        """True if the branch ends at the last kept state: ∂g/∂x₂ is nearly singular.

        Its smallest singular value is then at most ``threshold`` times that at the start of the mode.
        """
        return self._simple and self._smallest(self._time, self.state) <= threshold * self._regular

    def squared_regularity(self, time: float, x: Array) -> float:
        """Squared smallest singular value of ∂g/∂x₂ at x, which falls linearly in time near a fold.

        It is zero if the index is not 1.
        """
        return self._smallest(time, self.at(time, x)) ** 2 if self._simple else 0.0

    def leaves_branch(self, time: float, stage: Array, end: Array) -> bool:
        """True if the algebraic states in the middle of a step are on another branch than those at both ends.

        ``stage`` and ``end`` are the states in the middle and at the end. Near a fold the determinant of ∂g/∂x₂ has
        another sign on the other branch; on a distant branch the states are neither between those at the ends nor near
        them.
        """
        if not self._simple:
            return False
        first, middle, last = (self.equations.split.V2.T @ x for x in (self.state, stage, end))
        far = np.abs(middle - 0.5 * (first + last)) > np.abs(last - first) + APART * self._unit
        return bool(far.any()) or self._sign(time, stage) != self._sign(self._time, self.state)

    def _sign(self, time: float, x: Array) -> float:
        return float(np.linalg.slogdet(self._slope(time, x))[0])

    def _smallest(self, time: float, x: Array) -> float:
        matrix = self._slope(time, x) * self._unit
        scale = np.abs(self.equations.split.U2.T) @ self._conditions._terms(x)
        return float(np.linalg.svd(matrix / np.maximum(scale, 1e-300)[:, None], compute_uv=False)[-1])

    def _slope(self, time: float, x: Array) -> Array:
        """Jacobian ∂g/∂x₂ (k, k) of the algebraic equations with respect to the algebraic states."""
        e = self.equations
        return e.split.U2.T @ e.along_algebraic(time, x, np.maximum(np.abs(x), self._conditions.size))

    def _followed(self, time: float, x: Array) -> Array:
        """Solution of the algebraic equations for the differential states of x, followed from the last kept state.

        The differential states move along a straight line, in one or more pieces.
        """
        split, pieces = self.equations.split, 1
        while True:
            here = self.state
            try:
                for part in np.arange(1, pieces + 1) / pieces:
                    mixed = split.differential(self.state) + part * split.differential(x - self.state)
                    guess = mixed + split.V2 @ (split.V2.T @ here)
                    here = self._solved(self._time + part * (time - self._time), guess)
                return here
            except StepFailed:
                pieces *= 4
                if pieces > PIECES:
                    raise

    def _solved(self, time: float, x: Array) -> Array:
        """Solution of the algebraic equations by Newton's method from the guess x.

        Raises StepFailed if its corrections do not decrease.
        """
        split, last = self.equations.split, np.inf
        if self.careful:
            self._inverse = None
        for _ in range(ITERATIONS):
            fresh = self._inverse is None
            if self._inverse is None:
                self._inverse = self._inverted(time, x)
            step = self._inverse @ self.equations.algebraic(time, x)
            change = float(np.max(np.abs(step) / np.maximum(np.abs(split.V2.T @ x), self._unit)))
            if change > CONTRACTS * last and change > 1e-9:
                if fresh:
                    break
                self._inverse = None
                continue
            x = x - split.V2 @ step
            if change <= 1e-15 or (change <= 1e-9 and change > 0.1 * last):
                return x
            if self.careful or change > 0.1 * last:
                self._inverse = None
            last = change
        raise StepFailed("the algebraic equations do not determine their states on this branch", ITERATIONS, last)

    def _inverted(self, time: float, x: Array) -> Array:
        try:
            return np.linalg.inv(self._slope(time, x))
        except np.linalg.LinAlgError:
            raise StepFailed("the algebraic equations are singular", 0, np.inf) from None


def round_off_of(
    function: Callable[[float, Array], float], time: float, x: Array, *, size: Array, relative: float
) -> float:
    """Round-off of a function of (t, x), if each state is uncertain by the share ``relative`` of its ``size``."""
    here, change = function(time, x), 0.0
    for i in np.flatnonzero(size):
        moved = x.copy()
        moved[i] += FORWARD * size[i]
        change += abs(function(time, moved) - here)
    return relative * change / float(FORWARD)
