"""Joints of URDF files as joints, dampers and motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ..bodies.body import Body
from ..joints.forces.load import torque
from ..joints.forces.spring_damper import torsion_spring
from ..joints.prismatic import prismatic
from ..joints.revolute import revolute
from ..joints.rows.connection import Connection
from ..joints.rows.vectors import GROUND
from ..joints.weld import weld
from ..numerics.arguments import warn
from ..numerics.arrays import Array
from ..systems.resistive_relations import Relation, coulomb, viscous

TURNING, SLIDING, FIXED = ("revolute", "continuous"), ("prismatic",), ("fixed",)


class RobotJoint(NamedTuple):
    """A joint of the file: where it is on its parent, (4, 4), and its axis there on the child."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    axis: Array
    damping: float
    friction: float


def robot_joint(given: Any) -> RobotJoint:
    """A joint as the file has it; raises ValueError for kinds that are not read."""
    kinds = (*TURNING, *SLIDING, *FIXED)
    if given.type not in kinds:
        raise ValueError(f"joint {given.name!r} must be one of {', '.join(kinds)}, got {given.type!r}")
    if given.mimic is not None:
        raise ValueError(f"joint {given.name!r} mimics another one, which is not read: join them by a gear")
    origin = np.eye(4) if given.origin is None else np.asarray(given.origin, dtype=float)
    axis = np.array([1.0, 0.0, 0.0]) if given.axis is None else np.asarray(given.axis, dtype=float)
    size = float(np.linalg.norm(axis))
    if size == 0.0 and given.type not in FIXED:
        raise ValueError(f"joint {given.name!r} must have an axis that is not zero")
    losses = [float(own or 0.0) for own in _losses(given.dynamics)]
    return RobotJoint(given.name, given.type, given.parent, given.child, origin, axis / (size or 1.0), *losses)


def _losses(dynamics: Any) -> tuple[Any, Any]:
    return (None, None) if dynamics is None else (dynamics.damping, dynamics.friction)


def friction_of_joint(joint: RobotJoint, speed: float | None) -> Relation | None:
    """Damping and, where the speed below which it sticks is known, dry friction of a joint."""
    if speed is not None and joint.friction > 0.0:
        return coulomb(joint.friction, speed=speed, viscous=joint.damping)
    return viscous(joint.damping) if joint.damping > 0.0 else None


def warn_of_friction(joints: Sequence[RobotJoint], speed: float | None) -> None:
    """Warn of dry friction that is left out, as the speed below which it sticks is not known."""
    dry = [
        f"{joint.name} ({joint.friction:g} {'N' if joint.kind in SLIDING else 'N m'})"
        for joint in joints
        if joint.friction
    ]
    if dry and speed is None:
        told = "dry friction of the file is left out, give friction_speed=, below which it sticks, to have it: joints"
        warn(f"{told} {', '.join(dry)}")


def joint_connections(
    joint: RobotJoint, bodies: Mapping[str, Body], frames: Mapping[str, Array], *, friction: Relation | None
) -> list[Connection]:
    """A joint with its damper and motor."""
    before, after = (frames.get(link, np.eye(4))[:3, :3] for link in (joint.parent, joint.child))
    child = f"{joint.child}.root" if joint.child in frames else f"{joint.child}.origin"
    parent: Any = GROUND.at(*joint.origin[:3, 3])
    if joint.parent in bodies:
        parent = f"{joint.parent}.tip" if joint.parent in frames else f"{joint.parent}.{joint.name}"
    turned = before.T @ joint.origin[:3, :3]  # from the frame of the joint to the section of the parent
    axes = {"axis": (after.T @ joint.axis).tolist(), "second_axis": (turned @ joint.axis).tolist()}
    if joint.kind in FIXED:
        return [weld(child, parent, rotation=turned @ after)]
    if joint.kind in SLIDING:
        return [prismatic(child, parent, direction=axes["second_axis"], friction=friction)]
    connections = [revolute(child, parent, **axes), torque(child, name=joint.name, against=_against(parent))]
    if friction is not None:
        connections.append(torsion_spring(child, parent, damping=friction, name=f"damping {joint.name}", **axes))
    return connections


def _against(parent: Any) -> str | None:
    return parent if isinstance(parent, str) else None


def moved(joint: RobotJoint, value: float) -> Array:
    """How far a joint moves its child, (4, 4)."""
    pose = np.eye(4)
    if joint.kind in TURNING:
        pose[:3, :3] = Rotation.from_rotvec(value * joint.axis).as_matrix()
    elif joint.kind in SLIDING:
        pose[:3, 3] = value * joint.axis
    elif value:
        raise ValueError(f"joint {joint.name!r} is fixed, got {value}")
    return pose
