"""Impulses near a guess by a dense D, in compiled loops (see flexph.contacts.complementarity); needs numba."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...numerics.compiled.announcing import announced
from ...numerics.compiled.cache import keep_on_disk, named_by
from ...numerics.compiled.linking import entry
from .elimination import OPTIONS, loops
from .interior import interior
from .newton import EXACT, SOLVED, Cone, Space, defect_of, newton, rates_at, space_of

TOGETHER, STEPS = 3, 16
"""See flexph.contacts.complementarity."""


@loops
def _near(p: Cone, x: Array, best: float, weight: float, space: Space, tried: Array) -> float:
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


def _solve(p: Cone, x: Array, weight: float, space: Space, point: Array) -> float:
    """Impulses near those given, in their place, and their defect, over the scale."""
    m = x.size
    rates_at(p, x, 0.0, x, space.rates)
    best = _near(p, x, defect_of(p, x, space.rates), weight, space, point[0])
    if best > SOLVED and m <= 2 * p.friction.size:
        found = interior(p, space.kept, weight, space, point)
        if found < math.inf:
            rates_at(p, space.kept, 0.0, space.kept, space.rates)
            found = defect_of(p, space.kept, space.rates)
        if found < best:
            best = found
            for i in range(m):
                x[i] = space.kept[i]
    return best


_entry: Any = entry(_solve, plain=True, no_cfunc_wrapper=True, **OPTIONS)
keep_on_disk(_entry, named_by(sorted(Path(__file__).parent.glob("*.py"))))


def solve_dense(
    given: tuple[Array, Array], laws: tuple[Array, Array, Array], guess: Array, *, scale: float, weight: float
) -> tuple[Array, float]:
    """Impulses near a guess with b + D Λ as the rates of their laws, and their defect over the scale.

    ``given`` are D and b, ``laws`` the coefficients of friction and the steps of the natural map, (c,) each, ``weight``
    that on what changes.
    """
    x, count = np.array(guess), laws[0].size
    cone = Cone._make([*map(np.ascontiguousarray, (*given, *laws)), float(scale)])
    with announced():
        defect = _entry(cone, x, weight, space_of(x.size, count), np.empty((2, x.size)))
    return x, float(defect)
