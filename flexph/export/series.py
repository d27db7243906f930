"""Runs as time series for mesh viewers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..files.durable import publish, refuse_suffix, staging
from ..files.vtkhdf import SUFFIX
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..results.solution import Solution
from .frames import Points, frames_of, viewed
from .named_series import write_named
from .series_files import SUFFIXES, write_pvd, write_xdmf


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
    """Write the motion of bodies (all with a view if none are named) as a time series; returns the paths.

    By the suffix of the path: ``.vtkhdf``, one file of VTKHDF with bodies, surfaces of those that are lines or points,
    joints and the ground by name; ``.pvd``, an index of VTU frames whose points are where they are at that time;
    ``.xdmf``, one file with its arrays in HDF5 beside it, whose points are those of the first frame (ParaView moves
    them: *Warp By Vector* of ``displacement``), of bodies of several types of cells a file each, NAME_TYPE.xdmf.

    Point data ``displacement`` (from the first frame; of a single state, :func:`flexph.results.statics`, its
    deformation) and ``velocity``; cell data ``body`` and the stress quantities of the bodies (NaN where a body has
    none). Of a stress tensor, such as ``stress`` of a solid, in body axes: the means of the cells (xx, yy, zz, xy, yz,
    xz) and ``_error``, the error indicator of :func:`flexph.bodies.stress_fields.stress_error`. What is no linear
    function of stresses is taken at their points, the largest of each cell: ``_peak_von_mises``,
    ``_largest_principal`` and ``_smallest_principal``, of solids of finite strain those of ``cauchy``, of beams and
    rods of ``stress``; ``von_mises_largest_in_cell`` of bodies of all kinds, of plates over both faces, and
    ``axial_size_largest_in_cell`` where shear stresses are not known. At most ``frames`` instants, evenly spread over
    the saved ones, the last one included.

    ``discontinuous``: cells share no points, and point data hold the tensors as they are, the polynomial of each cell
    through the values at its own stress points, with ``_principal`` and ``_von_mises``. ``smoothed``: point data
    ``_smoothed`` and ``_smoothed_von_mises`` of the smooth field of the error indicator; cells of different materials
    share no points. Either keeps the cell data. The files appear when all are written.
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
