"""Bases, ranks and angles of subspaces; orthonormal bases in an inner product by Gram-Schmidt."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import subspace_angles

from . import ranks
from .arrays import Array

RANK = 1e-10
"""Singular value of equilibrated rows, relative to the largest one, below which a row is dependent: structures result
from several eliminations, whose errors exceed round-off."""
MEMBER = 1e-10
"""Relative residual of the equations up to which a vector counts as a member of a subspace."""


def unit_rows(matrix: Array) -> Array:
    """Matrix whose rows are divided by their lengths; zero rows are unchanged."""
    size = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(size > 0.0, size, 1.0)


def unit_columns(matrix: Array, *, floor: float = 0.0) -> Array:
    """Matrix whose columns are divided by their lengths; columns not longer than ``floor`` are unchanged."""
    size = np.linalg.norm(matrix, axis=0)
    return matrix / np.where(size > floor, size, 1.0)


def rank_of(rows: Array) -> int:
    """Rank of a matrix, independent of the units of its rows and columns, with the tolerance ``RANK`` of the module."""
    return ranks.rank_of(rows, tolerance=RANK)


def left_null(matrix: Array) -> Array:
    """Rows N, a basis of the left null space of M: N M = 0, by elimination with complete pivoting.

    The largest entries of M, ``matrix``, must be of size one: values below RANK count as zero. Zero rows give
    rows of the unit matrix, and N stays sparse: rows of different units are mixed only if M mixes them.
    """
    work, rows = np.array(matrix, dtype=float), np.eye(len(matrix))
    for k in range(min(work.shape)):
        left = np.abs(work[k:])
        i, j = map(int, np.unravel_index(int(np.argmax(left)), left.shape))
        if left[i, j] <= RANK:
            return rows[k:]
        exchanged = np.array([k + i, k])
        work[[k, k + i]], rows[[k, k + i]] = work[exchanged], rows[exchanged]
        factor = work[k + 1 :, j] / work[k, j]
        work[k + 1 :] -= np.outer(factor, work[k])
        rows[k + 1 :] -= np.outer(factor, rows[k])
        work[k + 1 :, j] = 0.0
    return rows[min(work.shape) :]


def null_space(rows: Array) -> Array:
    """Orthonormal basis of the x with A x = 0, for A given by its rows, with the rank of :func:`rank_of`."""
    return ranks.subspaces(rows, tolerance=RANK).null


def echelon(columns: Array) -> tuple[Array, Array]:
    """Basis (n, k) of the span of k independent columns that is a unit matrix in k pivot rows; indices of these rows.

    Pivots are the largest entries in turn, so that no entry is much larger than one; round-off is set to zero.
    """
    basis = np.array(columns, dtype=float)
    pivots: list[int] = []
    for k in range(basis.shape[1]):
        left = np.abs(basis[:, k:])
        left[pivots] = 0.0
        i, j = map(int, np.unravel_index(int(np.argmax(left)), left.shape))
        basis[:, [k, k + j]] = basis[:, np.array([k + j, k])]
        basis[:, k] /= basis[i, k]
        others = np.arange(basis.shape[1]) != k
        basis[:, others] -= np.outer(basis[:, k], basis[i, others])
        pivots.append(i)
    basis[np.abs(basis) < 1e-13 * max(1, len(basis))] = 0.0
    basis[pivots] = np.eye(basis.shape[1])
    order = np.argsort(pivots)
    return basis[:, order], np.array(pivots, dtype=int)[order]


def with_unit_rows(basis: Array, pivots: Array) -> Array:
    """Basis (n, k) of the span of ``basis`` (n, k) that is a unit matrix in the k rows ``pivots``."""
    return np.linalg.solve(basis[pivots].T, basis.T).T


def principal_angles(one: Array, other: Array) -> Array:
    """Principal angles [rad] between the spans of the columns of two matrices of the same shape, largest first."""
    if one.shape != other.shape:
        raise ValueError(f"subspaces to compare must have the same dimension, got {one.shape[1]} and {other.shape[1]}")
    return np.asarray(subspace_angles(one, other)) if one.size else np.zeros(0)


def relative(residual: Array, scale: Array | float) -> float:
    """Largest absolute entry of a residual relative to a scale, a number or an array; scale 0 counts as 1."""
    return float(np.max(np.abs(residual) / np.where(np.asarray(scale) > 0.0, scale, 1.0), initial=0.0))


DEFLATION = 1e-8
"""Relative remainder of a vector orthogonal to the basis below which it is dependent: its direction is then round-off
of the solution it came from."""


def orthonormal(vectors: Array, weight: Any, deflation: float = DEFLATION) -> Array:
    """Basis Q (n, k) of the span of vectors (n, p) with QᵀWQ = 1, W = ``weight``; see :func:`extend`."""
    return extend(np.zeros((len(vectors), 0)), vectors, weight, deflation)


def extend(basis: Array, vectors: Array, weight: Any, deflation: float = DEFLATION) -> Array:
    """Basis Q (n, k) with QᵀWQ = 1, W = ``weight``, that begins with ``basis`` and also spans given vectors (n, p).

    The vectors are added in their order, and dependent ones are left out. Gram-Schmidt is done twice, as one pass loses
    orthogonality in inverse proportion to the length of the remainder. Raises ValueError for a vector v ≠ 0 with vᵀWv =
    0.
    """
    whole = np.empty((len(basis), basis.shape[1] + vectors.shape[1]))
    count = basis.shape[1]
    whole[:, :count] = basis
    weighted = np.empty_like(whole)
    weighted[:, :count] = weight @ basis
    for vector in vectors.T:
        before = np.sqrt(max(vector @ (weight @ vector), 0.0))
        if not before > 0.0:
            if np.any(vector):
                raise ValueError("E must be positive definite, but a motion has no energy: condense it first")
            continue
        left = vector / before
        for _ in range(2):
            left = left - whole[:, :count] @ (weighted[:, :count].T @ left)
        heavy = weight @ left
        size = np.sqrt(max(left @ heavy, 0.0))
        if size > deflation:
            whole[:, count], weighted[:, count] = left / size, heavy / size
            count += 1
    return whole[:, :count]
