"""Bodies, joints, ports and limits of a robot by name, with reasons for names of the file that have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...bodies.body import Body
from ...joints.rows.vectors import PortName
from ...numerics.memo import Named
from .carriers import WORLD
from .elements import FIXED, JointElement, Limit, LinkElement
from .joints import RobotJoint
from .parts import Parts


class NamedParts(NamedTuple):
    """Mappings of a robot's parts by name."""

    bodies: Named[str, Body]
    joints: Named[str, RobotJoint]
    ports: Named[str, PortName]
    limits: Named[str, Limit]


def named_parts(
    links: Mapping[str, LinkElement],
    joints: Sequence[JointElement],
    parts: Parts,
    joints_by_name: Mapping[str, RobotJoint],
) -> NamedParts:
    """Parts by name; ``joints_by_name`` are the joints between bodies."""
    bodies = {parts.names[name]: body for name, body in parts.bodies.items()}
    moving = {name: joint for name, joint in joints_by_name.items() if joint.kind != FIXED}
    ports = {name: parts.port_of(name) for name in links if name in parts.carried}
    limits = {joint.name: joint.limit for joint in joints if joint.limit is not None}
    return NamedParts(
        Named(bodies, "robot.bodies", {name: _no_body(name, parts) for name in links if name not in bodies}),
        Named(moving, "robot.joints", {joint.name: _no_joint(joint) for joint in joints if joint.name not in moving}),
        Named(ports, "robot.ports", {name: _empty(name) for name in links if name not in ports}),
        Named(limits, "robot.limits", {joint.name: "the file gives it none" for joint in joints}),
    )


def _no_body(link: str, parts: Parts) -> str:
    """Reason why no body has the name of a link."""
    if link in parts.names:
        return f"its body is called {parts.names[link]!r}"
    if link not in parts.carried:
        return _empty(link)
    carrier = parts.carried[link].carrier
    of = "the ground" if carrier == WORLD else f"body {parts.names[carrier]!r}"
    return f"the link is part of {of}, and robot.ports has its origin"


def _no_joint(joint: JointElement) -> str:
    """Reason why a joint does not move bodies."""
    return "it is fixed" if joint.kind == FIXED else f"it is left out, since {_empty(joint.child)}"


def _empty(link: str) -> str:
    return f"link {link!r} and all that hangs at it have neither mass nor inertia"
