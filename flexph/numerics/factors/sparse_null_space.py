"""Sparse null-space bases by elimination with Markowitz pivots, for large groups of constraints."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from .singular_systems import scales

THRESHOLD = 0.1
"""Least pivot, relative to the largest entry of its row; it bounds the entries of the basis and its condition."""
CANCELLED = 1e-13
"""Difference, relative to its terms, below which an entry counts as zero: a few hundred roundings."""
DEPENDENT = 1e-9
"""Largest entry of a row, 1 at the start, below which it is dependent. The limit is generous: an independent row that
is dropped shows in G P, but a row of round-off that is kept would remove a motion without notice."""


def sparse_null_space(g: Any) -> tuple[sparse.csr_array, list[dict[int, float]]]:
    """Sparse basis P (n, n − rank) of the null space of G, and the relations between dependent rows of G.

    Each relation gives the weights of rows whose sum is zero. P is the identity on the free columns and not
    orthonormal. Rows and columns are scaled first. Gauss-Jordan elimination then takes pivots above a tenth of the
    largest entry of their row, in the order of the least Markowitz count (r − 1)(c − 1) (Duff, Erisman, Reid, Direct
    Methods for Sparse Matrices, sec. 7.2); columns with one entry cause no fill.
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
    """State of a Gauss-Jordan elimination with rows as mappings from columns to entries.

    Rows with a pivot are stored without it, divided by it.
    """

    def __init__(self, g: sparse.csr_array) -> None:
        at, index, data = g.indptr, g.indices, g.data
        self.rows: dict[int, dict[int, float]] = {}
        self.columns: dict[int, set[int]] = {}  # column to the rows with an entry in it
        for i in range(g.shape[0]):
            self.rows[i] = {int(index[k]): float(data[k]) for k in range(at[i], at[i + 1]) if data[k]}
            for j in self.rows[i]:
                self.columns.setdefault(j, set()).add(i)
        self.pivots: dict[int, int] = {}  # row to column, in elimination order
        self.dropped: list[int] = []
        self._factors: dict[int, dict[int, float]] = {
            i: {} for i in self.rows
        }  # multiples of pivot rows subtracted from each row
        self._queue: list[tuple[int, int, int, int, int]] = []
        self._turn = dict.fromkeys(self.rows, 0)

    def run(self) -> None:
        """Eliminate until every row has a pivot or is dropped as dependent."""
        for i in list(self.rows):
            self._rank(i)
        while self._queue:
            *_, i, turn, j = heapq.heappop(self._queue)
            if i in self.rows and i not in self.pivots and turn == self._turn[i]:
                self._take(i, j)

    def _rank(self, i: int) -> None:
        """Put row ``i``, which has no pivot yet, into the queue by its best pivot, or drop it as dependent."""
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
        """Take entry (i, j) as pivot: eliminate column j from all other rows, and queue the changed rows again."""
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
        """Subtract ``factor`` times a pivot row, whose other entries are ``rest``, from row ``i``."""
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
        """Weights, by row, of a sum of rows that is zero, as the dropped row ``i`` depends on other rows.

        Row ``i`` has the weight 1. ``scale`` are the factors by which the rows were scaled.
        """
        weight = dict(self._factors[i])
        for pivot in reversed(self.pivots):
            value = weight.get(pivot, 0.0)
            for k, factor in self._factors[pivot].items() if value else ():
                weight[k] = weight.get(k, 0.0) - value * factor
        return {i: 1.0} | {k: -v * scale[k] / scale[i] for k, v in weight.items() if abs(v) > 1e-8}
