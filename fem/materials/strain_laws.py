"""Laws in Green's strain for space, plane strain and plane stress, and stored energies given by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.discrete_gradients.stored_energies import Evaluated
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

from .hyperelastic import FIRST, PAIRS, SECOND, Hyperelastic

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
    """A law ψ(C) of the stored energy as a function of Green's strain (k, 6) in Voigt order."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """Energies ψ (k,), stresses S (k, 6) and tangents ∂S/∂E (k, 6, 6) for strains E (k, 6) in Voigt order."""
        energy, stress, tangent = self.law.of_tensor(tensors_of(strain))
        return Evaluated(energy, stress[:, FIRST, SECOND], tangent)


IN_PLANE = np.array([0, 1, 5])


@dataclass(frozen=True)
class PlaneStrainLaw:
    """A law ψ(C) as a function of the planar strain (xx, yy, xy), with E_zz = 0."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """Energies ψ (k,), stresses S (k, 3) and tangents ∂S/∂E (k, 3, 3) for planar strains E (k, 3)."""
        energy, stress, tangent = SpatialLaw(self.law).at(self.spatial(strain))
        return Evaluated(energy, stress[:, IN_PLANE], tangent[:, IN_PLANE[:, None], IN_PLANE])

    def spatial(self, strain: Array) -> Array:
        """Spatial strains (k, 6) in Voigt order from planar strains (k, 3), with E_zz = 0."""
        whole = np.zeros((len(strain), 6))
        whole[:, IN_PLANE] = strain
        return whole


@dataclass(frozen=True)
class PlaneStressLaw:
    """A law ψ(C) as a function of the planar strain (xx, yy, xy), with E_zz from S_zz = 0 by Newton's method."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """Energies ψ (k,), stresses S (k, 3) and tangents ∂S/∂E (k, 3, 3) for planar strains E (k, 3).

        E_zz is condensed from S_zz = 0.
        """
        energy, stress, tangent = SpatialLaw(self.law).at(self.spatial(strain))
        side, in_plane = tangent[:, IN_PLANE, 2], tangent[:, IN_PLANE[:, None], IN_PLANE]
        condensed = in_plane - side[:, :, None] * side[:, None, :] / tangent[:, 2, 2, None, None]
        return Evaluated(energy, stress[:, IN_PLANE], condensed)

    def spatial(self, strain: Array) -> Array:
        """Spatial strains (k, 6) in Voigt order from planar strains (k, 3), with E_zz from S_zz = 0.

        Newton's method has the unknown ln C_zz, which keeps C_zz positive.
        """
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
    """Spatial strains and spatial stresses, (k, 6) each in Voigt order, from planar strains (k, 3) of a planar law."""
    whole = law.spatial(strain)
    return whole, SpatialLaw(law.law).at(whole).stress


def stored_energy(law: Any, plane: str | None) -> Any:
    """Strain law with the stored energy ``law``, for a spatial body (``plane`` None), plane strain or plane stress.

    Raises ValueError if ``law`` is no stored energy, has stress at zero strain, or is unstable there.
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


SAMPLES = np.array(
    [[0.2, -0.1, 0.15, 0.1, -0.06, 0.08], [-0.1, 0.3, 0.05, -0.12, 0.1, 0.04], [0.1, 0.1, 0.1, 0.0, 0, 0]]
)
"""Green's strains at which a derivative is compared with differences of its energy."""
STEP = 1e-5
DERIVATIVE = 1e-6
"""Largest deviation of a derivative from differences of its energy, relative to the stiffness: of the order of
STEP²."""


@checked
@dataclass(frozen=True)
class StoredEnergy(Hyperelastic):
    """Stored energy ψ(C) by user functions of C (k, 3, 3): ``energy`` (k,) [J/m³], ``derivative`` ∂ψ/∂C (k, 3, 3).

    Parameters
    ----------
    energy : callable
        ψ (k,) [J/m³] of C (k, 3, 3).
    derivative : callable
        ∂ψ/∂C (k, 3, 3) of C, symmetric.
    second : callable, optional
        4 ∂²ψ/∂C² (k, 6, 6) of C in Voigt order (xx, yy, zz, yz, xz, xy), which speeds up the iteration; by default
        differences of the derivative.

    Raises
    ------
    ValueError
        If ``derivative`` is not the derivative of ``energy`` (the message has the deviation), or a function returns
        another shape; where a body is made, if it has stress at zero strain or is unstable there.
    """

    energy: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    second: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        C = tensors_of(SAMPLES)
        for name, width in (("energy", ()), ("derivative", (3, 3)), ("second", (6, 6))):
            if getattr(self, name) is None:
                continue
            values, wanted = (
                check.numbers(f"the value of {name}", check.value_of(name, getattr(self, name), C)),
                (len(C), *width),
            )
            if values.shape != wanted:
                raise ValueError(f"{name} must return finite numbers {wanted} of C {C.shape}, got shape {values.shape}")
        _check_derivative(self)

    def of_tensor(self, C: Array) -> tuple[Array, Array, Array]:
        """Energy ψ, stress 2 ∂ψ/∂C and tangent 4 ∂²ψ/∂C² at tensors C (k, 3, 3)."""
        stress = 2.0 * np.asarray(self.derivative(C), dtype=float)
        tangent = _differences(self, C) if self.second is None else np.asarray(self.second(C), dtype=float)
        return np.asarray(self.energy(C), dtype=float), stress, tangent


def _differences(law: StoredEnergy, C: Array) -> Array:
    """Tangents 4 ∂²ψ/∂C² (k, 6, 6) by central differences of the derivative, made symmetric."""
    tangent = np.zeros((len(C), 6, 6))
    for b, (i, j) in enumerate(PAIRS):
        step = np.zeros((3, 3))
        step[i, j] = step[j, i] = STEP if i != j else 2.0 * STEP  # in strain; shear components count twice
        change = np.asarray(law.derivative(C + step)) - np.asarray(law.derivative(C - step))
        tangent[:, :, b] = change[:, FIRST, SECOND] / STEP
    return 0.5 * (tangent + tangent.transpose(0, 2, 1))


def _check_derivative(law: StoredEnergy) -> None:
    """Raise ValueError if ``derivative`` differs from differences of ``energy`` at the strains :data:`SAMPLES`."""
    whole = SpatialLaw(law)
    samples, (_, _, undeformed) = whole.at(SAMPLES), whole.at(np.zeros((1, 6)))
    stiffness = max(float(np.abs(x).max()) for x in (undeformed, samples.stress))
    rates = np.zeros_like(SAMPLES)
    for b, step in enumerate(STEP * np.eye(6)):
        rates[:, b] = (whole.at(SAMPLES + step).energy - whole.at(SAMPLES - step).energy) / (2.0 * STEP)
    missed = float(np.abs(rates - samples.stress).max())
    if missed > DERIVATIVE * stiffness:
        raise ValueError(
            f"derivative must be ∂ψ/∂C of the energy, symmetric: 2 ∂ψ/∂C differs from differences by {missed:.3g} Pa"
        )
