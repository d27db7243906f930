"""Banded LU factorisation with pivoting, in compiled loops.

Row i of a matrix of half bandwidth w is stored in ``A[i]``, of length ``stored(w)``, with entry (i, j) at ``j − i +
w``. The following entries are for fill from row exchanges, and pad the row to a multiple of LANES entries, which vector
instructions process together. The last two entries are the numbers of nonzeros of the factors below the diagonal and to
the right of it, by which zeros are skipped. LAPACK's ``dgbtrf`` spends most of its time in calls for matrices as narrow
as these.
"""

from __future__ import annotations

import cython

from ..arrays import Array
from ..loops.views import LANES as _LANES

if not cython.compiled:
    from ..loops.views import (
        Number,
        divided,
        get,
        larger,
        larger_int,
        magnitude,
        mix,
        prefetch,
        put,
        real_part,
        smaller_int,
        subtract,
    )

LANES = cython.declare(cython.Py_ssize_t, _LANES)


LEAST = cython.declare(cython.double, 0.1)
"""Diagonal entry, relative to the largest below it, from which on it is the pivot: exchanges double the width."""


SPARSE = cython.declare(cython.Py_ssize_t, 6_000)
CACHED = cython.declare(cython.Py_ssize_t, 30_000)
AHEAD = cython.declare(cython.Py_ssize_t, 4)
"""Number of entries of a matrix above which zero factors are skipped and rows prefetched, and their lead in rows."""


def factor(A: Array, pivot: Array, w: int) -> bool:
    """Factor a band matrix A of half bandwidth w in place, with reciprocal pivots; False if a pivot is 0 or not finite.

    The numbers of exchanged rows are written into ``pivot``.
    """
    return factor_first(A, pivot, w, A.shape[0])


def factor_first(A: Array, pivot: Array, w: int, count: int) -> bool:
    """Eliminate the first ``count`` unknowns of a band matrix in place, as :func:`factor`.

    Rows are exchanged among the first ``count`` rows only. False if a pivot is zero or not finite.
    """
    factor = cython.declare(Number)
    held = cython.declare(Number)
    inverse = cython.declare(Number)
    is_large = cython.declare(cython.bint)
    is_sparse = cython.declare(cython.bint)
    k = cython.declare(cython.Py_ssize_t)
    n = A.shape[0]
    width = A.shape[1]
    reach = w
    down = width - 1  # step from an entry to the one below it
    is_large = n * width > CACHED
    is_sparse = n * width > SPARSE
    for i in range(count):
        if is_large:
            prefetch(A, (i + w + AHEAD) * width, width)
        here = i * width + w
        p = _pivot(A, here, down, smaller_int(w, count - 1 - i))
        pivot[i] = i + p
        if not 0.0 < magnitude(get(A, here + p * down)) < 1e300:
            return False
        reach = larger_int(reach, i + p + w)
        if p > 0:
            for j in range(here, here + reach - i + 1):
                held = get(A, j)
                put(A, j, get(A, j + p * down))
                put(A, j + p * down, held)
        below = _last(A, here, down, smaller_int(w, n - 1 - i))
        right = _last(A, here, 1, smaller_int(reach, n - 1) - i)
        A[i][width - 2] = below
        A[i][width - 1] = right
        inverse = divided(1.0, get(A, here))
        put(A, here, inverse)
        k = here + down
        while k < here + below * down + 1:
            factor = get(A, k) * inverse
            if not is_sparse or magnitude(factor) != 0.0:
                put(A, k, factor)
                subtract(A, k + 1, A, here + 1, factor, right)
            k += down
    return True


def _pivot(A: Array, here: int, down: int, below: int) -> int:
    """Number of rows between the diagonal entry with the flat index ``here`` and the pivot of its column.

    ``below`` rows below the diagonal are searched; ``down`` is the step from an entry to the one below. The diagonal
    entry is kept if it is not much smaller than the largest one.
    """
    k = cython.declare(cython.Py_ssize_t)
    largest = 0.0
    k = here + down
    while k < here + below * down + 1:
        largest = larger(largest, magnitude(get(A, k)))
        k += down
    if magnitude(get(A, here)) >= LEAST * largest:
        return 0
    for k in range(1, below):
        if magnitude(get(A, here + k * down)) == largest:
            return k
    return below


def _last(A: Array, here: int, step: int, count: int) -> int:
    """Position of the last nonzero among ``count`` entries after ``here``, counted from 1; 0 if all are zero.

    ``here`` is a flat index, ``step`` the step from one entry to the next.
    """
    while count > 0 and get(A, here + count * step) == 0.0:
        count -= 1
    return count


def solve(A: Array, pivot: Array, w: int, x: Array) -> None:
    """Replace the right-hand side x by the solution of A x = b, with the factor of A by :func:`factor`."""
    forward(A, pivot, w, x, A.shape[0])
    backward(A, w, x, A.shape[0])


def forward(A: Array, pivot: Array, w: int, x: Array, count: int) -> None:
    """Forward substitution for the first ``count`` unknowns in a right-hand side x, in place, with the factor of A."""
    held1 = cython.declare(Number)
    value = cython.declare(Number)
    n = A.shape[0]
    width = A.shape[1]
    value = x[0] if n > 0 else 0.0  # kept in a register, which is faster than memory
    for i in range(count):
        p = pivot[i]
        here = i * width + w
        if p != i:
            held1 = x[i]
            x[i] = x[p]
            x[p] = held1
            value = x[i]
        for k in range(2, cython.cast(cython.Py_ssize_t, real_part(A[i][width - 2])) + 1):
            put(x, i + k, get(x, i + k) - get(A, here + k * (width - 1)) * value)
        if i + 1 < n:
            value = get(x, i + 1) - (get(A, here + width - 1) * value if w > 0 else 0.0)
            put(x, i + 1, value)


def backward(A: Array, w: int, x: Array, count: int) -> None:
    """Back substitution for the first ``count`` unknowns in x, in place, after :func:`forward`.

    The unknowns after them must be known.
    """
    total = cython.declare(Number)
    value = cython.declare(Number)
    width = A.shape[1]
    value = 0.0
    if count < A.shape[0]:
        value = x[count]
    for i in range(count - 1, -1, -1):
        total = get(x, i)
        here = i * width + w
        for j in range(cython.cast(cython.Py_ssize_t, real_part(A[i][width - 1])), 1, -1):
            total -= get(A, here + j) * get(x, i + j)
        value = (
            total * get(A, here) - get(A, here + 1) * get(A, here) * value
        )  # the entry beyond the last column is zero
        put(x, i, value)


def solve_many(A: Array, pivot: Array, w: int, X: Array) -> None:
    """Replace k right-hand sides X (n, k) by the solutions of A X = B, by the factor of A; k is a multiple of LANES."""
    held1 = cython.declare(Number)
    n = A.shape[0]
    width = A.shape[1]
    k = X.shape[1]
    reach = w
    down = width - 1
    for i in range(n):
        p = pivot[i]
        here = i * width + w
        if p != i:
            reach = larger_int(reach, p - i + w)
            for c in range(k):
                held1 = X[i][c]
                X[i][c] = X[p][c]
                X[p][c] = held1
        for r in range(1, smaller_int(w, n - 1 - i) + 1):
            subtract(X, (i + r) * k, X, i * k, get(A, here + r * down), k)
    for i in range(n - 1, -1, -1):
        here = i * width + w
        mix(X, i * k, get(A, here), X, 0.0, X, k)
        for r in range(1, smaller_int(reach, i) + 1):
            subtract(X, (i - r) * k, X, i * k, get(A, here - r * down), k)


def solve_transposed(A: Array, pivot: Array, w: int, x: Array) -> None:
    """Replace the right-hand side x by the solution of Aᵀ x = b, with the factor of A."""
    n = A.shape[0]
    width = A.shape[1]
    for i in range(n):
        here = i * width + w
        x[i] *= get(A, here)
        for j in range(1, cython.cast(cython.Py_ssize_t, A[i][width - 1]) + 1):
            x[i + j] -= get(A, here + j) * x[i]
    for i in range(n - 1, -1, -1):
        here = i * width + w
        value = x[i]
        for k in range(1, cython.cast(cython.Py_ssize_t, A[i][width - 2]) + 1):
            value -= get(A, here + k * (width - 1)) * x[i + k]
        p = pivot[i]
        x[i] = x[p]
        x[p] = value
