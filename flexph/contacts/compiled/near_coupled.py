"""Impulses near a guess between bodies, in loops: Newton's method, from sweeps and interior points, and paths."""

from __future__ import annotations

from ...numerics.arrays import Array
from ...numerics.compiled.kernel import kernel
from .coupled import KEPT, POINT, RATES, TRIED, Chain, Coupled, copy, rates_of
from .interior_coupled import interior_coupled
from .near import STEPS
from .newton import EXACT, SOLVED, defect_of
from .newton_coupled import newton_coupled
from .paths import follow
from .sweeps import sweep_coupled

OBEYED = 3e-13
"""Defect of a law that is obeyed."""
CLOSE, LIGHTER, LIGHT = 1e-6, 1e-2, 1e-9
"""Defect from which on weights become lighter, by what, and the lightest one."""
TOGETHER, BETTER = 10, 0.3
"""How often a weight is taken, and the defect over the last one from which on it is not."""
FIRST, SWEEPS, ROUNDS = 50, 500, 10
"""Sweeps before anything else, and before weights begin where they came to, and how often."""
HEAVY, HEAVIEST, LIGHTEST, TIMES, CHANGED = 1e-2, 1.0, 1e-10, 50, 10.0
"""The first weight, the range of others, how many there are, and the factor by which they change."""
PATHS, EVENTS, STIFF, STIFFER = 4, 400, 1e-6, 1e-2
"""Paths one after the other, changes on each, the weight of the first one, and of the next over that."""


@kernel
def _judged(p: Coupled, x: Array, s: Chain) -> float:
    """The defect of impulses."""
    rates_of(p, x, s.vectors[RATES], s)
    return defect_of(p, x, s.vectors[RATES])


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
def _swept(p: Coupled, x: Array, s: Chain) -> float:
    """Impulses after a few sweeps where these are better, and their defect."""
    at, best = s.vectors[POINT, : x.size], _judged(p, x, s)
    if best <= CLOSE:
        return best
    copy(x, at)
    sweep_coupled(p, at, FIRST, s)
    found = _judged(p, at, s)
    if found < best:
        best = found
        copy(at, x)
    return best


@kernel
def _by_weights(p: Coupled, x: Array, s: Chain) -> float:
    """Impulses after proximal steps, and their defect: lighter ones after each that is solved, else heavier ones.

    Where impulses of nearly redundant contacts go a long way to where they obey, heavy weights alone take too many
    steps, and with light ones alone Newton's method cycles.
    """
    m, weight, best, tried = x.size, HEAVY, _judged(p, x, s), s.vectors[TRIED]
    for _ in range(TIMES):
        if best <= OBEYED:
            break
        copy(x, tried)
        if newton_coupled(p, tried[:m], weight, STEPS, s) <= SOLVED:
            copy(tried[:m], x)
            best, weight = _judged(p, x, s), max(weight / CHANGED, LIGHTEST)
        else:
            weight = min(weight * CHANGED, HEAVIEST)
    return best


@kernel
def _by_sweeps(p: Coupled, x: Array, best: float, s: Chain) -> float:
    """Impulses by weights from those that sweeps come to, which begin at the best ones."""
    at, kept = s.vectors[POINT, : x.size], s.vectors[KEPT, : x.size]
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


@kernel
def near_coupled(p: Coupled, x: Array, weight: float, rests: bool, s: Chain) -> float:
    """Impulses near those given, in their place, and their defect, over the scale.

    Those of bodies that ``rests`` in the plane are such that hold them there, where there are any. The interior point
    method and paths are for cones that have edges, as all but those in space, where sweeps only begin what is far off:
    iterations around this take what is left.
    """
    have_edges = p.rows < 3
    kept, weight = s.vectors[KEPT, : x.size], max(weight, LIGHT)
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
