"""Selection, merging and checks of meshes for the integration of rigid bodies."""

from __future__ import annotations

from typing import Any

import meshio
import numpy as np

from flexph.meshes.cell_types import nodes_of, refuse_unknown
from flexph.numerics import checks as check
from flexph.numerics.arguments import warn
from flexph.numerics.arrays import Array

from .moments import SURFACE, VOLUME

Cells = dict[str, Array]
CORNERS = {name: 1 + max(i for face in faces for i in face) for name, faces in {**SURFACE, **VOLUME}.items()}


def chosen(mesh: meshio.Mesh) -> tuple[Array, Cells]:
    """Points (p, 3) in use, and corners (k, corners) of all volume cells, otherwise of all surface cells, by type."""
    refuse_unknown((block.type, block.data) for block in mesh.cells)
    points = check.array("points of the mesh", mesh.points, (None, 3))
    cells_by_kind: dict[str, list[Array]] = {}
    types: dict[str, set[str]] = {}
    for block in (b for b in mesh.cells if len(b.data)):
        shape = block.type.rstrip("0123456789")
        if shape in CORNERS:
            cells_by_kind.setdefault(shape, []).append(_corners(block, CORNERS[shape], len(points)))
            types.setdefault(shape, set()).add(block.type)
    kinds = [name for name in VOLUME if name in cells_by_kind] or [name for name in SURFACE if name in cells_by_kind]
    if not kinds:
        held = ", ".join(b.type for b in mesh.cells if len(b.data)) or "no cells"
        raise ValueError(f"mesh must have volume or surface cells, got {held}")
    curved = sorted(name for kind in kinds for name in types[kind] - {kind})
    if curved:
        text = f"cells of type {', '.join(curved)} are reduced to their corners: curved edges become straight"
        warn(text)
    return _used(points, {kind: np.vstack(cells_by_kind[kind]) for kind in kinds})


def _corners(block: Any, count: int, points: int) -> Array:
    data = np.asarray(block.data)
    if data.ndim != 2 or data.shape[1] < count:
        raise ValueError(f"cells of type {block.type!r} must have {count} points or more, got shape {data.shape}")
    return nodes_of(block.type, data, points)[:, :count]


def _used(points: Array, cells: Cells) -> tuple[Array, Cells]:
    """Points that cells refer to, and the renumbered cells."""
    used = np.unique(np.concatenate([c.ravel() for c in cells.values()]))
    return points[used], {name: np.searchsorted(used, c) for name, c in cells.items()}


def merged(points: Array, cells: Cells) -> tuple[Array, Cells]:
    """Points without repetition (some formats repeat them), and cells without faces that have no area."""
    order = np.lexsort(points.T)
    fresh = np.append(True, np.any(np.diff(points[order], axis=0) != 0.0, axis=1))
    label = np.empty(len(points), dtype=np.int64)
    label[order] = np.cumsum(fresh) - 1
    same = {name: label[c] for name, c in cells.items()}
    corners = {name: 1 + (np.diff(np.sort(c, axis=1), axis=1) > 0).sum(axis=1) for name, c in same.items()}
    return points[order[fresh]], {name: c[corners[name] >= 3] for name, c in same.items()}


def refuse_twins(cells: Cells) -> None:
    """Raise ValueError, with the number of repeats, if a cell is given twice."""
    for name, c in cells.items():
        twins = len(c) - len(np.unique(np.sort(c, axis=1), axis=0))
        if twins:
            raise ValueError(f"mesh must have every cell once, got {twins} of {len(c)} cells of type {name!r} again")


def refuse_open(cells: Cells) -> None:
    """Raise ValueError unless each edge of the surface belongs to two faces that run along it in opposite directions.

    The message counts the edges that do not.
    """
    ends = [(c[:, i], c[:, (i + 1) % c.shape[1]]) for c in cells.values() for i in range(c.shape[1])]
    tail, head = (np.concatenate([pair[k] for pair in ends]) for k in range(2))
    tail, head = tail[tail != head], head[tail != head]
    key = np.minimum(tail, head) * (1 + max(tail.max(initial=0), head.max(initial=0))) + np.maximum(tail, head)
    _, inverse, faces = np.unique(key, return_inverse=True, return_counts=True)
    directions = np.bincount(inverse, np.where(tail < head, 1, -1), minlength=len(faces))
    for defect, text in (
        (faces == 1, "be a closed surface or a volume mesh: {} of {} edges are open"),
        (faces > 2, "have two faces at every edge: {} of {} edges have more"),
        (directions != 0, "be oriented consistently: at {} of {} edges the two faces have opposite normals"),
    ):
        if defect.any():
            raise ValueError(f"mesh must {text.format(int(defect.sum()), len(faces))}")
