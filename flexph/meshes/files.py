"""Mesh files of other programs: read by meshio, or, of Abaqus, by :mod:`flexph.meshes.abaqus_mesh`."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import Any, TypeAlias

import meshio
import numpy as np

from ..files.reading import refuse_missing
from ..numerics.arrays import Array
from ..numerics.checks import listed
from .abaqus_mesh import abaqus_contents, is_abaqus
from .contents import MeshContents
from .guarded import guarded_mesh

Source: TypeAlias = meshio.Mesh | str | os.PathLike[str]
TYPE = re.compile(r"(vertex|line|triangle|quad|tetra|hexahedron|wedge|pyramid)(\d*)")
"""A meshio cell type of any order, such as ``tetra`` or ``tetra10``."""
DIMENSION = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "tetra": 3, "hexahedron": 3, "wedge": 3, "pyramid": 3}


def read(mesh: Source) -> meshio.Mesh:
    """A mesh, or that of a file; ValueError, naming the path, for whatever stops the reader.

    OSError where there is no regular file.
    """
    return read_contents(mesh).mesh


def read_contents(mesh: Source) -> MeshContents:
    """A mesh with what its file says beside it; errors as of :func:`read`."""
    if isinstance(mesh, meshio.Mesh):
        return MeshContents(mesh)
    if not isinstance(mesh, str | os.PathLike):
        raise ValueError(f"mesh must be a meshio.Mesh or the path of a file, got {type(mesh).__name__}")
    refuse_missing("mesh", mesh)
    printed, warned = io.StringIO(), io.StringIO()
    try:
        path = Path(mesh)
        if path.suffix.lower() == ".inp" and is_abaqus(path):
            return abaqus_contents(path)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(warned):
            content = guarded_mesh(path)
        _refuse_infinite(content)
    except (Exception, SystemExit) as error:  # readers raise whatever they stumble over; meshio exits on some files
        exited = isinstance(error, SystemExit)
        said = printed.getvalue() + warned.getvalue() if exited else str(error) or type(error).__name__
        raise ValueError(f"mesh cannot be read from {os.fspath(mesh)!r}: {' '.join(said.split())}") from error
    sys.stderr.write(warned.getvalue())  # what it printed are failed attempts at formats that share an ending
    return MeshContents(content)


def _refuse_infinite(mesh: meshio.Mesh) -> None:
    wrong = ~np.isfinite(mesh.points)
    if wrong.any():
        raise ValueError(
            f"points must be finite, got {mesh.points[wrong][0]} at point {np.flatnonzero(wrong.any(axis=1))[0]}"
        )


def dimension(kind: str) -> int:
    """Dimension of cells of a meshio type. Raises ValueError for an unknown one."""
    match = TYPE.fullmatch(kind)
    if match is None:
        raise ValueError(f"mesh must have cells of type {', '.join(DIMENSION)} only, got {kind!r}")
    return DIMENSION[match[1]]


def nodes_of(kind: str, data: Any, points: int) -> Array:
    """Point numbers of the cells of one type, (k, nodes); ValueError for others than the points of the mesh."""
    cells = np.asarray(data)
    wrong = (cells < 0) | (cells >= points)
    if wrong.any():
        raise ValueError(
            f"cells of type {kind!r} must refer to the {points} points of the mesh, got {cells[wrong][0]} in cells "
            f"{listed(np.flatnonzero(wrong.any(axis=1)))}"
        )
    return cells.astype(np.int64)
