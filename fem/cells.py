"""Cells of solid meshes: their nodes, faces, shape functions and quadrature, as data.

Nodes are those of meshio (and VTK), each the mean of some corners; shape functions and quadrature are scikit-fem's,
brought to that order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from skfem import element as elements
from skfem.quadrature import get_quadrature

from flexph.space import Array

Corners = tuple[int, ...]
REFERENCE: dict[str, Array] = {
    "line": np.array([[0.0], [1.0]]),
    "triangle": np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    "quad": np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
    "tetra": np.vstack([np.zeros(3), np.eye(3)]),
    "hexahedron": np.array(
        [[i, j, k] for k in (0.0, 1.0) for i, j in ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))]
    ),
}
"""Corners of the reference cells."""
EDGES: dict[str, tuple[Corners, ...]] = {
    "line": ((0, 1),),
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "tetra": ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)),
    "hexahedron": (
        *((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)),
        *((0, 4), (1, 5), (2, 6), (3, 7)),
    ),
}
FACETS: dict[str, tuple[Corners, ...]] = {
    "triangle": EDGES["triangle"],
    "quad": EDGES["quad"],
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    "hexahedron": ((0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (2, 3, 7, 6), (0, 3, 2, 1), (4, 5, 6, 7)),
}
"""Corners of the facets, counterclockwise seen from outside."""
FACET_SHAPE = {2: "line", 3: "triangle", 4: "quad"}
DRAWN: dict[str, tuple[Corners, ...]] = {
    "triangle": ((0, 1, 2),),
    "quad": ((0, 1, 2), (0, 2, 3)),
    "tetra": ((0, 1, 2, 3),),
    "hexahedron": ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)),
}
"""Simplices that draw a cell where a mesh mixes types."""


def _nodes(shape: str, *beyond: tuple[Corners, ...]) -> tuple[Corners, ...]:
    return (*((i,) for i in range(len(REFERENCE[shape]))), *(n for group in beyond for n in group))


@dataclass(frozen=True)
class Cell:
    """A kind of cell: its shape, its degree, its nodes (means of corners), scikit-fem's element.

    ``stress`` and ``mass`` are orders of quadrature: stresses live at the points of the first. On simplices these are
    as many as a discontinuous polynomial of one degree less has values, so that stress and strain are in one space; on
    quadrilaterals and hexahedra the points of the full rule, with which the pair is algebraically the displacement
    element.
    """

    name: str
    shape: str
    degree: int
    nodes: tuple[Corners, ...]
    element: Any
    stress: int
    mass: int

    @property
    def dim(self) -> int:
        """Dimension of the cell."""
        return REFERENCE[self.shape].shape[1]

    @property
    def corners(self) -> int:
        """Number of corners."""
        return len(REFERENCE[self.shape])

    @cached_property
    def positions(self) -> Array:
        """Nodes of the reference cell, (nodes, dim)."""
        return np.array([REFERENCE[self.shape][list(n)].mean(axis=0) for n in self.nodes])

    @cached_property
    def _order(self) -> list[int]:
        """scikit-fem's number of each node."""
        theirs = np.array(self.element().doflocs)
        apart = np.abs(self.positions[:, None] - theirs[None]).max(axis=2)
        found: list[int] = apart.argmin(axis=1).tolist()
        assert np.all(apart.min(axis=1) < 1e-12) and len(set(found)) == len(theirs)
        return found

    def shapes(self, points: Array) -> tuple[Array, Array]:
        """Shape functions (nodes, q) and their gradients (nodes, dim, q) at reference points (dim, q)."""
        element = self.element()
        found = [element.lbasis(points, i) for i in self._order]
        ones = np.ones(points.shape[1])
        return np.array([v * ones for v, _ in found]), np.array([np.asarray(g) * ones for _, g in found])

    def quadrature(self, order: int) -> tuple[Array, Array]:
        """Points (dim, q) and weights (q,) on the reference cell."""
        points, weights = get_quadrature(self.element(), order)
        return points, weights

    @cached_property
    def mirrored(self) -> list[int]:
        """The node at the mirror image of each node (first two axes exchanged): turns a cell inside out."""
        swapped = self.positions.copy()
        swapped[:, [0, 1]] = swapped[:, [1, 0]]
        found: list[int] = np.abs(swapped[:, None] - self.positions[None]).max(axis=2).argmin(axis=1).tolist()
        return found

    def facet(self, number: int) -> tuple[Cell, list[int]]:
        """The kind of a facet, and its nodes among those of the cell."""
        corners = FACETS[self.shape][number]
        shape = FACET_SHAPE[len(corners)]
        sets = [frozenset(n) for n in self.nodes]
        kind = next(
            c
            for c in CELLS.values()
            if c.shape == shape
            and c.degree == self.degree
            and all(frozenset(corners[i] for i in n) in sets for n in c.nodes)
            and len(c.nodes) == sum(s <= set(corners) for s in sets)
        )
        return kind, [sets.index(frozenset(corners[i] for i in n)) for n in kind.nodes]


_QUADS = ((0, 1, 2, 3),)
_SIDES = tuple(tuple(sorted(f)) for f in FACETS["hexahedron"])
CELLS = {
    c.name: c
    for c in (
        Cell("line", "line", 1, _nodes("line"), elements.ElementLineP1, 0, 2),
        Cell("line3", "line", 2, _nodes("line", EDGES["line"]), elements.ElementLineP2, 2, 4),
        Cell("triangle", "triangle", 1, _nodes("triangle"), elements.ElementTriP1, 0, 2),
        Cell("triangle6", "triangle", 2, _nodes("triangle", EDGES["triangle"]), elements.ElementTriP2, 2, 4),
        Cell("quad", "quad", 1, _nodes("quad"), elements.ElementQuad1, 2, 2),
        Cell("quad8", "quad", 2, _nodes("quad", EDGES["quad"]), elements.ElementQuadS2, 4, 4),
        Cell("quad9", "quad", 2, _nodes("quad", EDGES["quad"], _QUADS), elements.ElementQuad2, 4, 4),
        Cell("tetra", "tetra", 1, _nodes("tetra"), elements.ElementTetP1, 1, 2),
        Cell("tetra10", "tetra", 2, _nodes("tetra", EDGES["tetra"]), elements.ElementTetP2, 2, 4),
        Cell("hexahedron", "hexahedron", 1, _nodes("hexahedron"), elements.ElementHex1, 2, 2),
        Cell("hexahedron20", "hexahedron", 2, _nodes("hexahedron", EDGES["hexahedron"]), elements.ElementHexS2, 4, 4),
        Cell(
            "hexahedron27",
            "hexahedron",
            2,
            _nodes("hexahedron", EDGES["hexahedron"], _SIDES, (tuple(range(8)),)),
            elements.ElementHex2,
            4,
            4,
        ),
    )
}
ELEVATED = {"triangle": "triangle6", "quad": "quad9", "tetra": "tetra10", "hexahedron": "hexahedron27"}
"""The cells of degree 2 that a mesh of degree 1 is refined to."""


@lru_cache(maxsize=64)
def table(name: str, order: int) -> tuple[Array, Array, Array]:
    """Shape functions (nodes, q), gradients (nodes, dim, q) and weights (q,) of a kind of cell at a quadrature rule.

    ``order`` 0 is one point.
    """
    cell = CELLS[name]
    if order == 0:
        points = REFERENCE[cell.shape].mean(axis=0)[:, None]
        weights = np.array(
            [{"line": 1.0, "triangle": 0.5, "quad": 1.0, "tetra": 1.0 / 6.0, "hexahedron": 1.0}[cell.shape]]
        )
    else:
        points, weights = cell.quadrature(order)
    return (*cell.shapes(points), weights)


@lru_cache(maxsize=64)
def corner_slopes(name: str) -> Array:
    """Gradients of the shape functions at the corners of a kind of cell, (nodes, dim, corners)."""
    return CELLS[name].shapes(REFERENCE[CELLS[name].shape].T)[1]
