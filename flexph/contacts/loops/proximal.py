"""Compiled proximal method for contact impulses, with a dense D: Newton's method, then interior points and sweeps.

D maps impulses of the contacts to changes of their rates. If the impulses are not unique, those near a guess are found.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs
    from math import inf as INFINITY

    from ...numerics.loops.views import larger, part, smaller
    from .interior import interior
    from .newton import EXACT, SOLVED, defect_of, newton, rates_at
    from .pattern import find_entries, find_order
    from .problem import Cone, Space
    from .sweeps import sweep_dense


OBEYED = cython.declare(cython.double, 3e-13)
"""Relative defect up to which impulses are a solution."""
TOGETHER = cython.declare(cython.Py_ssize_t, 3)
STEPS = cython.declare(cython.Py_ssize_t, 16)
"""Largest numbers of proximal steps and of Newton steps in each (see tests/samples/complementarity.py)."""
SWEEPS = cython.declare(cython.Py_ssize_t, 200)
ROUNDS = cython.declare(cython.Py_ssize_t, 40)
"""Sweeps before each restart of Newton's method, and number of restarts."""
HEAVY = cython.declare(cython.double, 1e-2)
HEAVIEST = cython.declare(cython.double, 1.0)
LIGHTEST = cython.declare(cython.double, 1e-10)
TIMES = cython.declare(cython.Py_ssize_t, 50)
CHANGED = cython.declare(cython.double, 10.0)
"""Adapted proximal weights: the first, the largest and smallest, the number of steps, and the factor of changes."""


def _take_proximal_steps(p: Cone, x: Array, best: float, weight: float, space: Space, tried: Array) -> float:
    """Improve impulses x, whose defect is ``best``, in place by proximal steps; return their defect.

    Each proximal step is a Newton iteration with the given weight. ``tried`` (m,) is work space.
    """
    m = x.size
    for _ in range(TOGETHER):
        if best <= EXACT:
            break
        for i in range(m):
            tried[i] = x[i]
        held = newton(p, tried, weight, STEPS, space)
        rates_at(p, tried, 0.0, tried, space.rates)
        defect = defect_of(p, tried, space.rates)
        before = best
        if defect < best:
            best = defect
            for i in range(m):
                x[i] = tried[i]
        if held > SOLVED or best > 0.1 * before:
            break
    return best


def solve_proximal(p: Cone, x: Array, weight: float, rests: bool, space: Space, point: Array) -> float:
    """Solve for impulses near those in x, in place; return their relative defect.

    With ``rests``, plane contacts get impulses that hold the bodies at rest, if such impulses exist. If the weight is
    0, the weights adapt themselves; impulses of nearly redundant contacts may then be far from the given ones.
    """
    in_plane = cython.declare(cython.bint)
    m = x.size
    find_entries(p.D, p.ptr, p.col)
    find_order(p.ptr, p.col, p.order, part(space.place, 0, p.order.size), space.matrix)
    rates_at(p, x, 0.0, x, space.rates)
    best = defect_of(p, x, space.rates)
    if weight == 0.0:
        for i in range(m):
            space.kept[i] = x[i]
        defect = _solve_with_adapted_weights(p, space.kept, best, space, point[0])
        for i in range(m if defect < best else 0):
            x[i] = space.kept[i]
        return smaller(defect, best)
    best = _take_proximal_steps(p, x, best, weight, space, point[0])
    in_plane = m <= 2 * p.friction.size
    if in_plane and rests and m > p.friction.size and not (best <= SOLVED and _is_at_rest(p, x, space)):
        defect = _solve_from_inside(p, weight, True, space, point)
        if defect <= SOLVED and _is_at_rest(p, space.kept, space):
            best = defect
            for i in range(m):
                x[i] = space.kept[i]
    if in_plane and best > SOLVED:
        defect = _solve_from_inside(p, weight, False, space, point)
        if defect < best:
            best = defect
            for i in range(m):
                x[i] = space.kept[i]
    return _solve_by_sweeps(p, x, best, weight, space, point)


def _solve_with_adapted_weights(p: Cone, x: Array, best: float, space: Space, tried: Array) -> float:
    """Improve impulses x, whose defect is ``best``, in place by proximal steps; return their defect.

    Weights fall after success and grow after failure. If the impulses of nearly redundant contacts are far from the
    solution, large weights alone need too many steps, and with small weights alone Newton's method cycles.
    """
    m = x.size
    weight = HEAVY
    largest = 0.0
    for i in range(m):
        largest = larger(largest, p.D[i][i])
    for _ in range(TIMES):
        if best <= OBEYED:
            break
        for i in range(m):
            tried[i] = x[i]
        if newton(p, tried, weight * largest, STEPS, space) <= SOLVED:
            for i in range(m):
                x[i] = tried[i]
            rates_at(p, x, 0.0, x, space.rates)
            best = defect_of(p, x, space.rates)
            weight = larger(weight / CHANGED, LIGHTEST)
        else:
            weight = smaller(weight * CHANGED, HEAVIEST)
    return best


def _solve_by_sweeps(p: Cone, x: Array, best: float, weight: float, space: Space, point: Array) -> float:
    """Improve impulses x, whose defect is ``best``, by rounds of sweeps and Newton's method; return their defect."""
    m = x.size
    at = point[1]
    kept = space.kept
    for i in range(m):
        at[i] = x[i]
    for _ in range(ROUNDS):
        if best <= SOLVED:
            break
        sweep_dense(p, at, SWEEPS, space)
        for i in range(m):
            kept[i] = at[i]
        rates_at(p, kept, 0.0, kept, space.rates)
        defect = _take_proximal_steps(p, kept, defect_of(p, kept, space.rates), weight, space, point[0])
        if defect < best:
            best = defect
            for i in range(m):
                x[i] = kept[i]
    return best


def _solve_from_inside(p: Cone, weight: float, held: bool, space: Space, point: Array) -> float:
    """Write the impulses of the interior point method into ``space.kept``; return their defect.

    With ``held``, slips are zero, as in a state of rest. ``point`` (2, m) is work space.
    """
    defect = interior(p, space.kept, weight, held, space, point)
    if defect < INFINITY:
        rates_at(p, space.kept, 0.0, space.kept, space.rates)
        defect = defect_of(p, space.kept, space.rates)
    return defect


def _is_at_rest(p: Cone, x: Array, space: Space) -> bool:
    """True if the rates of all contacts with impulses are zero to round-off."""
    c = p.friction.size
    fastest = 0.0
    rates_at(p, x, 0.0, x, space.rates)
    for i in range(x.size):
        if x[i % c] > 0.0:
            fastest = larger(fastest, fabs(space.rates[i]))
    return fastest <= SOLVED * p.scale
