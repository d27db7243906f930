"""Closed surfaces of triangles from STL files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...numerics.arrays import Array
from ..safe_reading import guarded_mesh

SAME = 1e-7
"""Distance of points, relative to the extent, up to which they are one."""


def closed_surface(path: Path) -> tuple[Array, Array]:
    """Points (p, 3) and triangles (t, 3) of an STL file, with repeated points merged and normals outward.

    Raises ValueError, with the numbers, for a surface that is not watertight: each edge must have two triangles that
    run along it in opposite senses.
    """
    with np.errstate(over="ignore"):  # meshio multiplies what may be letters to see whether a file is binary
        mesh = guarded_mesh(path)
    triangles = [block.data for block in mesh.cells if block.type == "triangle"]
    if not triangles:
        raise ValueError("it must have triangles, got none")
    points, cells = _merged(np.asarray(mesh.points, dtype=float), np.vstack(triangles))
    _refuse_open(points, cells)
    corners = points[cells] - points.mean(axis=0)
    return points, cells if np.linalg.det(corners).sum() > 0.0 else cells[:, ::-1]


def _merged(points: Array, cells: Array) -> tuple[Array, Array]:
    extent = float(np.ptp(points, axis=0).max())
    _, first, inverse = np.unique(
        np.round(points / (SAME * extent)).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    cells = inverse.ravel()[cells]
    whole = np.diff(np.sort(cells, axis=1), axis=1).min(axis=1) > 0
    return points[first], cells[whole]


def _refuse_open(points: Array, cells: Array) -> None:
    edges = np.vstack([cells[:, [i, (i + 1) % 3]] for i in range(3)])
    keys, inverse, counts = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    sense = np.bincount(inverse.ravel(), np.where(edges[:, 0] < edges[:, 1], 1, -1), minlength=len(keys))
    for wrong, text in (
        (counts == 1, "are open"),
        (counts > 2, "have more than two triangles"),
        (sense != 0, "have triangles of opposite senses"),
    ):
        if wrong.any():
            at = points[keys[np.argmax(wrong)]].mean(axis=0)
            raise ValueError(
                f"it must be watertight: {int(wrong.sum())} of {len(keys)} edges {text}, the first near "
                f"{np.round(at, 6).tolist()} in units of the file; repair it in the program that wrote it"
            )
