"""Buckling load of a body: that of a buckling which its model leaves out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.arrays import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class BucklingLoad:
    """A mean stress resultant at which what a body leaves out would buckle it.

        load = Σ_i weights_i |f_i|  or, of a compression,  max(0, −Σ_i weights_i f_i),   f = rows σ

    Parameters
    ----------
    load : str
        Its name in a sentence ("axial compression").
    mode : str
        What it would do ("Euler buckling").
    unit : str
        Unit of f.
    remedy : str
        What a user can do.
    rows : matrix
        Sparse (k, m), over the stress coordinates.
    weights : array
        (k,), which add up to 1.
    critical : float
        The load [unit of f], positive.
    compression : bool
        Which of both loads.
    """

    load: str
    mode: str
    unit: str
    remedy: str
    rows: Any
    weights: Array
    critical: float
    compression: bool = False

    def share(self, sigma: Array) -> Array:
        """Load over the critical one for stresses σ (k, m), (k,)."""
        values = (self.rows @ sigma.T).T
        means = -values @ self.weights if self.compression else np.abs(values) @ self.weights
        return np.maximum(means, 0.0) / self.critical

    def over(self, stresses: Any) -> BucklingLoad:
        """The load over σ̂ of σ = S σ̂."""
        return replace(self, rows=self.rows @ stresses)
