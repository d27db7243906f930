"""Bodies and connections of the links and joints of a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...bodies.body import Body
from ...joints.forces.load import torque
from ...joints.forces.spring_damper import torsion_spring
from ...joints.planar import planar
from ...joints.prismatic import prismatic
from ...joints.revolute import revolute
from ...joints.rows.connection import Connection
from ...joints.rows.vectors import GROUND, PortName
from ...joints.transmissions.coupled_joints import coupled_joints
from ...joints.weld import weld
from ...mechanisms.model.layout import PARTS
from ...numerics.arrays import Array
from ...systems.resistive_relations import Relation, coulomb, viscous
from .bodies import Flexible, flexible_body, rigid_body
from .carriers import WORLD, Carried, carriers
from .elements import FIXED, FLOATING, PLANAR, SLIDING, TURNING, JointElement, LinkElement, Mimic
from .joints import End, RobotJoint, against, robot_joint
from .masses import Masses, check_moments, masses_of, together
from .names import free_names
from .robot import Kinematics, Robot
from .tree import couplings
from .weightless import check_determined, completed

ELEMENTS = ("damping", "mimic", "stop", "spring", "drive", "effort")
"""First words of the names of elements at a joint."""


class Options(NamedTuple):
    """Flexible links, whether the root is fixed, and the speed below which dry friction sticks."""

    flexible: Mapping[str, Flexible]
    fixed: bool
    friction_speed: float | None


class Parts(NamedTuple):
    """Bodies by their link, frames of the flexible ones in their links, and ports of links and joints."""

    bodies: Mapping[str, Body]
    frames: Mapping[str, Array]
    names: Mapping[str, str]
    carried: Mapping[str, Carried]
    link_ports: Mapping[str, str]
    joint_ports: Mapping[str, str]


def assembled(
    links: Mapping[str, LinkElement],
    joints: tuple[JointElement, ...],
    root: str,
    followers: Mapping[str, Mimic],
    *,
    options: Options,
) -> Robot:
    """The robot of links that were checked and joints each after that of its parent."""
    carried = carriers(links, joints, root, flexible=options.flexible, fixed=options.fixed)
    kept = [joint for joint in joints if _is_kept(joint, carried)]
    coupled = couplings(followers, {joint.name for joint in kept})
    own = [name for name in links if name in carried and carried[name].carrier == name]
    if not own:
        empty = all(link.is_empty for link in links.values())
        lacking = "no link has mass or inertia" if empty else "all links with mass are fixed to the ground"
        raise ValueError(f"the robot must have a link with mass that is not the ground: {lacking}")
    flexed = {n: flexible_body(n, _after(n, kept), options.flexible[n]) for n in own if n in options.flexible}
    masses = {name: _mass_of(name, links, carried, flexed) for name in own}
    check_moments(masses)
    carrier = {name: one.carrier for name, one in carried.items()}
    whole = completed(masses, joints, carrier)
    is_free = not options.fixed and carrier[root] != WORLD
    check_determined(
        masses, whole, joints, carrier=carrier, couplings=coupled, free=carrier[root] if is_free else None, root=root
    )
    parts = _parts(own, whole, carried, kept, flexed)
    names = [joint.name for joint in kept]
    labels = free_names(names, {f"{word} {name}" for word in ELEMENTS for name in names})
    found = {joint.name: _between(joint, parts, labels[joint.name], followers.get(joint.name)) for joint in kept}
    connections = _root_weld(root, parts, options)
    for joint in kept:
        connections += _connections(joint, found[joint.name], parts, options.friction_speed)
    for name, law in coupled.items():
        leader = found[law.leader].coupling if law.leader else None
        connections.append(coupled_joints(found[name].coupling, leader, ratio=law.ratio, name=f"mimic {labels[name]}"))
    frames = {parts.names[name]: (name, parts.frames.get(name, np.eye(4))) for name in own}
    return Robot(
        {parts.names[name]: parts.bodies[name] for name in own},
        tuple(connections),
        {name: joint for name, joint in found.items() if joint.kind != FIXED},
        {name: _port_of(name, parts) for name in links if name in carried},
        {joint.name: joint.limit for joint in joints if joint.limit is not None},
        Kinematics(root, is_free, joints, followers, frames),
    )


def _is_kept(joint: JointElement, carried: Mapping[str, Carried]) -> bool:
    """Whether a joint leads to a body, and is not within one."""
    above, below = carried.get(joint.parent), carried.get(joint.child)
    return above is not None and below is not None and above.carrier != below.carrier


def _after(name: str, kept: Sequence[JointElement]) -> dict[str, Array]:
    return {joint.name: joint.origin[:3, 3] for joint in kept if joint.parent == name}


def _mass_of(
    name: str,
    links: Mapping[str, LinkElement],
    carried: Mapping[str, Carried],
    flexed: Mapping[str, tuple[Body, Array]],
) -> Masses:
    if name in flexed:
        body, frame = flexed[name]
        return together([(Masses(body.mass, body.centre, body.moments), frame)])
    members = [(masses_of(links[n]), one.pose) for n, one in carried.items() if one.carrier == name]
    heavy = [(own, pose) for own, pose in members if own.mass or own.moments.any()]
    if len(heavy) == 1 and np.array_equal(heavy[0][1], np.eye(4)):
        return heavy[0][0]
    return together(heavy)


def _parts(
    own: Sequence[str],
    masses: Mapping[str, Masses],
    carried: Mapping[str, Carried],
    kept: Sequence[JointElement],
    flexed: Mapping[str, tuple[Body, Array]],
) -> Parts:
    """Bodies with ports at the joints after them and at the links that belong to them."""
    starts: dict[str, dict[str, Array]] = {name: {} for name in own}
    members: dict[str, dict[str, Array]] = {name: {} for name in own}
    for joint in kept:
        carrier, pose = carried[joint.parent]
        if carrier != WORLD:
            starts[carrier][joint.name] = (pose @ joint.origin)[:3, 3]
    for name, (carrier, pose) in carried.items():
        if carrier not in (WORLD, name):
            members[carrier][name] = pose[:3, 3]
    bodies: dict[str, Body] = {}
    link_ports: dict[str, str] = {}
    joint_ports: dict[str, str] = {}
    for name in own:
        if name in flexed:
            bodies[name], link_ports[name] = flexed[name][0], "root"
            joint_ports |= dict.fromkeys(starts[name], "tip")
            continue
        ports = free_names(starts[name], ("origin", *PARTS))
        inner = free_names(members[name], ("origin", *PARTS, *ports.values()))
        points = {"origin": np.zeros(3)} | {ports[n]: p for n, p in starts[name].items()}
        bodies[name] = rigid_body(masses[name], points | {inner[n]: p for n, p in members[name].items()}, len(points))
        link_ports |= inner | {name: "origin"}
        joint_ports |= ports
    frames = {name: frame for name, (_, frame) in flexed.items()}
    return Parts(bodies, frames, free_names(own, replaced="/."), carried, link_ports, joint_ports)


def _section(name: str, parts: Parts) -> Array:
    """The rotation (3, 3) from a link to the sections of its body."""
    carrier, pose = parts.carried[name]
    return np.asarray(parts.frames.get(carrier, np.eye(4))[:3, :3].T @ pose[:3, :3])


def _port_of(name: str, parts: Parts) -> PortName:
    """The port at the origin of a link."""
    carrier, pose = parts.carried[name]
    if carrier == WORLD:
        return GROUND.at(*pose[:3, 3].tolist())
    return f"{parts.names[carrier]}.{parts.link_ports[name]}"


def _between(joint: JointElement, parts: Parts, label: str, mimic: Mimic | None) -> RobotJoint:
    carrier, pose = parts.carried[joint.parent]
    before: PortName = GROUND.at(*(pose @ joint.origin)[:3, 3].tolist())
    if carrier != WORLD:
        before = f"{parts.names[carrier]}.{parts.joint_ports[joint.name]}"
    child, parent = (
        End(port, _section(link, parts))
        for port, link in ((_port_of(joint.child, parts), joint.child), (before, joint.parent))
    )
    return robot_joint(joint, label, child, parent, mimic=mimic)


def _root_weld(root: str, parts: Parts, options: Options) -> list[Connection]:
    if not options.fixed or parts.carried[root].carrier == WORLD:
        return []
    return [weld(str(_port_of(root, parts)), GROUND.at(0.0, 0.0, 0.0))]


def _connections(
    element: JointElement, joint: RobotJoint, parts: Parts, friction_speed: float | None
) -> list[Connection]:
    """A joint with its damper and motor."""
    ends: tuple[Any, Any] = joint.port, joint.reference
    axes: dict[str, Any] = {"axis": joint.axis, "second_axis": joint.second_axis}
    friction = _friction(element, friction_speed)
    if element.kind == FIXED:
        turned = _section(element.parent, parts) @ element.origin[:3, :3] @ _section(element.child, parts).T
        return [weld(*ends, rotation=turned)]
    if element.kind in SLIDING:
        return [prismatic(*ends, direction=joint.second_axis, friction=friction)]
    if element.kind == PLANAR:
        return [planar(*ends, normal=joint.axis, second_normal=joint.second_axis)]
    if element.kind == FLOATING:
        return []
    assert element.kind in TURNING
    connections = [revolute(*ends, **axes), torque(joint.port, name=joint.label, against=against(joint.reference))]
    if friction is not None:
        connections.append(torsion_spring(*ends, damping=friction, name=f"damping {joint.label}", **axes))
    return connections


def _friction(joint: JointElement, speed: float | None) -> Relation | None:
    """Damping and, where the speed below which it sticks is known, dry friction of a joint."""
    if speed is not None and joint.friction > 0.0:
        return coulomb(joint.friction, speed=speed, viscous=joint.damping)
    return viscous(joint.damping) if joint.damping > 0.0 else None
