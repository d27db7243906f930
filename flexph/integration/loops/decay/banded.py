"""Banded bodies in steps that lose energy: B and A by banded solves, at a cost linear in the coordinates.

With mass M and stiffness K of the undeformed body in w = (ω, u̇), and S = 4M + h²K, the matrices B = αh² M⁻¹K S⁻¹ and
A = αh² C⁻¹D₀S⁻¹D₀ᵀ are products of a few banded matrices and inverses, bordered by the spins and the shift to the
centre of mass. At the end of a step z = B(M(u₁)w₁ − p₀) with the momenta p₀ at its start, w₁ = 2ŵ − w₀ − z, and M(u₁)
differs from M by P L of small rank, L z = (z_ω, (N u₁)ᵀz_u), so that

    z = αh² M⁻¹K (S + αh²K)⁻¹ (M(u₁)(2ŵ − w₀) − p₀ − P L z).
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.data import Index

if not cython.compiled:
    from ....numerics.algebra.band import factor as factor_band
    from ....numerics.algebra.band import solve as solve_band
    from ....numerics.algebra.band import solve_many
    from ....numerics.algebra.dense import factor, solve
    from ....numerics.loops.views import block, fill, part
    from ..memory.memory import Memory
    from .inertia import turning_inertia


INERTIA = cython.declare(cython.Py_ssize_t, 0)
RESTING = cython.declare(cython.Py_ssize_t, 1)
MOVING = cython.declare(cython.Py_ssize_t, 2)
"""Numbers of the matrices M, S and S + αh²K."""


def prepare(m: Memory, dim: int, b: int, h: float) -> None:
    """Factor the matrices M, S and S + αh²K of body b for the step length h [s]."""
    stiff = h * h
    _factor(m, dim, b, INERTIA, 1.0, 0.0)
    _factor(m, dim, b, RESTING, 4.0, stiff)
    _factor(m, dim, b, MOVING, 4.0, (1.0 + m.decay_share[0]) * stiff)


def _matrix(m: Memory, dim: int, b: int, kind: int) -> tuple[Array, Index, Array, Array, Index]:
    """Parts of a factored matrix of body b, of the ``kind`` INERTIA, RESTING or MOVING.

    They are the band and its pivots, the solutions for unit spins and shifts, and the Schur complement and its
    pivots.
    """
    first = m.inertia_first[b]
    n = m.inertia_first[b + 1] - m.inertia_first[b]
    size = 3 if dim == 2 else 6
    columns = m.filtering_answers.shape[1]
    bands = m.filtering_factors.size // 3
    at = kind * m.filter_place.size + first
    last = kind * m.inertia_mass.size + b
    return (
        block(m.filtering_factors, kind * bands + m.filter_plain_band[b], n, m.filter_plain_stored[b]),
        part(m.filtering_pivot, at, at + n),
        block(m.filtering_answers, at * columns, n, columns),
        block(m.filtering_small, last * size * size, size, size),
        part(m.filtering_small_pivot, last * size, (last + 1) * size),
    )


def _factor(m: Memory, dim: int, b: int, kind: int, inertia: float, stiffness: float) -> None:
    """Factor the matrix inertia·M + stiffness·K of body b, and store the factors as the matrix ``kind``."""
    d = dim
    width = m.filter_plain_width[b]
    s = 1 if d == 2 else 3
    F, pivot, Y, A, small_pivot = _matrix(m, dim, b, kind)
    fill(F, 0.0)
    fill(Y, 0.0)
    fill(A, 0.0)
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        row = m.filter_place[i]
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            value = inertia * m.inertia_val[e + m.inertia_alike[b]][0] + stiffness * m.filter_stiffness[e]
            F[row][m.filter_place[m.inertia_col[e]] - row + width] += value
        for a in range(s):
            Y[row][a] = inertia * m.inertia_n[i][a]
        for l in range(d):
            for k in range(d):
                Y[row][s + l] -= inertia * m.inertia_mean[i][k] * m.inertia_form[b][k][l]
    factor_band(F, pivot, width)
    solve_many(F, pivot, width, Y)
    for a in range(s):
        for c in range(s):
            A[a][c] = inertia * m.inertia_J[b][a][c]
    for l in range(d):
        A[s + l][s + l] = 1.0
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        for c in range(s + d):
            value = Y[m.filter_place[i]][c]
            for a in range(s):
                A[a][c] -= inertia * m.inertia_n[i][a] * value
            for l in range(d):
                A[s + l][c] += m.inertia_mean[i][l] * value
    factor(A, small_pivot)


def _solve(m: Memory, dim: int, b: int, kind: int, inertia: float, x: Array) -> None:
    """Solve with the factored matrix of a ``kind``, in place: the vector x becomes the solution.

    x has the spins and, from entry s on, the coordinates in the order of the band.
    """
    d = dim
    s = 1 if d == 2 else 3
    F, pivot, Y, A, small_pivot = _matrix(m, dim, b, kind)
    y = part(m.filtering_border, 0, s + d)
    solve_band(F, pivot, m.filter_plain_width[b], part(x, s, s + F.shape[0]))
    for k in range(s + d):
        y[k] = x[k] if k < s else 0.0
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        value = x[s + m.filter_place[i]]
        for a in range(s):
            y[a] -= inertia * m.inertia_n[i][a] * value
        for l in range(d):
            y[s + l] += m.inertia_mean[i][l] * value
    solve(A, small_pivot, y)
    for k in range(F.shape[0]):
        for c in range(s + d):
            x[s + k] -= Y[k][c] * y[c]
    for a in range(s):
        x[a] = y[a]


def _move(m: Memory, dim: int, b: int, x: Array) -> None:
    """Multiply the vector x of body b by αh² M⁻¹K (S + αh²K)⁻¹ in place."""
    s = 1 if dim == 2 else 3
    y = m.filtering_y
    _solve(m, dim, b, MOVING, 4.0, x)
    gain = m.decay_share[0] * m.decay_length[0] * m.decay_length[0]
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        total = 0.0
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            total += m.filter_stiffness[e] * x[s + m.filter_place[m.inertia_col[e]]]
        y[m.filter_place[i]] = gain * total
    fill(part(x, 0, s), 0.0)
    for k in range(m.inertia_first[b + 1] - m.inertia_first[b]):
        x[s + k] = y[k]
    _solve(m, dim, b, INERTIA, 1.0, x)


def add_damping_stresses(m: Memory, dim: int, b: int) -> None:
    """Add ½AΔσ, due to the change of the stresses Δσ in the step, to the mean stresses σ̃ of body b."""
    s = 1 if dim == 2 else 3
    x = m.filtering_x[0]
    fill(x, 0.0)
    for k in range(m.vibration_stresses[b], m.vibration_stresses[b + 1]):
        for e in range(m.elastic_ptr[k], m.elastic_ptr[k + 1]):
            x[s + m.filter_place[m.elastic_col[e]]] += m.elastic_strain[e] * m.trial_jump[k]
    _solve(m, dim, b, RESTING, 4.0, x)
    for k in range(m.vibration_stresses[b], m.vibration_stresses[b + 1]):
        m.filtering_strain[k] = 0.0
        for e in range(m.elastic_ptr[k], m.elastic_ptr[k + 1]):
            m.filtering_strain[k] += m.elastic_strain[e] * x[s + m.filter_place[m.elastic_col[e]]]
    gain = 0.5 * m.decay_share[0] * m.decay_length[0] * m.decay_length[0]
    for k in range(m.vibration_stresses[b], m.vibration_stresses[b + 1]):
        for e in range(m.elastic_inverse_ptr[k], m.elastic_inverse_ptr[k + 1]):
            m.trial_stress[k] += gain * m.elastic_inverse_val[e] * m.filtering_strain[m.elastic_inverse_col[e]]


def end_rates(m: Memory, dim: int, b: int) -> None:
    """Subtract z from the rates 2ŵ − w₀ of body b in the end state, which gives its end rates ω₁ and u̇₁."""
    s = 1 if dim == 2 else 3
    first = m.inertia_first[b]
    last = m.inertia_first[b + 1]
    X = m.filtering_x
    A = m.filtering_feedback
    e = m.filtering_gain
    _gather(m, dim, b, X)
    for q in range(2 * s + 1):
        _move(m, dim, b, part(X[q], 0, s + last - first))
    for q in range(2 * s + 1):
        for a in range(s):
            total = 0.0
            for i in range(first, last):
                total += m.end_Pu[i][1 + a] * X[q][s + m.filter_place[i]]
            if q < 2 * s:
                A[a][q] = X[q][a]
                A[s + a][q] = total
            else:
                e[a] = X[q][a]
                e[s + a] = total
    for q in range(2 * s):
        A[q][q] += 1.0
    factor(A, m.filtering_feedback_pivot)
    solve(A, m.filtering_feedback_pivot, e)
    for k in range(s + last - first):
        for q in range(2 * s):
            X[2 * s][k] -= e[q] * X[q][k]
    for a in range(s):
        m.end_w[b][a] -= X[2 * s][a]
    for i in range(first, last):
        m.end_du[i] -= X[2 * s][s + m.filter_place[i]]


def _gather(m: Memory, dim: int, b: int, X: Array) -> None:
    """Write the columns of P into the first rows of X, and M(u₁)(2ŵ − w₀) − p₀ into its last row, for body b."""
    d = dim
    s = 1 if d == 2 else 3
    J = m.filtering_spin
    r = X[2 * s]
    fill(X, 0.0)
    turning_inertia(m, dim, b, J)
    for a in range(s):
        r[a] = -m.at_p_r[b][a]
        X[s + a][a] = 1.0
        for c in range(s):
            X[c][a] = J[a][c] - m.inertia_J[b][a][c]
            r[a] += J[a][c] * m.end_w[b][c]
    fill(part(m.filtering_border, 0, d), 0.0)
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        for l in range(d):
            m.filtering_border[l] += m.inertia_mean[i][l] * m.end_du[i]
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        value = -m.at_p_u[i]
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            value += m.inertia_val[e + m.inertia_alike[b]][0] * m.end_du[m.inertia_col[e]]
        for l in range(d):
            for k in range(d):
                value -= m.inertia_mean[i][k] * m.inertia_form[b][k][l] * m.filtering_border[l]
        for a in range(s):
            coupling = m.inertia_n[i][a] + m.end_Pu[i][1 + a]
            value += coupling * m.end_w[b][a]
            r[a] += coupling * m.end_du[i]
            X[a][s + m.filter_place[i]] = m.end_Pu[i][1 + a]
        r[s + m.filter_place[i]] = value
