"""Coordinate systems of Abaqus input files: of nodes, and of materials."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import finite_rotation
from ..axes import Axes, axes_by_x
from .keywords import Block, pad
from .vocabulary import in_full


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


ORIENTATIONS = ("RECTANGULAR", "CYLINDRICAL", "SPHERICAL", "Z RECTANGULAR", "USER")
DEFINITIONS = ("COORDINATES", "NODES", "OFFSET TO NODES")


def material_axes(block: Block) -> Array | str:
    """Material axes of an *ORIENTATION block as columns (3, 3), or the reason why it is unsupported.

    The block names points a on x and b in the x-y plane, relative to c, and a rotation about one of these axes.
    """
    kind = in_full(block.parameters.get("SYSTEM", "R"), ORIENTATIONS)
    by = in_full(block.parameters.get("DEFINITION", "COORDINATES"), DEFINITIONS)
    if kind != "RECTANGULAR" or by != "COORDINATES" or not 1 <= len(block.texts) <= 2:
        return f"*ORIENTATION ({block.place}), SYSTEM={kind}, DEFINITION={by}, of {len(block.texts)} lines"
    try:
        rows = block.numbers()
    except ValueError:
        return f"*ORIENTATION ({block.place}) by names"
    a, b, c = np.array(pad(rows[0], 9)[:9]).reshape(3, 3)
    try:
        axes = axes_by_x(c, a, b).turn
    except ValueError as error:
        raise ValueError(f"{block.place}: *ORIENTATION must have axes: {error}") from None
    if len(rows) == 1:
        return axes
    axis, angle = (*pad(rows[1], 2)[:2],)
    if axis not in (1.0, 2.0, 3.0):
        raise ValueError(f"{block.place}: *ORIENTATION must turn about axis 1, 2 or 3, got {axis:g}")
    return np.asarray(axes @ finite_rotation(np.deg2rad(angle) * np.eye(3)[int(axis) - 1], 3))
