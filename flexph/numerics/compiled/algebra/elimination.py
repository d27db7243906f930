"""LU factorisation of full matrices that may have few entries, with row exchanges; dense.py solves with the factor."""

from __future__ import annotations

from ...arrays import Array
from ..kernel import kernel

DENSE, KEPT = 0.3, 0.1
"""Share of entries from which on zeros are not looked for, and size of a pivot over the largest that stays."""


@kernel
def factor(A: Array, pivot: Array, entries: Array, n: int) -> bool:
    """Factor the leading (n, n) of a matrix in place, with row exchanges; False where singular.

    Of a matrix with few entries those that are zero are passed over; ``entries`` is work space.
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
    """The same by four columns."""
    for first in range(0, n, 4):
        end = min(first + 4, n)
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
        if end < n:
            _update(A, first, end, n)
    return True


@kernel
def _update(A: Array, first: int, end: int, n: int) -> None:
    """Take four factored columns from those behind them."""
    for k in range(first + 1, end):
        for i in range(first, k):
            share = A[k, i]
            for j in range(end, n):
                A[k, j] -= share * A[i, j]
    u, v, w, z = A[first], A[first + 1], A[first + 2], A[first + 3]
    for i in range(end, n):
        row = A[i]
        a, b, c, d = row[first], row[first + 1], row[first + 2], row[first + 3]
        for j in range(end, n):
            row[j] -= a * u[j] + b * v[j] + c * w[j] + d * z[j]
