"""Lock of a joint: constraints that fix the relative position and rotation of its ports."""

from __future__ import annotations

from collections.abc import Mapping

from ..bodies.nodal_body import AnyBody
from ..bodies.ports import find_port
from ..joints.rows.connection import Connection, Form, Row, angle_row, relative_angle, same_rotation
from ..joints.rows.laws import Offset
from ..joints.rows.signs import Solid
from ..joints.rows.vectors import Ground, PortName, Product, along, axis, between


def joint_lock(joint: Connection, bodies: Mapping[str, AnyBody], name: str) -> Connection:
    """Connection that fixes the relative position and rotation of the ports of a joint.

    With the vector V from one port to the other and the directions d of the section of a port, the constraints are
    V·d = const. If both ports have sections, the relative rotation is constrained as well. All are products of world
    vectors, so that linear and angular momentum are conserved.

    Raises ValueError if neither port has a section.
    """
    first, second = joint.ports
    sections = [port for port in (second, first) if _has_section(port, bodies)]
    if not sections:
        raise ValueError(f"lock({joint.name!r}): its ports are points without directions, which a lock cannot hold")

    def make(dim: int) -> Form:
        gap = between(first, second)
        axes = [along(sections[0], axis(i, dim)) for i in range(dim)]
        rows = tuple(Row("xyz"[i], Offset(Product(gap, d), None)) for i, d in enumerate(axes))
        signs = (Solid("block", first),)
        if len(sections) == 1:
            return Form(rows, signs=signs)
        if dim == 2:
            return Form((*rows, angle_row(relative_angle(first, second, 2), None)), signs=signs)
        return Form((*rows, *same_rotation(first, second, None)), signs=signs)

    return Connection("lock", (first, second), make, label=name)


def _has_section(port: PortName, bodies: Mapping[str, AnyBody]) -> bool:
    """True if the port has a section, which defines directions."""
    return isinstance(port, Ground) or find_port(port, bodies)[1].rotation is not None
