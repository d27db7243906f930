"""Files of time series of meshes: PVD of VTU frames, XDMF with HDF5, written by meshio; with a reader for both."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import h5py
import meshio
import numpy as np
from meshio.xdmf import TimeSeriesReader, TimeSeriesWriter

from ..files.durable import refuse_suffix
from ..files.hdf5 import new_hdf5
from ..files.reading import reading
from ..files.vtkhdf import SUFFIX
from ..files.xml_texts import parsed
from ..meshes.files.reading import read as read_mesh
from ..meshes.guarded import refuse_outside, refuse_ways_out
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .named_series import read_named

SUFFIXES = (".vtkhdf", ".pvd", ".xdmf")
TENSOR6 = [0, 3, 5, 1, 4, 2]
"""Components (xx, yy, zz, xy, yz, xz) of VTK in the order of XDMF's Tensor6: xx, xy, xz, yy, yz, zz."""
Frame = tuple[float, meshio.Mesh]
Cells = tuple[tuple[str, Array], ...]
Data = Mapping[str, Array]


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """A time series read from a file: k times, p points and c cells.

    ``times`` (k,) [s]; ``points`` (k, p, 3) [m], moved to their places; ``cells`` by type, (c_type, nodes) each;
    ``point_data`` by name, (k, p, …), and ``cell_data`` by name, (k, c, …), with the cells of all types in order.
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
        """Mesh at an instant with all its data, for :func:`fem.solid` or meshio."""
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
    """XDMF writer of meshio with a given HDF5 file; meshio's own file goes to the working directory."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        super().__init__(path)
        self.h5_filename, self.h5_file = str(path.with_suffix(".h5")), file


def write_xdmf(path: Path, frames: Iterator[Frame]) -> list[Path]:
    """Write XDMF with arrays in one HDF5 file: the mesh of the first frame once, the frames as data.

    meshio reads no mixed cells of degree 2 from XDMF: with several cell types each has a file, NAME_TYPE.xdmf.
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
    """Cells of one type as one block, with the points that they use."""
    pick = [b for b, block in enumerate(mesh.cells) if block.type == kind]
    used, numbers = np.unique(np.vstack([mesh.cells[b].data for b in pick]), return_inverse=True)
    return meshio.Mesh(
        mesh.points[used],
        [(kind, numbers.reshape(-1, mesh.cells[pick[0]].data.shape[1]))],
        point_data={name: values[used] for name, values in mesh.point_data.items()},
        cell_data={name: [np.concatenate([values[b] for b in pick])] for name, values in mesh.cell_data.items()},
    )


def _ordered(values: Array, order: list[int]) -> Array:
    """Tensors with their six components in another order; other arrays unchanged."""
    return values[:, order] if values.ndim == 2 and values.shape[1] == 6 else values


@checked
def read_series(path: str | Path) -> Series:
    """Read a series that :func:`flexph.export.write_series` wrote, or another file of the same structure.

    Stress tensors have the components (xx, yy, zz, xy, yz, xz). Points of XDMF files are moved by the data
    ``displacement``, if present. Raises ValueError with the name of the file if it is damaged or empty, has several
    parts at a time, or its cells change; FileNotFoundError if it is missing.
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
    refuse_ways_out(file)
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
    """Series of the frames, checked for ascending times and equal cells."""
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
