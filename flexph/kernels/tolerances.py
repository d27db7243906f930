"""When the Newton iteration of a step ends, and from what it begins: one rule for NumPy and compiled steps.

A correction δ of the defects r has the size √(|δ|·|r|) over that of the motion, the root of an energy. The iteration
ends where the next correction is expected to be round-off (``settles``), or where it no longer improves
(``stagnates``) and is small, or the step is balanced. Its Jacobian is kept until it converges slowly (``is_slow``).
"""

from __future__ import annotations

import math

import numpy as np

APART = 0.2
"""Distance of two middles, over the step to come, from which on a line through their velocities says where it leads."""

WOVEN = 5
"""Rows of memory from which steps that go to and fro are foreseen,"""

WILD = 1e3
"""and their largest weight: above, two of them are too alike."""


SETTLED = 3e-15
"""Expected next correction, in the energy norm and relative to the motion, at which the iterate is exact to round-off:
the last one times its reduction. The balance of a step feels a correction linearly, not by its square."""

SETTLED_ELASTIC = 2e-15
"""The same, times the root of the number of flexible coordinates, where the reduction was seen to be linear: elastic
forces are large and balance each other, and so many of them leave a round-off in the sum of their works."""

STAGNATED = 1e-7
"""Correction below which an iteration that no longer improves has reached the round-off of the problem."""

BALANCED = 1e-12
"""Defect of momenta and constraints, over the terms they are sums of, at which an iteration that no longer improves has
solved the step, however large the correction: near a singular pose round-off of positions leaves the velocities along
other branches of the motion undetermined. Their energy is balanced all the same."""

BETTER = 0.1
"""Correction of an earlier iterate, over the last one's, at which that is taken where the iteration stagnates: near a
singular pose round-off can throw it back."""

COARSE = 1e-12
"""Correction above which an iteration that no longer improves takes the constraints by their increments."""

FORGOTTEN = 0.01
"""What is made up for of a gap at the start of such a step: gaps stay at round-off, velocities see little of them."""

LEAST = 1e-3
"""Reduction by one iteration that is not trusted further where it is the first of a Jacobian: that is quadratic in what
was corrected before, the next ones are linear."""

SLOW = 0.05
"""Reduction by one iteration above which the Jacobian is made anew,"""

MANY = 3.0
"""iterations to come, at the rate of the last one, above which it is,"""

NOISE = 1e-13
"""and correction below which it is not: there corrections are round-off."""

CLOSED = 1e-9
"""Gap over what the constraints measure up to which they hold: far above round-off."""

MAX_ITERATIONS = 40

SEARCHES = 60
"""Iterations with a search along the corrections, where those without it did not settle."""

TINY = float(np.finfo(float).tiny)


def settled_at(flexible: int) -> float:
    """Expected next correction at which an iteration that was seen to converge linearly ends."""
    return max(SETTLED, SETTLED_ELASTIC * math.sqrt(flexible))


def is_slow(size: float, previous: float, used: int) -> bool:
    """Whether a new Jacobian pays after a correction, the ``used``-th of the present one."""
    if size <= NOISE or math.isinf(previous):
        return False
    rate = size / previous
    return rate > SLOW or (used > 1 and math.log(SETTLED / size) < MANY * math.log(rate))


def stagnates(size: float, previous: float) -> bool:
    """Whether an iteration no longer improves."""
    return size > 0.5 * previous


def settles(size: float, previous: float, used: int, settled: float) -> bool:
    """Whether the correction after one of this size, the ``used``-th of a Jacobian, is expected to be round-off."""
    rate = 1.0 if used == 1 else size / previous
    if used == 2:
        rate = max(LEAST, rate)
    return size * min(1.0, rate) <= (settled if used > 2 else SETTLED)
