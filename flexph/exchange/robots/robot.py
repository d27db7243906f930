"""Robots as bodies and connections, with the placement of their bodies for joint coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...bodies.body import Body
from ...joints.rows.connection import Connection
from ...joints.rows.vectors import PortName
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from .elements import JointElement, Limit, Mimic
from .joints import RobotJoint
from .motions import coordinates, link_poses, rigid_motion


class Kinematics(NamedTuple):
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
    """

    bodies: Mapping[str, Body]
    connections: tuple[Connection, ...]
    joints: Mapping[str, RobotJoint]
    ports: Mapping[str, PortName]
    limits: Mapping[str, Limit]
    _kinematics: Kinematics

    @checked
    def placed(
        self, joints: Mapping[str, Any] | None = None, *, base: tuple[Any, Any] | None = None
    ) -> dict[str, tuple[Array, Rotation]]:
        """Placement of the bodies for ``mechanism.assemble``, with joints at given coordinates or zero.

        Parameters
        ----------
        joints : mapping, optional
            Angles [rad] and displacements [m] by joint, (x, y, angle) for planar joints, a position and a rotation for
            floating ones. Omit joints that follow others.
        base : tuple, optional
            Position [m] and rotation of a free root; by default it is at the origin.

        Returns
        -------
        dict
            Position and rotation by body.
        """
        root, is_free, elements, followers, frames, lost = self._kinematics
        for name in (joints or {}).keys() & lost.keys():
            raise ValueError(f"joint {name!r} moves no body: {lost[name]}; omit it")
        if base is not None and not is_free:
            raise ValueError(f"base needs a free root, but {root!r} is fixed: read the file with fixed=False")
        origin = np.eye(4) if base is None else rigid_motion("base", base)
        links = link_poses(root, elements, coordinates(elements, followers, joints or {}), base=origin)
        poses = {name: links[link] @ frame for name, (link, frame) in frames.items()}
        return {name: (pose[:3, 3], Rotation.from_matrix(pose[:3, :3])) for name, pose in poses.items()}
