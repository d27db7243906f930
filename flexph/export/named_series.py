"""Series as one file of VTKHDF: bodies, joints and the ground by name; written, and read back."""

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
"""Cells of bodies that are drawn as surfaces, too."""
TOGETHER = 1 << 14
"""Points whose values are held to be written at once."""


def write_named(path: Path, solution: Solution, shown: Sequence[Viewed], pick: Array, points: Points) -> list[Path]:
    """Each body with all that is known of it, surfaces of those that are lines or points, joints, and the ground."""
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
    """A body by the meshes of its frames."""
    first = next(frames)
    cells = tuple((block.type, block.data) for block in first[1].cells)
    return Block(shown[1], BODIES, cells, _frames(chain([first], frames)))


def _frames(frames: Iterator[tuple[float, meshio.Mesh]]) -> Iterator[Frames]:
    """Frames of small meshes together: each write to the file has its price."""
    for _, first in frames:
        meshes = [first, *(mesh for _, mesh in islice(frames, max(1, TOGETHER // len(first.points)) - 1))]
        points = np.stack([mesh.points for mesh in meshes])
        data = {name: np.stack([mesh.point_data[name] for mesh in meshes]) for name in first.point_data}
        inside = {name: np.stack([np.concatenate(mesh.cell_data[name]) for mesh in meshes]) for name in first.cell_data}
        yield Frames(points, data, inside)


class NamedSeries(NamedTuple):
    """What a file holds of all its bodies, one after the other, as :class:`flexph.export.Series` has it."""

    times: Array
    points: Array
    cells: tuple[tuple[str, Array], ...]
    point_data: Mapping[str, Array]
    cell_data: Mapping[str, Array]


def read_named(path: Path) -> NamedSeries:
    """The bodies of a file that :func:`write_named` wrote; data of which a body has none are NaN."""
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
    """Data (k, n, …) of several bodies beside each other by name."""
    widths = {name: values.shape[2:] for _, data in own for name, values in data.items()}
    return {
        name: np.concatenate([data.get(name, np.full((k, n, *width), np.nan)) for n, data in own], axis=1)
        for name, width in widths.items()
    }
