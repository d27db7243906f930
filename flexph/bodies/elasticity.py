"""Elastic energy of a body as a function of its stresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.factors.low_rank import Bordered, inverse_by_blocks
from ..numerics.factors.positive_definite import condensed
from ..numerics.factors.signature import check_semi_definite
from ..numerics.memo import Memo, once


class ElasticEnergy(Memo):
    """Base class of the elastic energy ½ σᵀCσ of a body, with strain rate D(u) u̇ = C σ̇, and of its damping.

    The strain is at most quadratic, ``ε(u) = strain u + ½ weights (slopes u)²`` (the square entry by entry), so that
    ``D(u) = strain + weights diag(slopes u) slopes`` is linear in u. The compliance C (m, m) is symmetric positive
    definite. The strain operator D₀ at u = 0, ``strain``, is (m, n), ``slopes`` are (g, n) and ``weights`` (m, g), with
    g = 0 for linear strain. The damping force is −(mass_damping M + stiffness_damping D(u)ᵀC⁻¹D(u) + viscous) u̇, with
    ``mass_damping`` α [1/s], ``stiffness_damping`` β [s], and ``viscous`` (n, n) [N s/m], symmetric positive
    semi-definite, or None.
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
        """Stiffness K = D₀ᵀC⁻¹D₀, sparse (n, n); None if stresses are few or widely coupled."""
        raise NotImplementedError

    def energies(self, vectors: Array) -> Array:
        """Matrix VᵀK V (k, k) of vectors V (n, k), from their strains D₀V, which is more accurate than from K."""
        raise NotImplementedError

    def stress_basis(self, vectors: Array) -> Any:
        """Stresses S = C⁻¹D₀V of vectors V (n, k), as a matrix (m, k) or a :class:`StressBasis`."""
        raise NotImplementedError

    @property
    def stress_damping(self) -> Array:
        """Damping β of each stress, (m,) [s]."""
        return np.full(self.size, self.stiffness_damping)

    @once
    def stiffness_of_stress(self) -> Any:
        """Inverse C⁻¹, sparse; block diagonal for discontinuous stresses."""
        return inverse_by_blocks(self.compliance)

    def operator(self, u: Array) -> Any:
        """Strain operator D(u), sparse (m, n)."""
        if not self.slopes.shape[0]:
            return self.strain
        weights = sparse.csr_array(self.weights)
        entries = weights.data * (self.slopes @ u)[weights.indices]
        return (
            self.strain
            + sparse.csr_array((entries, weights.indices, weights.indptr), shape=weights.shape) @ self.slopes
        )

    @property
    def is_damped(self) -> bool:
        """True if the elastic energy has any damping."""
        return bool(self.mass_damping or self.stiffness_damping or self.viscous is not None)

    def constant_damping(self, mass: Any) -> Any:
        """Constant part αM + viscous of the damping, sparse (n, n)."""
        damping = sparse.csr_array(mass.shape)  # without stored zeros, which would count as damping
        if self.mass_damping:
            if isinstance(mass, Bordered):
                raise ValueError(
                    "mass-proportional damping of a large body about mean axes would fill its matrices: reduce the "
                    "body first, or fix one of its ports"
                )
            damping = self.mass_damping * sparse.csr_array(mass)
        return damping if self.viscous is None else damping + sparse.csr_array(self.viscous)

    def damping(self, mass: Any, u: Array) -> Any:
        """Damping matrix αM + viscous + βD(u)ᵀC⁻¹D(u), sparse (n, n), symmetric."""
        D = self.operator(u)
        damping = self.constant_damping(mass) + self.stiffness_damping * (D.T @ self.stiffness_of_stress @ D)
        return 0.5 * (damping + damping.T)

    def strain_of(self, u: Array) -> Array:
        """Strain ε(u), (m,)."""
        return self.strain @ u + 0.5 * (self.weights @ (self.slopes @ u) ** 2)

    def stress_of(self, u: Array) -> Array:
        """Stress σ = C⁻¹ ε(u), (m,), of a body that is free of stress when undeformed."""
        return self.stiffness_of_stress @ self.strain_of(u)


@dataclass(frozen=True)
class Elasticity(ElasticEnergy):
    """Elastic energy given by its matrices, see :class:`ElasticEnergy`.

    Parameters
    ----------
    compliance : matrix
        Compliance C (m, m).
    strain : matrix
        Strain operator D₀ (m, n) at u = 0.
    slopes : matrix
        Slopes s (g, n) of the quadratic strains; (0, n) for linear strain.
    weights : matrix
        Weights W (m, g) of the quadratic strains.
    mass_damping : float
        Mass-proportional damping α [1/s].
    stiffness_damping : float
        Stiffness-proportional damping β [s].
    viscous : matrix, optional
        Viscous damping matrix (n, n) [N s/m].
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
        """Numbers m of stress coordinates and n of flexible ones."""
        m, n = self.strain.shape
        return int(m), int(n)

    def stiffness(self) -> Any:
        """Stiffness K, sparse (n, n), if eliminating the stresses saves time; otherwise None."""
        local = condensed(self.compliance, self.strain)
        return None if local is None else local.stiffness

    def energies(self, vectors: Array) -> Array:
        """Matrix VᵀK V (k, k) of vectors V (n, k)."""
        strain = self.strain @ vectors
        return strain.T @ (self.stiffness_of_stress @ strain)

    def stress_basis(self, vectors: Array) -> Array:
        """Stresses C⁻¹D₀V (m, k) of vectors V (n, k)."""
        return self.stiffness_of_stress @ (self.strain @ vectors)


class LocalElasticity(ElasticEnergy):
    """Base class of elastic energies with linear strain that compute their many stresses in parts, to save memory."""

    def parts(self, vectors: Array) -> Iterator[tuple[slice, Array]]:
        """Yield C⁻¹D₀V for vectors V (n, k) in parts: a slice of the stress coordinates, and its rows."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class StressBasis:
    """Matrix of stresses S = C⁻¹D₀V (m, k) that is given by the vectors V (n, k) and is not stored.

    Products with it, from both sides, are computed in parts. Immutable.
    """

    energy: LocalElasticity
    vectors: Array

    __array_ufunc__ = None  # numpy leaves products to this class

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (m, k)."""
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

    def in_basis(self, basis: Array) -> StressBasis:
        """Matrix of stresses S B (m, r), for ``basis`` B (k, r)."""
        return StressBasis(self.energy, self.vectors @ basis)


@dataclass(frozen=True, eq=False)
class StressRows:
    """Matrix ``rows`` S (r, k) that acts on reduced stresses σ̂, for ``rows`` (r, m) that act on the stresses σ = S σ̂.

    S is the :class:`StressBasis` ``basis``, whose products are computed in parts.
    """

    rows: Any
    basis: StressBasis

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (r, k)."""
        return int(self.rows.shape[0]), self.basis.shape[1]

    def __matmul__(self, sigma: Array) -> Array:
        return self.rows @ (self.basis @ sigma)

    def toarray(self) -> Array:
        """Matrix as a dense array."""
        return self.rows @ self.basis


def rows_on_reduced_stresses(rows: Any, basis: Any) -> Any:
    """Rows (r, k) that act on reduced stresses σ̂, from ``rows`` (r, m) that act on the stresses σ = S σ̂.

    ``basis`` is S, a matrix or a :class:`StressBasis`. The result is sparse, or :class:`StressRows`.
    """
    if isinstance(rows, StressRows):
        return StressRows(rows.rows, rows.basis.in_basis(basis))
    return StressRows(rows, basis) if isinstance(basis, StressBasis) else sparse.csr_array(rows @ basis)
