"""Reading of mesh files: Abaqus, Nastran, Ansys and universal files by own readers, others by meshio."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import meshio
import numpy as np

from ...files.reading import refuse_missing
from ..abaqus.deck import abaqus_contents
from ..ansys.deck import ansys_contents
from ..blocks import NO_CELL_BLOCK
from ..cell_types import refuse_unknown
from ..contents import MeshContents
from ..drawings.drawing import PLAIN, MeshRequest, drawing_contents, is_drawing
from ..nastran.deck import nastran_contents
from ..safe_reading import guarded_mesh
from ..selection import selected
from ..unit_systems import in_metres
from ..universal.deck import universal_contents

VTK_NAMES = {
    **{2: "poly-vertex", 4: "poly-line", 6: "triangle strip", 11: "voxel", 36: "cubic line", 41: "convex point set"},
    **{60: "higher order edge", 61: "higher order triangle", 62: "higher order quadrilateral"},
    **{64: "higher order tetrahedron", 65: "higher order wedge", 66: "higher order pyramid"},
    **{67: "higher order hexahedron"},
}
SKIPPED = re.compile(r"cells that meshio cannot handle \(type (\d+)\)")
"""Message of meshio for VTK cells that it skips."""
VTK_TYPES = re.compile(r'Name="types"[^>]*>([\d\s]+)<|CELL_TYPES\s+\d+\s+([\d\s]+)')
"""Pattern of the cell types in the text formats of VTK."""


def refuse_skipped(path: Path, printed: str) -> None:
    """Raise ValueError for cells of a file that meshio has skipped, according to its output ``printed``."""
    numbers = sorted({int(number) for number in SKIPPED.findall(" ".join(printed.split()))})
    if not numbers:
        return
    match = VTK_TYPES.search(path.read_text(encoding="latin-1"))
    types = [int(word) for word in (match[1] or match[2]).split()] if match else []
    named = [f"VTK type {n}{f' ({VTK_NAMES[n]})' if n in VTK_NAMES else ''}{_place(types, n)}" for n in numbers]
    raise ValueError(f"mesh must have cells of supported types, got cells of {', '.join(named)}")


def refuse_gmsh_type(path: Path, error: KeyError) -> None:
    """Raise ValueError for the cell type that caused ``error`` in the gmsh reader; return for any other error."""
    number = re.fullmatch(r"(?:np\.\w+\()?(\d+)\)?", repr(error.args[0]) if error.args else "")
    if number is None or path.suffix.lower() != ".msh":
        return
    text = path.read_text(encoding="latin-1").partition("$Elements")[2].partition("$EndElements")[0]
    rows = [words for words in (line.split() for line in text.splitlines()) if all(w.isdecimal() for w in words)]
    of_cells = [words for words in rows if len(words) > 4 and words[1] == number[1]]  # number, type, … (2.2)
    blocks = [k for k, words in enumerate(rows) if len(words) == 4 and words[2] == number[1]]  # …, type, how many (4.1)
    if of_cells:
        place = f" ({len(of_cells)}, the first is element {of_cells[0][0]})"
    elif blocks and blocks[0] + 1 < len(rows):
        place = f" ({sum(int(rows[k][3]) for k in blocks)}, the first is element {rows[blocks[0] + 1][0]})"
    else:
        place = ""
    raise ValueError(f"mesh must have cells of supported types, got cells of gmsh type {number[1]}{place}") from error


def _place(types: list[int], number: int) -> str:
    """Text on the cells of the gmsh type ``number``: how many there are, and the index of the first.

    ``types`` are the types of all cells; the text is empty if the type is not among them.
    """
    return f" ({types.count(number)}, the first is cell {types.index(number)})" if number in types else ""


Source: TypeAlias = meshio.Mesh | str | os.PathLike[str]
NASTRAN = (".bdf", ".fem", ".nas")


def read(mesh: Source) -> meshio.Mesh:
    """The mesh itself, or the mesh of a file.

    Raises ValueError, naming the path, for any error of the reader; OSError if the path is not a regular file.
    """
    return read_contents(mesh).mesh


def read_contents(mesh: Source, omit: Sequence[str] = (), request: MeshRequest = PLAIN) -> MeshContents:
    """Contents of a mesh file or of the mesh of a drawing, without the keywords, cards or element types in ``omit``.

    Raises ValueError, naming the path, for any error of the reader and for cells of unknown types; OSError if the path
    is not a regular file; ImportError for a drawing without gmsh.
    """
    if isinstance(mesh, meshio.Mesh):
        refuse_unknown((block.type, block.data) for block in mesh.cells)
        return _requested(MeshContents(mesh), request)
    if not isinstance(mesh, str | os.PathLike):
        raise ValueError(f"mesh must be a meshio.Mesh or the path of a file, got {type(mesh).__name__}")
    refuse_missing("mesh", mesh)
    printed, warned = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            contents = _contents(Path(mesh), omit, warned, request)
        refuse_unknown((block.type, block.data) for block in contents.mesh.cells)
        _refuse_infinite(contents.mesh)
    except ImportError:
        raise
    except (Exception, SystemExit) as error:  # readers raise errors of any type; meshio exits on some files
        exited = isinstance(error, SystemExit)
        reason = printed.getvalue() + warned.getvalue() if exited else str(error) or type(error).__name__
        raise ValueError(f"mesh cannot be read from {os.fspath(mesh)!r}: {' '.join(reason.split())}") from error
    sys.stderr.write(warned.getvalue())  # output of failed attempts with other formats of the same suffix is not shown
    return contents if is_drawing(Path(mesh), request) else _requested(contents, request)


def _requested(contents: MeshContents, request: MeshRequest) -> MeshContents:
    """Contents of a mesh file as requested: the selected part, at a temperature, with lengths in metres.

    Raises ValueError for options that only drawings have.
    """
    given = " and ".join(name for name in request.in_use() if name != "select")
    if given:
        raise ValueError(f"{given} must be left out for a mesh file, which has its cells: it is for drawings (STEP, …)")
    if request.select is not None:
        contents = selected(contents, request.select)
    materials = {name: material.at(request.temperature) for name, material in contents.materials.items()}
    contents = replace(contents, materials=materials)
    unit = contents.unit if request.unit is None else request.unit
    return contents if unit in (None, 1.0) else in_metres(contents, float(unit or 1.0))


def _contents(path: Path, omit: Collection[str], warned: io.StringIO, request: MeshRequest) -> MeshContents:
    """Contents of a file in the format of its suffix: a drawing, or a mesh file.

    ``warned`` receives the output of meshio.
    """
    suffix = path.suffix.lower()
    if is_drawing(path, request):
        return drawing_contents(path, request)
    return _mesh_contents(path, suffix, omit, warned)


def _mesh_contents(path: Path, suffix: str, omit: Collection[str], warned: io.StringIO) -> MeshContents:
    """Contents of a mesh file, read by the reader for its suffix; ``warned`` receives the output of meshio."""
    if suffix == ".inp":
        return abaqus_contents(path, omit)
    if suffix in NASTRAN:
        return nastran_contents(path, omit)
    if suffix == ".unv":
        return universal_contents(path, omit)
    if suffix == ".cdb":
        return ansys_contents(path, omit)
    try:
        with contextlib.redirect_stderr(warned):
            mesh = guarded_mesh(path)
    except KeyError as error:
        if error.args[:1] in [(kind,) for kind in NO_CELL_BLOCK]:
            raise ValueError(
                f"meshio does not read cells of type {error.args[0]}: give them as .inp, .bdf or .unv"
            ) from error
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
