"""Node coordinates of Abaqus input files: *SYSTEM, and *NODE in rectangular, cylindrical or spherical coordinates."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ..axes import Axes, axes_by_x, cylindrical, spherical_by_elevation
from .keywords import Block
from .rows import node_rows
from .vocabulary import in_full

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
