"""Sweeps of Gauss and Seidel over the contacts, between bodies or by a dense D, in loops.

Each contact gets the impulses that obey its law while the others stay. Where Newton's method cycles, sweeps go from one
set of who is open, sticks and slips to another without an order, until they come to one that Newton's method ends at.
Sweeps are cheap: a thousand take as long as some factors.
"""

from __future__ import annotations

import math

from ...numerics.arrays import Array
from ...numerics.compiled.kernel import kernel
from .coupled import Chain, Coupled, moved, push, spread
from .newton import TINY
from .problem import Cone


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
def sweep_dense(p: Cone, x: Array, sweeps: int) -> None:
    """Sweep to and fro over contacts by a dense D, whose pattern is known."""
    c = p.friction.size
    t = x.size // c - 1
    for sweep in range(sweeps):
        for l in range(c):
            k = l if sweep % 2 == 0 else c - 1 - l
            x[k] = max(0.0, x[k] - p.normal_step[k] * _rate(p, x, k))
            square = 0.0
            for i in range(1, t + 1):
                x[i * c + k] -= p.tangent_step[k] * _rate(p, x, i * c + k)
                square += x[i * c + k] * x[i * c + k]
            share = min(1.0, p.friction[k] * x[k] / max(math.sqrt(square), TINY))
            for i in range(1, t + 1):
                x[i * c + k] *= share


@kernel
def _rate(p: Cone, x: Array, i: int) -> float:
    """A rate with the impulses."""
    total, row = p.b[i], p.D[i]
    for e in range(p.ptr[i], p.ptr[i + 1]):
        total += row[p.col[e]] * x[p.col[e]]
    return total
