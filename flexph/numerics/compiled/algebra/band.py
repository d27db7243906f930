"""Banded LU factorisation with pivoting, in loops that a compiler makes short work of.

Row i of a matrix of bandwidth w is stored in ``A[i]``, width :func:`stored`, entry (i, j) at ``j − i + w``; the next
places take what row exchanges bring in, and fill up a lane. The last two say how far below and to the right of the
diagonal the factors have entries: many rows of a border have few. LAPACK's ``dgbtrf`` does the same and spends, on
matrices as narrow as these, most of its time in calls.
"""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from ...arrays import Array
from ..kernel import kernel
from ..lanes import LANE, brief, get, mix, padded, prefetch, put, take

LEAST = 0.1
"""Diagonal entry, over the largest below it, from which on it is the pivot: exchanges double the width."""


CACHED, AHEAD = 30_000, 4
"""Entries of a matrix beyond which rows are asked for ahead of their turn, and by how many."""


@register_jitable
def stored(w: Any) -> Any:
    """Entries of a row as it is stored."""
    return padded(3 * w + LANE) + LANE


@kernel
def magnitude(x: complex) -> float:
    """Size of a pivot, |Re x| + |Im x|."""
    return abs(x.real) + abs(x.imag)


@kernel
def factor(A: Array, pivot: Array, w: int) -> bool:
    """Factor in place, with reciprocal pivots; False where one is zero or not finite."""
    brief()
    (n, width), reach = A.shape, w
    down = width - 1  # from an entry to the one below it
    is_large = n * width > CACHED
    for i in range(n):
        if is_large:
            prefetch(A, (i + w + AHEAD) * width, width)
        here, below = i * width + w, min(w, n - 1 - i)
        p = _pivot(A, here, down, below)
        pivot[i] = i + p
        if not 0.0 < magnitude(get(A, here + p * down)) < 1e300:
            return False
        reach = max(reach, i + p + w)
        if p > 0:
            for j in range(here, here + reach - i + 1):
                held = get(A, j)
                put(A, j, get(A, j + p * down))
                put(A, j + p * down, held)
        below, right = _last(A, here, down, below), _last(A, here, 1, min(reach, n - 1) - i)
        A[i, width - 2], A[i, width - 1] = below, right
        inverse = 1.0 / get(A, here)
        put(A, here, inverse)
        for k in range(here + down, here + below * down + 1, down):
            factor = get(A, k) * inverse
            put(A, k, factor)
            take(A, k + 1, A, here + 1, factor, right)
    return True


@kernel
def _pivot(A: Array, here: int, down: int, below: int) -> int:
    """Rows from the diagonal entry down to the pivot."""
    brief()
    largest = 0.0
    for k in range(here + down, here + below * down + 1, down):
        largest = max(largest, magnitude(get(A, k)))
    if magnitude(get(A, here)) >= LEAST * largest:
        return 0
    for k in range(1, below):
        if magnitude(get(A, here + k * down)) == largest:
            return k
    return below


@kernel
def _last(A: Array, here: int, step: int, count: int) -> int:
    """The last of so many entries that is not zero, counted from one; 0 where all are."""
    while count > 0 and get(A, here + count * step) == 0.0:
        count -= 1
    return count


@kernel
def solve(A: Array, pivot: Array, w: int, x: Array) -> None:
    """Solve A x = b in place."""
    brief()
    n, width = A.shape
    value = x[0] if n > 0 else 0.0  # the last one stays in a register: through memory it takes its time
    for i in range(n):
        p, here = pivot[i], i * width + w
        if p != i:
            x[i], x[p] = x[p], x[i]
            value = x[i]
        for k in range(2, int(A[i, width - 2].real) + 1):
            put(x, i + k, get(x, i + k) - get(A, here + k * (width - 1)) * value)
        if i + 1 < n:
            value = get(x, i + 1) - (get(A, here + width - 1) * value if w > 0 else 0.0)
            put(x, i + 1, value)
    value = 0.0
    for i in range(n - 1, -1, -1):
        total, here = get(x, i), i * width + w
        for j in range(int(A[i, width - 1].real), 1, -1):
            total -= get(A, here + j) * get(x, i + j)
        value = total * get(A, here) - get(A, here + 1) * get(A, here) * value  # beyond the last column stands a zero
        put(x, i, value)


@kernel
def solve_many(A: Array, pivot: Array, w: int, X: Array) -> None:
    """Solve A X = B in place, X (n, k) of whole lanes."""
    brief()
    (n, width), k, reach = A.shape, X.shape[1], w
    down = width - 1
    for i in range(n):
        p, here = pivot[i], i * width + w
        if p != i:
            reach = max(reach, p - i + w)
            for c in range(k):
                X[i, c], X[p, c] = X[p, c], X[i, c]
        for r in range(1, min(w, n - 1 - i) + 1):
            take(X, (i + r) * k, X, i * k, get(A, here + r * down), k)
    for i in range(n - 1, -1, -1):
        here = i * width + w
        mix(X, i * k, get(A, here), X, 0.0, X, k)
        for r in range(1, min(reach, i) + 1):
            take(X, (i - r) * k, X, i * k, get(A, here - r * down), k)
