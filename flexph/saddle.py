"""Linear systems that may be singular: freedoms or multipliers that the equations leave open."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .space import Array

NOISE = 1e-15
"""Entry over the largest one below which a row or column is round-off and not brought to scale."""
LOOSE = 1e8
"""Growth of a solution over its right-hand side, both scaled, beyond which a system counts as singular."""

LOOSEST = 1e13
"""The same where nothing but round-off is to be told from a pivot: 1/eps and three digits."""


def solve_saddle(matrix: Any, rhs: Array) -> Array:
    """Solve a square sparse system by LU, brought to one scale; the least-norm solution where it is singular."""
    row, column = scales(abs(sparse.csr_array(matrix)))
    scaled = sparse.csc_array(sparse.diags_array(row) @ matrix @ sparse.diags_array(column))
    right = row * rhs
    try:
        found = splu(scaled, permc_spec="COLAMD").solve(right)
    except RuntimeError:  # exactly singular
        return least_norm(matrix.toarray(), rhs)
    defect = np.abs(scaled @ found - right).max(initial=0.0)
    top = np.abs(right).max(initial=0.0)
    if not np.all(np.isfinite(found)) or np.abs(found).max(initial=0.0) > LOOSE * top or defect > 1e-10 * top:
        return least_norm(matrix.toarray(), rhs)
    solved: Array = column * found
    return solved


def solve_regular(matrix: Any, rhs: Array) -> Array | None:
    """Solve a square sparse system with one or many right-hand sides; None where it is singular.

    By LU after rows and columns are brought to one scale, refined once. Singular is what grows by more than
    ``LOOSEST``, which needs a right-hand side that meets the null space, or leaves a residual.
    """
    row, column = scales(abs(sparse.csr_array(matrix)))
    scaled = sparse.csc_array(sparse.diags_array(row) @ matrix @ sparse.diags_array(column))
    right = (rhs.T * row).T
    try:
        factor = splu(scaled, permc_spec="COLAMD")
    except RuntimeError:  # exactly singular
        return None
    found = factor.solve(right)
    found = found + factor.solve(right - scaled @ found)
    top, defect = np.abs(right).max(initial=0.0), np.abs(scaled @ found - right).max(initial=0.0)
    terms = (abs(scaled) @ np.abs(found)).max(initial=0.0)
    if not np.all(np.isfinite(found)) or defect > 1e-12 * terms or np.abs(found).max(initial=0.0) > LOOSEST * top:
        return None
    solved: Array = (found.T * column).T
    return solved


def scales(size: Any) -> tuple[Array, Array]:
    """Row and column factors that bring the largest entries to one, roughly; round-off is not blown up."""
    row, column = np.ones(size.shape[0]), np.ones(size.shape[1])
    largest = size.max() if size.nnz else 1.0
    rows, columns = (size.max(axis=axis).toarray().ravel() > NOISE * largest for axis in (1, 0))
    for _ in range(4):
        scaled = sparse.diags_array(row) @ size @ sparse.diags_array(column)
        for scale, axis, seen in ((row, 1, rows), (column, 0, columns)):
            top = scaled.max(axis=axis).toarray().ravel()
            scale /= np.sqrt(np.where(seen, top, 1.0))
    return row, column


def least_norm(matrix: Array, rhs: Array) -> Array:
    """Least-norm solution after rows and columns are brought to one scale (units differ by many orders)."""
    row, column = scales(abs(sparse.csr_array(matrix)))
    found: Array = column * np.linalg.lstsq(row[:, None] * matrix * column, row * rhs, rcond=1e-12)[0]
    return found
