"""Stress fields, section forces and geometry of a body, for pictures and export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..drawing.shapes import SweptSection
from ..numerics.arrays import Array
from .elasticity import rows_on_reduced_stresses
from .nodal_mesh import NodalMesh

RESULTANTS = 6
"""Number of resultants N, Q_y, Q_z, T, M_y, M_z of a section, exerted by the side ahead, in section axes."""


@dataclass(frozen=True, eq=False)
class SectionStress:
    """Stresses (σ_xx, τ_xy, τ_xz) at points of s sections as linear maps of their six resultants.

    The sections are those of a body drawn as a line. Each piece of the line has a section at both ends, as resultants
    may jump between pieces.

    Parameters
    ----------
    resultants : matrix
        Resultants N, Q_y, Q_z [N], T, M_y, M_z [N m] of the sections per stress coordinate, (6s, m).
    factors : array
        Stresses at q points per resultant, (s, q, 3, 6), or (1, q, 3, 6) for equal sections.
    round : array
        1 for round sections, whose points turn with the bending moment so that one has the largest stress; (1,) or
        (s,).
    corners : array
        Axial stress at the drawn corners of the section per resultant, (1, c, 6) or (s, c, 6).
    cell : array
        Piece of each section, ascending, (s,).
    ring : array
        Index of the drawn outline of each section, (s,).
    drawn : array
        Piece that each drawn cell belongs to, (c,).
    positions : array
        Positions of the sections (s, d) [m].
    complete : bool
        True if shear stresses are known, too; False for sections given by areas and second moments only.
    """

    resultants: Any
    factors: Array
    round: Array
    corners: Array
    cell: Array
    ring: Array
    drawn: Array
    positions: Array
    complete: bool

    def in_basis(self, basis: Any) -> SectionStress:
        """Section stresses that act on reduced stresses σ̂, for the matrix ``basis`` S in σ = S σ̂."""
        return replace(self, resultants=rows_on_reduced_stresses(self.resultants, basis))

    def of(self, sigma: Array) -> Array:
        """Resultants (k, s, 6) for stress coordinates (k, m)."""
        return np.asarray((self.resultants @ sigma.T).T).reshape(len(sigma), -1, RESULTANTS)

    def von_mises(self, sigma: Array) -> Array:
        """Largest von Mises stress √(σ² + 3τ²) among the points of each section, (k, s), for stress coordinates (k, m).

        σ and τ are the axial and the shear stress at the same point.
        """
        axial, shear = self._at_points(sigma)
        return np.sqrt((axial**2 + 3.0 * shear).max(axis=-1))

    def principal(self, sigma: Array) -> tuple[Array, Array]:
        """Largest and smallest principal stress among the points of each section, (k, s) each.

        They are σ/2 ± √(σ²/4 + τ²) with the axial stress σ and the shear stress τ at a point.
        """
        axial, shear = self._at_points(sigma)
        root = np.sqrt(0.25 * axial**2 + shear)
        return (0.5 * axial + root).max(axis=-1), (0.5 * axial - root).min(axis=-1)

    def _at_points(self, sigma: Array) -> tuple[Array, Array]:
        """Axial stresses σ_xx and squares τ_xy² + τ_xz² of shear stresses at q points of each section, (k, s, q)."""
        resultants = self.of(sigma)
        if self.round.any():
            resultants = np.where(self.round[:, None] > 0.0, in_bending_axes(resultants), resultants)
        axial, along_y, along_z = (_mapped(self.factors[:, :, i], resultants) for i in range(3))
        return axial, along_y**2 + along_z**2

    def axial(self, sigma: Array) -> Array:
        """Axial stress (k, rings, c) at the c corners of each drawn outline; the mean of both pieces where two meet."""
        values = _mapped(self.corners, self.of(sigma))
        return np.add.reduceat(values[:, self._by_ring[0]], self._by_ring[1], axis=1) / self._by_ring[2][:, None]

    @cached_property
    def _by_ring(self) -> tuple[Array, Array, Array]:
        """Order (s,) that sorts the sections by drawn outline; for each outline the first place and the count."""
        order = np.argsort(self.ring, kind="stable")
        _, first, count = np.unique(self.ring[order], return_index=True, return_counts=True)
        return order, first, count


def _mapped(factors: Array, resultants: Array) -> Array:
    """Products (k, s, n) of factors (s, n, 6), or (1, n, 6) for all sections, with resultants (k, s, 6)."""
    if len(factors) == 1:
        return np.asarray(resultants @ factors[0].T)
    return np.asarray(np.matmul(factors, resultants[..., None])[..., 0])


def in_bending_axes(resultants: Array) -> Array:
    """Resultants (…, 6) in axes that are turned about x: y points to the fibre that bending stretches most.

    Without bending y is along the shear force.
    """
    N, along_y, along_z, T, about_y, about_z = np.moveaxis(resultants, -1, 0)
    bent = np.hypot(about_y, about_z)
    sheared = np.hypot(along_y, along_z)
    length = np.where(bent > 0.0, bent, np.where(sheared > 0.0, sheared, 1.0))
    y, z = np.where(bent > 0.0, -about_z, along_y) / length, np.where(bent > 0.0, about_y, along_z) / length
    none = np.zeros_like(N)
    return np.stack([N, y * along_y + z * along_z, y * along_z - z * along_y, T, none, -bent], axis=-1)


@dataclass(frozen=True)
class StressField:
    """Stress quantity in cells as a linear map of the stress coordinates σ, for export.

    Parameters
    ----------
    unit : str
        Unit of the values.
    cells : matrix
        Matrix (cells, m).
    compliance : array
        Ratio of the conjugate strain to the quantity (cells,): 1/E [1/Pa] for axial stress, stretch per force [1/N],
        curvature or twist per moment [1/N m²]; (0,) if unknown.
    """

    unit: str
    cells: Any
    compliance: Array = field(default_factory=lambda: np.zeros(0))

    def in_basis(self, basis: Any) -> StressField:
        """Field that acts on reduced stresses σ̂, for the matrix ``basis`` S in σ = S σ̂."""
        return replace(self, cells=rows_on_reduced_stresses(self.cells, basis))


@dataclass(frozen=True, eq=False)
class NodeValues:
    """Maps from stress points to the n nodes of each of c consecutive drawn cells.

    ``first`` is the index of the first stress point of these cells, which have q points each. ``own`` (n, q) or (c, n,
    q) maps the values at the stress points of a cell to the values, at its nodes, of the polynomial through them.
    ``corners`` (c, k) are the indices of the corners of each cell among the corners at which a :class:`TensorField` has
    its smooth field, and ``smooth`` (n, k) interpolates from the corners of a cell to its nodes.
    """

    first: int
    own: Array
    corners: Array
    smooth: Array


@dataclass(frozen=True, eq=False)
class TensorField:
    """Stress tensor (xx, yy, zz, xy, yz, xz) as linear maps of the stress coordinates σ.

    :mod:`flexph.bodies.stresses` computes invariants and error indicators of these stresses.

    Parameters
    ----------
    unit : str
        Unit of the values.
    cells : matrix
        Means over the drawn cells, (c·6, m).
    drawn : array
        Mesh cell that each drawn cell belongs to, (c,).
    at : matrix
        Values at the p points of the stress state, (p·6, m).
    positions : array
        Positions of these points (p, d) [m].
    weights : array
        Volumes of these points (p,) [m³].
    cell : array
        Mesh cell of each point (p,).
    nodal : matrix
        Smooth field at g corners, (g·6, m).
    spread : matrix
        Values of the smooth field at the points, (p, g).
    compliances : array
        Compliances (k, 6, 6) [1/Pa] of the materials for these components, with shear strains 2ε; (0, 6, 6) if
        unknown: energies and error indicator are then not available.
    material : array
        Material of each point (p,).
    nodes : tuple of NodeValues
        Values at the nodes, by groups of drawn cells in their order.
    """

    unit: str
    cells: Any
    drawn: Array
    at: Any
    positions: Array
    weights: Array
    cell: Array
    nodal: Any
    spread: Any
    compliances: Array
    material: Array
    nodes: tuple[NodeValues, ...] = ()

    def in_basis(self, basis: Any) -> TensorField:
        """Field that acts on reduced stresses σ̂, for the matrix ``basis`` S in σ = S σ̂."""
        cells, at, nodal = (rows_on_reduced_stresses(rows, basis) for rows in (self.cells, self.at, self.nodal))
        return replace(self, cells=cells, at=at, nodal=nodal)


@dataclass(frozen=True, eq=False)
class SectionMap:
    """Force F (d,) [N] and moment M (s,) [N m] through a surface of a body, as maps of its stresses.

        (F, M) = nodal σ + leverᵀ diag(weightsᵀσ) slopes u,   or   (F, M) = traction σ

    The side to which the normal points exerts them on the opposite side; M is about the centroid x.

    Parameters
    ----------
    position : array
        Centroid x (d,) [m].
    normal : array
        Mean normal n (d,) in body axes.
    area : float
        Area [m²], for plates the length [m].
    nodal : matrix
        Internal forces of the cells along the surface by virtual power of rigid motions of its nodes, (d + s, m).
    lever : matrix
        Levers (g, d + s) of the quadratic part (von Kármán strain).
    weights : matrix
        Weights (m, g) of the quadratic part.
    slopes : matrix
        Slopes (g, n) of the quadratic part.
    traction : matrix, optional
        Integral ∫σn, (d + s, m); None for plates.
    """

    position: Array
    normal: Array
    area: float
    nodal: Any
    lever: Any
    weights: Any
    slopes: Any
    traction: Any | None

    def forces(self, sigma: Array, u: Array) -> Array:
        """Forces and moments (F, M), (k, d + s), for stresses σ (k, m) and coordinates u (k, n) at k times.

        They follow from virtual power, the first formula of the class; ``traction`` is not used.
        """
        forces = np.asarray((self.nodal @ sigma.T).T)
        if self.slopes.shape[0]:
            forces = forces + ((self.weights.T @ sigma.T) * (self.slopes @ u.T)).T @ self.lever
        return forces

    def in_basis(self, shapes: Any, stresses: Any) -> SectionMap:
        """Section map that acts on reduced û and σ̂, for ``shapes`` T in u = T û and ``stresses`` S in σ = S σ̂."""
        return replace(
            self,
            nodal=self.nodal @ stresses,
            weights=(self.weights.T @ stresses).T,
            slopes=self.slopes @ shapes,
            traction=None if self.traction is None else self.traction @ stresses,
        )


@dataclass(frozen=True, eq=False)
class View:
    """Geometry of a body for pictures and export: points, cells of one type, displacements and stress fields.

    Cells of the type ``vertex`` are point masses.

    Parameters
    ----------
    points : array
        Points (p, d) [m].
    cells : array
        Nodes (c, nodes) of the cells.
    cell_type : str
        Cell type of meshio.
    shape : matrix
        Displacement rows, sparse (p·d, n).
    stresses : mapping
        Stress fields by name.
    tensors : mapping
        Stress tensors by name.
    heights : array
        Heights (p,) [m] of the points above the plane, for planar bodies; (0,) for none.
    sweep : SweptSection, optional
        Section of a body drawn as a line.
    sections : SectionStress, optional
        Stresses over the sections of a body drawn as a line.
    mesh : NodalMesh, optional
        Finite-element mesh whose nodes are the points, of solids in space.
    """

    points: Array
    cells: Array
    cell_type: str
    shape: Any
    stresses: Mapping[str, StressField] = field(default_factory=dict)
    tensors: Mapping[str, TensorField] = field(default_factory=dict)
    heights: Array = field(default_factory=lambda: np.zeros(0))
    sweep: SweptSection | None = None
    sections: SectionStress | None = None
    mesh: NodalMesh | None = None
