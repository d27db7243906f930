"""Fields of a body over its stresses, for export and section forces, and how it looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..drawing.sweeps import Sweep
from ..numerics.arrays import Array
from .elasticity import rows_over
from .section_stress import SectionStress


@dataclass(frozen=True)
class StressField:
    """A stress quantity as a linear map of the stress coordinates σ, for export: (cells, m).

    Parameters
    ----------
    unit : str
        Its unit.
    cells : matrix
        (cells, m).
    compliance : array
        The strain that belongs to it over it (cells,): 1/E of an axial stress [1/Pa], of forces and moments what turns
        them into stretch [1/N], curvature and twist [1/N m²]; (0,) where it is not known.
    """

    unit: str
    cells: Any
    compliance: Array = field(default_factory=lambda: np.zeros(0))

    def over(self, basis: Any) -> StressField:
        """The field over the coordinates σ̂ of σ = S σ̂."""
        return replace(self, cells=rows_over(self.cells, basis))


@dataclass(frozen=True, eq=False)
class NodeValues:
    """Stresses at the n nodes of drawn cells that follow each other, (c,) in number.

    first: the first of the points of these cells, which come cell by cell, q each; own (n, q) or (c, n, q): the
    polynomial through the values at the points of a cell, at its nodes; corners (c, k): of the smooth field; smooth
    (n, k): what they give at the nodes.
    """

    first: int
    own: Array
    corners: Array
    smooth: Array


@dataclass(frozen=True, eq=False)
class TensorField:
    """A stress tensor as linear maps of the stress coordinates σ: six components (xx, yy, zz, xy, yz, xz).

    See :mod:`flexph.bodies.stress_fields` for what is made of them.

    Parameters
    ----------
    unit : str
        Its unit.
    cells : matrix
        (c·6, m): means over the drawn cells.
    drawn : array
        (c,): the cell of the mesh that each drawn cell is (a part) of.
    at : matrix
        (p·6, m): values at the p points where the stresses of the state live.
    positions : array
        Of these points (p, d) [m].
    weights : array
        Their volumes (p,) [m³].
    cell : array
        The cell of the mesh of each (p,).
    nodal : matrix
        (g·6, m): a smooth field at g corners.
    spread : matrix
        (p, g): its values at the points.
    compliances : array
        (k, 6, 6) [1/Pa] of the materials over these components, shear counted once as 2ε; (0, 6, 6) where they are not
        known, and then no energies and no error indicator.
    material : array
        That of each point (p,).
    nodes : tuple of NodeValues
        Groups of the drawn cells, in their order: both fields at the nodes of each cell.
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
        """The field over the coordinates σ̂ of σ = S σ̂."""
        cells, at, nodal = (rows_over(rows, basis) for rows in (self.cells, self.at, self.nodal))
        return replace(self, cells=cells, at=at, nodal=nodal)


@dataclass(frozen=True, eq=False)
class SectionMap:
    """Force and moment through a surface of a body as maps of its stresses: F (d,) [N], then M (s,) [N m] about x.

        (F, M) = nodal σ + leverᵀ diag(weightsᵀσ) slopes u,   or   (F, M) = traction σ

    F is what the side to which the normal points exerts on the other one.

    Parameters
    ----------
    position : array
        x (d,) [m]: the centroid.
    normal : array
        n (d,): the mean normal, in body axes.
    area : float
        [m²], of plates the length [m].
    nodal : matrix
        (d + s, m): internal forces of the cells along the surface, by virtual power of rigid motions of its nodes.
    lever : matrix
        (g, d + s), of the part that is quadratic (von Kármán strain).
    weights : matrix
        (m, g), of the same.
    slopes : matrix
        (g, n), of the same.
    traction : matrix, optional
        (d + s, m): ∫σn, or None (plates).
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
        """(F, M) of stresses σ (k, m) and coordinates u (k, n) by virtual power, (k, d + s)."""
        forces = np.asarray((self.nodal @ sigma.T).T)
        if self.slopes.shape[0]:
            forces = forces + ((self.weights.T @ sigma.T) * (self.slopes @ u.T)).T @ self.lever
        return forces

    def over(self, shapes: Any, stresses: Any) -> SectionMap:
        """The maps over û and σ̂ of u = T û and σ = S σ̂."""
        return replace(
            self,
            nodal=self.nodal @ stresses,
            weights=(self.weights.T @ stresses).T,
            slopes=self.slopes @ shapes,
            traction=None if self.traction is None else self.traction @ stresses,
        )


@dataclass(frozen=True, eq=False)
class View:
    """How a body looks: points (p, d), cells of one meshio type, displacement rows sparse (p·d, n), stress fields.

    Cells of the type ``vertex`` are masses at a point.

    Parameters
    ----------
    points : array
        (p, d) [m].
    cells : array
        (c, nodes) of one type.
    cell_type : str
        That of meshio.
    shape : matrix
        Displacement rows, sparse (p·d, n).
    stresses : mapping
        Stress fields by name.
    tensors : mapping
        Stress tensors by name.
    heights : array
        (p,) [m] of the points over the plane, for shapes of bodies of the plane; (0,) for none.
    sweep : Sweep, optional
        Section of a body that is drawn as a line.
    sections : SectionStress, optional
        Stresses over the sections of a body that is drawn along a line.
    """

    points: Array
    cells: Array
    cell_type: str
    shape: Any
    stresses: Mapping[str, StressField] = field(default_factory=dict)
    tensors: Mapping[str, TensorField] = field(default_factory=dict)
    heights: Array = field(default_factory=lambda: np.zeros(0))
    sweep: Sweep | None = None
    sections: SectionStress | None = None
