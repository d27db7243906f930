"""Full matrices: products, LU factorisation, least squares and null spaces by Householder QR.

A library would be faster for hundreds of rows, but with other round-off on each processor and number of threads.
"""

from __future__ import annotations

import cython

from ..arrays import Array

if not cython.compiled:
    from math import copysign, fabs, sqrt

    from ..loops.views import add_product, add_row, fill, smaller_int


DOUBT = cython.declare(cython.double, 5.0)
"""Factor around the limit within which the rank counts as undecided."""
BLOCK = cython.declare(cython.Py_ssize_t, 32)
"""Number of columns, or rows, that are eliminated at once."""


def perpendicular(A: Array, limit: float, gain: Array, space: Array, out: Array) -> int:
    """Write an orthonormal basis of the left null space, out A = 0, to the rows of ``out``; returns their number.

    A column counts as dependent on those before it if its remainder is below ``limit`` times the largest column.
    Returns −1 if a remainder is too near to this limit. A (k, c) is overwritten; ``gain`` (k,) and ``space`` (c,) are
    work space.
    """
    held1 = cython.declare(cython.double)
    rank = cython.declare(cython.Py_ssize_t)
    rows = A.shape[0]
    columns = A.shape[1]
    first = 0.0
    rank = 0
    for j in range(smaller_int(rows, columns)):
        p, size = _longest(A, j)
        if j == 0:
            first = size
        if size <= DOUBT * limit * first:
            if size > limit / DOUBT * first:
                return -1
            break
        for i in range(rows):
            held1 = A[i][j]
            A[i][j] = A[i][p]
            A[i][p] = held1
        _reflect(A, j, size, gain, space)
        rank += 1
    for k in range(rank, rows):
        y = out[k - rank]
        fill(y, 0.0)
        y[k] = 1.0
        for j in range(rank - 1, -1, -1):
            total = 0.0
            for i in range(j, rows):
                total += A[i][j] * y[i]
            for i in range(j, rows):
                y[i] -= gain[j] * total * A[i][j]
    return rows - rank


def _longest(A: Array, j: int) -> tuple[int, float]:
    """Index and length of the longest among the columns j, j + 1, … of A, over the rows j, j + 1, … only."""
    longest = j
    largest = 0.0
    for c in range(j, A.shape[1]):
        square = 0.0
        for i in range(j, A.shape[0]):
            square += A[i][c] * A[i][c]
        if square > largest:
            longest = c
            largest = square
    return longest, sqrt(largest)


def _reflect(A: Array, j: int, size: float, gain: Array, space: Array) -> None:
    """Eliminate the entries below the diagonal in column j of A by a Householder reflection of the columns j, j + 1, ….

    ``size`` is the length of column j from row j on. The vector of the reflection is stored in this column, the factor
    of the reflection in ``gain``.
    """
    rows = A.shape[0]
    columns = A.shape[1]
    head = A[j][j] + copysign(size, A[j][j])
    gain[j] = fabs(head) / size
    A[j][j] = 1.0
    for i in range(j + 1, rows):
        A[i][j] /= head
    for c in range(j + 1, columns):
        space[c] = 0.0
    for i in range(j, rows):
        for c in range(j + 1, columns):
            space[c] += A[i][j] * A[i][c]
    for i in range(j, rows):
        factor = gain[j] * A[i][j]
        for c in range(j + 1, columns):
            A[i][c] -= factor * space[c]


def least_squares(A: Array, gain: Array, space: Array, x: Array) -> None:
    """Write the x that minimises |B x − b| into ``x``, by Householder QR for B (m, n) of rank n.

    A = [B b] (m, n + 1) is overwritten. ``gain`` (n,) and ``space`` (n + 1,) are work space.
    """
    n = x.size
    for j in range(n):
        square = 0.0
        for i in range(j, A.shape[0]):
            square += A[i][j] * A[i][j]
        x[j] = -copysign(sqrt(square), A[j][j])  # of the diagonal of R, as the reflector takes its place
        _reflect(A, j, sqrt(square), gain, space)
    for j in range(n - 1, -1, -1):
        total = A[j][n]
        for k in range(j + 1, n):
            total -= A[j][k] * x[k]
        x[j] = total / x[j]


def factor(A: Array, pivot: Array) -> None:
    """Factor a square matrix in place into L U with row exchanges, whose numbers are written into ``pivot``.

    Zero pivots give NaN or infinity. Columns are eliminated in blocks, with the operations on each entry in the same
    order as column by column.
    """
    n = A.shape[0]
    for number in range((n + BLOCK - 1) // BLOCK):
        first = number * BLOCK
        last = smaller_int(first + BLOCK, n)
        _factor_columns(A, pivot, first, last)
        if last < n:
            for i in range(first + 1, last):
                add_product(A, i * n + last, -1.0, A, i * n + first, A, first * n + last, 1, i - first, n - last)
            corner = last * n + first
            add_product(
                A, corner + last - first, -1.0, A, corner, A, first * n + last, n - last, last - first, n - last
            )


def _factor_columns(A: Array, pivot: Array, first: int, last: int) -> None:
    """Eliminate the columns from ``first`` up to ``last``, which is not included, below the diagonal.

    Whole rows are exchanged; other columns are not updated.
    """
    held1 = cython.declare(cython.double)
    n = A.shape[0]
    for k in range(first, last):
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
        inverse = 1.0 / A[k][k]
        for i in range(k + 1, n):
            A[i][k] *= inverse
            for j in range(k + 1, last):
                A[i][j] -= A[i][k] * A[k][j]


def solve(A: Array, pivot: Array, x: Array) -> None:
    """Replace the right-hand side x (n,) by the solution, with the factor in the first n rows and columns of A."""
    held1 = cython.declare(cython.double)
    n = x.size
    for k in range(n):
        held1 = x[k]
        x[k] = x[pivot[k]]
        x[pivot[k]] = held1
    for i in range(n):
        for j in range(i):
            x[i] -= A[i][j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= A[i][j] * x[j]
        x[i] /= A[i][i]


def solve_many(A: Array, pivot: Array, X: Array) -> None:
    """Replace the right-hand sides X (n, k) by the solutions, with the factor in the first n rows and columns of A."""
    held1 = cython.declare(cython.double)
    n = X.shape[0]
    columns = X.shape[1]
    wide = A.shape[1]
    for k in range(n):
        if pivot[k] != k:
            for c in range(columns):
                held1 = X[k][c]
                X[k][c] = X[pivot[k]][c]
                X[pivot[k]][c] = held1
    for number in range((n + BLOCK - 1) // BLOCK):
        first = number * BLOCK
        last = smaller_int(first + BLOCK, n)
        add_product(X, first * columns, -1.0, A, first * wide, X, 0, last - first, first, columns)
        for i in range(first, last):
            for j in range(first, i):
                for c in range(columns):
                    X[i][c] -= A[i][j] * X[j][c]
    for number in range((n + BLOCK - 1) // BLOCK - 1, -1, -1):
        first = number * BLOCK
        last = smaller_int(first + BLOCK, n)
        add_product(
            X, first * columns, -1.0, A, first * wide + last, X, last * columns, last - first, n - last, columns
        )
        for i in range(last - 1, first - 1, -1):
            for j in range(i + 1, last):
                for c in range(columns):
                    X[i][c] -= A[i][j] * X[j][c]
            for c in range(columns):
                X[i][c] /= A[i][i]


def multiply(A: Array, skipped: int, B: Array, out: Array) -> None:
    """Write the product A[:, skipped:] B into the first columns of ``out``."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            out[i][j] = 0.0
    add_product(out, 0, 1.0, A, skipped, B, 0, A.shape[0], B.shape[0], B.shape[1])


def add_rows(col: Array, first: int, val: Array, B: Array, row: int, out: Array) -> None:
    """Add ``val[e]`` times row ``row`` of B to row ``col[e]`` of ``out``, for all entries e of a sparse row.

    ``out`` begins with the row that has the number ``first``.
    """
    columns = B.shape[1]
    for e in range(col.size):
        add_row(out, (col[e] - first) * columns, val[e], B, row * columns, columns)
