"""Directions fixed in sections: unit axes, and frames about a joint axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy

from ...numerics import checks as check
from .vectors import Direction


def axis(index: int, dim: int) -> Direction:
    """Unit direction number ``index``."""
    return tuple(1.0 if i == index else 0.0 for i in range(dim))


def unit(name: str, direction: Sequence[float]) -> Direction:
    """The direction with length one; raises ValueError unless it has 2 or 3 components and a length."""
    given = check.array(name, direction, (None,))
    if given.size not in (2, 3):
        raise ValueError(f"{name} must have 2 components in the plane or 3 in space, got {given.size}")
    size = math.sqrt(float(given @ given))
    if size == 0.0:
        raise ValueError(f"{name} must not be zero, got {tuple(given.tolist())}")
    return tuple((given / size).tolist())


def fitting(name: str, direction: Direction, dim: int) -> Direction:
    """The direction, refused where it is one of the plane in space or the other way round."""
    if len(direction) != dim:
        place = "the plane" if dim == 2 else "space"
        raise ValueError(f"{name} must have {dim} components in {place}, got {len(direction)}")
    return direction


def perpendicular(direction: Direction) -> Direction:
    """A direction of the plane turned by +90°."""
    return (-direction[1], direction[0])


def frame_about(direction: Direction) -> tuple[Direction, Direction]:
    """Two directions of space that make a right-handed frame (first, second, direction): e_x, e_y about e_z.

    The first lies nearest to the axis of the section that is most nearly perpendicular to the direction.
    """
    n = np.array(direction)
    nearest = np.eye(3)[np.argmin(np.abs(n))]
    x = nearest - (nearest @ n) * n
    x /= np.linalg.norm(x)
    return tuple(x.tolist()), tuple(np.cross(n, x).tolist())


def transported_frame(first: Direction, second: Direction, zero: float = 0.0) -> tuple[Direction, Direction]:
    """:func:`frame_about` the first direction, turned to the second by the smallest rotation that takes one to other.

    About opposite directions, the rotation by π about the first direction of the frame. The frame is then turned about
    the second direction by ``zero`` [rad]: an angle that counts from it is less by so much.
    """
    x, y = (np.array(d) for d in frame_about(first))
    a, b = np.array(first), np.array(second)
    turn = np.cross(a, b)
    size, c = float(np.linalg.norm(turn)), float(a @ b)
    if size < 1e-14:
        return turned_by(zero, tuple(x.tolist()), tuple((y if c > 0.0 else -y).tolist()))
    carry = scipy.spatial.transform.Rotation.from_rotvec(turn * (math.atan2(size, c) / size))
    return turned_by(zero, tuple(carry.apply(x).tolist()), tuple(carry.apply(y).tolist()))


def turned_by(angle: float, x: Direction, y: Direction) -> tuple[Direction, Direction]:
    """Two perpendicular directions turned by an angle [rad] in their plane, from x to y."""
    if angle == 0.0:
        return x, y
    c, s = math.cos(angle), math.sin(angle)
    turned = [tuple(c * a + s * b for a, b in zip(*pair, strict=True)) for pair in ((x, y), (y, tuple(-a for a in x)))]
    return turned[0], turned[1]


Axes = tuple[Direction, Direction]


def unit_axes(
    first: Sequence[float] | None, second: Sequence[float] | None, name: str = "axis"
) -> tuple[Direction, Direction] | None:
    """The axis of a joint in the sections of its two ports, the same components in both unless a second is given."""
    if first is None:
        if second is not None:
            raise ValueError(f"second_{name} needs {name}: directions in the sections of both ports")
        return None
    n = unit(name, first)
    return n, n if second is None else unit(f"second_{name}", second)


def spatial_axes(axes: Axes | None, dim: int, kind: str, name: str = "axis", *, instead: str = "") -> Axes:
    """The axes of a joint of space; raises ValueError in the plane (with what to take there) and for none."""
    if dim != 3:
        cure = f": in the plane use {instead}" if instead else ""
        raise ValueError(f"{kind} is a joint of space, and this mechanism is planar{cure}")
    if axes is None:
        raise ValueError(f"{kind} needs {name}=(x, y, z) in space, in the axes of the first port's section")
    return fitting(name, axes[0], 3), fitting(f"second_{name}", axes[1], 3)
