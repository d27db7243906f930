"""Camera of a picture: its position and direction, and the projection of points into the picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...numerics.arrays import Array
from ...scenes.scene import Scene

DISTANCE = 3.5
"""Distance of the eye relative to the extent of the motion: a mild perspective."""
INSTANTS = 24
"""Number of times at which the bounds of a motion are evaluated."""
PLANE, SPACE = (0.1, -0.34, 1.0), (0.5, -1.0, 0.52)
"""Directions from which mechanisms of the plane and of space are seen."""


@dataclass(frozen=True)
class Window:
    """Part of a picture that a motion fills: left, top, right and lower edge [dots]."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, eq=False)
class Camera:
    """A perspective view.

    Attributes
    ----------
    axes : array
        Unit vectors to the right, up and towards the reader, as rows (3, 3).
    target : array
        Point (3,) [m] at the centre of the view.
    distance : float
        Distance of the eye from the target [m].
    factor : float
        Dots per metre at the target.
    middle : array
        Place of the target in the picture (2,) [dots], from its upper left corner.
    """

    axes: Array
    target: Array
    distance: float
    factor: float
    middle: Array

    def places(self, points: Array) -> Array:
        """Projection of points (…, 3) of the world: dots to the right and down, and depth, larger for nearer points.

        Depths are linear over a plane, as dots are.
        """
        own = (points - self.target) @ self.axes.T
        nearness = self.distance / (self.distance - own[..., 2])
        dots = own[..., :2] * [self.factor, -self.factor] * nearness[..., None] + self.middle
        return np.concatenate([dots, nearness[..., None]], axis=-1)


def axes_towards(towards: tuple[float, float, float], up: tuple[float, float, float]) -> Array:
    """Unit vectors to the right, up, and towards the reader, as rows (3, 3)."""
    z = np.array(towards, dtype=float) / np.linalg.norm(towards)
    x = np.cross(up, z)
    if not x.any():  # seen along the vertical
        x = np.array([1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def view_axes(dim: int, towards: tuple[float, float, float] | None = None) -> Array:
    """Axes of a view as rows (3, 3): the plane from the front, space from above, or from a direction ``towards``."""
    return axes_towards(towards or (PLANE if dim == 2 else SPACE), (0.0, 1.0, 0.0) if dim == 2 else (0.0, 0.0, 1.0))


def fitted(scene: Scene, axes: Array, window: Window) -> Camera:
    """Camera for which all motion of a scene fits into a window of the picture."""
    points = np.concatenate([_some(part.points) for part in scene.parts])
    own = points @ axes.T
    low, high = own.min(axis=0), own.max(axis=0)
    distance = DISTANCE * (float(np.linalg.norm(high - low)) or 1.0)
    camera = Camera(axes, 0.5 * (low + high) @ axes, distance, factor=1.0, middle=np.zeros(2))
    dots = camera.places(points)[:, :2]
    first, last = dots.min(axis=0), dots.max(axis=0)
    width, height = np.maximum(last - first, 1e-30)
    factor = min((window.right - window.left) / width, (window.bottom - window.top) / height)
    centre = np.array([window.left + window.right, window.top + window.bottom]) / 2.0
    return replace(camera, factor=factor, middle=centre - 0.5 * factor * (first + last))


def _some(points: Array) -> Array:
    """Points (n, 3) of a part at some of its times."""
    return np.asarray(points[:: max(1, len(points) // INSTANTS)], dtype=float).reshape(-1, 3)
