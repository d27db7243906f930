"""Impulses near a guess by a dense D, in loops: Newton's method, and the interior point method where it cycles."""

from __future__ import annotations

import math

from ...numerics.arrays import Array
from ...numerics.compiled.kernel import kernel
from .interior import interior
from .newton import EXACT, SOLVED, defect_of, newton, rates_at, step
from .pattern import find_entries, find_order
from .problem import Cone, Space

TOGETHER, STEPS = 3, 16
"""See flexph.contacts.complementarity."""
DAMPED, DAMPINGS, LIGHTEST, HEAVIEST, MET = 60, (1e-2, 1e-3), 1e-8, 1e3, 1e-13
"""Steps with a weight that follows, the weights they begin with, its range over the largest entry of D, and the defect
at which they end."""


@kernel
def _together(p: Cone, x: Array, best: float, weight: float, space: Space, tried: Array) -> float:
    """Impulses by Newton's method from those in their place, which better ones take, and their defect."""
    m = x.size
    for _ in range(TOGETHER):
        if best <= EXACT:
            break
        for i in range(m):
            tried[i] = x[i]
        held = newton(p, tried, weight, STEPS, space)
        rates_at(p, tried, 0.0, tried, space.rates)
        found, before = defect_of(p, tried, space.rates), best
        if found < best:
            best = found
            for i in range(m):
                x[i] = tried[i]
        if held > SOLVED or best > 0.1 * before:
            break
    return best


@kernel
def near(p: Cone, x: Array, weight: float, rests: bool, space: Space, point: Array) -> float:
    """Impulses near those given, in their place, and their defect, over the scale.

    In the plane those of bodies that ``rests`` are such that hold them there, where there are any.
    """
    m = x.size
    find_entries(p.D, p.ptr, p.col)
    find_order(p.ptr, p.col, p.order, space.place[: p.order.size], space.matrix)
    rates_at(p, x, 0.0, x, space.rates)
    best = _together(p, x, defect_of(p, x, space.rates), weight, space, point[0])
    if m > 2 * p.friction.size:
        return best
    if rests and m > p.friction.size and not (best <= SOLVED and _is_still(p, x, space)):
        found = _from_inside(p, weight, True, space, point)
        if found <= SOLVED and _is_still(p, space.kept, space):
            best = found
            for i in range(m):
                x[i] = space.kept[i]
    if best > SOLVED:
        found = _from_inside(p, weight, False, space, point)
        if found < best:
            best = found
            for i in range(m):
                x[i] = space.kept[i]
    for damping in DAMPINGS:
        if best > SOLVED:
            best = _damped(p, x, best, damping, space)
    return best


@kernel
def _damped(p: Cone, x: Array, best: float, damping: float, space: Space) -> float:
    """Newton's steps with a weight on what changes that falls while they lead on, and grows where they do not."""
    m, largest, before, at = x.size, 0.0, best, space.x
    for i in range(m):
        largest, at[i] = max(largest, p.D[i, i]), x[i]
    weight = damping * largest
    for _ in range(DAMPED):
        rates_at(p, at, 0.0, at, space.rates)
        if not step(p, at, space.rates, weight, space):
            break
        rates_at(p, at, 0.0, at, space.rates)
        defect = defect_of(p, at, space.rates)
        if defect < best:
            best = defect
            for i in range(m):
                x[i] = at[i]
        if best <= MET or not defect < math.inf:
            break
        weight = min(max(weight * (0.5 if defect < before else 2.0), LIGHTEST * largest), HEAVIEST * largest)
        before = defect
    return best


@kernel
def _from_inside(p: Cone, weight: float, held: bool, space: Space, point: Array) -> float:
    """Impulses by the interior point method, into ``kept``, and their defect."""
    found = interior(p, space.kept, weight, held, space, point)
    if found < math.inf:
        rates_at(p, space.kept, 0.0, space.kept, space.rates)
        found = defect_of(p, space.kept, space.rates)
    return found


@kernel
def _is_still(p: Cone, x: Array, space: Space) -> bool:
    """Whether contacts that have impulses do not move."""
    c, fastest = p.friction.size, 0.0
    rates_at(p, x, 0.0, x, space.rates)
    for i in range(x.size):
        if x[i % c] > 0.0:
            fastest = max(fastest, abs(space.rates[i]))
    return fastest <= SOLVED * p.scale
