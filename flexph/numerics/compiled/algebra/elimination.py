"""LU factorisation of full matrices that may have few entries, with row exchanges; dense.py solves with the factor."""

from __future__ import annotations

from ...arrays import Array
from ..kernel import kernel
from ..lanes import LANE, take, take_rows

DENSE, KEPT = 0.3, 0.1
"""Share of entries from which on zeros are not looked for, and size of a pivot over the largest that stays."""


@kernel
def factor(A: Array, pivot: Array, entries: Array, n: int) -> bool:
    """Factor the leading (n, n) of a matrix in place, with row exchanges; False where singular.

    Rows fill up their last lane at least. Of a matrix with few entries those that are zero are passed over; ``entries``
    is work space.
    """
    count = 0
    for i in range(n):
        for j in range(n):
            count += A[i, j] != 0.0
    if count > DENSE * n * n:
        return _factor_dense(A, pivot, n)
    return _factor_sparse(A, pivot, entries, n)


@kernel
def _factor_sparse(A: Array, pivot: Array, entries: Array, n: int) -> bool:
    """The same entry by entry, with the row in its place as long as its pivot is not small."""
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if abs(A[k, k]) >= KEPT * abs(A[p, k]):
            p = k
        pivot[k] = p
        if p != k:
            for j in range(n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
        if not abs(A[k, k]) > 0.0:
            return False
        inverse, count, row = 1.0 / A[k, k], 0, A[k]
        for j in range(k + 1, n):
            if row[j] != 0.0:
                entries[count] = j
                count += 1
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                own = A[i]
                share = own[k] * inverse
                own[k] = share
                for e in range(count):
                    own[entries[e]] -= share * row[entries[e]]
    return True


@kernel
def _factor_dense(A: Array, pivot: Array, n: int) -> bool:
    """The same by a lane of columns."""
    for first in range(0, n, LANE):
        end = min(first + LANE, n)
        for k in range(first, end):
            p = k
            for i in range(k + 1, n):
                if abs(A[i, k]) > abs(A[p, k]):
                    p = i
            pivot[k] = p
            if p != k:
                for j in range(n):
                    A[k, j], A[p, j] = A[p, j], A[k, j]
            if not abs(A[k, k]) > 0.0:
                return False
            inverse = 1.0 / A[k, k]
            for i in range(k + 1, n):
                A[i, k] *= inverse
                for j in range(k + 1, end):
                    A[i, j] -= A[i, k] * A[k, j]
        _update(A, first, end, n)
    return True


@kernel
def _update(A: Array, first: int, end: int, n: int) -> None:
    """Take factored columns from those behind them."""
    width = A.shape[1]
    for i in range(first + 1, end):
        for k in range(first, i):
            take(A, i * width + end, A, k * width + end, A[i, k], n - end)
    for i in range(end, n):
        take_rows(A, i * width + end, i * width + first, first * width + end, width, n - end)
