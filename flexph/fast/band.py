"""Banded LU factorisation with partial pivoting, in loops that a compiler makes short work of.

Row i of a matrix of bandwidth w is stored in ``A[i]``, width 3w + 1, entry (i, j) at ``j − i + w``; the last w places
take what row exchanges bring in. LAPACK's ``dgbtrf`` does the same and spends, on matrices as narrow as these, most of
its time in calls.
"""

from __future__ import annotations

from ..compiling import in_place
from ..space import Array
from .data import Index


@in_place
def factor(A: Array, pivot: Index, w: int) -> bool:
    """Factor in place, with reciprocal pivots; False where one is zero or not finite."""
    n, reach = A.shape[0], 0
    for i in range(n):
        last = min(i + w, n - 1)
        p, largest = i, abs(A[i, w])
        for r in range(i + 1, last + 1):
            size = abs(A[r, i - r + w])
            if size > largest:
                p, largest = r, size
        pivot[i] = p
        if not 0.0 < largest < 1e300:
            return False
        reach = max(reach, min(p + w, n - 1))
        if p != i:
            for j in range(i, reach + 1):
                A[i, j - i + w], A[p, j - p + w] = A[p, j - p + w], A[i, j - i + w]
        inverse = 1.0 / A[i, w]
        for r in range(i + 1, last + 1):
            factor = A[r, i - r + w] * inverse
            A[r, i - r + w] = factor
            if factor != 0.0:
                for j in range(1, reach - i + 1):
                    A[r, i + j - r + w] -= factor * A[i, j + w]
        A[i, w] = inverse
    return True


@in_place
def solve(A: Array, pivot: Index, w: int, x: Array) -> None:
    """Solve A x = b in place."""
    n = A.shape[0]
    for i in range(n):
        p = pivot[i]
        if p != i:
            x[i], x[p] = x[p], x[i]
        if x[i] != 0.0:
            for r in range(i + 1, min(i + w, n - 1) + 1):
                x[r] -= A[r, i - r + w] * x[i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(1, min(2 * w, n - 1 - i) + 1):
            total -= A[i, j + w] * x[i + j]
        x[i] = total * A[i, w]


@in_place
def solve_many(A: Array, pivot: Index, w: int, X: Array) -> None:
    """Solve A X = B in place, X (n, k)."""
    n, k = X.shape
    for i in range(n):
        p = pivot[i]
        if p != i:
            for c in range(k):
                X[i, c], X[p, c] = X[p, c], X[i, c]
        for r in range(i + 1, min(i + w, n - 1) + 1):
            factor = A[r, i - r + w]
            if factor != 0.0:
                for c in range(k):
                    X[r, c] -= factor * X[i, c]
    for i in range(n - 1, -1, -1):
        for j in range(1, min(2 * w, n - 1 - i) + 1):
            factor = A[i, j + w]
            if factor != 0.0:
                for c in range(k):
                    X[i, c] -= factor * X[i + j, c]
        for c in range(k):
            X[i, c] *= A[i, w]
