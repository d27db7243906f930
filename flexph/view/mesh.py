"""Mesh of all parts of a scene with colours, whose corners are split along sharp edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..numerics.arrays import Array
from ..scenes.scene import Part, Scene
from .looks import coloured, limits_of, unit_of

CREASE = float(np.cos(np.radians(38.0)))
"""Cosine of the angle between two triangles below which their edge is sharp."""


class CreasedMesh(NamedTuple):
    """Mesh of triangles (t, 3) whose corners are split along sharp edges.

    Vertices on such an edge occur once on each side of it. ``corners`` (v,): index of the given point at each vertex;
    ``triangles``: indices of vertices.
    """

    corners: Array
    triangles: Array


def telling_points(part: Part) -> Array:
    """Points (p, 3) of a part from which sharp edges between its triangles are determined.

    These are the points at the first time, and for an arrow those at the time of its largest length.
    """
    row = int(np.ptp(part.points, axis=1).sum(axis=1).argmax()) if part.kind == "arrow" else 0
    return np.asarray(part.points[row], dtype=float)


def creased(points: Array, cells: Array) -> CreasedMesh:
    """Mesh of points (p, 3) and triangles (t, 3) with the corners split along sharp edges."""
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
    return CreasedMesh(cells.ravel()[first_corner[order]], place[numbers].reshape(cells.shape))


def creased_each(points: Sequence[Array], cells: Sequence[Array]) -> list[CreasedMesh]:
    """Meshes split along sharp edges, from several meshes at once; see :func:`creased`."""
    starts = np.cumsum([0, *map(len, points)])
    shifted = [part + start for part, start in zip(cells, starts, strict=False)]
    corner, triangles = creased(np.concatenate(points), np.concatenate(shifted))
    ends = np.cumsum([0, *map(len, cells)])
    parts = [triangles[first:last] for first, last in pairwise(ends)]
    return [
        CreasedMesh(corner[t.min() : t.max() + 1] - start, t - t.min()) for t, start in zip(parts, starts, strict=False)
    ]


def _corners_at(cells: Array, first: Array, second: Array, far: bool) -> Array:
    """Corners (2, e) of the two triangles that meet at one end of each of e common edges.

    A corner has the number 3t + k: corner k of triangle t. ``first`` and ``second`` (e,) are the corners at which the
    common edge begins in the first and in the second triangle. The end is the point at ``first``, or with ``far`` the
    other end of the edge.
    """
    following = lambda corner: 3 * (corner // 3) + (corner + 1 - 3 * (corner // 3)) % 3  # noqa: E731
    points = cells.ravel()
    start = following(first) if far else first
    other = np.where(points[second] == points[start], second, following(second))
    return np.stack([start, other])


def unit_normals(corners: Array) -> Array:
    """Unit normals (t, 3) of triangles (t, 3, 3); zero for triangles without area."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.asarray(normals / np.where(lengths > 0.0, lengths, 1.0))


SAME = 1e-6
"""Distance, relative to the extent of a part, up to which points are one."""
PLAIN = -1.0
"""Value that stands for a missing field."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles of all parts of a scene, their corners split along sharp edges.

    Attributes
    ----------
    scene : Scene
        Scene of the parts.
    parts : tuple of Part
        Parts of the scene that have triangles.
    field : str, optional
        Name of the coloured field.
    corners : array
        Index of the point at each corner (v,), counted through the points of all parts.
    triangles : array
        Indices of the corners of each triangle (t, 3).
    owner : array
        Index of the part of each triangle (t,).
    sums : matrix
        Sparse matrix (v, t) that sums values of triangles at their corners.
    outward : array
        For each triangle (t,): 1 or −1 if it is counterclockwise seen from outside or inside of a closed surface, 0 if
        the surface is open.
    """

    scene: Scene
    parts: tuple[Part, ...]
    field: str | None
    corners: Array
    triangles: Array
    owner: Array
    sums: sparse.csr_array
    outward: Array

    def points(self, row: int) -> Array:
        """Positions (v, 3) of the corners in world axes, at the time of index ``row`` in the scene."""
        return np.concatenate([np.asarray(part.at(row), dtype=float) for part in self.parts])[self.corners]

    def normals(self, points: Array) -> Array:
        """Normals (v, 3), not of unit length, at the corners, from their positions ``points`` (v, 3).

        They are sums over adjacent triangles, weighted by area.
        """
        a, b, c = (points[self.triangles[:, k]] for k in range(3))
        return np.asarray(self.sums @ np.cross(b - a, c - a))

    def shares(self, row: int) -> Array:
        """Values (v,) of the field at the corners, 0 to 1 between its limits, at the time of index ``row``.

        They are :data:`PLAIN` for parts without the field.
        """
        return np.concatenate([self._shares_of(part, row) for part in self.parts])[self.corners]

    def _shares_of(self, part: Part, row: int) -> Array:
        name = self.field
        if name is None or not coloured(part, name):
            return np.full(part.points.shape[1], PLAIN)
        values = part.point_fields[name].values
        low, high = limits_of(self.scene, name)
        scaled = unit_of(self.scene, name)[0] * np.nan_to_num(values[min(row, len(values) - 1)])
        return np.asarray((scaled - low) / ((high - low) or 1.0)).clip(0.0, 1.0)


def mesh_of(scene: Scene, field: str | None) -> Mesh:
    """Mesh of a scene of triangles, coloured by the field of the given name, if any."""
    parts = tuple(part for part in scene.parts if part.cell_type == "triangle" and len(part.cells))
    meshes = creased_each([telling_points(part) for part in parts], [part.cells for part in parts])
    points = np.cumsum([0, *(part.points.shape[1] for part in parts)])
    starts = np.cumsum([0, *(len(mesh.corners) for mesh in meshes)])
    corners = np.concatenate([mesh.corners + first for mesh, first in zip(meshes, points, strict=False)])
    triangles = np.concatenate([mesh.triangles + first for mesh, first in zip(meshes, starts, strict=False)])
    owner = np.repeat(np.arange(len(parts)), [len(mesh.triangles) for mesh in meshes])
    owners = np.repeat(np.arange(len(triangles)), 3)
    sums = sparse.csr_array((np.ones(owners.size), (triangles.ravel(), owners)), shape=(len(corners), len(triangles)))
    outward = np.repeat([outside_of(telling_points(part), part.cells) for part in parts], np.bincount(owner))
    return Mesh(scene, parts, field, corners, triangles, owner, sums, outward)


def outside_of(points: Array, cells: Array) -> int:
    """Orientation of a closed surface: 1 if its triangles are counterclockwise seen from outside, −1 from inside.

    An open surface has the orientation 0.
    """
    extent = float(np.ptp(points, axis=0).max()) or 1.0
    _, same = np.unique(np.round(points / (SAME * extent)), axis=0, return_inverse=True)
    merged = same.ravel()[cells]
    first, second = merged.ravel(), np.roll(merged, -1, axis=1).ravel()
    there, back = np.sort(first * len(points) + second), np.sort(second * len(points) + first)
    if not np.array_equal(there, back):
        return 0
    a, b, c = (points[cells[:, k]] - points.mean(axis=0) for k in range(3))
    return int(np.sign(np.einsum("ij,ij->", a, np.cross(b, c))))
