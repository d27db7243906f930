"""Points on curves in loops (formulas of kernels.rates.on_curves).

For a curve c with points k and a point that slides on it, the products Π_jk are the components j of the vector from
point k to the sliding point. The distance of the sliding point from the curve is Σ_k c_k(s) Π_jk, with coefficients c_k
at its position s along the curve, called place. c̄ are means over a step. The force on the sliding point has components
f_j, which give forces f_j c̄_k on the products. Multipliers act along ``path.direction``: vectors n̄ across the curve,
and last, for a driven position, b = −τ/|τ|² along the curve, with its tangent τ.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import fill
    from ..memory.memory import Memory
    from ..terms.paths import set_shapes, sum_products
    from ..terms.product_rows import add_block, add_product, add_to_column, add_to_row, begin_rows
    from .motion import product_rate


def add_curve_forces(m: Memory) -> None:
    """Add the forces of multipliers, inputs and friction on sliding points to the forces on products.

    The friction is ``path.slid`` along the curves.
    """
    d = m.path_way.shape[1]
    for c in range(m.curves_input.size):
        for j in range(d):
            push = m.path_slid[c] * m.path_along[c][j]
            for i in range(d):
                if m.curves_row[c][i] >= 0:
                    push += m.x_lam[m.curves_row[c][i]] * m.path_direction[c][i][j]
            if m.curves_input[c] >= 0:
                push += m.trial_loads[m.curves_input[c]] * m.path_direction[c][d - 1][j]
            m.path_push[c][j] = push
            for k in range(m.path_used[c][0], m.path_used[c][1]):
                m.trial_force[m.curves_product[k][j]] += push * m.path_mean[k]


def add_curve_gaps(m: Memory, gap: Array, place: Array) -> None:
    """Add the distances of points from their curves, and the positions of driven points, to the defects ``gap``.

    ``place`` are the positions along the curves.
    """
    d = m.path_way.shape[1]
    for c in range(m.curves_input.size):
        for i in range(d - 1):
            for j in range(d):
                gap[m.curves_row[c][i]] += m.path_direction[c][i][j] * m.path_apart[c][j]
        if m.curves_row[c][d - 1] >= 0:
            gap[m.curves_row[c][d - 1]] += place[c]


def rate_curves(m: Memory, dim: int, others: Array) -> None:
    """Compute the rates Σ_k c̄_k Π̇_jk of all curves into ``path.rate``, for the velocities of nodes in ``run.moved``.

    ``others`` are the vectors with which these velocities are multiplied, for the rates of products.
    """
    for c in range(m.curves_input.size):
        for j in range(dim):
            total = 0.0
            for k in range(m.path_used[c][0], m.path_used[c][1]):
                total += m.path_mean[k] * product_rate(m, dim, m.curves_product[k][j], others)
            m.path_rate[c][j] = total


def rate_along(m: Memory, c: int, direction: Array) -> float:
    """Component of the rates ``path.rate`` of curve c along the vector ``direction``."""
    total = 0.0
    for j in range(direction.size):
        total += direction[j] * m.path_rate[c][j]
    return total


def add_curve_rates(m: Memory, share: float, out: Array) -> None:
    """Add ``share`` times the rates of the constraints of curves to the entries ``out`` of these constraints."""
    for c in range(m.curves_input.size):
        for i in range(m.path_way.shape[1]):
            if m.curves_row[c][i] >= 0:
                out[m.curves_row[c][i]] += share * rate_along(m, c, m.path_direction[c][i])


def add_first_gaps(m: Memory, share: float, gap: Array) -> None:
    """Add ``share`` times the constraint defects of curves at the start of a step to the entries ``gap``."""
    d = m.path_way.shape[1]
    for c in range(m.curves_input.size):
        set_shapes(m, c, m.at_place[c], 0, m.path_bend)
        sum_products(m, c, m.at_product, m.path_bend, m.path_rate[c])
        for i in range(d - 1):
            gap[m.curves_row[c][i]] += share * rate_along(m, c, m.path_resting[c][i])
        if m.curves_row[c][d - 1] >= 0:
            gap[m.curves_row[c][d - 1]] += share * m.at_place[c]


def record_curves(m: Memory, h: float, out: Array) -> None:
    """Add the works of multipliers and inputs of curves over a step of length h [s] to the flows ``out``."""
    d = m.path_way.shape[1]
    for c in range(m.curves_input.size):
        for i in range(d):
            row = m.curves_row[c][i]
            if row >= 0:
                out[m.ledger_row[row]] += m.x_lam[row] * h * rate_along(m, c, m.path_direction[c][i])
        input_row = m.curves_input[c]
        if input_row >= 0:
            out[m.ledger_input[input_row]] += (
                m.trial_loads[input_row] * h * rate_along(m, c, m.path_direction[c][d - 1])
            )


def add_curve_outputs(m: Memory, out: Array) -> None:
    """Add the mean velocities conjugate to inputs along curves to the outputs ``out``."""
    for c in range(m.curves_input.size):
        if m.curves_input[c] >= 0:
            out[m.curves_input[c]] += rate_along(m, c, m.path_direction[c][m.path_way.shape[1] - 1])


def slip_along(m: Memory, c: int) -> float:
    """Slip of a point along its curve over a step, positive towards smaller positions s."""
    total = 0.0
    for k in range(m.path_used[c][0], m.path_used[c][1]):
        for j in range(m.path_way.shape[1]):
            p = m.curves_product[k][j]
            total += m.path_along[c][j] * m.path_mean[k] * (m.end_product[p] - m.at_product[p])
    return total


def add_unit_force_along(m: Memory, c: int) -> None:
    """Add a unit force along curve c to the forces on products, conjugate to the slip of :func:`slip_along`."""
    for k in range(m.path_used[c][0], m.path_used[c][1]):
        for j in range(m.path_way.shape[1]):
            m.trial_force[m.curves_product[k][j]] += m.path_along[c][j] * m.path_mean[k]


def add_curves(m: Memory, dim: int, h: float, has_forces: bool) -> None:
    """Add the terms of curves to the Jacobian: columns and rows of multipliers, and derivatives of the forces.

    ``has_forces`` is True if the forces on sliding points change as they move.
    """
    for c in range(m.curves_input.size):
        begin_rows(m)
        fill(m.path_turn, 0.0)
        if has_forces:
            _turn_forces(m, dim, c)
        for k in range(m.path_used[c][0], m.path_used[c][1]):
            for j in range(dim):
                fill(m.rows_act, 0.0)
                fill(m.rows_move, 0.0)
                m.rows_act[j] = m.path_mean[k]
                m.rows_act[dim] = m.path_push[c][j] * m.path_slope[k]
                m.rows_move[0] = place_slope(m, c, k, j)
                for i in range(dim):
                    m.rows_move[1 + i] = tangent_slope(m, c, k, j, m.path_turn[i])
                _differentiate_gaps(m, dim, c, k, j)
                add_product(m, dim, m.curves_product[k][j])
        if has_forces:
            add_block(m, dim, 0, -0.5 * h)
            for j in range(dim):
                add_block(m, j, 1 + j, h)
        for i in range(dim):
            if m.curves_row[c][i] >= 0:
                row = m.border_l[m.curves_row[c][i]]
                for j in range(dim):
                    add_to_column(m, row, j, -m.path_direction[c][i][j])
                add_to_row(m, row, dim + 1 + i if i < dim - 1 else 0, 1.0 / h)


def place_slope(m: Memory, c: int, k: int, j: int) -> float:
    """Derivative ∂s₁/∂Π_jk of the position s₁ along curve c at the end of a step."""
    tangent = m.path_tangent[c][j] * m.path_last[k]
    return -(tangent + m.path_apart[c][j] * m.path_slope[k]) / m.path_curved[c]


def tangent_slope(m: Memory, c: int, k: int, j: int, row: Array) -> float:
    """Scalar product of ``row`` (d,) with the derivative ∂τ/∂Π_jk of the tangent of curve c."""
    by_place = 0.0
    for l in range(row.size):
        by_place += row[l] * m.path_by_place[c][l]
    return 0.5 * row[j] * m.path_chord[k] + by_place * place_slope(m, c, k, j)


def _differentiate_gaps(m: Memory, dim: int, c: int, k: int, j: int) -> None:
    """Compute the derivatives of the constraint defects of curve c with respect to the product Π_jk at the end.

    The directions n̄ across the curve turn with the tangent τ.
    """
    row = m.path_row
    for i in range(dim - 1):
        straight = 0.0
        across = 0.0
        along = 0.0
        for l in range(dim):
            straight += m.path_direction[c][i][l] * m.path_tangent[c][l]
            across += m.path_resting[c][i][l] * m.path_along[c][l]
            along += m.path_along[c][l] * m.path_apart[c][l]
        for l in range(dim):  # the transpose of A, see _turn_forces
            beside = m.path_apart[c][l] - along * m.path_along[c][l]
            normal = m.path_resting[c][i][l] - across * m.path_along[c][l]
            row[l] = (across * beside + along * normal) / m.path_size[c]
        change = m.path_direction[c][i][j] * m.path_last[k] + straight * place_slope(m, c, k, j)
        m.rows_move[dim + 1 + i] = change - tangent_slope(m, c, k, j, row)


def _turn_forces(m: Memory, dim: int, c: int) -> None:
    """Write the matrix A into ``path.turn`` that gives the change δf = −A δτ of the force on a sliding point.

    δτ is a change of the tangent of curve c; f is the sum of all forces on the point.
    """
    along_way = m.path_slid[c]
    pulled = 0.0
    for j in range(dim):
        m.path_row[j] = 0.0
        for i in range(dim - 1):
            m.path_row[j] += m.x_lam[m.curves_row[c][i]] * m.path_resting[c][i][j]
    across = 0.0
    for j in range(dim):
        across += m.path_row[j] * m.path_along[c][j]
    if m.curves_row[c][dim - 1] >= 0:
        pulled += m.x_lam[m.curves_row[c][dim - 1]]
    if m.curves_input[c] >= 0:
        pulled += m.trial_loads[m.curves_input[c]]
    size = m.path_size[c]
    for i in range(dim):
        for j in range(dim):
            both = m.path_along[c][i] * m.path_along[c][j]
            unit = 1.0 if i == j else 0.0
            beside = m.path_row[j] - across * m.path_along[c][j]
            turn = ((across - along_way) * (unit - both) + m.path_along[c][i] * beside) / size
            m.path_turn[i][j] = turn + pulled * (unit - 2.0 * both) / (size * size)
