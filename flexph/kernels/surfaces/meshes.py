"""Preparation of meshes for distances to points: from points and cells to the arrays of a surface.

Equal points are merged and the topology is checked (:func:`mesh_of`). Then planes, mean normals at sides and corners,
and a tree of bounding boxes are computed (:func:`mesh_surface`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...numerics.arrays import Array
from .surfaces import Surfaces

LEAF = 4
"""Largest number of cells in a leaf of the tree."""
THIN = 1e-12
"""Area of a triangle, or length of a segment, relative to (the square of) the size of the mesh, up to which it is
degenerate."""
SAME = 1e-9
"""Difference of two unit normals up to which adjacent cells lie in one plane."""


class Mesh(NamedTuple):
    """Cells (t, d) between points (n, d), triangles or in the plane segments, with their sides, neighbours and normals.

    ``sides`` (t, d) are the numbers of the sides of each cell; in the plane its corners count as sides. ``pairs`` (k,
    2) are adjacent cells and ``shared`` (k,) the side that they share. ``loose`` is the number of sides that belong to
    one cell.
    """

    points: Array
    cells: Array
    normals: Array  # (t, d)
    sides: Array
    pairs: Array
    shared: Array
    loose: int


def mesh_of(points: Array, cells: Array) -> Mesh:
    """Mesh with equal points merged; raises ValueError for degenerate cells, and sides with more than two cells.

    It also raises ValueError if adjacent cells have opposite normals.
    """
    dim = points.shape[1]
    points, place = np.unique(points, axis=0, return_inverse=True)
    cells = np.ravel(place)[cells]
    size = float(np.ptp(points, axis=0).max(initial=0.0))
    normals, measure = _normals(points[cells])
    thin = np.flatnonzero(measure <= THIN * size ** (dim - 1))
    if thin.size:
        what = "triangle" if dim == 3 else "segment"
        raise ValueError(
            f"{what} {thin[0]} is degenerate, of {measure[thin[0]]:.3g} m{'²' if dim == 3 else ''}: leave it out"
        )
    ends = cells[:, [[0, 1], [1, 2], [2, 0]]] if dim == 3 else cells[:, :, None]
    _, sides, counts = np.unique(
        np.sort(ends, axis=2).reshape(-1, dim - 1), axis=0, return_inverse=True, return_counts=True
    )
    sides = np.ravel(sides).reshape(cells.shape)
    if (counts > 2).any():
        what = "side" if dim == 3 else "corner"
        raise ValueError(f"{int((counts > 2).sum())} {what}s belong to more than two cells: split the mesh there")
    order = np.argsort(sides.ravel(), kind="stable")
    twice = np.flatnonzero(np.diff(sides.ravel()[order]) == 0)
    pairs = np.stack([order[twice], order[twice + 1]], axis=1)
    owner = pairs // cells.shape[1]
    _check_orientation(dim, ends.reshape(-1, dim - 1), pairs)
    return Mesh(points, cells, normals, sides, owner, sides.ravel()[pairs[:, 0]], int((counts == 1).sum()))


def _normals(corners: Array) -> tuple[Array, Array]:
    """Unit normals (t, d) of cells with given corners (t, d, d), and their areas [m²] or, in the plane, lengths [m]."""
    along = corners[:, 1] - corners[:, 0]
    if corners.shape[2] == 2:
        normal, half = np.stack([along[:, 1], -along[:, 0]], axis=1), 1.0
    else:
        normal, half = np.cross(along, corners[:, 2] - corners[:, 0]), 0.5
    size = np.linalg.norm(normal, axis=1)
    return normal / np.where(size > 0.0, size, 1.0)[:, None], half * size


def _check_orientation(dim: int, ends: Array, pairs: Array) -> None:
    """Raise ValueError if the normals of two adjacent cells are on opposite sides.

    ``ends`` are the numbers of the points at the sides of all cells, ``pairs`` the indices of those sides that
    adjacent cells share.
    """
    one, other = pairs.T
    wrong = (ends[one] == ends[other]).all(axis=1) if dim == 3 else one % 2 == other % 2
    if wrong.any():
        first, second = (pairs[wrong][0] // (3 if dim == 3 else 2)).tolist()
        raise ValueError(
            f"the normals of the adjacent cells {first} and {second} are on opposite sides: order the corners of each "
            "cell in the same sense"
        )


def sharpness(mesh: Mesh, *, closed: bool) -> float:
    """Least value of 1 − cos θ over the edges where a ball may touch both cells, θ the angle between their normals.

    These are the concave edges of a closed mesh, and all edges of an open one. 0 if there are none. The width of blends
    between faces is proportional to the result, up to a limit.
    """
    one, other = mesh.pairs.T
    bent = 1.0 - np.vecdot(mesh.normals[one], mesh.normals[other])
    meets = np.linalg.norm(mesh.normals[one] - mesh.normals[other], axis=1) > SAME
    if closed:
        middle = mesh.points[mesh.cells].mean(axis=1)
        meets &= np.vecdot(mesh.normals[one], middle[other] - middle[one]) > 0.0
    return float(bent[meets].min(initial=2.0)) if meets.any() else 0.0


def mesh_surface(mesh: Mesh, *, closed: bool) -> Surfaces:
    """Arrays of one surface, a mesh.

    The distance from a closed mesh is negative on the inner side, from which the normals point away.
    """
    dim, cells = mesh.points.shape[1], len(mesh.cells)
    plane = _planes(mesh)
    sides = plane.max(initial=-1) + 1
    corners = sides + (mesh.sides.max(initial=-1) + 1 if dim == 3 else 0)
    feature = np.zeros((cells, 7), dtype=np.int64)
    feature[:, 0] = plane
    if dim == 3:
        feature[:, 1:4] = sides + mesh.sides
    feature[:, 4 : 4 + dim] = corners + mesh.cells
    outward = np.zeros((corners + len(mesh.points), 3))
    outward[plane, :dim] = mesh.normals
    weights = _angles(mesh.points[mesh.cells])
    for k in range(3 if dim == 3 else 0):
        np.add.at(outward, feature[:, 1 + k], np.pad(mesh.normals, ((0, 0), (0, 3 - dim))))
    for k in range(dim):
        np.add.at(outward, feature[:, 4 + k], np.pad(weights[:, k, None] * mesh.normals, ((0, 0), (0, 3 - dim))))
    size = np.linalg.norm(outward, axis=1, keepdims=True)
    corner = np.zeros((cells, 3, 3))
    corner[:, :dim, :dim] = mesh.points[mesh.cells]
    low, high, skip, spans, order = _tree(corner[:, :dim])
    return Surfaces(
        half=np.zeros((1, 3)),
        root=np.zeros(1, dtype=np.int64),
        signed=np.full(1, int(closed), dtype=np.int64),
        low=low,
        high=high,
        skip=skip,
        cells=spans,
        corner=corner[order],
        feature=feature[order],
        outward=outward / np.where(size > 0.0, size, 1.0),
    )


def _planes(mesh: Mesh) -> Array:
    """Number of the plane of each cell: adjacent cells with the same normal share one."""
    one, other = mesh.pairs.T
    same = np.linalg.norm(mesh.normals[one] - mesh.normals[other], axis=1) <= SAME
    count = len(mesh.cells)
    graph = sparse.csr_array((np.ones(int(same.sum())), (one[same], other[same])), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    return np.asarray(label, dtype=np.int64)


def _angles(corners: Array) -> Array:
    """Angles (t, d) [rad] at the corners of triangles (t, 3, 3), which weigh normals; ones for segments."""
    if corners.shape[1] == 2:
        return np.ones(corners.shape[:2])
    following, before = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    sine = np.linalg.norm(np.cross(following, before), axis=2)
    angles: Array = np.arctan2(sine, np.vecdot(following, before))
    return angles


def _tree(corners: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Tree of bounding boxes of cells with the given corners (t, d, d), its nodes in depth-first order.

    Five arrays: lower corners and upper corners of the boxes; for each node the number of the node that follows its
    subtree; for each leaf the first position of its cells and the last one plus 1, for other nodes 0 twice; and the
    cells in the order of these positions.
    """
    middle = corners.mean(axis=1)
    low: list[Array] = []
    high: list[Array] = []
    skip: list[int] = []
    spans: list[tuple[int, int]] = []
    order: list[int] = []

    def grow(own: Array) -> None:
        place = len(skip)
        low.append(corners[own].min(axis=(0, 1)))
        high.append(corners[own].max(axis=(0, 1)))
        skip.append(0)
        if own.size <= LEAF:
            spans.append((len(order), len(order) + own.size))
            order.extend(own.tolist())
        else:
            spans.append((0, 0))
            axis = int(np.argmax(np.ptp(middle[own], axis=0)))
            split = np.argsort(middle[own, axis], kind="stable")
            grow(own[split[: own.size // 2]])
            grow(own[split[own.size // 2 :]])
        skip[place] = len(skip)

    grow(np.arange(len(corners)))
    return np.array(low), np.array(high), np.array(skip), np.array(spans), np.array(order)
