"""Bodies and connections of the links and joints of a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...joints.forces.load import torque
from ...joints.forces.spring_damper import torsion_spring
from ...joints.planar import planar
from ...joints.prismatic import prismatic
from ...joints.revolute import revolute
from ...joints.rows.connection import Connection
from ...joints.rows.vectors import GROUND
from ...joints.transmissions.coupled_joints import coupled_joints
from ...joints.weld import weld
from ...numerics.arrays import Array
from ...systems.resistive_relations import Relation, coulomb, viscous
from .bodies import Flexible
from .carriers import WORLD, Carried, carriers
from .elements import FIXED, FLOATING, PLANAR, SLIDING, TURNING, JointElement, LinkElement, Mimic
from .handed_out import named_parts
from .joints import End, RobotJoint, against, robot_joint
from .names import free_names
from .parts import Parts, parts_of
from .robot import Kinematics, Robot
from .tree import couplings
from .weightless import Skeleton

ELEMENTS = ("damping", "mimic", "stop", "spring", "drive", "effort")
"""First words of the names of elements at a joint."""


class Options(NamedTuple):
    """Flexible links, whether the root is fixed, and the speed below which dry friction sticks."""

    flexible: Mapping[str, Flexible]
    fixed: bool
    friction_speed: float | None


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
    is_free = not options.fixed and carried[root].carrier != WORLD
    skeleton = Skeleton(root, is_free, joints, {name: one.carrier for name, one in carried.items()}, coupled)
    parts = parts_of(links, carried, kept, flexible=options.flexible, skeleton=skeleton)
    found = _robot_joints(kept, parts, followers)
    connections = _root_weld(root, parts, options)
    for joint in kept:
        connections += _connections(joint, found[joint.name], parts, options.friction_speed)
    for name, law in coupled.items():
        own, leader = found[name], found[law.leader].coupling if law.leader else None
        connections.append(coupled_joints(own.coupling, leader, ratio=law.ratio, name=f"mimic {own.label}"))
    handed_out, leaders = named_parts(links, joints, parts, found), {followers[name].leader for name in coupled}
    lost = {name: why for name, why in handed_out.joints.why.items() if name not in leaders}
    return Robot(
        handed_out.bodies,
        tuple(connections),
        *(handed_out.joints, handed_out.ports, handed_out.limits),
        Kinematics(root, is_free, joints, followers, _frames(parts), lost),
    )


def _is_kept(joint: JointElement, carried: Mapping[str, Carried]) -> bool:
    """Whether a joint leads to a body, and is not within one."""
    above, below = carried.get(joint.parent), carried.get(joint.child)
    return above is not None and below is not None and above.carrier != below.carrier


def _frames(parts: Parts) -> dict[str, tuple[str, Array]]:
    """By name of a body its link, and its frame in that."""
    return {parts.names[name]: (name, parts.frames.get(name, np.eye(4))) for name in parts.bodies}


def _robot_joints(kept: Sequence[JointElement], parts: Parts, followers: Mapping[str, Mimic]) -> dict[str, RobotJoint]:
    names = [joint.name for joint in kept]
    labels = free_names(names, {f"{word} {name}" for word in ELEMENTS for name in names})
    return {joint.name: _robot_joint(joint, parts, labels[joint.name], followers.get(joint.name)) for joint in kept}


def _robot_joint(joint: JointElement, parts: Parts, label: str, mimic: Mimic | None) -> RobotJoint:
    child = End(parts.port_of(joint.child), parts.section(joint.child))
    parent = End(parts.port_before(joint), parts.section(joint.parent))
    return robot_joint(joint, label, child, parent, mimic=mimic)


def _root_weld(root: str, parts: Parts, options: Options) -> list[Connection]:
    if not options.fixed or parts.carried[root].carrier == WORLD:
        return []
    return [weld(str(parts.port_of(root)), GROUND.at(0.0, 0.0, 0.0))]


def _connections(
    element: JointElement, joint: RobotJoint, parts: Parts, friction_speed: float | None
) -> list[Connection]:
    """A joint with its damper and motor."""
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
