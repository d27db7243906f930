"""Corners of triangles, split along sharp edges so that shading is smooth between these."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..numerics.arrays import Array
from ..scenes.scene import Part

CREASE = float(np.cos(np.radians(38.0)))
"""Cosine of the angle between two triangles below which their edge is sharp."""


class Mesh(NamedTuple):
    """Corners as indices (v,) of their points, and triangles (t, 3) of corners."""

    corners: Array
    triangles: Array


def telling_points(part: Part) -> Array:
    """Points (p, 3) of a part at the time at which angles between its triangles are taken.

    That is the first one, and for an arrow the one at which it is longest.
    """
    row = int(np.ptp(part.points, axis=1).sum(axis=1).argmax()) if part.kind == "arrow" else 0
    return np.asarray(part.points[row], dtype=float)


def creased(points: Array, cells: Array) -> Mesh:
    """Mesh with the corners of triangles split along sharp edges."""
    normals = unit_normals(points[cells])
    start, end = cells, np.roll(cells, -1, axis=1)
    edges = np.sort(np.stack([start, end], axis=-1).reshape(-1, 2), axis=1)
    order = np.argsort(edges[:, 0] * len(points) + edges[:, 1], kind="stable")
    same = (edges[order[1:]] == edges[order[:-1]]).all(axis=1)
    first, second = order[:-1][same], order[1:][same]  # edges of neighbours, each the number 3t + k of a corner
    cosines = np.einsum("ij,ij->i", normals[first // 3], normals[second // 3])
    smooth = cosines >= CREASE
    first, second = first[smooth], second[smooth]
    # the corners of both triangles at each of the two points of an edge
    pairs = [_corners_at(cells, first, second, far) for far in (False, True)]
    a, b = np.concatenate(pairs, axis=1)
    joined = coo_array((np.ones(a.size), (a, b)), shape=(cells.size, cells.size))
    _, group = connected_components(joined, directed=False)
    _, first_corner, numbers = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(first_corner)  # by their first corner, so that the corners of one mesh are contiguous
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Mesh(cells.ravel()[first_corner[order]], place[numbers].reshape(cells.shape))


def creased_each(points: Sequence[Array], cells: Sequence[Array]) -> list[Mesh]:
    """Meshes with the corners split along sharp edges, of several meshes at once; see :func:`creased`."""
    starts = np.cumsum([0, *map(len, points)])
    shifted = [own + start for own, start in zip(cells, starts, strict=False)]
    corner, triangles = creased(np.concatenate(points), np.concatenate(shifted))
    ends = np.cumsum([0, *map(len, cells)])
    own = [triangles[first:last] for first, last in pairwise(ends)]
    return [Mesh(corner[t.min() : t.max() + 1] - start, t - t.min()) for t, start in zip(own, starts, strict=False)]


def _corners_at(cells: Array, first: Array, second: Array, far: bool) -> Array:
    """Pairs (2, e) of corners of two adjacent triangles at the start of their common edge, or at its far end."""
    following = lambda corner: 3 * (corner // 3) + (corner + 1 - 3 * (corner // 3)) % 3  # noqa: E731
    points = cells.ravel()
    own = following(first) if far else first
    other = np.where(points[second] == points[own], second, following(second))
    return np.stack([own, other])


def unit_normals(corners: Array) -> Array:
    """Unit normals (t, 3) of triangles (t, 3, 3); zero for triangles without area."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.asarray(normals / np.where(lengths > 0.0, lengths, 1.0))
