"""Stress fields, section forces and geometry of a body, for pictures and export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..drawing.sweeps import SweptSection
from ..numerics.arrays import Array
from .elasticity import rows_over
from .section_stress import SectionStress


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

    def over(self, basis: Any) -> StressField:
        """Field in terms of the coordinates σ̂ of σ = S σ̂."""
        return replace(self, cells=rows_over(self.cells, basis))


@dataclass(frozen=True, eq=False)
class NodeValues:
    """Maps from stress points to the n nodes of c consecutive drawn cells.

    ``first`` is the first point of these cells, which have q points each, in order. ``own`` (n, q) or (c, n, q)
    evaluates at the nodes the polynomial through the values at the points of a cell. ``corners`` (c, k) are corners of
    the smooth field, and ``smooth`` (n, k) interpolates it at the nodes.
    """

    first: int
    own: Array
    corners: Array
    smooth: Array


@dataclass(frozen=True, eq=False)
class TensorField:
    """Stress tensor (xx, yy, zz, xy, yz, xz) as linear maps of the stress coordinates σ.

    :mod:`flexph.bodies.stress_fields` computes invariants and errors of it.

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

    def over(self, basis: Any) -> TensorField:
        """Field in terms of the coordinates σ̂ of σ = S σ̂."""
        cells, at, nodal = (rows_over(rows, basis) for rows in (self.cells, self.at, self.nodal))
        return replace(self, cells=cells, at=at, nodal=nodal)


@dataclass(frozen=True, eq=False)
class SectionMap:
    """Force F (d,) [N] and moment M (s,) [N m] through a surface of a body, as maps of its stresses.

        (F, M) = nodal σ + leverᵀ diag(weightsᵀσ) slopes u,   or   (F, M) = traction σ

    They are exerted by the side to which the normal points on the other one; M is about the centroid x.

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
        """Forces (F, M) by virtual power for stresses σ (k, m) and coordinates u (k, n), (k, d + s)."""
        forces = np.asarray((self.nodal @ sigma.T).T)
        if self.slopes.shape[0]:
            forces = forces + ((self.weights.T @ sigma.T) * (self.slopes @ u.T)).T @ self.lever
        return forces

    def over(self, shapes: Any, stresses: Any) -> SectionMap:
        """Section map in terms of reduced coordinates û and σ̂, u = T û and σ = S σ̂."""
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
