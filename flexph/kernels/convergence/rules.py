"""Rules for the end of Newton iterations and for the next step size."""

from __future__ import annotations

import cython

from .tolerances import NEWTON
from .tolerances import RESOLUTION as _RESOLUTION
from .tolerances import ROUND_OFF as _ROUND_OFF

if not cython.compiled:
    from math import ceil, fabs, floor, isinf, log, log10, sqrt
    from math import inf as INFINITY

    from ...numerics.loops.views import larger, larger_int, smaller

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
    """Limit of the expected next correction below which an iteration ends, for a number of flexible coordinates.

    It applies when the reduction of corrections was observed, that is from the third correction with the same Jacobian
    on.
    """
    return larger(NEWTON_SETTLED, NEWTON_SETTLED_ELASTIC * sqrt(flexible))


def stagnates(size: float, previous: float) -> bool:
    """True if an iteration no longer improves: its correction is more than half of the previous one."""
    return size > 0.5 * previous


def settles(size: float, previous: float, used: int, settled: float) -> bool:
    """True if the next correction is expected to be below the limit at which the iterate is exact to round-off.

    ``size`` and ``previous`` are the sizes of the last two corrections, of which the last is the ``used``-th with the
    current Jacobian. The next one is expected to shrink by the same ratio. ``settled`` is the limit of
    :func:`settled_at`.
    """
    rate = 1.0 if used == 1 else size / previous
    if used == 2:
        rate = larger(NEWTON_FIRST_REDUCTION, rate)
    return size * smaller(1.0, rate) <= (settled if used > 2 else NEWTON_SETTLED)


def is_slow(size: float, previous: float, used: int, slow: float, many: float) -> bool:
    """True if the Jacobian should be renewed after the ``used``-th correction with it.

    ``size`` and ``previous`` are the sizes of the last correction and of the one before. The Jacobian should be renewed
    if their ratio is more than ``slow``, or if from the second correction on more than ``many`` further iterations are
    needed at this ratio. It need not be if the last correction is round-off.
    """
    if size <= NEWTON_NOISE or isinf(previous):
        return False
    rate = size / previous
    return rate > slow or (used > 1 and log(NEWTON_SETTLED / size) < many * log(rate))


def unresolved_energy(m: float, J: float, k: float, k_phi: float, size: float, h: float) -> float:
    """Energy [J] that a step of length h [s] cannot resolve, since positions of ``size`` [m] are rounded.

    It is ½ (δ/h)² (m size² + J) + ½ ε² (k size² + k_φ) with δ = RESOLUTION and ε = ROUND_OFF. Over the mechanism, m is
    the sum of the masses, J of the traces of inertias, k and k_φ of the stiffnesses to displacements and rotations.
    Constraints hold at the end of a step up to the round-off of positions. Therefore velocities below δ size/h are
    undetermined, and parts between two constraints may be stretched by ε size.
    """
    square = size * size
    kinetic = (RESOLUTION / h) ** 2 * (m * square + J)
    return 0.5 * (kinetic + ROUND_OFF**2 * (k * square + k_phi))


def rounded(h: float) -> float:
    """Step size h, rounded to DIGITS digits after its leading one."""
    scale = 10.0 ** (DIGITS - floor(log10(fabs(h))))
    return floor(h * scale + 0.5) / scale


def factor_of(error: float, last: float, order: float, safety: float, least: float, most: float) -> float:
    """Ratio of the next step size to that of a step with the given error, between ``least`` and ``most``.

    ``error`` is relative to the tolerance: a step is accepted up to 1. ``last`` is the error of the last accepted step,
    ``order`` the exponent of the step size in the error, and ``safety`` a factor below 1. See
    flexph.integration.times.step_size.Controller.
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
    return larger_int(1, cython.cast(cython.Py_ssize_t, ceil((end - start) / (count * h * (1.0 + FITS)))))
