"""Spring-dampers in loops (see kernels.springs)."""

from __future__ import annotations

import math

from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.memory import REAL, WHOLE, Memory, indices, vector
from .relations import force, slope


@in_place
def kappa(y: float, x: float) -> tuple[float, float, float]:
    """κ = atan2(y, x)/y and its derivatives by y and x."""
    if x > 0.0 and abs(y) < 1e-3 * x:
        q = y / x
        by_y = (-2.0 / 3.0 * q + 0.8 * q**3) / x**2
        return (1.0 - q**2 / 3.0 + q**4 / 5.0) / x, by_y, -1.0 / (x * x + y * y)
    size = x * x + y * y
    value = math.atan2(y, x) / (y if y != 0.0 else 1.0)
    return value, (x / size - value) / (y if y != 0.0 else 1.0), -1.0 / size


@in_place
def measure(m: Memory, h: float, before: Array, after: Array, e0: Array) -> None:
    """Extensions over a step, their discrete gradients, and the tensions, added to the forces on the products."""
    joints_length_product = indices(m, WHOLE.joints_length_product)
    joints_component_product = indices(m, WHOLE.joints_component_product)
    joints_stiffness = vector(m, REAL.joints_stiffness)
    trial_by_first = vector(m, REAL.trial_by_first)
    trial_extension = vector(m, REAL.trial_extension)
    joints_sine_product = indices(m, WHOLE.joints_sine_product)
    joints_cosine_product = indices(m, WHOLE.joints_cosine_product)
    trial_by_second = vector(m, REAL.trial_by_second)
    trial_force = vector(m, REAL.trial_force)
    lengths, components = joints_length_product.size, joints_component_product.size
    for i in range(joints_stiffness.size):
        k, angle = i - lengths, i - lengths - components
        if i < lengths:
            p = joints_length_product[i]
            trial_by_first[i] = 1.0 / (math.sqrt(before[p]) + math.sqrt(after[p]))
            trial_extension[i] = (after[p] - before[p]) * trial_by_first[i]
        elif k < components:
            p = joints_component_product[k]
            trial_by_first[i] = 1.0
            trial_extension[i] = after[p] - before[p]
        else:
            p, q = joints_sine_product[angle], joints_cosine_product[angle]
            y = after[p] * before[q] - after[q] * before[p]
            x = before[q] * after[q] + before[p] * after[p]
            ratio = kappa(y, x)[0]
            trial_extension[i] = math.atan2(y, x)
            trial_by_first[i] = 0.5 * ratio * (before[q] + after[q])
            trial_by_second[i] = -0.5 * ratio * (before[p] + after[p])
        tension = _tension(m, i, h, e0)
        trial_force[p] -= tension * trial_by_first[i]
        if k >= components:
            trial_force[joints_cosine_product[angle]] -= tension * trial_by_second[i]


@in_place
def _tension(m: Memory, i: int, h: float, e0: Array) -> float:
    joints_stiffness = vector(m, REAL.joints_stiffness)
    joints_damping = vector(m, REAL.joints_damping)
    trial_extension = vector(m, REAL.trial_extension)
    joints_state = indices(m, WHOLE.joints_state)
    trial_tension = vector(m, REAL.trial_tension)
    tension = (0.5 * joints_stiffness[i] + joints_damping[i] / h) * trial_extension[i]
    if joints_state[i] >= 0:
        tension += e0[joints_state[i]]
    if indices(m, WHOLE.joints_kind)[i] != 0:
        rate = trial_extension[i] / h
        stuck = vector(m, REAL.trial_stuck)[i] != 0.0
        tension += vector(m, REAL.joints_steepness)[i] * rate if stuck else force(m, i, rate)
    trial_tension[i] = tension
    return tension


@in_place
def tangent(m: Memory, i: int, h: float, before: Array, after: Array, out: Array) -> None:
    """∂(forces on the products of a spring)/∂(products after the step): (2, 2), sine before cosine."""
    joints_length_product = indices(m, WHOLE.joints_length_product)
    joints_component_product = indices(m, WHOLE.joints_component_product)
    joints_stiffness = vector(m, REAL.joints_stiffness)
    joints_damping = vector(m, REAL.joints_damping)
    trial_tension = vector(m, REAL.trial_tension)
    trial_by_first = vector(m, REAL.trial_by_first)
    joints_sine_product = indices(m, WHOLE.joints_sine_product)
    joints_cosine_product = indices(m, WHOLE.joints_cosine_product)
    lengths, components = joints_length_product.size, joints_component_product.size
    damping, tension = joints_damping[i], trial_tension[i]
    if indices(m, WHOLE.joints_kind)[i] != 0:
        stuck = vector(m, REAL.trial_stuck)[i] != 0.0
        damping += vector(m, REAL.joints_steepness)[i] if stuck else slope(m, i, vector(m, REAL.trial_extension)[i] / h)
    stiff = 0.5 * joints_stiffness[i] + damping / h
    if i < lengths:
        by = trial_by_first[i]
        out[0, 0] = -(stiff * by - tension * by * by) / (2.0 * math.sqrt(after[joints_length_product[i]]))
    elif i < lengths + components:
        out[0, 0] = -stiff
    else:
        a = i - lengths - components
        s0, c0 = before[joints_sine_product[a]], before[joints_cosine_product[a]]
        s1, c1 = after[joints_sine_product[a]], after[joints_cosine_product[a]]
        ratio, by_y, by_x = kappa(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)
        s_mean, c_mean, size = 0.5 * (s0 + s1), 0.5 * (c0 + c1), s1 * s1 + c1 * c1
        gain = stiff * c1 / size * ratio + tension * (by_y * c0 + by_x * s0)
        out[0, 0] = -(gain * c_mean)
        out[1, 0] = gain * s_mean + tension * ratio * 0.5
        gain = -stiff * s1 / size * ratio + tension * (-by_y * s0 + by_x * c0)
        out[0, 1] = -(gain * c_mean + tension * ratio * 0.5)
        out[1, 1] = gain * s_mean
