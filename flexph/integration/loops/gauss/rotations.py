"""Rotations at the nodes of a step in loops: the collocation of Ṙ = Ω × R is solved by (1 − hA[Ω]×)⁻¹."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ..memory.memory import Memory, stage
    from .scheme import Scheme


LEAST_PIVOT = cython.declare(cython.double, 1e-3)
"""Determinant of a diagonal block of 1 − hA[Ω]× in its factorisation below which a step turns too far."""


def factor_rotations(dim: int, g: Scheme, h: float) -> bool:
    """Factor 1 − hA[Ω]× of all bodies that turn, by blocks of the nodes; False if a diagonal block is nearly singular.

    A is the Gauss matrix. Inverses of the diagonal blocks are stored in their place.
    """
    d = dim
    for b in range(g.transport.shape[0]):
        if not stage(g.stages, 0).inertia_turns[b]:
            continue
        T = g.transport[b]
        for j in range(g.stages.size):
            s = stage(g.stages, j)
            for i in range(g.stages.size):
                _spin_block(dim, h * g.a[i][j], s.stage_spin[b], T, i * d, j * d)
        for k in range(g.driven.size):
            T[k][k] += 1.0
        for k in range(g.stages.size):
            if not _invert_block(dim, T, k * d):
                return False
            for i in range(k + 1, g.stages.size):
                _multiply_block(dim, T, i * d, k * d)
                for j in range(k + 1, g.stages.size):
                    _subtract_product(dim, T, i * d, k * d, j * d)
    return True


def _spin_block(dim: int, factor: float, spin: Array, out: Array, row: int, column: int) -> None:
    """Write the block −factor·[Ω]×, with the spin Ω, into the matrix ``out`` from entry (row, column) on."""
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


def _invert_block(dim: int, T: Array, k: int) -> bool:
    """Invert the diagonal block of T from entry (k, k) on, in place, by cofactors; False if it is nearly singular."""
    if dim == 2:
        size = T[k][k] * T[k + 1][k + 1] - T[k][k + 1] * T[k + 1][k]
        if not fabs(size) > LEAST_PIVOT:
            return False
        size = 1.0 / size
        held = T[k][k]
        T[k][k] = size * T[k + 1][k + 1]
        T[k + 1][k + 1] = size * held
        T[k][k + 1] *= -size
        T[k + 1][k] *= -size
        return True
    a0 = T[k][k]
    a1 = T[k][k + 1]
    a2 = T[k][k + 2]
    b0 = T[k + 1][k]
    b1 = T[k + 1][k + 1]
    b2 = T[k + 1][k + 2]
    c0 = T[k + 2][k]
    c1 = T[k + 2][k + 1]
    c2 = T[k + 2][k + 2]
    first = b1 * c2 - b2 * c1
    second = b2 * c0 - b0 * c2
    third = b0 * c1 - b1 * c0
    size = a0 * first + a1 * second + a2 * third
    if not fabs(size) > LEAST_PIVOT:
        return False
    size = 1.0 / size
    T[k][k] = size * first
    T[k][k + 1] = size * (a2 * c1 - a1 * c2)
    T[k][k + 2] = size * (a1 * b2 - a2 * b1)
    T[k + 1][k] = size * second
    T[k + 1][k + 1] = size * (a0 * c2 - a2 * c0)
    T[k + 1][k + 2] = size * (a2 * b0 - a0 * b2)
    T[k + 2][k] = size * third
    T[k + 2][k + 1] = size * (a1 * c0 - a0 * c1)
    T[k + 2][k + 2] = size * (a0 * b1 - a1 * b0)
    return True


def _multiply_block(dim: int, T: Array, row: int, k: int) -> None:
    """Multiply the block of T that begins at (row, k), from the right, by the diagonal block at (k, k)."""
    for i in range(row, row + dim):
        x = T[i][k]
        y = T[i][k + 1]
        if dim == 2:
            T[i][k] = x * T[k][k] + y * T[k + 1][k]
            T[i][k + 1] = x * T[k][k + 1] + y * T[k + 1][k + 1]
        else:
            z = T[i][k + 2]
            T[i][k] = x * T[k][k] + y * T[k + 1][k] + z * T[k + 2][k]
            T[i][k + 1] = x * T[k][k + 1] + y * T[k + 1][k + 1] + z * T[k + 2][k + 1]
            T[i][k + 2] = x * T[k][k + 2] + y * T[k + 1][k + 2] + z * T[k + 2][k + 2]


def _subtract_product(dim: int, T: Array, row: int, k: int, column: int) -> None:
    """Subtract the product of the blocks of T at (row, k) and (k, column) from the block at (row, column).

    Local variables, here and below, tell the compiler that no store changes what is read again.
    """
    for i in range(row, row + dim):
        t = T[i]
        x = t[k]
        y = t[k + 1]
        if dim == 2:
            for j in range(column, column + 2):
                t[j] -= x * T[k][j] + y * T[k + 1][j]
        else:
            z = t[k + 2]
            for j in range(column, column + 3):
                t[j] -= x * T[k][j] + y * T[k + 1][j] + z * T[k + 2][j]


def _solve_transport(dim: int, T: Array, x: Array) -> None:
    """Solve with the factors T of a body in place: the right-hand side x becomes the solution."""
    stages = x.size // dim
    for i in range(stages):
        for k in range(i):
            _subtract_block(dim, T, i * dim, k * dim, x)
    for i in range(stages - 1, -1, -1):
        row = i * dim
        for k in range(i + 1, stages):
            _subtract_block(dim, T, row, k * dim, x)
        first = x[row]
        second = x[row + 1]
        if dim == 2:
            x[row] = T[row][row] * first + T[row][row + 1] * second
            x[row + 1] = T[row + 1][row] * first + T[row + 1][row + 1] * second
        else:
            third = x[row + 2]
            for j in range(row, row + 3):
                x[j] = T[j][row] * first + T[j][row + 1] * second + T[j][row + 2] * third


def _subtract_block(dim: int, T: Array, row: int, k: int, x: Array) -> None:
    """Subtract T_rk x_k from x_r, with the block of T that begins at (row, k) and the parts of x at ``row`` and k."""
    first = x[k]
    second = x[k + 1]
    if dim == 2:
        for i in range(row, row + 2):
            t = T[i]
            x[i] -= t[k] * first + t[k + 1] * second
    else:
        third = x[k + 2]
        for i in range(row, row + 3):
            t = T[i]
            x[i] -= t[k] * first + t[k + 1] * second + t[k + 2] * third


def drive_arm(m: Memory, dim: int, g: Scheme, n: int) -> None:
    """Solve the collocation equation of the arm of node n at all nodes of the step.

    Its right-hand side is in ``g.driven``.
    """
    d = dim
    b = m.nodes_body[n]
    if m.inertia_turns[b]:
        _solve_transport(dim, g.transport[b], g.driven)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        for k in range(d):
            s.end_arm[n][k] = g.driven[i * d + k]


def turn(m: Memory, dim: int, g: Scheme) -> None:
    """Compute R, R⁻¹ and ω = R⁻¹Ω of all bodies at the nodes of the step.

    The spins in ``x`` become RᵀΩ, which R⁻ᵀ maps to Ω; it differs from R⁻¹Ω, as the collocated R is not exactly
    orthogonal.
    """
    d = dim
    for b in range(m.inertia_mass.size):
        for column in range(1 if d == 2 else 3):
            for i in range(g.stages.size):
                for k in range(d):
                    g.driven[i * d + k] = m.at_R[b][k][column]
            if m.inertia_turns[b]:
                _solve_transport(dim, g.transport[b], g.driven)
            for i in range(g.stages.size):
                s = stage(g.stages, i)
                for k in range(d):
                    s.end_R[b][k][column] = g.driven[i * d + k]
        for i in range(g.stages.size):
            s = stage(g.stages, i)
            if d == 2:
                _invert_in_the_plane(s, b)
            else:
                _invert_in_space(s, b)


def _invert_in_the_plane(s: Memory, b: int) -> None:
    """Compute the second column of R of body b from the first, R⁻¹, and the spins R⁻¹Ω and RᵀΩ, in the plane."""
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
    """Compute R⁻¹ of body b by cofactors, and the spins R⁻¹Ω and RᵀΩ, in space."""
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
    x = s.stage_spin[b][0]
    y = s.stage_spin[b][1]
    z = s.stage_spin[b][2]
    for i in range(3):
        for j in range(3):
            inverse[i][j] *= size
    for i in range(3):
        s.end_w[b][i] = inverse[i][0] * x + inverse[i][1] * y + inverse[i][2] * z
        s.x_w[b][i] = R[0][i] * x + R[1][i] * y + R[2][i] * z
