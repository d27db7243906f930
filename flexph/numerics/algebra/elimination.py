"""LU factorisation of full matrices with possibly few nonzeros, with row exchanges; dense.py solves with the factor."""

from __future__ import annotations

import cython

from ..arrays import Array
from ..loops.views import LANES as _LANE

if not cython.compiled:
    from math import fabs

    from ..loops.views import smaller_int, subtract, subtract_rows

LANE = cython.declare(cython.Py_ssize_t, _LANE)


DENSE = cython.declare(cython.double, 0.3)
KEPT = cython.declare(cython.double, 0.1)
"""Share of nonzeros above which zeros are not skipped, and relative size of a pivot that is kept."""


def factor(A: Array, pivot: Array, entries: Array, n: int) -> bool:
    """Factor the first n rows and columns of a matrix in place into L U, with row exchanges; False if it is singular.

    Rows must be padded to a multiple of LANE entries. In a matrix with few nonzeros, zeros are skipped; ``entries`` is
    work space. The numbers of exchanged rows are written into ``pivot``.
    """
    count = cython.declare(cython.Py_ssize_t)
    count = 0
    for i in range(n):
        for j in range(n):
            count += A[i][j] != 0.0
    if count > DENSE * n * n:
        return _factor_dense(A, pivot, n)
    return _factor_sparse(A, pivot, entries, n)


def _factor_sparse(A: Array, pivot: Array, entries: Array, n: int) -> bool:
    """Factor A in place without operations on zeros; rows are exchanged for small pivots only. False if singular."""
    count = cython.declare(cython.Py_ssize_t)
    held1 = cython.declare(cython.double)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if fabs(A[i][k]) > fabs(A[p][k]):
                p = i
        if fabs(A[k][k]) >= KEPT * fabs(A[p][k]):
            p = k
        pivot[k] = p
        if p != k:
            for j in range(n):
                held1 = A[k][j]
                A[k][j] = A[p][j]
                A[p][j] = held1
        if not fabs(A[k][k]) > 0.0:
            return False
        inverse = 1.0 / A[k][k]
        count = 0
        row = A[k]
        for j in range(k + 1, n):
            if row[j] != 0.0:
                entries[count] = j
                count += 1
        for i in range(k + 1, n):
            if A[i][k] != 0.0:
                own = A[i]
                share = own[k] * inverse
                own[k] = share
                for e in range(count):
                    own[entries[e]] -= share * row[entries[e]]
    return True


def _factor_dense(A: Array, pivot: Array, n: int) -> bool:
    """Factor A in place by groups of LANE columns, with exchanges of rows; False if A is singular."""
    first = cython.declare(cython.Py_ssize_t)
    held1 = cython.declare(cython.double)
    first = 0
    while first < n:
        end = smaller_int(first + LANE, n)
        for k in range(first, end):
            p = k
            for i in range(k + 1, n):
                if fabs(A[i][k]) > fabs(A[p][k]):
                    p = i
            pivot[k] = p
            if p != k:
                for j in range(n):
                    held1 = A[k][j]
                    A[k][j] = A[p][j]
                    A[p][j] = held1
            if not fabs(A[k][k]) > 0.0:
                return False
            inverse = 1.0 / A[k][k]
            for i in range(k + 1, n):
                A[i][k] *= inverse
                for j in range(k + 1, end):
                    A[i][j] -= A[i][k] * A[k][j]
        _update(A, first, end, n)
        first += LANE
    return True


def _update(A: Array, first: int, end: int, n: int) -> None:
    """Update all columns from ``end`` on for the elimination of the columns ``first`` to ``end`` − 1."""
    width = A.shape[1]
    for i in range(first + 1, end):
        for k in range(first, i):
            subtract(A, i * width + end, A, k * width + end, A[i][k], n - end)
    for i in range(end, n):
        subtract_rows(A, i * width + end, i * width + first, first * width + end, width, n - end)
