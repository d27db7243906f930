"""Static responses and vibration modes of a body with its frame at rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from ..linear.eigenmodes.lowest_modes import lowest_shapes
from ..linear.eigenmodes.modes import modes as vibrations
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.factors.low_rank import filled
from ..numerics.factors.positive_definite import Solve, prepared_solver
from ..numerics.memo import Memo, once
from ..numerics.subspaces import DEFLATION, orthonormal
from ..systems.linear import LinearPHDAE
from .body import Body, Port
from .elasticity import ElasticEnergy
from .inertia import contract

SILENT = 1e-13
"""Entry of a vector, relative to its largest one, that is round-off."""

MANY = 10
"""Ratio of coordinates to requested modes from which on only the lowest modes are computed."""

UNLOADED = 1e-10
"""Load by inertia forces, relative to its upper bound, that counts as zero."""


@dataclass(frozen=True)
class HeldBody(Memo):
    """Body with its frame at rest, ``M ü + D₀ᵀσ = f, Cσ = D₀u``, and its stiffness K = D₀ᵀC⁻¹D₀.

    M is the mass matrix of the deformation about P, D₀ the strain operator at u = 0.
    """

    body: Body

    @property
    def elastic(self) -> ElasticEnergy:
        """Elastic energy of the body, which must be flexible."""
        assert self.body.elasticity is not None
        return self.body.elasticity

    @once
    def mass(self) -> Any:
        """Mass matrix M (n, n) of the deformation with P at rest; sparse, or bordered about mean axes."""
        return contract(self.body.inertia, about_centre=False).M

    @once
    def strain(self) -> Any:
        """Strain operator D₀, sparse (m, n)."""
        return sparse.csr_array(self.elastic.strain)

    @once
    def _factor(self) -> tuple[Any, Array, Array]:
        """Sparse factor of the scaled matrix [[0, D₀ᵀ], [D₀, −C]], and the scales of rows (m,) and columns (n,) of D₀.

        Rows of D₀ are multiplied by the scales of rows, so that compliances are 1. Columns are divided by the scales of
        columns, so that they are unit vectors. Raises ValueError if a deformation has no stress.
        """
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

    def _dense_solver(self) -> Callable[[], Solve] | None:
        """Function that factors the stiffness K and returns a solver; None if K is not formed.

        With PARDISO the function keeps the upper triangle of K only: a large K can then be freed before it is factored.
        """
        stiffness = self.elastic.stiffness()
        return None if stiffness is None else prepared_solver(stiffness)

    @once
    def _sparse_solver(self) -> Solve | None:
        """Solver of K u = f by the factored stiffness K, if stresses are many and local; else None."""
        prepared = self._dense_solver()
        try:
            return None if prepared is None else prepared()
        except ValueError:
            raise ValueError("body must not deform without stress: D₀ᵀC⁻¹D₀ is singular") from None

    def response(self, force: Array, strain: Array | None = None) -> Array:
        """Static deformations u (n, k) for k loads, from D₀ᵀσ = force (n, k) and Cσ = D₀u + strain (m, k).

        The strain is zero by default.
        """
        stiff = self._sparse_solver
        if stiff is not None:
            if strain is not None:
                force = force - self.strain.T @ (self.elastic.stiffness_of_stress @ strain)
            return stiff(force)
        factor, row, length = self._factor
        pulled = np.zeros((row.size, force.shape[1])) if strain is None else -row[:, None] * strain
        right = np.concatenate([force / length[:, None], pulled])
        solution = factor.solve(right)
        if not np.all(np.isfinite(solution)):
            raise ValueError("body must not deform without stress: D₀ᵀC⁻¹D₀ is singular")
        return solution[: length.size] / length[:, None]

    def static(self, ports: Sequence[str]) -> Array:
        """Static deformations (n, k) for unit forces and torques about each axis at the given ports.

        They span the same space as the responses to unit displacements and rotations. A port that the reference
        conditions fix has no responses. For a load port, the responses are those to uniform loads along each axis.
        """
        force = np.vstack([np.zeros((0, self.body.size)), *(_unit_loads(self.body, name) for name in ports)])
        return self._static_deformation(force[np.any(force != 0.0, axis=1)])

    def _static_deformation(self, force: Array) -> Array:
        """Static deformations (n, k) for k loads, the rows of ``force`` (k, n)."""
        return self.response(force.T) if len(force) else np.zeros((self.body.size, 0))

    def inertia(self) -> Array:
        """Static deformations (n, k) for the inertia forces of rigid motions of the undeformed body."""
        force, most = inertia_forces(self.body)
        size = np.sqrt(self.mass.diagonal())
        return self._static_deformation(force[np.any(np.abs(force) > UNLOADED * most[:, None] * size, axis=1)])

    def modes(self, count: int) -> Array:
        """Shapes (n, count) of the lowest vibration modes, with the frame at rest."""
        n, m = self.body.size, self.elastic.size
        if count > n:
            raise ValueError(f"modes must be at most the {n} flexible coordinates of the body, got {count}")
        if not count:
            return np.zeros((n, 0))
        if self._sparse_solver is not None and count <= n // MANY:
            shapes = lowest_shapes(AtRest(self), count)
            if shapes is not None:
                return shapes
        system = LinearPHDAE(
            E=sparse.block_diag([filled(self.mass), self.elastic.compliance]).tocsr(),
            J=sparse.csr_array(sparse.block_array([[None, -self.strain.T], [self.strain, None]])),
            kinetic=np.arange(n + m) < n,
        )
        vibration = vibrations(system, count)
        if vibration.rigid:
            raise ValueError(f"body must not deform without stress: it has {vibration.rigid} modes of frequency zero")
        return vibration.shapes[:n].real

    def derivatives(self, vectors: Array, count: int) -> Array:
        """Modal derivatives: static responses ``K u_ij = −D₀ᵀC⁻¹W(s_i ∘ s_j)`` to quadratic strains.

        s_i are the slopes of ``vectors`` (n, k), scaled as in :meth:`pair_strains`. The result (n, count) spans the
        ``count`` leading directions, by strain energy, of the responses u_ij to all pairs i ≤ j of vectors.
        """
        strains = self.pair_strains(vectors)
        moved = self.response(np.zeros((len(vectors), strains.shape[1])), strains)
        energy, weights = np.linalg.eigh(self.elastic.energies(moved))
        available = int(np.sum(energy > DEFLATION**2 * energy[-1])) if strains.any() else 0
        if count > available:
            raise ValueError(f"derivatives must be at most {available}, the number of independent ones, got {count}")
        leading = slice(None, -count - 1, -1)
        return moved @ weights[:, leading] / np.sqrt(energy[leading])

    def pair_strains(self, vectors: Array) -> Array:
        """Quadratic strains W(s_i ∘ s_j) of all pairs i ≤ j of vectors (n, k) with the slopes s_i, (m, pairs).

        Strains of two different vectors, i < j, are multiplied by √2. Vectors are scaled by their response to forces of
        equal magnitude, i.e. by 1/ω² if the vectors are modes in [m], so that low modes count most (for the
        crank-slider, this needs fewer derivatives than vectors of equal energy).
        """
        stretch = self.strain @ vectors
        energy = np.einsum("mk,mk->k", stretch, self.elastic.stiffness_of_stress @ stretch)
        mass = np.sqrt(np.einsum("nk,nk->k", vectors, self.mass @ vectors))
        slopes = self.elastic.slopes @ (vectors * mass / energy)
        i, j = np.triu_indices(slopes.shape[1])
        return self.elastic.weights @ (np.where(i == j, 1.0, np.sqrt(2.0)) * slopes[:, i] * slopes[:, j])

    def ritz(self, vectors: Array) -> Array:
        """Basis T of the span of vectors (n, k) with TᵀMT = m1, m the mass of the body, and TᵀKT diagonal, ascending.

        Vectors that depend on earlier ones are left out.
        """
        basis = orthonormal(vectors, self.mass)
        if not basis.shape[1]:
            return basis
        basis = basis @ principal(self.elastic.energies(basis))
        largest = np.abs(basis).max(axis=0, initial=0.0)
        basis = np.where(np.abs(basis) > SILENT * largest, basis, 0.0)
        signs = np.sign(basis[np.argmax(np.abs(basis), axis=0), np.arange(basis.shape[1])])
        return signs * np.sqrt(self.body.mass) * basis


def principal(stiffness: Array) -> Array:
    """Eigenvectors (k, k) of a stiffness, by ascending eigenvalues; accurate for small eigenvalues, too."""
    size = np.sqrt(stiffness.diagonal())
    scaled = stiffness / np.outer(size, size)
    _, part = connected_components(np.abs(scaled) > SILENT)  # e.g. the two planes of a beam, which must not mix
    rotation, frequencies = np.zeros_like(stiffness), np.empty(len(size))
    for k in range(part.max(initial=-1) + 1):
        entries = np.flatnonzero(part == k)
        root = np.linalg.cholesky(scaled[np.ix_(entries, entries)]).T * size[entries]
        _, frequencies[entries], rotation[np.ix_(entries, entries)] = np.linalg.svd(root)
    ascending: Array = rotation[np.argsort(frequencies)].T
    return ascending


@dataclass(frozen=True)
class AtRest:
    """Eigenvalue problem K v = ω² M v of a body with its frame at rest, for iterative solvers."""

    held: HeldBody
    shift: float = 0.0

    @property
    def m(self) -> Any:
        """Mass matrix M (n, n)."""
        return self.held.mass

    def velocities(self, load: Array) -> Array:
        """Solutions K⁻¹b (n, k) for loads b (n, k)."""
        return self.held.response(load)

    def energies(self, vectors: Array) -> Array:
        """Matrix VᵀK V (k, k) of vectors V (n, k), from their strains D₀V."""
        return self.held.elastic.energies(vectors)


def inertia_forces(body: Body) -> tuple[Array, Array]:
    """Loads (k, n) on the coordinates u by the inertia of unit rigid motions about P, and factors (k,) of their bounds.

        ∫ρφ,  ∫ρ X × φ,  ∫ρ φᵀB_ab X with B_ab = sym(cross_aᵀ cross_b), a ≤ b

    The motions are d accelerations, s angular accelerations, and s(s + 1)/2 products of spins (centrifugal loads). The
    signs of the loads are arbitrary. These are all inertia forces of the undeformed body, as a spin about another point
    differs by an acceleration. On coordinate j with the mass M_jj a load is at most √M_jj times its factor
    (Cauchy-Schwarz inequality).
    """
    c, second = contract(body.inertia, about_centre=False), np.trace(body.inertia.second)
    a, b = np.triu_indices(len(c.n))
    squares = [np.full(body.dim, body.mass), c.J.diagonal(), np.full(a.size, second)]
    return np.vstack([body.inertia.shape_first, c.n, c.s[a, b]]), np.sqrt(np.concatenate(squares))


def _unit_loads(body: Body, name: str) -> Array:
    """Generalised forces (k, n) on u of unit forces and torques at a port, or of unit densities at a load port."""
    port = check.lookup("port", name, {**body.loads, **body.ports})
    if isinstance(port, Port):
        return np.vstack([sparse.csr_array(p).toarray() for p in (port.shape, port.rotation) if p is not None])
    rows = port.measures[:, None, None] * port.shapes.toarray().reshape(-1, body.dim, body.size)
    return np.asarray(rows.sum(axis=0))
