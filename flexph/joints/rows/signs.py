"""Shapes that pictures draw for joints and force elements: signs at their ports and strands between them.

Lengths of signs are multiples of a size that the picture chooses; a ``radius`` is in [m].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol

import numpy as np

from ...drawing.shapes import Shape, axes_along, box_shape, cylinder_shape, merged_shapes, sphere_shape
from ...numerics.arrays import Array
from .vectors import Direction, PortName

Kind = Literal["ball", "block", "pin", "sleeve", "cross", "plate", "wheel", "blade", "turn"]
SIDES = 8
"""Number of sides of the cross-section of a strand."""
TURNS = 7
"""Number of turns of a coil."""
PER_TURN = 10
"""Number of straight pieces in each turn of a coil."""


class MovingSurface(NamedTuple):
    """Surface that moves, at k times.

    It has points (k, p, 3) [m], and triangles (t, 3), the indices of their corners.
    """

    points: Array
    triangles: Array


class PortPlacements(Protocol):
    """Positions and axes of the ports of a mechanism at k times."""

    def position(self, port: PortName) -> Array:
        """World positions (k, 3) [m] of a port at k times."""
        ...

    def axes(self, port: PortName) -> Array:
        """Axes of the section at a port in the world, as columns (k, 3, 3), at k times."""
        ...


@dataclass(frozen=True)
class Sign(ABC):
    """Base class of the signs that a picture draws for connections: surfaces that move with ports."""

    @abstractmethod
    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the sign at all times of ``places``; ``size`` [m] is that of signs in the picture."""


@dataclass(frozen=True)
class Solid(Sign):
    """Rigid sign at a port, such as a pin or a wheel.

    ``direction`` is the axis of the sign in the section at the port ``axes`` (None: at ``port``); by default it is the
    normal of the plane. ``radius`` [m] is that of a wheel.
    """

    kind: Kind
    port: PortName
    direction: Direction | None = None
    axes: PortName | None = None
    radius: float | None = None

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the rigid sign at all times of ``places``; ``size`` [m] is that of signs in the picture."""
        direction = (0.0, 0.0, 1.0) if self.direction is None else tuple(map(float, self.direction))
        points, triangles = _solid(self.kind, self.radius, direction, size)
        turned = points @ places.axes(self.axes or self.port).transpose(0, 2, 1)
        return MovingSurface(places.position(self.port)[:, None] + turned, triangles)


@dataclass(frozen=True)
class Rail(Sign):
    """Bar through the port ``rail`` along a direction of its section, as long as the path of the sliding port."""

    rail: PortName
    port: PortName
    direction: Direction

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the bar at all times of ``places``; ``size`` [m] is that of signs in the picture."""
        start, turned = places.position(self.rail), places.axes(self.rail) @ axes_along(self.direction)
        way = np.einsum("ki,ki->k", places.position(self.port) - start, turned[:, :, 0])
        low, high = min(way.min(), 0.0) - 3.0 * size, max(way.max(), 0.0) + 3.0 * size
        bar = box_shape((high - low, 0.35 * size, 0.35 * size), centre=(0.5 * (low + high), 0.0, 0.0))
        return MovingSurface(start[:, None] + np.einsum("kij,pj->kpi", turned, bar.points), bar.triangles)


@dataclass(frozen=True)
class Strand(Sign):
    """Rod or coil from one port to another."""

    kind: Literal["rod", "coil"]
    first: PortName
    second: PortName

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the rod or coil at all times of ``places``; ``size`` [m] is that of signs in the picture."""
        start, end = places.position(self.second), places.position(self.first)
        line, radius = (_coil(0.4 * size), 0.08) if self.kind == "coil" else (np.array([[0.0, 0, 0], [1.0, 0, 0]]), 0.2)
        return tube(_between(line, start, end), radius * size)


def _between(line: Array, start: Array, end: Array) -> Array:
    """Lines (k, n, 3) from ``start`` to ``end`` (k, 3), with the shape of a given line (n, 3) along x.

    The given line goes from x = 0 to 1. x runs along each segment; y and z keep their lengths.
    """
    gap = end - start
    across = np.eye(3)[np.argmin(np.abs(gap), axis=1)]
    second = np.cross(gap, across)
    length = np.linalg.norm(second, axis=1, keepdims=True)
    second = np.divide(second, length, out=np.zeros_like(second), where=length > 0.0)
    third = np.cross(second, gap)
    length = np.linalg.norm(third, axis=1, keepdims=True)
    third = np.divide(third, length, out=np.zeros_like(third), where=length > 0.0)
    frame = np.stack([gap, second, third], axis=-1)
    return start[:, None] + np.einsum("kij,nj->kni", frame, line)


def _coil(radius: float) -> Array:
    """Points (n, 3) of a helix of a radius along x from 0 to 1, with straight ends."""
    turn = np.linspace(0.0, 2.0 * np.pi * TURNS, TURNS * PER_TURN + 1)
    along = np.linspace(0.12, 0.88, len(turn))
    helix = np.column_stack([along, radius * np.cos(turn), radius * np.sin(turn)])
    return np.vstack([[0.0, 0.0, 0.0], [0.12, 0.0, 0.0], helix, [0.88, 0.0, 0.0], [1.0, 0.0, 0.0]])


def tube(lines: Array, radius: float) -> MovingSurface:
    """Surfaces of tubes of a radius around a line at k times, (k, n, 3)."""
    k, n, _ = lines.shape
    along = np.gradient(lines, axis=1)
    along = along / np.maximum(np.linalg.norm(along, axis=2, keepdims=True), np.finfo(float).tiny)
    nearest = np.eye(3)[np.argmin(np.abs(along).max(axis=1), axis=1)][
        :, None
    ]  # one vector for each line, so that no ring twists
    first = np.cross(along, nearest)
    first = first / np.maximum(np.linalg.norm(first, axis=2, keepdims=True), np.finfo(float).tiny)
    second = np.cross(along, first)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    rings = np.cos(angle)[:, None] * first[:, :, None] + np.sin(angle)[:, None] * second[:, :, None]
    points = (lines[:, :, None] + radius * rings).reshape(k, n * SIDES, 3)
    start, j = SIDES * np.arange(n - 1)[:, None], np.arange(SIDES)
    a, b = start + j, start + (j + 1) % SIDES
    sides = np.concatenate([np.stack([a, b, b + SIDES], -1), np.stack([a, b + SIDES, a + SIDES], -1)])
    fan = np.column_stack([np.zeros(SIDES - 2, dtype=int), np.arange(1, SIDES - 1), np.arange(2, SIDES)])
    return MovingSurface(points, np.vstack([sides.reshape(-1, 3), fan[:, ::-1], fan + SIDES * (n - 1)]))


def _wheel(radius: float, width: float) -> Shape:
    """Shape of a wheel about x: a disc with a hub, and two bars across its faces, which show how it turns."""
    bars = [cylinder_shape(1.7 * radius, 0.6 * width, axis=axis) for axis in ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    return merged_shapes([cylinder_shape(width, radius), cylinder_shape(2.0 * width, 0.15 * radius), *bars])


def _cross() -> Shape:
    """Shape of two crossed bars, the first along x."""
    return merged_shapes([cylinder_shape(2.4, 0.3), cylinder_shape(2.4, 0.3, axis=(0.0, 1.0, 0.0))])


def _turn() -> Shape:
    """Shape of an arrow along three quarters of a circle about x."""
    angle = np.linspace(0.0, 1.5 * np.pi, 28)
    line = np.column_stack([np.full_like(angle, 0.9), 1.3 * np.cos(angle), 1.3 * np.sin(angle)])
    ring, head = tube(line[None], 0.12), _cone(0.35, 0.8)
    tip = head.moved((0.9, 0.0, -1.3), axes_along((0.0, 1.0, 0.0)))
    return merged_shapes([Shape(ring.points[0], ring.triangles), tip])


def _cone(radius: float, length: float) -> Shape:
    """Shape of a cone along x."""
    angle = 2.0 * np.pi * np.arange(12) / 12
    rim = np.column_stack([np.zeros(12), radius * np.cos(angle), radius * np.sin(angle)])
    j = np.arange(12)
    side = np.column_stack([j, (j + 1) % 12, np.full(12, 12)])
    base = np.column_stack([(j + 1) % 12, j, np.full(12, 13)])
    return Shape(np.vstack([rim, [length, 0.0, 0.0], [0.0, 0.0, 0.0]]), np.vstack([side, base]))


def arrow() -> Shape:
    """Shape of an arrow of length 1 along x."""
    return merged_shapes(
        [cylinder_shape(0.75, 0.03, centre=(0.375, 0.0, 0.0)), _cone(0.08, 0.25).moved((0.75, 0.0, 0.0))]
    )


@lru_cache(maxsize=512)
def _solid(kind: Kind, radius: float | None, direction: tuple[float, ...], size: float) -> tuple[Array, Array]:
    """Points and triangles of a rigid sign of a ``kind`` at the origin, with its axis along a direction.

    ``size`` [m] is that of signs in the picture; ``radius`` [m] that of a wheel.
    """
    shape = _SHAPES[kind]().scaled(size) if radius is None else _wheel(radius, 0.3 * size)
    return shape.points @ axes_along(direction).T, shape.triangles


_SHAPES = {
    "ball": lambda: sphere_shape(0.6),
    "block": lambda: box_shape((1.0, 1.0, 1.0)),
    "pin": lambda: cylinder_shape(2.4, 0.5),
    "sleeve": lambda: box_shape((2.4, 1.2, 1.2)),
    "cross": _cross,
    "plate": lambda: box_shape((0.1, 6.0, 6.0)),
    "wheel": lambda: _wheel(1.5, 0.6),
    "blade": lambda: box_shape((0.1, 1.6, 0.8)),
    "turn": _turn,
}
