"""Location of a point in a body: the drawn cells around it and their interpolation weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..bodies.fields import View
from ..numerics import checks as check
from ..numerics.arrays import Array

OUTSIDE = 0.1
"""Tolerance for points outside a cell, relative to the cell's size: sides may be curved."""
LINE_OUTSIDE = 1e-6
"""Tolerance along lines, whose pieces are straight: round-off of the input."""


def shares(view: View, body: str, at: Sequence[float]) -> dict[int, float]:
    """Indices of the cells of a body whose stresses give the stress at a point, with their weights.

    In general this is the cell with the nearest centre, with weight 1. In a body drawn as a line, values are
    interpolated linearly between the middles of the two nearest cells and extrapolated to the ends: moments of beam
    elements are linear, so that this gives the moment at a clamped root instead of that in the middle of the last cell.
    ``at`` is the point in body axes [m]. Raises ValueError for a point outside the body.
    """
    cell = nearest_cell(view, body, at)
    if view.cell_type != "line":
        return {cell: 1.0}
    given = np.asarray(at, dtype=float)
    return _shares(view.points[view.cells][:, :, : given.size], cell, given)


def nearest_cell(view: View, body: str, at: Sequence[float]) -> int:
    """Index of the drawn cell of a body with the centre nearest to the point ``at`` (body axes [m]).

    Raises ValueError for a point outside the body.
    """
    given = inside(view, body, at)
    centres = view.points[view.cells][:, :, : given.size].mean(axis=1)
    return int(((centres - given) ** 2).sum(axis=1).argmin())


def _shares(corners: Array, cell: int, given: Array) -> dict[int, float]:
    """Weights with which values in the cells of a line give the value at a point, by index of the cell.

    ``given`` is the point, on the cell with the index ``cell``; ``corners`` are the ends of all cells.
    """
    centres = corners.mean(axis=1)
    along = corners[cell, -1] - corners[cell, 0]
    if not along.any():  # a piece across the given coordinates
        return {cell: 1.0}
    ahead = float((given - centres[cell]) @ along)
    neighbours = [k for k in (cell + 1, cell - 1) if 0 <= k < len(centres) and _share_a_point(corners, cell, k)]
    if not neighbours:
        return {cell: 1.0}
    nearest = [k for k in neighbours if (k > cell) == (ahead > 0.0)]
    other = (nearest or neighbours)[0]
    part = ahead / float((centres[other] - centres[cell]) @ along)
    return {cell: 1.0 - part, other: part}


def drawn_places(view: View, *, ends: bool) -> tuple[Array, Any]:
    """Points (q, d) at which drawn stresses are evaluated, and sparse weights (q, c) of the stresses of c cells there.

    The points are the middles of the cells in order and, with ``ends``, the ends of a line, where moments are largest;
    see :func:`shares`.
    """
    corners, count = view.points[view.cells], len(view.cells)
    centres = corners.mean(axis=1)
    if view.cell_type != "line" or not ends:
        return centres, sparse.eye_array(count, format="csr")
    met = np.bincount(view.cells.ravel(), minlength=len(view.points))
    places, rows = [], []
    for k, (first, last) in enumerate(view.cells):
        before, after = ([node] if met[node] == 1 else [] for node in (first, last))
        for end in (*before, None, *after):
            places.append(centres[k] if end is None else view.points[end])
            rows.append({k: 1.0} if end is None else _shares(corners, k, view.points[end]))
    entries = [(i, k, share) for i, row in enumerate(rows) for k, share in row.items()]
    row_of, piece, values = (np.array(part) for part in zip(*entries, strict=True))
    return np.array(places), sparse.csr_array((values, (row_of, piece)), shape=(len(rows), count))


def _share_a_point(corners: Array, one: int, other: int) -> bool:
    """True if, of the cells ``one`` and ``other`` of a line, that with the larger index starts where the other ends."""
    first, second = sorted((one, other))
    size = np.abs(corners[first, 1] - corners[first, 0]).max()
    return bool(np.allclose(corners[first, 1], corners[second, 0], rtol=0.0, atol=LINE_OUTSIDE * size))


def inside(view: View, body: str, at: Sequence[float]) -> Array:
    """Array of the coordinates of a point that a user gave in body axes [m].

    Raises ValueError for a point outside of the drawn body.
    """
    given = check.array("at", at, (None,))
    if given.size > view.points.shape[1]:
        raise ValueError(f"at must have {view.points.shape[1]} coordinates at most, got {given.size}")
    corners = view.points[view.cells][:, :, : given.size]
    low, high = corners.min(axis=1), corners.max(axis=1)
    tolerance = LINE_OUTSIDE if view.cell_type == "line" else OUTSIDE
    room = tolerance * np.linalg.norm(high - low, axis=1)[:, None]
    low, high = low - _half_widths(view)[: given.size], high + _half_widths(view)[: given.size]
    if not ((low - room <= given) & (given <= high + room)).all(axis=1).any():
        bounds = ", ".join(f"{a:.6g} to {b:.6g} m" for a, b in zip(low.min(axis=0), high.max(axis=0), strict=True))
        raise ValueError(
            f"at must be a point of body {body!r} in its own axes, undeformed, which is drawn over {bounds}; "
            f"got {tuple(given.tolist())}"
        )
    return given


def _half_widths(view: View) -> Array:
    """Half widths (3,) [m] of the swept section of a body along its axes, zeros for a body without a swept section.

    They are the largest distances of its outline from the line of the body.
    """
    if view.sweep is None:
        return np.zeros(3)
    return np.append(0.0, np.abs(view.sweep.outline).max(axis=0))
