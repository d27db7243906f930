"""Least-energy changes under linear conditions, by one sparse factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..arrays import Array

REGULAR = 1e8
"""Growth of solutions of the scaled equations, the inverse square of a singular value of the conditions, up to which
these are certainly independent: dense decompositions call singular values below 1e-10 dependent."""
ROUNDS = 3
"""Number of inverse iterations to estimate the growth."""
SHORT = 1e-9
"""Length of a row, relative to the longest one, below which it may be round-off."""
EXACT = 1e-13
"""Largest defect of a refined solution, relative to its terms."""


def nearest_change(mass: Any, rows: Any, rates: Array) -> Array | None:
    """Solution δ (n,) of A δ = r with least ½δᵀMδ, for sparse M (n, n), positive definite, and A (k, n).

    It is the stationary point of ½δᵀMδ + μᵀ(r − Aδ), with rows and columns scaled; rows of zeros are left out. None
    unless the other rows clearly have full rank: a dense decomposition must decide then.
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
    """Lower estimate of the norm of the inverse of a factored matrix with entries of about one."""
    x, growth = np.random.default_rng(0).standard_normal(size), 0.0
    for _ in range(ROUNDS):
        y = factor.solve(x / np.linalg.norm(x))
        growth = float(np.linalg.norm(y))
        if not 0.0 < growth < np.inf:
            return np.inf
        x = factor.solve(y / growth, trans="T")
    return growth
