"""Types of cells by their names in meshio, and the points that cells refer to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from ..numerics.checks import listed

TYPE = re.compile(r"(vertex|line|triangle|quad|tetra|hexahedron|wedge|pyramid)(\d*)")
"""A meshio cell type of any order, such as ``tetra`` or ``tetra10``."""
DIMENSION = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "tetra": 3, "hexahedron": 3, "wedge": 3, "pyramid": 3}


def dimension(kind: str) -> int:
    """Dimension of cells of a meshio type. Raises ValueError for an unknown one."""
    match = TYPE.fullmatch(kind)
    if match is None:
        raise ValueError(f"mesh must have cells of type {', '.join(DIMENSION)} only, got {kind!r}")
    return DIMENSION[match[1]]


def refuse_unknown(cells: Iterable[tuple[str, Any]], known: Iterable[str] = (), *, dim: int | None = None) -> None:
    """ValueError with type, count and place for cells (type, nodes) of other types than those of meshio.

    Of cells of dimension ``dim`` also for others than ``known``. Cells are counted through from 0.
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
    """Point numbers of the cells of one type, (k, nodes); ValueError for others than the points of the mesh."""
    cells = np.asarray(data)
    wrong = (cells < 0) | (cells >= points)
    if wrong.any():
        raise ValueError(
            f"cells of type {kind!r} must refer to the {points} points of the mesh, got {cells[wrong][0]} in cells "
            f"{listed(np.flatnonzero(wrong.any(axis=1)))}"
        )
    return cells.astype(np.int64)
