"""Stresses and forces of strain rows in loops (formulas of kernels.strains).

Vectors are weighted sums of columns: column 4b is the position of frame b, and the columns from 4b + 1 on are its two
or three directors (unit vectors of its axes).
"""

from __future__ import annotations

import cython

from ....discrete_gradients.stored_energies import KINK as _KINK
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.loops.views import fill, get, larger, put
    from ..memory.memory import Memory
    from ..terms.spring_laws import law_value, mean_force, mean_slope, row_factor

KINK = cython.declare(cython.double, _KINK)


def begin_strains(m: Memory, dim: int) -> None:
    """Compute vectors and products of nodal bodies at the start of a step; copy the stresses there as a guess."""
    _place_columns(dim, m.at_r, m.at_R, m.nodal_column)
    _set_vectors(m, dim, m.nodal_column, m.nodal_vector)
    _set_products(m, dim, m.nodal_vector, m.nodal_product)
    for e in range(m.strains_stress.size):
        m.nodal_ahead[e] = m.at_sigma[m.strains_stress[e]]
    if m.strains_lawful.size > 0:
        _strain_at_start(m)


def _strain_at_start(m: Memory) -> None:
    """Compute the strains of rows with an elastic law at the start of a step, from the products there."""
    for e in range(m.strains_stress.size):
        if m.strains_law[e] >= 0:
            value = m.strains_factor[e] * m.nodal_product[m.strains_product[e]]
            for side in range(2):
                if m.strains_square[e][side] >= 0:
                    value /= sqrt(m.nodal_product[m.strains_square[e][side]])
            m.nodal_first[e] = (value - m.strains_reference[e]) / m.strains_width[e]


def strain(m: Memory, dim: int, h: float) -> None:
    """Compute the stresses σ₁ = C⁻¹ε at the end of a step, the mean stresses σ̃, and the changes of the stresses.

    Also the gradients of the strains with respect to their products.
    """
    _place_columns(dim, m.end_r, m.end_R, m.nodal_end_column)
    _set_vectors(m, dim, m.nodal_end_column, m.nodal_end_vector)
    _set_products(m, dim, m.nodal_end_vector, m.nodal_end_product)
    for e in range(m.strains_stress.size):
        _differentiate_strain(m, e)
    for e in range(m.strains_stress.size):
        stress = 0.0
        i = m.strains_stress[e]
        for k in range(m.strains_stiffness_ptr[e], m.strains_stiffness_ptr[e + 1]):
            stress += m.strains_stiffness_val[k] * m.nodal_strain[m.strains_stiffness_col[k]]
        jump = stress - m.at_sigma[i]
        m.end_sigma[i] = stress
        m.trial_jump[i] = jump
        m.trial_stress[i] = m.at_sigma[i] + (0.5 + m.elastic_damping[i] / h) * jump
    if m.strains_lawful.size > 0:
        _evaluate_laws(m, h)


def _evaluate_laws(m: Memory, h: float) -> None:
    """Compute the stresses of rows with an elastic law, over the step and at its end, and their slopes.

    Damping has the stiffness of the undeformed body.
    """
    for e in range(m.strains_stress.size):
        k = m.strains_law[e]
        if k < 0:
            continue
        i = m.strains_stress[e]
        width = m.strains_width[e]
        x0 = m.nodal_first[e]
        x1 = m.nodal_strain[e] / width
        last = row_factor(m, e, 1)
        mean = 0.5 * (row_factor(m, e, 0) + last)
        jump = m.strains_viscous[e] * width * (x1 - x0)
        viscosity = m.elastic_damping[i] / h
        m.trial_jump[i] = jump
        m.trial_stress[i] = mean * mean_force(m, k, x0, x1) + viscosity * jump
        slope = mean_slope(m, k, x0, x1)
        if fabs(x1 - x0) <= KINK and m.joints_law_function[k][0] == 0:
            slope = 0.5 * _largest_slope(m, k, x1)
        m.nodal_slope[e] = mean * slope / width + viscosity * m.strains_viscous[e]
        m.nodal_end_slope[e] = last * _largest_slope(m, k, x1) / width
        m.end_sigma[i] = last * law_value(m, k, 1, x1)


def _largest_slope(m: Memory, k: int, x: float) -> float:
    """Slope of the elastic law k at the strain x; at a kink of a piecewise law the larger of both slopes.

    Slack rods rest at kinks.
    """
    if m.joints_law_function[k][0] != 0:
        return law_value(m, k, 2, x)
    return larger(law_value(m, k, 2, x - KINK), law_value(m, k, 2, x + KINK))


def add_line_energies(m: Memory, dim: int, out: Array) -> None:
    """Add the energies of rows with an elastic law to ``out``, at the present state ``at``.

    Factors of the laws that change with time have their values at the end of the step.
    """
    _place_columns(dim, m.at_r, m.at_R, m.nodal_column)
    _set_vectors(m, dim, m.nodal_column, m.nodal_vector)
    _set_products(m, dim, m.nodal_vector, m.nodal_product)
    _strain_at_start(m)
    for e in range(m.strains_stress.size):
        if m.strains_law[e] >= 0:
            stored = m.strains_width[e] * law_value(m, m.strains_law[e], 0, m.nodal_first[e])
            out[m.ledger_elastic[m.elastic_body[m.strains_stress[e]]]] += row_factor(m, e, 1) * stored


def add_work_of_schedules(m: Memory, out: Array) -> None:
    """Add the work ½ (a₁ − a₀) (V₀ + V₁) of the changing factors a of elastic laws over a solved step to ``out``."""
    for e in range(m.strains_stress.size):
        if m.strains_schedule[e] >= 0:
            k = m.strains_law[e]
            change = 0.5 * (row_factor(m, e, 1) - row_factor(m, e, 0)) * m.strains_width[e]
            x1 = m.nodal_strain[e] / m.strains_width[e]
            stored = law_value(m, k, 0, m.nodal_first[e]) + law_value(m, k, 0, x1)
            out[m.ledger_schedule[m.elastic_body[m.strains_stress[e]]]] += change * stored


def _place_columns(dim: int, r: Array, R: Array, column: Array) -> None:
    """Write the positions r and directors R of all frames into ``column``, in this order for each frame."""
    for b in range(column.shape[0] // 4):
        for i in range(dim):
            column[4 * b][i] = r[b][i]
            for j in range(dim):
                column[4 * b + 1 + j][i] = R[b][i][j]


def _set_vectors(m: Memory, dim: int, column: Array, vector: Array) -> None:
    """Compute the vectors of nodal bodies, which are weighted sums of columns, into ``vector``."""
    for v in range(vector.shape[0]):
        x = 0.0
        y = 0.0
        z = 0.0
        for e in range(m.strains_column_ptr[v], m.strains_column_ptr[v + 1]):
            weight = m.strains_weight[e]
            c = dim * m.strains_column[e]
            x += weight * get(column, c)
            y += weight * get(column, c + 1)
            if dim == 3:
                z += weight * get(column, c + 2)
        vector[v][0] = x
        vector[v][1] = y
        if dim == 3:
            vector[v][2] = z


def _set_products(m: Memory, dim: int, vector: Array, product: Array) -> None:
    """Compute the products of the vectors of nodal bodies into ``product``."""
    for p in range(product.size):
        v = m.strains_first[p]
        w = m.strains_second[p]
        product[p] = vector[v][0] * vector[w][0] + vector[v][1] * vector[w][1]
        if dim == 3:
            product[p] += vector[v][2] * vector[w][2]
        elif m.strains_crossed[p]:
            product[p] = vector[v][0] * vector[w][1] - vector[v][1] * vector[w][0]


def partner(m: Memory, vector: Array, p: int, side: int, i: int) -> float:
    """Component i of the other vector of product p: that which multiplies its first (side 0) or second (side 1) vector.

    For V·W it is W or V, for a crossed product JᵀW or JV with J a quarter turn.
    """
    other = m.strains_second[p] if side == 0 else m.strains_first[p]
    if m.strains_crossed[p]:
        return vector[other][1 - i] if i == side else -vector[other][1 - i]
    return vector[other][i]


def _differentiate_strain(m: Memory, e: int) -> None:
    """Compute strain e at the end of the step, its gradient there, and its discrete gradient over the step."""
    p = m.strains_product[e]
    i = m.strains_square[e][0]
    j = m.strains_square[e][1]
    factor = m.strains_factor[e]
    v0 = m.nodal_product[p]
    v1 = m.nodal_end_product[p]
    a0 = 1.0
    a1 = 1.0
    b0 = 1.0
    b1 = 1.0
    if i >= 0:
        a0 = sqrt(m.nodal_product[i])
        a1 = sqrt(m.nodal_end_product[i])
    if j >= 0:
        b0 = sqrt(m.nodal_product[j])
        b1 = sqrt(m.nodal_end_product[j])
    scale = factor / (a1 * b1)
    m.nodal_strain[e] = scale * v1 - m.strains_reference[e]
    m.nodal_end_gradient[e][0] = scale
    m.nodal_end_gradient[e][1] = -0.5 * v1 * scale / (a1 * a1)
    m.nodal_end_gradient[e][2] = -0.5 * v1 * scale / (b1 * b1)
    value = 0.25 * factor * (v0 + v1)
    m.nodal_gradient[e][0] = 0.5 * factor * (1.0 / (a0 * b0) + 1.0 / (a1 * b1))
    m.nodal_gradient[e][1] = -value * (1.0 / b0 + 1.0 / b1) / (a0 * a1 * (a0 + a1))
    m.nodal_gradient[e][2] = -value * (1.0 / a0 + 1.0 / a1) / (b0 * b1 * (b0 + b1))


def add_strain_forces(m: Memory, dim: int) -> None:
    """Add the forces and torques that the mean stresses exert to the forces and torques on the frames."""
    for e in range(m.strains_stress.size):
        m.nodal_stress[e] = m.trial_stress[m.strains_stress[e]]
    set_stress_forces(m, dim)
    for b in range(m.strains_holds.size):
        if m.strains_holds[b]:
            for i in range(dim):
                m.trial_on_body[b][i] += m.nodal_pull[4 * b][i]
            for i in range(1 if dim == 2 else 3):
                m.nodal_torque[b][i] = column_torque(m, dim, b, i)
                m.trial_torque[b][i] += m.nodal_torque[b][i]


def set_stress_forces(m: Memory, dim: int) -> None:
    """Compute the forces on products, vectors and columns due to the stresses in ``nodal.stress``."""
    fill(m.nodal_on_product, 0.0)
    for e in range(m.strains_stress.size):
        m.nodal_on_product[m.strains_product[e]] -= m.nodal_gradient[e][0] * m.nodal_stress[e]
        for side in range(2):
            if m.strains_square[e][side] >= 0:
                m.nodal_on_product[m.strains_square[e][side]] -= m.nodal_gradient[e][1 + side] * m.nodal_stress[e]
    fill(m.nodal_on_vector, 0.0)
    for p in range(m.nodal_on_product.size):
        v = m.strains_first[p]
        w = m.strains_second[p]
        half = 0.5 * m.nodal_on_product[p]
        for i in range(dim):
            m.nodal_on_vector[v][i] += half * (
                partner(m, m.nodal_vector, p, 0, i) + partner(m, m.nodal_end_vector, p, 0, i)
            )
            m.nodal_on_vector[w][i] += half * (
                partner(m, m.nodal_vector, p, 1, i) + partner(m, m.nodal_end_vector, p, 1, i)
            )
    fill(m.nodal_pull, 0.0)
    for v in range(m.nodal_on_vector.shape[0]):
        x = m.nodal_on_vector[v][0]
        y = m.nodal_on_vector[v][1]
        z = m.nodal_on_vector[v][2] if dim == 3 else 0.0
        for e in range(m.strains_column_ptr[v], m.strains_column_ptr[v + 1]):
            weight = m.strains_weight[e]
            c = dim * m.strains_column[e]
            put(m.nodal_pull, c, get(m.nodal_pull, c) + weight * x)
            put(m.nodal_pull, c + 1, get(m.nodal_pull, c + 1) + weight * y)
            if dim == 3:
                put(m.nodal_pull, c + 2, get(m.nodal_pull, c + 2) + weight * z)


def column_torque(m: Memory, dim: int, b: int, i: int) -> float:
    """Component i of the torque on frame b, in world axes, by forces on its directors, with their means as levers."""
    j = 0 if dim == 2 else (i + 1) % 3
    k = 1 if dim == 2 else (i + 2) % 3
    torque = 0.0
    for c in range(4 * b + 1, 4 * b + 1 + dim):
        torque += 0.5 * (m.nodal_column[c][j] + m.nodal_end_column[c][j]) * m.nodal_pull[c][k]
        torque -= 0.5 * (m.nodal_column[c][k] + m.nodal_end_column[c][k]) * m.nodal_pull[c][j]
    return torque


def predict_stresses(m: Memory, dim: int, h: float) -> None:
    """Write the end stresses after a Newton correction into ``nodal.ahead``, linearised about the present ones.

    The correction is one that will be subtracted from the unknowns.
    """
    for b in range(m.strains_holds.size):
        if m.strains_holds[b]:
            _move_columns(m, dim, h, b)
    _set_vectors(m, dim, m.nodal_move, m.nodal_on_vector)
    for p in range(m.nodal_on_product.size):
        v = m.strains_first[p]
        w = m.strains_second[p]
        total = 0.0
        for i in range(dim):
            total += m.nodal_on_vector[v][i] * partner(m, m.nodal_end_vector, p, 0, i)
            total += m.nodal_on_vector[w][i] * partner(m, m.nodal_end_vector, p, 1, i)
        m.nodal_on_product[p] = total
    for e in range(m.strains_stress.size):
        change = m.nodal_end_gradient[e][0] * m.nodal_on_product[m.strains_product[e]]
        for side in range(2):
            if m.strains_square[e][side] >= 0:
                change += m.nodal_end_gradient[e][1 + side] * m.nodal_on_product[m.strains_square[e][side]]
        m.nodal_strain[e] = change
    for e in range(m.strains_stress.size):
        stress = m.end_sigma[m.strains_stress[e]]
        for k in range(m.strains_stiffness_ptr[e], m.strains_stiffness_ptr[e + 1]):
            stress -= m.strains_stiffness_val[k] * m.nodal_strain[m.strains_stiffness_col[k]]
        if m.strains_law[e] >= 0:
            stress -= m.nodal_end_slope[e] * m.nodal_strain[e]
        m.nodal_ahead[e] = stress


def _move_columns(m: Memory, dim: int, h: float, b: int) -> None:
    """Compute the changes of the columns of frame b due to a correction.

    The spin δω of the correction turns its directions by h/(1 + |a|²) R₀(1 + [a]×) δω, a = ½hω̄.
    """
    for i in range(dim):
        m.nodal_move[4 * b][i] = h * m.correction_v[b][i]
    if not m.inertia_turns[b]:
        return
    if dim == 2:
        a0 = 0.5 * h * m.x_w[b][0]
        t0 = h / (1.0 + a0 * a0) * m.correction_w[b][0]
        for c in range(4 * b + 1, 4 * b + 3):
            m.nodal_move[c][0] = -t0 * m.nodal_end_column[c][1]
            m.nodal_move[c][1] = t0 * m.nodal_end_column[c][0]
        return
    a0 = 0.5 * h * m.x_w[b][0]
    a1 = 0.5 * h * m.x_w[b][1]
    a2 = 0.5 * h * m.x_w[b][2]
    w0 = m.correction_w[b][0]
    w1 = m.correction_w[b][1]
    w2 = m.correction_w[b][2]
    scale = h / (1.0 + a0 * a0 + a1 * a1 + a2 * a2)
    y0 = w0 + a1 * w2 - a2 * w1
    y1 = w1 + a2 * w0 - a0 * w2
    y2 = w2 + a0 * w1 - a1 * w0
    t0 = scale * (m.at_R[b][0][0] * y0 + m.at_R[b][0][1] * y1 + m.at_R[b][0][2] * y2)
    t1 = scale * (m.at_R[b][1][0] * y0 + m.at_R[b][1][1] * y1 + m.at_R[b][1][2] * y2)
    t2 = scale * (m.at_R[b][2][0] * y0 + m.at_R[b][2][1] * y1 + m.at_R[b][2][2] * y2)
    for c in range(4 * b + 1, 4 * b + 4):
        x = m.nodal_end_column[c][0]
        y = m.nodal_end_column[c][1]
        z = m.nodal_end_column[c][2]
        m.nodal_move[c][0] = t1 * z - t2 * y
        m.nodal_move[c][1] = t2 * x - t0 * z
        m.nodal_move[c][2] = t0 * y - t1 * x
