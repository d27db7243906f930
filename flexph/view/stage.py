"""Pictures of a scene at its times, and the still picture in a page that is shown without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array
from ..scenes.scene import Scene
from .looks import COLOURS, DARK, MAPS, is_diverging
from .mesh import PLAIN, Mesh, mesh_of
from .raster import (
    LIGHT,
    Camera,
    Paint,
    Window,
    blurred,
    covered,
    fitted,
    occlusion,
    painted,
    pixels,
    png,
    seen_dots,
    view_axes,
)

FINER = 2
"""Number of dots along the edge of a pixel."""
MARGIN = 2
"""Free pixels around the drawn parts."""
SHADOW, SOFT = 0.22, 6.0
"""Darkening by the shadow on the ground, and width [pixels] of its edge."""
LIFT = 0.04
"""Distance of the plane on which shadows fall, relative to the extent of the motion."""
REACH = 0.05
"""Difference in depth, relative to the extent, at which the surface behind is darkest."""
STOPS = 256
"""Number of colours of a map."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Scene in front of a camera, from which its pictures at single times are drawn.

    Attributes
    ----------
    size : tuple of int
        Width and height in pixels.
    camera : Camera
        Camera with dots as the unit of the picture.
    mesh : Mesh
        Triangles that are drawn.
    paint : Paint
        Colours of parts, fields and lines.
    ground : (array, float), optional
        Normal and height of the plane onto which shadows fall.
    reach : float
        Difference in depth at which the surface behind is darkest.
    bottom : float
        Lower edge of the motion in the picture [pixels]; shadows end there.
    """

    size: tuple[int, int]
    camera: Camera
    mesh: Mesh
    paint: Paint
    ground: tuple[Array, float] | None
    reach: float
    bottom: float

    def drawn(self, row: int) -> Array:
        """Picture (height, width, 4) at the time of index ``row``, without background.

        It has red, green, blue and opacity from 0 to 1; colours are multiplied by opacity.
        """
        points = self.mesh.points(row)
        places = self.camera.places(points)
        whole = np.zeros((self.size[1], self.size[0], 4), dtype=np.float32)
        low, high = self._box(places[:, :2] / FINER, MARGIN)
        if (high > low).all():  # the rest of the picture is empty
            places[:, :2] -= FINER * low
            shaded = self._shaded(row, points, places, (int(high[0] - low[0]), int(high[1] - low[1])))
            whole[low[1] : high[1], low[0] : high[0]] = shaded
        return whole

    def _shaded(self, row: int, points: Array, places: Array, size: tuple[int, int]) -> Array:
        """Picture (height, width, 4) of a region with ``size`` (width, height), at the time of index ``row``.

        ``points`` (v, 3): corners of the triangles in world axes; ``places`` (v, 3): their dots in this region, and
        depth.
        """
        fine = FINER * size[0], FINER * size[1]
        facing = self._facing(places)
        dots = seen_dots(places[self.mesh.triangles[facing]], fine)
        triangle = facing[dots.triangle]
        corners, owner = self.mesh.triangles[triangle], self.mesh.owner[triangle]
        weights = dots.shares.astype(np.float32)
        normals = np.einsum("ij,ijk->ik", weights, self._normals(points).astype(np.float32)[corners])
        shares = np.full(len(owner), PLAIN, dtype=np.float32)
        if len(self.paint.field):
            shares = np.einsum("ij,ij->i", weights, self.mesh.shares(row).astype(np.float32)[corners])
        picture = pixels(painted(dots, normals, shares, owner, paint=self.paint, size=fine), FINER)
        depth = np.full(fine[0] * fine[1], -np.inf, dtype=np.float32)
        depth[dots.number] = dots.depth
        picture[..., :3] *= self._halo(depth.reshape(fine[::-1])[::FINER, ::FINER])[..., None]
        return picture

    def _facing(self, places: Array) -> Array:
        """Indices of triangles that may be visible: those facing the viewer, and all triangles of open surfaces.

        ``places`` (v, 3): dots and depth of the corners in the picture.
        """
        a, b, c = (places[self.mesh.triangles[:, k], :2] for k in range(3))
        u, v = b - a, c - a
        down = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]  # dots count downwards: counterclockwise is negative
        return np.flatnonzero((self.mesh.outward == 0) | (self.mesh.outward * down < 0.0))

    def _normals(self, points: Array) -> Array:
        """Unit normals (v, 3) of the surface at corners ``points`` (v, 3), in the axes of the view."""
        normals = self.mesh.normals(points) @ self.camera.axes.T
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.asarray(normals / np.where(lengths > 0.0, lengths, 1.0))

    def _halo(self, depth: Array) -> Array:
        """Factors (height, width) that darken surfaces close behind others, from depths (height, width).

        The background, with depth −∞, counts as the farthest surface.
        """
        far = np.isneginf(depth)
        if far.all():
            return np.ones_like(depth)
        return occlusion(np.where(far, depth[~far].min(), depth), self.reach)

    def shadow(self, row: int) -> Array:
        """Darkness (height, width), 0 to 1, of the shadow of all parts on the ground, at the time of index ``row``."""
        whole = np.zeros(self.size[::-1], dtype=np.float32)
        if self.ground is None:
            return whole
        normal, height = self.ground
        towards = self.camera.axes.T @ (LIGHT / np.linalg.norm(LIGHT))
        points = self.mesh.points(row)
        fall = (points @ normal - height) / (towards @ normal)
        places = self.camera.places(points - fall[:, None] * towards)[:, :2] / FINER
        soft = SOFT * self.size[0] / 800.0
        low, high = self._box(places, 4.0 * soft)
        if (high > low).all():
            inside = covered((places - low)[self.mesh.triangles], (int(high[0] - low[0]), int(high[1] - low[1])))
            faded = blurred(inside.astype(np.float32), soft)
            fades = ((self.bottom - np.arange(low[1], high[1])) / (2.0 * soft)).clip(0.0, 1.0).astype(np.float32)
            whole[low[1] : high[1], low[0] : high[0]] = SHADOW * faded * fades[:, None]
        return whole

    def _box(self, places: Array, margin: float) -> tuple[Array, Array]:
        """Upper left and lower right corner [pixels] of the region of the picture around points (v, 2) [pixels].

        ``margin`` [pixels] is added on each side, up to the edge of the picture.
        """
        low, high = places.min(axis=0) - margin, places.max(axis=0) + margin
        return np.floor(low).clip(0, self.size).astype(int), np.ceil(high).clip(0, self.size).astype(int)


def staged_scene(
    scene: Scene,
    field: str | None,
    *,
    size: tuple[int, int],
    window: Window,
    dark: bool = False,
    towards: tuple[float, float, float] | None = None,
) -> Stage:
    """Stage for a scene of triangles, whose motion fills a window of the picture [pixels].

    ``size``: width and height in pixels; ``dark``: True for colours on a dark background; ``towards``: direction to the
    viewer, by default as in :func:`flexph.view.raster.view_axes`.
    """
    axes = view_axes(scene.dim, towards)
    fine = Window(*(FINER * edge for edge in (window.left, window.top, window.right, window.bottom)))
    camera, mesh = fitted(scene, axes, fine), mesh_of(scene, field)
    colours = DARK if dark else COLOURS
    part_colours = rgb([colours[part.kind] for part in mesh.parts])
    line = rgb(["#05070a" if dark else "#1c2530"])[0]
    low, high = scene.bounds
    extent = float(np.linalg.norm(high - low)) or 1.0
    normal = np.array([0.0, 0.0, 1.0])
    ground = (normal, float(low[2]) - LIFT * extent * (scene.dim == 2))
    lit = float(camera.axes[:, 2] @ LIGHT) > 0.1 * np.linalg.norm(LIGHT)  # the light comes from above the plane
    reach = REACH * extent / camera.distance
    bottom = window.bottom + (0.0 if window.bottom < 0.9 * size[1] else size[1])  # to the edge if nothing is below
    return Stage(
        size, camera, mesh, Paint(part_colours, map_of(scene, field), line), ground if lit else None, reach, bottom
    )


def map_of(scene: Scene, field: str | None) -> Array:
    """Colour map (n, 3) of a field, from its smallest to its largest value; no colours without a field."""
    if field is None:
        return np.zeros((0, 3), dtype=np.float32)
    stops = rgb(MAPS["diverging" if is_diverging(scene, field) else "sequential"])
    at = np.linspace(0.0, 1.0, STOPS)
    return np.stack([np.interp(at, np.linspace(0.0, 1.0, len(stops)), channel) for channel in stops.T], axis=-1).astype(
        np.float32
    )


def rgb(colours: Sequence[str]) -> Array:
    """Colours (n, 3), 0 to 1, from texts such as ``#8fa3b5``."""
    return np.array([[int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)] for colour in colours], dtype=np.float32)


EDGE = 0.03
"""Share of the picture that is free at its edges."""


def still_image(
    scene: Scene,
    row: int,
    field: str | None,
    *,
    size: tuple[int, int] = (480, 300),
    towards: tuple[float, float, float] | None = None,
) -> bytes:
    """PNG of a scene of triangles at the time of index ``row``, on a transparent background.

    The camera is that for which the whole motion is visible.
    """
    width, height = size
    window = Window(EDGE * width, EDGE * height, (1.0 - EDGE) * width, (1.0 - EDGE) * height)
    picture = staged_scene(scene.without("arrow"), field, size=size, window=window, towards=towards).drawn(row)
    picture[..., :3] /= np.maximum(picture[..., 3:], 1.0 / 255.0)
    return png((255.0 * picture + 0.5).clip(0.0, 255.0).astype(np.uint8))
