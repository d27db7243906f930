"""Sweeps of Gauss and Seidel over the contacts, between bodies or by a dense D, in loops.

Each contact gets the impulses that obey its law while the others stay. Where Newton's method cycles, sweeps go from one
set of who is open, sticks and slips to another without an order, until they come to one that Newton's method ends at.
Sweeps are cheap: a thousand take as long as some factors.
"""

from __future__ import annotations

import math

from ...numerics.arrays import Array
from ...numerics.compiled.kernel import kernel
from ...numerics.compiled.lanes import take
from .coupled import Chain, Coupled, moved, push, spread
from .newton import TINY, rates_at
from .problem import Cone, Space


@kernel
def sweep_coupled(p: Coupled, x: Array, sweeps: int, s: Chain) -> None:
    """Sweep to and fro over contacts of the plane between bodies."""
    c = p.friction.size
    spread(p, x, p.given, s)
    for sweep in range(sweeps):
        for l in range(c):
            k = l if sweep % 2 == 0 else c - 1 - l
            normal = max(0.0, x[k] - p.normal_step[k] * (p.b[k] + moved(p, k, 0, s)))
            push(p, k, 0, normal - x[k], s)
            x[k] = normal
            if p.rows > 1:
                bound = p.friction[k] * normal
                trial = x[c + k] - p.tangent_step[k] * (p.b[c + k] + moved(p, k, 1, s))
                along = min(max(trial, -bound), bound)
                push(p, k, 1, along - x[c + k], s)
                x[c + k] = along


@kernel
def sweep_dense(p: Cone, x: Array, sweeps: int, space: Space) -> None:
    """Sweep to and fro over contacts by a dense D, whose columns ``matrix`` gets: impulses that stay cost nothing."""
    c, m, y = p.friction.size, x.size, space.rates
    rates_at(p, x, 0.0, x, y)
    for i in range(m):
        for j in range(m):
            space.matrix[j, i] = p.D[i, j]
    for sweep in range(sweeps):
        for l in range(c):
            k = l if sweep % 2 == 0 else c - 1 - l
            _set(k, max(0.0, x[k] - p.normal_step[k] * y[k]), x, space)
            square = 0.0
            for i in range(c + k, m, c):
                space.x[i] = x[i] - p.tangent_step[k] * y[i]
                square += space.x[i] * space.x[i]
            share = min(1.0, p.friction[k] * x[k] / max(math.sqrt(square), TINY))
            for i in range(c + k, m, c):
                _set(i, share * space.x[i], x, space)


@kernel
def _set(i: int, impulse: float, x: Array, space: Space) -> None:
    """Change an impulse, and all rates with it."""
    if impulse != x[i]:
        take(space.rates, 0, space.matrix, i * space.matrix.shape[1], x[i] - impulse, x.size)
        x[i] = impulse
