"""Impulses near a guess between bodies, in loops: Newton's method, from sweeps and interior points, and paths."""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ...numerics.loops.views import copy, larger, part, smaller
    from .coupled import KEPT, POINT, RATES, TRIED, rates_of
    from .interior_coupled import interior_coupled
    from .near import STEPS
    from .newton import EXACT, SOLVED, defect_of
    from .newton_coupled import newton_coupled
    from .paths import follow
    from .problem import Chain, Coupled
    from .sweeps import sweep_coupled


OBEYED = cython.declare(cython.double, 3e-13)
"""Defect of a law that is obeyed."""
CLOSE = cython.declare(cython.double, 1e-6)
LIGHTER = cython.declare(cython.double, 1e-2)
LIGHT = cython.declare(cython.double, 1e-9)
"""Defect from which on weights become lighter, by what, and the lightest one."""
TOGETHER = cython.declare(cython.Py_ssize_t, 10)
BETTER = cython.declare(cython.double, 0.3)
"""How often a weight is taken, and the defect over the last one from which on it is not."""
FIRST = cython.declare(cython.Py_ssize_t, 50)
SWEEPS = cython.declare(cython.Py_ssize_t, 500)
ROUNDS = cython.declare(cython.Py_ssize_t, 10)
"""Sweeps before anything else, and before weights begin where they came to, and how often."""
HEAVY = cython.declare(cython.double, 1e-2)
HEAVIEST = cython.declare(cython.double, 1.0)
LIGHTEST = cython.declare(cython.double, 1e-10)
TIMES = cython.declare(cython.Py_ssize_t, 50)
CHANGED = cython.declare(cython.double, 10.0)
"""The first weight, the range of others, how many there are, and the factor by which they change."""
PATHS = cython.declare(cython.Py_ssize_t, 4)
EVENTS = cython.declare(cython.Py_ssize_t, 400)
STIFF = cython.declare(cython.double, 1e-6)
STIFFER = cython.declare(cython.double, 1e-2)
"""Paths one after the other, changes on each, the weight of the first one, and of the next over that."""


def _judged(p: Coupled, x: Array, s: Chain) -> float:
    """The defect of impulses."""
    rates_of(p, x, s.vectors[RATES], s)
    return defect_of(p, x, s.vectors[RATES])


def _together(p: Coupled, x: Array, best: float, weight: float, s: Chain) -> float:
    """Impulses by Newton's method from those in their place, which better ones take, and their defect."""
    m = x.size
    tried = s.vectors[TRIED]
    for _ in range(TOGETHER):
        if best <= EXACT:
            break
        copy(x, tried)
        held = newton_coupled(p, part(tried, 0, m), weight, STEPS, s)
        found = _judged(p, part(tried, 0, m), s)
        before = best
        if found < best:
            best = found
            copy(part(tried, 0, m), x)
        if held > SOLVED or best > BETTER * before:
            break
    return best


def _nearest(p: Coupled, x: Array, best: float, weight: float, s: Chain) -> float:
    """The same, with a lighter weight once they are near."""
    best = _together(p, x, best, weight, s)
    while OBEYED < best <= CLOSE and weight > LIGHT:
        weight *= LIGHTER
        best = _together(p, x, best, weight, s)
    return best


def _is_still(p: Coupled, x: Array, s: Chain) -> bool:
    """Whether contacts that have impulses do not move."""
    c = p.friction.size
    fastest = 0.0
    rates_of(p, x, s.vectors[RATES], s)
    for i in range(x.size):
        if x[i % c] > 0.0:
            fastest = larger(fastest, fabs(s.vectors[RATES][i]))
    return fastest <= SOLVED * p.scale


def _from_inside(p: Coupled, weight: float, held: bool, s: Chain) -> float:
    """Impulses by the interior point method, into ``kept``, and their defect."""
    kept = part(s.vectors[KEPT], 0, p.b.size)
    interior_coupled(p, kept, weight, held, s)
    return _judged(p, kept, s)


def _along_paths(p: Coupled, x: Array, best: float, s: Chain) -> float:
    """Impulses at the ends of paths that begin at the best ones."""
    stiff = STIFF
    kept = part(s.vectors[KEPT], 0, x.size)
    for _ in range(PATHS):
        if best <= OBEYED:
            break
        copy(x, kept)
        if not follow(p, kept, stiff, EVENTS, s):
            break
        found = _nearest(p, kept, _judged(p, kept, s), stiff, s)
        stiff = STIFFER * stiff
        if found < best:
            best = found
            copy(kept, x)
    return best


def _swept(p: Coupled, x: Array, s: Chain) -> float:
    """Impulses after a few sweeps where these are better, and their defect."""
    at = part(s.vectors[POINT], 0, x.size)
    best = _judged(p, x, s)
    if best <= CLOSE:
        return best
    copy(x, at)
    sweep_coupled(p, at, FIRST, s)
    found = _judged(p, at, s)
    if found < best:
        best = found
        copy(at, x)
    return best


def _by_weights(p: Coupled, x: Array, s: Chain) -> float:
    """Impulses after proximal steps, and their defect: lighter ones after each that is solved, else heavier ones.

    Where impulses of nearly redundant contacts go a long way to where they obey, heavy weights alone take too many
    steps, and with light ones alone Newton's method cycles.
    """
    m = x.size
    weight = HEAVY
    best = _judged(p, x, s)
    tried = s.vectors[TRIED]
    for _ in range(TIMES):
        if best <= OBEYED:
            break
        copy(x, tried)
        if newton_coupled(p, part(tried, 0, m), weight, STEPS, s) <= SOLVED:
            copy(part(tried, 0, m), x)
            best = _judged(p, x, s)
            weight = larger(weight / CHANGED, LIGHTEST)
        else:
            weight = smaller(weight * CHANGED, HEAVIEST)
    return best


def _by_sweeps(p: Coupled, x: Array, best: float, s: Chain) -> float:
    """Impulses by weights from those that sweeps come to, which begin at the best ones."""
    at = part(s.vectors[POINT], 0, x.size)
    kept = part(s.vectors[KEPT], 0, x.size)
    copy(x, at)
    for _ in range(ROUNDS):
        if best <= SOLVED:
            break
        sweep_coupled(p, at, SWEEPS, s)
        copy(at, kept)
        found = _by_weights(p, kept, s)
        if found < best:
            best = found
            copy(kept, x)
    return best


def near_coupled(p: Coupled, x: Array, weight: float, rests: bool, s: Chain) -> float:
    """Impulses near those given, in their place, and their defect, over the scale.

    Those of bodies that ``rests`` in the plane are such that hold them there, where there are any. The interior point
    method and paths are for cones that have edges, as all but those in space, where sweeps only begin what is far off:
    iterations around this take what is left.
    """
    have_edges = cython.declare(cython.bint)
    have_edges = p.rows < 3
    kept = part(s.vectors[KEPT], 0, x.size)
    weight = larger(weight, LIGHT)
    best = _nearest(p, x, _swept(p, x, s), weight, s)
    if rests and p.rows == 2 and not (best <= SOLVED and _is_still(p, x, s)):
        found = _from_inside(p, weight, True, s)
        if found <= SOLVED and _is_still(p, kept, s):
            best = found
            copy(kept, x)
    if best > SOLVED:
        copy(x, kept)
        found = _by_weights(p, kept, s)
        if found < best:
            best = found
            copy(kept, x)
    if best > CLOSE and have_edges:
        found = _from_inside(p, weight, False, s)
        if found < best:
            best = found
            copy(kept, x)
    if have_edges or best > CLOSE:
        best = _by_sweeps(p, x, best, s)
    return _along_paths(p, x, best, s) if have_edges else best
