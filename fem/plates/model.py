"""Matrices of a plate in all its coordinates: mass integrals, membrane, bending and shear strains, compliances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from flexph.numerics.arrays import Array, rows_at
from flexph.numerics.memo import once

from ..meshes.solid_mesh import Points
from ..meshes.straight_cells import lagrange
from ..solids.model import block_diagonal
from .coordinates import PlateCoordinates, point_by_point
from .macro_elements import Macro

TRANSVERSE = (4, 3)
"""Components of the transverse shear (xz, yz) in Voigt order."""

MASS = 8
"""Order of quadrature of products of displacements on the pieces of a cell."""


@dataclass(frozen=True, eq=False)
class PlateModel(PlateCoordinates):
    """Matrices of a plate in all its coordinates; ``thickness`` t (cells,) [m]."""

    thickness: Array
    rotary: bool
    correction: float

    @once
    def densities(self) -> Array:
        """Densities ρ of all cells (cells,) [kg/m³]."""
        densities = np.array([m.density for m in self.solid.materials.values()])[self.solid.material_of]
        return np.asarray(densities)

    @once
    def moment_points(self) -> list[tuple[int, Array, Array, Array]]:
        """Chunks of cells with the points of the moments: block, cells, points (k, q, 2), areas (k, q)."""
        sheared = self.theory == "reissner_mindlin" and any(b.kind.shape == "quad" for b in self.mesh.blocks)
        return list(
            self.pieces(4 if sheared else 2)
        )  # six points for the slopes of γ in quadrilaterals, three otherwise

    @once
    def moment_cells(self) -> Array:
        """Cell number of each moment point (p,)."""
        numbers = [np.repeat(self.numbered(b, cells), area.shape[1]) for b, cells, _, area in self.moment_points]
        return np.concatenate(numbers)

    @once
    def moment_areas(self) -> Array:
        """Areas of the moment points (p,) [m²]."""
        return np.concatenate([area.ravel() for *_, area in self.moment_points])

    @once
    def curvature(self) -> Any:
        """Matrix (3p, size): areas times the curvature κ = −sym ∇β (κ_xx, κ_yy, 2κ_xy) at the moment points."""
        blocks = []
        for b, cells, points, area in self.moment_points:
            deflection, of = self.macros[b]
            own = Macro(deflection.pieces[cells], deflection.coefficients[cells])
            bent = -own.values(points, 2) * area[..., None, None]
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
        """Matrix (3p, size): areas times the strains (ε_xx, ε_yy, 2ε_xy) at the membrane-force points."""
        return self.widened(self.solid.strain)

    @once
    def shear_points(self) -> tuple[Points, ...]:
        """Points of the shear forces in the cells of each block; empty without shear."""
        if self.theory == "kirchhoff":
            return ()
        return tuple(self.mesh.at(b, block.kind.mass) for b, block in enumerate(self.mesh.blocks))

    @once
    def shear_cells(self) -> Array:
        """Cell number of each shear-force point (p,)."""
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
        """Matrix (2p, size): areas times the shear angles (γ_x, γ_y) at the shear-force points."""
        blocks = [sparse.csr_array((0, self.size))]
        for p, block in zip(self.shear_points, self.mesh.blocks, strict=False):
            weighted = p.weights[:, :, None] * p.shapes / self.length
            rows = [rows_at(weighted, self.shearing + 2 * block.nodes + i, self.size) for i in range(2)]
            blocks.append(point_by_point(rows))
        return sparse.csr_array(sparse.vstack(blocks))

    @once
    def strain(self) -> Any:
        """Strain operator (m, size): all strains times areas.

        They belong to membrane forces, moments and shear forces, each point by point.
        """
        return sparse.csr_array(sparse.vstack([self.membrane, self.curvature, self.shear]))

    @once
    def compliance(self) -> Any:
        """Compliance C (m, m), block diagonal: areas times S/t, 12 S/t³ and S_s/(κt)."""
        plane, t, of = self.solid.compliances, self.thickness, self.solid.material_of
        across = np.array([m.compliance[np.ix_(TRANSVERSE, TRANSVERSE)] for m in self.solid.materials.values()])
        parts = [
            (plane, self.solid.cell_of_point, self.solid.weights / t[self.solid.cell_of_point]),
            (plane, self.moment_cells, self.moment_areas * 12.0 / t[self.moment_cells] ** 3),
            (across, self.shear_cells, self.shear_areas / (self.correction * t[self.shear_cells])),
        ]
        blocks = [weight[:, None, None] * values[of[cell]] for values, cell, weight in parts if cell.size]
        return sparse.csr_array(sparse.block_diag([block_diagonal(own) for own in blocks]))

    @once
    def quadratic(self) -> tuple[Any, Any]:
        """Matrices of slopes (3p, size) and weights (m, 3p) of the quadratic strain ½∇w ⊗ ∇w, for membrane forces only.

        It is averaged over each cell. The products are squares: 2w_x w_y = (w_x + w_y)² − w_x² − w_y².
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
        """Mean in-plane rotation ½(∂_x u_y − ∂_y u_x) of each cell, (cells, size), or of all, (1, size)."""
        return self.widened(self.solid.turns(cells, together=together))
