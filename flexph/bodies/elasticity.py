"""Elastic energy of a body in its stresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.factors.definiteness import check_semi_definite
from ..numerics.factors.low_rank import Bordered, inverse_by_blocks
from ..numerics.factors.positive_definite import condensed
from ..numerics.memo import Memo, once


class ElasticEnergy(Memo):
    """Elastic energy ½ σᵀCσ with strain rate D(u) u̇ = C σ̇, and damping: what every kind of it knows.

    The strain is at most quadratic, ``ε(u) = strain u + ½ weights (slopes u)²`` (the square entry by entry), so
    that ``D(u) = strain + weights diag(slopes u) slopes`` is linear in u. Shapes: compliance C (m, m) symmetric
    positive definite, strain D₀ (m, n), slopes (g, n), weights (m, g); g = 0 for linear strain.
    Damping force −(mass_damping M + stiffness_damping D(u)ᵀC⁻¹D(u) + viscous) u̇: α in [1/s], β in [s], viscous (n, n)
    symmetric positive semi-definite [N s/m], or None.
    """

    compliance: Any
    strain: Any
    slopes: Any
    weights: Any
    mass_damping: float
    stiffness_damping: float
    viscous: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers m of stress coordinates and n of flexible ones."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Number m of stress coordinates."""
        return self.shape[0]

    def stiffness(self) -> Any:
        """K = D₀ᵀC⁻¹D₀, sparse (n, n), of many local stresses; None of few, or of stresses that hang together."""
        raise NotImplementedError

    def energies(self, vectors: Array) -> Array:
        """VᵀK V of vectors V (n, k), by their strains D₀V, which keep the digits that K has lost."""
        raise NotImplementedError

    def stress_basis(self, vectors: Array) -> Any:
        """S = C⁻¹D₀V of vectors V (n, k): a matrix (m, k), or a :class:`StressBasis`."""
        raise NotImplementedError

    @property
    def stress_damping(self) -> Array:
        """β of each stress, (m,)."""
        return np.full(self.size, self.stiffness_damping)

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


@dataclass(frozen=True)
class Elasticity(ElasticEnergy):
    """Elastic energy by its matrices, see :class:`ElasticEnergy`.

    Parameters
    ----------
    compliance : matrix
        C (m, m).
    strain : matrix
        D₀ (m, n).
    slopes : matrix
        s (g, n) of the quadratic strains; (0, n) for linear strain.
    weights : matrix
        W (m, g) of the quadratic strains.
    mass_damping : float
        α [1/s].
    stiffness_damping : float
        β [s].
    viscous : matrix, optional
        Damping (n, n) [N s/m].
    """

    compliance: Any
    strain: Any
    slopes: Any
    weights: Any
    mass_damping: float = 0.0
    stiffness_damping: float = 0.0
    viscous: Any | None = None

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
    def shape(self) -> tuple[int, int]:
        """Numbers of stress coordinates and of flexible ones."""
        m, n = self.strain.shape
        return int(m), int(n)

    def stiffness(self) -> Any:
        """K, where it pays to condense the stresses."""
        local = condensed(self.compliance, self.strain)
        return None if local is None else local.stiffness

    def energies(self, vectors: Array) -> Array:
        """VᵀK V of vectors (n, k)."""
        strain = self.strain @ vectors
        return strain.T @ (self.stiffness_of_stress @ strain)

    def stress_basis(self, vectors: Array) -> Array:
        """C⁻¹D₀V of vectors (n, k), (m, k)."""
        return self.stiffness_of_stress @ (self.strain @ vectors)


class LocalElasticity(ElasticEnergy):
    """Elastic energy of many stresses with linear strain, known part by part; matrices are formed when asked for."""

    def parts(self, vectors: Array) -> Iterator[tuple[slice, Array]]:
        """The rows of C⁻¹D₀V of vectors V (n, k): stress coordinates that follow each other, and their values."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class StressBasis:
    """S = C⁻¹D₀V (m, k) by its vectors V (n, k): products with it are computed part by part. Immutable."""

    energy: LocalElasticity
    vectors: Array

    __array_ufunc__ = None  # numpy leaves products to this class

    @property
    def shape(self) -> tuple[int, int]:
        """(m, k)."""
        return self.energy.size, int(self.vectors.shape[1])

    def __matmul__(self, x: Array) -> Array:
        product = np.empty((self.energy.size, *x.shape[1:]))
        for rows, values in self.energy.parts(self.vectors @ x.reshape(len(x), -1)):
            product[rows] = values.reshape(-1, *x.shape[1:])
        return product

    def __rmatmul__(self, rows: Any) -> Array:
        columns = sparse.csc_array(rows)
        product = np.zeros((rows.shape[0], self.vectors.shape[1]))
        for part, values in self.energy.parts(self.vectors):
            product += columns[:, part] @ values
        return product

    def over(self, basis: Array) -> StressBasis:
        """S B of a basis B (k, r)."""
        return StressBasis(self.energy, self.vectors @ basis)


@dataclass(frozen=True, eq=False)
class StressRows:
    """Rows (r, m) over stresses σ = S σ̂ that are computed part by part: (r, k) over σ̂."""

    rows: Any
    basis: StressBasis

    @property
    def shape(self) -> tuple[int, int]:
        """(r, k)."""
        return int(self.rows.shape[0]), self.basis.shape[1]

    def __matmul__(self, sigma: Array) -> Array:
        return self.rows @ (self.basis @ sigma)

    def toarray(self) -> Array:
        """The matrix, dense."""
        return self.rows @ self.basis


def rows_over(rows: Any, basis: Any) -> Any:
    """Rows (r, m) over the coordinates σ̂ of σ = S σ̂, sparse or part by part."""
    if isinstance(rows, StressRows):
        return StressRows(rows.rows, rows.basis.over(basis))
    return StressRows(rows, basis) if isinstance(basis, StressBasis) else sparse.csr_array(rows @ basis)
