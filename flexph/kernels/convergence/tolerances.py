"""When the Newton iteration of a step ends, and from what it begins: one rule for NumPy and compiled steps.

A correction δ of the defects r has the size √(|δ|·|r|) over that of the motion, the root of an energy. The iteration
ends where the next correction is expected to be round-off (``settles``), or where it no longer improves
(``stagnates``) and is small, or the step is balanced. Its Jacobian is kept until it converges slowly (``is_slow``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LEAST_SPACING = 0.2
"""Distance of the middles of two steps, over the step to come, from which on a line through their velocities says where
it leads."""

LEFT = 10.0
"""Velocity defect that a pair of steps may add over the error of its motion: it is at the ends of steps only."""

HISTORY = 5
"""Rows of history from which steps that go to and fro are predicted."""

WEIGHT_LIMIT = 1e3
"""Largest weight of such a row: above it, two rows are too alike."""

TINY = float(np.finfo(float).tiny)

RESOLUTION = 1e-14
"""Motion of a step, over the size of the mechanism, that positions in double precision cannot tell from none."""
ROUND_OFF = 1e-15
"""A few round-offs of a coordinate over its size: how far positions stretch what they hold."""

POSITIONAL = 1e-3
"""Way over the size of coordinates of which 1e-12 are a few round-offs of these."""


class Tolerances(NamedTuple):
    """When an iteration ends and its Jacobian is renewed; corrections in the energy norm, relative to the motion.

    settled
        Expected next correction at which the iterate is exact to round-off: the last one times its reduction. The
        balance of a step feels a correction linearly, not by its square.
    settled_elastic
        Expected next correction, over the root of the number of flexible coordinates, where the reduction was seen to
        be linear: elastic forces are large and balance each other, and so many of them leave a round-off in the sum of
        their works.
    stagnated
        Correction below which an iteration that no longer improves has reached the round-off of the problem.
    balanced
        Defect of momenta and constraints, over the terms they are sums of, at which an iteration that no longer
        improves has solved the step, however large the correction: near a singular pose round-off of positions leaves
        the velocities along other branches of the motion undetermined. Their energy is balanced all the same.
    better
        Correction of an earlier iterate, over the last one's, at which that is taken where the iteration stagnates:
        near a singular pose round-off can throw it back.
    coarse
        Correction above which an iteration that no longer improves takes the constraints by their increments.
    forgotten
        Share of the gap at the start of such a step that it makes up for: gaps stay at round-off, velocities see
        little of them.
    closed
        Gap over what the constraints measure up to which they hold: far above round-off.
    first_reduction
        Reduction by one iteration that is not trusted further where it is the first of a Jacobian: that is quadratic in
        what was corrected before, the next ones are linear.
    slow, many
        Reduction by one iteration above which the Jacobian is renewed, and number of iterations to come, at the rate of
        the last one, above which it is.
    mixed
        Correction above which the mixed iteration takes a new Jacobian each time: of an old one a correction leaves
        strains that are not small, and with the stiffness they are large stresses.
    noise
        Correction below which the Jacobian is kept: there corrections are round-off.
    iterations, searches
        Most iterations, and most of those with a search along the corrections, where those without it did not settle.
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
    mixed: float = 1e-6
    noise: float = 1e-13
    iterations: int = 40
    searches: int = 60


NEWTON = Tolerances()
"""Tolerances of the exact scheme and of Gauss collocation."""
