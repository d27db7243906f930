"""Buckling loads beyond the model of a body, and the axial force that stiffens it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.arrays import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class BucklingLoad:
    """Critical value of a mean stress resultant, for a buckling mode that the model of a body does not describe.

        load = Σ_i weights_i |f_i|  or, of a compression,  max(0, −Σ_i weights_i f_i),   f = rows σ

    Parameters
    ----------
    load : str
        Name of the load ("axial compression").
    mode : str
        Name of the buckling mode ("Euler buckling").
    unit : str
        Unit of f.
    remedy : str
        Advice for the user.
    rows : matrix
        Sparse matrix (k, m) that acts on the stress coordinates.
    weights : array
        Weights (k,), which add up to 1.
    critical : float
        Critical load [unit of f], positive.
    compression : bool
        True for a compression, see above.
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
        """Load, relative to the critical one, for stresses σ (k, m), (k,)."""
        values = (self.rows @ sigma.T).T
        means = -values @ self.weights if self.compression else np.abs(values) @ self.weights
        return np.maximum(means, 0.0) / self.critical

    def over(self, stresses: Any) -> BucklingLoad:
        """Buckling load in terms of reduced stresses σ̂, σ = S σ̂."""
        return replace(self, rows=self.rows @ stresses)


@dataclass(frozen=True, eq=False, kw_only=True)
class AxialStiffening:
    """Mean axial force N and rigidities of a slender body: tension straightens a bend over the length √(EI/N).

        N = Σ_i weights_i f_i,   f = rows σ

    Parameters
    ----------
    rows : matrix
        Sparse matrix (k, m) that acts on the stress coordinates.
    weights : array
        Weights (k,), which add up to 1.
    rigidities : array
        Rigidities (s,) [N m²]: EI in the plane, (GJ, EI_y, EI_z) in space.
    length : float
        Length of the body [m].
    critical : float, optional
        Critical compression [N] of a body whose strain omits the work of N on slopes.
    """

    rows: Any
    weights: Array
    rigidities: Array
    length: float
    critical: float | None = None

    def force(self, sigma: Array) -> Array:
        """Axial force N for stresses σ (k, m), (k,) [N]."""
        mean: Array = (self.rows @ sigma.T).T @ self.weights
        return mean

    def over(self, stresses: Any) -> AxialStiffening:
        """Axial force in terms of reduced stresses σ̂, σ = S σ̂."""
        return replace(self, rows=self.rows @ stresses)
