"""Mass integrals of a body, and what the equations of motion contract them to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import Memo, once
from ..numerics.rotations import cross, spins


@dataclass(frozen=True, eq=False)
class Inertia(Memo):
    """Mass integrals of a body about its point P, in body axes; every form of the equations contracts these.

    With d = 2 or 3 dimensions, s = 1 or 3 spins, n flexible coordinates, φ_k the field of coordinate k. The last three
    are those of rotating sections or lumped inertias, which add ½ Ωᵀ spin Ω + Ωᵀ spin_shape u̇ + ½ u̇ᵀ spin_pair u̇.

    Parameters
    ----------
    mass : float
        m = ∫ρ [kg].
    first : array
        ∫ρ X_i (d,).
    second : array
        ∫ρ X_i X_j (d, d).
    shape_first : array
        ∫ρ φ_ki (d, n).
    shape_lever : array
        ∫ρ φ_ki X_j (d, d, n).
    shape_pair : d × d matrices
        ∫ρ φ_ki φ_lj, sparse (n, n) each.
    spin : array
        (s, s).
    spin_shape : array
        (s, n).
    spin_pair : matrix
        (n, n).
    """

    mass: float
    first: Array
    second: Array
    shape_first: Array
    shape_lever: Array
    shape_pair: Sequence[Sequence[Any]]
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

    @once
    def centre(self) -> Array:
        """Centre of mass c of the undeformed body, in body axes [m], (d,)."""
        return self.first / self.mass

    @once
    def mean_shape(self) -> Array:
        """Mass mean φ̄ of the shape functions, (d, n)."""
        return self.shape_first / self.mass

    def plus_point(self, mass: float, position: Array, shape: Any) -> Inertia:
        """Inertia with a point mass [kg] at a material point ([flex] eq. (48), with its deformation)."""
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
        """Inertia with a rotary inertia [kg m²], isotropic, at a section that turns by ψ u."""
        psi = sparse.csr_array(rotation)
        return replace(
            self,
            spin=self.spin + inertia * np.eye(spins(self.dim)),
            spin_shape=self.spin_shape + inertia * psi.toarray(),
            spin_pair=self.spin_pair + inertia * (psi.T @ psi),
        )


@checked
def rigid_inertia(mass: float, first: Array, second: Array, spin: Array) -> Inertia:
    """Inertia of a body without flexible coordinates.

    Parameters
    ----------
    mass : float
        Mass [kg].
    first : array
        ∫ρX (d,) [kg m].
    second : array
        ∫ρXXᵀ (d, d) [kg m²].
    spin : array
        Inertia of the spin beside these, about the body axes [kg m²].

    Returns
    -------
    Inertia
        Mass integrals without flexible coordinates.
    """
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


@dataclass(frozen=True, eq=False)
class Contractions(Memo):
    """What the equations of motion need of an :class:`Inertia`, s spins and n flexible coordinates.

    ``J(u)_ab = J_ab + 2 s_ab·u + uᵀK_ab u``, ``p_r,a = J(u)_ab ω_b + (n_a + N_a u)·u̇``,
    ``p_u = ω_a (n_a + N_a u) + M u̇``, N_a skew. The shift to the centre of mass is *not* in M, N, K: it is
    ``−m φ̄ᵀ B φ̄`` with B = 1, cross_a, cross_aᵀcross_b, and stays outside so that they remain sparse.
    M, N and K are summed where they are asked for.
    """

    inertia: Inertia
    J: Array
    s: Array
    n: Array

    @once
    def M(self) -> Any:
        """Mass of the deformation, (n, n)."""
        own, spin = self._weighted(np.eye(self.inertia.dim)), self.inertia.spin_pair
        return own if sparse.issparse(spin) and not spin.nnz else own + spin

    @once
    def N(self) -> tuple[Any, ...]:
        """∫φᵀcross_a φ, s of them (n, n)."""
        return tuple(self._weighted(form) for form in cross(self.inertia.dim))

    @once
    def K(self) -> tuple[tuple[Any, ...], ...]:
        """∫φᵀB_ab φ with B_ab = sym(cross_aᵀcross_b), s × s of them (n, n)."""
        return tuple(tuple(map(self._weighted, row)) for row in square_of(cross(self.inertia.dim)))

    def _weighted(self, form: Array) -> Any:
        """Σ_ij form_ij ∫ρ φ_i φ_j."""
        pair, places = self.inertia.shape_pair, np.argwhere(form).tolist()
        terms = [pair[i][j] if form[i, j] == 1.0 else form[i, j] * pair[i][j] for i, j in places]
        return sum(terms[1:], start=terms[0])


def contract(inertia: Inertia, *, about_centre: bool) -> Contractions:
    """Contract the mass integrals about P, or about the centre of mass of the undeformed body (design: c, φ̄)."""
    second, lever = inertia.second, inertia.shape_lever
    if about_centre:
        c = inertia.centre
        second = second - inertia.mass * np.outer(c, c)
        lever = lever - np.einsum("ik,j->ijk", inertia.shape_first, c)
    basis = cross(inertia.dim)
    square = square_of(basis)
    return Contractions(
        inertia,
        J=np.einsum("abij,ij->ab", square, second) + inertia.spin,
        s=np.einsum("abij,ijk->abk", square, lever),
        n=np.einsum("aij,ijk->ak", basis, lever) + inertia.spin_shape,
    )


def about_centre(inertia: Inertia) -> Contractions:
    """The contractions about the centre of mass of the undeformed body."""
    return contract(inertia, about_centre=True)


def square_of(basis: Array) -> Array:
    """sym(cross_aᵀ cross_b), shape (s, s, d, d): the quadratic form of |ω × x|²."""
    product = np.einsum("aki,bkj->abij", basis, basis)
    return 0.5 * (product + np.swapaxes(product, 2, 3))
