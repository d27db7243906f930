"""Changes of least energy that meet linear conditions, by one sparse factor."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..arrays import Array

REGULAR = 1e8
"""Growth of solutions of the scaled equations, an inverse square of singular values of the conditions, up to which they
are independent for certain: dense decompositions count those as dependent whose singular values are below 1e-10."""
ROUNDS = 3
"""Inverse iterations: an arbitrary vector has enough of the direction that grows most after the first one."""
SHORT = 1e-9
"""Length of a row over the longest one below which it may be round-off."""
EXACT = 1e-13
"""Defect over the sizes of its terms that a refined solution has at most."""


def nearest_change(mass: Any, rows: Any, rates: Array) -> Array | None:
    """The δ (n,) of least ½δᵀMδ with A δ = r, for sparse M (n, n), positive definite, and A (k, n).

    From the stationary point of ½δᵀMδ + μᵀ(r − Aδ), with rows and columns brought to one scale; rows of zeros, which
    nothing meets, are left out. None where the rank of the others is not full beyond doubt: whether conditions depend
    on others is decided by a dense decomposition.
    """
    diagonal = mass.diagonal()
    if not np.all(diagonal > 0.0):
        return None
    unit = 1.0 / np.sqrt(diagonal)
    A = sparse.csr_array(sparse.csr_array(rows) @ sparse.diags_array(unit))
    length = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    own, n = np.flatnonzero(length > 0.0), len(unit)
    if not own.size:
        return np.zeros(n)
    if own.size > n or length[own].min() < SHORT * length.max():
        return None
    A, right = sparse.diags_array(1.0 / length[own]) @ A[own], np.concatenate([np.zeros(n), rates[own] / length[own]])
    M = sparse.diags_array(unit) @ mass @ sparse.diags_array(unit)
    matrix = sparse.csc_array(sparse.block_array([[M, A.T], [A, None]]))
    try:
        factor = splu(matrix)
    except RuntimeError:  # exactly singular
        return None
    if not _growth(factor, matrix.shape[0]) <= REGULAR:
        return None
    solution = factor.solve(right)
    solution = solution + factor.solve(right - matrix @ solution)
    terms = abs(matrix) @ np.abs(solution) + np.abs(right)
    if np.abs(right - matrix @ solution).max() > EXACT * terms.max():
        return None
    return np.asarray(unit * solution[:n])


def _growth(factor: Any, size: int) -> float:
    """The norm of the inverse of a factored matrix of entries of about one, from below."""
    x, growth = np.random.default_rng(0).standard_normal(size), 0.0
    for _ in range(ROUNDS):
        y = factor.solve(x / np.linalg.norm(x))
        growth = float(np.linalg.norm(y))
        if not 0.0 < growth < np.inf:
            return np.inf
        x = factor.solve(y / growth, trans="T")
    return growth
