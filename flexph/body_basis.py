"""Bases of the deformation of a body: static responses at ports, vibration modes, modal derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from . import checks as check
from .body import Body
from .elasticity import Elasticity
from .gram_schmidt import DEFLATION, orthonormal
from .inertia import contract
from .linear import LinearPHDAE
from .space import Array
from .spectrum import modes as vibrations

SILENT = 1e-13
"""Entry of a vector over its largest one that is round-off of the solution it came from."""


@dataclass(frozen=True)
class Held:
    """A body whose frame is at rest: ``M ü + D₀ᵀσ = f, Cσ = D₀u`` with M about P and D₀ = D(0), K = D₀ᵀC⁻¹D₀."""

    body: Body

    @property
    def elastic(self) -> Elasticity:
        """The elasticity, which a flexible body has."""
        assert self.body.elasticity is not None
        return self.body.elasticity

    @cached_property
    def mass(self) -> Any:
        """M, sparse (n, n): of the deformation alone, P at rest, as damping by modes has it."""
        return sparse.csr_array(contract(self.body.inertia, about_centre=False).M)

    @cached_property
    def strain(self) -> Any:
        """D₀, sparse (m, n)."""
        return sparse.csr_array(self.elastic.strain)

    @cached_property
    def _factor(self) -> tuple[Any, Array, Array]:
        """[[0, D₀ᵀ], [D₀, −C]] factored, rows of D₀ at unit compliance and its columns at unit length."""
        C = sparse.csr_array(self.elastic.compliance)
        row = 1.0 / np.sqrt(C.diagonal())
        scaled = sparse.diags_array(row) @ self.strain
        length = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=0)).ravel())
        if not np.all(length > 0.0):
            raise ValueError(f"body must not deform without stress: coordinate {int(np.argmin(length))} has no strain")
        scaled = scaled @ sparse.diags_array(1.0 / length)
        unit = sparse.diags_array(row) @ C @ sparse.diags_array(row)
        try:
            factor = splu(sparse.csc_array(sparse.block_array([[None, scaled.T], [scaled, -unit]])))
        except RuntimeError:
            raise ValueError("body must not deform without stress: D₀ᵀC⁻¹D₀ is singular") from None
        return factor, row, length

    def response(self, force: Array, strain: Array) -> Array:
        """Static deformation (n, k) under D₀ᵀσ = force (n, k), Cσ = D₀u + strain, strain (m, k)."""
        factor, row, length = self._factor
        right = np.concatenate([force / length[:, None], -row[:, None] * strain])
        found = factor.solve(right)
        if not np.all(np.isfinite(found)):
            raise ValueError("body must not deform without stress: D₀ᵀC⁻¹D₀ is singular")
        moved: Array = found[: length.size] / length[:, None]
        return moved

    def static(self, ports: Sequence[str]) -> Array:
        """Responses to a unit force along each axis and a unit torque about each at the ports, (n, k).

        They span what unit displacements and rotations of these ports span. A port that the reference holds has none.
        """
        loads = [np.zeros((0, self.body.size))]
        for name in ports:
            port = check.lookup("port", name, self.body.ports)
            loads += [sparse.csr_array(p).toarray() for p in (port.shape, port.rotation) if p is not None]
        force = np.vstack(loads).T
        force = force[:, np.any(force != 0.0, axis=0)]
        return self.response(force, np.zeros((self.elastic.size, force.shape[1])))

    def modes(self, count: int) -> Array:
        """The lowest vibration modes, (n, count)."""
        n, m = self.body.size, self.elastic.size
        if count > n:
            raise ValueError(f"modes must be at most the {n} flexible coordinates of the body, got {count}")
        if not count:
            return np.zeros((n, 0))
        system = LinearPHDAE(
            E=sparse.block_diag([self.mass, self.elastic.compliance]).tocsr(),
            J=sparse.csr_array(sparse.block_array([[None, -self.strain.T], [self.strain, None]])),
            kinetic=np.arange(n + m) < n,
        )
        found = vibrations(system, count)
        if found.rigid:
            raise ValueError(f"body must not deform without stress: it has {found.rigid} modes of frequency zero")
        shapes: Array = found.shapes[:n].real
        return shapes

    def derivatives(self, vectors: Array, count: int) -> Array:
        """Modal derivatives: static responses ``K u_ij = −D₀ᵀC⁻¹W(s_i ∘ s_j)`` to the quadratic strains of pairs.

        s_i are the slopes of ``vectors`` (n, k). Of all pairs the ``count`` leading directions in the norm of strain
        energy, the vectors taken as in :meth:`pair_strains`.
        """
        strains = self.pair_strains(vectors)
        moved = self.response(np.zeros((len(vectors), strains.shape[1])), strains)
        stretch = self.strain @ moved
        energy, weights = np.linalg.eigh(stretch.T @ (self.elastic.stiffness_of_stress @ stretch))
        found = int(np.sum(energy > DEFLATION**2 * energy[-1])) if strains.any() else 0
        if count > found:
            raise ValueError(f"derivatives must be at most {found}, as many as are independent here, got {count}")
        leading = slice(None, -count - 1, -1)
        picked: Array = moved @ weights[:, leading] / np.sqrt(energy[leading])
        return picked

    def pair_strains(self, vectors: Array) -> Array:
        """Quadratic strains W(s_i ∘ s_j) of all pairs i ≤ j of vectors, (m, pairs).

        Each vector is taken as large as a force of one size deforms it, as 1/ω² if all are lengths: low ones count most
        (measured: with the crank-slider this takes fewer derivatives than vectors of equal energy).
        """
        stretch = self.strain @ vectors
        energy = np.einsum("mk,mk->k", stretch, self.elastic.stiffness_of_stress @ stretch)
        mass = np.sqrt(np.einsum("nk,nk->k", vectors, self.mass @ vectors))
        slopes = self.elastic.slopes @ (vectors * mass / energy)
        i, j = np.triu_indices(slopes.shape[1])
        found: Array = self.elastic.weights @ (np.where(i == j, 1.0, np.sqrt(2.0)) * slopes[:, i] * slopes[:, j])
        return found

    def ritz(self, vectors: Array) -> Array:
        """Vectors of the same span with TᵀMT = m and TᵀKT diagonal, ascending; m is the mass of the body.

        Those that follow from vectors before them are left out.
        """
        basis = orthonormal(vectors, self.mass)
        if not basis.shape[1]:
            return basis
        stretch = self.strain @ basis
        stiffness = stretch.T @ (self.elastic.stiffness_of_stress @ stretch)
        size = np.sqrt(stiffness.diagonal())
        root = np.linalg.cholesky(stiffness / np.outer(size, size)).T * size  # its singular values are frequencies
        basis = basis @ np.linalg.svd(root)[2][::-1].T
        largest = np.abs(basis).max(axis=0, initial=0.0)
        basis = np.where(np.abs(basis) > SILENT * largest, basis, 0.0)
        signs = np.sign(basis[np.argmax(np.abs(basis), axis=0), np.arange(basis.shape[1])])
        made: Array = signs * np.sqrt(self.body.mass) * basis
        return made


def body_basis(body: Body, *, modes: int, derivatives: int = 0, static: Sequence[str] = ()) -> Array:
    """A basis T (n, k) of the deformation of a body, ``u = T û``: TᵀMT = m, TᵀKT = diag(mω²), ascending.

    M is the mass matrix of the deformation with P at rest, K = D₀ᵀC⁻¹D₀ the stiffness at u = 0: the body in its
    reference condition. û are lengths [m], root mean squares of the displacement over the mass m. T spans, in this
    order (what follows from those before is left out):

    - ``static``: the static responses to unit forces and torques at named ports, which are also those to unit
      displacements and rotations there (constraint modes);
    - ``modes``: the lowest vibration modes, all of them counted by frequency;
    - ``derivatives``: of a body with von Kármán strain, the static responses to the quadratic strains of pairs of the
      vectors above, ``K u_ij = −D₀ᵀC⁻¹W(s_i ∘ s_j)``, compressed to so many (modal derivatives: S. R. Idelsohn,
      A. Cardona, Comput. Methods Appl. Mech. Engrg. 49 (1985)). They are the shortening that goes with bending.

    Raises ValueError for unknown ports, more modes than coordinates, derivatives of a body with linear strain or more
    than are independent, and a body that deforms without stress.
    """
    modes, derivatives = check.count("modes", modes, 0), check.count("derivatives", derivatives, 0)
    if isinstance(static, str):
        raise ValueError(f"static must be a sequence of port names, got the text {static!r}")
    for name in static:
        check.lookup("port", name, body.ports)
    if body.elasticity is None:
        if modes or derivatives:
            raise ValueError(f"modes and derivatives must be 0 for a rigid body, got {modes} and {derivatives}")
        return np.zeros((0, 0))
    if derivatives and not body.elasticity.slopes.shape[0]:
        raise ValueError(f"derivatives must be 0 for a body with linear strain, got {derivatives}")
    held = Held(body)
    base = np.column_stack([held.static(static), held.modes(modes)])
    if derivatives and not base.shape[1]:
        raise ValueError(f"derivatives need modes or static ports to be derived from, got {derivatives} without")
    base = held.ritz(base)
    return held.ritz(np.column_stack([base, held.derivatives(base, derivatives)])) if derivatives else base
