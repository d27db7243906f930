"""Terms of the Jacobian that couple bodies: by vectors between nodes, their products, and the multipliers.

For the symbols see :mod:`flexph.integration.loops.mechanics.jacobian`.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ....numerics.loops.views import Number, divided, fill, get, put, row_product
    from ..memory.memory import Memory
    from ..terms.angles import kappa
    from ..terms.border import add
    from ..terms.nodes import differentiate_node
    from ..terms.product_rows import add_block, add_pair, add_product, begin_rows
    from ..terms.ropes import span_curvature
    from .rolling import increment_slopes, term_increment
    from .springs import rope_stiffness, tangent


def differentiate_vectors(m: Memory, dim: int, h: float) -> None:
    """Compute the derivatives of the vectors with respect to the unknowns: discrete gradients B, and W at the end."""
    for v in range(m.joints_plus.size):
        row = m.border_vector_ptr[v]
        for side in range(2):
            n = m.joints_plus[v] if side == 0 else m.joints_minus[v]
            sign = 1.0 if side == 0 else -1.0
            if n >= 0:
                row = differentiate_node(m, dim, h, n, sign, row)


def add_ends(m: Memory, dim: int) -> None:
    """Add the equations e − W v = 0 to a sparse border of the Jacobian, where the ends e of vectors are unknowns.

    W is the derivative of the end of a vector with respect to the unknowns v of the border that move it; the rows of
    ``system.W`` for e itself are set to the identity.
    """
    value = cython.declare(Number)
    for v in range(m.border_e.shape[0]):
        for i in range(dim):
            row = m.border_e[v][i]
            add(m, row, row, 1.0)
            for e in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
                value = -m.system_W[e][i]
                add(m, row, m.border_vector_col[e], value)
            for j in range(dim):
                m.system_W[m.border_end_first[v] + i][j] = 1.0 if i == j else 0.0


def add_springs(m: Memory, dim: int, h: float) -> None:
    """Add −h βᵀ T γ to the Jacobian, with the tangents T of the spring-dampers except ropes.

    T are derivatives of forces on products with respect to products at the end.
    """
    lengths = m.joints_length_product.size
    components = m.joints_component_product.size
    for i in range(lengths + components + m.joints_sine_product.size):
        tangent(m, i, h, m.at_product, m.end_product, m.system_tangent)
        if i < lengths:
            p = m.joints_length_product[i]
            add_stiffness(m, dim, h, m.system_tangent[0][0], p, p)
        elif i < lengths + components:
            p = m.joints_component_product[i - lengths]
            add_stiffness(m, dim, h, m.system_tangent[0][0], p, p)
        else:
            a = i - lengths - components
            p = m.joints_sine_product[a]
            q = m.joints_cosine_product[a]
            add_stiffness(m, dim, h, m.system_tangent[0][0], p, p)
            add_stiffness(m, dim, h, m.system_tangent[0][1], p, q)
            add_stiffness(m, dim, h, m.system_tangent[1][0], q, p)
            add_stiffness(m, dim, h, m.system_tangent[1][1], q, q)


def add_ropes(m: Memory, dim: int, h: float) -> None:
    """Add −h βᵀ T γ to the Jacobian, with the tangents T of the ropes; slack ropes have none.

    T are derivatives of tensions with respect to lengths at the end.
    """
    stiff = cython.declare(Number)
    ropes = m.ropes_span.size - 1
    first = m.joints_stiffness.size - ropes
    for r in range(ropes):
        i = first + r
        stiff = rope_stiffness(m, i, h)
        tension = m.trial_tension[i]
        if stiff == 0.0 and tension == 0.0:
            continue
        begin_rows(m)
        fill(m.rows_act, 0.0)
        fill(m.rows_move, 0.0)
        for k in range(m.ropes_span[r], m.ropes_span[r + 1]):
            p = m.ropes_square[k]
            offset = m.ropes_offset[k]
            l0 = sqrt(m.at_product[p] - offset * offset)
            l1 = sqrt(m.end_product[p] - offset * offset)
            m.rows_act[0] = m.string_by_square[k]
            m.rows_move[0] = 0.5 * l1 / m.end_product[p]
            add_product(m, dim, p)
            curvature = -tension * span_curvature(offset, l0, l1)
            add_stiffness(m, dim, h, curvature, p, p)
        for w in range(m.ropes_angle[r], m.ropes_angle[r + 1]):
            _differentiate_angle(m, dim, h, w, tension)
        add_block(m, 0, 0, h * stiff)


def _differentiate_angle(m: Memory, dim: int, h: float, w: int, tension: float) -> None:
    """Add the gradients of angle w of a rope to the rows of the rope, and the effect of their change to the Jacobian.

    The force along a gradient is the ``tension`` of the rope, by which the derivatives of the gradient are multiplied.
    """
    by_cosine = cython.declare(Number)
    by_sine = cython.declare(Number)
    half = cython.declare(Number)
    pull = cython.declare(Number)
    p = m.ropes_sine[w]
    q = m.ropes_cosine[w]
    s0 = m.at_product[p]
    c0 = m.at_product[q]
    s1 = m.end_product[p]
    c1 = m.end_product[q]
    size = s1 * s1 + c1 * c1
    fill(m.rows_act, 0.0)
    fill(m.rows_move, 0.0)
    m.rows_act[0] = m.string_by_sine[w]
    m.rows_move[0] = m.ropes_radius[w] * c1 / size
    m.rows_act[1] = 1.0
    m.rows_move[1] = 1.0
    add_product(m, dim, p)
    fill(m.rows_act, 0.0)
    fill(m.rows_move, 0.0)
    m.rows_act[0] = m.string_by_cosine[w]
    m.rows_move[0] = -m.ropes_radius[w] * s1 / size
    m.rows_act[2] = 1.0
    m.rows_move[2] = 1.0
    add_product(m, dim, q)
    ratio, by_y, by_x = kappa(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)
    pull = h * tension * m.ropes_radius[w]
    by_sine = pull * (by_y * c0 + by_x * s0)
    by_cosine = pull * (-by_y * s0 + by_x * c0)
    half = 0.5 * pull * ratio
    m.system_tangent[0][0] = by_sine * 0.5 * (c0 + c1)
    m.system_tangent[0][1] = by_cosine * 0.5 * (c0 + c1) + half
    m.system_tangent[1][0] = -by_sine * 0.5 * (s0 + s1) - half
    m.system_tangent[1][1] = -by_cosine * 0.5 * (s0 + s1)
    add_pair(m)


def add_stiffness(m: Memory, dim: int, h: float, value: float, p: int, q: int) -> None:
    """Add −h·value·bᵀe to the Jacobian, where b is the discrete gradient of product p.

    e is the gradient of product q at the end of the step.
    """
    left = cython.declare(Number)
    for side in range(2):
        v = m.joints_first[p] if side == 0 else m.joints_second[p]
        other = m.joints_second[p] if side == 0 else m.joints_first[p]
        for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
            if m.border_vector_col[i] < 0:
                continue
            left = -h * value * row_product(dim, m.system_B[i], m.trial_mean[other])
            if left != 0.0:
                _add_change(m, dim, m.border_vector_col[i], left, m.joints_first[q], m.joints_second[q])
                _add_change(m, dim, m.border_vector_col[i], left, m.joints_second[q], m.joints_first[q])


def _add_change(m: Memory, dim: int, row: int, left: float, v: int, other: int) -> None:
    """Add ``left`` times the derivative of a product at the end to a row of the border of the Jacobian.

    Only the part of the derivative that is due to the vector v is added; ``other`` is the other vector of the product.
    """
    right = cython.declare(Number)
    first = row * (m.system_border.shape[1] - 1) + m.border_size[1]  # see terms.border
    for j in range(m.border_end_first[v], m.border_end_last[v]):
        column = m.border_vector_col[j]
        if column < 0:
            continue
        right = row_product(dim, m.system_W[j], m.end_vector[other])
        if m.border_size[1] >= 0:
            put(m.system_border, first + column, get(m.system_border, first + column) + left * right)
        else:
            add(m, row, column, left * right)


def add_products(m: Memory, dim: int, h: float) -> None:
    """Add −½hφ BᵀW to the Jacobian for each product V·W with a force φ, because its force directions change.

    φ acts on the ends of V along the mean ½(W₀ + W₁), and on the ends of W along ½(V₀ + V₁); both means depend on the
    unknowns.
    """
    gain = cython.declare(Number)
    value = cython.declare(Number)
    for p in range(m.joints_first.size):
        gain = -0.5 * h * m.trial_force[p]
        if gain == 0.0:  # most products of curve points carry no force
            continue
        for side in range(2):
            v = m.joints_first[p] if side == 0 else m.joints_second[p]
            u = m.joints_second[p] if side == 0 else m.joints_first[p]
            for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
                row = m.border_vector_col[i]
                if row < 0:
                    continue
                first = row * (m.system_border.shape[1] - 1) + m.border_size[1]  # see terms.border
                for j in range(m.border_end_first[u], m.border_end_last[u]):
                    column = m.border_vector_col[j]
                    if column < 0:
                        continue
                    value = gain * row_product(dim, m.system_B[i], m.system_W[j])
                    if m.border_size[1] >= 0:
                        put(m.system_border, first + column, get(m.system_border, first + column) + value)
                    else:
                        add(m, row, column, value)


def add_constraints(m: Memory, dim: int, h: float, before: Array, after: Array) -> None:
    """Add the columns −(c̄ β B)ᵀ and rows c₁ γ W/h of the constraints to the border of the Jacobian.

    ``before`` and ``after`` are their coefficients c at both ends of the step, c̄ is the mean and c₁ that at the end.
    """
    last = cython.declare(Number)
    for term in range(m.joints_term_row.size):
        row = m.border_l[m.joints_term_row[term]]
        p = m.joints_term_product[term]
        mean = 0.5 * (before[term] + after[term])
        last = divided(after[term], h)
        for side in range(2):
            v = m.joints_first[p] if side == 0 else m.joints_second[p]
            other = m.joints_second[p] if side == 0 else m.joints_first[p]
            for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
                column = m.border_vector_col[i]
                if column >= 0:
                    add(m, column, row, -mean * row_product(dim, m.system_B[i], m.trial_mean[other]))
            for i in range(m.border_end_first[v], m.border_end_last[v]):
                column = m.border_vector_col[i]
                if column >= 0:
                    add(m, row, column, last * row_product(dim, m.system_W[i], m.end_vector[other]))


def add_rolling(m: Memory, dim: int, h: float) -> None:
    """Add the columns and rows of the terms w Π_by Π̇ and a·Ω of velocity constraints to the border of the Jacobian.

    Also add the derivatives of their forces.
    """
    change = cython.declare(Number)
    for i in range(m.rolling_row.size):
        row = m.border_l[m.rolling_row[i]]
        p = m.rolling_product[i]
        q = m.rolling_by[i]
        weight = term_increment(m, i)
        change = divided(m.end_product[p] - m.at_product[p], h)
        lam = m.x_lam[m.rolling_row[i]]
        along, across = increment_slopes(m, i)
        _add_row(m, dim, row, p, weight, divided(weight, h) + along * change)
        _add_row(m, dim, row, q, 0.0, across * change)
        add_stiffness(m, dim, h, across * lam, p, q)
        if along != 0.0:
            add_stiffness(m, dim, h, along * lam, p, p)
    _add_spins(m, dim)


def _add_row(m: Memory, dim: int, row: int, p: int, mean: float, last: float) -> None:
    """Add the column −(mean β B)ᵀ and the row last·γ W of product p to the border of the Jacobian, for one constraint.

    ``row`` is the number of its multiplier in the border.
    """
    for side in range(2):
        v = m.joints_first[p] if side == 0 else m.joints_second[p]
        other = m.joints_second[p] if side == 0 else m.joints_first[p]
        for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
            column = m.border_vector_col[i]
            add(m, column, row, -mean * row_product(dim, m.system_B[i], m.trial_mean[other]))
        for i in range(m.border_end_first[v], m.border_end_last[v]):
            column = m.border_vector_col[i]
            add(m, row, column, last * row_product(dim, m.system_W[i], m.end_vector[other]))


def _add_spins(m: Memory, dim: int) -> None:
    """Add the columns −R̄⁻¹a and rows aᵀR₀ of the spin terms a·Ω of constraints to the border of the Jacobian."""
    s = m.rolling_spin_axis.shape[1]
    for i in range(m.rolling_spin_row.size):
        row = m.border_l[m.rolling_spin_row[i]]
        b = m.rolling_spin_body[i]
        for j in range(s):
            acting = m.rolling_spin_axis[i][j]
            moved = m.rolling_spin_axis[i][j]
            if s == 3:
                acting = 0.0
                moved = 0.0
                for k in range(3):
                    acting += m.trial_inverse[b][j][k] * m.rolling_spin_axis[i][k]
                    moved += m.at_R[b][k][j] * m.rolling_spin_axis[i][k]
            add(m, m.border_w[b][j], row, -acting)
            add(m, row, m.border_w[b][j], moved)
