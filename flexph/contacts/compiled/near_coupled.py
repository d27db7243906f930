"""Impulses near a guess between bodies, in loops: Newton's method, interior points, and the path from the nearest."""

from __future__ import annotations

import math

from ...numerics.arrays import Array
from ...numerics.compiled.kernel import kernel
from .coupled import KEPT, RATES, TRIED, Chain, Coupled, copy, rates_of
from .interior_coupled import interior_coupled
from .near import DAMPED, DAMPINGS, HEAVIEST, LIGHTEST, STEPS
from .newton import EXACT, SOLVED
from .newton_coupled import defect_of_all, newton_coupled, newton_step
from .paths import follow

OBEYED = 3e-13
"""Defect of a law that is obeyed."""
CLOSE, LIGHTER, LIGHT = 1e-6, 1e-2, 1e-9
"""Defect from which on weights become lighter, by what, and the lightest one."""
TOGETHER, BETTER = 10, 0.3
"""How often a weight is taken, and the defect over the last one from which on it is not."""
PATHS, EVENTS, STIFF, STIFFER = 4, 400, 1e-6, 1e-2
"""Paths one after the other, changes on each, the weight of the first one, and of the next over that."""


@kernel
def _judged(p: Coupled, x: Array, s: Chain) -> float:
    """The defect of impulses."""
    rates_of(p, x, s.vectors[RATES], s)
    return defect_of_all(p, x, s.vectors[RATES])


@kernel
def _together(p: Coupled, x: Array, best: float, weight: float, s: Chain) -> float:
    """Impulses by Newton's method from those in their place, which better ones take, and their defect."""
    m, tried = x.size, s.vectors[TRIED]
    for _ in range(TOGETHER):
        if best <= EXACT:
            break
        copy(x, tried)
        held = newton_coupled(p, tried[:m], weight, STEPS, s)
        found, before = _judged(p, tried[:m], s), best
        if found < best:
            best = found
            copy(tried[:m], x)
        if held > SOLVED or best > BETTER * before:
            break
    return best


@kernel
def _nearest(p: Coupled, x: Array, best: float, weight: float, s: Chain) -> float:
    """The same, with a lighter weight once they are near."""
    best = _together(p, x, best, weight, s)
    while OBEYED < best <= CLOSE and weight > LIGHT:
        weight *= LIGHTER
        best = _together(p, x, best, weight, s)
    return best


@kernel
def _is_still(p: Coupled, x: Array, s: Chain) -> bool:
    """Whether contacts that have impulses do not move."""
    c, fastest = p.friction.size, 0.0
    rates_of(p, x, s.vectors[RATES], s)
    for i in range(x.size):
        if x[i % c] > 0.0:
            fastest = max(fastest, abs(s.vectors[RATES, i]))
    return fastest <= SOLVED * p.scale


@kernel
def _from_inside(p: Coupled, weight: float, held: bool, s: Chain) -> float:
    """Impulses by the interior point method, into ``kept``, and their defect."""
    kept = s.vectors[KEPT, : p.b.size]
    interior_coupled(p, kept, weight, held, s)
    return _judged(p, kept, s)


@kernel
def _along_paths(p: Coupled, x: Array, best: float, s: Chain) -> float:
    """Impulses at the ends of paths that begin at the best ones."""
    stiff, kept = STIFF, s.vectors[KEPT, : x.size]
    for _ in range(PATHS):
        if best <= OBEYED:
            break
        copy(x, kept)
        if not follow(p, kept, stiff, EVENTS, s):
            break
        found, stiff = _nearest(p, kept, _judged(p, kept, s), stiff, s), STIFFER * stiff
        if found < best:
            best = found
            copy(kept, x)
    return best


@kernel
def _damped(p: Coupled, x: Array, best: float, weight: float, s: Chain) -> float:
    """Newton's steps with a weight on what changes that falls while they lead on, and grows where they do not."""
    at, y, before = s.vectors[KEPT, : x.size], s.vectors[RATES], best
    copy(x, at)
    for _ in range(DAMPED):
        rates_of(p, at, y, s)
        if not newton_step(p, at, y, weight, s):
            break
        defect = _judged(p, at, s)
        if defect < best:
            best = defect
            copy(at, x)
        if best <= SOLVED or not defect < math.inf:
            break
        weight = min(max(weight * (0.5 if defect < before else 2.0), LIGHTEST), HEAVIEST)
        before = defect
    return best


@kernel
def near_coupled(p: Coupled, x: Array, weight: float, rests: bool, s: Chain) -> float:
    """Impulses near those given, in their place, and their defect, over the scale.

    Those of bodies that ``rests`` are such that hold them there, where there are any.
    """
    kept, weight = s.vectors[KEPT, : x.size], max(weight, LIGHT)
    best = _nearest(p, x, _judged(p, x, s), weight, s)
    if rests and p.rows > 1 and not (best <= SOLVED and _is_still(p, x, s)):
        found = _from_inside(p, weight, True, s)
        if found <= SOLVED and _is_still(p, kept, s):
            best = found
            copy(kept, x)
    if best > CLOSE:
        found = _from_inside(p, weight, False, s)
        if found < best:
            best = found
            copy(kept, x)
    best = _along_paths(p, x, best, s)
    for damping in DAMPINGS:
        if best > CLOSE:
            best = _along_paths(p, x, _damped(p, x, best, damping, s), s)
    return best
