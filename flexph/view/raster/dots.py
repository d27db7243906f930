"""Dots of a picture that triangles cover."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array

THINNEST = 1e-9
"""Twice the area [dots²] up to which a triangle is seen from its edge."""


class Dots(NamedTuple):
    """Dots covered by triangles, by their indices in the picture (n,).

    At each the number of the visible triangle (n,), the barycentric coordinates ``shares`` (n, 3) in it, and the depth
    (n,).
    """

    number: Array
    triangle: Array
    shares: Array
    depth: Array


class _Spans(NamedTuple):
    """Spans: for each triangle and each row of dots, the dots of the row within the triangle.

    Of each dot the span (n,), its place in the row (n,) and its index in the picture (n,); of each span the triangle
    (r,), and barycentric coordinates at x as slope·x + offset, both (r, 3).
    """

    span: Array
    x: Array
    number: Array
    triangle: Array
    slope: Array
    offset: Array


def seen_dots(corners: Array, size: tuple[int, int]) -> Dots:
    """Dots with the triangle, out of (t, 3, 3), that is nearest to the reader.

    Corners are given in dots from the upper left corner, and by depth.
    """
    spans = _spans(corners, size)
    far = corners[spans.triangle, :, 2]
    slope, offset = (np.einsum("ij,ij->i", own, far) for own in (spans.slope, spans.offset))
    depth = slope[spans.span] * (spans.x + 0.5) + offset[spans.span]
    nearest = np.full(size[0] * size[1], -np.inf)
    np.maximum.at(nearest, spans.number, depth)
    seen = np.flatnonzero(depth == nearest[spans.number])
    winner = np.full(nearest.size, -1)
    winner[spans.number[seen]] = seen  # of several at one depth, the last
    own = winner[winner >= 0]
    span = spans.span[own]
    shares = spans.slope[span] * (spans.x[own] + 0.5)[:, None] + spans.offset[span]
    return Dots(spans.number[own], spans.triangle[span], shares, depth[own])


def covered(corners: Array, size: tuple[int, int]) -> Array:
    """Mask (height, width) of the dots that triangles (t, 3, 2) cover."""
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
    """First and last dot of each span, in its row."""
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = -offset / slope
    left = np.where(slope > 0.0, cut, -np.inf).max(axis=1)
    right = np.where(slope < 0.0, cut, np.inf).min(axis=1)
    outside = ((slope == 0.0) & (offset < 0.0)).any(axis=1)
    begin = np.ceil(left - 0.5).clip(0, width).astype(int)
    return begin, np.where(outside, -1, np.floor(right - 0.5).clip(-1, width - 1)).astype(int)


def _expanded(first: Array, last: Array) -> tuple[Array, Array]:
    """Numbers of the rows, and all whole numbers from ``first`` to ``last`` of each row."""
    counts = np.maximum(last - first + 1, 0)
    owner = np.repeat(np.arange(len(first)), counts)
    return owner, first[owner] + np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
