"""Robots as bodies and connections, and where their bodies are at given coordinates of their joints."""

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
    """What poses are computed of: root, joints in order, followers, by body its link and its frame in that.

    ``lost`` says of joints that move no body why.
    """

    root: str
    is_free: bool
    joints: tuple[JointElement, ...]
    followers: Mapping[str, Mimic]
    frames: Mapping[str, tuple[str, Array]]
    lost: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Robot:
    """Bodies and connections of a robot for :func:`flexph.connect`, and where its bodies are at angles of its joints.

    Attributes
    ----------
    bodies : mapping
        By link, with ``_`` in place of ``/`` and dots; each has the port ``origin``, one for each of its joints by
        their names, and one for each link that belongs to it. Flexible ones have ``root`` and ``tip``.
    connections : tuple of Connection
        The joints, with dampers ``damping JOINT`` of those that turn and friction of those that slide, and of
        each that turns an external port by its name: the torque (3,) in world axes on what comes after it, against
        what comes before. Joints that follow others are coupled by gears ``mimic JOINT``.
    joints : mapping of RobotJoint
        By joint that can move, with sensors, stops, springs and drives whose zero and sign are those of the file.
    ports : mapping
        By link the port, or place of the ground, that has its origin.
    limits : mapping
        By joint, where the file has them; they are not imposed.
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
        """Where the bodies are, for ``mechanism.assemble``: joints as given or at zero.

        Parameters
        ----------
        joints : mapping, optional
            Angles [rad] and displacements [m] by joint, of planar ones (x, y, angle), of floating ones a position and
            a rotation. Those that follow others are not given.
        base : tuple, optional
            Position [m] and rotation of a root that is free; by default it is in the origin.

        Returns
        -------
        dict
            Position and rotation by body.
        """
        root, is_free, elements, followers, frames, lost = self._kinematics
        for name in (joints or {}).keys() & lost.keys():
            raise ValueError(f"joint {name!r} moves no body: {lost[name]}; leave it out")
        if base is not None and not is_free:
            raise ValueError(f"base is for a root that is free, and {root!r} is fixed: read it with fixed=False")
        origin = np.eye(4) if base is None else rigid_motion("base", base)
        links = link_poses(root, elements, coordinates(elements, followers, joints or {}), base=origin)
        poses = {name: links[link] @ frame for name, (link, frame) in frames.items()}
        return {name: (pose[:3, 3], Rotation.from_matrix(pose[:3, :3])) for name, pose in poses.items()}
