"""External ports: forces, torques and distributed loads, given to ``integrate`` as functions of time."""

from typing import Literal

from ...numerics import checks as check
from ...numerics.arguments import checked
from ..rows.connection import Connection, Input

Axes = Literal["world", "section"]


@checked
def force(port: str, *, axes: Axes = "world", name: str | None = None) -> Connection:
    """An external force (d,) [N] at a port; its output is the velocity of the point.

    ``axes="section"``: the force follows, its components are on the axes of the section at the port.
    """
    follows = check.choice("axes", axes, ("world", "section")) == "section"
    return Connection("force", (port,), input=Input("force", port, follows), label=name)


@checked
def torque(port: str, *, against: str | None = None, axes: Axes = "world", name: str | None = None) -> Connection:
    """An external torque [N m] at a port, (1,) in the plane and (3,) in space; its output is the spin of the section.

    ``against`` is the port of another body, on which the torque acts with the opposite sign, as that of a motor in a
    joint: the output is then the relative spin. ``axes="section"``: the torque follows, its components are on the axes
    of the section at the (first) port.
    """
    follows = check.choice("axes", axes, ("world", "section")) == "section"
    ports = (port,) if against is None else (port, against)
    return Connection("torque", ports, input=Input("torque", port, follows, against), label=name)


@checked
def distributed_load(port: str, *, axes: Literal["world", "body"] = "world", name: str | None = None) -> Connection:
    """A force density on a load port: (k, d), one for each of its k elements, or (d,) for all.

    Per length [N/m] on beams, per area or per volume on solids. Constant on each element, it acts at the element's mean
    displacement: the exact work of the finite-element field. ``axes="body"``: the load follows, its components are on
    the axes of the frame of the body; a pressure p is ``-p * body.loads[port].normals``.
    """
    follows = check.choice("axes", axes, ("world", "body")) == "body"
    return Connection("load", (port,), input=Input("load", port, follows), label=name)
