"""Rasterisation of triangles by numpy, without a graphics library.

A :class:`Camera` projects corners to dots, :func:`seen_dots` finds the visible triangle at each dot, :func:`painted`
shades the dots, :func:`pixels` averages them to a picture.

A dot is a sample of the picture, with several rows and columns of dots in each pixel.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..scenes.scene import Scene

DISTANCE = 3.5
"""Distance of the eye relative to the extent of the motion: a mild perspective."""
INSTANTS = 24
"""Number of times at which the bounds of a motion are evaluated."""
PLANE, SPACE = (0.1, -0.34, 1.0), (0.5, -1.0, 0.52)
"""Directions from which mechanisms of the plane and of space are seen."""


@dataclass(frozen=True)
class Window:
    """Region of a picture: its left, upper, right and lower edge, in dots or pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, eq=False)
class Camera:
    """Camera of a perspective view.

    Attributes
    ----------
    axes : array
        Unit vectors to the right, up and towards the viewer, as rows (3, 3).
    target : array
        Point (3,) [m] at the centre of the view.
    distance : float
        Distance of the eye from the target [m].
    factor : float
        Dots per metre at the target.
    middle : array
        Position (2,) of the target in the picture [dots], from its upper left corner.
    """

    axes: Array
    target: Array
    distance: float
    factor: float
    middle: Array

    def places(self, points: Array) -> Array:
        """Projection (…, 3) of world points (…, 3): position in the picture to the right and down [dots], and depth.

        The depth is larger for nearer points, and 1 at the target. Over the picture of a plane surface it is a linear
        function of the position in the picture.
        """
        in_view = (points - self.target) @ self.axes.T
        nearness = self.distance / (self.distance - in_view[..., 2])
        dots = in_view[..., :2] * [self.factor, -self.factor] * nearness[..., None] + self.middle
        return np.concatenate([dots, nearness[..., None]], axis=-1)


def axes_towards(towards: tuple[float, float, float], up: tuple[float, float, float]) -> Array:
    """Unit vectors of a view to the right, up, and towards the viewer, as rows (3, 3).

    ``towards``: direction to the viewer; ``up``: direction shown vertical, which may be oblique to it.
    """
    z = np.array(towards, dtype=float) / np.linalg.norm(towards)
    x = np.cross(up, z)
    if not x.any():  # seen along the vertical
        x = np.array([1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def view_axes(dim: int, towards: tuple[float, float, float] | None = None) -> Array:
    """Unit vectors of a view to the right, up, and towards the viewer, as rows (3, 3).

    ``towards``: direction to the viewer, by default the front for a mechanism in the plane (``dim`` 2), and obliquely
    above in space.
    """
    return axes_towards(towards or (PLANE if dim == 2 else SPACE), (0.0, 1.0, 0.0) if dim == 2 else (0.0, 0.0, 1.0))


def fitted(scene: Scene, axes: Array, window: Window) -> Camera:
    """Camera for which all motion of a scene fits into a window of the picture."""
    points = np.concatenate([_sampled_positions(part.points) for part in scene.parts])
    in_view = points @ axes.T
    low, high = in_view.min(axis=0), in_view.max(axis=0)
    distance = DISTANCE * (float(np.linalg.norm(high - low)) or 1.0)
    camera = Camera(axes, 0.5 * (low + high) @ axes, distance, factor=1.0, middle=np.zeros(2))
    dots = camera.places(points)[:, :2]
    first, last = dots.min(axis=0), dots.max(axis=0)
    width, height = np.maximum(last - first, 1e-30)
    factor = min((window.right - window.left) / width, (window.bottom - window.top) / height)
    centre = np.array([window.left + window.right, window.top + window.bottom]) / 2.0
    return replace(camera, factor=factor, middle=centre - 0.5 * factor * (first + last))


def _sampled_positions(points: Array) -> Array:
    """Positions (n, 3) of all points of a part (k, p, 3) at about INSTANTS of its k times."""
    return np.asarray(points[:: max(1, len(points) // INSTANTS)], dtype=float).reshape(-1, 3)


PASSES = 3
"""Number of successive box filters, which together approximate a Gaussian blur."""


def blurred(values: Array, sigma: float) -> Array:
    """Picture of numbers (height, width) blurred by a Gaussian of σ = ``sigma`` pixels.

    Outside of the picture, the values at its edge apply.
    """
    radius = round(0.5 * (np.sqrt(12.0 * sigma**2 / PASSES + 1.0) - 1.0))  # Σ ((2r + 1)² − 1)/12 = σ²
    if radius < 1:
        return values
    for _ in range(PASSES):
        values = _means(_means(values, radius).T, radius).T
    return values


def _means(values: Array, radius: int) -> Array:
    """Moving means of a picture (height, width) over 2 ``radius`` + 1 neighbouring rows."""
    width = 2 * radius + 1
    sums = np.cumsum(np.pad(values, ((radius + 1, radius), (0, 0)), mode="edge"), axis=0, dtype=float)
    return np.asarray((sums[width:] - sums[:-width]) / width, dtype=np.float32)


THINNEST = 1e-9
"""Twice the area [dots²] up to which a triangle is seen from its edge."""


class Dots(NamedTuple):
    """Dots covered by triangles: ``number`` (n,) of each dot in the picture, by rows.

    For each dot: index (n,) of the visible ``triangle``, barycentric coordinates ``shares`` (n, 3), and depth (n,).
    """

    number: Array
    triangle: Array
    shares: Array
    depth: Array


class _Spans(NamedTuple):
    """Spans of dots: a span has the dots of one row that are within one triangle.

    For each dot: its ``span`` (n,), its position ``x`` (n,) in the row, and its ``number`` (n,) in the picture. For
    each span: its ``triangle`` (r,), and barycentric coordinates slope·x + offset, both (r, 3).
    """

    span: Array
    x: Array
    number: Array
    triangle: Array
    slope: Array
    offset: Array


def seen_dots(corners: Array, size: tuple[int, int]) -> Dots:
    """Dots of a picture of ``size`` (width, height) dots that triangles cover, with the nearest triangle at each.

    ``corners`` (t, 3, 3): dots to the right and down from the upper left corner of the picture, and depth.
    """
    spans = _spans(corners, size)
    far = corners[spans.triangle, :, 2]
    slope, offset = (np.einsum("ij,ij->i", of_spans, far) for of_spans in (spans.slope, spans.offset))
    depth = slope[spans.span] * (spans.x + 0.5) + offset[spans.span]
    nearest = np.full(size[0] * size[1], -np.inf)
    np.maximum.at(nearest, spans.number, depth)
    seen = np.flatnonzero(depth == nearest[spans.number])
    winner = np.full(nearest.size, -1)
    winner[spans.number[seen]] = seen  # at equal depth, the last one wins
    dots = winner[winner >= 0]
    span = spans.span[dots]
    shares = spans.slope[span] * (spans.x[dots] + 0.5)[:, None] + spans.offset[span]
    return Dots(spans.number[dots], spans.triangle[span], shares, depth[dots])


def covered(corners: Array, size: tuple[int, int]) -> Array:
    """Mask (height, width) of the dots that triangles (t, 3, 2) cover in a picture of ``size`` (width, height) dots."""
    picture = np.zeros(size[0] * size[1], dtype=bool)
    picture[_spans(corners, size).number] = True
    return picture.reshape(size[1], size[0])


def _spans(corners: Array, size: tuple[int, int]) -> _Spans:
    width, height = size
    edges = np.roll(corners, -1, axis=1) - corners
    twice = edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]
    drawn = np.flatnonzero(np.abs(twice) > THINNEST)
    corners, edges, twice = corners[drawn], edges[drawn], twice[drawn]
    first = np.ceil(corners[:, :, 1].min(axis=1) - 0.5).clip(0, height).astype(int)
    last = np.floor(corners[:, :, 1].max(axis=1) - 0.5).clip(-1, height - 1).astype(int)
    owner, y = _expanded(first, last)
    # barycentric coordinates of corner i at (x, y): slope_i x + offset_i
    slope = -np.roll(edges[:, :, 1], -1, axis=1) / twice[:, None]
    rise = np.roll(edges[:, :, 0], -1, axis=1) / twice[:, None]
    start = np.roll(corners, -1, axis=1)
    offset = rise[owner] * (y + 0.5)[:, None] - (slope * start[..., 0] + rise * start[..., 1])[owner]
    slope = slope[owner]
    begin, end = _ends(slope, offset, width)
    span, x = _expanded(begin, end)
    return _Spans(span, x, width * y[span] + x, drawn[owner], slope, offset)


def _ends(slope: Array, offset: Array, width: int) -> tuple[Array, Array]:
    """Column of the first and last dot (r,) of each span, at which no barycentric coordinate is negative.

    At the middle x of a dot the barycentric coordinates are ``slope``·x + ``offset``, both (r, 3). In a span without
    such dots, the last is before the first.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = -offset / slope
    left = np.where(slope > 0.0, cut, -np.inf).max(axis=1)
    right = np.where(slope < 0.0, cut, np.inf).min(axis=1)
    outside = ((slope == 0.0) & (offset < 0.0)).any(axis=1)
    begin = np.ceil(left - 0.5).clip(0, width).astype(int)
    return begin, np.where(outside, -1, np.floor(right - 0.5).clip(-1, width - 1)).astype(int)


def _expanded(first: Array, last: Array) -> tuple[Array, Array]:
    """All integers of ranges from ``first`` (r,) to ``last`` (r,): index of the range of each, and the integers."""
    counts = np.maximum(last - first + 1, 0)
    owner = np.repeat(np.arange(len(first)), counts)
    return owner, first[owner] + np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)


LIGHT = np.array([-0.42, 0.62, 0.66])
"""Direction towards the light, to the right, up and towards the reader."""
AMBIENT, DIFFUSE, SHINE, GLOSS = 0.52, 0.56, 0.22, 26.0
"""Factors of ambient light, of diffuse light and of its reflection, and the exponent that makes the reflection
sharp."""
HALO, DARKEST = 5.0, 0.45
"""Width [dots] of the shade that a surface casts on surfaces behind it, and the largest darkening by it."""
OUTLINE, CREASE = 0.5, 0.22
"""Darkening by the lines around parts, and by those along their edges."""
EDGE = 0.6
"""Cosine of the angle between normals below which a line is drawn."""


@dataclass(frozen=True, eq=False)
class Paint:
    """Colours of parts (parts, 3), of a field (n, 3) from its smallest to its largest value, and of lines (3,)."""

    parts: Array
    field: Array
    line: Array


def painted(dots: Dots, normals: Array, shares: Array, owner: Array, *, paint: Paint, size: tuple[int, int]) -> Array:
    """Picture of the shaded visible dots, RGBA (height, width, 4).

    It is zero where no part is seen. ``size`` is (width, height). At each of the n dots: ``normals`` (n, 3) of the
    surface in the axes of the view, ``shares`` (n,) of the field between its smallest (0) and largest value (1),
    negative without a field, and ``owner`` (n,), the index of the part.
    """
    width, height = size
    unit = _towards_reader(normals)
    base = paint.parts[owner]
    if len(paint.field):
        indices = np.flatnonzero(shares >= 0.0)
        base[indices] = paint.field[(shares[indices].clip(0.0, 1.0) * (len(paint.field) - 1)).astype(int)]
    lit = _lit(base, unit)
    lit += _lines(dots, unit, owner, size)[dots.number, None] * (paint.line - lit)
    picture = np.zeros((height * width, 4), dtype=np.float32)
    picture[dots.number, :3] = lit
    picture[dots.number, 3] = 1.0
    return picture.reshape(height, width, 4)


def _towards_reader(normals: Array) -> Array:
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    unit = normals / np.maximum(lengths, np.float32(1e-30))
    unit[unit[:, 2] < 0.0] *= -1.0
    return np.asarray(unit)


def _lit(base: Array, normals: Array) -> Array:
    """Colours (n, 3) of surfaces with the colours ``base`` (n, 3) and unit normals (n, 3) in the axes of the view.

    They have diffuse light, light of the sky and specular reflection.
    """
    light = (LIGHT / np.linalg.norm(LIGHT)).astype(np.float32)
    half = light + np.array([0.0, 0.0, 1.0], dtype=np.float32)
    half /= np.linalg.norm(half)
    diffuse = DIFFUSE * np.maximum(normals @ light, 0.0) + AMBIENT * (0.86 + 0.14 * normals[:, 1])
    shine = SHINE * np.maximum(normals @ half, 0.0) ** GLOSS
    return np.asarray(base * diffuse[:, None] + shine[:, None]).clip(0.0, 1.0)


def _lines(dots: Dots, normals: Array, owner: Array, size: tuple[int, int]) -> Array:
    """Opacity (height·width,), 0 to 1, at all dots of the outlines of parts, silhouettes and sharp edges.

    For each visible dot: ``normals`` (n, 3) is the unit normal of the surface, ``owner`` (n,) the index of the part.
    """
    width, height = size
    numbers = np.full(height * width, -1, dtype=np.int32)
    numbers[dots.number] = np.arange(len(dots.number))
    lines = np.zeros(height * width, dtype=np.float32)
    column = dots.number % width
    for step, inside in ((1, column < width - 1), (width, dots.number < width * (height - 1))):
        here = np.flatnonzero(inside)
        there = numbers[dots.number[here] + step]
        other = np.where(there >= 0, owner[there], -1)
        apart = owner[here] != other
        bent = np.flatnonzero(~apart)
        bent = bent[np.einsum("ij,ij->i", normals[here[bent]], normals[there[bent]]) < EDGE]
        first = dots.number[here[bent]]
        lines[first] = np.maximum(lines[first], np.float32(CREASE))
        outer = dots.number[here[apart]]
        lines[outer] = lines[outer + step] = OUTLINE
    alone = numbers[(dots.number - 1).clip(0)] < 0, numbers[(dots.number - width).clip(0)] < 0
    lines[dots.number[alone[0] | alone[1]]] = OUTLINE
    return lines


def occlusion(depth: Array, reach: float) -> Array:
    """Factors (height, width) by which surfaces close behind others are darkened, from depths (height, width).

    They fall with the difference of the blurred depth and the depth, relative to ``reach``, to a lower bound. Luft,
    Colditz and Deussen, Image enhancement by unsharp masking the depth buffer, SIGGRAPH 2006.
    """
    behind = (blurred(depth, HALO) - depth) / reach
    return np.asarray(1.0 - behind.clip(0.0, DARKEST))


def pixels(dots: Array, finer: int) -> Array:
    """Picture of pixels, each the mean of finer × finer dots, from dots (height, width, n)."""
    blocks = sum(dots[i::finer, j::finer] for i in range(finer) for j in range(finer))
    return np.asarray(blocks) * np.float32(1.0 / finer**2)


def png(picture: Array) -> bytes:
    """PNG file content of a picture (height, width, 4) of bytes."""
    height, width, _ = picture.shape
    rows = np.zeros((height, 1 + 4 * width), dtype=np.uint8)
    rows[:, 1:] = picture.reshape(height, -1)
    head = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    written = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)
