"""Correction of the Jacobian for bodies with full matrices in steps that lose energy."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.algebra.dense import solve_many
    from ....numerics.loops.views import block, entries, fill, part
    from ..memory.memory import Memory
    from ..terms.border import add
    from .full import multiply
    from .inertia import turning_inertia


def add_decay(m: Memory, dim: int, h: float, b: int) -> None:
    """Correct the Jacobian of a body: for w₁, which differs from 2ŵ − w₀, and for the softened stresses."""
    s = 1 if dim == 2 else 3
    size = m.vibration_size[b]
    at = m.vibration_at[b]
    B = block(m.decay_mobility, m.vibration_matrix[b], size, size)
    F = block(m.decay_factor, m.vibration_matrix[b], size, size)
    N = block(m.decay_slopes, 0, size, size)
    X = block(m.decay_columns, 0, size, size)
    _end_slopes(m, dim, h, b, N)
    multiply(B, 0, N, X)
    solve_many(F, part(m.decay_pivot, at, at + size), X)
    _rate_slopes(m, dim, h, b, N)
    for i in range(size):
        _gain_row(m, b, i, N, X)
    _add_softening(m, h, b, size - s)


def _gain_row(m: Memory, b: int, i: int, N: Array, X: Array) -> None:
    """Subtract a row of N X from the Jacobian."""
    s = m.end_w.shape[1]
    first = m.inertia_first[b]
    row = part(m.decay_rate, 0, X.shape[1])
    fill(row, 0.0)
    for k in range(X.shape[0]):
        for j in range(X.shape[1]):
            row[j] -= N[i][k] * X[k][j]
    for j in range(X.shape[1]):
        value = row[j]
        if i < s and j < s:
            add(m, m.border_w[b][i], m.border_w[b][j], value)
        elif i < s:
            m.system_row_w[first + j - s][i] += value
        elif j < s:
            m.system_col[first + i - s][j] += value
        else:
            m.system_flexible[m.border_place[m.inertia_ptr[first + i - s] + j - s]] += value


def _end_slopes(m: Memory, dim: int, h: float, b: int, N: Array) -> None:
    """Matrix 2M + hQ of a body, Q = ∂(M w₁)/∂u₁ in the columns of the coordinates."""
    s = 1 if dim == 2 else 3
    first = m.inertia_first[b]
    n = N.shape[0] - s
    M = block(m.vibration_inertia, m.vibration_mass[b], n, n)
    J = block(m.decay_columns, 0, s, s)
    turning_inertia(m, dim, b, J)
    for a in range(s):
        for c in range(s):
            N[a][c] = 2.0 * J[a][c]
        for k in range(n):
            coupling = 2.0 * (m.inertia_n[first + k][a] + m.end_Pu[first + k][1 + a])
            N[s + k][a] = coupling
            N[a][s + k] = coupling - h * m.end_Pdu[first + k][1 + a]
            for c in range(s):
                square = m.inertia_s[first + k][a][c] + m.end_Pu[first + k][1 + s + s * a + c]
                N[a][s + k] += 2.0 * h * square * m.end_w[b][c]
    for i in range(n):
        for j in range(n):
            N[s + i][s + j] = 2.0 * M[i][j]
    _add_turning(m, dim, h, b, m.end_w, N)


def _rate_slopes(m: Memory, dim: int, h: float, b: int, N: Array) -> None:
    """Derivatives of the momentum rows of a body by w₁ at constant u₁."""
    s = 1 if dim == 2 else 3
    first = m.inertia_first[b]
    n = N.shape[0] - s
    M = block(m.vibration_inertia, m.vibration_mass[b], n, n)
    J = block(m.decay_columns, entries(N), s, s)
    turning_inertia(m, dim, b, J)
    for a in range(s):
        for c in range(s):
            N[a][c] = J[a][c]
        for k in range(n):
            coupling = m.inertia_n[first + k][a] + m.end_Pu[first + k][1 + a]
            N[a][s + k] = coupling
            N[s + k][a] = coupling + 0.5 * h * m.at_Pdu[first + k][1 + a]
            for c in range(s):
                square = m.inertia_s[first + k][c][a] + m.trial_Pmean[first + k][1 + s + s * c + a]
                N[s + k][a] -= h * square * m.at_w[b][c]
    if s == 3:
        for j in range(N.shape[0]):
            x0 = N[0][j]
            x1 = N[1][j]
            x2 = N[2][j]
            w0 = 0.5 * h * m.x_w[b][0]
            w1 = 0.5 * h * m.x_w[b][1]
            w2 = 0.5 * h * m.x_w[b][2]
            N[0][j] += w1 * x2 - w2 * x1
            N[1][j] += w2 * x0 - w0 * x2
            N[2][j] += w0 * x1 - w1 * x0
    for i in range(n):
        for j in range(n):
            N[s + i][s + j] = M[i][j]
    _add_turning(m, dim, 0.5 * h, b, m.at_w, N)


def _add_turning(m: Memory, dim: int, h: float, b: int, w: Array, N: Array) -> None:
    """Add h Σ_a w_a N_a of a body to the rows and columns of the coordinates."""
    d = dim
    s = 1 if d == 2 else 3
    first = m.inertia_first[b]
    n = N.shape[0] - s
    for i in range(d):
        for j in range(d):
            m.decay_turn[i][j] = 0.0
            for a in range(s):
                m.decay_turn[i][j] += h * w[b][a] * m.inertia_form[b][(1 + a) * d + i][j]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for a in range(s):
                total += h * w[b][a] * m.inertia_val[m.inertia_ptr[first + i] + m.inertia_alike[b] + j][1 + a]
            for k in range(d):
                for l in range(d):
                    total -= m.inertia_mean[first + i][k] * m.decay_turn[k][l] * m.inertia_mean[first + j][l]
            N[s + i][s + j] += total


def _add_softening(m: Memory, h: float, b: int, n: int) -> None:
    """Add h² D̄ᵀ ½A C⁻¹ D₁ of a body."""
    first = m.vibration_stresses[b]
    coordinate = m.inertia_first[b]
    count = m.vibration_stresses[b + 1] - first
    T = block(m.decay_stiffness, m.vibration_stress[b], count, count)
    Y = block(m.decay_rows, 0, count, n)
    fill(Y, 0.0)
    for i in range(count):
        for k in range(count):
            for e in range(m.elastic_ptr[first + k], m.elastic_ptr[first + k + 1]):
                Y[i][m.elastic_col[e] - coordinate] += h * h * T[i][k] * m.system_D[e]
    for k in range(count):
        for e in range(m.elastic_ptr[first + k], m.elastic_ptr[first + k + 1]):
            row = m.inertia_ptr[m.elastic_col[e]]
            for j in range(n):
                m.system_flexible[m.border_place[row + j]] += m.trial_D[e] * Y[k][j]
