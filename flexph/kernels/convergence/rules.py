"""Rules for the end of Newton iterations and for the next step size."""

from __future__ import annotations

import cython

from .tolerances import NEWTON
from .tolerances import RESOLUTION as _RESOLUTION
from .tolerances import ROUND_OFF as _ROUND_OFF

if not cython.compiled:
    from math import ceil, fabs, floor, isinf, log, log10, sqrt
    from math import inf as INFINITY

    from ...numerics.loops.views import larger, most, smaller

RESOLUTION = cython.declare(cython.double, _RESOLUTION)
ROUND_OFF = cython.declare(cython.double, _ROUND_OFF)
NEWTON_FIRST_REDUCTION = cython.declare(cython.double, NEWTON.first_reduction)
NEWTON_NOISE = cython.declare(cython.double, NEWTON.noise)
NEWTON_SETTLED = cython.declare(cython.double, NEWTON.settled)
NEWTON_SETTLED_ELASTIC = cython.declare(cython.double, NEWTON.settled_elastic)


DIGITS = cython.declare(cython.Py_ssize_t, 6)
"""Digits to which h is rounded for the matrices of decaying steps, so that nearly equal steps share them."""
FITS = cython.declare(cython.double, 1e-6)
"""Relative amount by which a step may exceed the proposed one to meet a saved time."""


def settled_at(flexible: int) -> float:
    """Tolerance of the expected next correction at which an iteration ends, once its convergence rate is observed."""
    return larger(NEWTON_SETTLED, NEWTON_SETTLED_ELASTIC * sqrt(flexible))


def stagnates(size: float, previous: float) -> bool:
    """True if an iteration no longer improves: its correction is more than half of the previous one."""
    return size > 0.5 * previous


def settles(size: float, previous: float, used: int, settled: float) -> bool:
    """True if the next correction is expected to be round-off; the last one was the ``used``-th with its Jacobian."""
    rate = 1.0 if used == 1 else size / previous
    if used == 2:
        rate = larger(NEWTON_FIRST_REDUCTION, rate)
    return size * smaller(1.0, rate) <= (settled if used > 2 else NEWTON_SETTLED)


def is_slow(size: float, previous: float, used: int, slow: float, many: float) -> bool:
    """True if a new Jacobian pays after a correction, the ``used``-th with the current Jacobian (see Tolerances)."""
    if size <= NEWTON_NOISE or isinf(previous):
        return False
    rate = size / previous
    return rate > slow or (used > 1 and log(NEWTON_SETTLED / size) < many * log(rate))


def unresolved_energy(m: float, J: float, k: float, k_phi: float, size: float, h: float) -> float:
    """Energy [J] below the resolution of positions of ``size`` [m] in double precision, in a step of length h.

    It is ½ (δ/h)² (m size² + J) + ½ ε² (k size² + k_φ) with the sums of masses, of inertias (traces) and of
    stiffnesses, δ = RESOLUTION and ε = ROUND_OFF. Constraints hold at the end of a step up to the round-off of
    positions. Therefore velocities below δ size/h are undetermined, at rest all of them, and parts between two
    constraints may be stretched by ε size.
    """
    square = size * size
    kinetic = (RESOLUTION / h) ** 2 * (m * square + J)
    return 0.5 * (kinetic + ROUND_OFF**2 * (k * square + k_phi))


def rounded(h: float) -> float:
    """Step size h, rounded to DIGITS digits after its leading one."""
    scale = 10.0 ** (DIGITS - floor(log10(fabs(h))))
    return floor(h * scale + 0.5) / scale


def factor_of(error: float, last: float, order: float, safety: float, least: float, most: float) -> float:
    """Ratio of the next step size to that of a step with an error; ``last`` is the error of the last accepted step.

    See flexph.integration.times.step_size.Controller.
    """
    if not error < INFINITY:
        return least
    if error <= 1.0:
        tiny = safety * most ** (-order / 0.3)  # errors below it change nothing
        factor = safety * larger(error, tiny) ** (-0.7 / order) * larger(last, tiny) ** (0.4 / order)
    else:
        factor = smaller(1.0, safety * error ** (-1.0 / order))
    return smaller(most, larger(least, factor))


def blocks_to(start: float, end: float, count: int, h: float) -> int:
    """Number of equal blocks of ``count`` steps of about h [s] each that lead from ``start`` to ``end``, at least 1."""
    return most(1, cython.cast(cython.Py_ssize_t, ceil((end - start) / (count * h * (1.0 + FITS)))))
