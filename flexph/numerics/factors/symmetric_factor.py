"""LDLᵀ factors of sparse symmetric matrices by SuperLU, without pivoting, after a symbolic factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.sparse.linalg import spilu, splu

from ..arrays import Array
from .memory_cost import Cost, announced_cost

FEW = 5000
"""Number of unknowns up to which a factorisation is fast and not announced."""
BYTES = 40.0
"""Memory [bytes] for each entry of L while SuperLU's factors are copied for their pivots; measured 40 to 44."""


class SymmetricFactor:
    """Factors ``P A Pᵀ = L U`` of a sparse symmetric matrix A, with U = D Lᵀ up to round-off.

    P is an order with little fill, and pivots stay on the diagonal. The factorisation is stable for positive definite
    A. For an indefinite A, the factors are those of a nearby matrix, and :meth:`defect` measures the difference. A
    large factorisation is announced before it starts. Raises ValueError for a zero pivot, and MemoryError if memory is
    insufficient.
    """

    def __init__(self, matrix: Any, advice: str = "") -> None:
        full = sparse.csc_array(matrix)
        self._matrix, self._order = full, minimum_degree_order(full)
        permuted = sparse.csc_array(full[self._order][:, self._order])
        with announced_cost(full.shape[0], _cost(full, self._order), "SuperLU", advice):
            try:
                self._factor = splu(
                    permuted, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
                )
            except RuntimeError:
                raise ValueError("matrix must have a symmetric factor: a pivot is zero") from None
        if not np.array_equal(self._factor.perm_r, self._factor.perm_c):
            raise ValueError("matrix must have a symmetric factor: a pivot is zero")

    @property
    def pivots(self) -> Array:
        """Pivots D (n,), in the order of the rows of A."""
        pivots = np.empty(len(self._order))
        pivots[self._order] = self._factor.U.diagonal()[self._factor.perm_c]
        return pivots

    def solve(self, right: Array) -> Array:
        """Solve A x = b for right-hand sides (n,) or (n, k)."""
        solution = np.empty(right.shape)
        solution[self._order] = self._factor.solve(np.ascontiguousarray(right[self._order], dtype=float))
        return solution

    def defect(self, x: Array) -> Array:
        """Backward error (A − Pᵀ L U P) x of the factorisation on vectors x (n,) or (n, k)."""
        inner = np.empty(x.shape)
        inner[self._factor.perm_c] = x[self._order]
        product = np.empty(x.shape)
        product[self._order] = (self._factor.L @ (self._factor.U @ inner))[self._factor.perm_c]
        return self._matrix @ x - product


def _cost(matrix: Any, order: Array) -> Cost:
    """Cost of the factors of a matrix in an elimination order; zero for small matrices."""
    if matrix.shape[0] < FEW:
        return Cost(0.0, 0.0)
    counts = column_counts(matrix, order).astype(float)
    return Cost(memory=BYTES * counts.sum(), operations=2.0 * float(counts @ counts))


DENSE_ROW = 10.0
"""Entries of a row, relative to √n, from which on it is ordered last, as in AMD (Amestoy, Davis, Duff, ACM Trans. Math.
Softw. 30 (2004)): the time of minimum degree is quadratic in dense rows, 200 s for an arrow matrix of 400 000."""


def minimum_degree_order(matrix: Any) -> Array:
    """Elimination order (n,) of a symmetric sparse matrix by multiple minimum degree, dense rows last.

    Row ``order[k]`` is eliminated k-th. The order is computed by SuperLU (``MMD_AT_PLUS_A``), which returns it only
    with a factorisation. To save time, this is an incomplete one of a unit matrix with tiny entries in the same
    pattern.
    """
    pattern = sparse.csc_array(matrix)
    degrees = np.diff(pattern.indptr)
    dense = degrees > max(16.0, DENSE_ROW * np.sqrt(len(degrees)))
    light = np.flatnonzero(~dense)
    if not light.size:
        return np.arange(len(degrees))
    inner = sparse.csc_array(pattern[light][:, light]) if dense.any() else pattern
    entries = sparse.csc_array((np.full(inner.nnz, 1e-30), inner.indices, inner.indptr), shape=inner.shape)
    unit = sparse.csc_array(entries + sparse.eye_array(light.size))
    incomplete = spilu(
        unit,
        drop_tol=0.5,
        fill_factor=1.0,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.concatenate([light[np.argsort(incomplete.perm_c)], np.flatnonzero(dense)])


def column_counts(matrix: Any, order: Array) -> Array:
    """Number of entries in each column of the Cholesky factor of a symmetric sparse matrix, with its diagonal, (n,).

    Columns are in the elimination ``order`` (n,). The method uses the leaves of row subtrees of the elimination tree
    (Gilbert, Ng, Peyton, SIAM J. Matrix Anal. Appl. 15 (1994) 1075), on groups of rows with the same pattern, such as
    those of a node of a solid.
    """
    pattern = sparse.csr_array(matrix)
    pattern = sparse.csr_array((np.ones(pattern.nnz, dtype=np.int64), pattern.indices, pattern.indptr), pattern.shape)
    group, first = _pattern_groups(pattern, order)
    weights = np.bincount(group)
    graph = sparse.coo_array(pattern[first][:, first])
    under = graph.row > graph.col
    high, low = graph.row[under].astype(np.int64), graph.col[under].astype(np.int64)
    heights = _entries_below(elimination_tree(high, low, len(weights)), high, low, weights) + weights
    by_group = np.argsort(group, kind="stable")
    rank = np.empty(len(group), dtype=np.int64)
    rank[by_group] = np.arange(len(group)) - np.repeat(np.cumsum(weights) - weights, weights)
    return heights[group] - rank


def _pattern_groups(pattern: Any, order: Array) -> tuple[Array, Array]:
    """Groups of rows with the same pattern, numbered in ``order``: group of each row (n,), one row of each group."""
    # rows are distinguished by sums of random 62-bit numbers over their columns, including the diagonal
    values = np.random.default_rng(0).integers(1, 2**62, len(order))
    keys = pattern @ values + np.where(pattern.diagonal() > 0, 0, values)
    _, first, inverse = np.unique(keys[order], return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[inverse], order[np.sort(first)]


def elimination_tree(high: Array, low: Array, n: int) -> Array:
    """Parent (n,) of each column in the elimination tree of a symmetric matrix, n for a root.

    The matrix has entries in the rows ``high`` and columns ``low``, high > low. The tree depends only on the connected
    components of leading blocks, which a minimum spanning tree of the graph preserves if the weight of an edge is the
    later of its ends.
    """
    graph = sparse.coo_array((high + 1.0, (high, low)), shape=(n, n)).tocsr()
    tree = minimum_spanning_tree(graph).tocoo()
    by_end = np.argsort(np.maximum(tree.row, tree.col), kind="stable")
    ends = np.maximum(tree.row, tree.col)[by_end].tolist()
    starts = np.minimum(tree.row, tree.col)[by_end].tolist()
    parent, top = [n] * n, list(range(n))
    for end, start in zip(ends, starts, strict=True):
        root = start
        while top[root] != root:
            top[root] = root = top[top[root]]
        if root != end:
            parent[root] = top[root] = end
    return np.array(parent, dtype=np.int64)


def _postorder(parent: Array) -> tuple[Array, Array]:
    """Number of each node in the postorder of a tree, and number of nodes of its subtree, (n,) each."""
    n, up = len(parent), parent.tolist()
    sizes = [1] * (n + 1)
    for node in range(n):
        sizes[up[node]] += sizes[node]
    number, room = [0] * n, [0] * (n + 1)
    room[n] = n - 1
    for node in range(n - 1, -1, -1):
        number[node] = room[up[node]]
        room[up[node]] -= sizes[node]
        room[node] = number[node] - 1
    return np.array(number, dtype=np.int64), np.array(sizes[:n], dtype=np.int64)


def _entries_below(parent: Array, high: Array, low: Array, weights: Array) -> Array:
    """Number of entries in each column of the factor below its own group of rows.

    ``parent`` is the elimination tree of the groups, ``high`` and ``low`` are the entries between groups, and
    ``weights`` the numbers of rows of the groups.
    """
    n = len(parent)
    number, sizes = _postorder(parent)
    first = np.empty(n + 1, dtype=np.int64)
    first[number], first[n] = number - sizes + 1, -1
    up = np.full(n + 1, n, dtype=np.int64)
    up[number] = np.append(number, n)[parent]
    row, column = number[high], number[low]
    counts = np.empty(n, dtype=np.int64)
    counts[number] = weights
    entries = np.lexsort((column, row))
    row, column = row[entries], column[entries]
    starts = np.append(True, row[1:] != row[:-1]) if row.size else np.zeros(0, dtype=bool)
    before = np.where(starts, -1, np.roll(column, 1))
    leaf = before < first[column]
    row, column, starts = row[leaf], column[leaf], starts[leaf]
    delta = np.zeros(n + 1, dtype=np.int64)
    np.add.at(delta, column, counts[row])
    np.add.at(delta, row[starts], -counts[row[starts]])
    pairs = np.flatnonzero(~starts)
    np.add.at(delta, _common_ancestor(up, first, column[pairs - 1], column[pairs]), -counts[row[pairs]])
    total = np.cumsum(delta[:n])
    below = total - np.where(first[:n] > 0, total[first[:n] - 1], 0)
    return below[number]


def _common_ancestor(up: Array, first: Array, a: Array, b: Array) -> Array:
    """Least common ancestors of pairs of nodes a < b of a tree, which are numbered in postorder.

    ``up`` are the parents, ``first`` the first nodes of the subtrees. The method is binary lifting.
    """
    jumps = [up]
    while len(jumps) < max(len(up).bit_length(), 1):
        jumps.append(jumps[-1][jumps[-1]])
    at = b.copy()
    for jump in reversed(jumps):
        ahead = jump[at]
        at = np.where(first[ahead] > a, ahead, at)
    return up[at]
