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
    """Write the motion of bodies (by default all with a view) as a time series; return the paths.

    The suffix of the path sets the format. ``.vtkhdf``: one VTKHDF file with bodies, surfaces of bodies that are
    lines or points, joints and the ground by name. ``.pvd``: an index of VTU frames, whose points have moved to their
    places. ``.xdmf``: one file with an HDF5 file of arrays, whose points are those of the first frame (in ParaView
    *Warp By Vector* of ``displacement`` moves them); bodies of several cell types have one file each, NAME_TYPE.xdmf.

    Point data are ``displacement`` (from the first frame; for a single state of :func:`flexph.results.statics` the
    deformation) and ``velocity``; cell data are ``body`` and the stress quantities of the bodies (NaN for bodies
    without them). A stress tensor in body axes, such as ``stress`` of a solid, has its cell means (xx, yy, zz, xy, yz,
    xz) and ``_error``, the error indicator of :func:`flexph.bodies.stresses.stress_error`. Quantities that are
    nonlinear in the stresses are evaluated at the stress points, and the largest of each cell is written:
    ``_peak_von_mises``, ``_largest_principal`` and ``_smallest_principal`` (of ``cauchy`` for solids of finite strain,
    of ``stress`` for beams and rods), ``von_mises_largest_in_cell`` for bodies of all kinds (for plates over both
    faces), and ``axial_size_largest_in_cell`` if shear stresses are not known. At most ``frames`` of the saved times
    are written, evenly spread and with the last one.

    ``discontinuous``: cells share no points, and point data hold the unsmoothed tensors, the polynomial of each
    cell through the values at its stress points, with ``_principal`` and ``_von_mises``. ``smoothed``: point data
    ``_smoothed`` and ``_smoothed_von_mises`` of the smooth field of the error indicator; cells of different materials
    share no points. Either keeps the cell data. The files appear once all are written.
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
