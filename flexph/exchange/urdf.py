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
from ..joints.forces.load import torque
from ..joints.forces.spring_damper import torsion_spring
from ..joints.prismatic import prismatic
from ..joints.revolute import revolute
from ..joints.rows.connection import Connection
from ..joints.rows.vectors import GROUND
from ..joints.weld import weld
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems.resistive_relations import viscous
from .robot_links import Flexible, flexible_link, rigid_link

TURNING, SLIDING, FIXED = ("revolute", "continuous"), ("prismatic",), ("fixed",)


class Limit(NamedTuple):
    """How far a joint goes [rad, m], how fast [rad/s, m/s], and what its motor gives [N m, N]."""

    lower: float
    upper: float
    velocity: float
    effort: float


class _Joint(NamedTuple):
    """A joint of the file: where it is on its parent, (4, 4), and its axis there on the child."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    axis: Array
    damping: float


@dataclass(frozen=True, eq=False)
class Robot:
    """Bodies and connections of a robot for :func:`flexph.connect`, and where its bodies are at angles of its joints.

    Attributes
    ----------
    bodies : mapping
        By link; each has the port ``origin`` and one for each of its joints, by their names.
    connections : tuple of Connection
        The joints, with dampers ``damping JOINT`` of those that turn and viscous friction of those that slide, and of
        each that turns an external port by its name: the torque (3,) in world axes on what comes after it, against
        what comes before.
    limits : mapping
        By joint, where the file has them; they are not imposed.
    """

    bodies: Mapping[str, Body]
    connections: tuple[Connection, ...]
    limits: Mapping[str, Limit]
    _joints: tuple[_Joint, ...]
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
            links[joint.child] = links[joint.parent] @ joint.origin @ _moved(joint, given.get(joint.name, 0.0))
        placed = {}
        for name in self.bodies:
            pose = links[name] @ self._frames.get(name, np.eye(4))
            placed[name] = pose[:3, 3], Rotation.from_matrix(pose[:3, :3])
        return placed


@checked
def read_urdf(path: str | Path, *, flexible: Mapping[str, Flexible] | None = None, fixed: bool = True) -> Robot:
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
        connections += _connections(joint, bodies, frames)
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


def _ordered(model: Any) -> tuple[_Joint, ...]:
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
            ordered.append(_joint(joint))
            reached.add(joint.child)
        left = [joint for joint in left if joint not in ready]
    return tuple(ordered)


def _joint(given: Any) -> _Joint:
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
    damping = 0.0 if given.dynamics is None else float(given.dynamics.damping or 0.0)
    return _Joint(given.name, given.type, given.parent, given.child, origin, axis / (size or 1.0), damping)


def _limit(given: Any) -> Limit:
    own = given.limit
    values = (own.lower, own.upper, own.velocity, own.effort)
    empty = (-math.inf, math.inf, math.inf, math.inf)
    return Limit(*(float(e if v is None else v) for v, e in zip(values, empty, strict=True)))


def _has_mass(link: Any) -> bool:
    return link.inertial is not None and (link.inertial.mass or 0.0) > 0.0


def _is_kept(model: Any, joint: _Joint, joints: tuple[_Joint, ...]) -> bool:
    """Whether a joint leads to mass: frames of tools at the end of an arm do not."""
    return _has_mass(model.link_map[joint.child]) or any(
        _is_kept(model, later, joints) for later in joints if later.parent == joint.child
    )


def _connections(joint: _Joint, bodies: Mapping[str, Body], frames: Mapping[str, Array]) -> list[Connection]:
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
        friction = viscous(joint.damping) if joint.damping > 0.0 else None
        return [prismatic(child, parent, direction=axes["second_axis"], friction=friction)]
    connections = [revolute(child, parent, **axes), torque(child, name=joint.name, against=_against(parent))]
    if joint.damping > 0.0:
        connections.append(torsion_spring(child, parent, damping=joint.damping, name=f"damping {joint.name}", **axes))
    return connections


def _against(parent: Any) -> str | None:
    return parent if isinstance(parent, str) else None


def _moved(joint: _Joint, value: float) -> Array:
    pose = np.eye(4)
    if joint.kind in TURNING:
        pose[:3, :3] = Rotation.from_rotvec(value * joint.axis).as_matrix()
    elif joint.kind in SLIDING:
        pose[:3, 3] = value * joint.axis
    elif value:
        raise ValueError(f"joint {joint.name!r} is fixed, got {value}")
    return pose
