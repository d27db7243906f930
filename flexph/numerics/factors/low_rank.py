"""Sparse matrices plus a low-rank product, which is kept separately to preserve sparsity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from ..arrays import Array


@dataclass(frozen=True, eq=False)
class Bordered:
    """Matrix ``A + left right`` (m, n): A sparse, left (m, r) and right (r, n) dense, r small. Immutable.

    Products, sums, multiples and the transpose keep the parts separate; :meth:`filled` adds them.
    """

    sparse: Any
    left: Array
    right: Array

    __array_ufunc__ = None  # numpy leaves products to this class

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (m, n)."""
        rows, columns = self.sparse.shape
        return int(rows), int(columns)

    @property
    def T(self) -> Bordered:
        """Transpose."""
        return Bordered(self.sparse.T.tocsr(), self.right.T, self.left.T)

    def __matmul__(self, x: Any) -> Array:
        dense = x.toarray() if sparse.issparse(x) else x
        return self.sparse @ dense + self.left @ (self.right @ dense)

    def __mul__(self, factor: float) -> Bordered:
        return Bordered(self.sparse * factor, self.left * factor, self.right)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Bordered:
        if not isinstance(other, Bordered):
            return Bordered(self.sparse + other, self.left, self.right)
        summed = self.sparse + other.sparse
        if other.right is self.right:  # forms of one body share their right factor
            return Bordered(summed, self.left + other.left, self.right)
        return Bordered(summed, np.hstack([self.left, other.left]), np.vstack([self.right, other.right]))

    __radd__ = __add__

    def __getitem__(self, rows: Any) -> Bordered:
        """Selected rows of the matrix, as a bordered matrix."""
        return Bordered(self.sparse.tocsr()[rows], self.left[rows], self.right)

    def diagonal(self) -> Array:
        """Diagonal of the matrix."""
        return self.sparse.diagonal() + np.einsum("kr,rk->k", self.left, self.right)

    def filled(self) -> Any:
        """Sparse matrix with all entries computed, which may all be nonzero."""
        return sparse.csr_array(self.toarray())

    def toarray(self) -> Array:
        """Matrix as a dense array."""
        return self.sparse.toarray() + self.left @ self.right


def filled(matrix: Any) -> Any:
    """Sparse matrix of a sparse, dense or bordered matrix."""
    return matrix.filled() if isinstance(matrix, Bordered) else sparse.csr_array(matrix)


def some_rows(matrix: Any, rows: Any) -> Any:
    """Selected rows of a sparse, dense or bordered matrix; a bordered one stays bordered."""
    return matrix[rows] if isinstance(matrix, Bordered) else sparse.csr_array(matrix)[rows]


def placed(block: Array, corner: tuple[int, int], shape: tuple[int, int]) -> Any:
    """Sparse matrix of the given shape that is zero except for a dense block with its first entry at ``corner``."""
    entries = sparse.coo_array(block)
    row, column = entries.row + corner[0], entries.col + corner[1]
    return sparse.coo_array((entries.data, (row, column)), shape=shape).tocsr()


def without_product(solve: Callable[[Array], Array], left: Array, right: Any) -> Callable[[Array], Array]:
    """Solver for ``A − left right``, from a solver for A, by Woodbury's formula.

    ``left`` is (n, r), ``right`` (r, n). Raises RuntimeError if the matrix is singular.
    """
    if not right.shape[0]:
        return solve
    spread = solve(left)
    lu, pivots, info = lapack.dgetrf(np.eye(right.shape[0]) - right @ spread)
    if info > 0:
        raise RuntimeError("singular")

    def solved(y: Array) -> Array:
        solution = solve(y)
        return solution + spread @ lapack.dgetrs(lu, pivots, right @ solution)[0]

    return solved


def inverse_by_blocks(matrix: Any) -> Any:
    """Inverse of a symmetric positive definite sparse matrix, by its connected blocks.

    All blocks of equal size are inverted in one call.
    """
    a = sparse.csr_array(matrix)
    _, label = sparse.csgraph.connected_components(a, directed=False)
    sizes = np.bincount(label)
    order = np.argsort(label, kind="stable")  # indices sorted by block
    first = np.cumsum([0, *sizes])
    place = np.empty(a.shape[0], dtype=np.int64)
    place[order] = np.arange(a.shape[0]) - first[label[order]]  # position of each index in its block
    coo = a.tocoo()
    data, rows, columns = [], [], []
    for size in np.unique(sizes):
        blocks = np.flatnonzero(sizes == size)
        index = order[first[blocks][:, None] + np.arange(size)]
        number = np.full(len(sizes), -1)
        number[blocks] = np.arange(len(blocks))
        mine = number[label[coo.row]] >= 0
        full = np.zeros((len(blocks), size, size))
        i, j = coo.row[mine], coo.col[mine]
        np.add.at(full, (number[label[i]], place[i], place[j]), coo.data[mine])
        data.append(np.linalg.solve(full, np.broadcast_to(np.eye(size), full.shape)).ravel())
        rows.append(np.repeat(index, size, axis=1).ravel())
        columns.append(np.tile(index, (1, size)).ravel())
    if not data:
        return sparse.csr_array(a.shape)
    entries = np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))
    inverse = sparse.csr_array(sparse.coo_array(entries, shape=a.shape))
    inverse.eliminate_zeros()
    return inverse
