"""Robots as bodies and connections, with the poses of links and bodies for joint coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...bodies.body import Body
from ...joints.rows.connection import Connection
from ...joints.rows.vectors import PortName, frame_about
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.rotations import rotation_matrix
from ...sensors.quantities import Quantity
from .elements import BALL, FIXED, FLOATING, PLANAR, SLIDING, TURNING, JointElement, Limit, Mimic
from .joints import RobotJoint


def coordinates(
    joints: Sequence[JointElement], followers: Mapping[str, Mimic], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Coordinates of all joints: given ones, or zero; followers obey the law of their leader."""
    names = {joint.name: joint for joint in joints}
    for name in given:
        joint = check.lookup("joint", name, names, "the robot")
        if name in followers:
            raise ValueError(f"joint {name!r} follows {followers[name].leader!r}: give that one")
        if joint.kind == FIXED:
            raise ValueError(f"joint {name!r} is {joint.kind}, got {check.shown(given[name])}")
    values = {name: given.get(name, 0.0) for name in names}
    for name, law in followers.items():
        values[name] = law.multiplier * check.number(f"joints[{law.leader!r}]", values[law.leader]) + law.offset
    return values


def link_poses(
    root: str, joints: Sequence[JointElement], values: Mapping[str, Any], *, base: Array | None = None
) -> dict[str, Array]:
    """Poses (4, 4) of the links with the root at the origin or at ``base``; joints must be in tree order."""
    poses = {root: np.eye(4) if base is None else base}
    for joint in joints:
        poses[joint.child] = poses[joint.parent] @ joint.origin @ moved(joint, values[joint.name])
    return poses


def moved(joint: JointElement, value: Any) -> Array:
    """Motion (4, 4) of a joint's child by an angle or displacement; by (x, y, angle) for planar joints.

    The axes x and y of a planar joint form a right-handed frame with its normal, see
    :func:`flexph.joints.rows.vectors.frame_about`. Floating joints take a position and a rotation, ball joints a
    rotation.
    """
    pose, name = np.eye(4), f"joints[{joint.name!r}]"
    if joint.kind in TURNING:
        pose[:3, :3] = Rotation.from_rotvec(check.number(name, value) * joint.axis).as_matrix()
    elif joint.kind in SLIDING:
        pose[:3, 3] = check.number(name, value) * joint.axis
    elif joint.kind == PLANAR and not _is_zero(value):
        x, y, angle = check.array(name, value, (3,))
        pose[:3, 3] = np.array(frame_about(tuple(joint.axis.tolist()))).T @ (x, y)
        pose[:3, :3] = Rotation.from_rotvec(angle * joint.axis).as_matrix()
    elif joint.kind == BALL and not _is_zero(value):
        pose[:3, :3] = rotation_matrix(name, value)
    elif joint.kind == FLOATING and not _is_zero(value):
        return rigid_motion(name, value)
    return pose


def rigid_motion(name: str, given: Any) -> Array:
    """Rigid motion (4, 4) to a given position and rotation."""
    try:
        position, rotation = given
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a position and a rotation, got {check.shown(given)}") from None
    pose = np.eye(4)
    pose[:3, 3] = check.array(f"position in {name}", position, (3,))
    pose[:3, :3] = rotation_matrix(f"rotation in {name}", rotation)
    return pose


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0.0


class Placing(NamedTuple):
    """Data for poses: root, joints in tree order, followers, and by body its link and frame.

    ``lost`` gives the reason for each joint that moves no body.
    """

    root: str
    is_free: bool
    joints: tuple[JointElement, ...]
    followers: Mapping[str, Mimic]
    frames: Mapping[str, tuple[str, Array]]
    lost: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Robot:
    """Bodies and connections of a robot for :func:`flexph.connect`, and their placement for joint coordinates.

    Attributes
    ----------
    bodies : mapping
        Bodies by link name, with ``_`` for ``/`` and dots; each has the port ``origin``, one port per joint named after
        it, and one for each merged link. Flexible bodies have ``root`` and ``tip``.
    connections : tuple of Connection
        Joints with dampers ``damping JOINT`` of rotating joints and friction of sliding ones, and for each rotating
        joint an external port of its name: the torque (3,) in world axes on the child side, with its reaction on the
        parent side. Joints that follow others are coupled by gears ``mimic JOINT``.
    joints : mapping of RobotJoint
        Movable joints by name, with sensors, stops, springs and drives in the file's coordinate.
    ports : mapping
        Port or ground point at the origin of each link.
    limits : mapping
        Limits of joints in the file; they are not enforced.
    collisions : mapping
        Contact shapes by link, of the links whose ``collisions`` were asked for, for :func:`flexph.contacts.contact`.
    """

    bodies: Mapping[str, Body]
    connections: tuple[Connection, ...]
    joints: Mapping[str, RobotJoint]
    ports: Mapping[str, PortName]
    limits: Mapping[str, Limit]
    _placing: Placing
    collisions: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def coordinates(self) -> dict[str, Quantity]:
        """Sensors of the joints with one freedom that follow no other joint, by name, for :class:`Kinematics`."""
        own = (*TURNING, *SLIDING)
        return {n: joint.coordinate for n, joint in self.joints.items() if joint.kind in own and joint.mimic is None}

    @checked
    def placed(
        self, joints: Mapping[str, Any] | None = None, *, base: tuple[Any, Any] | None = None
    ) -> dict[str, tuple[Array, Rotation]]:
        """Placement of the bodies for ``mechanism.assemble``, with joints at given coordinates or zero.

        Parameters
        ----------
        joints : mapping, optional
            Angles [rad] and displacements [m] by joint, (x, y, angle) for planar joints, a rotation for ball joints, a
            position and a rotation for floating ones. Omit joints that follow others.
        base : tuple, optional
            Position [m] and rotation of a free root; by default it is at the origin.

        Returns
        -------
        dict
            Position and rotation by body.
        """
        root, is_free, elements, followers, frames, lost = self._placing
        for name in (joints or {}).keys() & lost.keys():
            raise ValueError(f"joint {name!r} moves no body: {lost[name]}; omit it")
        if base is not None and not is_free:
            raise ValueError(f"base needs a free root, but {root!r} is fixed: read the file with fixed=False")
        origin = np.eye(4) if base is None else rigid_motion("base", base)
        links = link_poses(root, elements, coordinates(elements, followers, joints or {}), base=origin)
        poses = {name: links[link] @ frame for name, (link, frame) in frames.items()}
        return {name: (pose[:3, 3], Rotation.from_matrix(pose[:3, :3])) for name, pose in poses.items()}
