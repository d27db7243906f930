"""Compiled proximal method for contact impulses, in body velocities.

Newton's method comes first, then interior points, sweeps and path following. If the impulses are not unique, those near
a guess are found.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ...numerics.loops.views import copy, larger, part, smaller
    from .coupled import KEPT, POINT, RATES, TRIED, rates_of
    from .interior_coupled import interior_coupled
    from .newton import EXACT, SOLVED, defect_of
    from .newton_coupled import newton_coupled
    from .paths import follow_path
    from .problem import Chain, Coupled
    from .proximal import CHANGED, HEAVIEST, HEAVY, LIGHTEST, OBEYED, STEPS, TIMES
    from .sweeps import sweep_coupled


CLOSE = cython.declare(cython.double, 1e-6)
LIGHTER = cython.declare(cython.double, 1e-2)
LIGHT = cython.declare(cython.double, 1e-9)
"""Defect below which proximal weights decrease, factor of the decrease, and smallest weight."""
TOGETHER = cython.declare(cython.Py_ssize_t, 10)
BETTER = cython.declare(cython.double, 0.3)
"""Largest number of proximal steps with a weight, and ratio of successive defects above which they stop."""
FIRST = cython.declare(cython.Py_ssize_t, 50)
STEADY = cython.declare(cython.Py_ssize_t, 3)
SWEEPS = cython.declare(cython.Py_ssize_t, 500)
ROUNDS = cython.declare(cython.Py_ssize_t, 10)
"""Sweeps at the beginning, those without a change of states that end them, sweeps before each restart of proximal
steps, and number of restarts."""
PATHS = cython.declare(cython.Py_ssize_t, 4)
EVENTS = cython.declare(cython.Py_ssize_t, 400)
STIFF = cython.declare(cython.double, 1e-6)
STIFFER = cython.declare(cython.double, 1e-2)
"""Largest numbers of successive paths and of changes on each, weight of the first path, and ratio of weights."""


def _defect_at(p: Coupled, x: Array, s: Chain) -> float:
    """Relative defect of impulses x; also writes their rates into the row RATES."""
    rates_of(p, x, s.vectors[RATES], s)
    return defect_of(p, x, s.vectors[RATES])


def _take_proximal_steps(p: Coupled, x: Array, best: float, weight: float, s: Chain) -> float:
    """Improve impulses x, whose defect is ``best``, in place by proximal steps; return their defect.

    Each proximal step is a Newton iteration with the given weight.
    """
    m = x.size
    tried = s.vectors[TRIED]
    for _ in range(TOGETHER):
        if best <= EXACT:
            break
        copy(x, tried)
        held = newton_coupled(p, part(tried, 0, m), weight, STEPS, s)
        defect = _defect_at(p, part(tried, 0, m), s)
        before = best
        if defect < best:
            best = defect
            copy(part(tried, 0, m), x)
        if held > SOLVED or best > BETTER * before:
            break
    return best


def _solve_with_falling_weights(p: Coupled, x: Array, best: float, weight: float, s: Chain) -> float:
    """Improve impulses x, whose defect is ``best``, in place by proximal steps; return their defect.

    The weight falls as the defect becomes small.
    """
    best = _take_proximal_steps(p, x, best, weight, s)
    while OBEYED < best <= CLOSE and weight > LIGHT:
        weight *= LIGHTER
        best = _take_proximal_steps(p, x, best, weight, s)
    return best


def _is_at_rest(p: Coupled, x: Array, s: Chain) -> bool:
    """True if the rates of all contacts with impulses are zero to round-off."""
    c = p.friction.size
    fastest = 0.0
    rates_of(p, x, s.vectors[RATES], s)
    for i in range(x.size):
        if x[i % c] > 0.0:
            fastest = larger(fastest, fabs(s.vectors[RATES][i]))
    return fastest <= SOLVED * p.scale


def _solve_from_inside(p: Coupled, weight: float, held: bool, s: Chain) -> float:
    """Write the impulses of the interior point method into the row KEPT; return their defect.

    With ``held``, slips are zero, as in a state of rest.
    """
    kept = part(s.vectors[KEPT], 0, p.b.size)
    interior_coupled(p, kept, weight, held, s)
    return _defect_at(p, kept, s)


def _solve_by_paths(p: Coupled, x: Array, best: float, s: Chain) -> float:
    """Improve impulses x, whose defect is ``best``, by path following and proximal steps; return their defect."""
    stiff = STIFF
    kept = part(s.vectors[KEPT], 0, x.size)
    for _ in range(PATHS):
        if best <= OBEYED:
            break
        copy(x, kept)
        if not follow_path(p, kept, stiff, EVENTS, s):
            break
        defect = _solve_with_falling_weights(p, kept, _defect_at(p, kept, s), stiff, s)
        stiff = STIFFER * stiff
        if defect < best:
            best = defect
            copy(kept, x)
    return best


def _sweep_once(p: Coupled, x: Array, s: Chain) -> float:
    """Improve impulses x in place by one series of sweeps, unless their defect is small; return their defect."""
    at = part(s.vectors[POINT], 0, x.size)
    best = _defect_at(p, x, s)
    if best <= CLOSE:
        return best
    copy(x, at)
    sweep_coupled(p, at, FIRST, STEADY, s)
    defect = _defect_at(p, at, s)
    if defect < best:
        best = defect
        copy(at, x)
    return best


def _solve_with_adapted_weights(p: Coupled, x: Array, s: Chain) -> float:
    """Improve impulses x in place by proximal steps with changing weights; return their defect.

    Weights fall after success and grow after failure. If the impulses of nearly redundant contacts are far from the
    solution, large weights alone need too many steps, and with small weights alone Newton's method cycles.
    """
    m = x.size
    weight = HEAVY
    best = _defect_at(p, x, s)
    tried = s.vectors[TRIED]
    for _ in range(TIMES):
        if best <= OBEYED:
            break
        copy(x, tried)
        if newton_coupled(p, part(tried, 0, m), weight, STEPS, s) <= SOLVED:
            copy(part(tried, 0, m), x)
            best = _defect_at(p, x, s)
            weight = larger(weight / CHANGED, LIGHTEST)
        else:
            weight = smaller(weight * CHANGED, HEAVIEST)
    return best


def _solve_by_sweeps(p: Coupled, x: Array, best: float, s: Chain) -> float:
    """Improve impulses x, whose defect is ``best``, by rounds of sweeps and proximal steps; return their defect."""
    at = part(s.vectors[POINT], 0, x.size)
    kept = part(s.vectors[KEPT], 0, x.size)
    copy(x, at)
    for _ in range(ROUNDS):
        if best <= SOLVED:
            break
        sweep_coupled(p, at, SWEEPS, SWEEPS, s)
        copy(at, kept)
        defect = _solve_with_adapted_weights(p, kept, s)
        if defect < best:
            best = defect
            copy(kept, x)
    return best


def proximal_coupled(p: Coupled, x: Array, weight: float, rests: bool, s: Chain) -> float:
    """Solve for impulses near those in x, in place; return their relative defect.

    With ``rests``, plane contacts get impulses that hold the bodies at rest, if such impulses exist. The interior point
    method and path following need polyhedral friction cones, and are used in the plane or without friction only. With
    friction in space, sweeps are used only far from the solution, and the calling iteration corrects the remaining
    defect.
    """
    have_edges = cython.declare(cython.bint)
    have_edges = p.rows < 3
    kept = part(s.vectors[KEPT], 0, x.size)
    weight = larger(weight, LIGHT)
    best = _solve_with_falling_weights(p, x, _sweep_once(p, x, s), weight, s)
    if rests and p.rows == 2 and not (best <= SOLVED and _is_at_rest(p, x, s)):
        defect = _solve_from_inside(p, weight, True, s)
        if defect <= SOLVED and _is_at_rest(p, kept, s):
            best = defect
            copy(kept, x)
    if best > SOLVED:
        copy(x, kept)
        defect = _solve_with_adapted_weights(p, kept, s)
        if defect < best:
            best = defect
            copy(kept, x)
    if best > CLOSE and have_edges:
        defect = _solve_from_inside(p, weight, False, s)
        if defect < best:
            best = defect
            copy(kept, x)
    if have_edges or best > CLOSE:
        best = _solve_by_sweeps(p, x, best, s)
    return _solve_by_paths(p, x, best, s) if have_edges else best
