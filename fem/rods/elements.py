"""Elements of rods: nodes at Lobatto points, strains at Gauss points."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss

from flexph.numerics.arrays import Array

NODES = {1: (-1.0, 1.0), 2: (-1.0, 0.0, 1.0), 3: (-1.0, -(5.0**-0.5), 5.0**-0.5, 1.0)}
WEIGHTS = {1: (1.0, 1.0), 2: (1 / 3, 4 / 3, 1 / 3), 3: (1 / 6, 5 / 6, 5 / 6, 1 / 6)}


class RodElement(NamedTuple):
    """Element of a rod of order p on −1 ≤ ξ ≤ 1: p + 1 nodes with their masses, and p Gauss points with their weights.

    Masses and weights have the sum 2. ``shape`` and ``slope`` (p, p + 1) are the nodal polynomials at the Gauss points
    and their derivatives with respect to ξ there; ``end_slope`` (2, p + 1) are the derivatives at both ends.
    """

    nodes: Array
    masses: Array
    points: Array
    weights: Array
    shape: Array
    slope: Array
    end_slope: Array


@lru_cache
def rod_element(order: int) -> RodElement:
    """Element of a rod with polynomials of the given order, 1, 2 or 3."""
    nodes, (points, weights) = np.array(NODES[order]), leggauss(order)
    shapes = [Polynomial.fromroots(np.delete(nodes, a)) for a in range(nodes.size)]
    shapes = [shape / shape(x) for shape, x in zip(shapes, nodes, strict=True)]
    values = np.array([shape(points) for shape in shapes]).T
    slopes, ends = (np.array([shape.deriv()(at) for shape in shapes]).T for at in (points, np.array([-1.0, 1.0])))
    return RodElement(nodes, np.array(WEIGHTS[order]), points, weights, values, slopes, ends)


class RodMesh(NamedTuple):
    """Mesh of a rod with E elements of order p along its length [m].

    ``borders`` (E + 1,) are the ends of the elements, ``nodes`` (N,) the positions of all nodes, and ``numbers`` (E, p
    + 1) the node numbers of each element.
    """

    element: RodElement
    borders: Array
    nodes: Array
    numbers: Array

    @property
    def lengths(self) -> Array:
        """Lengths of the elements, (E,) [m]."""
        return np.diff(self.borders)

    @property
    def points(self) -> Array:
        """Positions (E, p) [m] along the rod of the Gauss points, at which strains are evaluated."""
        return self.borders[:-1, None] + 0.5 * self.lengths[:, None] * (1.0 + self.element.points)

    @property
    def masses(self) -> Array:
        """Lengths (N,) [m] of rod whose mass is lumped at each node."""
        of_nodes = 0.5 * self.lengths[:, None] * self.element.masses
        return np.bincount(self.numbers.ravel(), weights=of_nodes.ravel())


def rod_mesh(length: float, elements: int, order: int, places: Array) -> RodMesh:
    """Mesh of a rod with elements of equal length, but with a border moved to each of the positions ``places``.

    ``places`` (k,) are in [m]. The nearest border moves; if a node is there already, none does. Raises ValueError if
    there are too few elements.
    """
    element, equal = rod_element(order), np.linspace(0.0, length, elements + 1)
    borders, fixed = equal.copy(), {0, elements}
    for place in np.unique(places):
        if np.isclose(_nodes(element, borders)[0], place, rtol=0.0, atol=1e-9 * length).any():
            continue
        free = [i for i in range(elements + 1) if i not in fixed]
        if not free:
            raise ValueError(
                f"elements must be more than {elements}: each port between the ends requires a separate node"
            )
        nearest = min(free, key=lambda i: abs(equal[i] - place))
        fixed.add(nearest)
        borders[nearest] = place
    if np.any(np.diff(borders) <= 1e-6 * length):
        raise ValueError(f"elements must be more than {elements}, or ports further apart: {sorted(places.tolist())}")
    return RodMesh(element, borders, *_nodes(element, borders))


def _nodes(element: RodElement, borders: Array) -> tuple[Array, Array]:
    order, count = element.nodes.size - 1, borders.size - 1
    inner = borders[:-1, None] + 0.5 * np.diff(borders)[:, None] * (1.0 + element.nodes[:-1])
    return np.append(inner.ravel(), borders[-1]), order * np.arange(count)[:, None] + np.arange(order + 1)
