"""Orthonormal bases in an inner product, by the method of Gram and Schmidt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array

DEFLATION = 1e-8
"""What is left of a vector beside the basis, relative to itself, from which it adds nothing: below, its direction is
the round-off of the solution it came from."""


def orthonormal(vectors: Array, weight: Any, deflation: float = DEFLATION) -> Array:
    """A basis Q (n, k), QᵀWQ = 1, of the span of the vectors (n, p); see :func:`extend`."""
    return extend(np.zeros((len(vectors), 0)), vectors, weight, deflation)


def extend(basis: Array, vectors: Array, weight: Any, deflation: float = DEFLATION) -> Array:
    """The basis Q (n, k), QᵀWQ = 1, and what the vectors (n, p) add to it, in their order; dependent ones are left out.

    Gram-Schmidt, done twice: once leaves a loss of orthogonality by the inverse of what is left. Raises ValueError
    for a vector without energy.
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
                raise ValueError("E must be positive definite: there is a motion without energy; condense it first")
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
