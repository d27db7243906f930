"""Compiled search for the nonzero entries of D, and for an order of the contacts that keeps elimination sparse.

D maps impulses of the contacts to changes of their rates.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from ...numerics.algebra.elimination import DENSE


FEW = cython.declare(cython.Py_ssize_t, 6)
"""Number of contacts up to which they are not ordered."""


def find_entries(D: Array, ptr: Array, col: Array) -> None:
    """Write the column numbers of the nonzero entries of D, row by row, into ``col``.

    Those of row i are from index ``ptr[i]`` to ``ptr[i + 1]``, which is not included.
    """
    place = cython.declare(cython.Py_ssize_t)
    place = 0
    for i in range(D.shape[0]):
        ptr[i] = place
        for j in range(D.shape[0]):
            if D[i][j] != 0.0:
                col[place] = j
                place += 1
    ptr[D.shape[0]] = place


def find_order(ptr: Array, col: Array, order: Array, left: Array, acts: Array) -> None:
    """Write the order of elimination of the contacts into ``order`` (c,), by minimum degree.

    Next in order is always a contact that is coupled to the fewest of the contacts not yet eliminated. If there are few
    contacts or D is full, the order remains that of their numbers. ``left`` (c,) and ``acts`` (c, c) are work space.
    """
    held1 = cython.declare(cython.Py_ssize_t)
    c = order.size
    for k in range(c):
        order[k] = k
    if c <= FEW or ptr[ptr.size - 1] > DENSE * (ptr.size - 1) ** 2:
        return
    _find_neighbours(ptr, col, left, acts)
    for n in range(c):
        chosen = n
        for l in range(n + 1, c):
            if left[order[l]] < left[order[chosen]]:
                chosen = l
        held1 = order[n]
        order[n] = order[chosen]
        order[chosen] = held1
        _eliminate(order, n, left, acts)


def _find_neighbours(ptr: Array, col: Array, left: Array, acts: Array) -> None:
    """Set ``acts`` (c, c) to 1 where D couples two contacts, and ``left`` (c,) to their numbers of neighbours."""
    c = left.size
    for k in range(c):
        left[k] = 0
        for l in range(c):
            acts[k][l] = 0.0
    for i in range(ptr.size - 1):
        for e in range(ptr[i], ptr[i + 1]):
            k = i % c
            l = col[e] % c
            if k != l and acts[k][l] == 0.0:
                acts[l][k] = 1.0
                acts[k][l] = 1.0
                left[k] += 1
                left[l] += 1


def _eliminate(order: Array, n: int, left: Array, acts: Array) -> None:
    """Couple all neighbours of contact ``order[n]`` with each other, except those that are already eliminated."""
    eliminated = order[n]
    c = order.size
    for a in range(n + 1, c):
        k = order[a]
        if acts[eliminated][k] > 0.0:
            left[k] -= 1
            for b in range(a + 1, c):
                l = order[b]
                if acts[eliminated][l] > 0.0 and acts[k][l] == 0.0:
                    acts[l][k] = 1.0
                    acts[k][l] = 1.0
                    left[k] += 1
                    left[l] += 1
