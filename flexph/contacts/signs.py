"""Drawing signs of contacts: balls and discs, slabs for half spaces, cylinders, rims of holes, stops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..drawing.shapes import Shape, axes_along, box_shape, cylinder_shape, merged_shapes, sphere_shape
from ..joints.rows.signs import MovingSurface, PortPlacements, Sign
from ..joints.rows.vectors import Direction, PortName
from ..numerics.arrays import Array

WITHIN = 0.995
"""Scale of drawn balls, slightly below 1, so that a body drawn as the same ball covers the sign completely."""
POINT = 0.4
"""Radius of points relative to the size of signs."""
MARGIN = 4.0
"""Margin by which unbounded surfaces are drawn beyond the touching ports, relative to the size of signs."""


@dataclass(frozen=True)
class TouchingPort:
    """A port whose shape is in contact with a surface, and the radius of this shape [m]."""

    port: PortName
    reach: float = 0.0


@dataclass(frozen=True)
class Ball(Sign):
    """A ball at a port, in the plane a disc; a point if the radius is zero."""

    port: PortName
    radius: float
    dim: int

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the ball at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        radius = WITHIN * self.radius or POINT * size
        disc = self.dim == 2 and self.radius > 0.0
        shape = cylinder_shape(0.5 * radius, radius, axis=_OUT) if disc else sphere_shape(radius)
        return carried(shape, places, self.port)


@dataclass(frozen=True)
class Disc(Sign):
    """A disc about an axis through a port, with the breadth of a tyre."""

    port: PortName
    radius: float
    axis: Direction
    crown: float

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the disc at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        breadth = 2.0 * self.crown or 0.1 * self.radius
        return carried(cylinder_shape(breadth, WITHIN * self.radius, axis=self.axis), places, self.port)


@dataclass(frozen=True)
class Slab(Sign):
    """A slab for the surface of a half space, wide enough for the paths of the ports in contact with it."""

    port: PortName
    normal: Direction
    touching: tuple[TouchingPort, ...]

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the slab at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        axes, flat = axes_along(self.normal), len(self.normal) == 2
        low, high = _contact_range(places, self.port, axes, self.touching, MARGIN * size)
        if flat:  # slightly thicker than discs
            out = int(np.argmax(np.abs(axes[2])))
            high[out] = max([2.0 * size, *(0.5 * one.reach for one in self.touching)])
            low[out] = -high[out]
        low[0], high[0] = -0.5 * size, 0.0
        return carried(_box(low, high).moved(axes=axes), places, self.port)


@dataclass(frozen=True)
class Pipe(Sign):
    """A cylinder, or the wall of a hole, about an axis through a port; drawn as long as the paths of its contacts."""

    port: PortName
    radius: float
    axis: Direction | None
    touching: tuple[TouchingPort, ...]
    hollow: bool = False

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the cylinder at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        axes = axes_along(_OUT if self.axis is None else self.axis)
        low, high = _contact_range(places, self.port, axes, self.touching, MARGIN * size)
        if self.axis is None:
            high[0] = max(0.25 * self.radius, 0.5 * size)
            low[0] = -high[0]
        outer, inner = (self.radius + 0.5 * size, self.radius) if self.hollow else (self.radius, 0.0)
        centre = (0.5 * (low[0] + high[0]), 0.0, 0.0)
        shape = cylinder_shape(high[0] - low[0], outer, inner_radius=inner, centre=centre)
        return carried(shape.moved(axes=axes), places, self.port)


@dataclass(frozen=True)
class Barriers(Sign):
    """Plates at offsets [m] along a direction: from a port in axes of its section, or from the origin of the world."""

    port: PortName
    direction: Direction
    offsets: tuple[float, ...]

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the plates at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        plates = [box_shape((0.4 * size, 3.0 * size, 3.0 * size), centre=(x, 0.0, 0.0)) for x in self.offsets]
        return carried(merged_shapes(plates).moved(axes=axes_along(self.direction)), places, self.port)


@dataclass(frozen=True)
class Spokes(Sign):
    """Bars from a port that show angles [rad], such as the limits of a joint, in the axes of a section.

    Angles are measured from the first of the ``directions`` towards the second.
    """

    port: PortName
    section: PortName
    angles: tuple[float, ...]
    directions: tuple[Direction, Direction] = ((1.0, 0.0), (0.0, 1.0))

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the bars at the k times of ``places``; ``size`` [m] is the size of signs in the picture."""
        first, second = (np.pad(np.array(d), (0, 3 - len(d))) for d in self.directions)
        bar = box_shape((6.0 * size, 0.4 * size, 2.0 * size), centre=(3.0 * size, 0.0, 0.0))
        bars = []
        for angle in self.angles:
            along = np.cos(angle) * first + np.sin(angle) * second
            bars.append(bar.moved(axes=np.column_stack([along, np.cross(np.cross(first, second), along),
                                                        np.cross(first, second)])))  # fmt: skip
        return carried(merged_shapes(bars), places, self.port, axes=self.section)


_OUT = (0.0, 0.0, 1.0)


def carried(shape: Shape, places: PortPlacements, port: PortName, axes: PortName | None = None) -> MovingSurface:
    """Shape placed at a port, with the axes of that port or of another port ``axes``, at all times."""
    turned = np.einsum("kij,pj->kpi", places.axes(port if axes is None else axes), shape.points)
    return MovingSurface(places.position(port)[:, None] + turned, shape.triangles)


def _contact_range(
    places: PortPlacements, port: PortName, axes: Array, touching: tuple[TouchingPort, ...], margin: float
) -> tuple[Array, Array]:
    """Range of the ports in contact: smallest and largest coordinates (3,) in axes at a port, with a margin."""
    turned, origin = places.axes(port) @ axes, places.position(port)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for one in touching:
        way = np.einsum("ki,kij->kj", places.position(one.port) - origin, turned)
        beyond = max(1.5 * one.reach, margin)
        low, high = np.minimum(low, way.min(axis=0) - beyond), np.maximum(high, way.max(axis=0) + beyond)
    return low, high


def _box(low: Array, high: Array) -> Shape:
    return box_shape(tuple(high - low), centre=tuple(0.5 * (low + high)))
