"""Files that can be shown, by suffix, and the selection from a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from ..files.durable import HDF5_SUFFIXES
from ..files.vtkhdf import SUFFIX, read_vtkhdf
from ..numerics import checks as check
from ..scenes.files import read_scene
from ..scenes.of_results import scene_files
from ..scenes.scene import Scene
from .meshes import scene_of_mesh, scene_of_series
from .stored_runs import scene_of_hdf5, stored_kind

MODELS, STUDIES = (".yaml", ".yml", ".json"), (".nc",)
SERIES = (".pvd", ".xdmf")
MESHES = (".msh", ".inp", ".bdf", ".fem", ".nas", ".vtu", ".vtk", ".med", ".stl", ".obj", ".ply", ".off", ".mesh")
"""Suffixes of meshes searched for in folders; a file of another suffix that meshio reads is shown, too."""
RUNS = ("solution", "reduced body")


def scene_of_file(path: Path, *, trust: bool = False) -> Scene:
    """Scene of a file, read according to its suffix.

    A model file is built and shown at its start; ``trust`` lets it call the Python functions that it names. For other
    files raises ValueError, which names the file and the kinds that can be shown.
    """
    suffix = path.suffix.lower()
    if suffix == SUFFIX:
        return read_scene(path) if "scene" in read_vtkhdf(path)[2] else scene_of_series(path)
    readers: dict[str, Callable[[Path], Scene]] = {}
    readers |= dict.fromkeys(HDF5_SUFFIXES, scene_of_hdf5)
    readers |= dict.fromkeys(SERIES, scene_of_series)
    readers |= dict.fromkeys(MODELS, partial(_scene_of_model, trust=trust))
    if suffix in (".html", ".png", ".gif", ".mp4", ".csv", ".txt"):
        raise ValueError(f"{path} is shown by other programs; give the run, or its folder")
    return readers.get(suffix, scene_of_mesh)(path)


def _scene_of_model(path: Path, *, trust: bool) -> Scene:
    """Scene of a model file's mechanism at its start."""
    from ..models.loading import load_model  # loads pydantic and pint
    from ..scenes.of_motion import pose_scene

    model = load_model(path, trust=trust)
    return pose_scene(model.mechanism, model.start())


def shown_files(folder: Path) -> dict[str, Path]:
    """Files of a folder and its subfolders that can be shown, by their paths in it without suffix.

    Scenes take precedence; without any, the files of the first kind that the folder has: runs and reduced bodies,
    series, studies, model files, meshes.
    """
    if scenes := scene_files(folder):
        return scenes
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    runs = [path for path in files if path.suffix in HDF5_SUFFIXES and _stored_kind(path) in RUNS]
    for own in (runs, *([p for p in files if p.suffix in kinds] for kinds in (SERIES, STUDIES, MODELS, MESHES))):
        if own:
            return {path.relative_to(folder).with_suffix("").as_posix(): path for path in own}
    return {}


def _stored_kind(path: Path) -> str:
    try:
        return stored_kind(path)
    except (OSError, ValueError):  # damaged, or of another program
        return ""


def chosen_file(folder: Path, name: str | None) -> tuple[Path, Mapping[str, Path]]:
    """File of a folder with this name or by default the first one, and all its files; ValueError if there is none."""
    files = shown_files(folder)
    if not files:
        raise ValueError(f"{folder} holds no motion, study, reduced body, mesh or model file to show")
    return (next(iter(files.values())) if name is None else check.lookup("scene", name, files)), files
