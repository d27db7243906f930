"""Matrices of a plate in all its coordinates, from a mesh, materials and thicknesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array, rows_at
from flexph.numerics.checks import listed
from flexph.numerics.memo import once

from ..materials.elastic import IN_PLANE
from ..meshes.cells import corner_slopes
from ..meshes.regions import region_of_cells
from ..meshes.solid_mesh import Points, SolidMesh, cell_sizes, lagrange
from ..solids.model import SolidModel, block_diagonal
from .coordinates import PlateCoordinates, Theory, point_by_point
from .macro_elements import Macro

TRANSVERSE = (4, 3)
"""Components of the transverse shear (xz, yz) in Voigt order."""

MASS = 8
"""Order of quadrature of products of displacements on the pieces of a cell."""


@dataclass(frozen=True, eq=False)
class PlateModel(PlateCoordinates):
    """Stiffness matrices of a plate in all its coordinates.

    ``thickness`` t (cells,) [m] is that of each cell, ``rotary`` is True with rotary inertia, and ``correction`` is the
    shear correction factor k.
    """

    thickness: Array
    rotary: bool
    correction: float

    @once
    def densities(self) -> Array:
        """Densities ρ (cells,) [kg/m³] of all cells."""
        densities = np.array([m.density for m in self.solid.materials.values()])[self.solid.material_of]
        return np.asarray(densities)

    @once
    def moment_points(self) -> list[tuple[int, Array, Array, Array]]:
        """Points at which the moments are stress coordinates, in chunks of cells.

        A chunk is (block, cells (k,), points (k, q, 2), areas (k, q)).
        """
        sheared = self.theory == "reissner_mindlin" and any(b.kind.shape == "quad" for b in self.mesh.blocks)
        return list(
            self.pieces(4 if sheared else 2)
        )  # six points for the slopes of γ in quadrilaterals, three otherwise

    @once
    def moment_cells(self) -> Array:
        """Number of the cell of each moment point (p,), counted through all blocks."""
        numbers = [np.repeat(self.numbered(b, cells), area.shape[1]) for b, cells, _, area in self.moment_points]
        return np.concatenate(numbers)

    @once
    def moment_areas(self) -> Array:
        """Areas of the moment points (p,) [m²]."""
        return np.concatenate([area.ravel() for *_, area in self.moment_points])

    @once
    def curvature(self) -> Any:
        """Sparse matrix (3p, size) from all coordinates to curvature times area at the moment points.

        The curvature is κ = −sym ∇β, the area that of the point. Rows are for (κ_xx, κ_yy, 2κ_xy), point by point.
        """
        blocks = []
        for b, cells, points, area in self.moment_points:
            deflection, of = self.macros[b]
            macro = Macro(deflection.pieces[cells], deflection.coefficients[cells])
            bent = -macro.values(points, 2) * area[..., None, None]
            bent[:, :, 2] *= 2.0
            rows = rows_at(bent, of[cells], self.size)
            if self.theory == "reissner_mindlin":
                nodes = self.mesh.blocks[b].nodes[cells]
                slopes = lagrange(self.mesh, b, cells, points)[1] * area[..., None, None] / self.length
                for i in range(2):
                    sheared = np.zeros((*slopes.shape[:2], 3, nodes.shape[1]))
                    sheared[:, :, i], sheared[:, :, 2] = slopes[..., i], slopes[..., 1 - i]
                    rows = rows + rows_at(sheared, self.shearing + 2 * nodes + i, self.size)
            blocks.append(rows)
        return sparse.csr_array(sparse.vstack(blocks))

    @once
    def membrane(self) -> Any:
        """Sparse matrix (3p, size) from all coordinates to strain times area at the membrane-force points.

        The strain is that of the middle surface, the area that of the point. Rows are for (ε_xx, ε_yy, 2ε_xy), point by
        point.
        """
        return self.widened(self.solid.strain)

    @once
    def shear_points(self) -> tuple[Points, ...]:
        """Points at which the shear forces are stress coordinates, for each block of cells; empty without shear."""
        if self.theory == "kirchhoff":
            return ()
        return tuple(self.mesh.at(b, block.kind.mass) for b, block in enumerate(self.mesh.blocks))

    @once
    def shear_cells(self) -> Array:
        """Number of the cell of each shear-force point (p,), counted through all blocks."""
        numbers = [
            np.repeat(self.numbered(b, np.arange(len(p.weights))), p.weights.shape[1])
            for b, p in enumerate(self.shear_points)
        ]
        return np.concatenate([np.zeros(0, dtype=int), *numbers])

    @once
    def shear_areas(self) -> Array:
        """Areas of the shear-force points (p,) [m²]."""
        return np.concatenate([np.zeros(0), *(p.weights.ravel() for p in self.shear_points)])

    @once
    def shear(self) -> Any:
        """Sparse matrix (2p, size) from all coordinates to (γ_x, γ_y) times area at the shear-force points."""
        blocks = [sparse.csr_array((0, self.size))]
        for p, block in zip(self.shear_points, self.mesh.blocks, strict=False):
            weighted = p.weights[:, :, None] * p.shapes / self.length
            rows = [rows_at(weighted, self.shearing + 2 * block.nodes + i, self.size) for i in range(2)]
            blocks.append(point_by_point(rows))
        return sparse.csr_array(sparse.vstack(blocks))

    @once
    def strain(self) -> Any:
        """Strain operator D (m, size): the strains of all stress points, times the areas of the points.

        Its rows are conjugate to the membrane forces, then to the moments, then to the shear forces, each point by
        point.
        """
        return sparse.csr_array(sparse.vstack([self.membrane, self.curvature, self.shear]))

    @once
    def compliance(self) -> Any:
        """Compliance matrix C (m, m) of all stress coordinates, block diagonal: areas times S/t, 12 S/t³ and S_s/(kt).

        S is the compliance of plane stress, S_s that of transverse shear, t the thickness, and k the shear correction
        factor.
        """
        plane, t, of = self.solid.compliances, self.thickness, self.solid.material_of
        across = np.array([m.compliance[np.ix_(TRANSVERSE, TRANSVERSE)] for m in self.solid.materials.values()])
        parts = [
            (plane, self.solid.cell_of_point, self.solid.weights / t[self.solid.cell_of_point]),
            (plane, self.moment_cells, self.moment_areas * 12.0 / t[self.moment_cells] ** 3),
            (across, self.shear_cells, self.shear_areas / (self.correction * t[self.shear_cells])),
        ]
        blocks = [weight[:, None, None] * values[of[cell]] for values, cell, weight in parts if cell.size]
        return sparse.csr_array(sparse.block_diag([block_diagonal(of_block) for of_block in blocks]))

    @once
    def quadratic(self) -> tuple[Any, Any]:
        """Matrices of slopes (3p, size) and weights (m, 3p) of the quadratic membrane strain ½∇w ⊗ ∇w.

        The strain is the weights times half of the squared slopes; the rows of weights for moments and shear forces are
        zero. Slopes are those at the p moment points, along x,
        then along y, then their sum, since 2w_x w_y = (w_x + w_y)² − w_x² − w_y². Weights average over each cell.
        """
        sampled = [self.sampled(b, cells, points).slopes for b, cells, points, _ in self.moment_points]
        x, y = (sparse.vstack([f[i] for f in sampled]).tocsr() for i in range(2))
        p, cells = len(self.moment_areas), int(self.mesh.starts[-1])
        slopes = sparse.vstack([x, y, x + y]).tocsr()
        share = self.moment_areas / np.bincount(self.moment_cells, self.moment_areas)[self.moment_cells]
        mean = sparse.csr_array((share, (self.moment_cells, np.arange(p))), shape=(cells, p))
        of, weight = self.solid.cell_of_point, self.solid.weights
        spread = sparse.csr_array((weight, (np.arange(len(of)), of)), shape=(len(of), cells))
        kinds = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -1.0, 1.0]])
        weights = sparse.hstack([sparse.kron(spread @ mean, kinds[:, i : i + 1]) for i in range(3)])
        rest = self.compliance.shape[0] - weights.shape[0]
        return slopes, sparse.csr_array(sparse.vstack([weights, sparse.csr_array((rest, 3 * p))]))

    def drilling(self, cells: Array, *, together: bool = False) -> Any:
        """Sparse matrix from all coordinates to the mean in-plane rotation ½(∂_x u_y − ∂_y u_x) of each of the cells.

        It is (cells, size); if ``together``, it is (1, size), for the mean over all of the cells.
        """
        return self.widened(self.solid.turns(cells, together=together))


def plate_model(solid: SolidModel, thickness: Any, theory: Theory, *, rotary: bool, correction: float) -> PlateModel:
    """Stiffness model of a plate with one thickness [m] for all cells, or one for each named region of cells.

    Raises ValueError for a material without the x-y plane as a plane of symmetry, if the theory has shear.
    """
    if theory == "reissner_mindlin":
        for name, material in solid.materials.items():
            if np.any(material.compliance[np.ix_(TRANSVERSE, IN_PLANE)] != 0.0):
                raise ValueError(f"material {name!r} must have the x-y plane as a plane of symmetry in a plate")
    return PlateModel(solid, theory, _thickness(solid.mesh, thickness), rotary, correction)


def _thickness(mesh: SolidMesh, given: Any) -> Array:
    if not isinstance(given, Mapping):
        return np.full(int(mesh.starts[-1]), check.positive("thickness", given, "m"))
    if not given:
        raise ValueError("thickness must be a number [m], or numbers by the names of regions, got none")
    values = [check.positive(f"thickness {name!r}", value, "m") for name, value in given.items()]
    return np.array(values)[region_of_cells(mesh, "thickness", given)]


def straightened(mesh: SolidMesh) -> SolidMesh:
    """Copy of a mesh in which the nodes between corners are exactly in the middle of edges and cells.

    In the given mesh they may be off by round-off only.

    Raises ValueError for curved edges, middle nodes off the middle, and quadrilaterals that are not convex.
    """
    _refuse_curved(mesh)
    if mesh.degree == 1:
        return mesh
    points = mesh.points.copy()
    for block in mesh.blocks:
        corners = mesh.points[block.corners()]
        for k, node in enumerate(block.kind.nodes[block.kind.corners :], block.kind.corners):
            points[block.nodes[:, k]] = corners[:, list(node)].mean(axis=1)
    return replace(mesh, points=points)


def _refuse_curved(mesh: SolidMesh) -> None:
    """Raise ValueError for curved edges, middle nodes off the middle, and quadrilaterals that are not convex."""
    for block in mesh.blocks:
        curved = block.curved(mesh.points)
        if curved.size:
            raise ValueError(
                f"mesh of a plate must have straight edges with nodes in their middles, got {block.kind.name} cells "
                f"that are curved: {listed(curved)}; first-order cells are always straight"
            )
        corners = mesh.points[block.corners()]
        turned = np.einsum("kni,njq->kqij", corners, corner_slopes(block.kind.shape))
        folded = np.flatnonzero(np.linalg.det(turned).min(axis=1) <= 1e-6 * cell_sizes(corners) ** 2)
        if folded.size:
            raise ValueError(f"mesh of a plate must have convex quadrilaterals, got others: {listed(folded)}")
