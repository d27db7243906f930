"""Coupling of the dry friction of joints with a step: its forces and unknowns, slip rates and joint forces.

A bearing, which is a joint with dry friction, slips along measures: lengths, components and angles, which are numbered
as springs, or positions along curves.
"""

from __future__ import annotations

from typing import Any

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.loops.views import copy, fill, larger
    from ..mechanics.arrow import solve
    from ..mechanics.curves import add_unit_force_along, rate_along, rate_curves, slip_along
    from ..mechanics.forces import add_forces_on_nodes, add_node_resultants, subtract_node_loads
    from ..mechanics.motion import product_rate
    from ..mechanics.redundancy import solve as solve_redundant
    from ..memory.memory import Memory
    from ..nodal.points import distribute_mean_forces
    from ..terms.paths import set_curves_at_rest


def curve_of(m: Memory, spring: int) -> int:
    """Number of the curve along which a point slips, for a slip with the number ``spring``.

    It is negative if the slip is not along a curve, but that of a component or angle (see :func:`_products`).
    """
    return spring - m.joints_stiffness.size


def measure_slips(m: Memory, h: float) -> None:
    """Compute the mean slip rates over a step of length h [s] at its iterate; copy the multipliers of the bearings."""
    t = m.bearings_spring.shape[1]
    for q in range(m.rub_slip.size):
        spring = m.bearings_spring[q // t][q % t]
        c = curve_of(m, spring)
        if c >= 0:
            m.rub_slip[q] = slip_along(m, c) / h
        else:
            m.rub_slip[q] = m.bearings_lever[q // t][q % t] * m.trial_extension[spring] / h if spring >= 0 else 0.0
    for k in range(m.rub_base.size):
        m.rub_base[k] = m.x_lam[m.bearings_row[k]]


def set_friction_forces(m: Memory) -> None:
    """Write the friction forces ``rub.force`` as forces of a trial along the measures that slip.

    They become forces along curves (``path.rub``), or tensions along lengths, components and angles (``trial.rub``).
    """
    t = m.bearings_spring.shape[1]
    for q in range(m.rub_force.size):
        spring = m.bearings_spring[q // t][q % t]
        c = curve_of(m, spring)
        if c >= 0:
            m.path_rub[c] = m.rub_force[q]
        elif spring >= 0:
            m.trial_rub[spring] = m.bearings_lever[q // t][q % t] * m.rub_force[q]


def set_force_responses(m: Memory, dim: int, redundant: int, decay: int, h: float) -> None:
    """Compute the response of a step to unit friction forces: its defects and corrections, and the law's D and E.

    The matrices D and E are defined in :mod:`.law`. The Jacobian must have been factored. ``redundant`` and ``decay``
    are the kinds of the step.
    """
    copy(m.defect, m.rub_defect)
    copy(m.trial_forces, m.rub_forces)
    copy(m.trial_force, m.rub_on_product)
    differentiate_slips(m, dim, h)
    for q in range(m.rub_force.size):
        set_unit_defects(m, dim, q, h)
        copy(m.defect, m.rub_acting[q])
        if redundant > 0:
            solve_redundant(m, dim, decay, h)
        else:
            solve(m, dim, decay, h)
        copy(m.correction, m.rub_answer[q])
        for k in range(m.rub_force.size):
            m.rub_D[k][q] = -slip_change(m, k)
        for k in range(m.rub_base.size):
            m.rub_E[k][q] = -m.correction_lam[m.bearings_row[k]]
    copy(m.rub_defect, m.defect)
    copy(m.rub_forces, m.trial_forces)
    copy(m.rub_on_product, m.trial_force)


def slip_change(m: Memory, k: int) -> float:
    """Change of slip rate k that the correction ``system.x`` of the unknowns of the border of the Jacobian causes."""
    total = 0.0
    row = m.rub_row[k]
    for i in range(row.size):
        total += row[i] * m.system_x[i]
    return total


def set_unit_defects(m: Memory, dim: int, q: int, h: float) -> None:
    """Replace the defects of a step of length h [s] by the defects that a unit force against slip q causes.

    This overwrites the forces of the trial.
    """
    t = m.bearings_spring.shape[1]
    fill(m.defect, 0.0)
    fill(m.trial_force, 0.0)
    fill(m.trial_forces, 0.0)
    spring = m.bearings_spring[q // t][q % t]
    lever = m.bearings_lever[q // t][q % t]
    if spring < 0:
        return
    c = curve_of(m, spring)
    if c >= 0:
        add_unit_force_along(m, c)
    else:
        p, other = _products(m, spring)
        m.trial_force[p] += lever * m.trial_by_first[spring]
        if other >= 0:
            m.trial_force[other] += lever * m.trial_by_second[spring]
    add_forces_on_nodes(m, dim)
    add_node_resultants(m, dim)
    distribute_mean_forces(m)
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            m.defect_v[b][i] = -h * m.trial_on_body[b][i]
        for i in range(m.defect_w.shape[1]):
            torque = m.trial_torque[b][i]
            if dim == 3:
                torque = 0.0
                for j in range(3):
                    torque += m.trial_inverse[b][i][j] * m.trial_torque[b][j]
            m.defect_w[b][i] = -h * torque
    subtract_node_loads(m, dim, h)


def _products(m: Memory, spring: int) -> tuple[Any, Any]:
    """Numbers of the one or two products of vectors that give the measure with the number ``spring``.

    For a component they are its product and −1; for an angle the products in proportion to its sine and cosine.
    """
    lengths = m.joints_length_product.size
    components = m.joints_component_product.size
    if spring < lengths + components:
        return m.joints_component_product[spring - lengths], -1
    angle = spring - lengths - components
    return m.joints_sine_product[angle], m.joints_cosine_product[angle]


def _end_gradient(m: Memory, spring: int) -> tuple[float, float]:
    """Derivatives of a measure with respect to its two products at the end of a step; 0 for a missing product."""
    p, other = _products(m, spring)
    if other < 0:
        return 1.0, 0.0
    sine = m.end_product[p]
    cosine = m.end_product[other]
    size = sine * sine + cosine * cosine
    return cosine / size, -sine / size


def set_gradients(m: Memory) -> None:
    """Set the discrete gradients of the slipping measures to their gradients at the end, for a step of zero length."""
    for q in range(m.rub_force.size):
        spring = m.bearings_spring[q // m.bearings_spring.shape[1]][q % m.bearings_spring.shape[1]]
        if spring >= 0 and curve_of(m, spring) < 0:
            both1 = _end_gradient(m, spring)
            m.trial_by_first[spring] = both1[0]
            m.trial_by_second[spring] = both1[1]


def differentiate_slips(m: Memory, dim: int, h: float) -> None:
    """Compute the derivatives of the slip rates with respect to the unknowns of the border of the Jacobian.

    They are taken at the state of the Jacobian, for a step of length h [s].
    """
    t = m.bearings_spring.shape[1]
    for q in range(m.rub_slip.size):
        fill(m.rub_row[q], 0.0)
        spring = m.bearings_spring[q // t][q % t]
        lever = m.bearings_lever[q // t][q % t] / h
        c = curve_of(m, spring)
        if c < 0 and spring >= 0:
            p, other = _products(m, spring)
            first, second = _end_gradient(m, spring)
            _add_gradient(m, dim, q, p, lever * first)
            if other >= 0:
                _add_gradient(m, dim, q, other, lever * second)
        elif c >= 0:
            for k in range(m.path_used[c][0], m.path_used[c][1]):
                for j in range(dim):
                    gain = m.path_along[c][j] * m.path_mean[k] / h
                    _add_gradient(m, dim, q, m.curves_product[k][j], gain)


def _add_gradient(m: Memory, dim: int, q: int, p: int, gain: float) -> None:
    """Add ``gain`` times the gradient of product p at the end of a step to the derivatives of slip rate q."""
    for side in range(2):
        v = m.joints_first[p] if side == 0 else m.joints_second[p]
        other = m.joints_second[p] if side == 0 else m.joints_first[p]
        for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
            column = m.border_vector_col[i]
            if column >= 0:
                for j in range(dim):
                    m.rub_row[q][column] += gain * m.system_W[i][j] * m.end_vector[other][j]


def slip_size(m: Memory, dim: int, v: Array, w: Array, du: Array, shift: Array) -> float:
    """Scale of the slip rates at velocities v, w, du: the largest sum of absolute values of the terms of a slip rate.

    ``shift`` is φ̄u̇ of the bodies.
    """
    x = m.rub_terms
    largest = 0.0
    fill(x, 0.0)
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            x[m.border_v[b][i]] = fabs(v[b][i])
            if m.border_c[b][i] >= 0:
                x[m.border_c[b][i]] = fabs(shift[b][i])
        for i in range(w.shape[1]):
            if m.border_w[b][i] >= 0:
                x[m.border_w[b][i]] = fabs(w[b][i])
    for i in range(du.size):
        if m.border_m[i] >= 0:
            x[m.border_m[i]] = fabs(du[i])
    for q in range(m.rub_slip.size):
        total = 0.0
        row = m.rub_row[q]
        for i in range(row.size):
            total += fabs(row[i]) * x[i]
        largest = larger(largest, total)
    return largest


def end_rates(m: Memory, dim: int, out: Array) -> float:
    """Write the slip rates at the present state ``at`` into ``out``; return their scale.

    The scale is the largest sum of the absolute values of the terms of a slip rate. Velocities of nodes are read from
    ``run.moved``.
    """
    t = m.bearings_spring.shape[1]
    largest = 0.0
    set_curves_at_rest(m)
    rate_curves(m, dim, m.at_vector)
    for q in range(out.size):
        spring = m.bearings_spring[q // t][q % t]
        lever = m.bearings_lever[q // t][q % t]
        out[q] = 0.0
        c = curve_of(m, spring)
        if c >= 0:
            out[q] = rate_along(m, c, m.path_along[c])
            largest = larger(largest, _terms_along(m, dim, c))
        if spring < 0 or c >= 0:
            continue
        p, other = _products(m, spring)
        first, second = _end_gradient(m, spring)
        out[q] = lever * first * product_rate(m, dim, p, m.at_vector)
        largest = larger(largest, fabs(lever * first) * _terms(m, dim, p))
        if other >= 0:
            out[q] += lever * second * product_rate(m, dim, other, m.at_vector)
            largest = larger(largest, fabs(lever * second) * _terms(m, dim, other))
    return largest


def _terms_along(m: Memory, dim: int, c: int) -> float:
    """Sum of the absolute values of the terms of the slip rate along curve c."""
    total = 0.0
    for k in range(m.path_used[c][0], m.path_used[c][1]):
        for j in range(dim):
            total += fabs(m.path_along[c][j] * m.path_mean[k]) * _terms(m, dim, m.curves_product[k][j])
    return total


def _terms(m: Memory, dim: int, p: int) -> float:
    """Sum of the absolute values of the terms of the rate of product p."""
    total = 0.0
    for side in range(2):
        v = m.joints_first[p] if side == 0 else m.joints_second[p]
        other = m.joints_second[p] if side == 0 else m.joints_first[p]
        for i in range(dim):
            if m.joints_plus[v] >= 0:
                total += fabs(m.run_moved[m.joints_plus[v]][i] * m.at_vector[other][i])
            if m.joints_minus[v] >= 0:
                total += fabs(m.run_moved[m.joints_minus[v]][i] * m.at_vector[other][i])
    return total


def pressed_size(m: Memory, i: int) -> float:
    """Size |λ| of the joint force, or joint impulse, that presses bearing i, from ``rub.base``."""
    square = 0.0
    for k in range(m.rub_base.size):
        if m.bearings_owner[k] == i:
            square += m.rub_base[k] * m.rub_base[k]
    return sqrt(square)
