"""Stacks of bilinear forms of a body, dense if that is faster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array

DENSE_LIMIT = 30_000
"""Number of entries up to which forms are dense: a dense product is then faster than a sparse one (5 to 10 µs)."""


def stacked(forms: Sequence[Any]) -> Any:
    """Stack forms with the same columns, dense or sparse."""
    whole = sparse.csr_array(sparse.vstack([_rows(form) for form in forms]))
    return whole.toarray() if np.prod(whole.shape) <= DENSE_LIMIT else whole


def _rows(form: Any) -> Any:
    """Form in the CSR format; forms of large bodies about mean axes may be bordered (see mean_axes)."""
    return sparse.csr_array(form if isinstance(form, np.ndarray) or sparse.issparse(form) else form.toarray())


class FormStack:
    """Stack of forms F_a (m, n), a = 1 … s, dense or sparse."""

    def __init__(self, forms: Sequence[Any], columns: int) -> None:
        self._forms = [_rows(form) for form in forms]
        self.shape = (len(self._forms), self._forms[0].shape[0], columns)
        self._whole = stacked(forms)
        self._dense = None if sparse.issparse(self._whole) else self._whole.reshape(self.shape)

    def times(self, u: Array) -> Array:
        """Products F_a u, (s, m)."""
        image: Array = self._whole.dot(u).reshape(self.shape[:2])
        return image

    def weighted(self, weights: Array) -> Array:
        """Sum Σ_a weights_a F_a, (m, n)."""
        if self._dense is not None:
            flat = self._dense.reshape(len(weights), self.shape[1] * self.shape[2])
            return weights.dot(flat).reshape(self.shape[1:])
        total = sum(weight * form for weight, form in zip(weights.tolist(), self._forms, strict=True))
        return np.asarray(total.toarray())

    def transposed(self, w: Array) -> Array:
        """Products F_aᵀ w, (s, n)."""
        return np.array([form.T @ w for form in self._forms]) if self._dense is None else w @ self._dense
