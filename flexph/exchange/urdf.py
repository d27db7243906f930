"""Robots of URDF files as bodies and joints, read by yourdfpy (extra ``urdf``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ..bodies.body import Body
from ..joints.rows.connection import Connection
from ..joints.rows.vectors import GROUND
from ..joints.weld import weld
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .robot_joints import RobotJoint, friction_of_joint, joint_connections, moved, robot_joint, warn_of_friction
from .robot_links import Flexible, flexible_link, rigid_link


class Limit(NamedTuple):
    """How far a joint goes [rad, m], how fast [rad/s, m/s], and what its motor gives [N m, N]."""

    lower: float
    upper: float
    velocity: float
    effort: float


@dataclass(frozen=True, eq=False)
class Robot:
    """Bodies and connections of a robot for :func:`flexph.connect`, and where its bodies are at angles of its joints.

    Attributes
    ----------
    bodies : mapping
        By link; each has the port ``origin`` and one for each of its joints, by their names.
    connections : tuple of Connection
        The joints, with dampers ``damping JOINT`` of those that turn and friction of those that slide, and of
        each that turns an external port by its name: the torque (3,) in world axes on what comes after it, against
        what comes before.
    limits : mapping
        By joint, where the file has them; they are not imposed.
    """

    bodies: Mapping[str, Body]
    connections: tuple[Connection, ...]
    limits: Mapping[str, Limit]
    _joints: tuple[RobotJoint, ...]
    _root: str
    _frames: Mapping[str, Array]

    @checked
    def placed(self, joints: Mapping[str, float] | None = None) -> dict[str, tuple[Array, Rotation]]:
        """Where the bodies are, for ``mechanism.assemble``: the root in the origin, joints as given or at zero.

        Parameters
        ----------
        joints : mapping, optional
            Angles [rad] and ways [m] by joint.

        Returns
        -------
        dict
            Position and rotation by link.
        """
        given = dict(joints or {})
        for name in given:
            check.lookup("joint", name, {joint.name: joint for joint in self._joints}, "the robot")
        links = {self._root: np.eye(4)}
        for joint in self._joints:
            links[joint.child] = links[joint.parent] @ joint.origin @ moved(joint, given.get(joint.name, 0.0))
        placed = {}
        for name in self.bodies:
            pose = links[name] @ self._frames.get(name, np.eye(4))
            placed[name] = pose[:3, 3], Rotation.from_matrix(pose[:3, :3])
        return placed


@checked
def read_urdf(
    path: str | Path,
    *,
    flexible: Mapping[str, Flexible] | None = None,
    fixed: bool = True,
    friction_speed: float | None = None,
) -> Robot:
    """The robot of a URDF file: rigid links with their inertias, joints, dampers, and motors at joints that turn.

    Links without mass are allowed at the root, where they are the ground, and at the ends, where they are left out.

    Parameters
    ----------
    path : path
        The file. Its meshes are not read.
    flexible : mapping, optional
        By link with one joint after it, a function of its length [m] that makes a body in space with the ports
        ``root`` and ``tip``, such as ``lambda length: fem.beam(length, metal, section, elements=4, dim=3)``: a beam
        from the joint before to the joint after it takes the place of the mass of the link.
    fixed : bool
        Whether the root, where it has mass, is welded to the ground in the origin.
    friction_speed : float, optional
        Speed [rad/s, m/s] below which the dry friction of joints sticks by creeping, see :func:`flexph.coulomb`.
        Without it that friction is left out, with a warning that names the joints.

    Returns
    -------
    Robot
        For ``connect(robot.bodies, robot.connections)`` and ``mechanism.assemble(robot.placed({...}))``.

    Raises
    ------
    ValueError
        For a file that is no URDF, joints that are not revolute, continuous, prismatic or fixed, axes that are zero,
        links without mass between others, masses without inertia, and flexible links that are not there or have not one
        joint after them.
    ImportError
        Without yourdfpy (extra ``urdf``).
    """
    model = _read(Path(path))
    joints = _ordered(model)
    children = {joint.child for joint in joints}
    (root,) = [name for name in model.link_map if name not in children]
    if friction_speed is not None:
        check.positive("friction_speed", friction_speed)
    warn_of_friction(joints, friction_speed)
    wanted = dict(flexible or {})
    for name in wanted:
        check.lookup("link", name, model.link_map, "the robot")
    kept = tuple(joint for joint in joints if _is_kept(model, joint, joints))
    links = [name for name in model.link_map if name in {root, *(joint.child for joint in kept)}]
    frames: dict[str, Array] = {}
    bodies: dict[str, Body] = {}
    for name in links:
        after = {joint.name: joint.origin[:3, 3] for joint in kept if joint.parent == name}
        if name in wanted:
            bodies[name], frames[name] = flexible_link(name, after, wanted[name])
        elif _has_mass(model.link_map[name]):
            bodies[name] = rigid_link(model.link_map[name], after)
        elif name != root:
            raise ValueError(f"link {name!r} has no mass, and others hang at it: give it an inertial in the file")
    connections = [weld(f"{root}.origin", GROUND.at(0.0, 0.0, 0.0))] if fixed and root in bodies else []
    for joint in kept:
        connections += joint_connections(joint, bodies, frames, friction=friction_of_joint(joint, friction_speed))
    limits = {name: _limit(own) for name, own in model.joint_map.items() if own.limit is not None}
    return Robot(bodies, tuple(connections), limits, joints, root, frames)


def _read(path: Path) -> Any:
    try:
        from yourdfpy import URDF
    except ImportError as error:
        raise ImportError("URDF files need yourdfpy: pip install 'flexph[urdf]'") from error
    if not path.is_file():
        raise ValueError(f"path must be a URDF file, got {str(path)!r}")
    try:
        return URDF.load(str(path), build_scene_graph=False, load_meshes=False)
    except Exception as error:
        raise ValueError(f"{str(path)!r} is no URDF file: {error}") from error


def _ordered(model: Any) -> tuple[RobotJoint, ...]:
    """The joints, each after that of its parent."""
    left, ordered = list(model.joint_map.values()), []
    reached = set(model.link_map) - {joint.child for joint in left}
    if len(reached) != 1:
        raise ValueError(f"the robot must have one root, got {sorted(reached)}")
    while left:
        ready = [joint for joint in left if joint.parent in reached]
        if not ready:
            raise ValueError(f"joints {[joint.name for joint in left]} hang at no link that is joined to the root")
        for joint in ready:
            ordered.append(robot_joint(joint))
            reached.add(joint.child)
        left = [joint for joint in left if joint not in ready]
    return tuple(ordered)


def _limit(given: Any) -> Limit:
    own = given.limit
    values = (own.lower, own.upper, own.velocity, own.effort)
    empty = (-math.inf, math.inf, math.inf, math.inf)
    return Limit(*(float(e if v is None else v) for v, e in zip(values, empty, strict=True)))


def _has_mass(link: Any) -> bool:
    return link.inertial is not None and (link.inertial.mass or 0.0) > 0.0


def _is_kept(model: Any, joint: RobotJoint, joints: tuple[RobotJoint, ...]) -> bool:
    """Whether a joint leads to mass: frames of tools at the end of an arm do not."""
    return _has_mass(model.link_map[joint.child]) or any(
        _is_kept(model, later, joints) for later in joints if later.parent == joint.child
    )
