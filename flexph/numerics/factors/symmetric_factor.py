"""LDLᵀ factors of sparse symmetric matrices by SuperLU, without pivoting."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..arrays import Array
from .memory_cost import Cost, announced
from .symbolic_factor import column_counts, minimum_degree_order

FEW = 5000
"""Number of unknowns up to which a factorisation is fast and not announced."""
BYTES = 40.0
"""Memory [bytes] for each entry of L while SuperLU's factors are copied for their pivots; measured 40 to 44."""


class SymmetricFactor:
    """Factors ``P A Pᵀ = L U`` with U = D Lᵀ up to round-off, P a fill-reducing order, and pivots on the diagonal.

    The factorisation is stable for positive definite A. For an indefinite A, the factors are those of a nearby matrix,
    and :meth:`defect` measures the difference. A large factorisation is announced before it starts. Raises ValueError
    for a zero pivot, and MemoryError if memory is insufficient.
    """

    def __init__(self, matrix: Any, advice: str = "") -> None:
        full = sparse.csc_array(matrix)
        self._matrix, self._order = full, minimum_degree_order(full)
        permuted = sparse.csc_array(full[self._order][:, self._order])
        with announced(full.shape[0], _cost(full, self._order), "SuperLU", advice):
            try:
                self._factor = splu(
                    permuted, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
                )
            except RuntimeError:
                raise ValueError("matrix must have a symmetric factor: a pivot is zero") from None
        if not np.array_equal(self._factor.perm_r, self._factor.perm_c):
            raise ValueError("matrix must have a symmetric factor: a pivot is zero")

    @property
    def pivots(self) -> Array:
        """Pivots D (n,), in the order of the rows of A."""
        pivots = np.empty(len(self._order))
        pivots[self._order] = self._factor.U.diagonal()[self._factor.perm_c]
        return pivots

    def solve(self, right: Array) -> Array:
        """Solve A x = b for right-hand sides (n,) or (n, k)."""
        solution = np.empty(right.shape)
        solution[self._order] = self._factor.solve(np.ascontiguousarray(right[self._order], dtype=float))
        return solution

    def defect(self, x: Array) -> Array:
        """Backward error (A − Pᵀ L U P) x of the factorisation on vectors x (n,) or (n, k)."""
        inner = np.empty(x.shape)
        inner[self._factor.perm_c] = x[self._order]
        product = np.empty(x.shape)
        product[self._order] = (self._factor.L @ (self._factor.U @ inner))[self._factor.perm_c]
        return self._matrix @ x - product


def _cost(matrix: Any, order: Array) -> Cost:
    """Cost of the factors; zero for small ones."""
    if matrix.shape[0] < FEW:
        return Cost(0.0, 0.0)
    counts = column_counts(matrix, order).astype(float)
    return Cost(memory=BYTES * counts.sum(), operations=2.0 * float(counts @ counts))
