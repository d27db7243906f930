"""Multipliers of least norm of redundant constraints in loops (see mechanisms.model.redundancy).

G is the Jacobian of the constraints g, and the diagonal W has units that make them comparable. With W G = U Σ Vᵀ and
NᵀWG = 0, multipliers λ = W U μ satisfy NᵀW⁻¹λ = 0, and Uᵀ W g = 0 means g = W⁻¹N ν for some ν. Therefore the columns
and rows of N border the Jacobian K of the step, with the unknowns ν. Further unknowns are y = Eᵀx of dependent rows,
which E selects, one for each column of N, with diagonal entries σ that make K + E σ Eᵀ regular.

    (K + EσEᵀ) x − Eσ y − W⁻¹N ν = b,   y = Eᵀx,   NᵀW⁻¹x = 0
"""

from __future__ import annotations

import cython

from ....mechanisms.model.redundancy import RANK as _RANK
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.algebra.band import factor as factor_band
    from ....numerics.algebra.band import solve as solve_band
    from ....numerics.algebra.dense import perpendicular
    from ....numerics.loops.views import block, copy, fill, get, larger_int, part, smaller_int
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from ..terms.border import add, entry_of
    from ..terms.paths import set_curves_at_rest
    from .arrow import eliminate, expand, reduce, solve_border
    from .assembly import assemble_step
    from .couplings import differentiate_vectors

RANK = cython.declare(cython.double, _RANK)


def find_dependent(m: Memory, dim: int, coefficient: Array) -> bool:
    """Find the null space N and the dependent constraints at the start of a step; False if the rank is uncertain.

    ``coefficient`` are the coefficients of the constraints there.
    """
    _set_gradients(m, dim, coefficient)
    fill(m.null_vectors, 0.0)
    m.null_number[0] = 0
    for group in range(m.redundancy_first.size - 1):
        first = m.redundancy_first[group]
        last = m.redundancy_first[group + 1]
        A = block(m.null_rows, m.redundancy_block[group], last - first, m.redundancy_columns[group])
        out = block(m.null_space, 0, last - first, last - first)
        count = perpendicular(A, RANK, m.null_gain, m.null_sums, out)
        if count < 0 or m.null_number[0] + count > m.null_chosen.size:
            return False
        for k in range(count):
            copy(out[k], part(m.null_vectors[m.null_number[0] + k], first, last))
        m.null_number[0] += count
    _choose_dependent(m)
    return True


def keep_independent(m: Memory, gap: Array) -> None:
    """Project the constraint defects ``gap`` on their independent part g − W⁻¹N NᵀW g, in place."""
    _project(m, gap, True)


def keep_least(m: Memory, lam: Array) -> None:
    """Subtract from the multipliers ``lam`` the part that causes no force, in place: λ − W N NᵀW⁻¹λ."""
    _project(m, lam, False)


def _project(m: Memory, values: Array, weighed: bool) -> None:
    for k in range(m.null_number[0]):
        N = m.null_vectors[k]
        total = 0.0
        for i in range(m.redundancy_row.size):
            value = values[m.redundancy_row[i]]
            weight = m.redundancy_weight[i]
            total += N[i] * (value * weight if weighed else value / weight)
        for i in range(m.redundancy_row.size):
            weight = m.redundancy_weight[i]
            values[m.redundancy_row[i]] -= total * N[i] * (1.0 / weight if weighed else weight)


def factor(m: Memory, dim: int, decay: int, contact: int, given: Given) -> bool:
    """Assemble and factor the Jacobian of a step at a trial, bordered by N; False if it is singular.

    The arguments are those of :func:`arrow.factor`.
    """
    assemble_step(m, dim, decay, contact, given)
    return factor_assembled(m, dim, decay)


def factor_assembled(m: Memory, dim: int, decay: int) -> bool:
    """Factor an assembled Jacobian, bordered by N; False if it is singular."""
    for k in range(m.null_number[0]):
        row = m.border_l[m.redundancy_row[m.null_chosen[k]]]
        m.null_shift[k] = _flexibility(m, row)
        add(m, row, row, m.null_shift[k])
    return eliminate(m, dim, decay) and _factor_border(m)


def _factor_border(m: Memory) -> bool:
    """Compute the solutions Z for the columns E σ and W⁻¹N, and factor [EᵀZ; NᵀW⁻¹Z] minus a unit matrix for y.

    Returns False if this matrix is singular.
    """
    count = m.null_number[0]
    rows = m.redundancy_row.size
    for k in range(2 * count):
        x = m.null_answers[k]
        fill(x, 0.0)
        if k < count:
            x[m.border_l[m.redundancy_row[m.null_chosen[k]]]] = m.null_shift[k]
        else:
            for i in range(rows):
                x[m.border_l[m.redundancy_row[i]]] = m.null_vectors[k - count][i] / m.redundancy_weight[i]
        copy(x, m.system_x)
        solve_border(m)
        copy(m.system_x, x)
    if count == 0:
        return True
    small = part(m.null_small, 0, 2 * count)
    fill(small, 0.0)
    for k in range(2 * count):
        _products(m, m.null_answers[k], m.null_x)
        m.null_x[k] -= 1.0 if k < count else 0.0
        for i in range(2 * count):
            small[i][k - i + 2 * count - 1] = m.null_x[i]
    return factor_band(small, part(m.null_pivot, 0, 2 * count), 2 * count - 1)


def _products(m: Memory, x: Array, out: Array) -> None:
    """Write the products Eᵀx and NᵀW⁻¹x, one after the other, into ``out``."""
    count = m.null_number[0]
    for k in range(count):
        total = 0.0
        for i in range(m.redundancy_row.size):
            total += m.null_vectors[k][i] / m.redundancy_weight[i] * x[m.border_l[m.redundancy_row[i]]]
        out[k] = x[m.border_l[m.redundancy_row[m.null_chosen[k]]]]
        out[count + k] = total


def solve(m: Memory, dim: int, decay: int, h: float) -> None:
    """Solve with the factored Jacobian, bordered by N: compute the corrections of the unknowns from the defects."""
    reduce(m, dim, decay, h)
    solve_least(m)
    expand(m, dim, h)


def solve_least(m: Memory) -> None:
    """Solve with the factored border in ``system.x``, in place, such that the multipliers have least norm."""
    solve_border(m)
    count = m.null_number[0]
    if count == 0:
        return
    small = part(m.null_small, 0, 2 * count)
    _products(m, m.system_x, m.null_x)
    solve_band(small, part(m.null_pivot, 0, 2 * count), 2 * count - 1, part(m.null_x, 0, 2 * count))
    for k in range(2 * count):
        for i in range(m.system_x.size):
            m.system_x[i] -= m.null_x[k] * m.null_answers[k][i]


def _flexibility(m: Memory, row: int) -> float:
    """Estimate of the size that the diagonal entry of a constraint row gets when the velocities are eliminated."""
    width = m.border_size[1] if m.border_size[1] >= 0 else m.system_x.size
    total = 0.0
    for j in range(larger_int(0, row - width), smaller_int(m.system_x.size, row + width + 1)):
        here = entry_of(m, row, j)
        across = entry_of(m, j, row)
        diagonal = get(m.system_border, entry_of(m, j, j))
        if diagonal != 0.0 and here >= 0 and across >= 0:
            total += fabs(get(m.system_border, here) * get(m.system_border, across) / diagonal)
    return total if total > 0.0 else 1.0


def _choose_dependent(m: Memory) -> None:
    """Choose a dependent constraint for each column of N, by elimination with pivots; the others are independent."""
    held1 = cython.declare(cython.double)
    M = m.null_reduced
    count = m.null_number[0]
    for k in range(count):
        copy(m.null_vectors[k], M[k])
    for k in range(count):
        row = k
        column = 0
        largest = 0.0
        for i in range(k, count):
            for j in range(M.shape[1]):
                if fabs(M[i][j]) > largest:
                    row = i
                    column = j
                    largest = fabs(M[i][j])
        m.null_chosen[k] = column
        for j in range(M.shape[1]):
            held1 = M[k][j]
            M[k][j] = M[row][j]
            M[row][j] = held1
        for i in range(k + 1, count):
            factor = M[i][column] / M[k][column]
            for j in range(M.shape[1]):
                M[i][j] -= factor * M[k][j]


def _set_gradients(m: Memory, dim: int, coefficient: Array) -> None:
    """Compute the scaled rows W G of the constraints that may depend on others, at the start of the step."""
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            for j in range(dim):
                m.trial_inverse[b][i][j] = m.at_R[b][j][i]
    copy(m.at_arm, m.trial_lever)
    differentiate_vectors(m, dim, 0.0)
    fill(m.null_rows, 0.0)
    for term in range(m.joints_term_row.size):
        _add_gradient(m, dim, m.joints_term_row[term], m.joints_term_product[term], coefficient[term])
    for i in range(m.rolling_row.size):
        gain = m.rolling_weight[i] * m.at_product[m.rolling_by[i]]
        _add_gradient(m, dim, m.rolling_row[i], m.rolling_product[i], gain)
    for i in range(m.rolling_spin_row.size):
        b = m.rolling_spin_body[i]
        for j in range(m.rolling_spin_axis.shape[1]):
            moved = m.rolling_spin_axis[i][j]
            if dim == 3:
                moved = 0.0
                for k in range(3):
                    moved += m.at_R[b][k][j] * m.rolling_spin_axis[i][k]
            _add_entry(m, m.rolling_spin_row[i], m.border_w[b][j], moved)
    set_curves_at_rest(m)
    for c in range(m.curves_input.size):
        for k in range(m.path_used[c][0], m.path_used[c][1]):
            for i in range(dim):
                for j in range(dim if m.curves_row[c][i] >= 0 else 0):
                    gain = m.path_direction[c][i][j] * m.path_mean[k]
                    _add_gradient(m, dim, m.curves_row[c][i], m.curves_product[k][j], gain)


def _add_gradient(m: Memory, dim: int, row: int, p: int, gain: float) -> None:
    """Add ``gain`` times the gradient of product p to the scaled row of constraint ``row``."""
    for side in range(2):
        v = m.joints_first[p] if side == 0 else m.joints_second[p]
        other = m.joints_second[p] if side == 0 else m.joints_first[p]
        for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
            total = 0.0
            for j in range(dim):
                total += m.system_B[i][j] * m.at_vector[other][j]
            _add_entry(m, row, m.border_vector_col[i], gain * total)


def _add_entry(m: Memory, row: int, unknown: int, value: float) -> None:
    """Add ``value`` to the scaled row of constraint ``row`` at an unknown, times the scales of both.

    Nothing is added for a constraint that cannot depend on others.
    """
    dependent = m.redundancy_own[row]
    if dependent < 0 or unknown < 0 or m.redundancy_column[unknown] < 0:
        return
    group = m.redundancy_group[dependent]
    at = m.redundancy_block[group] + (dependent - m.redundancy_first[group]) * m.redundancy_columns[group]
    scale = m.redundancy_weight[dependent] * m.redundancy_scale[unknown]
    m.null_rows[at + m.redundancy_column[unknown]] += scale * value
