"""Errors for cell types of gmsh and VTK that meshio does not support: type, count and first cell."""

from __future__ import annotations

import re
from pathlib import Path

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
    found = sorted({int(number) for number in SKIPPED.findall(" ".join(printed.split()))})
    if not found:
        return
    match = VTK_TYPES.search(path.read_text(encoding="latin-1"))
    types = [int(word) for word in (match[1] or match[2]).split()] if match else []
    named = [f"VTK type {n}{f' ({VTK_NAMES[n]})' if n in VTK_NAMES else ''}{_place(types, n)}" for n in found]
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
    """Count and first cell of a type, in words; empty if the type is not in ``types``."""
    return f" ({types.count(number)}, the first is cell {types.index(number)})" if number in types else ""
