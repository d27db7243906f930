"""LDLᵀ factors of positive definite matrices with rows of different scales, and semi-definite products."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from .. import checks as check
from ..arrays import Array


def ldl(name: str, matrix: Array) -> tuple[Array, Array]:
    """Factors L (k, k), unit lower triangular, and d (k,) of a positive definite matrix ``A = L diag(d) Lᵀ``.

    Rows and columns are scaled to a unit diagonal first. Raises ValueError, with ``name``, unless A is positive
    definite.
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
    of_diagonal = root.diagonal()
    return size[:, None] * root / (of_diagonal * size), (of_diagonal * size) ** 2


def divided_by_factors(vectors: Array, L: Array, d: Array) -> Array:
    """Product ``vectors L⁻ᵀ diag(d)⁻¹`` of vectors (n, k) with the inverses of the factors L and d of :func:`ldl`."""
    return solve_triangular(L, vectors.T, lower=True, unit_diagonal=True).T / d


NEGATIVE = 1e-6
"""Negative eigenvalue, relative to the terms of a matrix, due to rounding to seven printed digits."""
NOISE = float(np.finfo(float).eps)
"""Round-off of a sum of products, relative to the sum of their magnitudes."""


def semi_definite_product(name: str, matrix: Any, basis: Any) -> Any:
    """Exactly semi-definite product TᵀVT (k, k) of a semi-definite V, ``matrix``, and a ``basis`` T (n, k).

    A column of T in the kernel of V gives a row of round-off with arbitrary sign and direction. Each row and column of
    the product is therefore scaled by the square root of its diagonal entry in |T|ᵀ|V||T|, the sum of absolute terms.
    Then eigenvalues below k times round-off are set to zero. The result is sparse if V and T are; rows are then tested
    one by one. Raises ValueError if an eigenvalue, or a diagonal entry of a sparse product, is below −1e-6 times its
    terms.
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
    """Diagonal (k,) of |T|ᵀ|V||T|, the sums of absolute terms of TᵀVT, for V (``matrix``) and T (``basis``)."""
    magnitudes = abs(basis)
    image = abs(matrix) @ magnitudes
    products = magnitudes.multiply(image) if sparse.issparse(magnitudes) else magnitudes * image
    return np.asarray(products.sum(axis=0)).ravel()


def _semi_definite(name: str, product: Array, size: Array) -> Array:
    """Semi-definite matrix near a product: eigenvalues of the product that are round-off are set to zero.

    ``size`` (k,) are the square roots of the absolute terms on the diagonal of the product, by which rows and columns
    are scaled. A definite product is returned unchanged.
    """
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
    """Sparse product with zeros in rows and columns whose diagonal entry is round-off of its terms.

    ``size`` (k,) are the square roots of these terms. Raises ValueError for an entry that is clearly negative.
    """
    unit = product.diagonal() / np.where(size > 0.0, size, 1.0) ** 2
    if unit.min(initial=0.0) < -NEGATIVE:
        raise ValueError(f"{name} must be positive semi-definite: diagonal entry {unit.min():.0e} of its terms")
    kept = sparse.diags_array((unit > NOISE * np.diff(product.indptr)).astype(float))
    cleared = sparse.csr_array(kept @ product @ kept)
    cleared.eliminate_zeros()
    return cleared


def without_round_off(matrix: Array, rows: Array, columns: Array) -> Any:
    """Sparse matrix with those entries of a dense one that are larger than round-off.

    An entry is round-off up to ROUND_OFF times the size of its row, in ``rows``, times the size of its column, in
    ``columns``.
    """
    return sparse.csr_array(np.where(np.abs(matrix) > check.ROUND_OFF * np.outer(rows, columns), matrix, 0.0))
