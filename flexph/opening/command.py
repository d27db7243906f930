"""Command ``flexph view``: shows a file or folder as a page, a film, a picture, or in a window."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import click

from ..console.options import log, print_lines
from ..export.surface import write_surface
from ..files.hdf5 import open_contained
from ..files.reading import reading
from ..plot.axes import save
from ..plot.studies import study, varied
from ..report.reports import write_study_page
from ..studies.command import summary
from ..studies.execution.subjects import needed_xarray
from ..studies.pictures import drawn
from ..view.gltf import write_glb
from ..view.html import write_html
from ..view.paper import Background
from ..view.pictures import write_film, write_picture
from ..view.window import show
from .kinds import STUDIES, chosen_file, scene_of_file


def open_study(path: Path) -> Any:
    """Open the dataset of a study; raises ValueError for other files, and for links to other files."""
    xarray = needed_xarray()
    with reading("a study", path):
        open_contained(path).close()
        results = xarray.load_dataset(path, engine="h5netcdf")
        if "function" not in results.attrs:
            raise ValueError("it must be a file of flexph.studies, it has no attribute 'function'")
        return results


def study_page(path: Path, target: Path) -> Path:
    """Write the page of a study with its pictures and a table of its values; return its path."""
    results = open_study(path)
    pictures = sorted((path.parent / "pictures").glob("*.png"))
    about = {"command": "", "lines": summary(results), "pictures": pictures}
    return write_study_page(target, f"study of {results.attrs['function']}", results, about)


def study_picture(path: Path, target: Path, value: str | None) -> Path:
    """Write a picture of a value of a study, by default the first number; return its path.

    Raises ValueError if no value can be drawn.
    """
    results = open_study(path)
    names = drawn(results)
    if value is None and not (names and 1 <= len(varied(results)) <= 2):
        raise ValueError(
            f"{path} must have a number over one or two parameters for a picture: give --html FILE for its table"
        )
    return save(study(results, value or names[0]), target)


WRITERS: Mapping[str, Callable[..., Path]] = {
    "html": write_html,
    "gif": write_film,
    "webp": write_film,
    "mp4": write_film,
    "png": write_picture,
    "glb": write_glb,
    "stl": write_surface,
}
"""Writer of each kind of file; the kind is also its suffix."""
HELP = {
    "html": "a page that turns and plays in a browser without a network",
    "gif": "a film",
    "webp": "a film, smaller than a GIF",
    "mp4": "a film (extra view)",
    "png": "a picture, of the time --at or else of the largest deformation",
    "glb": "glTF of the motion for slides and the web (extra gltf)",
    "stl": "the surface of the bodies at the time --at, or else the last",
}


def _files(function: Callable[..., None]) -> Callable[..., None]:
    for kind, description in reversed(HELP.items()):
        path = click.Path(dir_okay=False, path_type=Path)
        function = click.option(f"--{kind}", type=path, metavar="FILE", help=f"write {description}")(function)
    return function


@click.command("view")
@click.argument("where", metavar="FILE|DIR", type=click.Path(exists=True, path_type=Path))
@_files
@click.option("--scene", "name", metavar="NAME", help="which file of the folder, if not the first")
@click.option("--field", metavar="NAME", help="field in colour, or value of a study, if not the first")
@click.option("--scale", type=click.FloatRange(min=0.0), default=1.0, show_default=True, help="factor of deformations")
@click.option("--forces", is_flag=True, help="draw weights and forces of joints as arrows")
@click.option("--at", type=float, metavar="TIME", help="time of the picture or surface [s]")
@click.option("--account", is_flag=True, help="draw the energies of the run below films and pictures")
@click.option("--background", type=click.Choice(get_args(Background)), default="light", help="of films and pictures")
@click.option("--frames", type=click.IntRange(min=1), default=101, show_default=True, help="frames of films, at most")
@click.option("--trust", is_flag=True, help="of a model file: call the Python functions that it names")
def command(where: Path, name: str | None, at: float | None, frames: int, trust: bool, **given: Any) -> None:
    """Show a file, or the first file in a folder that can be shown.

    \b
    flexph view out --html page.html       a run in a browser
    flexph view run.h5 --gif film.gif      a run from solution.save("run.h5")
    flexph view my.yaml                    a model file at its start, in a window
    flexph view rod.step                   a drawing with the ports that it proposes

    Runs and scenes are animated, reduced bodies vibrate in their lowest modes; studies become a page or a picture. Time
    series, and meshes of other programs, can be shown, too. A window opens unless an output file is given; output files
    need no display.
    """
    targets = {kind: path for kind in WRITERS if (path := given.pop(kind)) is not None}
    for kind, path in targets.items():
        if path.suffix != f".{kind}":
            raise click.UsageError(f"--{kind} {path} must end in .{kind}")
    try:
        file = _chosen(where, name)
        if file.suffix in STUDIES:
            return _write_study(file, targets, given["field"])
        if not targets and not _has_display():
            kinds = " or ".join(f"--{kind}" for kind in WRITERS)
            raise click.UsageError(f"there is no display for a window: give {kinds}")
        scene = scene_of_file(file, trust=trust)
        drawn = {name: given.pop(name) for name in ("account", "background")}
        if not targets:
            _without_warnings()
            show(scene, **given)
        moving = given | {"frames": frames}
        options = {
            "html": moving,
            "glb": moving,
            "png": given | drawn | {"at": at},
            "stl": {"at": at, "scale": given["scale"]},
        }
        for kind, path in targets.items():
            print_lines([WRITERS[kind](path, scene, **options.get(kind, moving | drawn))])
    except (ValueError, ImportError) as error:
        raise click.ClickException(str(error)) from error


def _chosen(where: Path, name: str | None) -> Path:
    """Path of the file to show: ``where`` itself if it is a file, or a file of the folder ``where``.

    In a folder it is the file called ``name``, by default the first. Raises ValueError if there is none.
    """
    if where.is_file():
        return where
    path, files = chosen_file(where, name)
    if name is None and len(files) > 1:
        log.warning("there are %s: this is the first, see --scene", ", ".join(files))
    return path


def _write_study(file: Path, targets: Mapping[str, Path], value: str | None) -> None:
    """Write a study as a page, a picture, or both, as requested by ``targets``."""
    # loads xarray and matplotlib

    if not targets or {"gif", "webp", "mp4", "glb", "stl"} & targets.keys():
        raise click.UsageError(f"{file} is a study, which does not move: give --html FILE or --png FILE")
    for kind, path in targets.items():
        print_lines([study_page(file, path) if kind == "html" else study_picture(file, path, value)])


def _has_display() -> bool:
    """True if windows can be opened, on Linux by the environment variables of X and Wayland."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _without_warnings() -> None:
    """Limit messages of VTK to errors, because without a display it warns of each missing window system."""
    with suppress(ModuleNotFoundError):
        from vtkmodules.vtkCommonCore import vtkLogger

        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
