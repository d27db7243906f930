"""Stored energies ψ(C) of finite strain, C = FᵀF = 1 + 2E: stresses S = 2 ∂ψ/∂C and their tangents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.discrete_gradients.stored_energies import Evaluated
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""Components in the order of Voigt."""
FIRST, SECOND = (np.array(side) for side in zip(*PAIRS, strict=True))
ONE = np.eye(3)
SAMPLES = np.array(
    [[0.2, -0.1, 0.15, 0.1, -0.06, 0.08], [-0.1, 0.3, 0.05, -0.12, 0.1, 0.04], [0.1, 0.1, 0.1, 0.0, 0, 0]]
)
"""Green's strains at which a derivative is compared with the differences of its energy."""
STEP = 1e-5
DERIVATIVE = 1e-6
"""What a derivative may miss of the differences of its energy, over the stiffness: (step)² of third derivatives."""
UNLOADED = 1e-9
"""Stress without strain, over the stiffness, that is round-off."""


class Hyperelastic:
    """A stored energy ψ(C) [J/m³] of an elastic solid.

    See :class:`NeoHooke`, :class:`MooneyRivlin` and :class:`StoredEnergy`.
    """

    def of_tensor(self, C: Array) -> tuple[Array, Array, Array]:
        """ψ (k,), 2 ∂ψ/∂C (k, 3, 3) and 4 ∂²ψ/∂C² (k, 6, 6) in the order of Voigt, at C (k, 3, 3)."""
        raise NotImplementedError


class Isotropic(Hyperelastic):
    """ψ of I₁ = tr C, I₂ = ½(I₁² − tr C²) and J = √det C."""

    def of_invariants(self, invariants: Array) -> tuple[Array, Array, Array]:
        """ψ (k,), its first (k, 3) and its second derivatives (k, 3, 3) by (I₁, I₂, J), (3, k)."""
        raise NotImplementedError

    def of_tensor(self, C: Array) -> tuple[Array, Array, Array]:
        """By the chain rule: ∂I₁ = 1, ∂I₂ = I₁ − C, ∂J = ½JC⁻¹, and their derivatives."""
        trace, J, inverse = np.trace(C, axis1=1, axis2=2), np.sqrt(np.linalg.det(C)), np.linalg.inv(C)
        I2 = 0.5 * (trace**2 - np.einsum("kij,kji->k", C, C))
        psi, first, second = self.of_invariants(np.array([trace, I2, J]))
        by_J = 0.5 * J[:, None, None] * inverse
        slopes = np.stack([np.broadcast_to(ONE, C.shape), trace[:, None, None] * ONE - C, by_J], axis=1)
        stress = 2.0 * np.einsum("ka,kaij->kij", first, slopes)
        voigt = slopes[:, :, FIRST, SECOND]
        tangent = np.einsum("kab,kai,kbj->kij", second, voigt, voigt)
        identity, turned = np.einsum("i,j->ij", *[ONE[FIRST, SECOND]] * 2), symmetric_product(inverse)
        tangent += first[:, 1, None, None] * (identity - symmetric_product(ONE[None]))
        pair = np.einsum("ki,kj->kij", *[inverse[:, FIRST, SECOND]] * 2)
        tangent += (first[:, 2] * J)[:, None, None] * (0.25 * pair - 0.5 * turned)
        return psi, stress, 4.0 * tangent


def symmetric_product(A: Array) -> Array:
    """½(A_ik A_jl + A_il A_jk) of tensors (k, 3, 3) in the order of Voigt, (k, 6, 6)."""
    i, j = FIRST[:, None], SECOND[:, None]
    return np.asarray(0.5 * (A[:, i, FIRST] * A[:, j, SECOND] + A[:, i, SECOND] * A[:, j, FIRST]))


@checked
@dataclass(frozen=True)
class NeoHooke(Isotropic):
    """Compressible neo-Hooke: ``ψ = ½μ(I₁ − 3) − μ ln J + ½λ (ln J)²``, Lamé's constants μ, λ [Pa].

    Parameters
    ----------
    mu : float
        μ [Pa].
    lam : float
        λ [Pa].

    Raises
    ------
    ValueError
        Unless μ > 0 and λ > −2μ/3, where the undeformed solid would be unstable.
    """

    mu: float
    lam: float

    def __post_init__(self) -> None:
        check.positive("mu", self.mu, "Pa")
        if not check.number("lam", self.lam) > -2.0 / 3.0 * self.mu:
            raise ValueError(f"lam must be above −2μ/3 = {-2.0 / 3.0 * self.mu:.6g} Pa, got {self.lam}")

    def of_invariants(self, invariants: Array) -> tuple[Array, Array, Array]:
        """ψ and its derivatives by (I₁, I₂, J)."""
        trace, _, J = invariants
        log = np.log(J)
        first, second = np.zeros((J.size, 3)), np.zeros((J.size, 3, 3))
        first[:, 0], first[:, 2] = 0.5 * self.mu, (self.lam * log - self.mu) / J
        second[:, 2, 2] = (self.lam * (1.0 - log) + self.mu) / J**2
        return 0.5 * self.mu * (trace - 3.0) - self.mu * log + 0.5 * self.lam * log**2, first, second


@checked
@dataclass(frozen=True)
class MooneyRivlin(Isotropic):
    """Compressible Mooney-Rivlin: ``ψ = c₁(I₁J^(−2/3) − 3) + c₂(I₂J^(−4/3) − 3) + ½κ(J − 1)²`` [Pa].

    The undeformed solid has the shear modulus 2(c₁ + c₂) and the bulk modulus κ.

    Parameters
    ----------
    c1 : float
        c₁ [Pa].
    c2 : float
        c₂ [Pa].
    bulk : float
        κ [Pa].

    Raises
    ------
    ValueError
        Unless both moduli are positive.
    """

    c1: float
    c2: float
    bulk: float

    def __post_init__(self) -> None:
        if not check.number("c1", self.c1) + check.number("c2", self.c2) > 0.0:
            raise ValueError(f"c1 + c2 must be positive, half the shear modulus, got {self.c1 + self.c2} Pa")
        check.positive("bulk", self.bulk, "Pa")

    def of_invariants(self, invariants: Array) -> tuple[Array, Array, Array]:
        """ψ and its derivatives by (I₁, I₂, J)."""
        I1, I2, J = invariants
        a, b = J ** (-2.0 / 3.0), J ** (-4.0 / 3.0)
        first, second = np.zeros((J.size, 3)), np.zeros((J.size, 3, 3))
        first[:, 0], first[:, 1] = self.c1 * a, self.c2 * b
        by_J = -2.0 / 3.0 * self.c1 * I1 * a / J - 4.0 / 3.0 * self.c2 * I2 * b / J
        first[:, 2] = by_J + self.bulk * (J - 1.0)
        second[:, 0, 2] = second[:, 2, 0] = -2.0 / 3.0 * self.c1 * a / J
        second[:, 1, 2] = second[:, 2, 1] = -4.0 / 3.0 * self.c2 * b / J
        bent = 10.0 / 9.0 * self.c1 * I1 * a + 28.0 / 9.0 * self.c2 * I2 * b
        second[:, 2, 2] = bent / J**2 + self.bulk
        psi = self.c1 * (I1 * a - 3.0) + self.c2 * (I2 * b - 3.0) + 0.5 * self.bulk * (J - 1.0) ** 2
        return psi, first, second


@checked
@dataclass(frozen=True)
class StoredEnergy(Hyperelastic):
    """Any ψ(C) with its derivative, functions of C (k, 3, 3): ``energy`` (k,) [J/m³], ``derivative`` ∂ψ/∂C (k, 3, 3).

    Parameters
    ----------
    energy : callable
        ψ (k,) [J/m³] of C (k, 3, 3).
    derivative : callable
        ∂ψ/∂C (k, 3, 3) of C, symmetric.
    second : callable, optional
        4 ∂²ψ/∂C² (k, 6, 6) of C in the order of Voigt (xx, yy, zz, yz, xz, xy), which speeds the iteration up; by
        differences of the derivative by default.

    Raises
    ------
    ValueError
        Where the derivative is not that of the energy, with what it misses; where the solid has stress without strain;
        and where it is unstable there.
    """

    energy: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    second: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        C = _tensors(SAMPLES)
        for name, width in (("energy", ()), ("derivative", (3, 3))):
            values = np.asarray(check.asked(name, getattr(self, name), C))
            if values.shape != (len(C), *width) or not np.isfinite(values).all():
                wanted = (len(C), *width)
                raise ValueError(f"{name} must return finite numbers {wanted} of C {C.shape}, got shape {values.shape}")
        _check_derivative(self)

    def of_tensor(self, C: Array) -> tuple[Array, Array, Array]:
        """ψ and its derivatives."""
        stress = 2.0 * np.asarray(self.derivative(C), dtype=float)
        tangent = _differences(self, C) if self.second is None else np.asarray(self.second(C), dtype=float)
        return np.asarray(self.energy(C), dtype=float), stress, tangent


def _differences(law: StoredEnergy, C: Array) -> Array:
    """4 ∂²ψ/∂C² by differences of the derivative, symmetric, (k, 6, 6)."""
    tangent = np.zeros((len(C), 6, 6))
    for b, (i, j) in enumerate(PAIRS):
        step = np.zeros((3, 3))
        step[i, j] = step[j, i] = STEP if i != j else 2.0 * STEP  # of the strain, shear counted twice
        change = np.asarray(law.derivative(C + step)) - np.asarray(law.derivative(C - step))
        tangent[:, :, b] = change[:, FIRST, SECOND] / STEP
    return 0.5 * (tangent + tangent.transpose(0, 2, 1))


def _check_derivative(law: StoredEnergy) -> None:
    """Raise ValueError where a derivative is not that of the energy."""
    whole = _Spatial(law)
    stiffness = float(np.abs(law.of_tensor(_tensors(np.zeros((1, 6))))[2]).max())
    rates = np.zeros_like(SAMPLES)
    for b, step in enumerate(STEP * np.eye(6)):
        rates[:, b] = (whole.at(SAMPLES + step).energy - whole.at(SAMPLES - step).energy) / (2.0 * STEP)
    missed = float(np.abs(rates - whole.at(SAMPLES).stress).max())
    if missed > DERIVATIVE * stiffness:
        raise ValueError(
            f"derivative must be ∂ψ/∂C of the energy, symmetric: 2 ∂ψ/∂C misses its differences by {missed:.3g} Pa"
        )


# --- over Green's strain ----------------------------------------------------------------------------------------------


def _tensors(strain: Array) -> Array:
    """C = 1 + 2E (k, 3, 3) of strains in the order of Voigt (k, 6)."""
    C = np.zeros((len(strain), 3, 3))
    values = strain.copy()
    values[:, :3] = 1.0 + 2.0 * values[:, :3]
    C[:, FIRST, SECOND] = C[:, SECOND, FIRST] = values
    return C


@dataclass(frozen=True)
class _Spatial:
    """A law over Green's strain (k, 6) in the order of Voigt."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """ψ, S (k, 6) and ∂S/∂E (k, 6, 6)."""
        energy, stress, tangent = self.law.of_tensor(_tensors(strain))
        return Evaluated(energy, stress[:, FIRST, SECOND], tangent)


IN_PLANE = np.array([0, 1, 5])


@dataclass(frozen=True)
class _PlaneStrain:
    """A law over the strain of the plane (xx, yy, xy), E_zz = 0."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """ψ, S (k, 3) and ∂S/∂E (k, 3, 3)."""
        energy, stress, tangent = _Spatial(self.law).at(self.spatial(strain))
        return Evaluated(energy, stress[:, IN_PLANE], tangent[:, IN_PLANE[:, None], IN_PLANE])

    def spatial(self, strain: Array) -> Array:
        """Strains (k, 6)."""
        whole = np.zeros((len(strain), 6))
        whole[:, IN_PLANE] = strain
        return whole


@dataclass(frozen=True)
class _PlaneStress:
    """A law over the strain of the plane, E_zz such that S_zz = 0: solved at each point by Newton's method."""

    law: Hyperelastic

    def at(self, strain: Array) -> Evaluated:
        """ψ, S (k, 3) and ∂S/∂E (k, 3, 3), with E_zz condensed."""
        energy, stress, tangent = _Spatial(self.law).at(self.spatial(strain))
        side, own = tangent[:, IN_PLANE, 2], tangent[:, IN_PLANE[:, None], IN_PLANE]
        condensed = own - side[:, :, None] * side[:, None, :] / tangent[:, 2, 2, None, None]
        return Evaluated(energy, stress[:, IN_PLANE], condensed)

    def spatial(self, strain: Array) -> Array:
        """Strains (k, 6) with E_zz by Newton's method on ln C_zz, which stays positive."""
        spatial = _Spatial(self.law)
        whole, rest = np.zeros((len(strain), 6)), spatial.at(np.zeros((1, 6))).tangent[0, 2]
        whole[:, IN_PLANE] = strain
        log = np.log1p(np.maximum(-2.0 * whole @ rest / rest[2], -0.9))  # by the stiffness without strain
        for _ in range(50):
            whole[:, 2] = 0.5 * np.expm1(log)
            _, stress, tangent = spatial.at(whole)
            step = np.clip(stress[:, 2] / (0.5 * np.exp(log) * tangent[:, 2, 2]), -0.5, 0.5)
            log = log - step
            if np.abs(step).max(initial=0.0) <= 1e-8:  # the next one would be its square
                break
        whole[:, 2] = 0.5 * np.expm1(log)
        return whole


def whole_stress(law: Any, strain: Array) -> tuple[Array, Array]:
    """Strains and stresses of space (k, 6) at strains of the plane (k, 3), of a law of the plane."""
    whole = law.spatial(strain)
    return whole, _Spatial(law.law).at(whole).stress


def stored_energy(law: Any, plane: str | None) -> Any:
    """A law over the strains of a body of space, of plane strain or of plane stress.

    Raises ValueError for what is no law, for one with stress without strain, and for one that is unstable there.
    """
    if not isinstance(law, Hyperelastic):
        raise ValueError(f"law must be a NeoHooke, MooneyRivlin or StoredEnergy, got {type(law).__name__}")
    _, loads, tangent = _Spatial(law).at(np.zeros((1, 6)))
    stress, stiffness = np.abs(loads).max(), np.linalg.eigvalsh(tangent[0])
    if stress > UNLOADED * np.abs(stiffness).max():
        raise ValueError(f"law must have no stress without strain, got {stress:.3g} Pa")
    if stiffness[0] <= 0.0:
        raise ValueError(
            f"law must be stable without strain: a stiffness is {stiffness[0]:.3g} Pa, it must be positive"
        )
    return {None: _Spatial, "strain": _PlaneStrain, "stress": _PlaneStress}[plane](law)
