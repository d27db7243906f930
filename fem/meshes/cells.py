"""Cells of solid meshes as data: nodes, faces, shape functions, quadrature, and polynomials through points.

Nodes follow :mod:`flexph.meshes.cell_types`; shape functions and quadrature are scikit-fem's, reordered to match, and
those of :mod:`fem.meshes.prisms`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from skfem import element as elements
from skfem.quadrature import get_quadrature

from flexph.meshes.cell_types import NODES, REFERENCE, SHAPE, Corners, facet_nodes
from flexph.numerics.arrays import Array
from flexph.numerics.memo import Memo, once

from .prisms import PLANE, PrismElement, Pyramid, Pyramid13, Wedge, Wedge15, squared


def through_points(kind: Cell, at: Array) -> Array:
    """Values (..., n) of the n Lagrange polynomials of a cell's stress points, at points ``at`` (..., d) in the cell.

    Each polynomial is 1 at one stress point and 0 at the others. They are constant or linear on simplices, of degree
    one or two in each coordinate on quadrilaterals, hexahedra and pyramids (there in ξ, η, z). On wedges they are of
    degree one or two in the plane of the triangle and along the height.
    """
    places = kind.quadrature(kind.stress)[0].T if kind.stress else np.zeros((1, kind.dim))
    monomials = _monomials(kind.shape, at, len(places)).reshape(-1, len(places))
    return np.linalg.solve(_monomials(kind.shape, places, len(places)).T, monomials.T).T.reshape(
        *at.shape[:-1], len(places)
    )


def _monomials(shape: str, x: Array, count: int) -> Array:
    """Values (..., count) of the ``count`` lowest monomials of a cell of the given shape, at points ``x`` (..., d)."""
    d = x.shape[-1]
    if shape == "wedge":
        degree = {6: 1, 18: 2}[count]
        both = itertools.product(PLANE[degree], range(degree + 1))
        return np.stack([np.prod(x ** np.array((*ij, k)), axis=-1) for ij, k in both], axis=-1)
    if shape == "pyramid":
        x = squared(x)
    if count in (1, d + 1):
        return np.concatenate([np.ones((*x.shape[:-1], 1)), x], axis=-1)[..., :count]
    powers = range(round(count ** (1.0 / d)))
    return np.stack([np.prod(x ** np.array(p), axis=-1) for p in itertools.product(powers, repeat=d)], axis=-1)


DRAWN: dict[str, tuple[Corners, ...]] = {
    "triangle": ((0, 1, 2),),
    "quad": ((0, 1, 2), (0, 2, 3)),
    "tetra": ((0, 1, 2, 3),),
    "hexahedron": ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)),
    "wedge": ((0, 1, 2, 5), (0, 1, 5, 4), (0, 4, 5, 3)),
    "pyramid": ((0, 1, 2, 4), (0, 2, 3, 4)),
}
"""Simplices, as corners of a cell, that are drawn in place of the cell if a mesh mixes types."""


@dataclass(frozen=True)
class Cell(Memo):
    """A kind of cell: its shape, its degree, its nodes as means of corners, and its element in scikit-fem.

    ``stress`` and ``mass`` are orders of quadrature; stresses are values at the points of the rule ``stress``. On
    simplices there are as many points as a polynomial of one degree less than the shape functions has coefficients, so
    that stresses and strains are in one space. Other cells have the points of the full rule: they are equivalent to
    displacement elements.
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
        """Dimension of the cell, 2 or 3 (1 for the facets of planar cells)."""
        return REFERENCE[self.shape].shape[1]

    @property
    def corners(self) -> int:
        """Number of corners."""
        return len(REFERENCE[self.shape])

    @once
    def positions(self) -> Array:
        """Positions of the nodes in the reference cell, (nodes, dim)."""
        return np.array([REFERENCE[self.shape][list(n)].mean(axis=0) for n in self.nodes])

    @once
    def _order(self) -> list[int]:
        """Indices of the nodes of this cell in the node order of scikit-fem, found by their positions."""
        theirs = np.array(self.element().doflocs)
        apart = np.abs(self.positions[:, None] - theirs[None]).max(axis=2)
        order: list[int] = apart.argmin(axis=1).tolist()
        assert np.all(apart.min(axis=1) < 1e-12) and len(set(order)) == len(theirs)
        return order

    def shapes(self, points: Array) -> tuple[Array, Array]:
        """Shape functions (nodes, q) and their gradients (nodes, dim, q) with respect to the reference coordinates.

        ``points`` (dim, q) are points of the reference cell.
        """
        element = self.element()
        functions = [element.lbasis(points, i) for i in self._order]
        ones = np.ones(points.shape[1])
        return np.array([v * ones for v, _ in functions]), np.array([np.asarray(g) * ones for _, g in functions])

    def quadrature(self, order: int) -> tuple[Array, Array]:
        """Points (dim, q) and weights (q,) of the quadrature rule ``order`` on the reference cell."""
        element = self.element()
        points, weights = element.rule(order) if isinstance(element, PrismElement) else get_quadrature(element, order)
        return points, weights

    @once
    def mirrored(self) -> list[int]:
        """Index of the mirror image of each node under exchange of the first two reference axes.

        Nodes reordered by it turn a cell inside out.
        """
        swapped = self.positions.copy()
        swapped[:, [0, 1]] = swapped[:, [1, 0]]
        return np.abs(swapped[:, None] - self.positions[None]).max(axis=2).argmin(axis=1).tolist()

    def facet(self, number: int) -> tuple[Cell, list[int]]:
        """Cell type of the facet ``number`` of this cell, and the indices of its nodes among those of the cell."""
        kind, local = facet_nodes(self.name, number)
        return CELLS[kind], local


CELLS = {
    name: Cell(name, SHAPE[name], degree, NODES[name], element, stress, mass)
    for name, degree, element, stress, mass in (
        ("line", 1, elements.ElementLineP1, 0, 2),
        ("line3", 2, elements.ElementLineP2, 2, 4),
        ("triangle", 1, elements.ElementTriP1, 0, 2),
        ("triangle6", 2, elements.ElementTriP2, 2, 4),
        ("quad", 1, elements.ElementQuad1, 2, 2),
        ("quad8", 2, elements.ElementQuadS2, 4, 4),
        ("quad9", 2, elements.ElementQuad2, 4, 4),
        ("tetra", 1, elements.ElementTetP1, 1, 2),
        ("tetra10", 2, elements.ElementTetP2, 2, 4),
        ("hexahedron", 1, elements.ElementHex1, 2, 2),
        ("hexahedron20", 2, elements.ElementHexS2, 4, 4),
        ("hexahedron27", 2, elements.ElementHex2, 4, 4),
        ("wedge", 1, Wedge, 2, 2),
        ("wedge15", 2, Wedge15, 4, 4),
        ("pyramid", 1, Pyramid, 2, 2),
        ("pyramid13", 2, Pyramid13, 4, 4),
    )
}
ELEVATED = {"triangle": "triangle6", "quad": "quad9", "tetra": "tetra10", "hexahedron": "hexahedron27"}
"""Cells of degree 2 that refine the cells of a mesh of degree 1."""
BESIDE_PRISMS = {"tetra": "tetra10", "hexahedron": "hexahedron20", "wedge": "wedge15", "pyramid": "pyramid13"}
"""Cells of degree 2 for meshes with wedges or pyramids, whose quadrilateral faces have no nodes in their middle."""


@lru_cache(maxsize=64)
def table(name: str, order: int) -> tuple[Array, Array, Array]:
    """Shape functions (nodes, q), gradients (nodes, dim, q) and weights (q,) at the points of a quadrature rule.

    Gradients and weights refer to the coordinates of the reference cell of the type ``name``. ``order`` 0 is the rule
    with one point.
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
    """Gradients of the shape functions at the corners of a reference cell in its coordinates, (nodes, dim, corners)."""
    return CELLS[name].shapes(REFERENCE[CELLS[name].shape].T)[1]
