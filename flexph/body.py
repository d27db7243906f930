"""Bodies: what ``fem`` and ``rigid`` hand to the core, as inertia integrals, elastic energy and named ports.

A body lives in its own frame with origin P. A material point X sits at ``r_P + R (X + φ(X) u)`` with finite-element
coordinates u (reference conditions removed). Nothing here knows where φ came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import checks as check
from .space import Array, cross, spins

Momenta = Literal["full", "constant"]


@dataclass(frozen=True)
class Inertia:
    """Mass integrals of a body about its point P, in body axes; every form of the equations contracts these.

    With d = 2 or 3 dimensions, s = 1 or 3 spins, n flexible coordinates, φ_k the field of coordinate k:

    mass           m = ∫ρ                                 [kg]
    first          ∫ρ X_i                                 (d,)
    second         ∫ρ X_i X_j                             (d, d)
    shape_first    ∫ρ φ_ki                                (d, n)
    shape_lever    ∫ρ φ_ki X_j                            (d, d, n)
    shape_pair     ∫ρ φ_ki φ_lj                           d × d sparse (n, n)
    spin, spin_shape, spin_pair: inertia of rotating sections or lumped inertias that adds
    ½ Ωᵀ spin Ω + Ωᵀ spin_shape u̇ + ½ u̇ᵀ spin_pair u̇       (s, s), (s, n), (n, n)
    """

    mass: float
    first: Array
    second: Array
    shape_first: Array
    shape_lever: Array
    shape_pair: tuple[tuple[Any, ...], ...]
    spin: Array
    spin_shape: Array
    spin_pair: Any

    def __post_init__(self) -> None:
        check.positive("mass", self.mass, "kg")
        d, n = self.dim, self.size
        s = spins(d)
        check.array("second", self.second, (d, d))
        check.array("shape_lever", self.shape_lever, (d, d, n))
        check.array("spin", self.spin, (s, s))
        check.array("spin_shape", self.spin_shape, (s, n))

    @property
    def dim(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.first)

    @property
    def size(self) -> int:
        """Number n of flexible coordinates."""
        return int(self.shape_first.shape[1])

    @cached_property
    def centre(self) -> Array:
        """Centre of mass c of the undeformed body, in body axes [m], (d,)."""
        return self.first / self.mass

    @cached_property
    def mean_shape(self) -> Array:
        """Mass mean φ̄ of the shape functions, (d, n)."""
        return self.shape_first / self.mass

    def plus_point(self, mass: float, position: Array, shape: Any) -> Inertia:
        """The same body with a point mass [kg] at a material point ([flex] eq. (48), with its deformation)."""
        x, phi = np.asarray(position, dtype=float), shape.toarray()
        rows = sparse.csr_array(shape)
        d = self.dim
        pair = tuple(
            tuple(self.shape_pair[i][j] + mass * (rows[[i]].T @ rows[[j]]) for j in range(d)) for i in range(d)
        )
        return replace(
            self,
            mass=self.mass + mass,
            first=self.first + mass * x,
            second=self.second + mass * np.outer(x, x),
            shape_first=self.shape_first + mass * phi,
            shape_lever=self.shape_lever + mass * np.einsum("ik,j->ijk", phi, x),
            shape_pair=pair,
        )

    def plus_spin(self, inertia: float, rotation: Any) -> Inertia:
        """The same body with a rotary inertia [kg m²], isotropic, at a section that turns by ψ u."""
        psi = sparse.csr_array(rotation)
        return replace(
            self,
            spin=self.spin + inertia * np.eye(spins(self.dim)),
            spin_shape=self.spin_shape + inertia * psi.toarray(),
            spin_pair=self.spin_pair + inertia * (psi.T @ psi),
        )


def rigid_inertia(mass: float, first: Array, second: Array, spin: Array) -> Inertia:
    """Inertia of a body without flexible coordinates."""
    d = len(first)
    none = sparse.csr_array((0, 0))
    return Inertia(
        mass=mass,
        first=np.asarray(first, dtype=float),
        second=np.asarray(second, dtype=float),
        shape_first=np.zeros((d, 0)),
        shape_lever=np.zeros((d, d, 0)),
        shape_pair=tuple(tuple(none for _ in range(d)) for _ in range(d)),
        spin=np.asarray(spin, dtype=float),
        spin_shape=np.zeros((spins(d), 0)),
        spin_pair=none,
    )


@dataclass(frozen=True)
class Contractions:
    """What the equations of motion need of an :class:`Inertia`, s spins and n flexible coordinates.

    ``J(u)_ab = J_ab + 2 s_ab·u + uᵀK_ab u``, ``p_r,a = J(u)_ab ω_b + (n_a + N_a u)·u̇``,
    ``p_u = ω_a (n_a + N_a u) + M u̇``, N_a skew. The shift to the centre of mass is *not* in M, N, K: it is
    ``−m φ̄ᵀ B φ̄`` with B = 1, cross_a, cross_aᵀcross_b, and stays outside so that they remain sparse.
    """

    J: Array
    s: Array
    n: Array
    M: Any
    N: tuple[Any, ...]
    K: tuple[tuple[Any, ...], ...]


def contract(inertia: Inertia, *, about_centre: bool) -> Contractions:
    """Contract the mass integrals about P, or about the centre of mass of the undeformed body (design: c, φ̄)."""
    second, lever = inertia.second, inertia.shape_lever
    if about_centre:
        c = inertia.centre
        second = second - inertia.mass * np.outer(c, c)
        lever = lever - np.einsum("ik,j->ijk", inertia.shape_first, c)
    basis = cross(inertia.dim)
    square = square_of(basis)
    pair = inertia.shape_pair
    weighted = lambda w: sum(  # noqa: E731 - a local contraction
        (w[i, j] * pair[i][j] for i in range(inertia.dim) for j in range(inertia.dim) if w[i, j]),
        start=sparse.csr_array((inertia.size, inertia.size)),
    )
    count = range(len(basis))
    return Contractions(
        J=np.einsum("abij,ij->ab", square, second) + inertia.spin,
        s=np.einsum("abij,ijk->abk", square, lever),
        n=np.einsum("aij,ijk->ak", basis, lever) + inertia.spin_shape,
        M=weighted(np.eye(inertia.dim)) + inertia.spin_pair,
        N=tuple(weighted(basis[a]) for a in count),
        K=tuple(tuple(weighted(square[a, b]) for b in count) for a in count),
    )


def square_of(basis: Array) -> Array:
    """sym(cross_aᵀ cross_b), shape (s, s, d, d): the quadratic form of |ω × x|²."""
    product = np.einsum("aki,bkj->abij", basis, basis)
    return 0.5 * (product + np.swapaxes(product, 2, 3))


@dataclass(frozen=True)
class Elasticity:
    """Elastic energy ½ σᵀCσ with strain rate D(u) u̇ = C σ̇.

    The strain is at most quadratic, ``ε(u) = strain u + ½ weights (slopes u)²`` (the square entry by entry), so
    that ``D(u) = strain + weights diag(slopes u) slopes`` is linear in u. Shapes: compliance C (m, m) symmetric
    positive definite, strain (m, n), slopes (g, n), weights (m, g); g = 0 for linear strain.
    Damping is proportional: force −(mass_damping M + stiffness_damping D(u)ᵀC⁻¹D(u)) u̇, in [1/s] and [s].
    """

    compliance: Any
    strain: Any
    slopes: Any
    weights: Any
    mass_damping: float = 0.0
    stiffness_damping: float = 0.0

    def __post_init__(self) -> None:
        m, n = self.strain.shape
        check.matrix("compliance", self.compliance, (m, m))
        check.symmetric("compliance", self.compliance)
        check.not_negative("mass_damping", self.mass_damping, "1/s")
        check.not_negative("stiffness_damping", self.stiffness_damping, "s")
        if self.slopes.shape[1] != n or self.weights.shape != (m, self.slopes.shape[0]):
            raise ValueError(
                f"slopes and weights must have shapes (g, {n}) and ({m}, g), "
                f"got {self.slopes.shape} and {self.weights.shape}"
            )

    @property
    def size(self) -> int:
        """Number m of stress coordinates."""
        return int(self.strain.shape[0])

    @cached_property
    def stiffness_of_stress(self) -> Any:
        """C⁻¹, sparse; block diagonal where the stresses are discontinuous."""
        return inverse_by_blocks(self.compliance)

    def operator(self, u: Array) -> Any:
        """D(u), sparse (m, n)."""
        return self.strain + self.weights @ sparse.diags_array(self.slopes @ u) @ self.slopes

    def strain_of(self, u: Array) -> Array:
        """ε(u), (m,)."""
        return self.strain @ u + 0.5 * (self.weights @ (self.slopes @ u) ** 2)

    def stress_of(self, u: Array) -> Array:
        """σ = C⁻¹ ε(u), (m,): the stresses of a body that was undeformed without stress."""
        return self.stiffness_of_stress @ self.strain_of(u)


def inverse_by_blocks(matrix: Any) -> Any:
    """Inverse of a symmetric positive definite sparse matrix, one connected block at a time."""
    a = sparse.csr_array(matrix)
    number, label = sparse.csgraph.connected_components(a, directed=False)
    inverse = sparse.lil_array(a.shape)
    for block in range(number):
        index = np.flatnonzero(label == block)
        inverse[np.ix_(index, index)] = np.linalg.solve(a[index][:, index].toarray(), np.eye(index.size))
    return sparse.csr_array(inverse)


@dataclass(frozen=True)
class Port:
    """An interface of a body: the section at a material point.

    position X (d,) [m]; shape φ, sparse (d, n): the point moves by φu; rotation ψ, sparse (s, n): the section
    turns by ψu to first order. ``rotation`` is None where nothing can turn (a point mass).
    """

    position: Array
    shape: Any
    rotation: Any | None


@dataclass(frozen=True)
class LoadPort:
    """A force density, constant on each of k elements: acts at the element means of the displacement.

    positions (k, d) [m], shapes sparse (k·d, n), measures (k,): the lengths (areas, volumes) of the elements.
    """

    positions: Array
    shapes: Any
    measures: Array


@dataclass(frozen=True)
class StressField:
    """A stress quantity as a linear map of the stress coordinates σ, for export: (cells, m)."""

    unit: str
    cells: Any


@dataclass(frozen=True)
class View:
    """How a body looks: points (p, d), cells of one meshio type, displacement rows sparse (p·d, n), stress fields."""

    points: Array
    cells: NDArray[np.int_]
    cell_type: str
    shape: Any
    stresses: Mapping[str, StressField] = field(default_factory=dict)


@dataclass(frozen=True)
class Body:
    """A floating body: inertia, elastic energy or None, named ports.

    ``momenta="full"`` lets the momenta depend on the deformation ([flex] eq. (9)); ``"constant"`` keeps them at
    u = 0 about the centre of mass ([flex] sec. 4.3): no Coriolis or centrifugal coupling with u.
    ``section_rotation``, sparse (k, n), are rotations that must stay small (range of validity of the frame).
    """

    inertia: Inertia
    ports: Mapping[str, Port]
    elasticity: Elasticity | None = None
    loads: Mapping[str, LoadPort] = field(default_factory=dict)
    view: View | None = None
    momenta: Momenta = "full"
    turns: bool = True
    section_rotation: Any | None = None

    def __post_init__(self) -> None:
        check.choice("momenta", self.momenta, ("full", "constant"))
        n = self.inertia.size
        if n and self.elasticity is None:
            raise ValueError(f"elasticity must be given for a body with {n} flexible coordinates")
        if self.elasticity is not None and self.elasticity.strain.shape[1] != n:
            raise ValueError(f"elasticity must act on {n} coordinates, got {self.elasticity.strain.shape[1]}")
        object.__setattr__(self, "ports", MappingProxyType(dict(self.ports)))
        object.__setattr__(self, "loads", MappingProxyType(dict(self.loads)))

    @property
    def dim(self) -> int:
        """2 in the plane, 3 in space."""
        return self.inertia.dim

    @property
    def size(self) -> int:
        """Number n of flexible coordinates."""
        return self.inertia.size

    @property
    def stress_size(self) -> int:
        """Number m of stress coordinates."""
        return self.elasticity.size if self.elasticity else 0

    @property
    def mass(self) -> float:
        """Total mass [kg], lumped masses included."""
        return self.inertia.mass

    def with_mass(self, port: str, mass: float = 0.0, inertia: float = 0.0) -> Body:
        """The same body with a lumped mass [kg] and rotary inertia [kg m²] at a port ([flex] eq. (48))."""
        at: Port = check.lookup("port", port, self.ports)
        changed = self.inertia
        if check.not_negative("mass", mass, "kg"):
            changed = changed.plus_point(mass, at.position, at.shape)
        if check.not_negative("inertia", inertia, "kg m²"):
            if at.rotation is None:
                raise ValueError(f"inertia cannot be lumped at port {port!r}: nothing turns there")
            changed = changed.plus_spin(inertia, at.rotation)
        return replace(self, inertia=changed)
