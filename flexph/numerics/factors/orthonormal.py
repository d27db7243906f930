"""Orthonormal bases in an inner product, by Gram-Schmidt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array

DEFLATION = 1e-8
"""Relative remainder of a vector orthogonal to the basis below which it is dependent: its direction is then round-off
of the solution it came from."""


def orthonormal(vectors: Array, weight: Any, deflation: float = DEFLATION) -> Array:
    """Basis Q (n, k), QᵀWQ = 1, of the span of vectors (n, p); see :func:`extend`."""
    return extend(np.zeros((len(vectors), 0)), vectors, weight, deflation)


def extend(basis: Array, vectors: Array, weight: Any, deflation: float = DEFLATION) -> Array:
    """Extend a basis Q (n, k), QᵀWQ = 1, by vectors (n, p) in their order; dependent ones are left out.

    Gram-Schmidt is done twice, as once loses orthogonality by the inverse of the remainder. Raises ValueError for a
    vector without energy.
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
