"""Unknowns of all nodes of a step as one vector: ṙ, spins in the world, u̇, multipliers, and mixed stress rates."""

from __future__ import annotations

from ....kernels.tolerances import TINY
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import brief, get, put
from .scheme import Scheme, stage


@kernel
def gather(g: Scheme, mixed: bool, x: Array) -> None:
    """The unknowns into a vector."""
    k = 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        k = _read(s.x_v, k, x)
        k = _read(s.stage_spin, k, x)
        k = _read(s.x_du, k, x)
        k = _read(s.x_lam, k, x)
        if mixed:
            k = _read(s.stage_stress_rate, k, x)


@kernel
def subtract(g: Scheme, mixed: bool, x: Array, correction: Array) -> None:
    """Set the unknowns to a vector less a correction."""
    k = 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        k = _write(s.x_v, k, x, correction)
        k = _write(s.stage_spin, k, x, correction)
        k = _write(s.x_du, k, x, correction)
        k = _write(s.x_lam, k, x, correction)
        if mixed:
            k = _write(s.stage_stress_rate, k, x, correction)


@kernel
def _read(field: Array, first: int, x: Array) -> int:
    brief()
    for i in range(field.size):
        x[first + i] = get(field, i)
    return first + field.size


@kernel
def _write(field: Array, first: int, x: Array, correction: Array) -> int:
    brief()
    for i in range(field.size):
        put(field, i, x[first + i] - correction[first + i])
    return first + field.size


@kernel
def weigh(g: Scheme, mixed: bool, energy: float, weight: Array) -> None:
    """Weights of the squares of the unknowns: energies of motion, multipliers and stress rates by their sizes."""
    loads, rates, moving, bending = 0.0, 0.0, 0.0, 0.0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for k in range(s.x_lam.size):
            loads += s.x_lam[k] ** 2
        for k in range(s.stage_stress_rate.size):
            rates += s.stage_stress_rate[k] ** 2
        for k in range(s.x_du.size):
            moving += s.x_du[k] ** 2
            bending += abs(s.x_du[k] * s.end_Pdu[k, 0])
    weight[:] = 0.0
    k = 0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        d, n = s.x_v.shape[1], s.stage_spin.shape[1]
        for b in range(s.inertia_mass.size):
            for j in range(d):
                weight[k + b * d + j] = s.inertia_mass[b]
            for j in range(n):
                weight[k + s.x_v.size + b * n + j] = s.stage_J[b, j, j]
        k += s.x_v.size + s.stage_spin.size
        k = _fill(weight, k, s.x_du.size, bending / max(moving, TINY))
        k = _fill(weight, k, s.x_lam.size, energy / max(loads, TINY))
        if mixed:
            k = _fill(weight, k, s.stage_stress_rate.size, energy / max(rates, TINY))


@kernel
def _fill(weight: Array, first: int, count: int, value: float) -> int:
    brief()
    for i in range(count):
        weight[first + i] = value
    return first + count
