"""Drawing signs of surfaces in contact: boxes, capsules, meshes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..drawing.shapes import Shape, axes_along, box_shape, cylinder_shape, merged_shapes, sphere_shape
from ..joints.rows.signs import MovingSurface, PortPlacements, Sign
from ..joints.rows.vectors import Direction, PortName
from ..numerics.arrays import Array
from .signs import carried

THIN = 0.2
"""Drawn thickness of a surface that has none, relative to the size of signs."""


@dataclass(frozen=True, eq=False)
class Faces(Sign):
    """A surface of cells between points (n, d) in the section of a port; segments (c, 2) are drawn as strips."""

    port: PortName
    points: Array
    cells: Array

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the faces at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        points, cells = self.points, self.cells
        if cells.shape[1] == 2:
            points, cells = _strips(points, cells, size)
        return carried(Shape(points, cells), places, self.port)


def _strips(points: Array, cells: Array, size: float) -> tuple[Array, Array]:
    """Points and triangles of strips along segments of the plane, at heights from −size to size [m] above it."""
    flat = np.pad(points[:, :2], ((0, 0), (0, 1)))
    out = np.array([0.0, 0.0, size])
    one, other = cells.T
    n = len(points)
    triangles = np.concatenate([np.stack([one, other, other + n], axis=1), np.stack([one, other + n, one + n], axis=1)])
    return np.concatenate([flat - out, flat + out]), triangles


@dataclass(frozen=True)
class Block(Sign):
    """A box with its axes along the columns of a matrix, in the section of a port."""

    port: PortName
    size: tuple[float, ...]
    axes: tuple[Direction, ...]

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the box at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        lengths = [max(x, THIN * size) for x in (*self.size, 2.0 * size)[:3]]
        axes = np.eye(3)
        axes[: len(self.axes), : len(self.axes)] = np.array(self.axes).T
        return carried(box_shape(tuple(lengths)).moved(axes=axes), places, self.port)


@dataclass(frozen=True)
class RoundedBar(Sign):
    """A cylinder with round ends along a direction, in the section of a port."""

    port: PortName
    length: float
    radius: float
    axis: Direction

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the bar at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        radius, axes = max(self.radius, THIN * size), axes_along(self.axis)
        parts = [cylinder_shape(self.length, radius)] if self.length else []
        parts += [sphere_shape(radius, centre=(x, 0.0, 0.0)) for x in (-0.5 * self.length, 0.5 * self.length)]
        return carried(merged_shapes(parts).moved(axes=axes), places, self.port)
