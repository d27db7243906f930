"""Eigenvalues of s E x = A x with symmetric E ⪰ 0, whose entries may be of very different sizes.

Masses and compliances have different units and sizes, such as 1e-2 kg and 1e-15 m/N: an error of the round-off of ‖E‖
exceeds the smaller entries. So the coordinates are scaled by the diagonal of E first.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, eig, eigvals, solve_triangular

from ...numerics.arrays import Array


def balanced(e: Array, a: Array) -> tuple[Array, Array, Array]:
    """Matrices E and A, scaled so that nonzero diagonal entries of E are one, and factors d (n,), x = d·x_scaled."""
    diagonal = np.diagonal(e)
    d = np.ones(len(e))
    d[diagonal > 0.0] = diagonal[diagonal > 0.0] ** -0.5
    return d[:, None] * e * d, d[:, None] * a * d, d


def eigenvalues(e: Array, a: Array) -> Array:
    """All finite eigenvalues s of s E x = A x, complex.

    With E = L Lᵀ they are those of L⁻¹ A L⁻ᵀ; an E that is singular to round-off is left to the QZ algorithm.
    """
    e, a, _ = balanced(e, a)
    try:
        lower = cholesky(e, lower=True)
    except np.linalg.LinAlgError:
        lower = np.zeros_like(e)
    if not len(e) or (np.diagonal(lower) ** 2).min() > len(e) * np.finfo(float).eps:
        half = solve_triangular(lower, a, lower=True)
        return eigvals(solve_triangular(lower, half.T, lower=True).T).astype(complex)
    values = eig(a, e, right=False)
    return values[np.isfinite(values)]
