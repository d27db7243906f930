"""Meshes and series of meshes as scenes: surfaces of solids.

Of files without solids the shells, otherwise the lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..export.series_files import read_series
from ..files.vtkhdf import SUFFIX, read_vtkhdf
from ..joints.rows.signs import tube
from ..meshes.cell_types import dimension
from ..meshes.files.reading import read
from ..numerics.arrays import Array
from ..scenes.of_motion import SIGN
from ..scenes.scene import Field, Part, Scene
from ..scenes.surfaces import outer_triangles

LINES = 2000
"""Largest number of lines that are drawn."""
Cells = Sequence[tuple[str, Array]]


def scene_of_mesh(path: Path) -> Scene:
    """Scene of a mesh file; raises ValueError for files that cannot be read or drawn."""
    mesh = read(path)
    points = np.pad(np.asarray(mesh.points, dtype=float), [(0, 0), (0, 3 - mesh.points.shape[1])])[None]
    cells = [(block.type, np.asarray(block.data)) for block in mesh.cells]
    fields = {name: np.asarray(values)[None] for name, values in mesh.point_data.items()}
    return _scene(np.zeros(1), _parts(path.stem, points, cells, fields), path)


def scene_of_series(path: Path) -> Scene:
    """Scene of a series for mesh viewers; raises ValueError for files that cannot be read or drawn."""
    if path.suffix == SUFFIX:
        times, grids, _ = read_vtkhdf(path)
        named = ((grid.name, grid.points, grid.cells, grid.point_data) for grid in grids)
        return _scene(times, [part for own in named for part in _parts(*own)], path)
    series = read_series(path)
    return _scene(series.times, _parts(path.stem, series.points, series.cells, series.point_data), path)


def _scene(times: Array, parts: list[Part], path: Path) -> Scene:
    if not parts:
        raise ValueError(f"{path} holds no cells that can be drawn")
    corners = np.array([[part.points[0].min(axis=0), part.points[0].max(axis=0)] for part in parts])
    extent = float(np.linalg.norm(corners[:, 1].max(axis=0) - corners[:, 0].min(axis=0)))
    flat = not np.ptp(corners[..., 2])
    return Scene(times, tuple(parts), SIGN * (extent or 1.0), 2 if flat else 3, title=path.stem)


def _parts(name: str, points: Array, cells: Cells, data: Mapping[str, Array]) -> list[Part]:
    """Parts of the cells of the highest dimension, one for each cell type.

    Points (k, p, 3), data (k, p, …) at points.
    """
    filled = [(kind, nodes) for kind, nodes in cells if len(nodes)]
    largest = max((dimension(kind) for kind, _ in filled), default=0)
    own = [(kind, nodes) for kind, nodes in filled if dimension(kind) == largest]
    if largest == 0:
        return []
    if largest == 1:
        return [_lines(name, points, np.vstack([nodes[:, :2] for _, nodes in own])[:LINES])]
    titles = [name if len(own) == 1 else f"{name}, {kind}" for kind, _ in own]
    return [_surface(title, points, kind, nodes, data) for title, (kind, nodes) in zip(titles, own, strict=True)]


def _surface(name: str, points: Array, kind: str, nodes: Array, data: Mapping[str, Array]) -> Part:
    """Part with the outer triangles of cells, and with the scalars and vectors at their points."""
    triangles = outer_triangles(nodes, kind)
    used, numbers = np.unique(triangles, return_inverse=True)
    fields = {title: _field(values[:, used]) for title, values in data.items() if _is_shown(values)}
    return Part(name, "body", points[:, used], numbers.reshape(-1, 3), point_fields=fields)


def _is_shown(values: Any) -> bool:
    return bool(values.dtype.kind in "fiu" and (values.ndim == 2 or (values.ndim == 3 and values.shape[2] <= 3)))


def _field(values: Array) -> Field:
    """Field without unit; a scalar is signed if it has positive and negative values."""
    own = np.asarray(values, dtype=float)
    return Field("1", own, signed=own.ndim == 2 and bool((own < 0.0).any() and (own > 0.0).any()))


def _lines(name: str, points: Array, cells: Array) -> Part:
    extent = float(np.linalg.norm(np.ptp(points[0], axis=0))) or 1.0
    bars = [tube(points[:, cell], 0.45 * SIGN * extent) for cell in cells]
    starts = np.cumsum([0, *(bar.points.shape[1] for bar in bars)])
    triangles = np.vstack([bar.triangles + start for bar, start in zip(bars, starts, strict=False)])
    return Part(name, "body", np.concatenate([bar.points for bar in bars], axis=1), triangles)
