"""Mass-orthogonal complement of given motions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...numerics.arrays import Array


class Complement:
    """Projection I − X (XᵀMX)⁻¹XᵀM onto the complement of motions X (n, k) of full rank."""

    def __init__(self, mass: Any, motions: Any) -> None:
        self._mass, self.motions, self.count = mass, motions, motions.shape[1]
        if self.count:
            self._momenta = (mass @ motions).T
            gram = self._momenta @ motions
            self._gram = cho_factor(gram if isinstance(gram, np.ndarray) else gram.toarray())

    def project(self, v: Array) -> Array:
        """Projection of v (n,) or (n, k)."""
        if not self.count:
            return v
        return v - self.motions @ cho_solve(self._gram, self._momenta @ v)
