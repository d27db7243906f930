"""Spring-dampers in loops (see kernels.springs)."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import atan2, sqrt

    from ....numerics.loops.views import Number, divided, larger, real_part
    from ..memory.memory import Memory
    from ..terms.angles import kappa
    from ..terms.hysteresis import follow_path, path_slope
    from ..terms.ropes import add_rope_forces, rope_change
    from ..terms.spring_laws import mean_factor, mean_force, mean_slope, user_force, user_slope
    from .relations import force, slope, slope_at_rest


def set_tensions(m: Memory, h: float, before: Array, after: Array, e0: Array) -> None:
    """Compute the changes of extensions over a step, their discrete gradients and the tensions of spring-dampers.

    The tensions are added to the forces on products. ``before`` and ``after`` are the products at both ends, ``e0`` the
    spring states at the start.
    """
    lengths = m.joints_length_product.size
    components = m.joints_component_product.size
    ropes = m.ropes_span.size - 1
    first = m.joints_stiffness.size - ropes
    for i in range(first):
        k = i - lengths
        angle = i - lengths - components
        if i < lengths:
            p = m.joints_length_product[i]
            m.trial_by_first[i] = 1.0 / (sqrt(before[p]) + sqrt(after[p]))
            m.trial_extension[i] = (after[p] - before[p]) * m.trial_by_first[i]
        elif k < components:
            p = m.joints_component_product[k]
            m.trial_by_first[i] = 1.0
            m.trial_extension[i] = after[p] - before[p]
        else:
            p = m.joints_sine_product[angle]
            q = m.joints_cosine_product[angle]
            y = after[p] * before[q] - after[q] * before[p]
            x = before[q] * after[q] + before[p] * after[p]
            ratio = kappa(y, x)[0]
            m.trial_extension[i] = atan2(y, x)
            m.trial_by_first[i] = 0.5 * ratio * (before[q] + after[q])
            m.trial_by_second[i] = -0.5 * ratio * (before[p] + after[p])
        m.trial_extension[i] -= m.trial_moved[i]
        tension = _tension(m, i, h, e0)
        m.trial_force[p] -= tension * m.trial_by_first[i]
        if k >= components:
            m.trial_force[m.joints_cosine_product[angle]] -= tension * m.trial_by_second[i]
    for r in range(ropes):
        m.trial_extension[first + r] = rope_change(m, r, before, after) - m.trial_moved[first + r]
        m.trial_tension[first + r] = _rope_tension(m, first + r, h, e0)
        add_rope_forces(m, r, m.trial_tension[first + r])


def _tension(m: Memory, i: int, h: float, e0: Array) -> float:
    stuck = cython.declare(cython.bint)
    tension = (0.5 * m.joints_stiffness[i] + m.joints_damping[i] / h) * m.trial_extension[i]
    if m.joints_law[i] >= 0:
        x0 = e0[m.joints_state[i]]
        tension += mean_factor(m, i) * mean_force(m, m.joints_law[i], x0, x0 + m.trial_extension[i])
    elif m.joints_path_kind[i] != 0:
        tension += follow_path(m, i, e0[m.joints_state[i]], m.trial_extension[i], h)[0]
    elif m.joints_force_law[i] != 0:
        rate = m.trial_extension[i] / h
        tension += user_force(m, i, e0[m.joints_state[i]] + 0.5 * h * rate, rate)
    elif m.joints_state[i] >= 0:
        tension += e0[m.joints_state[i]]
    if m.joints_kind[i] != 0:
        rate = m.trial_extension[i] / h
        stuck = m.trial_stuck[i] != 0.0
        tension += slope_at_rest(m, i) * rate if stuck else force(m, i, rate)
    tension -= m.trial_rub[i]
    m.trial_tension[i] = tension
    return tension


def _rope_tension(m: Memory, i: int, h: float, e0: Array) -> float:
    """Tension of rope i: the force of its law, which is also stored in ``trial.law``, and damping while it is taut.

    ``e0`` are the spring states at the start.
    """
    tension = _tension(m, i, h, e0)
    if m.joints_damping[i] == 0.0:
        return tension
    m.trial_law[i] = tension - m.joints_damping[i] / h * m.trial_extension[i]
    return m.trial_law[i] + _rope_damping(m, i, h, e0, m.trial_law[i])


def _rope_damping(m: Memory, i: int, h: float, e0: Array, elastic: float) -> float:
    """Damping force c Δx⁺/h of rope i, with the change of its positive extension x⁺ over a step.

    The damping is limited so that the rope never pushes; ``elastic`` is the force of the law.
    """
    x0 = e0[m.joints_state[i]]
    change = larger(x0 + m.trial_extension[i], 0.0) - larger(x0, 0.0)
    return larger(m.joints_damping[i] / h * change, -larger(elastic, 0.0))


def rope_stiffness(m: Memory, i: int, h: float) -> float:
    """Derivative of the tension of rope i with respect to the change of its extension over a step of length h [s]."""
    damping = cython.declare(Number)
    elastic = cython.declare(Number)
    if m.joints_damping[i] == 0.0 or m.stage_law_slope[i][0] != 0.0:
        return stiffness(m, i, h)
    damping = divided(m.joints_damping[i], h)
    elastic = stiffness(m, i, h) - damping
    law = m.trial_law[i]
    if _rope_damping(m, i, real_part(h), m.at_spring, law) <= -larger(law, 0.0):  # limited
        return 0.0 if law > 0.0 else elastic
    taut = cython.declare(cython.bint)
    taut = m.at_spring[m.joints_state[i]] + m.trial_extension[i] > 0.0
    return elastic + damping if taut else elastic


def stiffness(m: Memory, i: int, h: float) -> float:
    """Derivative of the tension of spring i with respect to the change of its extension over a step of length h [s]."""
    stiff = cython.declare(Number)
    stuck = cython.declare(cython.bint)
    damping = m.joints_damping[i]
    if m.stage_law_slope[i][0] != 0.0:
        return 0.5 * m.stage_law_slope[i][1] + divided(damping + m.stage_law_slope[i][2], h)
    if m.joints_kind[i] != 0:
        stuck = m.trial_stuck[i] != 0.0
        damping += slope_at_rest(m, i) if stuck else slope(m, i, real_part(m.trial_extension[i] / h))
    stiff = 0.5 * m.joints_stiffness[i] + divided(damping, h)
    if m.joints_law[i] >= 0:
        x0 = m.at_spring[m.joints_state[i]]
        stiff += mean_factor(m, i) * mean_slope(m, m.joints_law[i], x0, x0 + m.trial_extension[i])
    if m.joints_path_kind[i] != 0:
        span = real_part(h)
        stiff += path_slope(m, i, m.at_spring[m.joints_state[i]], m.trial_extension[i], span)
    if m.joints_force_law[i] != 0:
        span = real_part(h)
        stiff += user_slope(m, i, m.at_spring[m.joints_state[i]], m.trial_extension[i] / span, span)
    return stiff


def tangent(m: Memory, i: int, h: float, before: Array, after: Array, out: Array) -> None:
    """Write the derivatives of the forces of spring i on its products into ``out`` (2, 2).

    The derivatives are with respect to the products at the end of a step, sine before cosine for an angle. ``before``
    and ``after`` are the products at both ends.
    """
    gain = cython.declare(Number)
    stiff = cython.declare(Number)
    lengths = m.joints_length_product.size
    components = m.joints_component_product.size
    tension = m.trial_tension[i]
    stiff = stiffness(m, i, h)
    if i < lengths:
        by = m.trial_by_first[i]
        out[0][0] = -divided(stiff * by - tension * by * by, 2.0 * sqrt(after[m.joints_length_product[i]]))
    elif i < lengths + components:
        out[0][0] = -stiff
    else:
        a = i - lengths - components
        s0 = before[m.joints_sine_product[a]]
        c0 = before[m.joints_cosine_product[a]]
        s1 = after[m.joints_sine_product[a]]
        c1 = after[m.joints_cosine_product[a]]
        ratio, by_y, by_x = kappa(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)
        s_mean = 0.5 * (s0 + s1)
        c_mean = 0.5 * (c0 + c1)
        size = s1 * s1 + c1 * c1
        gain = divided(stiff * c1, size) * ratio + tension * (by_y * c0 + by_x * s0)
        out[0][0] = -(gain * c_mean)
        out[1][0] = gain * s_mean + tension * ratio * 0.5
        gain = -divided(stiff * s1, size) * ratio + tension * (-by_y * s0 + by_x * c0)
        out[0][1] = -(gain * c_mean + tension * ratio * 0.5)
        out[1][1] = gain * s_mean
