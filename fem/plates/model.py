"""Matrices of a plate over all its coordinates: mass integrals, membrane, bending and shear strains, compliances.

Coordinates are lengths, in this order: in-plane displacements of the nodes (x, y node by node); of the corners w,
ℓ∂_x w, ℓ∂_y w; of the edges ℓ∂_n w; with shear of the nodes ℓγ_x, ℓγ_y. ℓ is a typical length of the cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from skfem.element import ElementTriP1
from skfem.quadrature import get_quadrature

from flexph.numerics.arrays import Array
from flexph.numerics.memo import Memo, once

from ..meshes.solid_mesh import Points, SolidMesh
from ..meshes.straight_cells import lagrange
from ..solids.model import SolidModel
from .macro_elements import Macro, macro

Theory = Literal["kirchhoff", "reissner_mindlin"]
TRANSVERSE = (4, 3)
"""Components of the transverse shear (xz, yz) in Voigt order."""
MASS = 8
"""Order of quadrature on the pieces of a cell, of products of displacements."""
CHUNK = 256


class Sampled(NamedTuple):
    """Fields at points as sparse rows over all coordinates: displacement (x, y, w), its slopes and the shear angles."""

    x: Any
    y: Any
    w: Any
    slopes: tuple[Any, Any]
    shear: tuple[Any, Any] | None

    @property
    def turn(self) -> tuple[Any, Any]:
        """β = ∇w − γ: normals turn by (β_y, −β_x)."""
        if self.shear is None:
            return self.slopes
        return self.slopes[0] - self.shear[0], self.slopes[1] - self.shear[1]


@dataclass(frozen=True)
class PlateModel(Memo):
    """A plane mesh of degree 2 with straight edges; thickness t (cells,) [m], all cells counted through."""

    solid: SolidModel
    thickness: Array
    theory: Theory
    rotary: bool
    correction: float

    @property
    def mesh(self) -> SolidMesh:
        """The mesh, its cells with nodes on their edges."""
        return self.solid.mesh

    @once
    def corners(self) -> Array:
        """Nodes at corners of cells (C,)."""
        return np.unique(np.concatenate([b.corners().ravel() for b in self.mesh.blocks]))

    @once
    def edges(self) -> Array:
        """Edges by their corners, ascending (E, 2)."""
        f = self.mesh.facets
        _, first = np.unique(f.label, return_index=True)
        return np.sort(f.corners[first, :2], axis=1)

    @once
    def middles(self) -> Array:
        """The node in the middle of each edge (E,)."""
        f, middles = self.mesh.facets, np.zeros(len(self.edges), dtype=int)
        for b, block in enumerate(self.mesh.blocks):
            c = block.kind.corners
            mine = f.places[:, 0] == b
            middles[f.label[mine]] = block.nodes[f.places[mine, 1], c + f.places[mine, 2]]
        return middles

    @once
    def normals(self) -> Array:
        """Unit normals of the edges (E, 2)."""
        along = self.mesh.points[self.edges[:, 1]] - self.mesh.points[self.edges[:, 0]]
        turned = np.column_stack([along[:, 1], -along[:, 0]])
        return turned / np.linalg.norm(along, axis=1, keepdims=True)

    @once
    def length(self) -> float:
        """ℓ [m]."""
        return float(np.sqrt(self.solid.weights.sum() / self.mesh.starts[-1]))

    def edges_of(self, block: int) -> Array:
        """Numbers of the edges of the cells of a block (k, c)."""
        f, count = self.mesh.facets, self.mesh.blocks[block].kind.corners
        return f.label[f.places[:, 0] == block].reshape(count, -1).T

    @property
    def bending(self) -> int:
        """Number of the first coordinate of the deflection."""
        return self.solid.size

    @property
    def shearing(self) -> int:
        """Number of the first shear angle."""
        return self.bending + 3 * len(self.corners) + len(self.edges)

    @property
    def size(self) -> int:
        """Number of all coordinates."""
        return self.shearing + (self.solid.size if self.theory == "reissner_mindlin" else 0)

    def at_corners(self, nodes: Array) -> Array:
        """Coordinates (k, 3) of the deflection of nodes that are corners."""
        return self.bending + 3 * np.searchsorted(self.corners, nodes)[..., None] + np.arange(3)

    def at_edges(self, numbers: Array) -> Array:
        """Coordinates (k,) of the normal slopes of edges."""
        return self.bending + 3 * len(self.corners) + np.asarray(numbers)

    @once
    def macros(self) -> tuple[tuple[Macro, Array], ...]:
        """Deflections of the cells of each block, and their coordinates (k, 4c)."""
        macros = []
        for b, block in enumerate(self.mesh.blocks):
            corners, count, label = block.corners(), block.kind.corners, self.edges_of(b)
            cells = macro(self.mesh.points[corners], self.normals[label])
            scale = np.ones(4 * count)
            scale[[i for i in range(4 * count) if i >= 3 * count or i % 3]] = 1.0 / self.length
            scaled = Macro(cells.pieces, cells.coefficients * scale)
            of = np.hstack([self.at_corners(corners).reshape(len(corners), -1), self.at_edges(label)])
            macros.append((scaled, of))
        return tuple(macros)

    def sampled(self, block: int, cells: Array, points: Array) -> Sampled:
        """The fields at points (k, q, 2) of cells (k,) of a block; rows cell by cell."""
        deflection, of = self.macros[block]
        own = Macro(deflection.pieces[cells], deflection.coefficients[cells])
        value, slope = own.values(points, 0), own.values(points, 1)
        nodes = self.mesh.blocks[block].nodes[cells]
        shapes = lagrange(self.mesh, block, cells, points)[0]
        rows = lambda data, at: _rows(data, at, self.size)  # noqa: E731
        shear = None
        if self.theory == "reissner_mindlin":
            angles = shapes / self.length
            shear = rows(angles, self.shearing + 2 * nodes), rows(angles, self.shearing + 2 * nodes + 1)
        return Sampled(
            rows(shapes, 2 * nodes),
            rows(shapes, 2 * nodes + 1),
            rows(value, of[cells]),
            (rows(slope[:, :, 0], of[cells]), rows(slope[:, :, 1], of[cells])),
            shear,
        )

    def pieces(self, order: int) -> Iterator[tuple[int, Array, Array, Array]]:
        """Chunks of cells with a rule on their pieces: block, cells (k,), points (k, q, 2), areas (k, q)."""
        points, weights = get_quadrature(ElementTriP1(), order)
        for b, (deflection, _) in enumerate(self.macros):
            where, area = deflection.rule(points, weights)
            for start in range(0, len(area), CHUNK):
                cells = np.arange(start, min(start + CHUNK, len(area)))
                yield b, cells, where[cells], area[cells]

    def numbered(self, block: int, cells: Array) -> Array:
        """Numbers of cells of a block, all cells counted through."""
        return self.mesh.starts[block] + cells

    @once
    def densities(self) -> Array:
        """ρ of all cells (cells,) [kg/m³]."""
        densities = np.array([m.density for m in self.solid.materials.values()])[self.solid.material_of]
        return np.asarray(densities)

    @once
    def moment_points(self) -> list[tuple[int, Array, Array, Array]]:
        """Chunks of cells with the points of the moments: block, cells, points (k, q, 2), areas (k, q)."""
        sheared = self.theory == "reissner_mindlin" and any(b.kind.shape == "quad" for b in self.mesh.blocks)
        return list(self.pieces(4 if sheared else 2))  # six points for the slopes of γ in quadrilaterals, else three

    @once
    def moment_cells(self) -> Array:
        """The cell of each point of the moments, all cells counted through (p,)."""
        numbers = [np.repeat(self.numbered(b, cells), area.shape[1]) for b, cells, _, area in self.moment_points]
        return np.concatenate(numbers)

    @once
    def moment_areas(self) -> Array:
        """Areas of the points of the moments (p,) [m²]."""
        return np.concatenate([area.ravel() for *_, area in self.moment_points])

    @once
    def curvature(self) -> Any:
        """Areas times κ = −sym ∇β (κ_xx, κ_yy, 2κ_xy) at the points of the moments, (3p, size)."""
        blocks = []
        for b, cells, points, area in self.moment_points:
            deflection, of = self.macros[b]
            own = Macro(deflection.pieces[cells], deflection.coefficients[cells])
            bent = -own.values(points, 2) * area[..., None, None]
            bent[:, :, 2] *= 2.0
            rows = _rows(_merged(bent), of[cells], self.size)
            if self.theory == "reissner_mindlin":
                nodes = self.mesh.blocks[b].nodes[cells]
                slopes = lagrange(self.mesh, b, cells, points)[1] * area[..., None, None] / self.length
                for i in range(2):
                    sheared = np.zeros((*slopes.shape[:2], 3, nodes.shape[1]))
                    sheared[:, :, i], sheared[:, :, 2] = slopes[..., i], slopes[..., 1 - i]
                    rows = rows + _rows(_merged(sheared), self.shearing + 2 * nodes + i, self.size)
            blocks.append(rows)
        return sparse.csr_array(sparse.vstack(blocks))

    @once
    def membrane(self) -> Any:
        """Areas times the strains (ε_xx, ε_yy, 2ε_xy) at the points of the membrane forces, (3p, size)."""
        return _widened(self.solid.strain, 0, self.size)

    @once
    def shear_points(self) -> tuple[Points, ...]:
        """The points of the shear forces in the cells of each block; none without shear."""
        if self.theory == "kirchhoff":
            return ()
        return tuple(self.mesh.at(b, block.kind.mass) for b, block in enumerate(self.mesh.blocks))

    @once
    def shear_cells(self) -> Array:
        """The cell of each point of the shear forces (p,)."""
        numbers = [
            np.repeat(self.numbered(b, np.arange(len(p.weights))), p.weights.shape[1])
            for b, p in enumerate(self.shear_points)
        ]
        return np.concatenate([np.zeros(0, dtype=int), *numbers])

    @once
    def shear_areas(self) -> Array:
        """Areas of the points of the shear forces (p,) [m²]."""
        return np.concatenate([np.zeros(0), *(p.weights.ravel() for p in self.shear_points)])

    @once
    def shear(self) -> Any:
        """Areas times the shear angles (γ_x, γ_y) at the points of the shear forces, (2p, size)."""
        blocks = [sparse.csr_array((0, self.size))]
        for p, block in zip(self.shear_points, self.mesh.blocks, strict=False):
            weighted = p.weights[:, :, None] * p.shapes / self.length
            rows = [_rows(weighted, self.shearing + 2 * block.nodes + i, self.size) for i in range(2)]
            mixed = sparse.vstack(rows).tocsr()
            count = rows[0].shape[0]
            blocks.append(mixed[(np.arange(count)[:, None] + count * np.arange(2)).ravel()])
        return sparse.csr_array(sparse.vstack(blocks))

    @once
    def strain(self) -> Any:
        """All strains times areas (m, size): of membrane forces, moments and shear forces, point by point."""
        return sparse.csr_array(sparse.vstack([self.membrane, self.curvature, self.shear]))

    @once
    def compliance(self) -> Any:
        """C (m, m): areas times S/t, 12 S/t³ and S_s/(κt), block diagonal."""
        plane, t, of = self.solid.compliances, self.thickness, self.solid.material_of
        across = np.array([m.compliance[np.ix_(TRANSVERSE, TRANSVERSE)] for m in self.solid.materials.values()])
        parts = [
            (plane, self.solid.cell_of_point, self.solid.weights / t[self.solid.cell_of_point]),
            (plane, self.moment_cells, self.moment_areas * 12.0 / t[self.moment_cells] ** 3),
            (across, self.shear_cells, self.shear_areas / (self.correction * t[self.shear_cells])),
        ]
        blocks = [_diagonal(weight[:, None, None] * values[of[cell]]) for values, cell, weight in parts if cell.size]
        return sparse.csr_array(sparse.block_diag(blocks))

    @once
    def quadratic(self) -> tuple[Any, Any]:
        """Slopes (3p, size) and weights (m, 3p) of ½∇w ⊗ ∇w: means over each cell, on its membrane forces alone.

        2w_x w_y = (w_x + w_y)² − w_x² − w_y².
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

    def drilling(self, cells: Array | None = None) -> Any:
        """Mean turn ½(∂_x u_y − ∂_y u_x) of cells (numbers), (1, size), or of each cell."""
        return _widened(self.solid.turns(cells), 0, self.size)


def _rows(data: Array, at: Array, size: int) -> Any:
    """Values (k, q, n) at the coordinates (k, n) as sparse rows (k·q, size)."""
    k, q, n = data.shape
    columns = np.broadcast_to(at[:, None, :], data.shape)
    rows = np.repeat(np.arange(k * q), n)
    return sparse.coo_array((data.ravel(), (rows, columns.ravel())), shape=(k * q, size)).tocsr()


def _merged(data: Array) -> Array:
    """(k, q, c, n) as (k, q·c, n)."""
    k, q, c, n = data.shape
    return data.reshape(k, q * c, n)


def _widened(rows: Any, before: int, size: int) -> Any:
    coo = sparse.coo_array(rows)
    return sparse.coo_array((coo.data, (coo.row, coo.col + before)), shape=(rows.shape[0], size)).tocsr()


def _diagonal(blocks: Array) -> Any:
    matrix = sparse.bsr_array((blocks, np.arange(len(blocks)), np.arange(len(blocks) + 1))).tocsr()
    matrix.eliminate_zeros()
    return matrix
