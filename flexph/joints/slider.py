"""Slider (prismatic joint of the plane)."""

import math

from .. import checks as check
from .connection import (
    Angle,
    Connection,
    Offset,
    PortName,
    Product,
    Row,
    along,
    between,
    offset_at,
    perpendicular,
    relative_angle,
)


def slider(
    port: str, rail: PortName, *, direction: tuple[float, float] = (1.0, 0.0), turning: bool = False
) -> Connection:
    """The port moves on a line through the rail port, along a direction fixed in the rail's section or in the world.

    ``0 = d⊥·(p − p_rail)``; unless ``turning``, the relative angle stays as assembled (a prismatic joint, one relative
    freedom). ``turning=True`` is a pin in a slot (two freedoms), and what a point mass needs.
    """
    x, y = check.array("direction", direction, (2,))
    size = math.hypot(x, y)
    if size == 0.0:
        raise ValueError("direction must not be zero")
    across = along(rail, perpendicular((float(x) / size, float(y) / size)))
    rows = [Row("across", Offset(Product(between(port, rail), across), offset_at(rail)))]
    if not turning:
        rows.append(Row("angle", Angle(*relative_angle(port, rail)), unit="N m"))
    return Connection("slider", (port, rail), tuple(rows))
