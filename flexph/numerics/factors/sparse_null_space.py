"""Sparse null-space bases by elimination with Markowitz pivots, for large groups of constraints."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from .singular_systems import scales

THRESHOLD = 0.1
"""Least pivot over the largest entry of its row: bounds the entries of the basis, and with them its condition."""
CANCELLED = 1e-13
"""Difference over its terms below which an entry is taken for zero: a few hundred roundings."""
DEPENDENT = 1e-9
"""Largest entry of a row, 1 at the start, below which it follows from others. Generous: a row that is dropped although
it holds something shows in G P, one that is kept although it is round-off would take away a motion unseen."""


def sparse_null_space(g: Any) -> tuple[sparse.csr_array, list[dict[int, float]]]:
    """Basis P (n, n − rank) of null G, sparse, and for each dependent row the weights with which rows add up to zero.

    P is the identity on the independent columns and gives the others through them; it is not orthonormal. Rows and
    columns are brought to one scale first; Gauss-Jordan elimination then takes pivots above a tenth of the largest
    entry of their row, those of the least Markowitz count (r − 1)(c − 1) first (Duff, Erisman, Reid, Direct Methods for
    Sparse Matrices, sec. 7.2): columns that one row alone touches cost no fill.
    """
    g = sparse.csr_array(g)
    row, column = scales(abs(g))
    work = _Elimination(sparse.csr_array(sparse.diags_array(row) @ g @ sparse.diags_array(column)))
    work.run()
    taken = np.array(list(work.pivots.values()), dtype=int)
    free = np.setdiff1d(np.arange(g.shape[1]), taken)
    entries = [(j, k, -v * column[j] / column[k]) for i, j in work.pivots.items() for k, v in work.rows[i].items()]
    entries += [(j, j, 1.0) for j in free]
    to, by, value = (np.array(x) for x in zip(*entries, strict=True)) if entries else np.zeros((3, 0))
    whole = sparse.coo_array((value, (to.astype(int), by.astype(int))), shape=(g.shape[1],) * 2).tocsr()
    return sparse.csr_array(whole[:, free]), [work.origin(k, row) for k in work.dropped]


class _Elimination:
    """Rows as mappings of columns to entries: open ones, and those of pivots, without the pivot's own unit entry."""

    def __init__(self, g: sparse.csr_array) -> None:
        at, index, data = g.indptr, g.indices, g.data
        self.rows: dict[int, dict[int, float]] = {}
        self.columns: dict[int, set[int]] = {}  # rows of either kind that touch a column
        for i in range(g.shape[0]):
            self.rows[i] = {int(index[k]): float(data[k]) for k in range(at[i], at[i + 1]) if data[k]}
            for j in self.rows[i]:
                self.columns.setdefault(j, set()).add(i)
        self.pivots: dict[int, int] = {}  # row to column, in the order taken
        self.dropped: list[int] = []
        self._factors: dict[int, dict[int, float]] = {i: {} for i in self.rows}  # multiples of pivot rows taken off
        self._queue: list[tuple[int, int, int, int, int]] = []
        self._turn = dict.fromkeys(self.rows, 0)

    def run(self) -> None:
        """Take pivots until no row is open."""
        for i in list(self.rows):
            self._rank(i)
        while self._queue:
            *_, i, turn, j = heapq.heappop(self._queue)
            if i in self.rows and i not in self.pivots and turn == self._turn[i]:
                self._take(i, j)

    def _rank(self, i: int) -> None:
        """Put an open row into the queue under its best pivot, or drop it."""
        row = self.rows[i]
        largest = max(map(abs, row.values()), default=0.0)
        if largest <= DEPENDENT:
            for j in self.rows.pop(i):
                self.columns[j].discard(i)
            self.dropped.append(i)
            return
        admitted = ((len(self.columns[j]), -abs(v), j) for j, v in row.items() if abs(v) >= THRESHOLD * largest)
        count, _, j = min(admitted)
        self._turn[i] += 1
        heapq.heappush(self._queue, ((count - 1) * (len(row) - 1), len(row), i, self._turn[i], j))

    def _take(self, i: int, j: int) -> None:
        """Make the entry (i, j) a pivot and clear its column in all other rows."""
        pivot = self.rows[i].pop(j)
        self.rows[i] = rest = {k: v / pivot for k, v in self.rows[i].items()}
        self.pivots[i] = j
        others = self.columns.pop(j) - {i}
        for other in others:
            factor = self.rows[other].pop(j)
            self._subtract(other, factor, rest)
            if other not in self.pivots:
                self._factors[other][i] = factor / pivot
        for other in others.union(*(self.columns[k] for k in rest)):
            if other not in self.pivots:
                self._rank(other)

    def _subtract(self, i: int, factor: float, rest: dict[int, float]) -> None:
        """Row i minus a multiple of what is left of a pivot row."""
        row = self.rows[i]
        for k, value in rest.items():
            old = row.get(k, 0.0)
            new = old - factor * value
            if abs(new) <= CANCELLED * (abs(old) + abs(factor * value)):
                row.pop(k, None)
                self.columns[k].discard(i)
            else:
                row[k] = new
                self.columns[k].add(i)

    def origin(self, i: int, scale: Array) -> dict[int, float]:
        """Weights of a dropped row (1, first) and of those that cancel it: its factors, back through the pivots."""
        weight = dict(self._factors[i])
        for pivot in reversed(self.pivots):
            value = weight.get(pivot, 0.0)
            for k, factor in self._factors[pivot].items() if value else ():
                weight[k] = weight.get(k, 0.0) - value * factor
        return {i: 1.0} | {k: -v * scale[k] / scale[i] for k, v in weight.items() if abs(v) > 1e-8}
