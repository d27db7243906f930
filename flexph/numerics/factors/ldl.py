"""LDLᵀ factors of positive definite matrices whose rows are of different scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from .. import checks as check
from ..arrays import Array


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
    return solve_triangular(L, vectors.T, lower=True, unit_diagonal=True).T / d


NEGATIVE = 1e-6
"""Negative eigenvalue, of a matrix at the size of its terms, that seven printed digits may leave."""
NOISE = float(np.finfo(float).eps)
"""Round-off of a sum of products over the sum of their sizes."""


def semi_definite_product(name: str, matrix: Any, basis: Any) -> Any:
    """TᵀVT (k, k) of a semi-definite V, sparse or dense, and a basis T (n, k): semi-definite to the last digit.

    A sum of products is known to their size only: a column in the kernel of V leaves a row of round-off, whose sign and
    direction mean nothing. So each row and column is divided by the square root of |T|ᵀ|V||T|, its terms. Eigenvalues
    below k times the round-off of these are zero. Sparse where V and T are; rows are then judged one by one.
    Raises ValueError where an eigenvalue, or a diagonal entry of a sparse one, is negative by more than 1e-6 of them.
    """
    if not (matrix.nnz if sparse.issparse(matrix) else matrix.any()):
        shape = (basis.shape[1],) * 2
        return sparse.csr_array(shape) if sparse.issparse(matrix) and sparse.issparse(basis) else np.zeros(shape)
    product = basis.T @ (matrix @ basis)
    product = 0.5 * (product + product.T)
    size = np.sqrt(_terms(matrix, basis))
    if sparse.issparse(product):
        return _without_noise(name, sparse.csr_array(product), size)
    used = np.flatnonzero(size)
    factor = np.zeros_like(product)
    factor[np.ix_(used, used)] = _semi_definite(name, product[np.ix_(used, used)], size[used])
    return factor


def _terms(matrix: Any, basis: Any) -> Array:
    """Diagonal of |T|ᵀ|V||T|, (k,)."""
    own = abs(basis)
    image = abs(matrix) @ own
    products = own.multiply(image) if sparse.issparse(own) else own * image
    return np.asarray(products.sum(axis=0)).ravel()


def _semi_definite(name: str, product: Array, size: Array) -> Array:
    """The nearest semi-definite matrix to a product with terms of that size; itself where it is definite."""
    unit, noise = product / np.outer(size, size), NOISE * len(size)
    try:
        np.linalg.cholesky(unit - noise * np.eye(len(size)))
        return product
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(unit)
    if values[0] < -NEGATIVE:
        raise ValueError(f"{name} must be positive semi-definite: lowest eigenvalue {values[0]:.0e} of its terms")
    root = vectors * np.sqrt(np.where(values > noise, values, 0.0))
    root[np.einsum("ij,ij->i", root, root) <= noise] = 0.0
    root *= size[:, None]
    return root @ root.T


def _without_noise(name: str, product: Any, size: Array) -> Any:
    """The product, sparse, without the rows and columns whose diagonal is round-off of its terms."""
    unit = product.diagonal() / np.where(size > 0.0, size, 1.0) ** 2
    if unit.min(initial=0.0) < -NEGATIVE:
        raise ValueError(f"{name} must be positive semi-definite: diagonal entry {unit.min():.0e} of its terms")
    kept = sparse.diags_array((unit > NOISE * np.diff(product.indptr)).astype(float))
    cleared = sparse.csr_array(kept @ product @ kept)
    cleared.eliminate_zeros()
    return cleared


def dropped(matrix: Array, rows: Array, columns: Array) -> Any:
    """The matrix, sparse, without the entries that are round-off of products of its rows' and columns' sizes."""
    return sparse.csr_array(np.where(np.abs(matrix) > check.ROUND_OFF * np.outer(rows, columns), matrix, 0.0))
