"""Strain rows with nonlinear material laws in the general equations: their states are strains instead of stresses."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...kernels.arrays import Arrays, Index
from ...kernels.strains import strains
from ...numerics.arrays import Array


class StrainLaws:
    """Strain rows of a mechanism with a law of the stored energy ψ, in the general equations.

    In these rows states are the strains ε with ε̇ = D v, costates the stresses S(ε) = ∂H/∂ε, and H = Σ volume ψ.
    """

    def __init__(self, a: Arrays) -> None:
        self.a, self.stress = a, a.strains.stress

    @cached_property
    def entries(self) -> Index:
        """Indices, among all m stresses, of the strain rows with a law."""
        rows = [part.rows.ravel() for part in self.a.strains.laws]
        entries: Index = self.stress[np.concatenate([np.zeros(0, dtype=int), *rows])]
        return entries

    def sample(self, stresses: Array, product: Array) -> Array:
        """Array (m,) of the stresses, in which strain rows with a law have their strains instead.

        The strains follow from the values ``product`` (p,) of the products V·W.
        """
        if not self.a.strains.laws:
            return stresses
        values, strains_at = stresses.copy(), np.zeros(stresses.size)
        strains_at[self.stress] = strains(self.a.strains, product)
        values[self.entries] = strains_at[self.entries]
        return values

    def costate(self, values: Array) -> Array:
        """Stresses (m,) from a part of the state, ``values``, in which the rows with a law have strains."""
        stresses = values.copy()
        for part in self.a.strains.laws:
            stresses[self.stress[part.rows]] = part.law.at(part.strain(values[self.stress])).stress
        return stresses

    def slopes(self, values: Array) -> Array:
        """Derivatives (m, m) of :meth:`costate` with respect to ``values``: tangents of the laws, else identity."""
        slopes = np.eye(values.size)
        for part in self.a.strains.laws:
            entries = self.stress[part.rows]
            tangent = part.law.at(part.strain(values[self.stress])).tangent / part.volume[:, None, None]
            slopes[entries[:, :, None], entries[:, None, :]] = tangent
        return slopes

    def energy(self, values: Array) -> float:
        """Elastic energy [J] of ``values`` (m,): ½ σᵀCσ of the stresses, plus Σ volume ψ(ε) of the rows with a law."""
        plain, stored = values, 0.0
        if self.a.strains.laws:
            plain = values.copy()
            plain[self.entries] = 0.0
            for part in self.a.strains.laws:
                stored += float(part.volume @ part.law.at(part.strain(values[self.stress])).energy)
        return 0.5 * float(plain @ (self.a.compliance @ plain)) + stored
