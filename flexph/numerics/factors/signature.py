"""Signs of symmetric matrices: inertia (Sylvester's law), signature of a stiffness matrix, semi-definiteness.

The number of negative directions does not depend on coordinates or masses, nor on the frequencies of a mesh.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh, ldl, svd

from .. import checks as check
from ..arrays import Array
from . import positive_definite as positive
from .positive_definite import positive_solver
from .symmetric_factor import SymmetricFactor


class Inertia(NamedTuple):
    """Number of negative eigenvalues of a matrix A, as counted by factors, and an estimate of its uncertainty.

    The factors are those of a nearby matrix Ã, and ``defect`` is Xᵀ(A − Ã)X on vectors X. To first order, the
    eigenvalues of the pencil (A, W) for eigenvectors X, XᵀWX = 1, differ from those of (Ã, W) by at most the norm of
    the defect: the sign of an eigenvalue nearer to zero is uncertain.
    """

    negative: int
    defect: Array


def inertia(matrix: Any, vectors: Array) -> Inertia:
    """Number of negative eigenvalues of a symmetric matrix, sparse or dense, with the defect of its factors on vectors.

    ``vectors`` are X (n, k). Eigenvalues are counted by the signs of the pivots of LDLᵀ. Dense matrices use LAPACK with
    Bunch-Kaufman pivoting. Large sparse ones use PARDISO if installed (backward stable, with a defect of zero), others
    SuperLU without pivoting, whose factors may be inaccurate, as the defect shows. Raises ArithmeticError if the
    factorisation fails.
    """
    if not sparse.issparse(matrix):
        lower, blocks, _ = ldl(matrix)
        values = np.linalg.eigvalsh(blocks) if np.any(np.diag(blocks, 1)) else np.diag(blocks)
        defect = vectors.T @ (matrix @ vectors) - (lower.T @ vectors).T @ blocks @ (lower.T @ vectors)
        return Inertia(int(np.sum(values < 0.0)), defect)
    if positive.PARDISO and matrix.shape[0] > positive.FEW:
        return Inertia(positive.pardiso_negative_pivots(matrix), np.zeros((vectors.shape[1],) * 2))
    try:
        factor = SymmetricFactor(matrix)
    except ValueError:
        raise ArithmeticError("a pivot of the matrix is zero: eigenvalues cannot be counted by their signs") from None
    return Inertia(int(np.sum(factor.pivots < 0.0)), vectors.T @ factor.defect(vectors))


BALANCINGS = 30
"""Number of scalings of rows and columns; each halves the logarithms of their largest entries."""


class Signature(NamedTuple):
    """Signs of a stiffness matrix K: number of negative directions of ½(K + Kᵀ), null space, and symmetry.

    ``neutral`` (n, k) is a basis of the null space of K. ``symmetric`` is True if K = Kᵀ within the errors of K.
    """

    negative: int
    neutral: Array
    symmetric: bool


def signature(matrix: Array, noise: Array) -> Signature:
    """Signature of a matrix (n, n) whose entries have errors of at most ``noise`` (n, n), symmetric.

    Rows and columns are scaled so that the largest noise in each is 1. The sign of an eigenvalue is certain if it
    exceeds the norm of the scaled noise (Weyl). Directions with smaller singular values count as neutral.
    """
    if not matrix.size:
        return Signature(0, np.zeros((len(matrix), 0)), True)
    scale = balance(noise)
    scaled = matrix * np.outer(scale, scale)
    certain = float(np.linalg.norm(noise * np.outer(scale, scale), 2))
    _, values, right = svd(scaled)
    certain += len(values) * np.finfo(float).eps * float(values[0])  # round-off of the decompositions
    neutral = values <= certain
    return Signature(
        negative=int(np.sum(eigvalsh(0.5 * (scaled + scaled.T)) < -certain)),
        neutral=scale[:, None] * right[neutral].T,
        symmetric=bool(np.linalg.norm(scaled - scaled.T, 2) <= 2.0 * certain),
    )


def balance(size: Any) -> Array:
    """Scales d (n,) > 0 for which the largest entry in each row of diag(d) size diag(d) is 1 (Ruiz's method).

    ``size`` ≥ 0 is symmetric, dense or sparse. Rows of zeros keep d = 1.
    """
    scale = np.ones(size.shape[0])
    for _ in range(BALANCINGS):
        rows = size * scale
        largest = (rows.max(axis=1).toarray() if sparse.issparse(rows) else rows.max(axis=1, initial=0.0)) * scale
        scale = scale / np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return scale


def check_semi_definite(name: str, a: Any) -> None:
    """Raise ValueError unless a symmetric matrix is positive semi-definite up to round-off.

    Rows are scaled to a unit diagonal first, so that the tolerance does not depend on units.
    """
    if sparse.issparse(a) and a.shape[0] ** 2 <= check.SMALL and _is_semi_definite(a.toarray()):
        return
    diagonal = a.diagonal()
    if np.any(diagonal < 0.0):
        raise ValueError(f"{name} must be positive semi-definite: smallest diagonal entry {diagonal.min():.3e}")
    used = np.flatnonzero(diagonal > 0.0)
    if check.norm(a) > check.norm(a[used][:, used]) * (1.0 + check.ROUND_OFF):
        raise ValueError(f"{name} must be positive semi-definite: a zero on the diagonal of a row that is not zero")
    if not used.size:
        return
    scale = 1.0 / np.sqrt(diagonal[used])
    if sparse.issparse(a):
        unit = sparse.diags_array(scale) @ a[used][:, used] @ sparse.diags_array(scale)
        _sparse_semi_definite(name, unit, used.size)
        return
    unit = scale[:, None] * a[np.ix_(used, used)] * scale
    shift = check.ROUND_OFF * used.size
    try:
        np.linalg.cholesky(unit + shift * np.eye(used.size))
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(unit)[0]
        raise ValueError(
            f"{name} must be positive semi-definite: lowest eigenvalue {lowest:.3e} (unit diagonal)"
        ) from None


def _is_semi_definite(a: Array) -> bool:
    """True if a dense symmetric matrix is positive semi-definite up to round-off, as in :func:`check_semi_definite`."""
    diagonal = a.diagonal()
    zero = diagonal == 0.0
    if np.any(diagonal < 0.0) or np.any(a[zero]):
        return False
    scale = 1.0 / np.sqrt(np.where(zero, 1.0, diagonal))
    unit = scale[:, None] * a * scale
    try:
        np.linalg.cholesky(unit + np.diag(np.where(zero, 1.0, check.ROUND_OFF * np.count_nonzero(~zero))))
    except np.linalg.LinAlgError:
        return False
    return True


def root_of(matrix: Array) -> Array:
    """Factor L (n, r) of a semi-definite matrix A = LLᵀ (n, n) of rank r."""
    values, vectors = np.linalg.eigh(matrix)
    positive = values > check.ROUND_OFF * max(float(values[-1]), 0.0)
    return vectors[:, positive] * np.sqrt(values[positive])


def _sparse_semi_definite(name: str, unit: Any, size: int) -> None:
    """Raise ValueError unless a sparse matrix with a unit diagonal is positive semi-definite up to round-off.

    It is tested by the signs of its pivots (Sylvester's law of inertia); ``size`` is its number of rows.
    """
    shifted = unit + check.ROUND_OFF * size * sparse.eye_array(size)
    try:
        if size > check.LARGE:
            positive_solver(shifted)
            return
        lowest = SymmetricFactor(shifted).pivots.min()
    except ValueError:
        raise ValueError(f"{name} must be positive semi-definite: a pivot is negative") from None
    if lowest <= 0.0:
        raise ValueError(f"{name} must be positive semi-definite: lowest pivot {lowest:.3e} (unit diagonal)")
