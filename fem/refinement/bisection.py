"""Refinement of triangles and tetrahedra by bisection of their longest edges.

An edge is cut in all cells that have it, and a cell with a cut edge has its longest edge cut (M.-C. Rivara, Int. J.
Numer. Meth. Engng 20 (1984)). Each cell is cut at the longest of its edges to cut; of equally long edges node numbers
decide, so that both cells of a facet cut it equally and no node hangs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flexph.meshes.cell_types import EDGES
from flexph.numerics.arrays import Array

from ..meshes.cells import CELLS
from ..meshes.reading import sorted_corners
from ..meshes.solid_mesh import Block, NamedSet, SolidMesh

SIMPLICES = ("triangle", "tetra")


class BisectedMesh(NamedTuple):
    """Refined mesh, and for each of its cells the number of the cell of the unrefined mesh of which it is a part."""

    mesh: SolidMesh
    parents: Array


def simplices_of_degree_one(mesh: SolidMesh) -> SolidMesh:
    """Mesh of the same triangles or tetrahedra with degree 1, without nodes on their edges.

    Raises ValueError for other cells, and for curved ones.
    """
    strange = [b.kind.name for b in mesh.blocks if b.kind.shape not in SIMPLICES]
    if strange:
        raise ValueError(
            f"refine must be left out for {', '.join(strange)} cells: triangles and tetrahedra are refined "
            "(fem.box_mesh(..., simplices=True)), and drawings"
        )
    block = mesh.blocks[0]
    if block.kind.degree == 1:
        return mesh
    if block.curved(mesh.points).size:
        raise ValueError(
            f"refine must be left out for curved {block.kind.name} cells, whose surface between their nodes is not "
            "known: give the drawing, or cells with straight edges"
        )
    kept = np.unique(block.corners())
    fresh = np.full(len(mesh.points) + 1, -1)
    fresh[kept] = np.arange(len(kept))
    sets = {name: _renumbered(named_set, fresh) for name, named_set in mesh.sets.items()}
    numbers = mesh.numbers[kept[kept < len(mesh.numbers)]]
    return SolidMesh(mesh.points[kept], (Block(CELLS[block.kind.shape], fresh[block.corners()]),), sets, numbers)


def _renumbered(named_set: NamedSet, fresh: Array) -> NamedSet:
    nodes = fresh[named_set.nodes]
    return NamedSet(named_set.cells, sorted_corners(fresh[named_set.facets]), nodes[nodes >= 0])


def bisected(mesh: SolidMesh, marked: Array) -> BisectedMesh:
    """Mesh of degree 1 with the cells ``marked`` (k,) bisected, and more cells, so that no node hangs.

    Named sets are kept; the result also has the parent of each cell.
    """
    block = mesh.blocks[0]
    cuts = _CutEdges(mesh.points, block.nodes, marked, np.array(EDGES[block.kind.shape]))
    cells, parents = cuts.split(block.nodes, np.array(EDGES[block.kind.shape]))
    middles = 0.5 * (mesh.points[cuts.ends[:, 0]] + mesh.points[cuts.ends[:, 1]])
    points = np.vstack([mesh.points, middles])
    sets = {name: _refined_set(mesh, named_set, cuts, parents) for name, named_set in mesh.sets.items()}
    return BisectedMesh(SolidMesh(points, (Block(block.kind, cells),), sets, mesh.numbers), parents)


def _refined_set(mesh: SolidMesh, named_set: NamedSet, cuts: _CutEdges, parents: Array) -> NamedSet:
    """Named set of a mesh, transferred to the bisected mesh.

    The new set has the children of the cells and facets of ``named_set``, its nodes, and the new nodes on edges of
    boundary facets with all corners among these. ``parents`` is the parent of each new cell.
    """
    cells = np.flatnonzero(np.isin(parents, named_set.cells[:, 1])) if len(named_set.cells) else np.zeros(0, dtype=int)
    width, facets = mesh.dim, named_set.facets
    if len(facets):
        children, _ = cuts.split(facets[:, :width], _edges_of(width))
        facets = sorted_corners(np.pad(children, [(0, 0), (0, 4 - width)], constant_values=-1))
    return NamedSet(np.column_stack([np.zeros_like(cells), cells]), facets, _with_middles(mesh, named_set.nodes, cuts))


def _edges_of(width: int) -> Array:
    return np.array([(0, 1)]) if width == 2 else np.array([(0, 1), (1, 2), (0, 2)])


def _with_middles(mesh: SolidMesh, nodes: Array, cuts: _CutEdges) -> Array:
    """Nodes ``nodes`` and the new middle nodes on the edges of all boundary facets whose corners are among them."""
    if not len(nodes):
        return nodes
    f = mesh.facets
    corners = f.corners[f.boundary][:, : mesh.dim]
    inside = corners[np.isin(corners, nodes).all(axis=1)]
    fresh = [cuts.middle(inside[:, pair]) for pair in _edges_of(mesh.dim)]
    return np.unique(np.concatenate([nodes, *(middles[middles >= 0] for middles in fresh)]))


class _CutEdges:
    """Edges of a mesh that bisection cuts, with a new node in the middle of each.

    ``ends`` (e, 2) are the nodes that each edge joins. The new node of edge i has the number of nodes of the mesh plus
    i.
    """

    def __init__(self, points: Array, cells: Array, marked: Array, edges: Array) -> None:
        self.count = len(points)
        pairs = np.sort(cells[:, edges], axis=2)
        keys, of_cell = np.unique(self._keys(pairs).ravel(), return_inverse=True)
        of_cell = of_cell.reshape(len(cells), len(edges))
        ends = np.column_stack([keys // self.count, keys % self.count])
        length = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
        length = np.round(length / length.max(), 10)  # equal lengths up to round-off go by numbers
        rank = np.empty(len(keys), dtype=int)
        rank[np.lexsort((keys, length))] = np.arange(len(keys))
        longest = of_cell[np.arange(len(cells)), rank[of_cell].argmax(axis=1)]
        cut = np.zeros(len(keys), dtype=bool)
        cut[longest[marked]] = True
        while True:
            wanted = longest[cut[of_cell].any(axis=1)]
            if cut[wanted].all():
                break
            cut[wanted] = True
        self.keys, self.rank, self.ends = keys[cut], rank[cut], ends[cut]

    def _keys(self, pairs: Array) -> Array:
        """Integer keys (…,) of sorted pairs of nodes (…, 2), in the order of the pairs.

        Pairs with a new node, which are never cut, all have the largest integer as their key.
        """
        beyond = pairs[..., 1] >= self.count
        return np.where(beyond, np.iinfo(np.int64).max, pairs[..., 0].astype(np.int64) * self.count + pairs[..., 1])

    def places(self, pairs: Array) -> Array:
        """Numbers (…,) of the cut edges between pairs of nodes (…, 2), −1 for pairs that are not a cut edge."""
        keys = self._keys(np.sort(pairs, axis=-1))
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def middle(self, pairs: Array) -> Array:
        """Numbers (…,) of the new nodes between pairs of nodes (…, 2), −1 for pairs that are not a cut edge."""
        at = self.places(pairs)
        return np.where(at < 0, -1, self.count + at)

    def split(self, cells: Array, edges: Array) -> tuple[Array, Array]:
        """Bisect cells until none has an edge to cut.

        Returns the resulting cells and, for each, the index of the given cell of which it is a part. ``edges`` are
        pairs of indices of the nodes in a cell.
        """
        done, owners, cells_left, parents = [], [], cells, np.arange(len(cells))
        while len(cells_left):
            at = self.places(cells_left[:, edges])
            rank = np.where(at < 0, -1, self.rank[at])
            first = rank.argmax(axis=1)
            row = np.arange(len(cells_left))
            whole = rank[row, first] < 0
            done.append(cells_left[whole])
            owners.append(parents[whole])
            cut, row = cells_left[~whole], np.arange(int((~whole).sum()))
            node = self.count + at[~whole][row, first[~whole]]
            children = []
            for end in range(2):
                child = cut.copy()
                child[row, edges[first[~whole], end]] = node
                children.append(child)
            cells_left, parents = np.vstack(children), np.tile(parents[~whole], 2)
        order = np.argsort(np.concatenate(owners), kind="stable")
        return np.vstack(done)[order], np.concatenate(owners)[order]
