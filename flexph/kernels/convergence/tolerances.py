"""Tolerances of the Newton iteration of a step and of its initial guess.

The size of a correction δ for defects r is √(|δ|·|r|), the root of an energy, relative to the root of the energy of the
motion. The iteration ends when the next correction is expected to be round-off (``settles``). It also ends when the
corrections no longer decrease (``stagnates``), if the last one is small or if momenta and constraints balance up to
round-off (``stagnated`` and ``balanced`` of :class:`Tolerances`). The Jacobian is kept until convergence is slow
(``is_slow``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEAST_SPACING = 0.2
"""Least distance of the midpoints of two steps, in lengths of the next step, to extrapolate velocities linearly."""

LEFT = 10.0
"""Velocity defect that a pair of steps may add, relative to its admissible error; it is at the ends of steps only."""

HISTORY = 5
"""Number of rows of history from which alternating steps are predicted."""

WEIGHT_LIMIT = 1e3
"""Largest weight of a row of history in a prediction; a larger one shows that two rows are too alike."""

TINY = float(np.finfo(float).tiny)

RESOLUTION = 1e-14
"""Motion in a step, divided by the size of the mechanism, that positions in double precision cannot tell from none."""
ROUND_OFF = 1e-15
"""A few units of round-off relative to the size of a coordinate: relative error of constraints by round-off."""

POSITIONAL = 1e-3
"""Displacement, relative to the size of coordinates, of which 1e-12 is a few units of their round-off."""


class Tolerances(NamedTuple):
    """Criteria to end an iteration and to renew its Jacobian; corrections are in the energy norm, relative to motion.

    settled
        Expected next correction, the last one times its reduction, at which the iterate is exact to round-off. The
        error of the energy balance is linear in the correction, not quadratic.
    settled_elastic
        The same criterion, divided by the square root of the number of flexible coordinates, if the reduction was
        observed to be linear: many large elastic forces that balance each other leave round-off in the sum of their
        works.
    stagnated
        Correction below which an iteration without further improvement has reached round-off.
    balanced
        Defect of momenta and constraints, relative to the terms in their sums, at which an iteration without further
        improvement has solved the step. The correction may still be large near a singular pose, where round-off of
        positions leaves velocities along other branches of the motion undetermined, but the energy balance holds.
    better
        Ratio of corrections, of an earlier iterate to the last one, below which the earlier iterate is used if the
        iteration stagnates, as near a singular pose round-off can make later iterates worse.
    coarse
        Correction above which an iteration without further improvement, while constraints hold, goes on with another
        condition: the increments of the constraints over the step vanish, instead of their values at its end.
    forgotten
        Fraction of the constraint error at its start that a step corrects if its iteration uses the increments of the
        constraints. Constraint errors then stay at round-off, with little effect on velocities.
    closed
        Constraint error, relative to the scale of the constraint, up to which a constraint holds; far above round-off.
    first_reduction
        Least ratio of the next correction to the last one that is assumed after the second correction with a Jacobian.
        The ratio of the first two may be smaller, as the first iteration with a Jacobian converges quadratically, the
        next ones linearly.
    slow, many
        Limits above which the Jacobian is renewed: reduction by one iteration, and number of further iterations at that
        rate.
    mixed
        Correction above which the Jacobian is renewed each time in mechanisms with nonlinear strains (quadratic strains
        of bodies, strain rows, solids): with an old one, a larger correction leaves strains that are not small, and
        large stresses. Limits up to 1e-3 take equally many iterations in all sample mechanisms.
    noise
        Correction below which the Jacobian is not renewed, as such a correction is round-off.
    iterations, searches
        Largest numbers of iterations without, and then with a line search along the corrections.
    """

    settled: float = 3e-15
    settled_elastic: float = 2e-15
    stagnated: float = 1e-7
    balanced: float = 1e-12
    better: float = 0.1
    coarse: float = 1e-12
    forgotten: float = 0.01
    closed: float = 1e-9
    first_reduction: float = 1e-3
    slow: float = 0.05
    many: float = 3.0
    mixed: float = 1e-3
    noise: float = 1e-13
    iterations: int = 40
    searches: int = 60


NEWTON = Tolerances()
"""Tolerances of the exact scheme and of Gauss collocation."""
