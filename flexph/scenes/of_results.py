"""Scenes of all that moves in the result of a case, and the files in a folder that hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.vtkhdf import SUFFIX
from ..results.nested import values_of
from ..results.solution import Solution
from .files import put_scene, write_scene
from .of_motion import motion_scene
from .scene import Scene

if TYPE_CHECKING:
    import h5py

NAME = "scene"
"""Name of the file of the first scene; of others it goes before their own."""
RUNS = 4
"""Runs of a result that have a scene."""
FEWEST, FRAMES, POINTS = 21, 101, 400_000
"""Instants of a scene at least and at most, and points in all of them that are not to be exceeded in between."""


def scenes_of(result: Any, own: Callable[[Any], Mapping[str, Scene]] | None = None) -> dict[str, Scene]:
    """The scenes that a function has of a result, or those of its runs, by name."""
    if own is not None:
        return dict(own(result))
    runs = {id(run): (name, run) for name, run in values_of(result, (Solution,))}  # each once
    return {name: motion_scene(run, frames=frames_of(run), forces=True) for name, run in list(runs.values())[:RUNS]}


def titled(scenes: Mapping[str, Scene], title: str) -> dict[str, Scene]:
    """The scenes with a title where they have none; those after the first are told by their own names, too."""
    names = {name: title if k == 0 else f"{title}, {name}" for k, name in enumerate(scenes)}
    return {name: replace(scene, title=scene.title or names[name]) for name, scene in scenes.items()}


def frames_of(run: Solution) -> int:
    """Instants of a scene of a run: fewer of bodies with many points."""
    views = [body.view for body in run.mechanism.bodies.values() if body.view is not None]
    points = sum(len(view.points) * (1 if view.sweep is None else view.sweep.corners) for view in views)
    return int(np.clip(POINTS // max(points, 1), FEWEST, FRAMES))


def keep_scene(run: Solution, file: h5py.File) -> None:
    """Keep the scene of a run in its file (entry-point group ``flexph.saved``); nothing where no body has a view."""
    if any(body.view is not None for body in run.mechanism.bodies.values()):
        put_scene(file, motion_scene(run, frames=frames_of(run), forces=True))


def write_scenes(folder: Path, scenes: Mapping[str, Scene]) -> list[Path]:
    """Write scenes into a folder: ``scene.vtkhdf``, and ``scene-NAME.vtkhdf`` of those that follow."""
    names = [NAME if k == 0 else f"{NAME}-{name.replace(' ', '-').replace('/', '-')}" for k, name in enumerate(scenes)]
    return [write_scene(folder / f"{name}{SUFFIX}", scene) for name, scene in zip(names, scenes.values(), strict=True)]


def scene_files(folder: Path) -> dict[str, Path]:
    """The files of scenes in a folder and those below it by name, the first of each folder first."""
    files = sorted(folder.rglob(f"{NAME}*{SUFFIX}"), key=lambda path: (path.parent, path.stem != NAME, path.stem))
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}
