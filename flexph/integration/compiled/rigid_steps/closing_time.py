"""When the first of the gaps closes that are closed at the end of a way."""

from __future__ import annotations

import math
from typing import NamedTuple

from ....contacts.compiled.island_space import LawSpace
from ....kernels.contacts.gaps import TOUCHING
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory
from ..strikes.given import Prescribed
from ..strikes.marks import ENTERS, gap_at_end
from .ways import go

PRECISION, ROUND_OFF, ITERATIONS = 1e-13, 2.0**-52, 100
"""Width of the bracket around a zero over the length of the way, and over the time, at which it counts as found."""


class Bracket(NamedTuple):
    """Two times and the least gaps there."""

    first: float
    before: float
    last: float
    after: float


@kernel
def closing_time(
    m: Memory,
    axes: tuple[int, ...],
    kinds: tuple[int, ...],
    law: LawSpace,
    p: Prescribed,
    begin: float,
    end: float,
    size: float,
    shortest: float,
) -> float:
    """When the first of the contacts closes whose bodies are in each other at the end; no number if not solved.

    Seen from the side where it is open, in a mechanism of a size [m]; after a bounce that is later, at ``begin`` where
    no way that is not the ``shortest``, over all, opens it.
    """
    first, before, last, after = begin, _least(m, m.touch_before), end, _least(m, m.touch_after)
    before = before if before > TOUCHING * size else 0.0
    while before <= 0.0:
        middle = 0.5 * (begin + last)
        if middle - begin <= shortest * (end - begin):
            return begin
        gap = _gap(m, axes, kinds, law, p, begin, middle)
        if gap <= 0.0:
            last, after = middle, gap
        else:
            first, before = middle, gap
    if not math.isfinite(before):
        return math.nan
    return _zero(m, axes, kinds, law, p, begin, Bracket(first, before, last, after))


@kernel
def _zero(
    m: Memory,
    axes: tuple[int, ...],
    kinds: tuple[int, ...],
    law: LawSpace,
    p: Prescribed,
    begin: float,
    at: Bracket,
) -> float:
    """When the least gap of ways from a time is zero, by Brent's method; no number where one is not solved.

    The steps are those of SciPy's brentq, which NumPy's route takes: its times are these.
    """
    a, fa, b, fb = at.first, at.before, at.last, at.after  # b is the best point, a the one before
    c, fc, step, last = a, fa, b - a, b - a  # c is on the other side of the zero
    width = max(PRECISION * (b - a), ROUND_OFF * abs(b))
    for _ in range(ITERATIONS):
        if (fa > 0.0) != (fb > 0.0):
            c, fc, step, last = a, fa, b - a, b - a
        if abs(fc) < abs(fb):
            a, b, c = b, c, b
            fa, fb, fc = fb, fc, fb
        limit, half = 0.5 * (width + 4.0 * ROUND_OFF * abs(b)), 0.5 * (c - b)
        if fb == 0.0 or abs(half) < limit:
            return b
        last, step = _next(Bracket(a, fa, b, fb), c, fc, last, step, limit)
        a, fa = b, fb
        b += step if abs(step) > limit else math.copysign(limit, half)
        fb = _gap(m, axes, kinds, law, p, begin, b)
        if not math.isfinite(fb):
            return math.nan
    return math.nan


@kernel
def _next(at: Bracket, c: float, fc: float, last: float, step: float, limit: float) -> tuple[float, float]:
    """The step before the next one, and that: to the zero of a parabola or of a chord, or halfway to c.

    (R. P. Brent, Algorithms for Minimization Without Derivatives, 1973, chapter 4.)
    """
    (a, fa, b, fb), half = at, 0.5 * (c - at.last)
    if abs(last) > limit and abs(fb) < abs(fa):
        if a == c:
            trial = -fb * (b - a) / (fb - fa)
        else:
            to_a, to_c = (fa - fb) / (a - b), (fc - fb) / (c - b)
            trial = -fb * (fc * to_c - fa * to_a) / (to_c * to_a * (fc - fa))
        if 2.0 * abs(trial) < min(abs(last), 3.0 * abs(half) - limit):
            return step, trial
    return half, half


@kernel
def _gap(
    m: Memory,
    axes: tuple[int, ...],
    kinds: tuple[int, ...],
    law: LawSpace,
    p: Prescribed,
    begin: float,
    end: float,
) -> float:
    """The least of the gaps at the end of a way from a time to another one; no number where it is not solved."""
    if go(m, axes, kinds, law, p, begin, end, False) < 0:
        return math.nan
    least = math.inf
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] == ENTERS:
            least = min(least, gap_at_end(m, axes, c))
    return least


@kernel
def _least(m: Memory, gaps: Array) -> float:
    least = math.inf
    for c in range(m.contacts_kind.size):
        if m.strike_may_close[c] == ENTERS:
            least = min(least, gaps[c])
    return least
