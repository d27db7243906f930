"""Signature of a stiffness matrix: numbers of negative, neutral and positive directions (Sylvester's law of inertia).

The number of negative directions does not depend on coordinates or masses, nor on the frequencies of a mesh.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh, svd

from ..arrays import Array

BALANCINGS = 30
"""Number of scalings of rows and columns; each halves the logarithms of their largest entries."""


class Signature(NamedTuple):
    """Number of negative directions of ½(K + Kᵀ), basis of the null space of K (n, k), and True if K = Kᵀ."""

    negative: int
    neutral: Array
    symmetric: bool


def signature(matrix: Array, noise: Array) -> Signature:
    """Signature of a matrix (n, n) with errors |δ_ij| ≤ noise_ij, noise (n, n) symmetric.

    Rows and columns are scaled so that the largest noise in each is 1. The sign of an eigenvalue is certain if it
    exceeds the norm of the scaled noise (Weyl); directions below count as neutral.
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
