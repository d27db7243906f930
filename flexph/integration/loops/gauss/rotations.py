"""Rotations at the nodes of a step in loops, collocated by (1 − hA[Ω]×)⁻¹."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import take
    from ..memory.memory import Memory, stage
    from .scheme import Scheme


LEAST_PIVOT = cython.declare(cython.double, 1e-3)
"""Pivot of 1 − hA[Ω]× below which a step turns too far."""


def factor_rotations(dim: int, g: Scheme, h: float) -> bool:
    """Factor 1 − hA[Ω]× of all bodies that turn, storing reciprocal pivots; False if a pivot is too small."""
    d = dim
    size = g.driven.size
    width = g.transport.shape[2]
    for b in range(g.transport.shape[0]):
        if not stage(g.stages, 0).inertia_turns[b]:
            continue
        T = g.transport[b]
        for j in range(g.stages.size):
            s = stage(g.stages, j)
            for i in range(g.stages.size):
                _spin_block(dim, h * g.a[i][j], s.stage_spin[b], T, i * d, j * d)
        for k in range(size):
            T[k][k] += 1.0
        for k in range(size):
            if not fabs(T[k][k]) > LEAST_PIVOT:
                return False
            T[k][k] = 1.0 / T[k][k]
            for i in range(k + 1, size):
                T[i][k] *= T[k][k]
                take(T, i * width + k + 1, T, k * width + k + 1, T[i][k], size - k - 1)
    return True


def _spin_block(dim: int, factor: float, spin: Array, out: Array, row: int, column: int) -> None:
    """Write −factor·[Ω]× into a matrix, from entry (row, column) on."""
    if dim == 2:
        out[row + 1][column + 1] = 0.0
        out[row][column] = 0.0
        out[row][column + 1] = factor * spin[0]
        out[row + 1][column] = -factor * spin[0]
    else:
        for i in range(3):
            j = (i + 1) % 3
            k = (i + 2) % 3
            out[row + i][column + i] = 0.0
            out[row + j][column + k] = factor * spin[i]
            out[row + k][column + j] = -factor * spin[i]


def _solve_transport(T: Array, x: Array) -> None:
    """Solve with the factors T in place."""
    for i in range(x.size):
        total = x[i]
        for j in range(i):
            total -= T[i][j] * x[j]
        x[i] = total
    for i in range(x.size - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, x.size):
            total -= T[i][j] * x[j]
        x[i] = total * T[i][i]


def _solve_transport_of_rows(T: Array, X: Array) -> None:
    """Solve with the factors T in place, for the columns of X, a whole lane."""
    width = X.shape[1]
    for i in range(X.shape[0]):
        for j in range(i):
            take(X, i * width, X, j * width, T[i][j], width)
    for i in range(X.shape[0] - 1, -1, -1):
        for j in range(i + 1, X.shape[0]):
            take(X, i * width, X, j * width, T[i][j], width)
        for k in range(width):
            X[i][k] *= T[i][i]


def drive_arm(m: Memory, dim: int, g: Scheme, n: int) -> None:
    """Set the arm of node n from its collocation equation, whose right-hand side is in ``g.driven``."""
    d = dim
    b = m.nodes_body[n]
    if m.inertia_turns[b]:
        _solve_transport(g.transport[b], g.driven)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for k in range(d):
            s.end_arm[n][k] = g.driven[i * d + k]


def turn(m: Memory, dim: int, g: Scheme) -> None:
    """Set R, R⁻¹ and ω = R⁻¹Ω of all bodies; the spins in ``x`` are RᵀΩ, which R⁻ᵀ maps to Ω."""
    d = dim
    columns = 1 if d == 2 else 3
    for b in range(m.inertia_mass.size):
        for i in range(g.stages.size):
            for k in range(d):
                for column in range(columns):
                    g.turned[i * d + k][column] = m.at_R[b][k][column]
        if m.inertia_turns[b]:
            _solve_transport_of_rows(g.transport[b], g.turned)
        for i in range(g.stages.size):
            s = stage(g.stages, i)
            for k in range(d):
                for column in range(columns):
                    s.end_R[b][k][column] = g.turned[i * d + k][column]
            if d == 2:
                _invert_in_the_plane(s, b)
            else:
                _invert_in_space(s, b)


def _invert_in_the_plane(s: Memory, b: int) -> None:
    """Set the second column of R from its first, R⁻¹, and both spins, in the plane."""
    R = s.end_R[b]
    inverse = s.trial_inverse[b]
    c = R[0][0]
    z = R[1][0]
    R[0][1] = -z
    R[1][1] = c
    size = 1.0 / (c * c + z * z)
    inverse[0][0] = size * c
    inverse[1][1] = size * c
    inverse[0][1] = size * z
    inverse[1][0] = -size * z
    s.end_w[b][0] = s.stage_spin[b][0]
    s.x_w[b][0] = s.stage_spin[b][0]


def _invert_in_space(s: Memory, b: int) -> None:
    """Set R⁻¹ by cofactors, R⁻¹Ω and RᵀΩ, in space."""
    R = s.end_R[b]
    inverse = s.trial_inverse[b]
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        for column in range(3):
            l = (column + 1) % 3
            n = (column + 2) % 3
            inverse[column][i] = R[j][l] * R[k][n] - R[j][n] * R[k][l]
    size = 1.0 / (R[0][0] * inverse[0][0] + R[0][1] * inverse[1][0] + R[0][2] * inverse[2][0])
    for i in range(3):
        s.end_w[b][i] = 0.0
        s.x_w[b][i] = 0.0
        for j in range(3):
            inverse[i][j] *= size
    for i in range(3):
        for j in range(3):
            s.end_w[b][i] += inverse[i][j] * s.stage_spin[b][j]
            s.x_w[b][i] += R[j][i] * s.stage_spin[b][j]
