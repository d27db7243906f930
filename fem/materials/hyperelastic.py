"""Stored energies ψ(C) of finite strain, C = FᵀF = 1 + 2E: stresses S = 2 ∂ψ/∂C and their tangents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.units.arguments import quantities

PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""Index pairs of the components in Voigt order."""
FIRST, SECOND = (np.array(side) for side in zip(*PAIRS, strict=True))
ONE = np.eye(3)


class Hyperelastic:
    """A stored energy ψ(C) [J/m³] of an elastic solid.

    See :class:`NeoHooke`, :class:`MooneyRivlin` and :class:`fem.StoredEnergy`.
    """

    def of_tensor(self, C: Array) -> tuple[Array, Array, Array]:
        """Energy ψ (k,), stress 2 ∂ψ/∂C (k, 3, 3) and tangent 4 ∂²ψ/∂C² (k, 6, 6) at tensors C (k, 3, 3).

        The tangent is in Voigt order.
        """
        raise NotImplementedError


class Isotropic(Hyperelastic):
    """Stored energy ψ of the invariants I₁ = tr C, I₂ = ½(I₁² − tr C²) and J = √det C.

    Energies are computed from I₁ − 3, I₂ − 3 and ln J, which are accurate for small strains: as a difference of terms
    as large as the stiffness, even a small energy would have the round-off of the stiffness.
    """

    def of_invariants(self, invariants: Array) -> tuple[Array, Array, Array]:
        """Energy ψ (k,) with its first (k, 3) and second derivatives (k, 3, 3) with respect to (I₁, I₂, J).

        ``invariants`` (3, k) are I₁ − 3, I₂ − 3 and ln J.
        """
        raise NotImplementedError

    def of_tensor(self, C: Array) -> tuple[Array, Array, Array]:
        """Energy ψ, stress 2 ∂ψ/∂C and tangent 4 ∂²ψ/∂C² by the chain rule, from ψ(I₁, I₂, J).

        The invariants have the derivatives ∂I₁/∂C = 1, ∂I₂/∂C = I₁ 1 − C and ∂J/∂C = ½JC⁻¹.
        """
        A, inverse = C - ONE, _inverse(C)
        stretch = np.trace(A, axis1=1, axis2=2)
        area = 0.5 * (stretch**2 - np.einsum("kij,kji->k", A, A))
        log = 0.5 * np.log1p(stretch + area + np.linalg.det(A))
        trace, J = 3.0 + stretch, np.exp(log)
        psi, first, second = self.of_invariants(np.array([stretch, 2.0 * stretch + area, log]))
        by_J = 0.5 * J[:, None, None] * inverse
        slopes = np.stack([np.broadcast_to(ONE, C.shape), trace[:, None, None] * ONE - C, by_J], axis=1)
        stress = 2.0 * (first[:, None] @ slopes.reshape(-1, 3, 9)).reshape(C.shape)
        voigt = slopes[:, :, FIRST, SECOND]
        tangent = voigt.swapaxes(1, 2) @ (second @ voigt)
        identity, turned = np.einsum("i,j->ij", *[ONE[FIRST, SECOND]] * 2), symmetric_product(inverse)
        tangent += first[:, 1, None, None] * (identity - symmetric_product(ONE[None]))
        pairs = inverse[:, FIRST, SECOND]
        pair = pairs[:, :, None] * pairs[:, None]
        tangent += (first[:, 2] * J)[:, None, None] * (0.25 * pair - 0.5 * turned)
        return psi, stress, 4.0 * tangent


def _inverse(C: Array) -> Array:
    """Inverses of tensors (k, 3, 3); NaN for singular tensors, which occur in iterations that diverge."""
    try:
        return np.linalg.inv(C)
    except np.linalg.LinAlgError:
        with np.errstate(invalid="ignore"):
            return np.linalg.inv(np.where((np.linalg.det(C) == 0.0)[:, None, None], np.nan, C))


def symmetric_product(A: Array) -> Array:
    """Products ½(A_ik A_jl + A_il A_jk) of tensors (k, 3, 3) in Voigt order, (k, 6, 6)."""
    i, j = FIRST[:, None], SECOND[:, None]
    return np.asarray(0.5 * (A[:, i, FIRST] * A[:, j, SECOND] + A[:, i, SECOND] * A[:, j, FIRST]))


@quantities(lam="Pa", mu="Pa")
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
        """Energy ψ and its derivatives with respect to (I₁, I₂, J), see ``Isotropic.of_invariants``."""
        stretch, _, log = invariants
        J = np.exp(log)
        first, second = np.zeros((J.size, 3)), np.zeros((J.size, 3, 3))
        first[:, 0], first[:, 2] = 0.5 * self.mu, (self.lam * log - self.mu) / J
        second[:, 2, 2] = (self.lam * (1.0 - log) + self.mu) / J**2
        return self.mu * (0.5 * stretch - log) + 0.5 * self.lam * log**2, first, second


@quantities(bulk="Pa", c1="Pa", c2="Pa")
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
        """Energy ψ and its derivatives with respect to (I₁, I₂, J), see ``Isotropic.of_invariants``."""
        log, J = invariants[2], np.exp(invariants[2])
        I1, I2 = 3.0 + invariants[:2]
        a, b = J ** (-2.0 / 3.0), J ** (-4.0 / 3.0)
        first, second = np.zeros((J.size, 3)), np.zeros((J.size, 3, 3))
        first[:, 0], first[:, 1] = self.c1 * a, self.c2 * b
        by_J = -2.0 / 3.0 * self.c1 * I1 * a / J - 4.0 / 3.0 * self.c2 * I2 * b / J
        first[:, 2] = by_J + self.bulk * np.expm1(log)
        second[:, 0, 2] = second[:, 2, 0] = -2.0 / 3.0 * self.c1 * a / J
        second[:, 1, 2] = second[:, 2, 1] = -4.0 / 3.0 * self.c2 * b / J
        bent = 10.0 / 9.0 * self.c1 * I1 * a + 28.0 / 9.0 * self.c2 * I2 * b
        second[:, 2, 2] = bent / J**2 + self.bulk
        in_length = invariants[0] + I1 * np.expm1(-2.0 / 3.0 * log)  # I₁J^(−2/3) − 3
        in_area = invariants[1] + I2 * np.expm1(-4.0 / 3.0 * log)
        psi = self.c1 * in_length + self.c2 * in_area + 0.5 * self.bulk * np.expm1(log) ** 2
        return psi, first, second
