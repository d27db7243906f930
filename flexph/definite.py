"""Positive definite matrices whose rows are of different scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from . import checks as check
from .space import Array


def ldl(name: str, matrix: Array) -> tuple[Array, Array]:
    """L (k, k) and d (k,) of ``A = L diag(d) Lᵀ``, L unit lower triangular.

    Raises ValueError where A is not positive definite; rows and columns are brought to a unit diagonal first.
    """
    diagonal = matrix.diagonal()
    if not np.all(diagonal > 0.0):
        worst = int(np.argmin(diagonal))
        raise ValueError(f"{name} must be positive definite: entry ({worst}, {worst}) is {diagonal[worst]:.3g}")
    size = np.sqrt(diagonal)
    unit = matrix / np.outer(size, size)
    try:
        root = np.linalg.cholesky(0.5 * (unit + unit.T))
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(unit)[0]
        raise ValueError(f"{name} must be positive definite: lowest eigenvalue {lowest:.0e} (unit diagonal)") from None
    own = root.diagonal()
    return size[:, None] * root / (own * size), (own * size) ** 2


def divided(vectors: Array, L: Array, d: Array) -> Array:
    """``vectors L⁻ᵀ diag(d)⁻¹``, (n, k)."""
    made: Array = solve_triangular(L, vectors.T, lower=True, unit_diagonal=True).T / d
    return made


NEGATIVE = 1e-6
"""Negative eigenvalue, of a matrix at the size of its terms, that seven printed digits may leave."""


def semi_definite_product(name: str, matrix: Any, basis: Array) -> Array:
    """TᵀVT (k, k) of a semi-definite V, sparse or dense, and a basis T (n, k): semi-definite to the last digit.

    Of its eigenvalues, each row and column divided by the size of the products it sums, those below round-off are zero.
    Raises ValueError where one is negative by more.
    """
    size = np.sqrt(np.einsum("nk,nk->k", np.abs(basis), abs(matrix) @ np.abs(basis)))
    size = np.where(size > 0.0, size, 1.0)
    unit = basis.T @ (matrix @ basis) / np.outer(size, size)
    values, vectors = np.linalg.eigh(0.5 * (unit + unit.T))
    if values[0] < -NEGATIVE:
        raise ValueError(f"{name} must be positive semi-definite: lowest eigenvalue {values[0]:.0e} of its terms")
    root = size[:, None] * vectors * np.sqrt(np.where(values > check.ROUND_OFF, values, 0.0))
    made: Array = root @ root.T
    return made


def dropped(matrix: Array, rows: Array, columns: Array) -> Any:
    """The matrix, sparse, without the entries that are round-off of products of its rows' and columns' sizes."""
    return sparse.csr_array(np.where(np.abs(matrix) > check.ROUND_OFF * np.outer(rows, columns), matrix, 0.0))
