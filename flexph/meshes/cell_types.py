"""Cell types by their meshio names: dimension, checks of node indices, corners, edges, facets and nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
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
    """Raise ValueError if some of the cells (type, nodes) have a type that meshio does not have.

    With ``dim``, the types of all cells of this dimension must also be among ``known``. The error has each refused
    type, the number of cells of this type, and the index in the mesh of the first one, from 0.
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
    """Node indices ``data`` (k, nodes) of the cells of one type, checked to be those of a mesh with ``points`` points.

    Raises ValueError for other indices.
    """
    cells = np.asarray(data)
    wrong = (cells < 0) | (cells >= points)
    if wrong.any():
        raise ValueError(
            f"cells of type {kind!r} must refer to the {points} points of the mesh, got {cells[wrong][0]} in cells "
            f"{listed(np.flatnonzero(wrong.any(axis=1)))}"
        )
    return cells.astype(np.int64)


Corners = tuple[int, ...]
REFERENCE: dict[str, Array] = {
    "line": np.array([[0.0], [1.0]]),
    "triangle": np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    "quad": np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
    "tetra": np.vstack([np.zeros(3), np.eye(3)]),
    "hexahedron": np.array(
        [[i, j, k] for k in (0.0, 1.0) for i, j in ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))]
    ),
    "wedge": np.array([[i, j, k] for k in (0.0, 1.0) for i, j in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))]),
    "pyramid": np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 1.0]]),
}
"""Coordinates of the corners of the reference cells."""
EDGES: dict[str, tuple[Corners, ...]] = {
    "line": ((0, 1),),
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "tetra": ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)),
    "hexahedron": (
        *((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)),
        *((0, 4), (1, 5), (2, 6), (3, 7)),
    ),
    "wedge": ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
    "pyramid": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)),
}
FACETS: dict[str, tuple[Corners, ...]] = {
    "triangle": EDGES["triangle"],
    "quad": EDGES["quad"],
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    "hexahedron": ((0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (2, 3, 7, 6), (0, 3, 2, 1), (4, 5, 6, 7)),
    "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "pyramid": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
}
"""Corners of the facets of each cell shape, counterclockwise seen from outside."""
FACET_SHAPE = {2: "line", 3: "triangle", 4: "quad"}


def _nodes(shape: str, *beyond: tuple[Corners, ...]) -> tuple[Corners, ...]:
    count = 1 + max(i for edge in EDGES[shape] for i in edge)
    return (*((i,) for i in range(count)), *(n for group in beyond for n in group))


_QUADS = ((0, 1, 2, 3),)
_SIDES = tuple(tuple(sorted(f)) for f in FACETS["hexahedron"])
NODES: dict[str, tuple[Corners, ...]] = {
    **{shape: _nodes(shape) for shape in EDGES},
    "line3": _nodes("line", EDGES["line"]),
    "triangle6": _nodes("triangle", EDGES["triangle"]),
    "quad8": _nodes("quad", EDGES["quad"]),
    "quad9": _nodes("quad", EDGES["quad"], _QUADS),
    "tetra10": _nodes("tetra", EDGES["tetra"]),
    "wedge15": _nodes("wedge", EDGES["wedge"]),
    "pyramid13": _nodes("pyramid", EDGES["pyramid"]),
    "hexahedron20": _nodes("hexahedron", EDGES["hexahedron"]),
    "hexahedron27": _nodes("hexahedron", EDGES["hexahedron"], _SIDES, (tuple(range(8)),)),
}
"""Nodes of each cell type, each given by the corners of which it is the mean."""
SHAPE = {name: name.rstrip("0123456789") for name in NODES}
"""Shape of each cell type: the cell type of degree 1 with the same corners."""


@lru_cache(maxsize=256)
def facet_nodes(kind: str, number: int) -> tuple[str, list[int]]:
    """Cell type of facet ``number`` of a cell of type ``kind``, and its nodes as indices into the nodes of the cell."""
    corners = FACETS[SHAPE[kind]][number]
    places = {frozenset(node): i for i, node in enumerate(NODES[kind])}
    count = sum(node <= set(corners) for node in places)
    shape = FACET_SHAPE[len(corners)]
    facet = next(name for name, nodes in NODES.items() if SHAPE[name] == shape and len(nodes) == count)
    return facet, [places[frozenset(corners[i] for i in node)] for node in NODES[facet]]
