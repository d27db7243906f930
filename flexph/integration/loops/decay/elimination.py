"""Elimination of a banded body in steps that lose energy, and its Schur complement in the border of the Jacobian."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.data import Index

if not cython.compiled:
    from ....numerics.algebra.band import factor as factor_band
    from ....numerics.algebra.band import solve as solve_band
    from ....numerics.algebra.band import solve_many
    from ....numerics.algebra.dense import factor, solve
    from ....numerics.algebra.dense import solve_many as solve_dense
    from ....numerics.loops.views import block, fill, part, subtract
    from ..memory.memory import Memory
    from .banded_jacobian import RATE, border_of, enter


def _matrices(m: Memory, b: int) -> tuple[Array, Index, Array, Array, Array]:
    """Parts of the bordered matrix of body b: band F, pivots, border columns C, transposed border rows R, corner."""
    rows = m.filter_rows[b]
    columns = m.filter_columns[b]
    first = 4 * m.inertia_first[b]
    return (
        block(m.filtering_band, m.filter_band[b], rows, m.filter_stored[b]),
        part(m.filtering_band_pivot, first, first + rows),
        block(m.filtering_reduced, m.filter_reduced[b], rows, columns),
        block(m.filtering_left, m.filter_reduced[b], rows, columns),
        block(m.filtering_corner, m.filter_corner[b], columns, columns),
    )


def _last(m: Memory, dim: int, b: int) -> tuple[Array, Index]:
    """Matrix of the spins and shifts of body b after the elimination of its coordinates, and its pivots."""
    size = 9 if dim == 2 else 18
    pivot = part(m.filtering_last_pivot, b * size, (b + 1) * size)
    return block(m.filtering_last, b * size * size, size, size), pivot


def eliminate_banded(m: Memory, dim: int, b: int, X: Array) -> bool:
    """Factor the band F of the bordered matrix of body b, and eliminate its rows; False if F is singular.

    With the border columns C and border rows R, F⁻¹ C is written into X, and R F⁻¹ C into ``filtering.rest``.
    """
    F, pivot, C, R, D = _matrices(m, b)
    _enter_plain(m, dim, b)
    if not factor_band(F, pivot, m.filter_width[b]):
        return False
    solve_many(F, pivot, m.filter_width[b], C)
    rows = C.shape[0]
    columns = C.shape[1]
    W = block(m.filtering_rest, 0, columns, columns)
    for i in range(columns):
        for j in range(columns):
            W[i][j] = D[i][j]
    for row in range(rows):
        for i in range(columns):
            if R[row][i] != 0.0:
                subtract(W, i * columns, C, row * columns, R[row][i], columns)
    _keep_spins(m, dim, b, W)
    _keep_reduced(m, dim, b, W, X)
    return True


def _enter_plain(m: Memory, dim: int, b: int) -> None:
    """Add those entries of the bordered matrix of body b that a step without energy loss has, too.

    They couple the mean rates u̇̄ of the flexible coordinates with each other, and with ω̄ and φ̄ᵀ. Entries with row and
    column in the border, which includes the masters (flexible coordinates at ports), are left out.
    """
    d = dim
    rows = m.filter_rows[b]
    s = 1 if d == 2 else 3
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        row = m.filter_number[i][RATE]
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            other = m.filter_number[m.inertia_col[e]][RATE]
            if row < rows or other < rows:
                enter(m, b, row, other, m.system_flexible[m.border_place[e]])
        if row < rows:
            for a in range(s):
                enter(m, b, row, rows + a, m.system_col[i][a])
                enter(m, b, rows + a, row, m.system_row_w[i][a])
            for l in range(d):
                enter(m, b, row, rows + s + l, m.inertia_mean[i][l])
                enter(m, b, rows + s + l, row, -m.inertia_mean[i][l])


def _keep_spins(m: Memory, dim: int, b: int, W: Array) -> None:
    """Eliminate the spins and shifts of body b from its border W.

    The factors are stored; the solutions overwrite the rows of spins and shifts in W.
    """
    A, pivot = _last(m, dim, b)
    first = border_of(m, dim, b) - m.filter_rows[b]
    size = A.shape[0]
    for i in range(size):
        for j in range(size):
            A[i][j] = W[first + i][first + j]
    factor(A, pivot)
    solve_dense(A, pivot, part(W, first, first + size))
    for i in range(first):
        for k in range(size):
            value = W[i][first + k]
            for j in range(first):
                W[i][j] -= value * W[first + k][j]


def _keep_reduced(m: Memory, dim: int, b: int, W: Array, X: Array) -> None:
    """Write the rows of F⁻¹ C for the inner coordinates of body b into X, without the columns of spins and shifts.

    Spins and shifts are eliminated from these rows by their solutions, which :func:`_keep_spins` left in W.
    """
    both1 = _matrices(m, b)
    C = both1[2]
    first = border_of(m, dim, b) - m.filter_rows[b]
    size = 9 if dim == 2 else 18
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        row = m.border_inner[i]
        place = m.filter_number[i][RATE]
        if row >= 0:
            for j in range(first):
                value = C[place][j]
                for k in range(size):
                    value -= C[place][first + k] * W[first + k][j]
                X[row][j] = value


def solve_banded(m: Memory, dim: int, b: int, inner: Array) -> None:
    """Solve for the inner coordinates of body b in place, while the other unknowns are zero.

    Their effect on the rows of the border of the Jacobian is written to ``filtering.done``.
    """
    F, pivot, C, R, D = _matrices(m, b)
    A, last_pivot = _last(m, dim, b)
    rows = C.shape[0]
    size = A.shape[0]
    first = border_of(m, dim, b) - rows
    y = part(m.filtering_inner, 0, rows)
    g = part(m.filtering_border, 0, size)
    fill(y, 0.0)
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        if m.border_inner[i] >= 0:
            y[m.filter_number[i][RATE]] = inner[m.border_inner[i]]
    solve_band(F, pivot, m.filter_width[b], y)
    fill(g, 0.0)
    for row in range(rows):
        for k in range(size):
            g[k] -= R[row][first + k] * y[row]
    solve(A, last_pivot, g)
    fill(m.filtering_done, 0.0)
    for k in range(first):
        for j in range(size):
            m.filtering_done[k] += D[k][first + j] * g[j]
    for row in range(rows):
        for k in range(size):
            y[row] -= C[row][first + k] * g[k]
        for k in range(first):
            m.filtering_done[k] += R[row][k] * y[row]
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        if m.border_inner[i] >= 0:
            inner[m.border_inner[i]] = y[m.filter_number[i][RATE]]
