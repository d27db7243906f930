"""Bodies and connections from the links and joints of a robot, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...bodies.body import Body
from ...joints.forces.load import torque
from ...joints.forces.spring_damper import torsion_spring
from ...joints.lower_pairs import planar, prismatic, revolute, spherical
from ...joints.rows.connection import Connection
from ...joints.rows.vectors import GROUND, PortName
from ...joints.transmissions import coupled_joints
from ...joints.weld import weld
from ...laws.resistive_relations import Relation, coulomb, viscous
from ...numerics.arrays import Array
from ...numerics.memo import Named
from .carriers import WORLD, CarrierPose, carriers
from .elements import (
    BALL,
    FIXED,
    FLOATING,
    PLANAR,
    SLIDING,
    TURNING,
    JointElement,
    Limit,
    LinkElement,
    Mimic,
    free_names,
)
from .joints import JointEnd, RobotJoint, against, robot_joint
from .massless import Skeleton
from .parts import Flexible, Parts, parts_of
from .robot import Robot, RobotLayout
from .shapes import ShapesOf, contact_shape, none_of, port_names
from .tree import couplings


class NamedParts(NamedTuple):
    """Bodies, joints, ports and limits of a robot by name, whose errors say why a name of the file is missing."""

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
    """Mappings of bodies, joints, ports and limits for :class:`Robot`, each with reasons for the missing names.

    ``joints_by_name`` are the joints between two bodies, ``joints`` all joints of the file.
    """
    bodies = {parts.names[name]: body for name, body in parts.bodies.items()}
    moving = {name: joint for name, joint in joints_by_name.items() if joint.kind != FIXED}
    ports = {name: parts.port_of(name) for name in links if name in parts.carrier_poses}
    limits = {joint.name: joint.limit for joint in joints if joint.limit is not None}
    return NamedParts(
        Named(bodies, "robot.bodies", {name: _no_body(name, parts) for name in links if name not in bodies}),
        Named(moving, "robot.joints", {joint.name: _no_joint(joint) for joint in joints if joint.name not in moving}),
        Named(ports, "robot.ports", {name: _empty(name) for name in links if name not in ports}),
        Named(limits, "robot.limits", {joint.name: "the file gives it none" for joint in joints}),
    )


def _no_body(link: str, parts: Parts) -> str:
    """Reason why there is no body with the name of a link."""
    if link in parts.names:
        return f"its body is called {parts.names[link]!r}"
    if link not in parts.carrier_poses:
        return _empty(link)
    carrier = parts.carrier_poses[link].carrier
    of = "the ground" if carrier == WORLD else f"body {parts.names[carrier]!r}"
    return f"the link is part of {of}, and robot.ports has its origin"


def _no_joint(joint: JointElement) -> str:
    """Reason why a joint does not move bodies."""
    return "it is fixed" if joint.kind == FIXED else f"it is left out, since {_empty(joint.child)}"


def _empty(link: str) -> str:
    return f"link {link!r} and all that hangs at it have neither mass nor inertia"


ELEMENTS = ("damping", "mimic", "stop", "spring", "drive", "effort", "rotor")
"""Prefixes of the names of elements at a joint."""


class Options(NamedTuple):
    """Options of the readers of robot files.

    ``flexible``: functions that create flexible links, by link; ``fixed``: True if the root is fixed to the ground;
    ``friction_speed``: creep speed of dry friction, None without dry friction; ``shapes``: function that returns the
    shapes of a link.
    """

    flexible: Mapping[str, Flexible]
    fixed: bool
    friction_speed: float | None
    shapes: ShapesOf = none_of


def assembled(
    links: Mapping[str, LinkElement],
    joints: tuple[JointElement, ...],
    root: str,
    followers: Mapping[str, Mimic],
    *,
    options: Options,
    loops: Sequence[JointElement] = (),
) -> Robot:
    """Robot from checked links and joints in tree order, from the root outward.

    ``followers`` are laws of joints that follow others. ``loops`` are joints that close loops, each between two
    massless links that are fixed to the connected links at the origin of the joint, with its axes.
    """
    carrier_poses = carriers(links, joints, root, flexible=options.flexible, fixed=options.fixed)
    kept = [joint for joint in joints if _is_kept(joint, carrier_poses)]
    coupled = couplings(followers, {joint.name for joint in kept})
    is_free = not options.fixed and carrier_poses[root].carrier != WORLD
    skeleton = Skeleton(root, is_free, joints, {name: one.carrier for name, one in carrier_poses.items()}, coupled)
    parts = parts_of(links, carrier_poses, kept, flexible=options.flexible, skeleton=skeleton, shapes=options.shapes)
    labels = _labels([*kept, *loops])
    robot_joints = {joint.name: _robot_joint(joint, parts, labels, followers) for joint in kept}
    connections = _root_weld(root, parts, options)
    for joint in kept:
        connections += _connections(joint, robot_joints[joint.name], parts, options.friction_speed)
    for joint in loops:
        closed = _closed(joint, parts)
        connections += _connections(closed, _closing_joint(closed, parts, labels), parts, options.friction_speed)
    for name, law in coupled.items():
        follower, leader = robot_joints[name], robot_joints[law.leader].coupling if law.leader else None
        connections.append(coupled_joints(follower.coupling, leader, ratio=law.ratio, name=f"mimic {follower.label}"))
    named, leaders = named_parts(links, joints, parts, robot_joints), {followers[name].leader for name in coupled}
    lost = {name: why for name, why in named.joints.why.items() if name not in leaders}
    return Robot(
        named.bodies,
        tuple(connections),
        *(named.joints, named.ports, named.limits),
        RobotLayout(root, is_free, joints, followers, _frames(parts), lost),
        collisions=_collisions(links, parts),
    )


def _collisions(links: Mapping[str, LinkElement], parts: Parts) -> dict[str, tuple[Any, ...]]:
    """Contact shapes by link, for links with such shapes."""
    return {
        name: tuple(
            contact_shape(shape, *parts.shape_port(name, port, shape.pose))
            for port, shape in port_names(name, link.shapes).items()
        )
        for name, link in links.items()
        if link.shapes and name in parts.carrier_poses
    }


def _is_kept(joint: JointElement, carrier_poses: Mapping[str, CarrierPose]) -> bool:
    """True if a joint connects two different bodies, so that it is a joint of the mechanism."""
    above, below = carrier_poses.get(joint.parent), carrier_poses.get(joint.child)
    return above is not None and below is not None and above.carrier != below.carrier


def _frames(parts: Parts) -> dict[str, tuple[str, Array]]:
    """For each body of a robot, its link, and the pose (4, 4) of the body's frame in the frame of this link."""
    return {parts.names[name]: (name, parts.frames.get(name, np.eye(4))) for name in parts.bodies}


def _labels(joints: Sequence[JointElement]) -> dict[str, str]:
    """Label of each joint by its name.

    Labels are valid in the names of connections, and unique there.
    """
    names = [joint.name for joint in joints]
    return free_names(names, {f"{word} {name}" for word in ELEMENTS for name in names})


def _robot_joint(
    joint: JointElement, parts: Parts, labels: Mapping[str, str], followers: Mapping[str, Mimic]
) -> RobotJoint:
    child = JointEnd(parts.port_of(joint.child), parts.section(joint.child))
    parent = JointEnd(parts.port_before(joint), parts.section(joint.parent))
    return robot_joint(joint, labels[joint.name], child, parent, mimic=followers.get(joint.name))


def _closed(joint: JointElement, parts: Parts) -> JointElement:
    """Joint that closes a loop, with parent and child exchanged if the child is the ground.

    Raises ValueError if both belong to one body, or if one is a massless link without a body.
    """
    lost = [name for name in (joint.parent, joint.child) if name not in parts.carrier_poses]
    ends = [parts.carrier_poses[name].carrier for name in (joint.parent, joint.child) if name not in lost]
    if lost or ends[0] == ends[1]:
        why = (
            f"link {lost[0]!r} has no mass and is fixed to no link with mass"
            if lost
            else "both of its ends belong to one body, or to the ground"
        )
        raise ValueError(f"joint {joint.name!r} cannot close a loop: {why}")
    return joint._replace(parent=joint.child, child=joint.parent) if ends[1] == WORLD else joint


def _closing_joint(joint: JointElement, parts: Parts, labels: Mapping[str, str]) -> RobotJoint:
    child, parent = (JointEnd(parts.port_of(name), parts.section(name)) for name in (joint.child, joint.parent))
    return robot_joint(joint, labels[joint.name], child, parent, mimic=None)


def _root_weld(root: str, parts: Parts, options: Options) -> list[Connection]:
    if not options.fixed or parts.carrier_poses[root].carrier == WORLD:
        return []
    return [weld(str(parts.port_of(root)), GROUND.at(0.0, 0.0, 0.0))]


def _connections(
    element: JointElement, joint: RobotJoint, parts: Parts, friction_speed: float | None
) -> list[Connection]:
    """Connections of a joint: the joint itself, its damper, and the external port of its motor.

    ``friction_speed``: creep speed of dry friction, None without dry friction.
    """
    ends: tuple[Any, Any] = joint.port, joint.reference
    axes: dict[str, Any] = {"axis": joint.axis, "second_axis": joint.second_axis}
    friction = _friction(element, friction_speed)
    if element.kind == FIXED:
        turned = parts.section(element.parent) @ element.origin[:3, :3] @ parts.section(element.child).T
        return [weld(*ends, rotation=turned)]
    if element.kind in SLIDING:
        return [prismatic(*ends, direction=joint.second_axis, friction=friction)]
    if element.kind == PLANAR:
        return [planar(*ends, normal=joint.axis, second_normal=joint.second_axis)]
    if element.kind == FLOATING:
        return []
    if element.kind == BALL:
        return [spherical(*ends), torque(joint.port, name=joint.label, against=against(joint.reference))]
    assert element.kind in TURNING
    connections = [revolute(*ends, **axes), torque(joint.port, name=joint.label, against=against(joint.reference))]
    if friction is not None:
        connections.append(torsion_spring(*ends, damping=friction, name=f"damping {joint.label}", **axes))
    return connections


def _friction(joint: JointElement, speed: float | None) -> Relation | None:
    """Resistive relation of a joint: damping and, if a creep speed is given, dry friction; None without both."""
    if speed is not None and joint.friction > 0.0:
        return coulomb(joint.friction, speed=speed, viscous=joint.damping)
    return viscous(joint.damping) if joint.damping > 0.0 else None
