"""Laws in Green's strain for space, plane strain and plane stress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.discrete_gradients.stored_energies import Evaluated
from flexph.numerics.arrays import Array

from .hyperelastic import FIRST, SECOND, Hyperelastic

UNLOADED = 1e-9
"""Stress without strain, relative to the stiffness, below which it is round-off."""


def tensors_of(strain: Array) -> Array:
    """Tensors C = 1 + 2E (k, 3, 3) from strains in Voigt order (k, 6)."""
    C = np.zeros((len(strain), 3, 3))
    values = strain.copy()
    values[:, :3] = 1.0 + 2.0 * values[:, :3]
    C[:, FIRST, SECOND] = C[:, SECOND, FIRST] = values
    return C


@dataclass(frozen=True)
class SpatialLaw:
    """A law ψ(C) as a function of Green's strain (k, 6) in Voigt order."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """Energy ψ, stress S (k, 6) and tangent ∂S/∂E (k, 6, 6)."""
        energy, stress, tangent = self.law.of_tensor(tensors_of(strain))
        return Evaluated(energy, stress[:, FIRST, SECOND], tangent)


IN_PLANE = np.array([0, 1, 5])


@dataclass(frozen=True)
class PlaneStrainLaw:
    """A law ψ(C) as a function of the planar strain (xx, yy, xy), with E_zz = 0."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """Energy ψ, stress S (k, 3) and tangent ∂S/∂E (k, 3, 3)."""
        energy, stress, tangent = SpatialLaw(self.law).at(self.spatial(strain))
        return Evaluated(energy, stress[:, IN_PLANE], tangent[:, IN_PLANE[:, None], IN_PLANE])

    def spatial(self, strain: Array) -> Array:
        """Spatial strains (k, 6)."""
        whole = np.zeros((len(strain), 6))
        whole[:, IN_PLANE] = strain
        return whole


@dataclass(frozen=True)
class PlaneStressLaw:
    """A law ψ(C) as a function of the planar strain (xx, yy, xy), with E_zz from S_zz = 0 by Newton's method."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """Energy ψ, stress S (k, 3) and tangent ∂S/∂E (k, 3, 3), with E_zz condensed."""
        energy, stress, tangent = SpatialLaw(self.law).at(self.spatial(strain))
        side, own = tangent[:, IN_PLANE, 2], tangent[:, IN_PLANE[:, None], IN_PLANE]
        condensed = own - side[:, :, None] * side[:, None, :] / tangent[:, 2, 2, None, None]
        return Evaluated(energy, stress[:, IN_PLANE], condensed)

    def spatial(self, strain: Array) -> Array:
        """Spatial strains (k, 6), with E_zz by Newton's method on ln C_zz, which keeps C_zz positive."""
        spatial = SpatialLaw(self.law)
        whole, rest = np.zeros((len(strain), 6)), spatial.at(np.zeros((1, 6))).tangent[0, 2]
        whole[:, IN_PLANE] = strain
        log = np.log1p(np.maximum(-2.0 * whole @ rest / rest[2], -0.9))  # from the stiffness at zero strain
        for _ in range(50):
            whole[:, 2] = 0.5 * np.expm1(log)
            _, stress, tangent = spatial.at(whole)
            step = np.clip(stress[:, 2] / (0.5 * np.exp(log) * tangent[:, 2, 2]), -0.5, 0.5)
            log = log - step
            if np.abs(step).max(initial=0.0) <= 1e-8:  # quadratic convergence: the next step would be its square
                break
        whole[:, 2] = 0.5 * np.expm1(log)
        return whole


def whole_stress(law: Any, strain: Array) -> tuple[Array, Array]:
    """Spatial strains and stresses (k, 6) of a planar law, from planar strains (k, 3)."""
    whole = law.spatial(strain)
    return whole, SpatialLaw(law.law).at(whole).stress


def stored_energy(law: Any, plane: str | None) -> Any:
    """Law as a function of the strains of a spatial body, of plane strain or of plane stress.

    Raises ValueError for other types, for a law with stress at zero strain, and for one that is unstable there.
    """
    if not isinstance(law, Hyperelastic):
        raise ValueError(f"law must be a NeoHooke, MooneyRivlin or StoredEnergy, got {type(law).__name__}")
    _, loads, tangent = SpatialLaw(law).at(np.zeros((1, 6)))
    stress, stiffness = np.abs(loads).max(), np.linalg.eigvalsh(tangent[0])
    if stress > UNLOADED * np.abs(stiffness).max():
        raise ValueError(f"law must have no stress without strain, got {stress:.3g} Pa")
    if stiffness[0] <= 0.0:
        raise ValueError(
            f"law must be stable without strain: a stiffness is {stiffness[0]:.3g} Pa, it must be positive"
        )
    return {None: SpatialLaw, "strain": PlaneStrainLaw, "stress": PlaneStressLaw}[plane](law)
