"""Closed surfaces of triangles, from files such as STL."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree

from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ..safe_reading import guarded_mesh

SAME = 1e-7
"""Distance of points, relative to the extent, up to which they are one."""
NEAR = (SAME, 1e-6, 1e-5, 1e-4, SAME)
"""Distances up to which points are merged in successive attempts to repair a surface; the last attempt also fills
holes."""
MOST_FILLED = 0.05
"""Share of a surface up to which holes are filled: beyond it the shape is a guess."""


def file_surface(path: Path) -> tuple[Array, Array]:
    """Points (p, 3) and triangles (t, 3) of a mesh file such as STL, with repeated points merged and normals outward.

    Each edge must have two triangles that run along it in opposite senses. Any other surface is not watertight, and is
    repaired by trimesh, with a warning that lists the changes. Raises ValueError, with the number of defects, if
    trimesh is missing or cannot repair the surface.
    """
    with np.errstate(over="ignore"):  # meshio's test for binary files overflows when the bytes are letters
        mesh = guarded_mesh(path)
    triangles = [block.data for block in mesh.cells if block.type == "triangle"]
    if not triangles:
        raise ValueError("it must have triangles, got none")
    return closed(np.asarray(mesh.points, dtype=float), np.vstack(triangles))


def closed(given: Array, triangles: Array) -> tuple[Array, Array]:
    """Watertight surface from points (p, 3) and triangles (t, 3), repaired as in :func:`file_surface`."""
    points, cells = _merged(given, triangles)
    wrong = _gaps(points, cells)
    if wrong:
        points, cells = _repaired(given, triangles, wrong)
    corners = points[cells] - points.mean(axis=0)
    return points, cells if np.linalg.det(corners).sum() > 0.0 else cells[:, ::-1]


def _merged(points: Array, cells: Array, share: float = SAME) -> tuple[Array, Array]:
    """Points, of which those closer than ``share`` times the extent are merged, and triangles with the merged corners.

    Triangles of which two corners are merged are left out.
    """
    extent = float(np.ptp(points, axis=0).max())
    single, inverse = np.unique(points, axis=0, return_inverse=True)
    pairs = KDTree(single).query_pairs(share * extent, output_type="ndarray")
    near = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(len(single),) * 2)
    _, group = sparse.csgraph.connected_components(near, directed=False)
    _, first = np.unique(group, return_index=True)
    cells = group[inverse.ravel()[cells]]
    whole = np.diff(np.sort(cells, axis=1), axis=1).min(axis=1) > 0
    return single[first], cells[whole]


def _gaps(points: Array, cells: Array) -> str:
    """Text on the defects of a surface that is not watertight; empty for a watertight one."""
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
            return (
                f"{int(wrong.sum())} of {len(keys)} edges {text}, the first near {np.round(at, 6).tolist()} in units "
                "of the file"
            )
    return ""


def _repaired(points: Array, cells: Array, wrong: str) -> tuple[Array, Array]:
    """Watertight surface by merging points, dropping repeated triangles, reversing triangles and filling holes.

    Warns of the repair. ``wrong`` describes the defects, for this warning and for the ValueError if trimesh is missing
    or cannot repair the surface.
    """
    try:
        import networkx  # noqa: F401 - trimesh finds holes by it
        import trimesh
    except ImportError:
        raise ValueError(
            f"it must be watertight: {wrong}; repair it in the program that wrote it, or by trimesh: "
            "pip install 'flexph[cad]'"
        ) from None
    for number, share in enumerate(NEAR, 1):
        mesh = trimesh.Trimesh(*_merged(points, cells, share), process=False)
        before, done = len(mesh.faces), [] if share == SAME else [f"points up to {share:g} of its extent apart merged"]
        mesh.update_faces(mesh.unique_faces())
        if len(mesh.faces) < before:
            done.append(f"{before - len(mesh.faces)} repeated triangles dropped")
        if number == len(NEAR):
            count, area = len(mesh.faces), mesh.area
            trimesh.repair.fill_holes(mesh, use_fan=True)
            filled = (mesh.area - area) / mesh.area
            if filled > MOST_FILLED:
                wrong = f"{wrong}, holes are {filled:.2g} of its surface, more than {MOST_FILLED:g}"
                break
            if len(mesh.faces) > count:
                done.append(f"holes filled with {len(mesh.faces) - count} triangles, {filled:.2g} of the surface")
        senses = mesh.face_normals.copy()
        trimesh.repair.fix_normals(mesh, multibody=True)
        turned = int((np.einsum("ti,ti->t", senses, mesh.face_normals) < 0.0).sum())
        done += [f"{turned} triangles turned"] if turned else []
        held = np.asarray(mesh.vertices), np.asarray(mesh.faces)
        if not _gaps(*held):
            warn(f"the surface was not watertight, {wrong}, and was repaired: {', '.join(done)}")
            return held
    raise ValueError(f"it must be watertight: {wrong}; trimesh cannot repair it, do so in the program that wrote it")
