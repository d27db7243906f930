"""Surfaces of rigid shapes (box, cylinder, sphere, any triangles), and sections swept along a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array

SEGMENTS = 24
"""Number of straight pieces of a drawn circle."""
LEVELS = 2
"""Number of subdivisions of the octahedron that draws a sphere."""


@dataclass(frozen=True, eq=False, repr=False)
class Shape:
    """Surface of points (p, 3) [m] and triangles (t, 3), with corners counterclockwise seen from outside.

    Parameters
    ----------
    points : array
        Points (p, 3) [m].
    triangles : array
        Triangles (t, 3), with corners counterclockwise seen from outside.

    Raises
    ------
    ValueError
        For points that are not finite, and triangles that refer to missing points.
    """

    points: Array
    triangles: Array

    def __post_init__(self) -> None:
        points, triangles = check.array("points", self.points, (None, 3)), np.array(self.triangles)
        if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
            raise ValueError(f"triangles must be whole numbers (t, 3), got shape {triangles.shape}")
        if triangles.size and not 0 <= triangles.min() <= triangles.max() < len(points):
            raise ValueError(f"triangles must refer to points from 0 to {len(points) - 1}")
        for name, value in (("points", points), ("triangles", triangles)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<Shape of {len(self.points)} points, {len(self.triangles)} triangles>"

    def moved(self, position: Sequence[float] | Array = (0.0, 0.0, 0.0), axes: Array | None = None) -> Shape:
        """Shape with its origin at a position (3,) [m] and its axes along the columns of a matrix (3, 3)."""
        turned = self.points if axes is None else self.points @ np.asarray(axes).T
        return Shape(turned + np.asarray(position, dtype=float), self.triangles)

    def scaled(self, factor: float | Array) -> Shape:
        """Shape scaled by a factor, one for all axes or one for each."""
        return Shape(self.points * factor, self.triangles)


@checked
def box_shape(size: Sequence[float], *, centre: Sequence[float] = (0.0, 0.0, 0.0)) -> Shape:
    """Box with edges (l_x, l_y, l_z) [m] along the axes.

    Parameters
    ----------
    size : array_like
        Edges [m].
    centre : array_like
        Position of the centre [m].

    Returns
    -------
    Shape
        Surface, for the argument ``shape`` of bodies.
    """
    edges = check.array("size", size, (3,))
    corners = np.array([[x, y, z] for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    faces = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    points = np.vstack([corners[list(face)] for face in faces])  # separate corners for each face keep the edges sharp
    triangles = np.vstack([4 * k + np.array([[0, 1, 2], [0, 2, 3]]) for k in range(6)])
    return Shape(0.5 * points * edges + check.array("centre", centre, (3,)), triangles)


@checked
def cylinder_shape(
    length: float,
    radius: float,
    *,
    inner_radius: float = 0.0,
    axis: Sequence[float] = (1.0, 0.0, 0.0),
    centre: Sequence[float] = (0.0, 0.0, 0.0),
) -> Shape:
    """Cylinder or tube along an axis.

    Parameters
    ----------
    length : float
        Length [m].
    radius : float
        Outer radius [m].
    inner_radius : float
        Inner radius [m]; zero for a full cylinder.
    axis : array_like
        Direction of the axis.
    centre : array_like
        Middle of the axis [m].

    Returns
    -------
    Shape
        Surface, for the argument ``shape`` of bodies.
    """
    points, triangles = _tube(length, radius, inner_radius)
    middle = points - [0.5 * length, 0.0, 0.0]
    return Shape(middle, triangles).moved(check.array("centre", centre, (3,)), axes_along(axis))


@checked
def sphere_shape(radius: float, *, centre: Sequence[float] = (0.0, 0.0, 0.0)) -> Shape:
    """Sphere as a surface of triangles.

    Parameters
    ----------
    radius : float
        Radius [m].
    centre : array_like
        Position of the centre [m].

    Returns
    -------
    Shape
        Surface, for the argument ``shape`` of bodies.
    """
    points, triangles = _octasphere(LEVELS)
    return Shape(check.positive("radius", radius, "m") * points + check.array("centre", centre, (3,)), triangles)


@checked
def merged_shapes(shapes: Sequence[Shape]) -> Shape:
    """Join the surfaces of several shapes to one shape.

    Parameters
    ----------
    shapes : sequence of Shape
        Shapes in common axes.

    Returns
    -------
    Shape
        Joined surface.
    """
    starts = np.cumsum([0, *(len(shape.points) for shape in shapes)])
    triangles = [shape.triangles + start for shape, start in zip(shapes, starts, strict=False)]
    return Shape(np.vstack([shape.points for shape in shapes]), np.vstack(triangles))


def axes_along(direction: Sequence[float] | Array) -> Array:
    """Rotation matrix (3, 3) whose first column points along a direction (2,) or (3,)."""
    x = np.zeros(3)
    x[: len(direction)] = direction
    x /= np.linalg.norm(x)
    nearest = np.eye(3)[np.argmin(np.abs(x))]
    z = np.cross(x, nearest)
    z /= np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def _tube(length: float, radius: float, inner: float) -> tuple[Array, Array]:
    """Points (p, 3) and triangles (t, 3) of a closed tube about the x axis; a solid cylinder for ``inner`` = 0."""
    angle = 2.0 * np.pi * np.arange(SEGMENTS) / SEGMENTS
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    ring = lambda x, r: np.column_stack([np.full(SEGMENTS, x), r * circle])  # noqa: E731
    profile = [(0.0, inner), (0.0, radius), (length, radius), (length, inner)]
    points = np.vstack([ring(x, r) for x, r in profile])
    first = np.arange(SEGMENTS)
    second, cells = (first + 1) % SEGMENTS, []
    for side in range(4 if inner else 3):
        a, b = SEGMENTS * side, SEGMENTS * ((side + 1) % 4)
        cells += [
            np.column_stack([first + a, second + b, first + b]),
            np.column_stack([first + a, second + a, second + b]),
        ]
    return _without_duplicates(points, np.vstack(cells))


def _octasphere(levels: int) -> tuple[Array, Array]:
    """Points and triangles of a unit sphere, from an octahedron whose triangles are split in four ``levels`` times."""
    points = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
    cells = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    for _ in range(levels):
        edges = np.sort(cells[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        unique, inverse = np.unique(edges, axis=0, return_inverse=True)
        middle = points[unique].sum(axis=1)
        ab, bc, ca = len(points) + inverse.reshape(-1, 3).T
        points = np.vstack([points, middle / np.linalg.norm(middle, axis=1)[:, None]])
        a, b, c = cells.T
        cells = np.vstack([np.column_stack(t) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return points, cells


def _without_duplicates(points: Array, cells: Array) -> tuple[Array, Array]:
    """Points without duplicates, and cells of these points without triangles with two equal corners."""
    unique, inverse = np.unique(points, axis=0, return_inverse=True)
    cells = inverse.reshape(-1)[cells]
    a, b, c = cells.T
    return unique, cells[(a != b) & (b != c) & (c != a)]


@dataclass(frozen=True, eq=False)
class SweptSection:
    """Cross section for pictures of a body whose view is a line along its x axis.

    Parameters
    ----------
    outline : array
        Corners (q, 2), (y, z) [m], of the section in order; z is out of the plane for planar bodies.
    rotation : matrix
        Sparse matrix ψ (p·s, n): to first order in the n flexible coordinates u, the sections at the p points of the
        line rotate by ψu; s is 1 in the plane and 3 in space.
    """

    outline: Array
    rotation: Any

    @property
    def corners(self) -> int:
        """Number of corners of the section."""
        return len(self.outline)

    def offsets(self, dim: int) -> tuple[Array, Array]:
        """Vectors (q, 3) from the line to the q corners of the section, and their derivatives (q, 3, s).

        The derivatives are with respect to the rotation of the section, an angle in the plane (s = 1), a vector in
        space (s = 3).
        """
        y, z = self.outline.T
        none = np.zeros_like(y)
        vectors = np.column_stack([none, y, z])
        if dim == 2:
            return vectors, np.column_stack([-y, none, none])[:, :, None]
        turns = np.array([[none, z, -y], [-z, none, none], [y, none, none]])
        return vectors, np.moveaxis(turns, 2, 0)

    def sides(self, rings: int) -> Array:
        """Quadrilaterals ((rings − 1) q, 4) of the surface between the sections at successive points of the line.

        ``rings`` is the number of points of the line; corners are numbered section by section, q in each.
        """
        q = self.corners
        start, k = q * np.arange(rings - 1)[:, None], np.arange(q)
        a, b = start + k, start + (k + 1) % q
        return np.stack([a, b, b + q, a + q], axis=-1).reshape(-1, 4)

    def caps(self, rings: int) -> Array:
        """Triangles (2 (q − 2), 3) that close the surface at both ends of the line, which has ``rings`` points."""
        k = np.arange(1, self.corners - 1)
        fan = np.column_stack([np.zeros_like(k), k, k + 1])
        return np.vstack([fan[:, ::-1], self.corners * (rings - 1) + fan])
