"""Scenes from files, by suffix (scenes, meshes, series, runs, reduced bodies), and search for files in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..bodies.body import Body
from ..bodies.reduced_file import load_reduced
from ..export.series import read_series
from ..files.durable import HDF5_SUFFIXES
from ..files.hdf5 import LINKED, open_contained
from ..files.reading import reading
from ..files.stored_fields import get_texts
from ..files.vtkhdf import SUFFIX, read_vtkhdf
from ..joints.rows.signs import tube
from ..linear.eigenmodes.modes import modes
from ..mechanisms.connected_bodies import connect
from ..meshes.cell_types import dimension
from ..meshes.drawings.drawing import KERNEL_FORMATS
from ..meshes.files.reading import read
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..scenes.files import read_scene
from ..scenes.of_modes import mode_scene
from ..scenes.of_motion import SIGN, pose_scene
from ..scenes.of_results import scene_files
from ..scenes.scene import Field, Part, Scene
from ..scenes.surfaces import outer_triangles
from .drawings import scene_of_drawing

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
        return _scene(times, [part for arguments in named for part in _parts(*arguments)], path)
    series = read_series(path)
    return _scene(series.times, _parts(path.stem, series.points, series.cells, series.point_data), path)


def _scene(times: Array, parts: list[Part], path: Path) -> Scene:
    if not parts:
        raise ValueError(f"{path} has no cells that can be drawn")
    corners = np.array([[part.points[0].min(axis=0), part.points[0].max(axis=0)] for part in parts])
    extent = float(np.linalg.norm(corners[:, 1].max(axis=0) - corners[:, 0].min(axis=0)))
    flat = not np.ptp(corners[..., 2])
    return Scene(times, tuple(parts), SIGN * (extent or 1.0), 2 if flat else 3, title=path.stem)


def _parts(name: str, points: Array, cells: Cells, data: Mapping[str, Array]) -> list[Part]:
    """Parts of the picture of a mesh: its cells of the highest dimension, one part for each cell type.

    ``points`` (k, p, 3) [m] at k times; ``data`` (k, p, …) at points by name.
    """
    filled = [(kind, nodes) for kind, nodes in cells if len(nodes)]
    largest = max((dimension(kind) for kind, _ in filled), default=0)
    of_dimension = [(kind, nodes) for kind, nodes in filled if dimension(kind) == largest]
    if largest == 0:
        return []
    if largest == 1:
        return [_lines(name, points, np.vstack([nodes[:, :2] for _, nodes in of_dimension])[:LINES])]
    titles = [name if len(of_dimension) == 1 else f"{name}, {kind}" for kind, _ in of_dimension]
    return [
        _surface(title, points, kind, nodes, data) for title, (kind, nodes) in zip(titles, of_dimension, strict=True)
    ]


def _surface(name: str, points: Array, kind: str, nodes: Array, data: Mapping[str, Array]) -> Part:
    """Part with the outer triangles of cells of the type ``kind``, and with scalars and vectors at their points.

    ``nodes``: point indices of the cells; ``data``: values at points by name.
    """
    triangles = outer_triangles(nodes, kind)
    used, numbers = np.unique(triangles, return_inverse=True)
    fields = {title: _field(values[:, used]) for title, values in data.items() if _is_shown(values)}
    return Part(name, "body", points[:, used], numbers.reshape(-1, 3), point_fields=fields)


def _is_shown(values: Any) -> bool:
    return bool(values.dtype.kind in "fiu" and (values.ndim == 2 or (values.ndim == 3 and values.shape[2] <= 3)))


def _field(values: Array) -> Field:
    """Field without unit.

    A scalar is signed if it has positive and negative values.
    """
    numbers = np.asarray(values, dtype=float)
    return Field("1", numbers, signed=numbers.ndim == 2 and bool((numbers < 0.0).any() and (numbers > 0.0).any()))


def _lines(name: str, points: Array, cells: Array) -> Part:
    extent = float(np.linalg.norm(np.ptp(points[0], axis=0))) or 1.0
    bars = [tube(points[:, cell], 0.45 * SIGN * extent) for cell in cells]
    starts = np.cumsum([0, *(bar.points.shape[1] for bar in bars)])
    triangles = np.vstack([bar.triangles + start for bar, start in zip(bars, starts, strict=False)])
    return Part(name, "body", np.concatenate([bar.points for bar in bars], axis=1), triangles)


VIBRATIONS = 6
"""Number of vibrations of a reduced body that are shown."""


def scene_of_hdf5(path: Path) -> Scene:
    """Scene of a saved run, or of the lowest free vibrations of a reduced body; raises ValueError for other files."""
    kind = stored_kind(path)
    if kind == "reduced body":
        return body_scene(load_reduced(path), path.stem)
    if kind == "solution":
        return _kept_scene(path)
    if kind:
        raise ValueError(
            f"{path} is a {kind} of a general system, which has no shapes: load it in Python, "
            "and draw it by flexph.plot.motion"
        )
    raise ValueError(f"{path} is neither a saved run nor a reduced body; of a series give its .xdmf")


def stored_kind(path: Path) -> str:
    """Kind named in an HDF5 file of this package, such as ``solution``; empty for other files."""
    with reading("HDF5", path), open_contained(path, linked=LINKED) as file:
        format_words = get_texts(file, "format") if "format" in file.attrs else [""]
    first, _, kind = format_words[0].partition(" ")
    return kind.rpartition(" ")[0] if first == "flexph" else ""


def _kept_scene(path: Path) -> Scene:
    try:
        return read_scene(path)
    except ValueError as error:
        raise ValueError(
            f"{path} has no scene that can be read: save the run again by solution.save(path), without scene=False "
            f"({error})"
        ) from error


def body_scene(body: Body, name: str) -> Scene:
    """Scene of a free body in its lowest vibrations, or of a rigid body at rest.

    Raises ValueError if the body was saved without its shape.
    """
    if body.view is None:
        raise ValueError(f"{name} was saved without its shape: save it with fields='shape'")
    mechanism = connect({name: body}, [])
    pose = mechanism.assemble({name: (0.0, 0.0, 0.0)})  # position and angle in the plane, position in space
    linear = mechanism.linearize(pose)
    count = min(VIBRATIONS, body.size)
    if not count:
        return pose_scene(mechanism, pose)
    return mode_scene(mechanism, pose, modes(replace(linear, R=0.0 * linear.R), count))


MODELS, STUDIES = (".yaml", ".yml", ".json"), (".nc",)
SERIES = (".pvd", ".xdmf")
MESHES = (
    *(".msh", ".inp", ".bdf", ".fem", ".nas", ".cdb", ".unv", ".vtu", ".vtk", ".med"),
    *(".stl", ".obj", ".ply", ".off", ".mesh"),
    *KERNEL_FORMATS,
)
"""Suffixes of meshes and drawings searched for in folders; a file of another suffix that meshio reads is shown, too."""
RUNS = ("solution", "reduced body")


def scene_of_file(path: Path, *, trust: bool = False) -> Scene:
    """Scene of a file, read according to its suffix.

    A model file is built and shown at its initial state; ``trust``: True to let it call Python functions. Raises
    ValueError, with the name of the file and the supported kinds, for any other file.
    """
    suffix = path.suffix.lower()
    if suffix == SUFFIX:
        return read_scene(path) if "scene" in read_vtkhdf(path)[2] else scene_of_series(path)
    readers: dict[str, Callable[[Path], Scene]] = {}
    readers |= dict.fromkeys(HDF5_SUFFIXES, scene_of_hdf5)
    readers |= dict.fromkeys(SERIES, scene_of_series)
    readers |= dict.fromkeys(KERNEL_FORMATS, scene_of_drawing)
    readers |= dict.fromkeys(MODELS, partial(_scene_of_model, trust=trust))
    if suffix in (".html", ".png", ".gif", ".mp4", ".csv", ".txt"):
        raise ValueError(f"path must be a file with a motion or a shape, got {path}: give the saved run, or its folder")
    return readers.get(suffix, scene_of_mesh)(path)


def _scene_of_model(path: Path, *, trust: bool) -> Scene:
    """Scene of the mechanism of a model file at its initial state."""
    from ..models.loading import load_model  # loads pydantic and pint
    from ..scenes.of_motion import pose_scene

    model = load_model(path, trust=trust)
    return pose_scene(model.mechanism, model.start())


def shown_files(folder: Path) -> dict[str, Path]:
    """Files of a folder and its subfolders that can be shown, by relative path without suffix.

    The result has the files of the first kind that occurs in the folder: scenes, runs and reduced bodies, series,
    studies, model files, meshes.
    """
    if scenes := scene_files(folder):
        return scenes
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    runs = [path for path in files if path.suffix in HDF5_SUFFIXES and _stored_kind(path) in RUNS]
    for group in (runs, *([p for p in files if p.suffix in kinds] for kinds in (SERIES, STUDIES, MODELS, MESHES))):
        if group:
            return {path.relative_to(folder).with_suffix("").as_posix(): path for path in group}
    return {}


def _stored_kind(path: Path) -> str:
    try:
        return stored_kind(path)
    except (OSError, ValueError):  # damaged, or of another program
        return ""


def chosen_file(folder: Path, name: str | None) -> tuple[Path, Mapping[str, Path]]:
    """File of a folder called ``name``, by default the first, and all files of the folder that can be shown.

    Raises ValueError if no file can be shown.
    """
    files = shown_files(folder)
    if not files:
        raise ValueError(f"{folder} has no motion, study, reduced body, mesh or model file to show")
    return (next(iter(files.values())) if name is None else check.lookup("scene", name, files)), files
