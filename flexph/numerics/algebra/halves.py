"""Banded LU factorisation from both ends of the matrix, in two threads where it is large.

Of N unknowns with half bandwidth w the first ones (T) and the last ones (B) are coupled only through w unknowns in the
middle (S):

    A = [[T, T_S, 0], [S_T, S, S_B], [0, B_S, B]].

T is eliminated downwards and B upwards, with exchanges among their own rows; then S − S_T T⁻¹ T_S − S_B B⁻¹ B_S is
factored. The two halves write to separate memory, so that one thread and two give the same bits (van der Vorst,
Parallel Computing 5 (1987) 45). T and B must be regular.

The rows of T and S are stored as in :mod:`.band`. They are followed by the rows of B from the last one upwards, and by
w rows for the contribution of B to S, also upwards.
"""

from __future__ import annotations

import cython

from ..arrays import Array

if not cython.compiled:
    from ..loops.threads import run_both
    from ..loops.views import part
    from .band import backward, factor, factor_first, forward, solve
    from .ends import EliminatedEnd

LEAST_WORK = cython.declare(cython.Py_ssize_t, 300_000)
LEAST_SOLVED = cython.declare(cython.Py_ssize_t, 50_000)
"""Sizes N w² from which on a matrix has halves, and N w from which on threads solve: starting one takes some 20 µs."""


def has_halves(N: int, w: int) -> bool:
    """True if a matrix with N rows and half bandwidth w is large enough to be factored from both ends."""
    return 0 < 4 * w <= N and N * w * w >= LEAST_WORK


def rows_of_halves(N: int, w: int) -> int:
    """Number of rows in which a matrix with N rows and half bandwidth w is stored, by halves if it is large enough."""
    return N + w if has_halves(N, w) else N


def _first(N: int, w: int) -> int:
    """Number of unknowns in T, the part that is eliminated from the first row on."""
    return (N - w) // 2


def is_of_second(N: int, w: int, i: int, j: int) -> bool:
    """True if entry (i, j) is stored with the rows of B."""
    end = _first(N, w) + w
    return i >= end or j >= end


def rows_of_first(N: int, w: int) -> int:
    """Number of stored rows of T and S, which precede those of B."""
    return _first(N, w) + w


def add_entry(A: Array, N: int, w: int, i: int, j: int, value: float) -> None:
    """Add a value to entry (i, j) of a matrix stored by halves."""
    if is_of_second(N, w, i, j):
        A[_first(N, w) + w + N - 1 - i][i - j + w] += value
    else:
        A[i][j - i + w] += value


def _first_end(A: Array, pivot: Array, w: int, x: Array) -> EliminatedEnd:
    """Rows of T and S, as views of A and ``pivot``, with their part of the right-hand side x."""
    end = rows_of_first(A.shape[0] - w, w)
    return EliminatedEnd(part(A, 0, end), part(pivot, 0, end), w, end - w, part(x, 0, end))


def _second_end(A: Array, pivot: Array, w: int, other: Array) -> EliminatedEnd:
    """Rows of B and of its contribution to S, as views of A and ``pivot``, with the right-hand side in ``other``."""
    end = rows_of_first(A.shape[0] - w, w)
    rows = A.shape[0]
    return EliminatedEnd(part(A, end, rows), part(pivot, end, rows), w, rows - w - end, part(other, 0, rows - end))


def factor_halves(A: Array, pivot: Array, w: int, x: Array, other: Array, threads: int) -> bool:
    """Factor a matrix stored by halves in place; returns False if a pivot is zero or not finite.

    ``x`` (N,) and ``other`` (at least N) are work space.
    """
    first = _first_end(A, pivot, w, x)
    second = _second_end(A, pivot, w, other)
    run_both(_eliminate, first, second, threads > 1)
    if first.pivot[first.eliminated] == 0 or second.pivot[second.eliminated] == 0:
        return False
    last = second.eliminated + w - 1
    for i in range(w):
        for j in range(w):
            A[first.eliminated + i][j - i + w] += second.matrix[last - i][i - j + w]
    return factor(_middle(A, w), part(pivot, first.eliminated, first.eliminated + w), w)


def solve_halves(A: Array, pivot: Array, w: int, x: Array, other: Array, threads: int) -> None:
    """Replace the right-hand side x (N,) by the solution, with the factor of :func:`factor_halves`.

    ``other`` (at least N) is work space.
    """
    first = _first_end(A, pivot, w, x)
    second = _second_end(A, pivot, w, other)
    N = x.size
    last = second.eliminated + w - 1
    apart = cython.declare(cython.bint, threads > 1 and N * w >= LEAST_SOLVED)
    for k in range(second.eliminated):
        other[k] = x[N - 1 - k]
    for k in range(w):
        other[second.eliminated + k] = 0.0
    run_both(_go_forward, first, second, apart)
    for k in range(w):
        x[first.eliminated + k] += other[last - k]
    solve(
        _middle(A, w),
        part(pivot, first.eliminated, first.eliminated + w),
        w,
        part(x, first.eliminated, first.eliminated + w),
    )
    for k in range(w):
        other[last - k] = x[first.eliminated + k]
    run_both(_go_backward, first, second, apart)
    for k in range(second.eliminated):
        x[N - 1 - k] = other[k]


def _middle(A: Array, w: int) -> Array:
    """Rows of S, the unknowns in the middle, as a view of A."""
    p = _first(A.shape[0] - w, w)
    return part(A, p, p + w)


def _eliminate(end: EliminatedEnd) -> None:
    """Eliminate the unknowns of an end, T or B, but not those of S; write into ``pivot`` whether it succeeded."""
    end.pivot[end.eliminated] = factor_first(end.matrix, end.pivot, end.half, end.eliminated)


def _go_forward(end: EliminatedEnd) -> None:
    """Forward substitution for the unknowns of an end, T or B, in its right-hand side."""
    forward(end.matrix, end.pivot, end.half, end.x, end.eliminated)


def _go_backward(end: EliminatedEnd) -> None:
    """Back substitution for the unknowns of an end, T or B, from the solution for S, which ``end.x`` contains."""
    backward(end.matrix, end.half, end.x, end.eliminated)
