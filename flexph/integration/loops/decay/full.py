"""Bodies with full matrices in steps that lose energy, by their free vibrations.

The matrix B of kernels.decay changes the rates at the end of a step, A adds damping to its mean stresses."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ....numerics.algebra.dense import factor, multiply, solve
    from ....numerics.loops.views import block, fill, part
    from ..memory.memory import Memory
    from .inertia import turning_inertia


def prepare(m: Memory, b: int, h: float) -> None:
    """Compute the matrices of body b that depend only on the step length h [s].

    They are B = Σ α ω²h²/(4 + ω²h²) v vᵀ over the modes v with frequencies ω, B M, and the weights a = ½α h²/(4 +
    ω²h²) of the modes. With the stresses S = C⁻¹D₀V of the modes, ½A C⁻¹ = S a Sᵀ.
    """
    size = m.vibration_size[b]
    n = m.inertia_first[b + 1] - m.inertia_first[b]
    V = block(m.vibration_mode, m.vibration_matrix[b], size, size)
    B = block(m.decay_mobility, m.vibration_matrix[b], size, size)
    scaled = block(m.decay_columns, 0, size, size)
    turned = block(m.decay_left, 0, size, size)
    for k in range(size):
        square = m.vibration_square[m.vibration_at[b] + k]
        share = m.decay_share[0] * h * h / (4.0 + h * h * square)
        m.decay_softening[m.vibration_at[b] + k] = 0.5 * share
        for i in range(size):
            scaled[i][k] = sqrt(share * square) * V[i][k]
            turned[k][i] = scaled[i][k]
    multiply(scaled, 0, turned, B)  # symmetric to the last bit
    M = block(m.vibration_inertia, m.vibration_mass[b], n, n)
    multiply(B, size - n, M, block(m.decay_by_inertia, m.vibration_matrix[b], size, size))


def add_damping_stresses(m: Memory, b: int) -> None:
    """Add ½AΔσ, due to the change of the stresses Δσ in the step, to the mean stresses σ̃ of body b."""
    first = m.vibration_stresses[b]
    count = m.vibration_stresses[b + 1] - m.vibration_stresses[b]
    size = m.vibration_size[b]
    at = m.vibration_at[b]
    S = block(m.vibration_stressed, m.vibration_strain[b], count, size)
    D = block(m.vibration_strained, m.vibration_strain[b], count, size)
    q = part(m.decay_rate, 0, size)
    fill(q, 0.0)
    for j in range(count):
        for k in range(size):
            q[k] += D[j][k] * m.trial_jump[first + j]
    for k in range(size):
        q[k] *= m.decay_softening[at + k]
    for i in range(count):
        total = 0.0
        for k in range(size):
            total += S[i][k] * q[k]
        m.trial_stress[first + i] += total


def end_rates(m: Memory, dim: int, b: int) -> None:
    """Replace the rates 2ŵ − w₀ of body b in the end state by its end rates w₁ = (ω₁, u̇₁).

    They solve (1 + B M(u₁)) w₁ = 2ŵ − w₀ + B p₀, with the momenta p₀ at the start.
    """
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
    """Write the matrix 1 + B M(u₁) of body b into F, with the mass matrix M(u₁) at the end of the step."""
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
