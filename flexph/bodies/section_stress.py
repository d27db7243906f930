"""Stresses over the sections of a beam or rod, from its forces and moments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from .elasticity import rows_over

RESULTANTS = 6
"""Number of resultants N, Q_y, Q_z, T, M_y, M_z of a section, exerted by the side ahead, in section axes."""


@dataclass(frozen=True, eq=False)
class SectionStress:
    """Stresses (σ_xx, τ_xy, τ_xz) at points of s sections as linear maps of their six resultants.

    Each drawn piece of the line has a section at both ends, as resultants may jump between pieces.

    Parameters
    ----------
    resultants : matrix
        Resultants N, Q_y, Q_z [N], T, M_y, M_z [N m] of the sections per stress coordinate, (6s, m).
    factors : array
        Stresses at q points per resultant, (s, q, 3, 6), or (1, q, 3, 6) for equal sections.
    round : array
        1 for round sections, whose points turn with the bending moment so that one has the largest stress; (1,) or
        (s,).
    corners : array
        Axial stress at the drawn corners of the section per resultant, (1, c, 6) or (s, c, 6).
    cell : array
        Piece of each section, ascending, (s,).
    ring : array
        Number of the drawn outline of each section, (s,).
    drawn : array
        Piece that each drawn cell belongs to, (c,).
    positions : array
        Positions of the sections (s, d) [m].
    complete : bool
        True if shear stresses are known, too; False for sections given by areas and second moments only.
    """

    resultants: Any
    factors: Array
    round: Array
    corners: Array
    cell: Array
    ring: Array
    drawn: Array
    positions: Array
    complete: bool

    def over(self, basis: Any) -> SectionStress:
        """Section stresses in terms of the coordinates σ̂ of σ = S σ̂."""
        return replace(self, resultants=rows_over(self.resultants, basis))

    def of(self, sigma: Array) -> Array:
        """Resultants (k, s, 6) for stress coordinates (k, m)."""
        return np.asarray((self.resultants @ sigma.T).T).reshape(len(sigma), -1, RESULTANTS)

    def von_mises(self, sigma: Array) -> Array:
        """Largest √(σ² + 3τ²) over each section, with σ and τ at the same point, (k, s)."""
        axial, shear = self._at_points(sigma)
        return np.sqrt((axial**2 + 3.0 * shear).max(axis=-1))

    def principal(self, sigma: Array) -> tuple[Array, Array]:
        """Largest and smallest principal stress over each section, σ/2 ± √(σ²/4 + τ²), (k, s) each."""
        axial, shear = self._at_points(sigma)
        root = np.sqrt(0.25 * axial**2 + shear)
        return (0.5 * axial + root).max(axis=-1), (0.5 * axial - root).min(axis=-1)

    def _at_points(self, sigma: Array) -> tuple[Array, Array]:
        """Stresses σ_xx and squares τ_xy² + τ_xz² at the points of the sections, (k, s, q)."""
        own = self.of(sigma)
        if self.round.any():
            own = np.where(self.round[:, None] > 0.0, turned(own), own)
        axial, along_y, along_z = (_mapped(self.factors[:, :, i], own) for i in range(3))
        return axial, along_y**2 + along_z**2

    def axial(self, sigma: Array) -> Array:
        """Axial stress (k, rings, c) at the drawn corners, the mean of the pieces that meet there."""
        values = _mapped(self.corners, self.of(sigma))
        rings = np.zeros((int(self.ring.max()) + 1, *np.moveaxis(values, 1, 0).shape[1:]))
        np.add.at(rings, self.ring, np.moveaxis(values, 1, 0))
        return np.moveaxis(rings / np.bincount(self.ring)[:, None, None], 0, 1)


def _mapped(factors: Array, resultants: Array) -> Array:
    """Products of factors (1, n, 6) or (s, n, 6) and resultants (k, s, 6), (k, s, n)."""
    if len(factors) == 1:
        return np.asarray(resultants @ factors[0].T)
    return np.asarray(np.matmul(factors, resultants[..., None])[..., 0])


def turned(resultants: Array) -> Array:
    """Resultants (…, 6) in axes whose y points to the most stretched fibre of bending, or along the shear force."""
    N, along_y, along_z, T, about_y, about_z = np.moveaxis(resultants, -1, 0)
    bent = np.hypot(about_y, about_z)
    sheared = np.hypot(along_y, along_z)
    length = np.where(bent > 0.0, bent, np.where(sheared > 0.0, sheared, 1.0))
    y, z = np.where(bent > 0.0, -about_z, along_y) / length, np.where(bent > 0.0, about_y, along_z) / length
    none = np.zeros_like(N)
    return np.stack([N, y * along_y + z * along_z, y * along_z - z * along_y, T, none, -bent], axis=-1)
