"""Series in one VTKHDF file with bodies, joints and the ground by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import meshio
import numpy as np

from ..files.vtkhdf import Block, Frames, read_vtkhdf, write_vtkhdf
from ..numerics.arrays import Array
from ..results.solution import Solution
from ..scenes.files import block_of
from ..scenes.of_motion import scene_at
from .frames import Points, Viewed, frames_of

BODIES, SURFACES = "bodies", "surfaces"
THIN = ("line", "vertex")
"""Cell types of bodies that are also drawn as surfaces."""
TOGETHER = 1 << 14
"""Number of points whose values are collected before they are written."""


def write_named(path: Path, solution: Solution, shown: Sequence[Viewed], pick: Array, points: Points) -> list[Path]:
    """Write bodies with their data, surfaces of bodies that are lines or points, joints and the ground.

    Return the path.
    """
    scene = scene_at(solution, pick)
    thin = {name for _, name, _, view in shown if view.cell_type in THIN}
    drawn = [
        block_of(part, SURFACES if part.kind == "body" else None)
        for part in scene.parts
        if part.kind != "body" or part.name in thin
    ]
    bodies = (_block(one, frames_of(solution, [one], pick, points)) for one in shown)
    write_vtkhdf(path, scene.times, chain(bodies, drawn), {"series": [name for _, name, *_ in shown]})
    return [path]


def _block(shown: Viewed, frames: Iterator[tuple[float, meshio.Mesh]]) -> Block:
    """VTKHDF block of a body from its meshes at all times."""
    first = next(frames)
    cells = tuple((block.type, block.data) for block in first[1].cells)
    return Block(shown[1], BODIES, cells, _frames(chain([first], frames)))


def _frames(frames: Iterator[tuple[float, meshio.Mesh]]) -> Iterator[Frames]:
    """Yield groups of frames: those of small meshes are written together, as each write has a fixed cost."""
    for _, first in frames:
        meshes = [first, *(mesh for _, mesh in islice(frames, max(1, TOGETHER // len(first.points)) - 1))]
        points = np.stack([mesh.points for mesh in meshes])
        data = {name: np.stack([mesh.point_data[name] for mesh in meshes]) for name in first.point_data}
        inside = {name: np.stack([np.concatenate(mesh.cell_data[name]) for mesh in meshes]) for name in first.cell_data}
        yield Frames(points, data, inside)


class NamedSeries(NamedTuple):
    """Joined data of all bodies in a file, in the form of :class:`flexph.export.Series`."""

    times: Array
    points: Array
    cells: tuple[tuple[str, Array], ...]
    point_data: Mapping[str, Array]
    cell_data: Mapping[str, Array]


def read_named(path: Path) -> NamedSeries:
    """Bodies of a file from :func:`write_named`; missing data of a body are NaN."""
    times, grids, _ = read_vtkhdf(path)
    bodies = [grid for grid in grids if grid.group == BODIES]
    if not bodies:
        raise ValueError("it holds no body")
    starts = np.cumsum([0, *(grid.points.shape[1] for grid in bodies)])
    runs = [(kind, nodes + start) for grid, start in zip(bodies, starts, strict=False) for kind, nodes in grid.cells]
    k = len(times)
    points = np.concatenate([np.broadcast_to(grid.points, (k, *grid.points.shape[1:])) for grid in bodies], axis=1)
    at_points = _joined(k, [(grid.points.shape[1], grid.point_data) for grid in bodies])
    in_cells = _joined(k, [(sum(len(nodes) for _, nodes in grid.cells), grid.cell_data) for grid in bodies])
    return NamedSeries(times, points, tuple(runs), at_points, in_cells)


def _joined(k: int, own: Sequence[tuple[int, Mapping[str, Array]]]) -> dict[str, Array]:
    """Data (k, n, …) of several bodies by name, joined along n, with NaN for a body without them."""
    widths = {name: values.shape[2:] for _, data in own for name, values in data.items()}
    return {
        name: np.concatenate([data.get(name, np.full((k, n, *width), np.nan)) for n, data in own], axis=1)
        for name, width in widths.items()
    }
