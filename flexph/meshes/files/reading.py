"""Reading of mesh files: Abaqus and Nastran by readers of this package, all other formats by meshio."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import meshio
import numpy as np

from ...files.reading import refuse_missing
from ..abaqus.deck import abaqus_contents
from ..cell_types import refuse_unknown
from ..contents import MeshContents
from ..guarded import guarded_mesh
from ..nastran.deck import nastran_contents
from .strange_cells import refuse_gmsh_type, refuse_skipped

Source: TypeAlias = meshio.Mesh | str | os.PathLike[str]
NASTRAN = (".bdf", ".fem", ".nas")


def read(mesh: Source) -> meshio.Mesh:
    """The mesh itself, or the mesh of a file.

    Raises ValueError, naming the path, for any error of the reader; OSError if the path is not a regular file.
    """
    return read_contents(mesh).mesh


def read_contents(mesh: Source, omit: Sequence[str] = ()) -> MeshContents:
    """The contents of a mesh file, without the keywords, cards or element types in ``omit``.

    Raises ValueError, naming the path, for any error of the reader and for cells of unknown types; OSError if the path
    is not a regular file.
    """
    if isinstance(mesh, meshio.Mesh):
        refuse_unknown((block.type, block.data) for block in mesh.cells)
        return MeshContents(mesh)
    if not isinstance(mesh, str | os.PathLike):
        raise ValueError(f"mesh must be a meshio.Mesh or the path of a file, got {type(mesh).__name__}")
    refuse_missing("mesh", mesh)
    printed, warned = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            contents = _contents(Path(mesh), omit, warned)
        refuse_unknown((block.type, block.data) for block in contents.mesh.cells)
        _refuse_infinite(contents.mesh)
    except (Exception, SystemExit) as error:  # readers raise errors of any type; meshio exits on some files
        exited = isinstance(error, SystemExit)
        reason = printed.getvalue() + warned.getvalue() if exited else str(error) or type(error).__name__
        raise ValueError(f"mesh cannot be read from {os.fspath(mesh)!r}: {' '.join(reason.split())}") from error
    sys.stderr.write(warned.getvalue())  # `printed` is dropped: failed attempts at formats that share a suffix
    return contents


def _contents(path: Path, omit: Collection[str], warned: io.StringIO) -> MeshContents:
    """The contents of a file in the format of its suffix."""
    suffix = path.suffix.lower()
    if suffix == ".inp":
        return abaqus_contents(path, omit)
    if suffix in NASTRAN:
        return nastran_contents(path, omit)
    try:
        with contextlib.redirect_stderr(warned):
            mesh = guarded_mesh(path)
    except KeyError as error:
        refuse_gmsh_type(path, error)
        raise
    refuse_skipped(path, warned.getvalue())
    return MeshContents(mesh)


def _refuse_infinite(mesh: Any) -> None:
    wrong = ~np.isfinite(mesh.points)
    if wrong.any():
        raise ValueError(
            f"points must be finite, got {mesh.points[wrong][0]} at point {np.flatnonzero(wrong.any(axis=1))[0]}"
        )
