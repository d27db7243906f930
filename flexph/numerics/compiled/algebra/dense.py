"""Small full matrices: LU factorisation, and vectors perpendicular to the columns of one by Householder's QR."""

from __future__ import annotations

import math

from ...arrays import Array
from ..kernel import kernel
from ..lanes import brief

DOUBT = 5.0
"""Factor around a limit within which the rank is not decided here."""


@kernel
def perpendicular(A: Array, limit: float, gain: Array, space: Array, out: Array) -> int:
    """Orthonormal rows in ``out`` with out A = 0, A (k, c) overwritten; their number, −1 where the rank is in doubt.

    Columns whose rest is below ``limit`` times the largest one depend on those before. ``gain`` (k,), ``space`` (c,).
    """
    (rows, columns), first, rank = A.shape, 0.0, 0
    for j in range(min(rows, columns)):
        p, size = _longest(A, j)
        if j == 0:
            first = size
        if size <= DOUBT * limit * first:
            if size > limit / DOUBT * first:
                return -1
            break
        for i in range(rows):
            A[i, j], A[i, p] = A[i, p], A[i, j]
        _reflect(A, j, size, gain, space)
        rank += 1
    for k in range(rank, rows):
        y = out[k - rank]
        y[:] = 0.0
        y[k] = 1.0
        for j in range(rank - 1, -1, -1):
            total = 0.0
            for i in range(j, rows):
                total += A[i, j] * y[i]
            for i in range(j, rows):
                y[i] -= gain[j] * total * A[i, j]
    return rows - rank


@kernel
def _longest(A: Array, j: int) -> tuple[int, float]:
    """The longest column from one on, below the rows above, and its length."""
    brief()
    longest, largest = j, 0.0
    for c in range(j, A.shape[1]):
        square = 0.0
        for i in range(j, A.shape[0]):
            square += A[i, c] * A[i, c]
        if square > largest:
            longest, largest = c, square
    return longest, math.sqrt(largest)


@kernel
def _reflect(A: Array, j: int, size: float, gain: Array, space: Array) -> None:
    """Reflect the columns behind one so that its rest, of this size, is one entry; the reflection takes its place."""
    rows, columns = A.shape
    head = A[j, j] + math.copysign(size, A[j, j])
    gain[j] = abs(head) / size
    A[j, j] = 1.0
    for i in range(j + 1, rows):
        A[i, j] /= head
    for c in range(j + 1, columns):
        space[c] = 0.0
    for i in range(j, rows):
        for c in range(j + 1, columns):
            space[c] += A[i, j] * A[i, c]
    for i in range(j, rows):
        factor = gain[j] * A[i, j]
        for c in range(j + 1, columns):
            A[i, c] -= factor * space[c]


@kernel
def factor(A: Array, pivot: Array) -> None:
    """Factor a small matrix in place, with row exchanges; zero pivots leave what is not a number."""
    n = A.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        pivot[k] = p
        if p != k:
            for j in range(n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            A[i, k] *= inverse
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


@kernel
def solve(A: Array, pivot: Array, x: Array) -> None:
    """Solve for one right-hand side in place, by the leading part of A that is as large."""
    n = x.size
    for k in range(n):
        x[k], x[pivot[k]] = x[pivot[k]], x[k]
    for i in range(n):
        for j in range(i):
            x[i] -= A[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= A[i, j] * x[j]
        x[i] /= A[i, i]


@kernel
def solve_many(A: Array, pivot: Array, X: Array) -> None:
    """Solve for many right-hand sides in place."""
    (n, columns) = X.shape
    for k in range(n):
        if pivot[k] != k:
            for c in range(columns):
                X[k, c], X[pivot[k], c] = X[pivot[k], c], X[k, c]
    for i in range(n):
        for j in range(i):
            for c in range(columns):
                X[i, c] -= A[i, j] * X[j, c]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            for c in range(columns):
                X[i, c] -= A[i, j] * X[j, c]
        for c in range(columns):
            X[i, c] /= A[i, i]
