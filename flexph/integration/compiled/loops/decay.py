"""The decaying scheme in loops (see kernels.decay, whose formulas these are), body by body.

B and A couple all coordinates of a body, whose flexible matrices therefore are full ones.
"""

from __future__ import annotations

from numpy import int64

from ....kernels import decay as formulas
from ....numerics.arrays import Array
from ..memory.kernel import kernel
from ..memory.memory import Memory, block
from ..terms.border import add
from .dense import factor, solve, solve_many
from .motion import inertia_products

rounded = kernel(formulas.rounded)


@kernel
def prepare(m: Memory, length: float) -> None:
    """B, ½A and what follows from them for steps of a length, unless they are known."""
    h = rounded(length)
    if m.decay_length[0] == h:
        return
    m.decay_length[0] = h
    for b in range(m.inertia_mass.size):
        size, count = m.vibration_size[b], m.vibration_stresses[b + 1] - m.vibration_stresses[b]
        if size > 0:
            B = block(m.decay_mobility, m.vibration_matrix[b], size, size)
            A = block(m.decay_softening, m.vibration_stress[b], count, count)
            _sum_modes(m, b, h, B, A)
            _multiply_constants(m, b, B, A)


@kernel
def _sum_modes(m: Memory, b: int, h: float, B: Array, A: Array) -> None:
    """B = Σ α ω²h²/(4 + ω²h²) v vᵀ and ½A = Σ ½α h²/(4 + ω²h²) (C⁻¹D₀v) (D₀v)ᵀ of a body."""
    size, count = B.shape[0], A.shape[0]
    V = block(m.vibration_mode, m.vibration_matrix[b], size, size)
    S = block(m.vibration_stressed, m.vibration_strain[b], count, size)
    D = block(m.vibration_strained, m.vibration_strain[b], count, size)
    B[:], A[:] = 0.0, 0.0
    for k in range(size):
        square = m.vibration_square[m.vibration_at[b] + k]
        share = m.decay_share[0] * h * h / (4.0 + h * h * square)
        for i in range(size):
            for j in range(size):
                B[i, j] += share * square * V[i, k] * V[j, k]
        for i in range(count):
            for j in range(count):
                A[i, j] += 0.5 * share * S[i, k] * D[j, k]


@kernel
def _multiply_constants(m: Memory, b: int, B: Array, A: Array) -> None:
    """B M of the columns of the coordinates, and ½A C⁻¹."""
    size, n = B.shape[0], int64(m.inertia_first[b + 1]) - int64(m.inertia_first[b])
    M = block(m.vibration_inertia, m.vibration_mass[b], n, n)
    BM = block(m.decay_by_inertia, m.vibration_matrix[b], size, size)
    _multiply(B, size - n, M, BM)
    first, T = m.vibration_stresses[b], block(m.decay_stiffness, m.vibration_stress[b], A.shape[0], A.shape[0])
    T[:] = 0.0
    for k in range(A.shape[0]):
        for e in range(m.elastic_inverse_ptr[first + k], m.elastic_inverse_ptr[first + k + 1]):
            column = int64(m.elastic_inverse_col[e]) - first
            for i in range(A.shape[0]):
                T[i, column] += A[i, k] * m.elastic_inverse_val[e]


@kernel
def _multiply(A: Array, skipped: int, B: Array, out: Array) -> None:
    """Product of A without its first columns and B, into the first columns of ``out``."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            out[i, j] = 0.0
        for k in range(B.shape[0]):
            for j in range(B.shape[1]):
                out[i, j] += A[i, skipped + k] * B[k, j]


@kernel
def soften(m: Memory) -> None:
    """Add ½AΔσ to σ̃."""
    for b in range(m.inertia_mass.size):
        first, count = m.vibration_stresses[b], m.vibration_stresses[b + 1] - m.vibration_stresses[b]
        A = block(m.decay_softening, m.vibration_stress[b], count, count)
        for i in range(count):
            for j in range(count):
                m.trial_stress[first + i] += A[i, j] * m.trial_jump[first + j]


@kernel
def end_rates(m: Memory, axes: tuple[int, ...]) -> None:
    """ω₁ and u̇₁ by (1 + B M(u₁)) w₁ = 2ŵ − w₀ + B p₀, and the inertia products of u̇₁."""
    s = 1 if len(axes) == 2 else 3
    for b in range(m.inertia_mass.size):
        size, first, at = m.vibration_size[b], int64(m.inertia_first[b]), m.vibration_at[b]
        if size > 0:
            F, w = block(m.decay_factor, m.vibration_matrix[b], size, size), m.decay_rate[:size]
            B = block(m.decay_mobility, m.vibration_matrix[b], size, size)
            _fill(m, axes, b, B, F)
            for i in range(size):
                w[i] = m.end_w[b, i] if i < s else m.end_du[first + i - s]  # 2ŵ − w₀ so far
                for k in range(size):
                    w[i] += B[i, k] * (m.at_p_r[b, k] if k < s else m.at_p_u[first + k - s])
            factor(F, m.decay_pivot[at : at + size])
            solve(F, m.decay_pivot[at : at + size], w)
            for i in range(size):
                if i < s:
                    m.end_w[b, i] = w[i]
                else:
                    m.end_du[first + i - s] = w[i]
    inertia_products(m, axes, m.end_du, m.trial_c, m.end_Pdu)


@kernel
def _fill(m: Memory, axes: tuple[int, ...], b: int, B: Array, F: Array) -> None:
    """1 + B M(u₁) of a body."""
    s = 1 if len(axes) == 2 else 3
    size, first = F.shape[0], int64(m.inertia_first[b])
    BM = block(m.decay_by_inertia, m.vibration_matrix[b], size, size)
    J = block(m.decay_columns, 0, s, s)
    _turning_inertia(m, axes, b, J)
    for i in range(size):
        for j in range(size):
            F[i, j] = BM[i, j - s] if j >= s else 0.0
        for a in range(s):
            for c in range(s):
                F[i, a] += B[i, c] * J[c, a]
        for k in range(first, first + size - s):
            for a in range(s):
                coupling = m.inertia_n[k, a] + m.end_Pu[k, 1 + a]
                F[i, a] += B[i, s + k - first] * coupling
                F[i, s + k - first] += B[i, a] * coupling
        F[i, i] += 1.0


@kernel
def _turning_inertia(m: Memory, axes: tuple[int, ...], b: int, J: Array) -> None:
    """J(u₁) of a body."""
    s = 1 if len(axes) == 2 else 3
    for a in range(s):
        for c in range(s):
            J[a, c] = m.inertia_J[b, a, c]
            for k in range(m.inertia_first[b], m.inertia_first[b + 1]):
                J[a, c] += (2.0 * m.inertia_s[k, a, c] + m.end_Pu[k, 1 + s + s * a + c]) * m.end_u[k]


@kernel
def add_decay(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """What the Jacobian gains: by w₁, which is not 2ŵ − w₀, and by what stresses lose."""
    s = 1 if len(axes) == 2 else 3
    for b in range(m.inertia_mass.size):
        size, at = m.vibration_size[b], m.vibration_at[b]
        if size > 0:
            B = block(m.decay_mobility, m.vibration_matrix[b], size, size)
            F = block(m.decay_factor, m.vibration_matrix[b], size, size)
            N, X = block(m.decay_slopes, 0, size, size), block(m.decay_columns, 0, size, size)
            _end_slopes(m, axes, h, b, N)
            _multiply(B, 0, N, X)
            solve_many(F, m.decay_pivot[at : at + size], X)
            _rate_slopes(m, axes, h, b, N)
            for i in range(size):
                _gain_row(m, b, i, N, X)
            _add_softening(m, h, b, size - s)


@kernel
def _gain_row(m: Memory, b: int, i: int, N: Array, X: Array) -> None:
    """Take a row of N X from the Jacobian."""
    s, first = m.end_w.shape[1], int64(m.inertia_first[b])
    for j in range(X.shape[1]):
        value = 0.0
        for k in range(X.shape[0]):
            value -= N[i, k] * X[k, j]
        if i < s and j < s:
            add(m, m.border_w[b, i], m.border_w[b, j], value)
        elif i < s:
            m.system_row_w[first + j - s, i] += value
        elif j < s:
            m.system_col[first + i - s, j] += value
        else:
            m.system_flexible[m.border_place[int64(m.inertia_ptr[first + i - s]) + j - s]] += value


@kernel
def _end_slopes(m: Memory, axes: tuple[int, ...], h: float, b: int, N: Array) -> None:
    """2M + hQ of a body, Q = ∂(M w₁)/∂u₁ in the columns of the coordinates."""
    s = 1 if len(axes) == 2 else 3
    first, n = int64(m.inertia_first[b]), N.shape[0] - s
    M = block(m.vibration_inertia, m.vibration_mass[b], n, n)
    J = block(m.decay_columns, 0, s, s)
    _turning_inertia(m, axes, b, J)
    for a in range(s):
        for c in range(s):
            N[a, c] = 2.0 * J[a, c]
        for k in range(n):
            coupling = 2.0 * (m.inertia_n[first + k, a] + m.end_Pu[first + k, 1 + a])
            N[s + k, a], N[a, s + k] = coupling, coupling - h * m.end_Pdu[first + k, 1 + a]
            for c in range(s):
                square = m.inertia_s[first + k, a, c] + m.end_Pu[first + k, 1 + s + s * a + c]
                N[a, s + k] += 2.0 * h * square * m.end_w[b, c]
    for i in range(n):
        for j in range(n):
            N[s + i, s + j] = 2.0 * M[i, j]
    _add_turning(m, axes, h, b, m.end_w, N)


@kernel
def _rate_slopes(m: Memory, axes: tuple[int, ...], h: float, b: int, N: Array) -> None:
    """Derivatives of the momentum rows of a body by w₁ at constant u₁."""
    s = 1 if len(axes) == 2 else 3
    first, n = int64(m.inertia_first[b]), N.shape[0] - s
    M = block(m.vibration_inertia, m.vibration_mass[b], n, n)
    J = block(m.decay_columns, N.size, s, s)
    _turning_inertia(m, axes, b, J)
    for a in range(s):
        for c in range(s):
            N[a, c] = J[a, c]
        for k in range(n):
            coupling = m.inertia_n[first + k, a] + m.end_Pu[first + k, 1 + a]
            N[a, s + k], N[s + k, a] = coupling, coupling + 0.5 * h * m.at_Pdu[first + k, 1 + a]
            for c in range(s):
                square = m.inertia_s[first + k, c, a] + m.trial_Pmean[first + k, 1 + s + s * c + a]
                N[s + k, a] -= h * square * m.at_w[b, c]
    if s == 3:
        for j in range(N.shape[0]):
            x0, x1, x2 = N[0, j], N[1, j], N[2, j]
            w0, w1, w2 = 0.5 * h * m.x_w[b, 0], 0.5 * h * m.x_w[b, 1], 0.5 * h * m.x_w[b, 2]
            N[0, j] += w1 * x2 - w2 * x1
            N[1, j] += w2 * x0 - w0 * x2
            N[2, j] += w0 * x1 - w1 * x0
    for i in range(n):
        for j in range(n):
            N[s + i, s + j] = M[i, j]
    _add_turning(m, axes, 0.5 * h, b, m.at_w, N)


@kernel
def _add_turning(m: Memory, axes: tuple[int, ...], h: float, b: int, w: Array, N: Array) -> None:
    """Add h Σ_a w_a N_a of a body to the rows and columns of the coordinates."""
    d = len(axes)
    s = 1 if d == 2 else 3
    first, n = int64(m.inertia_first[b]), N.shape[0] - s
    for i in range(d):
        for j in range(d):
            m.decay_turn[i, j] = 0.0
            for a in range(s):
                m.decay_turn[i, j] += h * w[b, a] * m.inertia_form[b, (1 + a) * d + i, j]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for a in range(s):
                total += h * w[b, a] * m.inertia_val[int64(m.inertia_ptr[first + i]) + j, 1 + a]
            for k in range(d):
                for l in range(d):
                    total -= m.inertia_mean[first + i, k] * m.decay_turn[k, l] * m.inertia_mean[first + j, l]
            N[s + i, s + j] += total


@kernel
def _add_softening(m: Memory, h: float, b: int, n: int) -> None:
    """Add h² D̄ᵀ ½A C⁻¹ D₁ of a body."""
    first, coordinate = m.vibration_stresses[b], int64(m.inertia_first[b])
    count = m.vibration_stresses[b + 1] - first
    T, Y = block(m.decay_stiffness, m.vibration_stress[b], count, count), block(m.decay_rows, 0, count, n)
    Y[:] = 0.0
    for k in range(count):
        for e in range(m.elastic_ptr[first + k], m.elastic_ptr[first + k + 1]):
            for i in range(count):
                Y[i, int64(m.elastic_col[e]) - coordinate] += h * h * T[i, k] * m.system_D[e]
    for k in range(count):
        for e in range(m.elastic_ptr[first + k], m.elastic_ptr[first + k + 1]):
            row = int64(m.inertia_ptr[m.elastic_col[e]])
            for j in range(n):
                m.system_flexible[m.border_place[row + j]] += m.trial_D[e] * Y[k, j]
