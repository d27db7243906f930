"""Robots as bodies and connections, with the poses of links and bodies for joint coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...bodies.body import Body
from ...control.state_feedback import StateFeedback
from ...joints.rows.connection import Connection
from ...joints.rows.vectors import PortName
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.memo import Named
from ...sensors.quantities import Quantity
from .actuators import Actuator, feedback_of
from .elements import SLIDING, TURNING, JointElement, Limit, Mimic
from .joints import RobotJoint
from .poses import coordinates, link_poses, rigid_motion
from .rotors import rotors_of


class RobotLayout(NamedTuple):
    """Data of a robot for the poses of its bodies: root, joints in tree order, laws of following joints, and frames.

    ``is_free``: True if the root is free; ``frames``: link of each body, and pose of the body's frame in it; ``lost``:
    reason for each joint that moves no body; ``rotors``: bodies of rotors; ``unread``: actuators of the file that are
    not supported.
    """

    root: str
    is_free: bool
    joints: tuple[JointElement, ...]
    followers: Mapping[str, Mimic]
    frames: Mapping[str, tuple[str, Array]]
    lost: Mapping[str, str]
    rotors: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Robot:
    """Bodies and connections of a robot for :func:`flexph.connect`, and poses of the bodies for joint coordinates.

    Attributes
    ----------
    bodies : mapping
        Bodies by link name, with ``_`` for ``/`` and dots. A body has the port ``origin``, a port for each joint after
        it with the name of the joint, and one for each merged link. Flexible bodies have ``root`` and ``tip``.
    connections : tuple of Connection
        Joints; dampers ``damping JOINT`` of rotating joints, and friction of sliding joints; for each rotating joint an
        external port with its name: the torque (3,) in world axes on the child, with its reaction on the parent; gears
        ``mimic JOINT`` of joints that follow others.
    joints : mapping of RobotJoint
        Movable joints by name, with sensors, stops, springs and drives in the file's coordinate.
    ports : mapping
        Port or ground point at the origin of each link.
    limits : mapping
        Limits of joints in the file, which are not enforced.
    actuators : mapping of Actuator
        Actuators of the file by name, for :meth:`actuated`.
    collisions : mapping
        Contact shapes by link for :func:`flexph.contacts.contact`, for the links requested by ``collisions``.
    """

    bodies: Mapping[str, Body]
    connections: tuple[Connection, ...]
    joints: Mapping[str, RobotJoint]
    ports: Mapping[str, PortName]
    limits: Mapping[str, Limit]
    _layout: RobotLayout
    actuators: Mapping[str, Actuator] = field(default_factory=dict)
    collisions: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def coordinates(self) -> dict[str, Quantity]:
        """Sensors by name for :class:`Kinematics`: joints with one degree of freedom that follow no other joint."""
        movable = (*TURNING, *SLIDING)
        return {
            n: joint.coordinate for n, joint in self.joints.items() if joint.kind in movable and joint.mimic is None
        }

    @checked
    def placed(
        self, joints: Mapping[str, Any] | None = None, *, base: tuple[Any, Any] | None = None
    ) -> dict[str, tuple[Array, Rotation]]:
        """Positions and rotations of the bodies for ``mechanism.assemble``, at joint coordinates, by default zero.

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
        root, is_free, elements, followers, frames, lost, rotors, _ = self._layout
        for name in (joints or {}).keys() & lost.keys():
            raise ValueError(f"joint {name!r} moves no body: {lost[name]}; omit it")
        if base is not None and not is_free:
            raise ValueError(f"base needs a free root, but {root!r} is fixed: read the file with fixed=False")
        origin = np.eye(4) if base is None else rigid_motion("base", base)
        links = link_poses(root, elements, coordinates(elements, followers, joints or {}), base=origin)
        poses = {name: links[link] @ frame for name, (link, frame) in frames.items()}
        poses |= dict.fromkeys(rotors, np.eye(4))
        return {name: (pose[:3, 3], Rotation.from_matrix(pose[:3, :3])) for name, pose in poses.items()}

    @checked
    def with_rotors(self, rotors: Mapping[str, float]) -> Robot:
        """Robot with motor rotors added at its joints, each with the energy ½Jq̇².

        A rotor is a body ``rotor JOINT`` that rotates about an axis fixed in the ground and is geared to the joint. It
        is not affected by the spin of the link that carries the motor, which is the limit of a large gear ratio n: a
        rotor of inertia J_r has J = n²J_r.

        Parameters
        ----------
        rotors : mapping
            Inertia J by joint with one freedom [kg m²], of sliding joints [kg].

        Returns
        -------
        Robot
            The robot with more bodies and connections.

        Raises
        ------
        ValueError
            For unknown joints, joints of several freedoms, and inertias that are not positive.
        """
        if self._layout.rotors:
            raise ValueError("the robot must have no rotors yet: give all of them in one call")
        bodies, connections = rotors_of(self.joints, rotors, self.bodies)
        layout = self._layout._replace(rotors=tuple(bodies))
        whole = Named({**self.bodies, **bodies}, "robot.bodies", getattr(self.bodies, "why", {}))
        return replace(self, bodies=whole, connections=(*self.connections, *connections), _layout=layout)

    @checked
    def actuated(
        self, commands: Mapping[str, float | Callable[[float], float]], *, period: float | None = None
    ) -> StateFeedback:
        """Controller that applies the forces of all actuators for given commands, see :class:`Actuator`.

        Parameters
        ----------
        commands : mapping
            Command u by actuator, a number or a function of time; missing commands are zero.
        period : float, optional
            Time between two calls [s]; by default the forces act within the steps.

        Returns
        -------
        StateFeedback
            Controller for :func:`flexph.integrate`: ``controllers={"actuators": robot.actuated({...})}``.

        Raises
        ------
        ValueError
            For unknown or unsupported actuators, and for robots without actuators.
        """
        law, sensors, ports = feedback_of(self.joints, self.actuators, commands, self._layout.unread)
        return StateFeedback(function=law, sensors=sensors, ports=ports, period=period)
