"""Path of a rope over sheaves, by products of world vectors (see kernels.ropes), and its shape in pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from .signs import MovingSurface, PortPlacements, Sign, tube
from .vectors import (
    BodyVector,
    Direction,
    Ground,
    PortName,
    Product,
    Vector,
    along,
    axis,
    between,
    fitting,
    frame_about,
)


class RopePoint(NamedTuple):
    """End, eye (radius zero) or sheave of a rope: port of its centre, signed radius [m], axis in the section there.

    A first or last point with a radius is a disc that the rope grips.
    """

    port: PortName
    radius: float = 0.0
    axis: Direction | None = None
    turns: int = 0


@dataclass(frozen=True)
class Span:
    """Straight span of a rope from one sheave, eye or end to the next, by the vector V between their centres.

    ``square`` is the product V·V, ``offset`` δ = ρ_j − ρ_{j+1} [m] the difference of their signed radii.
    """

    square: Product
    offset: float


@dataclass(frozen=True)
class Arc:
    """Arc on a sheave of signed radius, between the span with index ``span`` and the next one.

    ``arriving`` and ``leaving`` are the sines and cosines of the angles of the spans in the section of the housing.
    """

    span: int
    radius: float
    arriving: tuple[Product, Product]
    leaving: tuple[Product, Product]
    turns: int = 0


@dataclass(frozen=True)
class Grip:
    """First or last span of a rope that begins or ends on a disc which it grips.

    ``angle`` is the sine and cosine of the angle of the span in the section of the disc. ``weight`` is the signed
    radius of the disc, with the opposite sign at the end of the rope.
    """

    span: int
    weight: float
    angle: tuple[Product, Product]


@dataclass(frozen=True)
class RopePath:
    """Spans of a rope, its arcs on sheaves, and the discs at its ends that it grips."""

    spans: tuple[Span, ...]
    arcs: tuple[Arc, ...]
    grips: tuple[Grip, ...] = ()


def path_over(points: Sequence[RopePoint], dim: int) -> RopePath:
    """Path of a rope over points in 2 or 3 dimensions.

    Raises ValueError for a sheave with an axis in the plane, or without an axis in space.
    """
    spans = [_between(a.port, b.port) for a, b in pairwise(points)]
    arcs, grips, last = [], [], len(spans)
    for j, point in enumerate(points):
        if not point.radius:
            continue
        x, y = (along(point.port, d) for d in _frame(point, dim))
        angles = [(Product(v, y), Product(v, x)) for v in spans[max(j - 1, 0) : j + 1]]
        if j in (0, last):
            grips.append(Grip(max(j - 1, 0), -point.radius if j else point.radius, angles[0]))
        else:
            arriving, leaving = angles
            arcs.append(Arc(j - 1, point.radius, arriving, leaving, point.turns))
    offsets = [a.radius - b.radius for a, b in pairwise(points)]
    lines = tuple(Span(Product(v, v), o) for v, o in zip(spans, offsets, strict=True))
    return RopePath(lines, tuple(arcs), tuple(grips))


def _frame(point: RopePoint, dim: int) -> tuple[Direction, Direction]:
    """Perpendicular unit vectors in the plane of a sheave, fixed in the section at its port."""
    if dim == 2:
        if point.axis is not None:
            raise ValueError(f"a sheave has no axis in the plane: leave axis= of {str(point.port)!r} out")
        return axis(0, 2), axis(1, 2)
    if point.axis is None:
        raise ValueError(
            f"a sheave in space needs an axis in the section at its port: give axis= of {str(point.port)!r}"
        )
    return frame_about(fitting("axis", point.axis, 3))


def _between(start: PortName, end: PortName) -> Vector:
    """World vector from one port to another; ports may be on bodies or positions of the ground."""
    if not isinstance(end, Ground):
        return between(end, start)
    if not isinstance(start, Ground):
        return Vector(minus=BodyVector(start), fixed=end.position)
    return Vector(fixed=tuple(q - p for p, q in zip(start.position or (), end.position or (), strict=True)))


PIECES = 16
"""Number of straight pieces in which an arc is drawn."""


@dataclass(frozen=True)
class RopeLine(Sign):
    """Drawn shape of a rope: a strand along its straight spans and arcs."""

    points: tuple[RopePoint, ...]

    def surface(self, places: PortPlacements, size: float) -> MovingSurface:
        """Surface of the rope at all times of ``places``; ``size`` [m] is that of signs in the picture."""
        return tube(rope_line(self.points, places), 0.12 * size)


def rope_line(points: tuple[RopePoint, ...], places: PortPlacements) -> Array:
    """Points (k, n, 3) [m] along a rope at k times: its ends and eyes, and points on the arcs."""
    centres = np.stack([places.position(p.port) for p in points], axis=1)
    axes = np.stack([places.axes(p.port) @ np.array(p.axis or (0.0, 0.0, 1.0)) for p in points], axis=1)
    radii = np.array([p.radius for p in points])
    start, end = (_normals(centres, axes[:, part], radii) for part in (slice(None, -1), slice(1, None)))
    first, last = centres[:, 0] - radii[0] * start[:, 0], centres[:, -1] - radii[-1] * end[:, -1]
    line = [first[:, None]]
    for j in range(1, len(points) - 1):
        if radii[j]:
            arc = _arc(-radii[j] * end[:, j - 1], -radii[j] * start[:, j], np.sign(radii[j]) * axes[:, j])
            line.append(centres[:, j, None] + arc)
        else:
            line.append(centres[:, j, None])
    return np.concatenate([*line, last[:, None]], axis=1)


def _normals(centres: Array, axes: Array, radii: Array) -> Array:
    """Unit normals (k, spans, 3) of the straight spans, to their left if the axes point to the viewer.

    ``centres`` (k, points, 3), ``axes`` (k, spans, 3) and signed ``radii`` (points,) are those of the sheaves.
    """
    gap = np.diff(centres, axis=1)
    length = np.linalg.norm(gap, axis=2, keepdims=True)
    along = gap / np.maximum(length, np.finfo(float).tiny)
    left = np.cross(axes, along)
    left = left / np.maximum(np.linalg.norm(left, axis=2, keepdims=True), np.finfo(float).tiny)
    sine = np.clip(-np.diff(radii)[:, None] / np.maximum(length, np.finfo(float).tiny), -1.0, 1.0)
    normals: Array = np.sqrt(1.0 - sine**2) * left - sine * along
    return normals


def _arc(first: Array, last: Array, axis: Array) -> Array:
    """Points (k, n, 3) of k circular arcs, relative to their centres, counterclockwise about unit axes (k, 3).

    ``first`` and ``last`` (k, 3) are the vectors from the centre to both ends.
    """
    turned = np.arctan2(np.sum(axis * np.cross(first, last), axis=1), np.sum(first * last, axis=1)) % (2.0 * np.pi)
    angle = turned[:, None] * np.linspace(0.0, 1.0, PIECES + 1)
    across = np.cross(axis, first)
    return first[:, None] * np.cos(angle)[:, :, None] + across[:, None] * np.sin(angle)[:, :, None]
