"""Correction of the Jacobian for the energy loss of bodies with full matrices."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.algebra.dense import add_rows, multiply, solve_many
    from ....numerics.loops.views import add_product, block, entries, fill, part
    from ..memory.memory import Memory
    from ..terms.border import add
    from .inertia import turning_inertia


def add_decay(m: Memory, dim: int, h: float, b: int) -> None:
    """Correct the Jacobian of body b for its energy loss: end rates w₁ other than 2ŵ − w₀, and softened stresses."""
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
    P = block(m.decay_left, 0, size, size)
    multiply(N, 0, X, P)
    for i in range(size):
        for j in range(size):
            P[i][j] = -P[i][j]
    _add_softening(m, h, b, P)
    for i in range(size):
        _add_row(m, b, i, P[i])


def _add_row(m: Memory, b: int, i: int, values: Array) -> None:
    """Add ``values`` to row i of the Jacobian, over the spins and coordinates of body b."""
    s = m.end_w.shape[1]
    first = m.inertia_first[b]
    for j in range(values.size):
        value = values[j]
        if i < s and j < s:
            add(m, m.border_w[b][i], m.border_w[b][j], value)
        elif i < s:
            m.system_row_w[first + j - s][i] += value
        elif j < s:
            m.system_col[first + i - s][j] += value
        else:
            m.system_flexible[m.border_place[m.inertia_ptr[first + i - s] + j - s]] += value


def _end_slopes(m: Memory, dim: int, h: float, b: int, N: Array) -> None:
    """Write 2M(u₁) + hQ of body b into N, where Q = ∂(M w₁)/∂u₁ is in the columns of the coordinates."""
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
    """Write the derivatives of the momentum defects of body b into N, with respect to w₁ at constant u₁."""
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
    """Add h Σₐ wₐ Nₐ of body b to the block of its coordinates in N, with its spins wₐ.

    Nₐ are the matrices of inertia that the spin about axis a multiplies.
    """
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


def _add_softening(m: Memory, h: float, b: int, P: Array) -> None:
    """Add h² D̄ᵀ ½A C⁻¹ D₁ = (h D̄ᵀS) a (h D₁ᵀS)ᵀ of body b to the block of its coordinates in P."""
    size = P.shape[0]
    n = m.inertia_first[b + 1] - m.inertia_first[b]
    at = m.vibration_at[b]
    mean = block(m.decay_slopes, 0, n, size)
    end = block(m.decay_columns, 0, n, size)
    _sum_rows(m, b, m.trial_D, mean)
    _sum_rows(m, b, m.system_D, end)
    turned = block(m.decay_right, 0, size, n)
    for k in range(size):
        weight = h * h * m.decay_softening[at + k]
        for j in range(n):
            turned[k][j] = weight * end[j][k]
    add_product(P, (size - n) * (size + 1), 1.0, mean, 0, turned, 0, n, size, n)


def _sum_rows(m: Memory, b: int, D: Array, out: Array) -> None:
    """Write DᵀS of body b into ``out``, with strain rows D and the stresses S of its modes."""
    first = m.vibration_stresses[b]
    count = m.vibration_stresses[b + 1] - first
    S = block(m.vibration_stressed, m.vibration_strain[b], count, out.shape[1])
    fill(out, 0.0)
    for k in range(count):
        start = m.elastic_ptr[first + k]
        end = m.elastic_ptr[first + k + 1]
        add_rows(part(m.elastic_col, start, end), m.inertia_first[b], part(D, start, end), S, k, out)
