"""Arrays from the data lines of nodes and elements, and node coordinates in the systems of Abaqus input files."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ..axes import Axes, axes_by_x, cylindrical, spherical_by_elevation
from .keywords import Block, fields, number
from .vocabulary import in_full


def node_rows(block: Block) -> tuple[Array, Array]:
    """Numbers (k,) and coordinates (k, 3) of nodes as written in the file; blank fields are 0."""
    try:  # fast path: equally many numbers in each line
        rows = np.loadtxt(block.texts, delimiter=",", comments=None, ndmin=2) if block.texts else np.zeros((0, 1))
    except ValueError:
        rows = np.zeros((0, 0))
    whole = rows.shape[1] >= 1 and np.isfinite(rows).all() and np.array_equal(rows[:, 0], np.floor(rows[:, 0]))
    if not whole:
        return _slow_rows(block)
    at = np.zeros((len(rows), 3))
    at[:, : min(3, rows.shape[1] - 1)] = rows[:, 1:4]
    return rows[:, 0].astype(int), at


def _slow_rows(block: Block) -> tuple[Array, Array]:
    """Numbers and coordinates as in :func:`node_rows`, read line by line; raises ValueError for a malformed line."""
    numbers, at = [], np.zeros((len(block.texts), 3))
    for k, (place, text) in enumerate(zip(block.places, block.texts, strict=True)):
        row = fields(text)
        try:
            numbers.append(int(row[0]))
            own = [number(word) for word in row[1:4]]
        except ValueError:
            raise ValueError(f"{place}: {', '.join(row)!r} must be a node number and its coordinates") from None
        at[k, : len(own)] = own
    return np.array(numbers, dtype=int), at


def element_rows(block: Block, kind: str, width: int) -> Array:
    """Numbers and nodes of elements, (k, width); an element may take several lines."""
    texts = [text.rstrip(", \t") for text in block.texts]
    ends = np.cumsum([0, *(text.count(",") + 1 for text in texts)])
    wrong = f"{{}}: elements of type {kind} must have a number and {width - 1} nodes each"
    starts = np.arange(0, ends[-1] + 1, width)
    lost = np.flatnonzero(~np.isin(starts, ends))
    if lost.size or ends[-1] % width:
        first = starts[max(int(lost[0]) - 1, 0)] if lost.size else starts[-1]
        row = min(int(np.searchsorted(ends, first, side="right")) - 1, len(block.places) - 1)
        raise ValueError(wrong.format(block.places[row]))
    try:
        return np.array(",".join(texts).split(",") if texts else [], dtype=object).astype(np.int64).reshape(-1, width)
    except ValueError:
        place = next(at for at, text in zip(block.places, texts, strict=True) if not _whole(text))
        raise ValueError(wrong.format(place)) from None


def _whole(text: str) -> bool:
    try:
        return all(isinstance(int(word), int) for word in text.split(","))
    except ValueError:
        return False


SYSTEMS = ("RECTANGULAR", "CYLINDRICAL", "SPHERICAL")


def nodes_in(block: Block) -> tuple[Array, Array]:
    """Numbers (k,) and rectangular coordinates (k, 3), relative to *SYSTEM, of the nodes of a block."""
    given = block.parameters.get("SYSTEM", "R")
    kind = in_full(given, SYSTEMS)
    if kind is None:
        raise ValueError(f"{block.place}: SYSTEM must be R, C or S, got {given!r}")
    numbers, values = node_rows(block)
    if kind == "CYLINDRICAL":
        return numbers, cylindrical(values)
    return numbers, spherical_by_elevation(values) if kind == "SPHERICAL" else values


def system(block: Block) -> Axes:
    """Coordinate system of a *SYSTEM block: origin a, point b on x, point c in the x-y plane; global axes by default.

    Without b, the axes are the global ones; without c, z is the global one, and x is the direction to b in the X-Y
    plane.
    """
    values = [value for row in (pad(row, 6 - 3 * bool(k)) for k, row in enumerate(block.numbers())) for value in row]
    a, b, c = np.array(pad(values, 9)).reshape(3, 3)
    if not block.texts:
        return Axes()
    if len(block.data[0]) <= 3:
        return Axes(a)
    try:
        if len(block.data) == 1:
            level = (b - a) * (1.0, 1.0, 0.0)
            return axes_by_x(a, a + level, a + np.array([-level[1], level[0], 0.0]))
        return axes_by_x(a, b, c)
    except ValueError as error:
        raise ValueError(f"{block.place}: *SYSTEM must have axes: {error}") from None


def pad(row: list[float], width: int) -> list[float]:
    """The numbers of a line, padded with zeros to ``width``."""
    return [*row, *[0.0] * (width - len(row))]
