"""What shapes in contact look like: balls and discs, slabs of half spaces, cylinders, rims of holes, stops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..drawing.shapes import Shape, axes_along, box_shape, cylinder_shape, joined_shapes, sphere_shape
from ..joints.rows.signs import Moving, Places, Sign
from ..joints.rows.vectors import Direction, PortName
from ..numerics.arrays import Array

WITHIN = 0.995
"""Share of its size with which a ball is drawn: a body that draws the same ball is seen, and no mixture of both."""
POINT = 0.4
"""Radius of a point over the size of signs."""
MARGIN = 4.0
"""How far surfaces without end are drawn beyond what touches them, over the size of signs."""


@dataclass(frozen=True)
class Touching:
    """A port that touches a surface, and how far it reaches from there [m]."""

    port: PortName
    reach: float = 0.0


@dataclass(frozen=True)
class Ball(Sign):
    """A ball about a port, in the plane a disc; a point where the radius is zero."""

    port: PortName
    radius: float
    dim: int

    def surface(self, places: Places, size: float) -> Moving:
        """See :class:`Sign`."""
        radius = WITHIN * self.radius or POINT * size
        disc = self.dim == 2 and self.radius > 0.0
        shape = cylinder_shape(0.5 * radius, radius, axis=_OUT) if disc else sphere_shape(radius)
        return _carried(shape, places, self.port)


@dataclass(frozen=True)
class Slab(Sign):
    """The surface of a half space with a normal in the section at a port, below the way of what touches it."""

    port: PortName
    normal: Direction
    touching: tuple[Touching, ...]

    def surface(self, places: Places, size: float) -> Moving:
        """See :class:`Sign`."""
        axes, flat = axes_along(self.normal), len(self.normal) == 2
        low, high = _ways(places, self.port, axes, self.touching, MARGIN * size)
        if flat:  # out of the plane somewhat more than discs
            out = int(np.argmax(np.abs(axes[2])))
            high[out] = max([2.0 * size, *(0.5 * one.reach for one in self.touching)])
            low[out] = -high[out]
        low[0], high[0] = -0.5 * size, 0.0
        return _carried(_box(low, high).moved(axes=axes), places, self.port)


@dataclass(frozen=True)
class Pipe(Sign):
    """A cylinder about an axis through a port, or the rim of a hole, along the way of what touches it."""

    port: PortName
    radius: float
    axis: Direction | None
    touching: tuple[Touching, ...]
    hollow: bool = False

    def surface(self, places: Places, size: float) -> Moving:
        """See :class:`Sign`."""
        axes = axes_along(_OUT if self.axis is None else self.axis)
        low, high = _ways(places, self.port, axes, self.touching, MARGIN * size)
        if self.axis is None:
            high[0] = max(0.25 * self.radius, 0.5 * size)
            low[0] = -high[0]
        outer, inner = (self.radius + 0.5 * size, self.radius) if self.hollow else (self.radius, 0.0)
        centre = (0.5 * (low[0] + high[0]), 0.0, 0.0)
        shape = cylinder_shape(high[0] - low[0], outer, inner_radius=inner, centre=centre)
        return _carried(shape.moved(axes=axes), places, self.port)


@dataclass(frozen=True)
class Barriers(Sign):
    """Plates at offsets [m] from a port along a direction of its section, or of the world from its origin."""

    port: PortName
    direction: Direction
    offsets: tuple[float, ...]

    def surface(self, places: Places, size: float) -> Moving:
        """See :class:`Sign`."""
        plates = [box_shape((0.4 * size, 3.0 * size, 3.0 * size), centre=(x, 0.0, 0.0)) for x in self.offsets]
        return _carried(joined_shapes(plates).moved(axes=axes_along(self.direction)), places, self.port)


@dataclass(frozen=True)
class Spokes(Sign):
    """Bars from a joint at angles [rad] from a first direction towards a second, in the section of a port."""

    port: PortName
    section: PortName
    angles: tuple[float, ...]
    directions: tuple[Direction, Direction] = ((1.0, 0.0), (0.0, 1.0))

    def surface(self, places: Places, size: float) -> Moving:
        """See :class:`Sign`."""
        first, second = (np.pad(np.array(d), (0, 3 - len(d))) for d in self.directions)
        bar = box_shape((6.0 * size, 0.4 * size, 2.0 * size), centre=(3.0 * size, 0.0, 0.0))
        bars = []
        for angle in self.angles:
            along = np.cos(angle) * first + np.sin(angle) * second
            bars.append(bar.moved(axes=np.column_stack([along, np.cross(np.cross(first, second), along),
                                                        np.cross(first, second)])))  # fmt: skip
        return _carried(joined_shapes(bars), places, self.port, axes=self.section)


_OUT = (0.0, 0.0, 1.0)


def _carried(shape: Shape, places: Places, port: PortName, axes: PortName | None = None) -> Moving:
    """A shape in the axes of a port at its place, or of another port ``axes``."""
    turned = np.einsum("kij,pj->kpi", places.axes(port if axes is None else axes), shape.points)
    return Moving(places.position(port)[:, None] + turned, shape.triangles)


def _ways(
    places: Places, port: PortName, axes: Array, touching: tuple[Touching, ...], margin: float
) -> tuple[Array, Array]:
    """Smallest and largest coordinates (3,) along axes of the section at a port of what touches it, with a margin."""
    turned, origin = places.axes(port) @ axes, places.position(port)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for one in touching:
        way = np.einsum("ki,kij->kj", places.position(one.port) - origin, turned)
        beyond = max(1.5 * one.reach, margin)
        low, high = np.minimum(low, way.min(axis=0) - beyond), np.maximum(high, way.max(axis=0) + beyond)
    return low, high


def _box(low: Array, high: Array) -> Shape:
    return box_shape(tuple(high - low), centre=tuple(0.5 * (low + high)))
