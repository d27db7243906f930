"""Number of negative eigenvalues of symmetric matrices, by Sylvester's law of inertia."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import ldl

from ..arrays import Array
from . import positive_definite as positive
from .symmetric_factor import SymmetricFactor


class Inertia(NamedTuple):
    """Number of negative eigenvalues of a matrix A, and ``defect`` = Xᵀ(A − Ã)X of the factored matrix Ã.

    To first order, the eigenvalues of the pencil (A, W) for eigenvectors X, XᵀWX = 1, differ from those of (Ã, W) by at
    most the norm of the defect: the sign of an eigenvalue nearer to zero is uncertain.
    """

    negative: int
    defect: Array


def inertia(matrix: Any, vectors: Array) -> Inertia:
    """Inertia of a symmetric matrix, sparse or dense, with the defect of its factors on vectors X (n, k).

    By the signs of the pivots of LDLᵀ. Dense matrices use LAPACK with Bunch-Kaufman pivoting. Large sparse ones use
    PARDISO if installed (backward stable, with a defect of zero), others SuperLU without pivoting, whose factors may be
    inaccurate, as the defect shows. Raises ArithmeticError if the factorisation fails.
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
