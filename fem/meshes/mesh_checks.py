"""Checks that a mesh is connected: one piece, whole facets, no hanging nodes."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree

from flexph.meshes.cell_types import FACETS
from flexph.numerics.arrays import Array
from flexph.numerics.checks import listed

from .solid_mesh import Block, SolidMesh

TOUCHING = 1e-6
"""Distance of a node from a facet, relative to the size of the facet, up to which it lies on the facet."""


def refuse_pieces(mesh: SolidMesh) -> None:
    """Raise ValueError, with the numbers of some separate cells, unless all cells are connected by facets."""
    f = mesh.facets
    cells = mesh.numbered(f.places[:, :2])
    size = int(mesh.starts[-1])
    joined = sparse.csr_array((np.ones(len(cells)), (cells, f.label)), shape=(size, len(f.cells)))
    count, piece = sparse.csgraph.connected_components(joined @ joined.T, directed=False)
    if count == 1:
        return
    sizes = np.bincount(piece)
    small = int(np.argmin(sizes))
    nodes = [np.unique(_nodes(mesh, np.flatnonzero(mask))) for mask in (piece == small, piece != small)]
    hint = _hint(mesh, *nodes)
    raise ValueError(
        f"mesh must be one piece, its cells connected by whole facets, got {count} pieces of "
        f"{listed(np.sort(sizes)[::-1])} cells; one of them has cells "
        f"{_named(mesh, np.flatnonzero(piece == small))}{hint}; select= takes one part or group of several"
    )


def _nodes(mesh: SolidMesh, cells: Array) -> Array:
    """Nodes, with repetitions, of cells whose numbers ``cells`` are counted through all blocks."""
    nodes = [block.nodes[cells[(cells >= a) & (cells < b)] - a].ravel() for block, a, b in _spans(mesh)]
    return np.concatenate(nodes)


def _spans(mesh: SolidMesh) -> list[tuple[Block, int, int]]:
    return list(zip(mesh.blocks, mesh.starts[:-1].tolist(), mesh.starts[1:].tolist(), strict=True))


def _hint(mesh: SolidMesh, some: Array, others: Array) -> str:
    """Text for an error on why a piece of a mesh is not connected to the rest, such as repeated points or a gap.

    ``some`` are the nodes of the piece, ``others`` those of the rest.
    """
    both = np.intersect1d(some, others)
    if both.size:
        return f"; it has {len(both)} nodes in common with others, which are no whole facet"
    points = mesh.points
    same = len(points) - len(np.unique(points, axis=0))
    if same:
        return f"; {same} points are at the place of another one: merge them"
    nearest = KDTree(points[others]).query(points[some])[0].min()
    return f"; its points are {nearest:.3g} m or more away from the others"


def refuse_overlaps(mesh: SolidMesh) -> None:
    """Raise ValueError if more than two cells share a facet, or if two cells lie on the same side of a facet."""
    f, cells = mesh.facets, mesh.numbered(mesh.facets.places[:, :2])
    many = np.flatnonzero(f.cells[f.label] > 2)
    if many.size:
        raise ValueError(
            "mesh must have one cell or two at each facet, got more at the facets of cells "
            f"{_named(mesh, np.unique(cells[many]))}"
        )
    sides = np.bincount(f.label, _orientation(mesh), len(f.cells))
    same = np.flatnonzero((np.abs(sides) == 2.0)[f.label])
    if same.size:
        raise ValueError(
            "mesh must have no overlapping cells, got some on the same side of a facet: "
            f"{_named(mesh, np.unique(cells[same]))}"
        )


def _orientation(mesh: SolidMesh) -> Array:
    """Orientation (+1, −1) of each facet of each cell: the sense of its corner numbers, seen from outside the cell.

    It is opposite for two cells on opposite sides of a facet.
    """
    signs = []
    for block in mesh.blocks:
        for facet in FACETS[block.kind.shape]:
            corners = block.nodes[:, list(facet)]
            first = corners.argmin(axis=1)[:, None] + np.array([1, -1])
            after, before = np.take_along_axis(corners, first % corners.shape[1], axis=1).T
            ends = np.where(corners[:, 0] < corners[:, 1], 1.0, -1.0)
            signs.append(ends if corners.shape[1] == 2 else np.where(after < before, 1.0, -1.0))
    return np.concatenate(signs)


def _named(mesh: SolidMesh, cells: Array) -> str:
    block = int(np.searchsorted(mesh.starts, cells[0], side="right")) - 1
    in_block = cells[cells < mesh.starts[block + 1]] - mesh.starts[block]
    return f"{listed(in_block)} of type {mesh.blocks[block].kind.name}"


def refuse_hanging(mesh: SolidMesh) -> None:
    """Raise ValueError, with nodes and cells, if a node lies inside a facet of a cell that it does not belong to."""
    f = mesh.facets
    outer = np.flatnonzero(f.boundary)
    corners = f.corners[outer]
    nodes = np.unique(corners[corners >= 0])
    for simplex in _simplices(corners, mesh.dim):
        at = mesh.points[simplex]  # (facets, d, d)
        centre = at.mean(axis=1)
        radius = np.linalg.norm(at - centre[:, None], axis=2).max(axis=1)
        lists = KDTree(mesh.points[nodes]).query_ball_point(centre, radius * (1.0 + TOUCHING))
        facet = np.repeat(np.arange(len(simplex)), [len(hanging) for hanging in lists])
        node = nodes[np.concatenate([np.asarray(hanging, dtype=int) for hanging in lists])]
        other = np.all(corners[facet] != node[:, None], axis=1)
        facet, node = facet[other], node[other]
        hit = _lies_on(at[facet], mesh.points[node], corners=mesh.points[corners[facet]])
        inside = np.flatnonzero(hit)
        if inside.size:
            places = f.places[outer[facet[inside]]]
            raise ValueError(
                f"mesh must have no hanging nodes, got {len(np.unique(node[inside]))} on the inside of facets of other "
                f"cells, such as the one at {mesh.points[node[inside[0]]].tolist()} m on cells "
                f"{_named(mesh, np.unique(mesh.numbered(places[:, :2])))}"
            )


def _simplices(corners: Array, dim: int) -> list[Array]:
    """Corners of simplices that cover each of k facets, as arrays (k, d) of node numbers.

    A line or a triangle is itself a simplex. A quadrilateral is covered by all triples of its corners: as ``corners``
    (k, 4) are sorted by number, it is not known which two of the triangles make it up.
    """
    if dim == 2:
        return [corners[:, :2]]
    quads = np.where(corners[:, 3:] >= 0, corners, corners[:, [0, 1, 2, 2]])
    return [quads[:, list(pick)] for pick in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))]


def _lies_on(simplex: Array, points: Array, corners: Array) -> Array:
    """Mask (k,): True if point i lies on simplex i and away from the corners of its facet.

    ``simplex`` (k, d, d) are the corners of the simplices, ``points`` (k, d), ``corners`` (k, 4, d) those of the
    facets.
    """
    size = np.linalg.norm(simplex - simplex.mean(axis=1)[:, None], axis=2).max(axis=1)
    edges = simplex[:, 1:] - simplex[:, :1]
    gram = np.einsum("kai,kbi->kab", edges, edges)
    scale = np.maximum(np.einsum("kaa->k", gram), np.finfo(float).tiny)
    flat = np.linalg.det(gram) <= 1e-12 * scale ** edges.shape[1]  # a triangle with a repeated corner
    gram[flat] = np.eye(edges.shape[1])
    lever = points - simplex[:, 0]
    weights = np.linalg.solve(gram, np.einsum("kai,ki->ka", edges, lever)[:, :, None])[:, :, 0]
    off = np.linalg.norm(lever - np.einsum("ka,kai->ki", weights, edges), axis=1)
    least = np.minimum(weights.min(axis=1), 1.0 - weights.sum(axis=1))
    apart = np.linalg.norm(corners - points[:, None], axis=2).min(axis=1) > TOUCHING * size
    return ~flat & (off <= TOUCHING * size) & (least >= -TOUCHING) & apart
