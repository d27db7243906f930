"""Ranks, ranges and null spaces of matrices, independent of the units of rows and columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from .arrays import Array
from .connected import connected_blocks

RANK = 1e-12
"""Singular value of an equilibrated matrix, relative to the largest one, up to which it counts as zero.

Round-off of products of a few hundred terms is 1e-14. Equilibrated inertia matrices of slender beams have condition
numbers of 1e7 with 32 elements and 1e9 with 100.
"""
NOISE = 1e-14
"""Entry of an equilibrated matrix, or sum relative to the sum of absolute terms, up to which it is round-off."""
SWEEPS = 12
"""Largest number of equilibration sweeps; two are usual."""
EVEN = 2.0
"""Ratio of the longest to the shortest row at which equilibration ends."""


def equilibrated(matrix: Array) -> tuple[Array, Array, Array]:
    """Matrix A (m, n) with rows and columns of similar length, and factors r (m,), c (n,): ``M = diag(r) A diag(c)``.

    Rows and columns of M, ``matrix``, are divided by their lengths in turn (R. Sinkhorn, P. Knopp, Pacific J. Math. 21,
    1967), so that the numerical rank of A does not depend on the units of M. Zero rows and columns are unchanged.
    """
    A = np.array(matrix, dtype=float)
    r, c = _sizes(np.abs(A).max(axis=1, initial=0.0)), np.ones(A.shape[1])
    A /= r[:, None]  # from here on, squares of lengths neither overflow nor underflow
    for _ in range(SWEEPS):
        columns = _sizes(np.sqrt(np.einsum("ij,ij->j", A, A)))
        A, c = A / columns, c * columns
        lengths = np.sqrt(np.einsum("ij,ij->i", A, A))
        rows = _sizes(lengths)
        A, r = A / rows[:, None], r * rows
        if lengths.max(initial=0.0) <= EVEN * lengths[lengths > 0.0].min(initial=np.inf):
            break
    return A, r, c


def rank_of(matrix: Array, *, tolerance: float = RANK) -> int:
    """Rank of a matrix (m, n), independent of the units of its rows and columns.

    It is the number of singular values of the equilibrated connected blocks above ``tolerance`` times the largest one
    of the block. ``tolerance`` is at least the round-off of the decomposition.
    """
    matrix, rank = np.asarray(matrix, dtype=float), 0
    for rows, columns in _blocks(matrix):
        A = equilibrated(matrix[np.ix_(rows, columns)])[0]
        values = np.linalg.svd(A, compute_uv=False)
        rank += int(np.sum(values > _tolerance(A.shape, tolerance) * values[0]))
    return rank


class SingularVectors(NamedTuple):
    """Singular value decomposition ``M = U diag(σ) Vᵀ`` of a matrix (m, n) of rank r, σ descending."""

    left: Array  # U (m, m)
    values: Array  # (min(m, n),)
    right: Array  # Vᵀ (n, n)
    rank: int

    @property
    def range(self) -> Array:
        """Orthonormal basis (m, r) of im M."""
        return self.left[:, : self.rank]

    @property
    def left_null(self) -> Array:
        """Orthonormal basis (m, m − r) of ker Mᵀ."""
        return self.left[:, self.rank :]

    @property
    def rows(self) -> Array:
        """Orthonormal basis (n, r) of im Mᵀ."""
        return self.right[: self.rank].T

    @property
    def null(self) -> Array:
        """Orthonormal basis (n, n − r) of ker M."""
        return self.right[self.rank :].T


def singular_vectors(
    matrix: Array, *, tolerance: float, size: float | None = None, economy: bool = False
) -> SingularVectors:
    """Singular value decomposition of a matrix (m, n), with its numerical rank.

    The rank is the number of singular values above ``tolerance`` times ``size``, by default the largest of them. With
    ``economy`` the singular vectors beyond the smaller dimension are omitted.
    """
    left, values, right = np.linalg.svd(matrix, full_matrices=not economy)
    size = float(values.max(initial=0.0)) if size is None else size
    return SingularVectors(left, values, right, int(np.sum(values > tolerance * size)))


def kernel(rows: Array) -> Array:
    """Orthonormal basis (n, n − m) of the x with A x = 0, for A (m, n), ``rows``, with independent rows."""
    return np.linalg.svd(rows)[2][len(rows) :].T


def pivots(matrix: Array) -> Array:
    """Indices (n,) of all columns of a matrix in the order of a QR decomposition with column pivoting.

    The first r of them are independent columns, with the rank r of the matrix.
    """
    return qr(matrix, mode="r", pivoting=True)[1]


@dataclass(frozen=True, eq=False)
class Subspaces:
    """Orthonormal bases of the four subspaces of a matrix M (m, n) of rank r.

    ``range`` (m, r), ``left_null`` (m, m − r) with ``left_nullᵀ M = 0``, ``rows`` (n, r), the range of Mᵀ, and ``null``
    (n, n − r) with ``M null = 0``. Blocks of full rank contribute columns of the unit matrix, so that decoupled rows
    and columns are not mixed.
    """

    range: Array
    left_null: Array
    rows: Array
    null: Array


def subspaces(matrix: Array, *, tolerance: float = RANK) -> Subspaces:
    """Orthonormal bases of the four subspaces of a matrix (m, n), with the rank of :func:`rank_of`."""
    matrix = np.asarray(matrix, dtype=float)
    m, n = matrix.shape
    left, right = _Basis(m), _Basis(n)
    for i, j in _blocks(matrix):
        A, r, c = equilibrated(matrix[np.ix_(i, j)])
        vectors = singular_vectors(A, tolerance=_tolerance(A.shape, tolerance))
        left.add(i, vectors.left_null / r[:, None])
        right.add(j, vectors.null / c[:, None])
    return Subspaces(*left.columns(), *right.columns())


class _Basis:
    """Orthonormal bases of a subspace of ℝⁿ and of its complement, which are added block by block."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._spanned: list[Array] = []
        self._null: list[Array] = []
        self._left = np.ones(n, dtype=bool)

    def add(self, place: Array, null: Array) -> None:
        """Add a block of k coordinates with the indices ``place``, in which ``null`` (k, q) spans the complement.

        The directions of the block orthogonal to ``null`` are added to the subspace.
        """
        self._left[place] = False
        basis = np.eye(self._n)[:, place]
        if null.shape[1]:
            q = _complete(null)
            self._null.append(basis @ q[:, : null.shape[1]])
            basis = basis @ q[:, null.shape[1] :]
        self._spanned.append(basis)

    def columns(self) -> tuple[Array, Array]:
        """Bases of the subspace (n, r) and of its complement (n, n − r), both ordered by positions of largest entries.

        Coordinates that were not added belong to the complement.
        """
        empty = np.zeros((self._n, 0))
        null = [*self._null, np.eye(self._n)[:, self._left]]
        return _ordered(np.hstack([empty, *self._spanned])), _ordered(np.hstack(null))


def _complete(columns: Array) -> Array:
    """Orthogonal matrix (n, n) whose first k columns span the same space as ``columns`` (n, k), which are independent.

    With pivoting and rows in descending order, small rows keep their accuracy (A. J. Cox, N. J. Higham, Stability of
    Householder QR factorization for weighted least squares problems, 1998).
    """
    order = np.argsort(-np.abs(columns).max(axis=1), kind="stable")
    orthogonal = np.empty((len(columns),) * 2)
    orthogonal[order] = qr(columns[order], pivoting=True)[0]
    return orthogonal


def _ordered(columns: Array) -> Array:
    if not columns.size:
        return columns
    return columns[:, np.argsort(np.abs(columns).argmax(axis=0), kind="stable")]


def _sizes(lengths: Array) -> Array:
    return np.where(lengths > 0.0, lengths, 1.0)


def _tolerance(shape: tuple[int, ...], tolerance: float) -> float:
    """Relative tolerance of singular values: the given one, or round-off for a matrix of this shape if larger."""
    return max(tolerance, 10.0 * max(shape) * float(np.finfo(float).eps))


def _blocks(matrix: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the connected blocks of a matrix, each by its rows and its columns, without zero rows and columns."""
    row, column = np.nonzero(matrix)
    if row.size == matrix.size > 0:
        yield np.arange(matrix.shape[0]), np.arange(matrix.shape[1])
        return
    yield from (block for block in connected_blocks(row, column, matrix.shape) if block[1].size)


def null_space(rows: Any) -> sparse.csr_array:
    """Sparse basis Z (n, n − m) of the u with A u = 0, for A (m, n), ``rows``, with independent rows.

    Z is the identity in the free coordinates; column pivoting selects the m dependent ones. Entries that are round-off
    of their terms are zero, so that the pattern of Z does not depend on the processor.
    """
    full = rows.toarray() if sparse.issparse(rows) else rows
    rank, size = full.shape
    held = np.sort(pivots(full)[:rank])
    kept = np.setdiff1d(np.arange(size), held)
    scaled, _, sizes = equilibrated(full)
    scaled[np.abs(scaled) <= NOISE] = 0.0
    inverse = np.linalg.inv(scaled[:, held])
    follow = -inverse @ scaled[:, kept]
    follow[np.abs(follow) <= NOISE * (np.abs(inverse) @ np.abs(scaled[:, kept]))] = 0.0
    follow *= sizes[kept] / sizes[held][:, None]
    i, j = np.nonzero(follow)
    data = np.concatenate([np.ones(len(kept)), follow[i, j]])
    row, column = np.concatenate([kept, held[i]]), np.concatenate([np.arange(len(kept)), j])
    return sparse.csr_array((data, (row, column)), shape=(size, len(kept)))
