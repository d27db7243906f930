"""Flat meshes of shells in space: their plane, and their axes in it."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import meshio
import numpy as np
from scipy import sparse

from flexph.meshes.cell_types import SHAPE, dimension
from flexph.numerics.arrays import Array
from flexph.numerics.checks import listed

FLAT = 1e-5
"""Largest distance from the plane, relative to the extent, of a flat mesh: decks print six digits."""
TURNED = 1e-6
"""Sine of the angle from the z axis up to which the normal is the z axis."""
ALONG_X = np.cos(np.deg2rad(0.1))
"""Cosine of the angle between normal and x axis above which the projection of the x axis is too short to be used."""
FOLD = 20.0
"""Angle [°] between neighbouring cells from which the message calls a surface folded; below it, curved."""


class PlaneAxes(NamedTuple):
    """Axes of a plate in the axes of its file.

    ``axes`` (3, 3) has the unit vectors x, y and the normal as columns, ``origin`` (3,) is the origin [m].
    """

    axes: Array
    origin: Array

    @property
    def is_plain(self) -> bool:
        """True if the axes of the plate are the axes of the file, with the same origin."""
        return not self.origin.any() and np.array_equal(self.axes, np.eye(3))


PLAIN_AXES = PlaneAxes(np.eye(3), np.zeros(3))


def flattened(mesh: meshio.Mesh) -> tuple[meshio.Mesh, PlaneAxes]:
    """Mesh with its points in the axes of its plane (N, 2), and these axes.

    The x axis of the plane is the projection of the x axis of the file, or of its z axis if the plane is perpendicular
    to x; the normal is that of the cells, but the z axis in a plane z = constant. The origin is the point of the plane
    nearest to the origin of the file. Meshes with points (N, 2), with volumes or without cells are returned unchanged.

    Raises ValueError for a mesh that is not flat, with the angles between its cells.
    """
    points = np.asarray(mesh.points, dtype=float)
    blocks = [b for b in mesh.cells if len(b.data) and dimension(b.type) >= 2]
    if points.ndim != 2 or points.shape[1] != 3 or not blocks or max(dimension(b.type) for b in blocks) > 2:
        return mesh, PLAIN_AXES
    used = np.unique(np.concatenate([np.asarray(b.data).ravel() for b in blocks]))
    chosen = points[used]
    if not np.isfinite(chosen).all():
        return mesh, PLAIN_AXES  # refused, with the points, where cells are read
    middle = chosen.mean(axis=0)
    normals = np.vstack([_normals(points, b) for b in blocks])
    normal = np.linalg.svd(chosen - middle, full_matrices=False)[2][2]
    if np.hypot(normal[0], normal[1]) <= TURNED:
        normal = np.array([0.0, 0.0, 1.0])
    elif (normals @ normal).sum() < 0.0:
        normal = -normal
    heights = (chosen - middle) @ normal
    if np.ptp(heights) > 2.0 * FLAT * float(np.ptp(chosen, axis=0).max()):
        _refuse_bent(mesh, blocks, normals)
    axes = _axes(normal)
    flat = copy(mesh)
    flat.points = points @ axes[:, :2]
    return flat, PlaneAxes(axes, _without_round_off(normal * (middle @ normal), middle))


def _axes(normal: Array) -> Array:
    """Axes (3, 3) of a plane with the given unit normal, as columns: x, y, normal.

    x is the projection of the x axis of the file; if that is nearly along the normal, of its z axis.
    """
    seed = np.array([0.0, 0.0, 1.0]) if abs(normal[0]) > ALONG_X else np.array([1.0, 0.0, 0.0])
    x = seed - (seed @ normal) * normal
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])


def _without_round_off(origin: Array, middle: Array) -> Array:
    return np.where(np.abs(origin) <= 1e-14 * np.abs(middle).max(), 0.0, origin)


def _normals(points: Array, block: meshio.CellBlock) -> Array:
    """Unit normals of the cells of a block (k, 3), zero for degenerate cells."""
    corners = points[np.asarray(block.data)[:, : 3 if SHAPE[block.type] == "triangle" else 4]]
    one = corners[:, 1] - corners[:, 0] if corners.shape[1] == 3 else corners[:, 2] - corners[:, 0]
    two = corners[:, 2] - corners[:, 0] if corners.shape[1] == 3 else corners[:, 3] - corners[:, 1]
    normals = np.cross(one, two)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)[:, None])


def _refuse_bent(mesh: meshio.Mesh, blocks: list[meshio.CellBlock], normals: Array) -> None:
    """Raise ValueError that a mesh is folded or curved, with angles between the normals of cells.

    The message has the largest angle between neighbours, and between any cell and the first one. ``normals`` are those
    of all cells.
    """
    rows, columns, start = [], [], 0
    for block in blocks:
        count = 3 if SHAPE[block.type] == "triangle" else 4
        corners = np.asarray(block.data)[:, :count]
        for i in range(count):
            rows.append(np.sort(corners[:, [i, (i + 1) % count]], axis=1))
            columns.append(start + np.arange(len(corners)))
        start += len(corners)
    _, label = np.unique(np.vstack(rows), axis=0, return_inverse=True)
    cells, label = np.concatenate(columns), label.ravel()
    order = np.argsort(label, kind="stable")
    paired = np.flatnonzero(np.diff(label[order]) == 0)
    one, two = cells[order[paired]], cells[order[paired + 1]]
    angles = _angles(normals[one], normals[two])
    sharpest = float(angles.max(initial=0.0))
    widest = float(_angles(normals, np.broadcast_to(normals[0], normals.shape)).max())
    worst = int(np.argmax(angles)) if len(angles) else 0
    place = f" at the edge of cells {listed(np.sort([one[worst], two[worst]]))}" if len(angles) else ""
    kind = "folded" if sharpest >= FOLD else "curved"
    raise ValueError(
        f"mesh must be flat for a plate, in a plane such as z = constant: it is {kind}, neighbours turn by up to "
        f"{sharpest:.3g}°{place}, all cells by up to {widest:.3g}°; select= takes one flat part of it"
    )


def _angles(one: Array, two: Array) -> Array:
    """Angles (k,) [°] between pairs of planes from their unit normals (k, 3), whose sense does not matter."""
    cosine = np.abs(np.einsum("ki,ki->k", one, two))
    sine = np.linalg.norm(np.cross(one, two), axis=1)
    return np.asarray(np.rad2deg(np.arctan2(sine, cosine)))


def rotation_of_tensors(axes: Array) -> Array:
    """Matrix (6, 6) that turns drawn tensors (xx, yy, zz, xy, yz, xz) from axes of the plate to axes of the file."""
    places = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))
    matrix = np.zeros((6, 6))
    for column, (i, j) in enumerate(places):
        unit = np.zeros((3, 3))
        unit[i, j] = unit[j, i] = 1.0
        turned = axes @ unit @ axes.T
        matrix[:, column] = [turned[a, b] for a, b in places]
    return matrix


def each(axes: Array, count: int) -> sparse.csr_array:
    """Block-diagonal matrix that turns ``count`` vectors, one after the other, by the rotation ``axes`` (3, 3)."""
    return sparse.csr_array(sparse.kron(sparse.eye_array(count), axes))
