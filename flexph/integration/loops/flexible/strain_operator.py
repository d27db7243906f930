"""Operator D(u) = strain + weights diag(slopes u) slopes: the strain rates are D(u) u̇ for coordinates u.

The operator is stored by the entries of its rows, the strain rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....kernels.arrays import Arrays
from ....numerics.arrays import Array, BoolArray
from ..memory.data import Index
from .cached_indices import cached

MANY = 1e6
"""Number of products of entries above which sparse matrix products sum them faster than sorted keys."""
Entries = tuple[Index, Index, Array]
"""Rows, columns and values of a matrix."""


class LinearEntries(NamedTuple):
    """Entries of the matrices G_i of all strain rows, sorted by stress, row and column.

    They give the part of a strain row that is linear in the coordinates.
    """

    stress: Index
    row: Index
    col: Index
    value: Array


class StrainOperator(NamedTuple):
    """Strain rows D_i(u) = value_i + G_i u, stored by rows, with zeros where only G_i has an entry.

    ``curved`` (m,) marks the rows that have a G_i.
    """

    ptr: Index
    row: Index
    col: Index
    value: Array
    curved: BoolArray
    G: LinearEntries
    size: int  # n
    keys: Index  # row n + col

    @staticmethod
    def of(a: Arrays) -> StrainOperator:
        """Strain operator of a mechanism with the arrays ``a``."""
        stresses, n = a.strain.shape
        row, col, value = entries_of(a.strain)
        second = _second(a.slopes, a.weights)
        bent = second.value != 0.0
        keys, place, rows, columns, ptr = _rows(row, col, second.stress[bent], second.row[bent], stresses, n)
        values = np.zeros(keys.size)
        values[place] = value
        curved = np.zeros(stresses, dtype=bool)
        curved[entries_of(a.weights)[0]] = True
        return StrainOperator(ptr, rows, columns, values, curved, second, n, keys)

    def find(self, row: Index, col: Index) -> tuple[Index, BoolArray]:
        """Storage indices of the positions (row, col) that are stored, and a mask of these among the given ones."""
        keys = row * self.size + col
        place = np.searchsorted(self.keys, keys)
        exists = np.append(self.keys, -1)[place] == keys
        return place[exists], exists


@cached
def _rows(row: Index, col: Index, stress: Index, other: Index, stresses: int, n: int) -> tuple[Index, ...]:
    """Positions at which the strain or G has an entry, as keys; the indices of the entries of strain among them.

    Also the rows and columns of the positions, and row ends. ``row`` and ``col`` are the positions in strain,
    ``stress`` and ``other`` those in G.
    """
    known = row.astype(np.int64) * n + col
    keys = np.union1d(known, stress * n + other)
    rows, columns = np.divmod(keys, max(n, 1))
    ptr = np.searchsorted(rows, np.arange(stresses + 1))
    return keys, np.searchsorted(keys, known), rows, columns, ptr


def _second(slopes: Any, weights: Any) -> LinearEntries:
    """Matrices G_i = Σ_k weights_ik slopes_k slopes_kᵀ of all strain rows i, by their entries."""
    if count_products(slopes, weights) > MANY:
        return _second_by_matrix(sparse.csr_array(slopes), weights)
    (row, col, value), (stress, k, weight) = entries_of(slopes), entries_of(weights)
    entries, stresses, rows, columns, where, left, right, of = _products(row, col, stress, k, *slopes.shape)
    values = np.bincount(where, weight[of] * value[left] * value[right], entries.size)
    return LinearEntries(stresses, rows, columns, values)


def count_products(slopes: Any, weights: Any) -> float:
    """Number of products of two slope entries that are summed in the matrices G_i."""
    sizes = np.bincount(entries_of(slopes)[0], minlength=slopes.shape[0]).astype(float)
    return float(np.square(sizes)[entries_of(weights)[1]].sum())


def _second_by_matrix(slopes: Any, weights: Any) -> LinearEntries:
    """Matrices G_i as a product of two sparse matrices; each column stands for an entry of an (n, n) matrix."""
    count, n = slopes.shape
    of = np.arange(count)
    left, right = pairs_of(slopes.indptr, of, of)
    columns = slopes.indices[left].astype(np.int64) * n + slopes.indices[right]
    ends = np.append(0, np.cumsum(np.square(np.diff(slopes.indptr.astype(np.int64)))))
    values = slopes.data[left] * slopes.data[right]
    summed = sparse.csr_array(weights) @ sparse.csr_array((values, columns, ends), shape=(count, n * n))
    summed.sort_indices()
    rows, columns = np.divmod(summed.indices.astype(np.int64), n)
    return LinearEntries(np.repeat(np.arange(summed.shape[0]), np.diff(summed.indptr)), rows, columns, summed.data)


@cached
def _products(row: Index, col: Index, stress: Index, k: Index, slopes: int, n: int) -> tuple[Index, ...]:
    """Entries of all matrices G_i, and the products of two slopes that they are sums of.

    Returns keys, stresses, rows and columns of the entries; and for each product the number of its entry, of both
    slopes and of the weight. ``row`` and ``col`` are the positions of slopes, ``stress`` and ``k`` those of weights.
    """
    ptr = np.searchsorted(row, np.arange(slopes + 1))
    left, right = pairs_of(ptr, k, k)
    of = np.repeat(np.arange(k.size), np.diff(ptr)[k] ** 2)
    keys, where = np.unique((stress.astype(np.int64)[of] * n + col[left]) * n + col[right], return_inverse=True)
    rest, columns = np.divmod(keys, max(n, 1))
    return keys, *np.divmod(rest, max(n, 1)), columns, where, left, right, of


def entries_of(matrix: Any) -> Entries:
    """Row numbers, column numbers and values of the entries of a sparse or dense matrix, sorted by rows."""
    if not sparse.issparse(matrix):
        row, col = np.nonzero(matrix)
        return row, col, matrix[row, col]
    if matrix.format == "csr":
        return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices, matrix.data
    return entries_of(sparse.csr_array(matrix))


def ranges_of(ptr: Index, rows: Index) -> Index:
    """Numbers of the entries of given rows of a sparse matrix with row ends ``ptr``, one row after the other."""
    sizes = np.diff(ptr)[rows]
    return np.repeat(ptr[rows] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def pairs_of(ptr: Index, first: Index, second: Index) -> tuple[Index, Index]:
    """All pairs of an entry of one row and one of another, for each of the pairs of rows ``first`` and ``second``.

    Returns the numbers of both entries in a sparse matrix with the row ends ``ptr``.
    """
    sizes = np.diff(ptr)
    left = np.repeat(ranges_of(ptr, first), np.repeat(sizes[second], sizes[first]))
    return left, ranges_of(ptr, np.repeat(second, sizes[first]))
