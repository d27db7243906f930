"""Moving meshes in a VTKHDF file: a collection of unstructured grids over time, readable by ParaView."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from numpy.typing import NDArray

from .hdf5 import LINKED, open_contained, write_hdf5
from .reading import reading

SUFFIX, ROOT, OWN = ".vtkhdf", "VTKHDF", "flexph"
"""Suffix of the files, name of the root group, and attribute for data that the VTKHDF format does not cover."""
VERSION = (2, 3)
CELLS = {
    **{"vertex": 1, "line": 3, "triangle": 5, "quad": 9, "tetra": 10, "hexahedron": 12, "wedge": 13, "pyramid": 14},
    **{"line3": 21, "triangle6": 22, "quad8": 23, "tetra10": 24, "hexahedron20": 25, "wedge15": 26, "pyramid13": 27},
    **{"quad9": 28, "hexahedron27": 29, "wedge18": 32},
}
"""VTK numbers of the cell types of meshio; the node orders agree except for the wedge (see WEDGE)."""
WEDGE = [0, 2, 1, 3, 5, 4]
DATA = ("PointData", "CellData")
Values = NDArray[Any]


class Frames(NamedTuple):
    """Points (m, p, 3) of a mesh at m times, with data of points (m, p, …) and of its c cells (m, c, …) by name."""

    points: Values
    point_data: Mapping[str, Values]
    cell_data: Mapping[str, Values]


@dataclass(frozen=True, eq=False)
class Block:
    """Mesh that is written to a file: its name, name of its group, and ``frames``, points and data at the times.

    There is one frame for each time, or a single one if nothing moves. ``cells``: pairs of cell type and nodes (c, n);
    ``about``: further data in JSON types.
    """

    name: str
    group: str
    cells: tuple[tuple[str, Values], ...]
    frames: Iterable[Frames]
    about: Mapping[str, Any] = field(default_factory=dict)


def write_vtkhdf(path: str | Path, times: Values, blocks: Iterable[Block], about: Mapping[str, Any]) -> None:
    """Write meshes at the times (k,) to a new file, one frame at a time, completely or not at all.

    ``about``: further data in JSON types.
    """
    write_hdf5(path, lambda file: put_vtkhdf(file, times, blocks, about))


def put_vtkhdf(file: h5py.File, times: Values, blocks: Iterable[Block], about: Mapping[str, Any]) -> None:
    """Write meshes as in :func:`write_vtkhdf` to an open file, which may have other groups."""
    root = _group(file, ROOT, "PartitionedDataSetCollection")
    root.attrs[OWN] = json.dumps(dict(about))
    assembly, used = root.create_group("Assembly", track_order=True), {"Assembly"}
    for number, block in enumerate(blocks):
        name = _own_name(block.name, used)
        grid = _group(root, name, "UnstructuredGrid")
        grid.attrs["Index"] = number
        grid.attrs[OWN] = json.dumps({"name": block.name, "group": block.group, **block.about})
        _write_block(grid, times, block)
        branch = _own_name(block.group, set())
        node = assembly[branch] if branch in assembly else assembly.create_group(branch, track_order=True)
        node[name] = h5py.SoftLink(f"/{ROOT}/{name}")


def _own_name(name: str, used: set[str]) -> str:
    """Valid name of a node in VTK's tree that is not in ``used``; also add it to ``used``."""
    plain = re.sub(r"[^0-9A-Za-z_.-]+", "_", name).strip("_.-")
    plain = unique = plain if plain[:1].isalpha() else f"part_{plain}"
    for k in range(2, len(used) + 2):
        unique = unique if unique not in used else f"{plain}_{k}"
    used.add(unique)
    return unique


def _group(parent: h5py.Group, name: str, kind: str) -> h5py.Group:
    group = parent.create_group(name, track_order=True)
    group.attrs["Version"] = VERSION
    group.attrs.create("Type", kind.encode("ascii"), dtype=h5py.string_dtype("ascii", len(kind)))
    return group


def _write_block(grid: h5py.Group, times: Values, block: Block) -> None:
    """Write the cells once, then the points and data of each frame."""
    cells = [nodes[:, WEDGE] if kind == "wedge" else nodes for kind, nodes in block.cells]
    sizes = np.concatenate([np.full(len(nodes), nodes.shape[1]) for nodes in cells])
    kinds = [np.full(len(nodes), CELLS[kind], dtype=np.uint8) for kind, nodes in block.cells]
    flat = np.concatenate([nodes.ravel() for nodes in cells])
    _put(grid, "Connectivity", flat.astype(np.int64))
    _put(grid, "Offsets", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
    _put(grid, "Types", np.concatenate(kinds))
    for name in DATA:
        grid.create_group(name, track_order=True)  # ParaView shows the first data by default
    frames = iter(block.frames)
    first = next(frames)
    numbers = {"Points": first.points.shape[1], "Cells": len(sizes), "ConnectivityIds": len(flat)}
    for name, number in numbers.items():
        grid.create_dataset(f"NumberOf{name}", data=np.array([number]))
    count = 0
    for frame in chain([first], frames):
        for name, values in _tables(frame).items():
            _append(grid, name, values)
        count += len(frame.points)
    if count not in (1, len(times)):
        raise ValueError(f"block {block.name!r} must have 1 or {len(times)} frames, got {count}")
    _write_steps(grid, times, first, moves=count > 1)


def _tables(frames: Frames) -> dict[str, Values]:
    """Points and data of frames by the names of their HDF5 datasets."""
    data = {f"{kind}/{name}": v for kind, arrays in zip(DATA, frames[1:], strict=True) for name, v in arrays.items()}
    return {"Points": frames.points, **data}


def _append(grid: h5py.Group, name: str, values: Values) -> None:
    """Append values (m, n, …) of m frames to a dataset, compressed, with one chunk for each frame."""
    m, n, *width = values.shape
    if name not in grid:
        packing: dict[str, Any] = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
        shape = {"shape": (0, *width), "maxshape": (None, *width), "chunks": (max(n, 1), *width)}
        grid.create_dataset(name, **shape, dtype=values.dtype, fletcher32=True, **packing)
    table = grid[name]
    table.resize(len(table) + m * n, axis=0)
    table[len(table) - m * n :] = values.reshape(m * n, *width)


def _write_steps(grid: h5py.Group, times: Values, frames: Frames, *, moves: bool) -> None:
    """Write, for each time, the index in each dataset at which its values begin; all zero unless the mesh ``moves``."""
    steps, k = grid.create_group("Steps"), len(times)
    steps.attrs["NSteps"] = k
    none, number = np.zeros(k, dtype=np.int64), np.arange(k, dtype=np.int64) * moves
    steps["Values"] = np.asarray(times, dtype=float)
    steps["NumberOfParts"] = np.ones(k, dtype=np.int64)
    for name in ("PartOffsets", "CellOffsets", "ConnectivityIdOffsets"):
        steps[name] = none
    for name in DATA:
        steps.create_group(f"{name}Offsets")  # groups that HDF5 creates implicitly hold a time stamp
    for name, values in _tables(frames).items():
        kind, _, array = name.partition("/")
        steps["PointOffsets" if name == "Points" else f"{kind}Offsets/{array}"] = number * values.shape[1]


def _put(grid: h5py.Group, name: str, values: Values) -> None:
    grid.create_dataset(name, data=values, chunks=(max(len(values), 1),), fletcher32=True)


@dataclass(frozen=True, eq=False)
class Grid:
    """Mesh read from a file, at its k times or at one if it does not move.

    It has cells by type, points (k or 1, p, 3), and data of points (k or 1, p, …) and cells (k or 1, c, …) by name.
    """

    name: str
    group: str
    cells: tuple[tuple[str, Values], ...]
    points: Values
    point_data: Mapping[str, Values]
    cell_data: Mapping[str, Values]
    about: Mapping[str, Any]


def read_vtkhdf(path: str | Path) -> tuple[Values, list[Grid], dict[str, Any]]:
    """Times, meshes and the further data ``about`` of a file written by :func:`write_vtkhdf`.

    Raises ValueError, naming the file, if it is damaged, of another program or with links to other files; OSError if it
    is missing.
    """
    with reading("motion", path), open_contained(path, linked=LINKED) as file:
        if ROOT not in file or OWN not in file[ROOT].attrs:
            raise ValueError("it must be a motion written by flexph")
        root = file[ROOT]
        blocks = sorted((b for name, b in root.items() if name != "Assembly"), key=lambda b: int(b.attrs["Index"]))
        times = np.asarray(blocks[0]["Steps/Values"]) if blocks else np.zeros(0)
        return times, [_read_block(block) for block in blocks], json.loads(root.attrs[OWN])


def _read_block(grid: h5py.Group) -> Grid:
    about = json.loads(grid.attrs[OWN])
    p, c = int(grid["NumberOfPoints"][0]), int(grid["NumberOfCells"][0])
    data = [
        {name: np.asarray(values).reshape(-1, count, *values.shape[1:]) for name, values in grid.get(kind, {}).items()}
        for kind, count in zip(DATA, (p, c), strict=True)
    ]
    points = np.asarray(grid["Points"]).reshape(-1, p, 3)
    return Grid(about.pop("name"), about.pop("group"), _read_cells(grid), points, data[0], data[1], about)


def _read_cells(grid: h5py.Group) -> tuple[tuple[str, Values], ...]:
    """Cells by type; consecutive cells of one type form one entry."""
    kinds, ends, nodes = (np.asarray(grid[name]) for name in ("Types", "Offsets", "Connectivity"))
    names = {number: name for name, number in CELLS.items()}
    starts = np.flatnonzero(np.diff(kinds.astype(int), prepend=-1))
    cells = []
    for first, last in zip(starts, [*starts[1:], len(kinds)], strict=True):
        rows, name = nodes[ends[first] : ends[last]].reshape(last - first, -1), names[int(kinds[first])]
        cells.append((name, rows[:, np.argsort(WEDGE)] if name == "wedge" else rows))
    return tuple(cells)
