"""Buckling loads of a body that its model leaves out, and the axial force that straightens its bends."""

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


@dataclass(frozen=True, eq=False, kw_only=True)
class AxialStiffening:
    """Mean axial force N of a slender body beside its rigidities: N straightens a bend over the length √(EI/N).

        N = Σ_i weights_i f_i,   f = rows σ

    Parameters
    ----------
    rows : matrix
        Sparse (k, m), over the stress coordinates.
    weights : array
        (k,), which add up to 1.
    rigidities : array
        (s,) [N m²] against the turns of sections along the body: EI in the plane, (GJ, EI_y, EI_z) in space.
    length : float
        Length of the body [m].
    critical : float, optional
        Compression [N] at which the body would buckle, where its strain leaves out the work of N on slopes.
    """

    rows: Any
    weights: Array
    rigidities: Array
    length: float
    critical: float | None = None

    def force(self, sigma: Array) -> Array:
        """N of stresses σ (k, m), (k,) [N]."""
        mean: Array = (self.rows @ sigma.T).T @ self.weights
        return mean

    def over(self, stresses: Any) -> AxialStiffening:
        """The force over σ̂ of σ = S σ̂."""
        return replace(self, rows=self.rows @ stresses)
