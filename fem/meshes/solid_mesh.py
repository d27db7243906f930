"""Meshes of solids and plane bodies: points, blocks of cells, facets, named regions; boxes and rectangles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import skfem

from flexph.meshes.cell_types import FACETS, REFERENCE
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.checks import listed
from flexph.numerics.memo import Memo, once
from flexph.units.arguments import quantities

from .cells import BESIDE_PRISMS, CELLS, ELEVATED, Cell, corner_slopes, table

ALL = slice(None)
STRAIGHT = 1e-4
"""Distance of a node on an edge from its middle, divided by the size of the cell, up to which the edge is straight.

Decks are printed with few digits.
"""
DEGENERATE = 1e-9
"""Jacobian, divided by the size of the cell to the power of its dimension, below which a cell is flat."""


@dataclass(frozen=True, eq=False)
class Block:
    """Cells of one type with their nodes (k, nodes)."""

    kind: Cell
    nodes: Array

    def corners(self) -> Array:
        """Nodes at the corners of the cells, (k, corners)."""
        return self.nodes[:, : self.kind.corners]

    def curved(self, points: Array) -> Array:
        """Indices of the cells that have a node off the mean of the corners of its edge, face or volume."""
        at, corners = points[self.nodes], points[self.corners()]
        means = np.stack([corners[:, list(n)].mean(axis=1) for n in self.kind.nodes], axis=1)
        return np.flatnonzero(np.linalg.norm(at - means, axis=2).max(axis=1) > STRAIGHT * cell_sizes(corners))


class NamedSet(NamedTuple):
    """A named region of a given mesh before it is checked: some cells, facets or nodes.

    ``cells`` (k, 2) are pairs (block, number in the block), ``facets`` (k, 4) the numbers of corners, padded by −1,
    ``nodes`` (k,) node numbers.
    """

    cells: Array
    facets: Array
    nodes: Array


class Points(NamedTuple):
    """Quadrature rule with q points in each of k cells of a block.

    Shape functions (q, nodes), their gradients (k, q, nodes, d) with respect to position [1/m], and weights (k, q)
    [m^d] that include the volume.
    """

    shapes: Array  # (q, nodes)
    gradients: Array  # (k, q, nodes, d)
    weights: Array  # (k, q)


@dataclass(frozen=True, eq=False)
class SolidMesh(Memo):
    """Mesh of a solid or plane body: points (N, d) [m], d = 2 or 3, blocks of cells of dimension d, and named sets.

    ``numbers`` (n,) are the numbers of the first n points in the mesh from which it was made, ascending.
    """

    points: Array
    blocks: tuple[Block, ...]
    sets: Mapping[str, NamedSet]
    numbers: Array

    @property
    def dim(self) -> int:
        """Dimension, 2 or 3."""
        return int(self.points.shape[1])

    @property
    def degree(self) -> int:
        """Degree of the shape functions."""
        return self.blocks[0].kind.degree

    @once
    def starts(self) -> Array:
        """Number of the first cell of each block, counted through all blocks, and the number of all cells."""
        return np.cumsum([0, *(len(b.nodes) for b in self.blocks)])

    @once
    def facets(self) -> Facets:
        """All facets of all cells, those between two cells once for each of them."""
        return facets_of(self.blocks)

    def numbered(self, cells: Array) -> Array:
        """Numbers (k,) of cells, counted through all blocks, from pairs (block, number in the block), (k, 2)."""
        return self.starts[cells[:, 0]] + cells[:, 1]

    def at(self, block: int, order: int, cells: slice | Array = ALL) -> Points:
        """Shape functions, gradients and weights of the quadrature rule ``order`` in all or some cells of a block."""
        of_block = self.blocks[block]
        return points_in(self.points, Block(of_block.kind, of_block.nodes[cells]), order)

    def volumes(self, block: int, order: int) -> tuple[Array, Array]:
        """Shape functions (q, nodes) of the quadrature rule ``order``, and its weights (k, q) in the cells of a block.

        The weights [m^d] include the volume.
        """
        shapes, slopes, weights = table(self.blocks[block].kind.name, order)
        return shapes.T.copy(), np.linalg.det(jacobians(self.points, self.blocks[block], slopes)) * weights

    def of_degree_two(self) -> SolidMesh:
        """Mesh with cells of degree 2; new nodes are the means of the corners of their edge, face or cell."""
        count, wanted = len(self.points), []
        prisms = any(b.kind.shape in ("wedge", "pyramid") for b in self.blocks)
        kinds = [CELLS[(BESIDE_PRISMS if prisms else ELEVATED)[b.kind.name]] for b in self.blocks]
        for kind, block in zip(kinds, self.blocks, strict=True):
            for node in kind.nodes[kind.corners :]:
                wanted.append(_padded(np.sort(block.nodes[:, list(node)], axis=1), 8))
        keys, place = np.unique(np.vstack(wanted), axis=0, return_inverse=True)
        used = keys >= 0
        corners = np.where(used[:, :, None], self.points[keys], 0.0)
        fresh = corners.sum(axis=1) / used.sum(axis=1)[:, None]
        blocks, at, place = [], 0, count + place.ravel()
        for kind, block in zip(kinds, self.blocks, strict=True):
            k, more = len(block.nodes), len(kind.nodes) - kind.corners
            middles = place[at : at + k * more].reshape(more, k).T
            blocks.append(Block(kind, np.hstack([block.nodes, middles])))
            at += k * more
        return SolidMesh(np.vstack([self.points, fresh]), tuple(blocks), self.sets, self.numbers)


class Facets(NamedTuple):
    """Facets of the cells of a mesh; a facet between two cells occurs twice, once for each.

    ``corners`` (f, 4) are sorted node numbers, padded by −1; ``places`` (f, 3) are (block, cell, number of the facet in
    the cell). ``label`` (f,) is the number of the facet among the distinct ones, ``cells`` (distinct,) the number of
    cells at each distinct facet.
    """

    corners: Array  # (f, 4)
    places: Array  # (f, 3)
    label: Array  # (f,)
    cells: Array  # (distinct,)

    @property
    def boundary(self) -> Array:
        """Mask of the facets that belong to one cell only."""
        return self.cells[self.label] == 1


def _padded(rows: Array, width: int) -> Array:
    return np.pad(rows, [(0, 0), (0, width - rows.shape[1])], constant_values=-1)


def facets_of(blocks: tuple[Block, ...]) -> Facets:
    """Facets of all cells of the blocks, those between two cells once for each."""
    corners, places = [], []
    for b, block in enumerate(blocks):
        for i, facet in enumerate(FACETS[block.kind.shape]):
            k = len(block.nodes)
            corners.append(_padded(np.sort(block.nodes[:, list(facet)], axis=1), 4))
            places.append(np.column_stack([np.full(k, b), np.arange(k), np.full(k, i)]))
    keys = np.vstack(corners)
    _, label, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return Facets(keys, np.vstack(places), label.ravel(), count)


def cell_sizes(points: Array) -> Array:
    """Sizes [m] of cells with the points (k, n, d): largest extents along the coordinate axes, (k,)."""
    return np.ptp(points, axis=1).max(axis=1)


def points_in(points: Array, block: Block, order: int) -> Points:
    """Quadrature rule ``order`` in all cells of a block: shape functions, gradients, and weights times volume.

    ``points`` (N, d) [m] are the nodes of the mesh; the cells are isoparametric.
    """
    shapes, slopes, weights = table(block.kind.name, order)
    jacobian = jacobians(points, block, slopes)
    gradients = np.einsum("njq,kqji->kqni", slopes, np.linalg.inv(jacobian), optimize=True)
    return Points(shapes.T.copy(), gradients, np.linalg.det(jacobian) * weights)


def jacobians(points: Array, block: Block, slopes: Array) -> Array:
    """Jacobians ∂x/∂ξ, (k, q, d, d), of the k cells of a block at the q points of a quadrature rule.

    ``slopes`` (nodes, d, q) are the gradients of the shape functions with respect to ξ; ``points`` (N, d) are the nodes
    of the mesh.
    """
    return np.einsum("kni,njq->kqij", points[block.nodes], slopes, optimize=True)


def with_positive_volumes(points: Array, blocks: tuple[Block, ...], *, each: bool = False) -> tuple[Block, ...]:
    """Blocks with cells of positive volume; a block in which all cells have negative volume is mirrored.

    With ``each``, every single cell is mirrored if necessary, as for scikit-fem, whose simplices have any orientation,
    and in the plane, where programs orient cells as seen from above or below their surface.

    Raises ValueError with the numbers of cells that are flat or folded, or inverted while others of the block are not.
    """
    blocks_righted = []
    for block in blocks:
        kind = block.kind
        slopes = np.concatenate([table(kind.name, order)[1] for order in {kind.stress, kind.mass}], axis=2)
        volume = np.linalg.det(jacobians(points, block, slopes))
        size = cell_sizes(points[block.nodes]) ** kind.dim
        flat = np.flatnonzero(np.abs(volume).max(axis=1) <= DEGENERATE * size)
        if flat.size:
            raise ValueError(
                f"mesh must have no degenerate cells, got {kind.name} cells without volume: {listed(flat)}"
            )
        turned = np.all(volume < 0.0, axis=1)
        if turned.all() or ((each or kind.dim == 2) and turned.any()):
            right = np.where(turned[:, None], block.nodes[:, kind.mirrored], block.nodes)
            block, volume = Block(kind, right), np.where(turned[:, None], -volume, volume)
        inside = np.any(volume <= DEGENERATE * size[:, None], axis=1)
        # zero at a corner may be intended: sides that meet at 180°, quarter-point nodes at a crack
        ends = np.linalg.det(jacobians(points, block, corner_slopes(kind.name)))
        wrong = np.flatnonzero(inside | np.any(ends < -DEGENERATE * size[:, None], axis=1))
        if wrong.size:
            corners = jacobians(points, Block(CELLS[kind.shape], block.corners()), corner_slopes(kind.shape))
            sound = kind.degree > 1 and bool(np.all(np.linalg.det(corners) > 0.0))
            hint = "; the corners are sound: do the other nodes come in the order of meshio?" if sound else ""
            raise ValueError(
                f"mesh must have no inverted cells, got {kind.name} cells that are turned inside out or folded (their "
                f"Jacobian is not positive at every point): {listed(wrong)}{hint}"
            )
        blocks_righted.append(block)
    return tuple(blocks_righted)


def facet_groups(mesh: SolidMesh, places: Array) -> list[tuple[Cell, Array, Array]]:
    """Facets in groups that have the same block of cells and the same facet number in their cell.

    ``places`` (f, 3) are (block, cell, facet number). For each group: the type of the facet, the nodes (k, nodes) of
    its k facets, and their indices (k,) in ``places``.
    """
    groups = []
    for b, number in np.unique(places[:, [0, 2]], axis=0):
        pick = np.flatnonzero((places[:, 0] == b) & (places[:, 2] == number))
        block = mesh.blocks[b]
        kind, local = block.kind.facet(int(number))
        groups.append((kind, block.nodes[places[pick, 1]][:, local], pick))
    return groups


SIDES = ("left", "right", "front", "back", "bottom", "top")
"""Names of the sides: first and last along x, y, z."""


@quantities(lengths="m")
@checked
def box_mesh(lengths: Sequence[float], counts: Sequence[int], *, simplices: bool = False) -> skfem.Mesh:
    """A box (three lengths [m]) or a rectangle (two) from the origin, divided into equal cells along each axis.

    Parameters
    ----------
    lengths : sequence of float
        Lengths along x, y and, for a box, z [m].
    counts : sequence of int
        Number of cells along each side.
    simplices : bool, optional
        Tetrahedra or triangles instead of hexahedra or quadrilaterals.

    Returns
    -------
    skfem.Mesh
        A mesh of degree 1; :func:`fem.solid` accepts it with ``degree=2``. Its regions are ``left`` and ``right``
        (along x), ``front`` and ``back`` (y), ``bottom`` and ``top`` (z).

    Raises
    ------
    ValueError
        For another number of sides, and for sides or counts that are not positive.

    Examples
    --------
    >>> import fem
    >>> mesh = fem.box_mesh((0.2, 0.1), (4, 2))
    >>> mesh.nelements, sorted(mesh.boundaries)
    (8, ['back', 'front', 'left', 'right'])
    """
    if len(lengths) not in (2, 3) or len(counts) != len(lengths):
        raise ValueError(f"lengths and counts must be two or three each, got {len(lengths)} and {len(counts)}")
    sizes = [check.positive("lengths", x, "m") for x in lengths]
    grid = [np.linspace(0.0, x, check.count("counts", n) + 1) for x, n in zip(sizes, counts, strict=True)]
    mesh = (skfem.MeshQuad if len(sizes) == 2 else skfem.MeshHex).init_tensor(*grid)
    if simplices:
        mesh = mesh.to_meshtri() if len(sizes) == 2 else mesh.to_meshtet()
    at = lambda i, x: lambda points: np.abs(points[i] - x) < 1e-9 * sizes[i]  # noqa: E731 - one test for each side
    ends = [(i, x) for i, size in enumerate(sizes) for x in (0.0, size)]
    return mesh.with_boundaries({name: at(*end) for name, end in zip(SIDES, ends, strict=False)})


SETTLED = 1e-14
"""Step of Newton's method, in reference coordinates, that counts as round-off."""


def lagrange(mesh: SolidMesh, block: int, cells: Array, points: Array) -> tuple[Array, Array]:
    """Shape functions (k, q, n) and their gradients (k, q, n, 2) of planar cells (k,) at q points of each.

    ``points`` (k, q, 2) are positions in body axes, not reference coordinates. Gradients are with respect to position.
    """
    kind, corners = mesh.blocks[block].kind, mesh.points[mesh.blocks[block].corners()[cells]]
    at = _reference(corners, points)
    shapes, slopes = kind.shapes(at.reshape(-1, 2).T)
    values = shapes.T.reshape(*points.shape[:2], -1)
    on_cells = np.moveaxis(slopes, -1, 0).reshape(*points.shape[:2], -1, 2)
    return values, np.einsum("kqnj,kqji->kqni", on_cells, np.linalg.inv(_jacobian(corners, at)))


def _jacobian(corners: Array, at: Array) -> Array:
    """Jacobians ∂x/∂ξ (k, q, 2, 2) of straight-sided cells with corners (k, c, 2), at reference points (k, q, 2)."""
    if corners.shape[1] == 3:
        edges = np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=2)
        return np.broadcast_to(edges[:, None], (*at.shape, 2))
    a, b, c, d = (corners[:, None, i] for i in range(4))
    x, y = at[..., :1], at[..., 1:]
    return np.stack([(b - a) * (1.0 - y) + (c - d) * y, (d - a) * (1.0 - x) + (c - b) * x], axis=3)


def _reference(corners: Array, points: Array) -> Array:
    """Reference coordinates (k, q, 2) of the positions ``points`` (k, q, 2) in straight-sided cells.

    ``corners`` (k, c, 2) are those of the cells. In quadrilaterals Newton's method is used.
    """
    at = np.broadcast_to(REFERENCE["triangle" if corners.shape[1] == 3 else "quad"].mean(axis=0), points.shape)
    for _ in range(1 if corners.shape[1] == 3 else 12):
        x, y = at[..., :1], at[..., 1:]
        weights = [1.0 - x - y, x, y]
        if corners.shape[1] == 4:
            weights = [(1.0 - x) * (1.0 - y), x * (1.0 - y), x * y, (1.0 - x) * y]
        here = sum(w * corners[:, None, i] for i, w in enumerate(weights))
        step = np.linalg.solve(_jacobian(corners, at), (points - here)[..., None])[..., 0]
        at = at + step
        if np.abs(step).max(initial=0.0) < SETTLED:
            break
    return at
