"""Factors of the Jacobian of a step of particles, and products of its inverse with Broyden's updates."""

from __future__ import annotations

import cython

if not cython.compiled:
    from math import fabs, isfinite


def factor(s):
    """Factor the Jacobian into L and U with row exchanges, in place; False if it is singular.

    Each row is first divided by its largest entry, which is weighted by the sizes of the unknowns.
    """
    m = s.order.size
    nv = s.weight.size
    for i in range(m):
        largest_entry = 0.0
        total = 0.0
        for j in range(m):
            value = s.factors[i][j] * s.size[nv + j]
            total += value
            if fabs(value) > largest_entry:
                largest_entry = fabs(value)
        if not (largest_entry > 0.0 and isfinite(total)):
            return False
        s.row_scale[i] = 1.0 / largest_entry
        s.order[i] = i
        for j in range(m):
            s.factors[i][j] *= s.row_scale[i]
    for k in range(m):
        p = k
        for i in range(k + 1, m):
            if fabs(s.factors[i][k]) > fabs(s.factors[p][k]):
                p = i
        if s.factors[p][k] == 0.0:
            return False
        if p != k:
            exchange_rows(s, k, p)
        ratio = 1.0 / s.factors[k][k]
        for i in range(k + 1, m):
            if s.factors[i][k] != 0.0:
                eliminate(s.factors[i], s.factors[k], k, ratio, m)
    return True


def exchange_rows(s, k, p):
    """Exchange rows k and p of the factors and of their order."""
    row = cython.declare(cython.Py_ssize_t, s.order[k])
    value = cython.declare(cython.double, 0.0)
    s.order[k] = s.order[p]
    s.order[p] = row
    for j in range(s.order.size):
        value = s.factors[k][j]
        s.factors[k][j] = s.factors[p][j]
        s.factors[p][j] = value


def eliminate(row, pivot, k, ratio, m):
    """Subtract a multiple of the pivot row from ``row``, so that its entry in column k would vanish.

    The multiple is stored in place of this entry.
    """
    factor = row[k] * ratio
    row[k] = factor
    for j in range(k + 1, m):
        row[j] -= factor * pivot[j]


def solve(s, right, out):
    """Write the product of J₀⁻¹ and a right-hand side (n,) into ``out`` (n,), by the stored factors."""
    m = s.order.size
    nv = s.weight.size
    for i in range(m):
        row = s.order[i]
        value = right[nv + row]
        for j in range(nv):
            value -= s.coupling[row][j] * right[j]
        value *= s.row_scale[row]
        for j in range(i):
            value -= s.factors[i][j] * s.right_side[j]
        s.right_side[i] = value
    for back in range(m):
        i = m - 1 - back
        value = s.right_side[i]
        for j in range(i + 1, m):
            value -= s.factors[i][j] * s.right_side[j]
        s.right_side[i] = value / s.factors[i][i]
    for i in range(m):
        out[nv + i] = s.right_side[i]
    for i in range(nv):
        out[i] = right[i] + s.position_share[i] * s.right_side[i]


def set_correction(s, out):
    """Write the correction of the iterate, divided by the sizes of the states, into ``out`` (n,).

    It is the product of the inverse Jacobian, with Broyden's updates, and the residual.
    """
    n = s.x.size
    solve(s, s.residual, out)
    if s.factor_state[2] == 1:
        along = 0.0
        for i in range(n):
            along += s.gonzalez_row[i] * out[i]
        for i in range(n):
            out[i] += along * s.gonzalez_column[i]
    for i in range(n):
        out[i] /= s.size[i]
    for k in range(s.factor_state[1]):
        apply_update(s.update_columns[k], s.update_rows[k], out)


def apply_update(correction, turns, out):
    """Multiply the vector ``out`` by 1 + c sᵀ in place, an update of the inverse Jacobian.

    c is ``correction``, s is ``turns``.
    """
    along = 0.0
    for i in range(out.size):
        along += turns[i] * out[i]
    for i in range(out.size):
        out[i] += along * correction[i]
