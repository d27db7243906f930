"""Shape that pictures draw for a rope over sheaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array
from .rope_path import RopePoint
from .signs import Moving, Places, Sign, tube

PIECES = 16
"""Number of straight pieces in which an arc is drawn."""


@dataclass(frozen=True)
class RopeLine(Sign):
    """Rope along its tangents and arcs."""

    points: tuple[RopePoint, ...]

    def surface(self, places: Places, size: float) -> Moving:
        """See :class:`Sign`."""
        return tube(rope_line(self.points, places), 0.12 * size)


def rope_line(points: tuple[RopePoint, ...], places: Places) -> Array:
    """Points (k, n, 3) along a rope at k times: ends, eyes, and arcs between the tangent points of sheaves."""
    centres = np.stack([places.position(p.port) for p in points], axis=1)
    axes = np.stack([places.axes(p.port) @ np.array(p.axis or (0.0, 0.0, 1.0)) for p in points], axis=1)
    radii = np.array([p.radius for p in points])
    start, end = (_normals(centres, axes[:, own], radii) for own in (slice(None, -1), slice(1, None)))
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
    """Unit normals (k, spans, 3) of the straight spans, to their left if the axes point to the viewer."""
    gap = np.diff(centres, axis=1)
    length = np.linalg.norm(gap, axis=2, keepdims=True)
    along = gap / np.maximum(length, np.finfo(float).tiny)
    left = np.cross(axes, along)
    left = left / np.maximum(np.linalg.norm(left, axis=2, keepdims=True), np.finfo(float).tiny)
    sine = np.clip(-np.diff(radii)[:, None] / np.maximum(length, np.finfo(float).tiny), -1.0, 1.0)
    normals: Array = np.sqrt(1.0 - sine**2) * left - sine * along
    return normals


def _arc(first: Array, last: Array, axis: Array) -> Array:
    """Arcs (k, n, 3) about unit axes from one radius vector to another, counterclockwise."""
    turned = np.arctan2(np.sum(axis * np.cross(first, last), axis=1), np.sum(first * last, axis=1)) % (2.0 * np.pi)
    angle = turned[:, None] * np.linspace(0.0, 1.0, PIECES + 1)
    across = np.cross(axis, first)
    return first[:, None] * np.cos(angle)[:, :, None] + across[:, None] * np.sin(angle)[:, :, None]
