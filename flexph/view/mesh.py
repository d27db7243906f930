"""All parts of a scene as one mesh of triangles, with its colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array
from ..scenes.scene import Part, Scene
from .creases import creased_each, telling_points
from .looks import coloured, limits_of, unit_of

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
        """Positions (v, 3) of the corners in the world, at a row of the scene."""
        return np.concatenate([np.asarray(part.at(row), dtype=float) for part in self.parts])[self.corners]

    def normals(self, points: Array) -> Array:
        """Normals (v, 3) of any length at the corners: sums over the adjacent triangles, weighted by area."""
        a, b, c = (points[self.triangles[:, k]] for k in range(3))
        return np.asarray(self.sums @ np.cross(b - a, c - a))

    def shares(self, row: int) -> Array:
        """Values of the field at the corners (v,), 0 to 1 between its limits; :data:`PLAIN` where there are none."""
        return np.concatenate([self._shares_of(part, row) for part in self.parts])[self.corners]

    def _shares_of(self, part: Part, row: int) -> Array:
        name = self.field
        if name is None or not coloured(part, name):
            return np.full(part.points.shape[1], PLAIN)
        values = part.point_fields[name].values
        low, high = limits_of(self.scene, name)
        own = unit_of(self.scene, name)[0] * np.nan_to_num(values[min(row, len(values) - 1)])
        return np.asarray((own - low) / ((high - low) or 1.0)).clip(0.0, 1.0)


def mesh_of(scene: Scene, field: str | None) -> Mesh:
    """Mesh of a scene of triangles."""
    parts = tuple(part for part in scene.parts if part.cell_type == "triangle" and len(part.cells))
    meshes = creased_each([telling_points(part) for part in parts], [part.cells for part in parts])
    points = np.cumsum([0, *(part.points.shape[1] for part in parts)])
    starts = np.cumsum([0, *(len(mesh.corners) for mesh in meshes)])
    corners = np.concatenate([mesh.corners + first for mesh, first in zip(meshes, points, strict=False)])
    triangles = np.concatenate([mesh.triangles + first for mesh, first in zip(meshes, starts, strict=False)])
    owner = np.repeat(np.arange(len(parts)), [len(mesh.triangles) for mesh in meshes])
    own = np.repeat(np.arange(len(triangles)), 3)
    sums = sparse.csr_array((np.ones(own.size), (triangles.ravel(), own)), shape=(len(corners), len(triangles)))
    outward = np.repeat([outside_of(telling_points(part), part.cells) for part in parts], np.bincount(owner))
    return Mesh(scene, parts, field, corners, triangles, owner, sums, outward)


def outside_of(points: Array, cells: Array) -> int:
    """1 or −1 for triangles that close a surface, counterclockwise seen from outside or inside; 0 for an open one."""
    extent = float(np.ptp(points, axis=0).max()) or 1.0
    _, same = np.unique(np.round(points / (SAME * extent)), axis=0, return_inverse=True)
    own = same.ravel()[cells]
    first, second = own.ravel(), np.roll(own, -1, axis=1).ravel()
    there, back = np.sort(first * len(points) + second), np.sort(second * len(points) + first)
    if not np.array_equal(there, back):
        return 0
    a, b, c = (points[cells[:, k]] - points.mean(axis=0) for k in range(3))
    return int(np.sign(np.einsum("ij,ij->", a, np.cross(b, c))))
