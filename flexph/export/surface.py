"""Surface of deformed bodies at one time as a file of triangles, for CAD, printing and other meshers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import meshio
import numpy as np

from ..files.durable import refuse_suffix, staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..results.solution import Solution
from ..scenes.of_motion import scene_at
from ..scenes.scene import Scene
from ..scenes.surfaces import outer_triangles

SUFFIXES = (".stl", ".ply", ".obj", ".off", ".vtu")


@checked
def write_surface(
    path: str | Path, shown: Any, *, at: float | None = None, scale: float = 1.0, bodies: Sequence[str] = ()
) -> Path:
    """Write the surface of the deformed bodies at a time, without joints and forces; return its path.

    Coordinates are world coordinates [m]. The surface of beams and rods is that of their sections.

    Parameters
    ----------
    path : path
        Path of the file, with the suffix ``.stl``, ``.ply``, ``.obj``, ``.off`` or ``.vtu``.
    shown : Solution or Scene
        Run or scene.
    at : float, optional
        Time [s], rounded to the nearest saved time; by default the last.
    scale : float
        Factor of the deformations.
    bodies : sequence of str
        Names of the bodies; by default all that have a surface.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ValueError
        For a time outside of the run, unknown bodies, and a scene without bodies.

    Examples
    --------
    ``write_surface("bent.stl", solution, at=0.5)``
    """
    refuse_suffix("a surface", path, SUFFIXES)
    if not isinstance(shown, Solution | Scene):
        raise TypeError(f"shown must be a Solution or a Scene, got a {type(shown).__name__}")
    times = np.asarray(shown.times)
    time = float(times[-1]) if at is None else check.number("at", at)
    if not times[0] <= time <= times[-1]:
        raise ValueError(f"at must be a time of the run, from {times[0]:.6g} s to {times[-1]:.6g} s, got {time:.6g} s")
    row = np.array([np.abs(times - time).argmin()])
    scene = (scene_at(shown, row) if isinstance(shown, Solution) else shown.picked(row)).deformed(scale)
    parts = {part.name: part for part in scene.parts if part.kind == "body" and len(part.cells)}
    for name in bodies:
        check.lookup("body", name, parts, "bodies")
    chosen = [part for name, part in parts.items() if not bodies or name in bodies]
    if not chosen:
        raise ValueError("shown must contain a body with a surface, got none")
    starts = np.cumsum([0, *(part.points.shape[1] for part in chosen)])
    cells = [
        outer_triangles(part.cells, part.cell_type) if part.cell_type != "triangle" else part.cells for part in chosen
    ]
    triangles = np.concatenate([numbers + start for numbers, start in zip(cells, starts, strict=False)])
    points = np.concatenate([part.at(0) for part in chosen]).astype(float)
    mesh = meshio.Mesh(points, [("triangle", triangles.astype(np.int32))])  # meshio prints a warning of larger ones
    with staged(path) as part_file:
        mesh.write(part_file, **({"binary": True} if Path(path).suffix.lower() == ".stl" else {}))
    return Path(path)
