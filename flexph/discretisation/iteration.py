"""Newton's method with Broyden's updates, and its convergence criteria.

Broyden's update ``B += (s − B y) sᵀB / sᵀB y`` of an inverse Jacobian B (Kelley, Iterative Methods for Linear and
Nonlinear Equations, ch. 7), which is kept from step to step: an iteration costs one product with B, as much as a
solution with factors of the Jacobian, which would be expensive to update. Unknowns are scaled by their sizes; a new
Jacobian is computed if convergence is slow. :mod:`flexph.integration.general.particles.newton` implements the same
algorithm for loops over particles.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ..numerics.arrays import Array


class Tolerances(NamedTuple):
    """Convergence criteria and Jacobian renewal; corrections are relative to the size of each unknown.

    settled
        Expected next correction at which the iterate is exact to round-off: the last one times its reduction.
    least_reduction
        Smallest reduction per iteration that is trusted: a single lucky one does not predict the next.
    stagnated
        Correction below which an iteration may have converged to the round-off of the equations.
    noise
        Correction that counts as round-off if the iteration no longer improves, with any Jacobian.
    stalled
        Correction that counts as round-off with a Jacobian of this iterate: a multiplier near zero has few digits.
    sudden
        Reduction, by a Jacobian of the same step, after which a correction as small as ``noise`` is the last.
    far
        Correction above which every iteration computes a Jacobian.
    slow
        Reduction per iteration above which the Jacobian is renewed.
    singular_update
        Share of a correction that Broyden's update must leave; nearly singular updates are skipped.
    iterations
        Largest number of iterations.
    """

    settled: float = 1e-17
    least_reduction: float = 1e-3
    stagnated: float = 1e-9
    noise: float = 3e-12
    stalled: float = 1e-6
    sudden: float = 1e-4
    far: float = 0.3
    slow: float = 0.2
    singular_update: float = 0.1
    iterations: int = 60


NEWTON = Tolerances()
"""Tolerances of all steps of general systems."""
SOLVED, SINGULAR, DIVERGED, UNSETTLED = 0, 1, 2, 3
"""Outcomes of an iteration."""


class Unknowns(NamedTuple):
    """Initial guess of an iteration, and the inverse Jacobian (n, n) of the last one, which is modified in place.

    ``size`` (n,) is the size of each unknown; ``scaled`` (n,) are the sizes for which the inverse was scaled; ``known``
    (1,) is 1 if the inverse is valid. ``given`` is True for analytical Jacobians, which are cheap and therefore renewed
    earlier.
    """

    guess: Array
    size: Array
    inverse: Array
    scaled: Array
    known: Array
    given: bool


class Correction(NamedTuple):
    """Data of a correction, for the decision whether it is the last: its size, and that of the previous one.

    ``by_own`` is the size of the last correction with a Jacobian of its own iterate. ``own`` is True if the present
    Jacobian was computed at this iterate, ``fresh`` if it was computed in this step.
    """

    size: float
    previous: float
    by_own: float
    own: bool
    fresh: bool


def is_last(c: Correction) -> bool:
    """True if the iteration ends with this correction, as the remaining error is round-off or no longer decreases."""
    reduction = NEWTON.slow if c.previous == np.inf else max(NEWTON.least_reduction, c.size / c.previous)
    settles = c.size <= NEWTON.stagnated and c.size * reduction <= NEWTON.settled
    noise_follows = c.fresh and c.previous < np.inf and c.size <= min(NEWTON.noise, NEWTON.sudden * c.previous)
    stagnates = c.size > 0.5 * c.previous and c.size <= (NEWTON.stalled if c.own else NEWTON.noise)
    goes_to_and_fro = c.own and c.size > 0.5 * c.by_own and c.size <= NEWTON.stalled
    return settles or noise_follows or stagnates or goes_to_and_fro


def relative(correction: Array, x: Array, size: Array) -> float:
    """Largest correction of an unknown, relative to the unknown or its size, whichever is larger."""
    return float((np.abs(correction) / np.maximum(np.abs(x), size)).max())


def update(inverse: Array, step: Array, change: Array) -> None:
    """Apply Broyden's update to ``inverse``, by a step and the change of the residual, unless nearly singular."""
    image = inverse @ change
    scale = step @ image
    if abs(scale) > NEWTON.singular_update * (step @ step):
        inverse += ((step - image) / scale).reshape(-1, 1) * (step @ inverse)


def invert(matrix: Array, inverse: Array) -> bool:
    """Write the inverse of a matrix into ``inverse``; return False if the matrix is singular.

    Its rows are scaled by their largest entries before.
    """
    rows = np.abs(matrix).max(axis=1)
    if not (np.isfinite(rows).all() and rows.all()):
        return False
    try:
        inverse[:] = np.linalg.inv(matrix / rows[:, None]) / rows
    except np.linalg.LinAlgError:
        return False
    return True


class Problem(Protocol):
    """Equations that an iteration solves."""

    def residual(self, x: Array) -> tuple[Array, Any]:
        """Residual (n,), and the terms that it is computed from."""

    def jacobian(self, x: Array, defect: Array, size: Array) -> Array:
        """Jacobian (n, n) with respect to the unknowns divided by their sizes; ``defect`` is the residual at x."""


def newton(problem: Problem, unknowns: Unknowns) -> tuple[Array, Any, tuple[int, int, float]]:
    """Find a root of the residual near a guess, to stagnation; returns it, its terms, and the outcome.

    The outcome is SOLVED or the failure, the number of iterations, and the size of the last correction.
    """
    x, size, inverse, scaled, known, given = unknowns
    inverse *= (scaled / size).reshape(-1, 1)
    scaled[:] = size
    defect, terms = problem.residual(x)
    previous, by_own, is_current, fresh = np.inf, np.inf, False, False
    for iteration in range(1, NEWTON.iterations + 1):
        if known[0] == 0:
            if not invert(problem.jacobian(x, defect, size), inverse):
                return x, terms, (SINGULAR, iteration, previous)
            known[0], is_current, fresh = 1, True, True
        step = inverse @ defect
        change = relative(size * step, x, size)
        if not (change <= NEWTON.far or is_current):  # no far step by an old Jacobian
            known[0] = 0
            continue
        if not change < np.inf:
            return x, terms, (DIVERGED, iteration, change)
        x, last = x - size * step, defect
        defect, terms = problem.residual(x)
        if is_last(Correction(change, previous, by_own, is_current, fresh)):
            return x, terms, (SOLVED, iteration, change)
        by_own = change if is_current else by_own
        late = iteration == 1 and given and not fresh
        if (late or change > NEWTON.slow * previous) and change > NEWTON.noise:
            known[0], fresh = 0, False
        elif change > NEWTON.stagnated:  # below, differences of the residual are noise
            update(inverse, step, last - defect)
        previous, is_current = change, False
    return x, terms, (UNSETTLED, NEWTON.iterations, previous)
