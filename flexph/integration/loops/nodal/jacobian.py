"""Terms of strain rows in the Jacobian, element by element, with stresses to first order after a correction.

Forces on vectors V are Σ g W̄ over their products V·W, where g = Σ σ̃ ∂̄ε has the mean stresses σ̃ and the discrete
gradients ∂̄ε of strains. They change with the unknowns x of an element by

    T_V = Σ_W (W̄ ⊗ ∂g/∂x + ½ g ∂W₁/∂x),

which act with the weights of V on the columns of frames (positions and directors), and from these on positions and, by
levers, on spins. These derivatives are added to the border, the rows and columns of the coupled system of a step.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ....numerics.loops.views import fill, flat, get, put, subtract
    from ..memory.memory import Memory
    from ..terms.border import add, entry_of
    from .forces import column_torque, partner, set_stress_forces


def add_strains(m: Memory, dim: int, h: float) -> None:
    """Add the derivatives of the forces of strain rows to the border of the Jacobian."""
    for e in range(m.strains_stress.size):
        i = m.strains_stress[e]
        ahead = (0.5 + m.elastic_damping[i] / h) * (m.nodal_ahead[e] - m.end_sigma[i])
        m.nodal_stress[e] = m.trial_stress[i] + ahead
    set_stress_forces(m, dim)
    for b in range(m.strains_holds.size):
        if m.strains_holds[b] and m.inertia_turns[b]:
            if dim == 2:
                _turn_in_the_plane(m, h, b)
            else:
                _turn_frame(m, b)
                _turn_torque(m, h, b)
    for element in range(m.strains_element.size - 1):
        _add_element(m, dim, h, element)


def _turn_in_the_plane(m: Memory, h: float, b: int) -> None:
    """Compute the derivatives B and W of the directors of frame b with respect to its spin, in the plane.

    Also add the derivative of the torque on the frame as its levers turn. B is the derivative in the mean of the step,
    W the derivative at its end.
    """
    turn = m.system_turn[b][0][0]
    value = 0.0
    for c in range(2):
        k = 4 * b + 1 + c
        x = m.nodal_end_column[k][0]
        y = m.nodal_end_column[k][1]
        W = m.nodal_W[3 * b + c][0]
        B = m.nodal_B[3 * b + c][0]
        W[0] = -turn * y
        W[1] = turn * x
        B[0] = -0.5 * (m.nodal_column[k][1] + y)
        B[1] = 0.5 * (m.nodal_column[k][0] + x)
        value += W[0] * m.nodal_pull[k][1] - W[1] * m.nodal_pull[k][0]
    add(m, m.border_w[b][0], m.border_w[b][0], -0.5 * h * value)


def _turn_frame(m: Memory, b: int) -> None:
    """Compute the derivatives of the directors of frame b with respect to its spin: B in the mean, W at the end.

    B has vectors of R̄⁻ᵀ, crossed with the mean directors.
    """
    for c in range(3):
        k = 4 * b + 1 + c
        x = m.nodal_end_column[k][0]
        y = m.nodal_end_column[k][1]
        z = m.nodal_end_column[k][2]
        u = 0.5 * (m.nodal_column[k][0] + x)
        v = 0.5 * (m.nodal_column[k][1] + y)
        w = 0.5 * (m.nodal_column[k][2] + z)
        for a in range(3):
            t0 = m.system_turn[b][0][a]
            t1 = m.system_turn[b][1][a]
            t2 = m.system_turn[b][2][a]
            W = m.nodal_W[3 * b + c][a]
            B = m.nodal_B[3 * b + c][a]
            W[0] = t1 * z - t2 * y
            W[1] = t2 * x - t0 * z
            W[2] = t0 * y - t1 * x
            t0 = m.trial_inverse[b][a][0]
            t1 = m.trial_inverse[b][a][1]
            t2 = m.trial_inverse[b][a][2]
            B[0] = t1 * w - t2 * v
            B[1] = t2 * u - t0 * w
            B[2] = t0 * v - t1 * u


def _turn_torque(m: Memory, h: float, b: int) -> None:
    """Add the derivative of the torque of forces on the directors of frame b, as their levers and R̄⁻¹ change.

    :mod:`flexph.integration.loops.mechanics.jacobian` differentiates the torque of the iterate's stresses; this is
    the difference due to the first-order stresses.
    """
    for a in range(3):
        i0 = m.trial_inverse[b][a][0]
        i1 = m.trial_inverse[b][a][1]
        i2 = m.trial_inverse[b][a][2]
        for other in range(3):
            value = 0.0
            for c in range(3):
                f = m.nodal_pull[4 * b + 1 + c]
                W = m.nodal_W[3 * b + c][other]
                value += (
                    f[0] * (i1 * W[2] - i2 * W[1]) + f[1] * (i2 * W[0] - i0 * W[2]) + f[2] * (i0 * W[1] - i1 * W[0])
                )
            add(m, m.border_w[b][a], m.border_w[b][other], -0.5 * h * value)
    for i in range(3):
        j = (i + 1) % 3
        l = (i + 2) % 3
        value = 0.0
        for c in range(3):
            value += 0.5 * h * h * m.at_R[b][c][i] * (column_torque(m, 3, b, c) - m.nodal_torque[b][c])
        add(m, m.border_w[b][j], m.border_w[b][l], value)
        add(m, m.border_w[b][l], m.border_w[b][j], -value)


def _add_element(m: Memory, dim: int, h: float, element: int) -> None:
    """Add the derivatives of an element's forces with respect to its unknowns to the border of the Jacobian.

    The forces act on positions and directors of its frames.
    """
    first = m.strains_frame_ptr[element]
    frames = m.strains_frame_ptr[element + 1] - m.strains_frame_ptr[element]
    width = m.nodal_columns.shape[1]
    count = m.strains_unknown_ptr[element + 1] - m.strains_unknown_ptr[element]
    for i in range(4 * dim * frames * width):
        put(m.nodal_columns, i, 0.0)
    for point in range(m.strains_element[element], m.strains_element[element + 1]):
        _move_vectors(m, dim, h, first, point)
        _differentiate_products(m, dim, point, count)
        _couple_products(m, h, point)
        _combine_products(m, point, count)
        _add_vector_slopes(m, dim, point, count)
    for slot in range(frames):
        b = m.strains_frame[first + slot]
        place = m.strains_place[first + slot]
        for i in range(dim):
            _add_row(m, h, element, place + i, flat(m.nodal_columns), (4 * dim * slot + i) * width)
        if m.inertia_turns[b]:
            for a in range(1 if dim == 2 else 3):
                for k in range(width):
                    put(m.nodal_force, k, 0.0)
                for c in range(dim):
                    for i in range(dim):
                        row = (dim * (4 * slot + 1 + c) + i) * width
                        subtract(m.nodal_force, 0, m.nodal_columns, row, -m.nodal_B[3 * b + c][a][i], count)
                _add_row(m, h, element, place + dim + a, m.nodal_force, 0)


def _add_row(m: Memory, h: float, element: int, unknown: int, row: Array, at: int) -> None:
    """Add h times a row of an element's matrix to the border of the Jacobian.

    ``row[at:]`` holds its entries, ``unknown`` is its number among the unknowns of the element.
    """
    is_sparse = cython.declare(cython.bint)
    first = m.strains_unknown_ptr[element]
    i = m.strains_unknown[first + unknown]
    is_sparse = m.border_size[1] < 0
    here = i * m.system_border.shape[1] - i + m.border_size[1]
    for k in range(m.strains_unknown_ptr[element + 1] - first):
        column = m.strains_unknown[first + k]
        entry = entry_of(m, i, column) if is_sparse else here + column
        put(m.system_border, entry, get(m.system_border, entry) + h * get(row, at + k))


def _move_vectors(m: Memory, dim: int, h: float, first: int, point: int) -> None:
    """Compute the derivatives ∂V/∂x of the vectors of a quadrature point at the end, with a row for each component.

    ``first`` is the first frame of its element in the list of frames.
    """
    width = m.nodal_moved.shape[1]
    base = m.strains_vector_ptr[point]
    for v in range(base, m.strains_vector_ptr[point + 1]):
        row = dim * (v - base) * width
        for k in range(dim * width):
            put(m.nodal_moved, row + k, 0.0)
            put(m.nodal_on, row + k, 0.0)
        for e in range(m.strains_near_ptr[v], m.strains_near_ptr[v + 1]):
            slot = m.strains_near[e] >> 2
            c = m.strains_near[e] & 3
            weight = m.strains_near_weight[e]
            place = row + m.strains_place[first + slot]
            b = m.strains_frame[first + slot]
            for i in range(dim):
                if c == 0:
                    at = i * width + place + i
                    put(m.nodal_moved, at, get(m.nodal_moved, at) + weight * h)
                else:
                    for a in range(1 if dim == 2 else 3):
                        at = i * width + place + dim + a
                        put(m.nodal_moved, at, get(m.nodal_moved, at) + weight * m.nodal_W[3 * b + c - 1][a][i])


def _differentiate_products(m: Memory, dim: int, point: int, count: int) -> None:
    """Compute the derivatives ∂Π/∂x of the products of a quadrature point at the end.

    ``count`` is the number of unknowns x of its element.
    """
    width = m.nodal_rows.shape[1]
    base = m.strains_product_ptr[point]
    vectors = m.strains_vector_ptr[point]
    for p in range(base, m.strains_product_ptr[point + 1]):
        row = (p - base) * width
        v = m.strains_first[p]
        w = m.strains_second[p]
        for k in range(width):
            put(m.nodal_rows, row + k, 0.0)
        for i in range(dim):
            first = partner(m, m.nodal_end_vector, p, 0, i)
            second = partner(m, m.nodal_end_vector, p, 1, i)
            subtract(m.nodal_rows, row, m.nodal_moved, (dim * (v - vectors) + i) * width, -first, count)
            subtract(m.nodal_rows, row, m.nodal_moved, (dim * (w - vectors) + i) * width, -second, count)


def _couple_products(m: Memory, h: float, point: int) -> None:
    """Compute the derivatives ∂g/∂Π at a quadrature point, due to changes of stresses and of strain gradients."""
    fill(m.nodal_couple, 0.0)
    base = m.strains_product_ptr[point]
    for e in range(m.strains_row_ptr[point], m.strains_row_ptr[point + 1]):
        if m.strains_law[e] >= 0:
            _add_law_stiffness(m, e, base)
        soft = 0.5 + m.elastic_damping[m.strains_stress[e]] / h
        for k in range(m.strains_stiffness_ptr[e], m.strains_stiffness_ptr[e + 1]):
            other = m.strains_stiffness_col[k]
            D = soft * m.strains_stiffness_val[k]
            for s in range(3):
                i = m.strains_product[e] if s == 0 else m.strains_square[e][s - 1]
                for t in range(3):
                    j = m.strains_product[other] if t == 0 else m.strains_square[other][t - 1]
                    if i >= 0 and j >= 0:
                        value = m.nodal_gradient[e][s] * D * m.nodal_end_gradient[other][t]
                        m.nodal_couple[i - base][j - base] += value
        if m.strains_square[e][0] >= 0 or m.strains_square[e][1] >= 0:
            _add_strain_curvature(m, e, base)


def _add_law_stiffness(m: Memory, e: int, base: int) -> None:
    """Add the part of ∂g/∂Π that is due to the slope of the elastic law of strain row e.

    ``base`` is the first product of the quadrature point.
    """
    for s in range(3):
        i = m.strains_product[e] if s == 0 else m.strains_square[e][s - 1]
        for t in range(3):
            j = m.strains_product[e] if t == 0 else m.strains_square[e][t - 1]
            if i >= 0 and j >= 0:
                value = m.nodal_gradient[e][s] * m.nodal_slope[e] * m.nodal_end_gradient[e][t]
                m.nodal_couple[i - base][j - base] += value


def _add_strain_curvature(m: Memory, e: int, base: int) -> None:
    """Add σ̃ times the derivative of the discrete gradient of strain e with respect to end products to ∂g/∂Π.

    ``base`` is the first product of the quadrature point.
    """
    p = m.strains_product[e] - base
    i = m.strains_square[e][0]
    j = m.strains_square[e][1]
    v0 = m.nodal_product[p + base]
    v1 = m.nodal_end_product[p + base]
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
    force = m.strains_factor[e] * m.nodal_stress[e]
    value = 0.5 * (v0 + v1)
    first = 0.5 * (1.0 / a0 + 1.0 / a1)
    second = 0.5 * (1.0 / b0 + 1.0 / b1)
    by_first = -1.0 / (a0 * a1 * (a0 + a1))
    by_second = -1.0 / (b0 * b1 * (b0 + b1))
    turn_first = -0.5 / (a1 * a1 * a1)
    turn_second = -0.5 / (b1 * b1 * b1)
    i = i - base
    j = j - base
    if i >= 0:
        m.nodal_couple[p][i] += force * 0.5 * turn_first / b1
        m.nodal_couple[i][p] += force * 0.5 * second * by_first
        m.nodal_couple[i][i] += force * value * second * by_first * by_first * a0 * (a0 + 2.0 * a1) / (2.0 * a1)
    if j >= 0:
        m.nodal_couple[p][j] += force * 0.5 * turn_second / a1
        m.nodal_couple[j][p] += force * 0.5 * first * by_second
        m.nodal_couple[j][j] += force * value * first * by_second * by_second * b0 * (b0 + 2.0 * b1) / (2.0 * b1)
    if i >= 0 and j >= 0:
        m.nodal_couple[i][j] += force * 0.5 * value * by_first * turn_second
        m.nodal_couple[j][i] += force * 0.5 * value * by_second * turn_first


def _combine_products(m: Memory, point: int, count: int) -> None:
    """Compute the derivatives ∂g/∂x at a quadrature point, as the product of ∂g/∂Π and ∂Π/∂x.

    ``count`` is the number of unknowns x of its element.
    """
    products = m.strains_product_ptr[point + 1] - m.strains_product_ptr[point]
    width = m.nodal_rows.shape[1]
    for i in range(products):
        for k in range(width):
            put(m.nodal_pulled, i * width + k, 0.0)
        for j in range(products):
            couple = m.nodal_couple[i][j]
            if couple != 0.0:
                subtract(m.nodal_pulled, i * width, m.nodal_rows, j * width, -couple, count)


def _add_vector_slopes(m: Memory, dim: int, point: int, count: int) -> None:
    """Add the derivatives T_V of the forces on the vectors of a quadrature point to the derivatives for the columns.

    Each vector acts on the columns with its weights. ``count`` is the number of unknowns of the element.
    """
    width = m.nodal_rows.shape[1]
    base = m.strains_product_ptr[point]
    vectors = m.strains_vector_ptr[point]
    for p in range(base, m.strains_product_ptr[point + 1]):
        v = m.strains_first[p]
        w = m.strains_second[p]
        half = 0.5 * m.nodal_on_product[p]
        row = (p - base) * width
        for i in range(dim):
            first_entry = (dim * (v - vectors) + i) * width
            other = (dim * (w - vectors) + i) * width
            first = partner(m, m.nodal_vector, p, 0, i) + partner(m, m.nodal_end_vector, p, 0, i)
            second = partner(m, m.nodal_vector, p, 1, i) + partner(m, m.nodal_end_vector, p, 1, i)
            subtract(m.nodal_on, first_entry, m.nodal_pulled, row, -0.5 * first, count)
            subtract(m.nodal_on, other, m.nodal_pulled, row, -0.5 * second, count)
            if m.strains_crossed[p]:  # JᵀW of V, and J V of W
                turned = half if i == 0 else -half
                subtract(m.nodal_on, first_entry, m.nodal_moved, (dim * (w - vectors) + 1 - i) * width, turned, count)
                subtract(m.nodal_on, other, m.nodal_moved, (dim * (v - vectors) + 1 - i) * width, -turned, count)
            else:
                subtract(m.nodal_on, first_entry, m.nodal_moved, other, half, count)
                subtract(m.nodal_on, other, m.nodal_moved, first_entry, half, count)
    for v in range(vectors, m.strains_vector_ptr[point + 1]):
        for e in range(m.strains_near_ptr[v], m.strains_near_ptr[v + 1]):
            for i in range(dim):
                row = (dim * m.strains_near[e] + i) * width
                first_entry = (dim * (v - vectors) + i) * width
                subtract(m.nodal_columns, row, m.nodal_on, first_entry, -m.strains_near_weight[e], count)
