"""Positive semi-definiteness of symmetric matrices, dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .. import checks as check
from ..arrays import Array
from .positive_definite import positive_solver
from .symmetric_factor import SymmetricFactor


def check_semi_definite(name: str, a: Any) -> None:
    """Check A ⪰ 0 up to round-off, for symmetric A.

    Rows are scaled to a unit diagonal first, so that the tolerance does not depend on units.
    """
    diagonal = a.diagonal()
    if np.any(diagonal < 0.0):
        raise ValueError(f"{name} must be positive semi-definite: smallest diagonal entry {diagonal.min():.3e}")
    used = np.flatnonzero(diagonal > 0.0)
    if check.norm(a) > check.norm(a[used][:, used]) * (1.0 + check.ROUND_OFF):
        raise ValueError(f"{name} must be positive semi-definite: a zero on the diagonal of a row that is not zero")
    if not used.size:
        return
    scale = 1.0 / np.sqrt(diagonal[used])
    if sparse.issparse(a):
        unit = sparse.diags_array(scale) @ a[used][:, used] @ sparse.diags_array(scale)
        _sparse_semi_definite(name, unit, used.size)
        return
    unit = scale[:, None] * a[np.ix_(used, used)] * scale
    shift = check.ROUND_OFF * used.size
    try:
        np.linalg.cholesky(unit + shift * np.eye(used.size))
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(unit)[0]
        raise ValueError(
            f"{name} must be positive semi-definite: lowest eigenvalue {lowest:.3e} (unit diagonal)"
        ) from None


def root_of(matrix: Array) -> Array:
    """Factor L of A = LLᵀ ⪰ 0, with as many columns as the rank of A."""
    values, vectors = np.linalg.eigh(matrix)
    positive = values > check.ROUND_OFF * max(float(values[-1]), 0.0)
    return vectors[:, positive] * np.sqrt(values[positive])


def _sparse_semi_definite(name: str, unit: Any, size: int) -> None:
    """Check the signs of the pivots of a symmetric factorisation (Sylvester's law of inertia)."""
    shifted = unit + check.ROUND_OFF * size * sparse.eye_array(size)
    try:
        if size > check.LARGE:
            positive_solver(shifted)
            return
        lowest = SymmetricFactor(shifted).pivots.min()
    except ValueError:
        raise ValueError(f"{name} must be positive semi-definite: a pivot is negative") from None
    if lowest <= 0.0:
        raise ValueError(f"{name} must be positive semi-definite: lowest pivot {lowest:.3e} (unit diagonal)")
