"""Unknowns of all nodes of a step as one vector: ṙ, spins in world axes, u̇, multipliers, and stress rates.

Stress rates are unknowns in a ``mixed`` iteration only."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import TINY as _TINY
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import entries, fill, flat, get, larger, put
    from ..memory.memory import stage
    from .scheme import Scheme

TINY = cython.declare(cython.double, _TINY)


def gather(g: Scheme, mixed: bool, x: Array) -> None:
    """Write the unknowns of all nodes into the vector x; if ``mixed``, also stress rates."""
    k = 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        k = _read(flat(s.x_v), k, x)
        k = _read(flat(s.stage_spin), k, x)
        k = _read(s.x_du, k, x)
        k = _read(s.x_lam, k, x)
        if mixed:
            k = _read(s.stage_stress_rate, k, x)


def subtract(g: Scheme, mixed: bool, x: Array, correction: Array) -> None:
    """Set the unknowns of all nodes to x minus a correction, both in the order of :func:`gather`."""
    k = 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        k = _write(flat(s.x_v), k, x, correction)
        k = _write(flat(s.stage_spin), k, x, correction)
        k = _write(s.x_du, k, x, correction)
        k = _write(s.x_lam, k, x, correction)
        if mixed:
            k = _write(s.stage_stress_rate, k, x, correction)


def _read(field: Array, first: int, x: Array) -> int:
    for i in range(field.size):
        x[first + i] = get(field, i)
    return first + field.size


def _write(field: Array, first: int, x: Array, correction: Array) -> int:
    for i in range(field.size):
        put(field, i, x[first + i] - correction[first + i])
    return first + field.size


def set_weights(g: Scheme, mixed: bool, energy: float, weight: Array) -> None:
    """Set the weights of the squares of the unknowns, so that their sum over each kind of unknowns is an energy [J].

    The weights are inertias for velocities, and the mean inertia for flexible rates; for multipliers and for stress
    rates they are ``energy`` divided by the sum of the squares of these.
    """
    k = cython.declare(cython.Py_ssize_t)
    loads = 0.0
    rates = 0.0
    moving = 0.0
    bending = 0.0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for k in range(s.x_lam.size):
            loads += s.x_lam[k] ** 2
        for k in range(s.stage_stress_rate.size):
            rates += s.stage_stress_rate[k] ** 2
        for k in range(s.x_du.size):
            moving += s.x_du[k] ** 2
            bending += fabs(s.x_du[k] * s.end_Pdu[k][0])
    fill(weight, 0.0)
    k = 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        d = s.x_v.shape[1]
        n = s.stage_spin.shape[1]
        for b in range(s.inertia_mass.size):
            for j in range(d):
                weight[k + b * d + j] = s.inertia_mass[b]
            for j in range(n):
                weight[k + entries(s.x_v) + b * n + j] = s.stage_J[b][j][j]
        k += entries(s.x_v) + entries(s.stage_spin)
        k = _fill(weight, k, s.x_du.size, bending / larger(moving, TINY))
        k = _fill(weight, k, s.x_lam.size, energy / larger(loads, TINY))
        if mixed:
            k = _fill(weight, k, s.stage_stress_rate.size, energy / larger(rates, TINY))


def _fill(weight: Array, first: int, count: int, value: float) -> int:
    for i in range(count):
        weight[first + i] = value
    return first + count
