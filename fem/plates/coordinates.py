"""Coordinates of a plate: in-plane displacements, deflections of macro elements, shear angles; sampling of fields.

Coordinates are lengths, in this order: in-plane displacements of the nodes (x, y node by node); of the corners w,
ℓ∂_x w, ℓ∂_y w; of the edges ℓ∂_n w; with shear of the nodes ℓγ_x, ℓγ_y. ℓ is a typical length of the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from skfem.element import ElementTriP1
from skfem.quadrature import get_quadrature

from flexph.numerics.arrays import Array, rows_at
from flexph.numerics.memo import Memo, once

from ..meshes.solid_mesh import SolidMesh, lagrange
from ..solids.model import SolidModel
from .macro_elements import Macro, macro

Theory = Literal["kirchhoff", "reissner_mindlin"]
CHUNK = 256
"""Number of cells that are sampled at once."""


class LocalRows(NamedTuple):
    """Values of a scalar field at q points of each of k cells, as a matrix for each cell.

    ``values`` (k, q, a) are the local shape functions at the points, ``columns`` (k, a) the numbers of their
    coordinates.
    """

    values: Array
    columns: Array

    def add_to(self, moments: Array, weights: Array) -> None:
        """Add the integrals of the field to ``moments`` (r, n), row by row, over all n coordinates.

        ``weights`` (k, q, r) are the weights of the points in each of the r integrals.
        """
        local = np.einsum("kqr,kqa->rka", weights, self.values, optimize=True)
        for row, of_row in zip(moments, local, strict=True):
            np.add.at(row, self.columns, of_row)


Fields = list[list[LocalRows]]
"""Fields (x, y, …), each a sum of local rows."""


class SampledFields(NamedTuple):
    """Sparse matrices from all coordinates to the fields of a plate at points: displacement, slopes, shear angles.

    ``x``, ``y``, ``w`` (points, size) give the displacement, ``slopes`` both components of ∇w and ``shear`` both of γ,
    None without shear.
    """

    x: Any
    y: Any
    w: Any
    slopes: tuple[Any, Any]
    shear: tuple[Any, Any] | None

    @property
    def turn(self) -> tuple[Any, Any]:
        """Sparse matrices (points, size) from the coordinates to β_x and β_y, β = ∇w − γ.

        The normals of the plate turn by (β_y, −β_x).
        """
        if self.shear is None:
            return self.slopes
        return self.slopes[0] - self.shear[0], self.slopes[1] - self.shear[1]


@dataclass(frozen=True)
class PlateCoordinates(Memo):
    """Coordinates of a plate and their numbers, on a plane mesh of degree 2 with straight edges.

    ``theory`` is kirchhoff or reissner_mindlin; only the second has shear angles.
    """

    solid: SolidModel
    theory: Theory

    @property
    def mesh(self) -> SolidMesh:
        """Plane mesh of the plate, with nodes at the corners and on the edges of its cells."""
        return self.solid.mesh

    @once
    def corners(self) -> Array:
        """Nodes (C,) that are corners of cells, ascending."""
        return np.unique(np.concatenate([b.corners().ravel() for b in self.mesh.blocks]))

    @once
    def edges(self) -> Array:
        """Nodes (E, 2) at both ends of each edge of the mesh, ascending."""
        f = self.mesh.facets
        _, first = np.unique(f.label, return_index=True)
        return np.sort(f.corners[first, :2], axis=1)

    @once
    def middles(self) -> Array:
        """Node in the middle of each edge (E,)."""
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
        """Length scale ℓ [m], the root of the mean cell area."""
        return float(np.sqrt(self.solid.weights.sum() / self.mesh.starts[-1]))

    def edges_of(self, block: int) -> Array:
        """Numbers of the edges of each cell of a block, (k, c): edge i is from corner i to corner i + 1."""
        f, count = self.mesh.facets, self.mesh.blocks[block].kind.corners
        return f.label[f.places[:, 0] == block].reshape(count, -1).T

    @property
    def bending(self) -> int:
        """Index of the first coordinate of the deflection among all coordinates."""
        return self.solid.size

    @property
    def shearing(self) -> int:
        """Index of the first coordinate of the shear angles among all coordinates."""
        return self.bending + 3 * len(self.corners) + len(self.edges)

    @property
    def size(self) -> int:
        """Number of all coordinates."""
        return self.shearing + (self.solid.size if self.theory == "reissner_mindlin" else 0)

    def at_corners(self, nodes: Array) -> Array:
        """Coordinate numbers (k, 3) of w, ℓ∂_x w and ℓ∂_y w at the nodes ``nodes`` (k,), which are corners of cells."""
        return self.bending + 3 * np.searchsorted(self.corners, nodes)[..., None] + np.arange(3)

    def at_edges(self, numbers: Array) -> Array:
        """Coordinate numbers (k,) of the normal slopes ℓ∂_n w of the edges with the given numbers (k,)."""
        return self.bending + 3 * len(self.corners) + np.asarray(numbers)

    @once
    def macros(self) -> tuple[tuple[Macro, Array], ...]:
        """Macro elements of the deflection, for each block of cells.

        With each come the coordinate numbers (k, 4c) of its k cells with c corners. The shape functions belong to these
        coordinates, which are lengths.
        """
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

    def local_fields(self, block: int, cells: Array, points: Array) -> tuple[Fields, Fields]:
        """Two fields of a plate, by components, at q points of each of the cells (k,) of a block.

        The first field is the displacement (x, y, w), the second β = ∇w − γ. A component is a list of terms whose sum
        it is. ``points`` (k, q, 2) are positions.
        """
        deflection, of = self.macros[block]
        on_cells = Macro(deflection.pieces[cells], deflection.coefficients[cells])
        value, slope, bent = on_cells.values(points, 0), on_cells.values(points, 1), of[cells]
        nodes = self.mesh.blocks[block].nodes[cells]
        shapes = lagrange(self.mesh, block, cells, points)[0]
        displacement = [[LocalRows(shapes, 2 * nodes)], [LocalRows(shapes, 2 * nodes + 1)], [LocalRows(value, bent)]]
        turn = [[LocalRows(slope[:, :, i], bent)] for i in range(2)]
        if self.theory == "reissner_mindlin":
            for i in range(2):
                turn[i].append(LocalRows(-shapes / self.length, self.shearing + 2 * nodes + i))
        return displacement, turn

    def sampled(self, block: int, cells: Array, points: Array) -> SampledFields:
        """Sparse matrices of the fields of a plate at q points of each of the cells (k,) of a block, cell by cell.

        ``points`` (k, q, 2) are positions.
        """
        displacement, turn = self.local_fields(block, cells, points)
        rows = lambda own: rows_at(own.values, own.columns, self.size)  # noqa: E731
        x, y, w = (rows(own[0]) for own in displacement)
        shear = (-rows(turn[0][1]), -rows(turn[1][1])) if len(turn[0]) > 1 else None
        return SampledFields(x, y, w, (rows(turn[0][0]), rows(turn[1][0])), shear)

    def pieces(self, order: int) -> Iterator[tuple[int, Array, Array, Array]]:
        """Yield chunks of cells with a quadrature rule of the given order on the pieces of their macro elements.

        A chunk is (block, cells (k,), points (k, q, 2), areas (k, q)): the areas [m²] are the weights.
        """
        points, weights = get_quadrature(ElementTriP1(), order)
        for b, (deflection, _) in enumerate(self.macros):
            where, area = deflection.rule(points, weights)
            for start in range(0, len(area), CHUNK):
                cells = np.arange(start, min(start + CHUNK, len(area)))
                yield b, cells, where[cells], area[cells]

    def numbered(self, block: int, cells: Array) -> Array:
        """Numbers, counted through all blocks, of cells that are given by their numbers in the block ``block``."""
        return self.mesh.starts[block] + cells

    def widened(self, rows: Any) -> Any:
        """Extend a matrix (k, in-plane displacements) by zero columns to all coordinates (k, size)."""
        matrix = sparse.csr_array(rows)
        return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], self.size))


def point_by_point(components: Sequence[Any]) -> Any:
    """Matrix whose rows are those of ``components`` in turn: all components of point 0, then of point 1, and so on.

    ``components`` are matrices (points, n), one for each component.
    """
    count = components[0].shape[0]
    order = np.arange(count)[:, None] + count * np.arange(len(components))
    return sparse.vstack(components).tocsr()[order.ravel()]
