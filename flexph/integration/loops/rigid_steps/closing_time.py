"""Search for the earliest time at which a gap closes in a part of a step."""

from __future__ import annotations

import cython

from ....kernels.contacts.gaps import TOUCHING as _TOUCHING
from ....numerics.arrays import Array

if not cython.compiled:
    from math import copysign, fabs, isfinite
    from math import inf as INFINITY
    from math import nan as NAN

    from ....numerics.loops.views import larger, smaller
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from ..memory.structures import Bracket, Prescribed
    from ..strikes.marks import ENTERS, gap_at_end
    from .part_steps import solve_between

TOUCHING = cython.declare(cython.double, _TOUCHING)


PRECISION = cython.declare(cython.double, 1e-13)
ROUND_OFF = cython.declare(cython.double, 2.0**-52)
ITERATIONS = cython.declare(cython.Py_ssize_t, 100)
"""Final width of the bracket, divided by its initial width and by the time, and limit of iterations."""
SHORTEST = cython.declare(cython.double, 1e-7)
"""Length of a part of a step, relative to the step or to the part that is searched, below which it is not taken."""


def closing_time(m: Memory, dim: int, s: Striking, p: Prescribed, ends: tuple[float, float], size: float) -> float:
    """Earliest time [s] at which a gap closes between two ``ends``; NaN if a part of the step is not solved.

    Only gaps that were open and are closed at the second end are considered; the search is for the zero of the smallest
    of them. If the least gap is not open at the first end (just after a bounce), the interval is halved towards it
    until the gap is open at a time; the first end is returned if it is not open at any of these times, down to the
    fraction SHORTEST of the interval. The ``size`` [m] of the mechanism sets the tolerance below which a gap counts as
    closed.
    """
    begin, end = ends
    first = begin
    before = _least(m, m.touch_before)
    last = end
    after = _least(m, m.touch_after)
    before = before if before > TOUCHING * size else 0.0
    while before <= 0.0:
        middle = 0.5 * (begin + last)
        if middle - begin <= SHORTEST * (end - begin):
            return begin
        gap = _least_gap_after(m, dim, s, p, begin, middle)
        if gap <= 0.0:
            last = middle
            after = gap
        else:
            first = middle
            before = gap
    if not isfinite(before):
        return NAN
    return _closing_time(m, dim, s, p, begin, Bracket(first, before, last, after))


def _closing_time(m: Memory, dim: int, s: Striking, p: Prescribed, begin: float, at: Bracket) -> float:
    """Time at which the least gap is zero, within the bracket ``at``, by Brent's method; NaN if a part is not solved.

    For each trial the part of the step from ``begin`` up to it is solved. The iterates are equal to those of SciPy's
    brentq.
    """
    a = at.first
    fa = at.before
    b = at.last
    fb = at.after  # b is the best point, a the previous one
    c = a
    fc = fa
    step = b - a
    last = b - a  # c is the point on the other side of the zero
    width = larger(PRECISION * (b - a), ROUND_OFF * fabs(b))
    for _ in range(ITERATIONS):
        if (fa > 0.0) != (fb > 0.0):
            c = a
            fc = fa
            step = b - a
            last = b - a
        if fabs(fc) < fabs(fb):
            a, b, c = b, c, b
            fa, fb, fc = fb, fc, fb
        limit = 0.5 * (width + 4.0 * ROUND_OFF * fabs(b))
        half = 0.5 * (c - b)
        if fb == 0.0 or fabs(half) < limit:
            return b
        last, step = _next_step(Bracket(a, fa, b, fb), c, fc, last, step, limit)
        a = b
        fa = fb
        b += step if fabs(step) > limit else copysign(limit, half)
        fb = _least_gap_after(m, dim, s, p, begin, b)
        if not isfinite(fb):
            return NAN
    return NAN


def _next_step(at: Bracket, c: float, fc: float, last: float, step: float, limit: float) -> tuple[float, float]:
    """Previous step and next step of Brent's method: by inverse quadratic interpolation, a chord, or halving.

    ``at`` are the previous and the best point with their values, c the point on the other side of the zero with its
    value fc. (R. P. Brent, Algorithms for Minimization Without Derivatives, 1973, chapter 4.)
    """
    a = at.first
    fa = at.before
    b = at.last
    fb = at.after
    half = 0.5 * (c - at.last)
    if fabs(last) > limit and fabs(fb) < fabs(fa):
        if a == c:
            trial = -fb * (b - a) / (fb - fa)
        else:
            to_a = (fa - fb) / (a - b)
            to_c = (fc - fb) / (c - b)
            trial = -fb * (fc * to_c - fa * to_a) / (to_c * to_a * (fc - fa))
        if 2.0 * fabs(trial) < smaller(fabs(last), 3.0 * fabs(half) - limit):
            return step, trial
    return half, half


def _least_gap_after(m: Memory, dim: int, s: Striking, p: Prescribed, begin: float, end: float) -> float:
    """Solve the part of a step from ``begin`` to ``end`` [s]; return the smallest gap at its end, NaN if that fails.

    Only the gaps that may close in the step are considered.
    """
    if solve_between(m, dim, s, p, (begin, end), False) < 0:
        return NAN
    least = INFINITY
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] == ENTERS:
            least = smaller(least, gap_at_end(m, dim, c))
    return least


def _least(m: Memory, gaps: Array) -> float:
    least = INFINITY
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] == ENTERS:
            least = smaller(least, gaps[c])
    return least
