"""Elastic energy of a body in its stresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy import sparse

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.factors.definiteness import check_semi_definite
from ..numerics.factors.low_rank import Bordered, inverse_by_blocks
from ..numerics.memo import Memo, once


@dataclass(frozen=True)
class Elasticity(Memo):
    """Elastic energy ½ σᵀCσ with strain rate D(u) u̇ = C σ̇.

    The strain is at most quadratic, ``ε(u) = strain u + ½ weights (slopes u)²`` (the square entry by entry), so
    that ``D(u) = strain + weights diag(slopes u) slopes`` is linear in u. Shapes: compliance C (m, m) symmetric
    positive definite, strain (m, n), slopes (g, n), weights (m, g); g = 0 for linear strain.
    Damping force −(mass_damping M + stiffness_damping D(u)ᵀC⁻¹D(u) + viscous) u̇: α in [1/s], β in [s], viscous (n, n)
    symmetric positive semi-definite [N s/m], or None.
    """

    compliance: Any
    strain: Any
    slopes: Any
    weights: Any
    mass_damping: float = 0.0
    stiffness_damping: float = 0.0
    viscous: Any = None

    def __post_init__(self) -> None:
        m, n = self.strain.shape
        check.matrix("compliance", self.compliance, (m, m))
        check.symmetric("compliance", self.compliance)
        check.not_negative("mass_damping", self.mass_damping, "1/s")
        check.not_negative("stiffness_damping", self.stiffness_damping, "s")
        if self.viscous is not None:
            check.matrix("viscous", self.viscous, (n, n))
            check.symmetric("viscous", self.viscous)
            check_semi_definite("viscous", self.viscous)
        if self.slopes.shape[1] != n or self.weights.shape != (m, self.slopes.shape[0]):
            raise ValueError(
                f"slopes and weights must have shapes (g, {n}) and ({m}, g), "
                f"got {self.slopes.shape} and {self.weights.shape}"
            )

    @property
    def size(self) -> int:
        """Number m of stress coordinates."""
        return int(self.strain.shape[0])

    @once
    def stiffness_of_stress(self) -> Any:
        """C⁻¹, sparse; block diagonal where the stresses are discontinuous."""
        return inverse_by_blocks(self.compliance)

    def operator(self, u: Array) -> Any:
        """D(u), sparse (m, n)."""
        return self.strain + self.weights @ sparse.diags_array(self.slopes @ u) @ self.slopes

    @property
    def is_damped(self) -> bool:
        """Whether it dissipates."""
        return bool(self.mass_damping or self.stiffness_damping or self.viscous is not None)

    def constant_damping(self, mass: Any) -> Any:
        """αM + viscous: the part of the damping that does not depend on u, sparse (n, n)."""
        damping = sparse.csr_array(mass.shape)  # stored zeros would count as damping
        if self.mass_damping:
            if isinstance(mass, Bordered):
                raise ValueError(
                    "damping by mass of a large body about mean axes would fill its matrices: reduce the body before "
                    "it is run, or hold a port of it"
                )
            damping = self.mass_damping * sparse.csr_array(mass)
        return damping if self.viscous is None else damping + sparse.csr_array(self.viscous)

    def damping(self, mass: Any, u: Array) -> Any:
        """αM + viscous + βD(u)ᵀC⁻¹D(u), sparse (n, n), symmetric."""
        D = self.operator(u)
        damping = self.constant_damping(mass) + self.stiffness_damping * (D.T @ self.stiffness_of_stress @ D)
        return 0.5 * (damping + damping.T)

    def strain_of(self, u: Array) -> Array:
        """ε(u), (m,)."""
        return self.strain @ u + 0.5 * (self.weights @ (self.slopes @ u) ** 2)

    def stress_of(self, u: Array) -> Array:
        """σ = C⁻¹ ε(u), (m,): the stresses of a body that was undeformed without stress."""
        return self.stiffness_of_stress @ self.strain_of(u)
