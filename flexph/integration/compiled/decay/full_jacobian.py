"""What the Jacobian gains by bodies of full matrices in steps that lose energy (see kernels.decay.correction)."""

from __future__ import annotations

from numpy import int64

from ....numerics.arrays import Array
from ....numerics.compiled.algebra.dense import solve_many
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory, block
from ..terms.border import add
from .full import multiply
from .inertia import turning_inertia


@kernel
def add_decay(m: Memory, axes: tuple[int, ...], h: float, b: int) -> None:
    """What the Jacobian gains by a body: by w₁, which is not 2ŵ − w₀, and by what stresses lose."""
    s = 1 if len(axes) == 2 else 3
    size, at = m.vibration_size[b], m.vibration_at[b]
    B = block(m.decay_mobility, m.vibration_matrix[b], size, size)
    F = block(m.decay_factor, m.vibration_matrix[b], size, size)
    N, X = block(m.decay_slopes, 0, size, size), block(m.decay_columns, 0, size, size)
    _end_slopes(m, axes, h, b, N)
    multiply(B, 0, N, X)
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
    turning_inertia(m, axes, b, J)
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
    turning_inertia(m, axes, b, J)
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
                total += h * w[b, a] * m.inertia_val[int64(m.inertia_ptr[first + i]) + m.inertia_alike[b] + j, 1 + a]
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
