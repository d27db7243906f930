"""Time series for mesh viewers: PVD of VTU frames, XDMF with HDF5, and VTKHDF with bodies and joints by name."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import h5py
import meshio
import numpy as np
from meshio.xdmf import TimeSeriesReader, TimeSeriesWriter

from ..files.durable import publish, refuse_suffix, staging
from ..files.hdf5 import new_hdf5
from ..files.reading import parsed, reading
from ..files.vtkhdf import SUFFIX, Block, Frames, read_vtkhdf, write_vtkhdf
from ..meshes.files.reading import read as read_mesh
from ..meshes.safe_reading import refuse_outside, refuse_outside_data
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.solution import Solution
from ..scenes.files import block_of
from ..scenes.of_motion import scene_at
from .frames import Points, Viewed, frames_of, viewed

BODIES, SURFACES = "bodies", "surfaces"
THIN = ("line", "vertex")
"""Cell types of bodies that are also drawn as surfaces."""
TOGETHER = 1 << 14
"""Number of points whose values are collected before they are written."""


def write_named(path: Path, solution: Solution, shown: Sequence[Viewed], pick: Array, points: Points) -> list[Path]:
    """Write a VTKHDF file with named parts: bodies with their data, joints, and the ground.

    The saved times have the indices ``pick``. Bodies that are drawn as lines or points also have a part with their
    surface. The path is returned in a list.
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
    """VTKHDF block of a body ``shown`` from its meshes at all times."""
    first = next(frames)
    cells = tuple((block.type, block.data) for block in first[1].cells)
    return Block(shown[1], BODIES, cells, _frames(chain([first], frames)))


def _frames(frames: Iterator[tuple[float, meshio.Mesh]]) -> Iterator[Frames]:
    """Yield the meshes as frames.

    Consecutive small ones are stacked, because each write has a fixed cost.
    """
    for _, first in frames:
        meshes = [first, *(mesh for _, mesh in islice(frames, max(1, TOGETHER // len(first.points)) - 1))]
        points = np.stack([mesh.points for mesh in meshes])
        data = {name: np.stack([mesh.point_data[name] for mesh in meshes]) for name in first.point_data}
        inside = {name: np.stack([np.concatenate(mesh.cell_data[name]) for mesh in meshes]) for name in first.cell_data}
        yield Frames(points, data, inside)


class NamedSeries(NamedTuple):
    """Concatenated data of all bodies in a file, in the form of :class:`flexph.export.Series`."""

    times: Array
    points: Array
    cells: tuple[tuple[str, Array], ...]
    point_data: Mapping[str, Array]
    cell_data: Mapping[str, Array]


def read_named(path: Path) -> NamedSeries:
    """Concatenated data of the bodies in a file of :func:`write_named`.

    Missing data of a body are NaN.
    """
    times, grids, _ = read_vtkhdf(path)
    bodies = [grid for grid in grids if grid.group == BODIES]
    if not bodies:
        raise ValueError("it holds no body")
    starts = np.cumsum([0, *(grid.points.shape[1] for grid in bodies)])
    runs = [(kind, nodes + start) for grid, start in zip(bodies, starts, strict=False) for kind, nodes in grid.cells]
    k = len(times)
    points = np.concatenate([np.broadcast_to(grid.points, (k, *grid.points.shape[1:])) for grid in bodies], axis=1)
    at_points = _joined_blocks(k, [(grid.points.shape[1], grid.point_data) for grid in bodies])
    in_cells = _joined_blocks(k, [(sum(len(nodes) for _, nodes in grid.cells), grid.cell_data) for grid in bodies])
    return NamedSeries(times, points, tuple(runs), at_points, in_cells)


def _joined_blocks(k: int, own: Sequence[tuple[int, Mapping[str, Array]]]) -> dict[str, Array]:
    """Data (k, n, …) of several bodies at k times by name, joined along their points or cells.

    ``own``: number of points or cells, and data, of each body. A body without the data of a name has NaN.
    """
    widths = {name: values.shape[2:] for _, data in own for name, values in data.items()}
    return {
        name: np.concatenate([data.get(name, np.full((k, n, *width), np.nan)) for n, data in own], axis=1)
        for name, width in widths.items()
    }


SUFFIXES = (".vtkhdf", ".pvd", ".xdmf")
TENSOR6 = [0, 3, 5, 1, 4, 2]
"""Components (xx, yy, zz, xy, yz, xz) of VTK in the order of XDMF's Tensor6: xx, xy, xz, yy, yz, zz."""
Frame = tuple[float, meshio.Mesh]
Cells = tuple[tuple[str, Array], ...]
Data = Mapping[str, Array]


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """A time series read from a file: k times, p points and c cells.

    ``times`` (k,) [s]; ``points`` (k, p, 3) [m], displaced; ``cells`` by type, (c_type, nodes) each; ``point_data`` by
    name, (k, p, …), and ``cell_data`` by name, (k, c, …), with the cells of all types in order.
    """

    times: Array
    points: Array
    cells: Cells
    point_data: Data
    cell_data: Data

    def __repr__(self) -> str:
        held = ", ".join(f"{len(nodes)} {kind}" for kind, nodes in self.cells)
        return f"<Series of {len(self.times)} times, {self.points.shape[1]} points, {held}>"

    def mesh(self, instant: int = 0) -> meshio.Mesh:
        """Mesh with all data at the time of index ``instant``, for :func:`fem.solid` or meshio."""
        parts = np.cumsum([len(nodes) for _, nodes in self.cells])[:-1]
        return meshio.Mesh(
            self.points[instant],
            [(kind, nodes) for kind, nodes in self.cells],
            point_data={name: values[instant] for name, values in self.point_data.items()},
            cell_data={name: np.split(values[instant], parts) for name, values in self.cell_data.items()},
        )


def write_pvd(path: Path, frames: Iterable[Frame]) -> list[Path]:
    """Write a PVD index, and a VTU file for each frame in a folder of the same name."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    root = ET.Element("VTKFile", type="Collection", version="0.1")
    collection, written = ET.SubElement(root, "Collection"), []
    for k, (time, mesh) in enumerate(frames):
        written.append(folder / f"{folder.name}_{k:04d}.vtu")
        mesh.write(written[-1])
        name = written[-1].relative_to(path.parent).as_posix()
        ET.SubElement(collection, "DataSet", timestep=repr(time), part="0", file=name)
    ET.ElementTree(root).write(path, xml_declaration=True, encoding="utf-8")
    return [path, *written]


class _Writer(TimeSeriesWriter):
    """XDMF writer of meshio that puts its arrays in a given HDF5 file, not in one in the working directory."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        super().__init__(path)
        self.h5_filename, self.h5_file = str(path.with_suffix(".h5")), file


def write_xdmf(path: Path, frames: Iterator[Frame]) -> list[Path]:
    """Write XDMF with arrays in one HDF5 file: the mesh of the first frame, and the data of all frames.

    Several cell types are written to separate files NAME_TYPE.xdmf, because meshio cannot read mixed cells of degree 2.
    """
    first = next(frames)
    kinds = list(dict.fromkeys(block.type for block in first[1].cells))
    files = [path if len(kinds) == 1 else path.with_name(f"{path.stem}_{kind}.xdmf") for kind in kinds]
    with ExitStack() as stack:
        writers = [_Writer(file, stack.enter_context(new_hdf5(file.with_suffix(".h5"), libver=None))) for file in files]
        for time, mesh in chain([first], frames):
            for kind, writer in zip(kinds, writers, strict=True):
                _write_instant(writer, time, _of_type(mesh, kind))
        for writer in writers:
            writer.__exit__()
    return files


def _write_instant(writer: _Writer, time: float, mesh: meshio.Mesh) -> None:
    if not writer.has_mesh:
        writer.write_points_cells(mesh.points, mesh.cells)
    points = {name: _ordered(values, TENSOR6) for name, values in mesh.point_data.items()}
    cells = {name: [_ordered(values[0], TENSOR6)] for name, values in mesh.cell_data.items()}
    writer.write_data(time, points, cells)


def _of_type(mesh: meshio.Mesh, kind: str) -> meshio.Mesh:
    """Mesh with the cells of one type as one block, and the points that they use."""
    pick = [b for b, block in enumerate(mesh.cells) if block.type == kind]
    used, numbers = np.unique(np.vstack([mesh.cells[b].data for b in pick]), return_inverse=True)
    return meshio.Mesh(
        mesh.points[used],
        [(kind, numbers.reshape(-1, mesh.cells[pick[0]].data.shape[1]))],
        point_data={name: values[used] for name, values in mesh.point_data.items()},
        cell_data={name: [np.concatenate([values[b] for b in pick])] for name, values in mesh.cell_data.items()},
    )


def _ordered(values: Array, order: list[int]) -> Array:
    """Tensors (n, 6) with their components in another order; other arrays unchanged."""
    return values[:, order] if values.ndim == 2 and values.shape[1] == 6 else values


@checked
def read_series(path: str | Path) -> Series:
    """Read a time series from a file of :func:`flexph.export.write_series`, or another file of this structure.

    Stress tensors have the components (xx, yy, zz, xy, yz, xz). Points of XDMF files are displaced by the point data
    ``displacement``, if present. Raises ValueError with the name of the file if it is damaged or empty, has several
    parts at one time, or if cells change; FileNotFoundError if it is missing.
    """
    file = Path(path)
    refuse_suffix("a series", path, SUFFIXES)
    with reading("series", path):
        if file.suffix == SUFFIX:
            return Series(*read_named(file))
        return _joined(_read_pvd(file) if file.suffix == ".pvd" else _read_xdmf(file))


def _read_pvd(file: Path) -> list[Frame]:
    entries = list(parsed(file).iter("DataSet"))
    for entry in entries:
        refuse_outside(file.parent, entry.attrib["file"])
    return [(float(e.attrib["timestep"]), read_mesh(file.parent / e.attrib["file"])) for e in entries]


def _read_xdmf(file: Path) -> list[Frame]:
    frames = []
    refuse_outside_data(file)
    with TimeSeriesReader(file) as reader:
        points, cells = reader.read_points_cells()
        back = np.argsort(TENSOR6).tolist()
        for k in range(reader.num_steps):
            time, of_points, of_cells = reader.read_data(k)
            placed = points + of_points.get("displacement", 0.0)
            of_points = {name: _ordered(values, back) for name, values in of_points.items()}
            of_cells = {name: [_ordered(v, back) for v in values] for name, values in of_cells.items()}
            frames.append((time, meshio.Mesh(placed, cells, point_data=of_points, cell_data=of_cells)))
    return frames


def _joined(frames: list[Frame]) -> Series:
    """Series from frames, which must have ascending times and equal cells."""
    times = np.array([time for time, _ in frames])
    if not times.size or not np.all(np.diff(times) > 0.0) or not np.all(np.isfinite(times)):
        raise ValueError(f"it must hold instants that ascend, one part each, got {times.tolist()}")
    meshes = [mesh for _, mesh in frames]
    first = meshes[0]
    for time, mesh in frames:
        same = len(mesh.cells) == len(first.cells) and len(mesh.points) == len(first.points)
        if not same or not all(np.array_equal(a.data, b.data) for a, b in zip(mesh.cells, first.cells, strict=True)):
            raise ValueError(f"it must have the same cells at all times, got others at t = {time} s")
    return Series(
        times,
        np.array([mesh.points for mesh in meshes]),
        tuple((block.type, np.asarray(block.data)) for block in first.cells),
        {name: np.array([mesh.point_data[name] for mesh in meshes]) for name in first.point_data},
        {name: np.array([np.concatenate(mesh.cell_data[name]) for mesh in meshes]) for name in first.cell_data},
    )


@checked
def write_series(
    path: str | Path,
    solution: Solution,
    *,
    bodies: Sequence[str] = (),
    frames: int = 201,
    discontinuous: bool = False,
    smoothed: bool = False,
) -> list[Path]:
    """Write the motion of bodies (by default all with a view) as a time series; return the paths.

    The suffix of the path sets the format. ``.vtkhdf``: one VTKHDF file with bodies, surfaces of bodies that are lines
    or points, joints and the ground by name. ``.pvd``: an index of VTU frames with displaced points. ``.xdmf``: one
    file with an HDF5 file of arrays, with the points of the first frame (in ParaView *Warp By Vector* of
    ``displacement`` displaces them); several cell types have separate files NAME_TYPE.xdmf.

    Point data are ``displacement`` (from the first frame; for a single state of :func:`flexph.results.statics` the
    deformation) and ``velocity``; cell data are ``body`` and the stress quantities of the bodies (NaN for bodies
    without them). A stress tensor in body axes, such as ``stress`` of a solid, has its cell means (xx, yy, zz, xy, yz,
    xz) and ``_error``, the error indicator of :func:`flexph.bodies.stresses.stress_error`. Quantities that are
    nonlinear in the stresses are the largest values over the stress points of each cell:
    ``_peak_von_mises``, ``_largest_principal`` and ``_smallest_principal`` (of ``cauchy`` for solids of finite strain,
    of ``stress`` for beams and rods), ``von_mises_largest_in_cell`` for bodies of all kinds (for plates over both
    faces), and ``axial_size_largest_in_cell`` if shear stresses are unknown. At most ``frames`` of the saved times,
    equally spaced and including the last one, are written.

    ``discontinuous``: cells share no points, and point data are the unsmoothed tensors, the polynomial of each cell
    through the values at its stress points, with ``_principal`` and ``_von_mises``. ``smoothed``: point data
    ``_smoothed`` and ``_smoothed_von_mises`` of the smooth field of the error indicator; cells of different materials
    share no points. Cell data are written with both options. The files appear once all are written.
    """
    check.count("frames", frames, least=1)
    names = list(bodies) or [name for name, body in solution.mechanism.bodies.items() if body.view]
    if not names:
        raise ValueError("no body of this mechanism has a view to export")
    for name in names:
        if check.lookup("body", name, solution.mechanism.bodies).view is None:
            raise ValueError(f"body {name!r} has no view to export")
    file = Path(path)
    refuse_suffix("a series", path, SUFFIXES)
    pick = np.unique(np.linspace(0, len(solution.times) - 1, frames).round().astype(int))
    shown, points = viewed(solution.mechanism, names), Points(discontinuous, smoothed)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == SUFFIX:
        return write_named(file, solution, shown, pick, points)
    meshes = frames_of(solution, shown, pick, points)
    with staging(file.parent, shown=path) as folder:
        write = write_pvd if file.suffix == ".pvd" else write_xdmf
        written = [part.relative_to(folder) for part in write(folder / file.name, meshes)]
        publish(folder, file.parent, last=[name.as_posix() for name in written if name.suffix == file.suffix])
    return [file.parent / name for name in written]
