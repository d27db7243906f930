"""Bodies with full matrices in steps that lose energy: B, A and the end rates, from their free vibrations."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.algebra.dense import factor, solve
    from ....numerics.loops.views import block, fill, part
    from ..memory.memory import Memory
    from .inertia import turning_inertia


def prepare(m: Memory, b: int, h: float) -> None:
    """Compute B, ½A and their products with constants for a step length."""
    size = m.vibration_size[b]
    count = m.vibration_stresses[b + 1] - m.vibration_stresses[b]
    B = block(m.decay_mobility, m.vibration_matrix[b], size, size)
    A = block(m.decay_softening, m.vibration_stress[b], count, count)
    _sum_modes(m, b, h, B, A)
    _multiply_constants(m, b, B, A)


def _sum_modes(m: Memory, b: int, h: float, B: Array, A: Array) -> None:
    """Matrices B = Σ α ω²h²/(4 + ω²h²) v vᵀ and ½A = Σ ½α h²/(4 + ω²h²) (C⁻¹D₀v) (D₀v)ᵀ of a body."""
    size = B.shape[0]
    count = A.shape[0]
    V = block(m.vibration_mode, m.vibration_matrix[b], size, size)
    S = block(m.vibration_stressed, m.vibration_strain[b], count, size)
    D = block(m.vibration_strained, m.vibration_strain[b], count, size)
    fill(B, 0.0)
    fill(A, 0.0)
    for k in range(size):
        square = m.vibration_square[m.vibration_at[b] + k]
        share = m.decay_share[0] * h * h / (4.0 + h * h * square)
        for i in range(size):
            for j in range(size):
                B[i][j] += share * square * V[i][k] * V[j][k]
        for i in range(count):
            for j in range(count):
                A[i][j] += 0.5 * share * S[i][k] * D[j][k]


def _multiply_constants(m: Memory, b: int, B: Array, A: Array) -> None:
    """Products B M in the columns of the coordinates, and ½A C⁻¹."""
    size = B.shape[0]
    n = m.inertia_first[b + 1] - m.inertia_first[b]
    M = block(m.vibration_inertia, m.vibration_mass[b], n, n)
    BM = block(m.decay_by_inertia, m.vibration_matrix[b], size, size)
    multiply(B, size - n, M, BM)
    first = m.vibration_stresses[b]
    T = block(m.decay_stiffness, m.vibration_stress[b], A.shape[0], A.shape[0])
    fill(T, 0.0)
    for k in range(A.shape[0]):
        for e in range(m.elastic_inverse_ptr[first + k], m.elastic_inverse_ptr[first + k + 1]):
            column = m.elastic_inverse_col[e] - first
            for i in range(A.shape[0]):
                T[i][column] += A[i][k] * m.elastic_inverse_val[e]


def multiply(A: Array, skipped: int, B: Array, out: Array) -> None:
    """Product of A without its first ``skipped`` columns and B, written to the first columns of ``out``."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            out[i][j] = 0.0
        for k in range(B.shape[0]):
            for j in range(B.shape[1]):
                out[i][j] += A[i][skipped + k] * B[k][j]


def soften(m: Memory, b: int) -> None:
    """Add ½AΔσ to σ̃."""
    first = m.vibration_stresses[b]
    count = m.vibration_stresses[b + 1] - m.vibration_stresses[b]
    A = block(m.decay_softening, m.vibration_stress[b], count, count)
    for i in range(count):
        for j in range(count):
            m.trial_stress[first + i] += A[i][j] * m.trial_jump[first + j]


def end_rates(m: Memory, dim: int, b: int) -> None:
    """End rates ω₁ and u̇₁ by (1 + B M(u₁)) w₁ = 2ŵ − w₀ + B p₀."""
    s = 1 if dim == 2 else 3
    size = m.vibration_size[b]
    first = m.inertia_first[b]
    at = m.vibration_at[b]
    F = block(m.decay_factor, m.vibration_matrix[b], size, size)
    w = part(m.decay_rate, 0, size)
    B = block(m.decay_mobility, m.vibration_matrix[b], size, size)
    _fill(m, dim, b, B, F)
    for i in range(size):
        w[i] = m.end_w[b][i] if i < s else m.end_du[first + i - s]  # 2ŵ − w₀ so far
        for k in range(size):
            w[i] += B[i][k] * (m.at_p_r[b][k] if k < s else m.at_p_u[first + k - s])
    factor(F, part(m.decay_pivot, at, at + size))
    solve(F, part(m.decay_pivot, at, at + size), w)
    for i in range(size):
        if i < s:
            m.end_w[b][i] = w[i]
        else:
            m.end_du[first + i - s] = w[i]


def _fill(m: Memory, dim: int, b: int, B: Array, F: Array) -> None:
    """Matrix 1 + B M(u₁) of a body."""
    s = 1 if dim == 2 else 3
    size = F.shape[0]
    first = m.inertia_first[b]
    BM = block(m.decay_by_inertia, m.vibration_matrix[b], size, size)
    J = block(m.decay_columns, 0, s, s)
    turning_inertia(m, dim, b, J)
    for i in range(size):
        for j in range(size):
            F[i][j] = BM[i][j - s] if j >= s else 0.0
        for a in range(s):
            for c in range(s):
                F[i][a] += B[i][c] * J[c][a]
        for k in range(first, first + size - s):
            for a in range(s):
                coupling = m.inertia_n[k][a] + m.end_Pu[k][1 + a]
                F[i][a] += B[i][s + k - first] * coupling
                F[i][s + k - first] += B[i][a] * coupling
        F[i][i] += 1.0
