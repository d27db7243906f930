"""Mass integrals of a body, and their contractions in the equations of motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, no_entries
from ..numerics.memo import Memo, once
from ..numerics.rotations import cross, spins


@dataclass(frozen=True, eq=False)
class Inertia(Memo):
    """Mass integrals of a body about its point P, in body axes.

    There are d = 2 or 3 dimensions, s = 1 or 3 spins and n flexible coordinates; φ_k is the field of coordinate k.
    Rotary inertia of sections and lumped inertias add the energy ½ Ωᵀ spin Ω + Ωᵀ spin_shape u̇ + ½ u̇ᵀ spin_pair u̇.

    Parameters
    ----------
    mass : float
        Mass m = ∫ρ [kg].
    first : array
        First moments ∫ρ X_i (d,) [kg m].
    second : array
        Second moments ∫ρ X_i X_j (d, d) [kg m²].
    shape_first : array
        Integrals ∫ρ φ_ki (d, n).
    shape_lever : array
        Integrals ∫ρ φ_ki X_j (d, d, n).
    shape_pair : d × d matrices
        Integrals ∫ρ φ_ki φ_lj, sparse (n, n) each.
    spin : array
        Rotary inertia of the spin (s, s) [kg m²].
    spin_shape : array
        Rotary coupling of spin and deformation (s, n).
    spin_pair : matrix
        Rotary inertia of the deformation (n, n).
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
        """Dimension, 2 or 3."""
        return len(self.first)

    @property
    def size(self) -> int:
        """Number n of flexible coordinates."""
        return int(self.shape_first.shape[1])

    def scaled(self, factor: float) -> Inertia:
        """Copy with all integrals multiplied by a factor."""
        pair = [[factor * entry for entry in row] for row in self.shape_pair]
        of_shapes = factor * self.shape_first, factor * self.shape_lever, pair
        spins_of = factor * self.spin, factor * self.spin_shape, factor * self.spin_pair
        return Inertia(factor * self.mass, factor * self.first, factor * self.second, *of_shapes, *spins_of)

    @once
    def centre(self) -> Array:
        """Centre of mass c of the undeformed body, in body axes [m], (d,)."""
        return self.first / self.mass

    @once
    def mean_shape(self) -> Array:
        """Mass mean φ̄ of the shape functions, (d, n)."""
        return self.shape_first / self.mass

    def plus_point(self, mass: float, position: Array, shape: Any) -> Inertia:
        """Add a point mass [kg] at a material point that moves with the deformation ([flex] eq. (48))."""
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
        """Add an isotropic rotary inertia [kg m²] at a section with the rotation ψ u."""
        psi = sparse.csr_array(rotation)
        return replace(
            self,
            spin=self.spin + inertia * np.eye(spins(self.dim)),
            spin_shape=self.spin_shape + inertia * psi.toarray(),
            spin_pair=self.spin_pair + inertia * (psi.T @ psi),
        )


@checked
def rigid_inertia(mass: float, first: Array, second: Array, spin: Array) -> Inertia:
    """Mass integrals of a rigid body.

    Parameters
    ----------
    mass : float
        Mass [kg].
    first : array
        First moments ∫ρX (d,) [kg m].
    second : array
        Second moments ∫ρXXᵀ (d, d) [kg m²].
    spin : array
        Additional inertia of the spin about the body axes [kg m²].

    Returns
    -------
    Inertia
        Mass integrals without flexible coordinates.
    """
    d = len(first)
    none = no_entries(0, 0)
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
    """Terms of the equations of motion that follow from an :class:`Inertia`, with s spins and n flexible coordinates.

    The rotational inertia is ``J(u)_ab = J_ab + 2 s_ab·u + uᵀK_ab u``. With the spins ω, the angular momenta are
    ``p_r,a = J(u)_ab ω_b + (n_a + N_a u)·u̇``, and those of the coordinates ``p_u = ω_a (n_a + N_a u) + M u̇``; N_a is
    skew. To stay sparse, M, N_a and K_ab do *not* include the shift to the centre of mass ``−m φ̄ᵀ B φ̄``, in
    which B is 1 for M, cross_a for N_a and cross_aᵀcross_b for K_ab. M, N and K are computed on first use.
    """

    inertia: Inertia
    J: Array
    s: Array
    n: Array

    @once
    def M(self) -> Any:
        """Mass matrix M of the deformation, (n, n)."""
        weighted, spin = self._weighted(np.eye(self.inertia.dim)), self.inertia.spin_pair
        return weighted if sparse.issparse(spin) and not spin.nnz else weighted + spin

    @once
    def N(self) -> tuple[Any, ...]:
        """Matrices N_a = ∫ρφᵀcross_a φ (n, n), skew, one for each spin axis a = 1 … s."""
        return tuple(self._weighted(form) for form in cross(self.inertia.dim))

    @once
    def K(self) -> tuple[tuple[Any, ...], ...]:
        """Matrices K_ab = ∫ρφᵀB_ab φ (n, n), B_ab = sym(cross_aᵀcross_b), for spin axes a, b; K_ba is K_ab itself."""
        B = square_of(cross(self.inertia.dim))
        upper = {(a, b): self._weighted(B[a][b]) for a in range(len(B)) for b in range(a, len(B))}
        return tuple(tuple(upper[min(a, b), max(a, b)] for b in range(len(B))) for a in range(len(B)))

    def _weighted(self, form: Array) -> Any:
        """Sum Σ_ij form_ij ∫ρ φ_iᵀφ_j (n, n) over the components i and j of the shapes φ, for ``form`` (d, d)."""
        pair, places = self.inertia.shape_pair, np.argwhere(form).tolist()
        terms = [pair[i][j] if form[i, j] == 1.0 else form[i, j] * pair[i][j] for i, j in places]
        return sum(terms[1:], start=terms[0])


def contract(inertia: Inertia, *, about_centre: bool) -> Contractions:
    """Terms of the equations of motion about the centre of mass of the undeformed body, or about P.

    With ``about_centre`` J, s and n include the shift to the centre of mass.
    """
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
    """Terms of the equations of motion about the centre of mass of the undeformed body."""
    return contract(inertia, about_centre=True)


def square_of(basis: Array) -> Array:
    """Matrices sym(cross_aᵀ cross_b) (s, s, d, d) of the quadratic form |ω × x|² in ω and x.

    ``basis`` (s, d, d) are the matrices cross_a of the cross products with the spin axes.
    """
    product = np.einsum("aki,bkj->abij", basis, basis)
    return 0.5 * (product + np.swapaxes(product, 2, 3))
