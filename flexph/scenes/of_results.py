"""Scenes of the runs in the result of a case, and their files in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..bodies.body import Body
from ..files.vtkhdf import SUFFIX
from ..mechanisms.model.model import Model
from ..results.solution import Solution
from .files import put_scene, write_scene
from .of_motion import motion_scene
from .scene import FRAMES, Scene

if TYPE_CHECKING:
    import h5py


DEPTH = 4
"""Largest depth of the search."""
Sought = TypeVar("Sought")


def values_of(
    value: Any, kinds: tuple[type[Sought], ...], name: str = "", depth: int = DEPTH
) -> Iterator[tuple[str, Sought]]:
    """Yield all values of given types in a result, with their paths.

    They are sought in fields of dataclasses, mappings and lists, down to a ``depth``.
    """
    if isinstance(value, kinds):
        yield name, value
        return
    entries: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        entries = value.items()
    elif isinstance(value, list | tuple):
        names = getattr(value, "_fields", range(1, len(value) + 1))  # field names of a named tuple
        entries = zip(names, value, strict=True)
    elif is_dataclass(value) and not isinstance(value, type | Model | Body):
        entries = ((f.name, getattr(value, f.name)) for f in fields(value))
    for key, entry in entries if depth else ():
        yield from values_of(entry, kinds, f"{name} {key}".strip(), depth - 1)


NAME = "scene"
"""File name of the first scene, and prefix of the names of the others."""
RUNS = 4
"""Largest number of runs of a result with a scene."""
FEWEST, POINTS = 21, 400_000
"""Smallest number of times of a scene, and the total number of points that reduces the number of times."""


def scenes_of(result: Any, own: Callable[[Any], Mapping[str, Scene]] | None = None) -> dict[str, Scene]:
    """Scenes of a result by name: those that ``own(result)`` returns, or by default one of each run in the result."""
    if own is not None:
        return dict(own(result))
    runs = {id(run): (name, run) for name, run in values_of(result, (Solution,))}  # each once
    return {name: run.once(run_scene) for name, run in list(runs.values())[:RUNS]}


def titled(scenes: Mapping[str, Scene], title: str) -> dict[str, Scene]:
    """Scenes with a title each: a missing title becomes ``title``, followed by the name except for the first scene.

    Existing titles are unchanged.
    """
    names = {name: title if k == 0 else f"{title}, {name}" for k, name in enumerate(scenes)}
    return {name: replace(scene, title=scene.title or names[name]) for name, scene in scenes.items()}


def frames_of(run: Solution) -> int:
    """Number of times to be shown in the scene of a run; the more points its bodies have, the smaller it is."""
    views = [body.view for body in run.mechanism.bodies.values() if body.view is not None]
    points = sum(len(view.points) * (1 if view.sweep is None else view.sweep.corners) for view in views)
    return int(np.clip(POINTS // max(points, 1), FEWEST, FRAMES))


def run_scene(run: Solution) -> Scene:
    """Scene of a run with forces; ``run.once(run_scene)`` computes it once for file, view and report."""
    return motion_scene(run, frames=frames_of(run), forces=True)


def keep_scene(run: Solution, file: h5py.File) -> None:
    """Write the scene of a run to the file of the run, if any body has a view (entry-point group ``flexph.saved``)."""
    if any(body.view is not None for body in run.mechanism.bodies.values()):
        put_scene(file, run.once(run_scene))


def write_scenes(folder: Path, scenes: Mapping[str, Scene]) -> list[Path]:
    """Write scenes into a folder, the first as ``scene.vtkhdf``, others as ``scene-NAME.vtkhdf``; return the paths."""
    names = [NAME if k == 0 else f"{NAME}-{name.replace(' ', '-').replace('/', '-')}" for k, name in enumerate(scenes)]
    return [write_scene(folder / f"{name}{SUFFIX}", scene) for name, scene in zip(names, scenes.values(), strict=True)]


def scene_files(folder: Path) -> dict[str, Path]:
    """Scene files in a folder and its subfolders, by their path in the folder without suffix.

    In each folder ``scene.vtkhdf`` comes first.
    """
    files = sorted(folder.rglob(f"{NAME}*{SUFFIX}"), key=lambda path: (path.parent, path.stem != NAME, path.stem))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}
