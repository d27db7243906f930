"""Elimination of a banded body in steps that lose energy: what its coordinates do by themselves and by its border."""

from __future__ import annotations

from numpy import int64

from ....numerics.arrays import Array
from ....numerics.compiled.algebra.band import factor as factor_band
from ....numerics.compiled.algebra.band import solve as solve_band
from ....numerics.compiled.algebra.band import solve_many
from ....numerics.compiled.algebra.dense import factor, solve
from ....numerics.compiled.algebra.dense import solve_many as solve_dense
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import take
from ..memory.data import Index
from ..memory.memory import Memory, block
from .banded_jacobian import RATE, border_of, enter


@kernel
def _matrices(m: Memory, b: int) -> tuple[Array, Index, Array, Array, Array]:
    """The band of a body and its pivots, border columns, border rows (by columns), and what these have in common."""
    rows, columns, first = m.filter_rows[b], m.filter_columns[b], 4 * int64(m.inertia_first[b])
    return (
        block(m.filtering_band, m.filter_band[b], rows, m.filter_stored[b]),
        m.filtering_band_pivot[first : first + rows],
        block(m.filtering_reduced, m.filter_reduced[b], rows, columns),
        block(m.filtering_left, m.filter_reduced[b], rows, columns),
        block(m.filtering_corner, m.filter_corner[b], columns, columns),
    )


@kernel
def _last(m: Memory, axes: tuple[int, ...], b: int) -> tuple[Array, Index]:
    """The matrix of spins and shifts alone, and its pivots."""
    size = 9 if len(axes) == 2 else 18
    pivot = m.filtering_last_pivot[b * size : (b + 1) * size]
    return block(m.filtering_last, b * size * size, size, size), pivot


@kernel
def eliminate_banded(m: Memory, axes: tuple[int, ...], b: int, X: Array) -> bool:
    """Factor a body, with F⁻¹ C in X, and R F⁻¹ C in ``filtering.rest``; False where it is singular."""
    F, pivot, C, R, D = _matrices(m, b)
    _enter_plain(m, axes, b)
    if not factor_band(F, pivot, m.filter_width[b]):
        return False
    solve_many(F, pivot, m.filter_width[b], C)
    rows, columns = C.shape
    W = block(m.filtering_rest, 0, columns, columns)
    for i in range(columns):
        for j in range(columns):
            W[i, j] = D[i, j]
    for row in range(rows):
        for i in range(columns):
            if R[row, i] != 0.0:
                take(W, i * columns, C, row * columns, R[row, i], columns)
    _keep_spins(m, axes, b, W)
    _keep_reduced(m, axes, b, W, X)
    return True


@kernel
def _enter_plain(m: Memory, axes: tuple[int, ...], b: int) -> None:
    """What the matrix of a body has without loss, but for masters among each other and with the border."""
    d, rows = len(axes), m.filter_rows[b]
    s = 1 if d == 2 else 3
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        own = m.filter_number[i, RATE]
        for e in range(m.inertia_ptr[i], m.inertia_ptr[i + 1]):
            other = m.filter_number[m.inertia_col[e], RATE]
            if own < rows or other < rows:
                enter(m, b, own, other, m.system_flexible[m.border_place[e]])
        if own < rows:
            for a in range(s):
                enter(m, b, own, rows + a, m.system_col[i, a])
                enter(m, b, rows + a, own, m.system_row_w[i, a])
            for l in range(d):
                enter(m, b, own, rows + s + l, m.inertia_mean[i, l])
                enter(m, b, rows + s + l, own, -m.inertia_mean[i, l])


@kernel
def _keep_spins(m: Memory, axes: tuple[int, ...], b: int, W: Array) -> None:
    """Eliminate spins and shifts from the border: their factors are kept, what they do stands in their rows of W."""
    A, pivot = _last(m, axes, b)
    first, size = border_of(m, axes, b) - m.filter_rows[b], A.shape[0]
    for i in range(size):
        for j in range(size):
            A[i, j] = W[first + i, first + j]
    factor(A, pivot)
    solve_dense(A, pivot, W[first : first + size])
    for i in range(first):
        for k in range(size):
            value = W[i, first + k]
            for j in range(first):
                W[i, j] -= value * W[first + k, j]


@kernel
def _keep_reduced(m: Memory, axes: tuple[int, ...], b: int, W: Array, X: Array) -> None:
    """F⁻¹ C of the inner coordinates, with spins and shifts eliminated."""
    _, _, C, _, _ = _matrices(m, b)
    first = border_of(m, axes, b) - m.filter_rows[b]
    size = 9 if len(axes) == 2 else 18
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        row, own = m.border_inner[i], m.filter_number[i, RATE]
        if row >= 0:
            for j in range(first):
                value = C[own, j]
                for k in range(size):
                    value -= C[own, first + k] * W[first + k, j]
                X[row, j] = value


@kernel
def solve_banded(m: Memory, axes: tuple[int, ...], b: int, inner: Array) -> None:
    """Solve for the inner coordinates of a body in place, the border held; ``filtering.done``: what they do there."""
    F, pivot, C, R, D = _matrices(m, b)
    A, last_pivot = _last(m, axes, b)
    rows, size = C.shape[0], A.shape[0]
    first, y, g = border_of(m, axes, b) - rows, m.filtering_inner[:rows], m.filtering_border[:size]
    y[:] = 0.0
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        if m.border_inner[i] >= 0:
            y[m.filter_number[i, RATE]] = inner[m.border_inner[i]]
    solve_band(F, pivot, m.filter_width[b], y)
    g[:] = 0.0
    for row in range(rows):
        for k in range(size):
            g[k] -= R[row, first + k] * y[row]
    solve(A, last_pivot, g)
    m.filtering_done[:] = 0.0
    for k in range(first):
        for j in range(size):
            m.filtering_done[k] += D[k, first + j] * g[j]
    for row in range(rows):
        for k in range(size):
            y[row] -= C[row, first + k] * g[k]
        for k in range(first):
            m.filtering_done[k] += R[row, k] * y[row]
    for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
        if m.border_inner[i] >= 0:
            inner[m.border_inner[i]] = y[m.filter_number[i, RATE]]
