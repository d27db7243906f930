"""Picture of a scene at one time, drawn by numpy without a browser or a graphics library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..scenes.scene import Scene
from .creases import unit_normals
from .looks import COLOURS, MAPS, coloured, is_diverging, limits_of, unit_of

FINER = 2
"""Samples along the edge of a pixel, for antialiasing."""
FILLED = 0.94
"""Share of the picture that the mechanism may fill."""
LIGHT = np.array([-0.3, 0.55, 0.78])
"""Direction towards the light: right, up, towards the viewer."""


class Triangles(NamedTuple):
    """Triangles (t, 3, 3) in the axes right, up, towards the viewer, with corner colours (t, 3, 3)."""

    corners: Array
    colours: Array


def still(scene: Scene, row: int, field: str | None, *, size: tuple[int, int] = (480, 300)) -> bytes:
    """Picture of a scene at a row as transparent PNG, with the whole motion in view."""
    return png(drawn(scene, [row], field, size=size))


def drawn(scene: Scene, rows: Iterable[int], field: str | None, *, size: tuple[int, int]) -> list[Array]:
    """Pictures (height, width, 4), in bytes, of a scene at some rows, with a common camera."""
    shown = scene.without("arrow")
    width, height = (FINER * length for length in size)
    axes = view_axes(scene.dim)
    low, high = _ends(shown, axes)
    factor = FILLED * min(width / max(high[0] - low[0], 1e-30), height / max(high[1] - low[1], 1e-30))
    pictures = []
    for row in rows:
        triangles = _triangles(shown, row, field, axes)
        places = (triangles.corners - 0.5 * (low + high)) * [factor, -factor, factor] + [0.5 * width, 0.5 * height, 0.0]
        fine = rasterised(places, triangles.colours, (width, height))
        blocks = np.sum([fine[i::FINER, j::FINER] for i in range(FINER) for j in range(FINER)], axis=0)
        cover = blocks[..., 3:]
        blocks[..., :3] *= 255.0 / np.maximum(cover, 1.0)
        cover *= 255.0 / FINER**2
        pictures.append((blocks + 0.5).astype(np.uint8))
    return pictures


def view_axes(dim: int) -> Array:
    """Rows of unit vectors right, up and towards the viewer: planar scenes from the front, spatial ones from above."""
    towards, up = ((0.1, -0.34, 1.0), (0.0, 1.0, 0.0)) if dim == 2 else ((0.5, -1.0, 0.52), (0.0, 0.0, 1.0))
    z = np.array(towards) / np.linalg.norm(towards)
    x = np.cross(up, z) / np.linalg.norm(np.cross(up, z))
    return np.array([x, np.cross(z, x), z])


def _ends(scene: Scene, axes: Array) -> tuple[Array, Array]:
    """Smallest and largest coordinates over some of the times in the axes of the picture."""
    points = []
    for part in scene.parts:
        some = part.points[:: max(1, len(part.points) // 24)]
        points.append(some.reshape(-1, 3) @ axes.T)
    return np.min([p.min(axis=0) for p in points], axis=0), np.max([p.max(axis=0) for p in points], axis=0)


def _triangles(scene: Scene, row: int, field: str | None, axes: Array) -> Triangles:
    corners, colours = [], []
    for part in scene.parts:
        if part.cell_type != "triangle" or not len(part.cells):
            continue
        own = (part.at(row) @ axes.T)[part.cells]
        light = 0.55 + 0.5 * np.abs(unit_normals(own) @ LIGHT)
        colour = np.broadcast_to(_rgb([COLOURS[part.kind]])[0], own.shape)
        if field is not None and coloured(part, field):
            values = part.point_fields[field].values
            colour = _mapped(scene, field, values[min(row, len(values) - 1)][part.cells])
        corners.append(own)
        colours.append((colour * light[:, None, None]).clip(0.0, 1.0))
    return Triangles(np.concatenate(corners), np.concatenate(colours))


def _mapped(scene: Scene, field: str, values: Array) -> Array:
    """Colours (…, 3) of values of a field."""
    stops = _rgb(MAPS["diverging" if is_diverging(scene, field) else "sequential"])
    factor, (low, high) = unit_of(scene, field)[0], limits_of(scene, field)
    shares = (factor * values - low) / ((high - low) or 1.0)
    return np.stack([np.interp(shares, np.linspace(0.0, 1.0, len(stops)), own) for own in stops.T], axis=-1)


def _rgb(colours: Array | tuple[str, ...] | list[str]) -> Array:
    return np.array([[int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)] for colour in colours])


def rasterised(corners: Array, colours: Array, size: tuple[int, int]) -> Array:
    """Raster image (height, width, 4) of triangles (t, 3, 3) given in samples from the upper left corner and by depth.

    Each row of samples cuts a triangle in one span; at each sample the triangle nearest to the viewer is visible.
    """
    width, height = size
    edges = np.roll(corners, -1, axis=1) - corners
    twice = edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]
    drawn = np.abs(twice) > 1e-9
    corners, colours, edges, twice = corners[drawn], colours[drawn], edges[drawn], twice[drawn]
    first = np.ceil(corners[:, :, 1].min(axis=1) - 0.5).clip(0).astype(int)
    last = np.floor(corners[:, :, 1].max(axis=1) - 0.5).clip(-1, height - 1).astype(int)
    owner, y = _expanded(first, last)
    # barycentric coordinates of corner i at (x, y): slope_i x + offset_i
    slope = -np.roll(edges[:, :, 1], -1, axis=1) / twice[:, None]
    rise = np.roll(edges[:, :, 0], -1, axis=1) / twice[:, None]
    start = np.roll(corners, -1, axis=1)
    offset = rise[owner] * (y + 0.5)[:, None] - (slope * start[..., 0] + rise * start[..., 1])[owner]
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = -offset / slope[owner]
    left = np.where(slope[owner] > 0.0, cut, -np.inf).max(axis=1)
    right = np.where(slope[owner] < 0.0, cut, np.inf).min(axis=1)
    outside = ((slope[owner] == 0.0) & (offset < 0.0)).any(axis=1)
    begin = np.ceil(left - 0.5).clip(0, width).astype(int)
    end = np.where(outside, -1, np.floor(right - 0.5).clip(-1, width - 1)).astype(int)
    span, x = _expanded(begin, end)
    triangle, dot = owner[span], width * y[span] + x
    shares = slope[triangle] * (x + 0.5)[:, None] + offset[span]
    depth = np.einsum("ij,ij->i", shares, corners[triangle, :, 2])
    nearest = np.full(width * height, -np.inf)
    np.maximum.at(nearest, dot, depth)
    seen = depth == nearest[dot]
    picture = np.zeros((width * height, 4), dtype=np.float32)
    picture[dot[seen], :3] = np.einsum("ij,ijk->ik", shares[seen], colours[triangle[seen]])
    picture[dot[seen], 3] = 1.0
    return picture.reshape(height, width, 4)


def _expanded(first: Array, last: Array) -> tuple[Array, Array]:
    """Integers from first to last of each row, and the indices of the rows."""
    counts = np.maximum(last - first + 1, 0)
    owner = np.repeat(np.arange(len(first)), counts)
    return owner, first[owner] + np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)


def png(pictures: Sequence[Array], rate: int = 15) -> bytes:
    """PNG of pictures (height, width, 4) in bytes; several form a looped animation of ``rate`` pictures per second."""
    height, width, _ = pictures[0].shape
    chunks = [(b"IHDR", struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0))]
    if len(pictures) > 1:
        chunks.append((b"acTL", struct.pack(">2I", len(pictures), 0)))
    for k, picture in enumerate(pictures):
        rows = np.zeros((height, 1 + 4 * width), dtype=np.uint8)
        rows[:, 1:] = picture.reshape(height, -1)
        data = zlib.compress(rows.tobytes())
        if len(pictures) > 1:
            number = 2 * k - 1 if k else 0  # all chunks of an animation are counted but the first of data
            chunks.append((b"fcTL", struct.pack(">5I2H2B", number, width, height, 0, 0, 1, rate, 0, 0)))
        chunks.append((b"fdAT", struct.pack(">I", 2 * k) + data) if k else (b"IDAT", data))
    written = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in [*chunks, (b"IEND", b"")]
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)
