"""Cell types by their meshio names, and checks of the node indices of cells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from ..numerics.checks import listed

TYPE = re.compile(r"(vertex|line|triangle|quad|tetra|hexahedron|wedge|pyramid)(\d*)")
"""Pattern of meshio cell types of any order, such as ``tetra`` or ``tetra10``."""
DIMENSION = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "tetra": 3, "hexahedron": 3, "wedge": 3, "pyramid": 3}


def dimension(kind: str) -> int:
    """Dimension of the cells of a meshio type; raises ValueError for an unknown type."""
    match = TYPE.fullmatch(kind)
    if match is None:
        raise ValueError(f"mesh must have cells of type {', '.join(DIMENSION)} only, got {kind!r}")
    return DIMENSION[match[1]]


def refuse_unknown(cells: Iterable[tuple[str, Any]], known: Iterable[str] = (), *, dim: int | None = None) -> None:
    """Raise ValueError, with type and count, if some of the cells (type, nodes) have a type unknown to meshio.

    With ``dim``, cells of that dimension must also have one of the types ``known``. Cells are numbered from 0.
    """
    names, words, first = tuple(known), list[str](), 0
    for kind, nodes in cells:
        match = TYPE.fullmatch(kind)
        strange = match is None or (dim is not None and DIMENSION[match[1]] == dim and kind not in names)
        if strange and len(nodes):
            name = f"cells of type {kind!r}" if match is None else kind
            words.append(f"{name} ({len(nodes)}, the first is cell {first} of the mesh)")
        first += len(nodes)
    if words:
        raise ValueError(f"mesh must have cells of type {', '.join(names or DIMENSION)}, got {', '.join(words)}")


def nodes_of(kind: str, data: Any, points: int) -> Array:
    """Node indices (k, nodes) of the cells of one type; raises ValueError for indices out of range."""
    cells = np.asarray(data)
    wrong = (cells < 0) | (cells >= points)
    if wrong.any():
        raise ValueError(
            f"cells of type {kind!r} must refer to the {points} points of the mesh, got {cells[wrong][0]} in cells "
            f"{listed(np.flatnonzero(wrong.any(axis=1)))}"
        )
    return cells.astype(np.int64)
