"""Command ``flexph view``: show a run as a page, a film or a picture, or in a window."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from ..console.verbosity import log, tell
from ..numerics import checks as check
from ..scenes.files import read_scene
from ..scenes.of_results import scene_files
from ..scenes.scene import Scene
from .html import write_html
from .pictures import show, write_film, write_picture

WRITERS: Mapping[str, Callable[..., Path]] = {
    "html": write_html,
    "gif": write_film,
    "mp4": write_film,
    "png": write_picture,
}
"""Writers by kind of file, which is also the suffix."""
HELP = {
    "html": "a page that turns and plays in a browser without a network",
    "gif": "a film",
    "mp4": "a film",
    "png": "a picture, of the time --at or else of the largest deformation",
}


def _files(function: Callable[..., None]) -> Callable[..., None]:
    for kind, told in reversed(HELP.items()):
        path = click.Path(dir_okay=False, path_type=Path)
        function = click.option(f"--{kind}", type=path, metavar="FILE", help=f"write {told}")(function)
    return function


@click.command("view")
@click.argument("where", metavar="DIR", type=click.Path(exists=True, path_type=Path))
@_files
@click.option("--scene", "name", metavar="NAME", help="which scene of the folder, if not the first")
@click.option("--field", metavar="NAME", help="field in colour, if not the first")
@click.option("--scale", type=click.FloatRange(min=0.0), default=1.0, show_default=True, help="factor of deformations")
@click.option("--forces", is_flag=True, help="draw weights and forces of joints as arrows")
@click.option("--at", type=float, metavar="TIME", help="time of the picture [s]")
@click.option("--frames", type=click.IntRange(min=1), default=101, show_default=True, help="frames of films, at most")
def command(where: Path, name: str | None, field: str | None, at: float | None, frames: int, **given: Any) -> None:
    """Show the motion of a run: its folder DIR, or one of its files *.vtkhdf.

    Without an output file a window opens; files need no display.
    """
    targets = {kind: given.pop(kind) for kind in WRITERS}
    for kind, path in targets.items():
        if path is not None and path.suffix != f".{kind}":
            raise click.UsageError(f"--{kind} {path} must end in .{kind}")
    options = {"field": field, **given}
    if not any(targets.values()) and not _has_display():
        raise click.UsageError("there is no display for a window: give --html, --gif, --mp4 or --png")
    try:
        scene = _scene(where, name)
        _without_warnings()
        if not any(targets.values()):
            show(scene, **options)
        for kind, path in targets.items():
            if path is not None:
                own = {"png": {"at": at}}.get(kind, {"frames": frames})
                tell([WRITERS[kind](path, scene, **options, **own)])
    except (ValueError, ModuleNotFoundError) as error:
        raise click.ClickException(str(error)) from error


def _scene(where: Path, name: str | None) -> Scene:
    """Scene of a file, or the named (by default the first) scene of a folder. Raises ValueError without one."""
    if where.is_file():
        if where.suffix != ".vtkhdf":
            raise ValueError(
                f"{where} is no scene: give scene.vtkhdf of 'flexph run', or its folder; what Solution.save wrote is "
                "shown in Python, by solution.show() or flexph.view.write_film(solution, FILE)"
            )
        return read_scene(where)
    files = scene_files(where)
    if not files:
        raise ValueError(f"{where} holds no motion: give the folder of 'flexph run CASE --out {where}' of a mechanism")
    if name is None and len(files) > 1:
        log.warning("there are %s: this is the first, see --scene", ", ".join(files))
    return read_scene(next(iter(files.values())) if name is None else check.lookup("scene", name, files))


def _has_display() -> bool:
    """True if windows can open; under X and Wayland the environment tells."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _without_warnings() -> None:
    """Limit VTK to error messages: without a display it warns of each rendering backend that fails."""
    with suppress(ModuleNotFoundError):
        from vtkmodules.vtkCommonCore import vtkLogger

        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
