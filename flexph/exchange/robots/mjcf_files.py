"""Parser of MJCF files into links and joints, by the compiler of MuJoCo (extra ``mjcf``), which applies defaults."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from ...files.reading import refuse_entities, refuse_missing
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ...robots.links.elements import (
    BALL,
    FIXED,
    FLOATING,
    SLIDING,
    TURNING,
    JointElement,
    Limit,
    LinkElement,
    Mimic,
    several,
)
from ...robots.links.shapes import LinkShape, Use
from .contents import Contents, Spring, anchor, unused
from .mjcf_actuators import ActuatorReader

WORLD = "world"
FILES = re.compile("file.*|.*dir|content_type")
"""Attributes of an MJCF file that name files and folders, such as ``file``, ``fileright`` and ``meshdir``."""


def read_contents(path: Path, *, rotors: bool, contacts: bool = False) -> Contents:
    """Links, joints, springs, loops and actuators of an MJCF file.

    ``rotors``: True to read the armature of joints as inertias of rotors, too; ``contacts``: True if contacts are
    created from the shapes, so that no warning is needed. Raises ValueError, with MuJoCo's message, for a file that
    MuJoCo cannot compile.
    """
    try:
        import mujoco
    except ModuleNotFoundError:
        raise ModuleNotFoundError('MJCF files need mujoco: pip install "flexph[mjcf]"') from None
    refuse_missing("robot", path)
    _refuse_outside(path)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is no MJCF file that MuJoCo compiles: {error}") from error
    return _Reader(mujoco, model, rotors, contacts).contents()


def _refuse_outside(path: Path) -> None:
    """Raise ValueError for a document type declaration, and for names of files outside of the folder.

    Included files are checked, too.
    """
    files = [path]
    for file in files:
        root = _root(file)
        if file == path and root.tag != "mujoco":
            raise ValueError(f"{str(path)!r} is no MJCF file: its first element must be mujoco, got {root.tag!r}")
        for element in root.iter():
            for name, given in element.items():
                if FILES.fullmatch(name) and (Path(given).is_absolute() or ".." in Path(given).parts):
                    element_text = f"<{element.tag} {name}={given!r}>"
                    raise ValueError(f"{str(file)!r} names a file outside of its folder: {element_text}")
            included = path.parent / element.get("file", "")
            if element.tag == "include" and included.is_file() and included not in files:
                files.append(included)


def _root(path: Path) -> ElementTree.Element:
    content = path.read_bytes().lstrip()
    try:
        refuse_entities(content)
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError) as error:
        raise ValueError(f"{str(path)!r} is no MJCF file: {error}") from error


class _Reader:
    """Converter of a compiled model to links and joints, one body at a time."""

    def __init__(self, mujoco: Any, model: Any, with_rotors: bool, with_contacts: bool) -> None:
        self.kinds, self.types, self.geoms, self.model = mujoco.mjtJoint, mujoco.mjtEq, mujoco.mjtGeom, model
        self.with_rotors, self.with_contacts = with_rotors, with_contacts
        self.acting = ActuatorReader(mujoco, model)
        self.body_kind = int(mujoco.mjtObj.mjOBJ_BODY)
        self.links: dict[str, LinkElement] = {WORLD: LinkElement(WORLD)}
        self.joints: list[JointElement] = []
        self.names = _names(model.body, model.nbody, "body")
        self.joint_names = _names(model.jnt, model.njnt, "joint")
        self.followers = self._followers()

    def contents(self) -> Contents:
        """Contents of the model, with a warning that names unsupported parts."""
        model = self.model
        if model.nflex or model.nplugin:
            raise ValueError("the file must not have flexible parts of MuJoCo or plugins, which are not read")
        for body in range(1, model.nbody):
            self._add_body(body)
        loops = [self._loop(number) for number in self._active(self.types.mjEQ_CONNECT)]
        rotors, others = self._armature()
        actuators, left = self.acting.actuators(self.joint_names)
        self._warn_of_rest([*others, *([] if self.with_rotors else rotors)], left)
        rotor_links = rotors if self.with_rotors else {}
        return Contents(
            self.links, self.joints, list(self._springs()), loops, actuators, rotor_links, self.shapes, left
        )

    def shapes(self, link: str, use: Use) -> tuple[LinkShape, ...]:
        """Shapes of a body for a use: all of its shapes for visual, those that can collide for collision.

        Raises ValueError for unsupported kinds.
        """
        model = self.model
        body = next((number for number, name in self.names.items() if name == link), None)
        if body is None:  # between two joints of one body
            return ()
        shapes = []
        for number in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
            if use == "collision" and not (model.geom_contype[number] or model.geom_conaffinity[number]):
                continue
            shapes.append(self._geom(number, link))
        return tuple(shapes)

    def _geom(self, number: int, link: str) -> LinkShape:
        model, kinds = self.model, self.geoms
        kind, size = int(model.geom_type[number]), model.geom_size[number]
        pose = _pose(model.geom_pos[number], model.geom_quat[number])
        if kind == int(kinds.mjGEOM_BOX):
            return LinkShape("box", pose, tuple((2.0 * size).tolist()))
        if kind == int(kinds.mjGEOM_PLANE):
            return LinkShape("plane", pose, (0.0, 0.0, 1.0))
        if kind == int(kinds.mjGEOM_SPHERE):
            return LinkShape("sphere", pose, (float(size[0]),))
        if kind in (int(kinds.mjGEOM_CYLINDER), int(kinds.mjGEOM_CAPSULE)):
            named: Any = "cylinder" if kind == int(kinds.mjGEOM_CYLINDER) else "capsule"
            return LinkShape(named, pose, (float(size[0]), 2.0 * float(size[1])))
        if kind == int(kinds.mjGEOM_MESH):
            mesh = model.geom_dataid[number]
            points, faces = (
                values[first[mesh] : first[mesh] + count[mesh]].copy()
                for values, first, count in (
                    (model.mesh_vert, model.mesh_vertadr, model.mesh_vertnum),
                    (model.mesh_face, model.mesh_faceadr, model.mesh_facenum),
                )
            )
            return LinkShape("mesh", pose, surface=(points.astype(float), faces))
        raise ValueError(f"shape {number + 1} of body {link!r} must be a box, sphere, cylinder, capsule, plane or mesh")

    def _add_body(self, body: int) -> None:
        """Append a body with its joints.

        A joint rotates the body about, or moves it along, an axis through its anchor. Several joints of a body form a
        chain with massless links between them.
        """
        model, name = self.model, self.names[body]
        parent, origin = self.names[model.body_parentid[body]], _pose(model.body_pos[body], model.body_quat[body])
        first, count = model.body_jntadr[body], model.body_jntnum[body]
        for number in range(first, first + count):
            anchor, last = _pose(model.jnt_pos[number]), number == first + count - 1
            link_name = name if last and not model.jnt_pos[number].any() else f"{name} at {self.joint_names[number]}"
            self.joints.append(self._joint(number, parent, link_name, origin @ anchor))
            self.links[link_name] = LinkElement(link_name)
            parent, origin = link_name, _pose(-model.jnt_pos[number])
        if parent != name:
            held = unused(f"{name} to {parent}" if count else name, self.joint_names.values())
            self.joints.append(JointElement(held, FIXED, parent, name, origin, np.zeros(3)))
        turned = _pose(quaternion=model.body_iquat[body])[:3, :3]
        moments = turned @ np.diag(model.body_inertia[body]) @ turned.T
        mass = float(model.body_mass[body])
        self.links[name] = LinkElement(name, mass, model.body_ipos[body].copy(), moments)

    def _joint(self, number: int, parent: str, child: str, origin: Array) -> JointElement:
        """Joint of a body.

        Its coordinate at the pose of the body in the file is the attribute ``ref`` of the joint.
        """
        model, kinds, name = self.model, self.kinds, self.joint_names[number]
        kind, axis = int(model.jnt_type[number]), model.jnt_axis[number].copy()
        freedom = model.jnt_dofadr[number]
        damping, friction = float(model.dof_damping[freedom]), float(model.dof_frictionloss[freedom])
        if kind in (int(kinds.mjJNT_FREE), int(kinds.mjJNT_BALL)):
            free = kind == int(kinds.mjJNT_FREE)
            return JointElement(name, FLOATING if free else BALL, parent, child, origin, np.zeros(3), damping, friction)
        reference, slides = float(model.qpos0[model.jnt_qposadr[number]]), kind == int(kinds.mjJNT_SLIDE)
        back = _pose(-reference * axis) if slides else _rotation_pose(-reference * axis)
        limited = bool(model.jnt_limited[number])
        lower, upper = model.jnt_range[number].tolist() if limited else (-math.inf, math.inf)
        effort = float(np.abs(model.jnt_actfrcrange[number]).max()) if model.jnt_actfrclimited[number] else math.inf
        named = SLIDING[0] if slides else TURNING[0] if limited else TURNING[1]
        limit = Limit(lower, upper, math.inf, effort)
        mimic = self.followers.get(name)
        return JointElement(name, named, parent, child, origin @ back, axis, damping, friction, limit, mimic)

    def _active(self, *kinds: Any) -> Iterator[int]:
        """Yield the numbers of the active equality constraints of the given kinds."""
        for number in range(self.model.neq):
            if self.model.eq_active0[number] and int(self.model.eq_type[number]) in map(int, kinds):
                yield number

    def _followers(self) -> dict[str, Mimic]:
        """Laws q − q₀ = a₀ + a₁ (q' − q'₀) of joints that follow others, by joint.

        q and q' are the coordinates of follower and leader, q₀ and q'₀ those of the pose in the file. Raises ValueError
        for polynomials of higher degree, and for a joint with two laws.
        """
        model, laws = self.model, {}
        for number in self._active(self.types.mjEQ_JOINT):
            follower, leader = model.eq_obj1id[number], model.eq_obj2id[number]
            name, terms = self.joint_names[follower], model.eq_data[number][:5]
            if leader < 0 or terms[2:].any():
                what = "of a higher degree" if leader >= 0 else "without a second joint"
                raise ValueError(f"joint {name!r} has an equality constraint {what}, which is not read")
            if name in laws:
                raise ValueError(f"joint {name!r} has two equality constraints: it must follow one joint")
            zero, first = (float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (follower, leader))
            offset = zero + float(terms[0]) - float(terms[1]) * first
            laws[name] = Mimic(self.joint_names[leader], float(terms[1]), offset)
        return laws

    def _loop(self, number: int) -> JointElement:
        """Ball joint that closes a loop between points of two bodies, from the equality constraint ``number``.

        At both points, massless links are added and fixed to the bodies.
        """
        model = self.model
        places, name = model.eq_data[number][:6].reshape(2, 3), model.eq(number).name or f"constraint {number + 1}"
        if int(model.eq_objtype[number]) != self.body_kind:
            raise ValueError(f"equality constraint {name!r} must join bodies: sites are not read")
        bodies = (self.names[model.eq_obj1id[number]], self.names[max(model.eq_obj2id[number], 0)])
        ends = [f"{name} {side}" for side in ("first", "second")]
        for body, place, end in zip(bodies, places, ends, strict=True):
            self.links[end], held = anchor(body, _pose(place), end)
            self.joints.append(held)
        return JointElement(name, BALL, ends[0], ends[1], np.eye(4), np.zeros(3))

    def _springs(self) -> Iterator[Spring]:
        """Yield the springs of joints; raises ValueError for a spring of a joint with several degrees of freedom."""
        model = self.model
        for number in np.flatnonzero(model.jnt_stiffness[: model.njnt]).tolist():
            name, kinds = self.joint_names[number], self.kinds
            if int(model.jnt_type[number]) in (int(kinds.mjJNT_FREE), int(kinds.mjJNT_BALL)):
                raise ValueError(f"joint {name!r} has a spring over several freedoms, which is not read")
            rest = float(model.qpos_spring[model.jnt_qposadr[number]])
            yield Spring(name, float(model.jnt_stiffness[number]), rest)

    def _armature(self) -> tuple[dict[str, float], list[str]]:
        """Inertias of rotors by joint with one degree of freedom, and names of other joints with armature."""
        model, single, others = self.model, {}, []
        for number in range(model.njnt):
            name, first = self.joint_names[number], model.jnt_dofadr[number]
            several_ = int(model.jnt_type[number]) in (int(self.kinds.mjJNT_FREE), int(self.kinds.mjJNT_BALL))
            inertia = float(model.dof_armature[first])
            if inertia > 0.0 and several_:
                others.append(name)
            elif inertia > 0.0:
                single[name] = inertia
        return single, others

    def _warn_of_rest(self, heavy: list[str], idle: list[str]) -> None:
        """Warn of all contents of the file that are left out.

        ``heavy``: joints whose armature is left out; ``idle``: unsupported actuators.
        """
        model, types = self.model, self.types
        others = model.neq - sum(1 for _ in self._active(types.mjEQ_CONNECT, types.mjEQ_JOINT))
        tight = self.acting.tight_tendons()
        curved = model.dof_dampingpoly[: model.nv].any() or model.jnt_stiffnesspoly[: model.njnt].any()
        collide = np.count_nonzero(model.geom_contype | model.geom_conaffinity) if model.ngeom else 0
        left = {
            f"armature (rotors=True makes bodies of it) of joints {several(heavy)}": bool(heavy),
            "higher powers of stiffness and damping": bool(curved),
            f"actuators {several(idle)}: give inputs, springs or drives": bool(idle),
            f"spatial tendons, and springs, dampers, friction and limits of fixed ones: {several(tight)}": bool(tight),
            f"{others} inactive or other equality constraints than connect and joint": bool(others),
            f"contacts of {collide} shapes (see collisions= and contacts=)": bool(collide) and not self.with_contacts,
            "compensation of gravity": bool(model.body_gravcomp.any()),
            "the medium": bool(model.opt.density or model.opt.viscosity),
        }
        lost = [what for what, there in left.items() if there]
        if lost:
            warn(f"the robot is read without {'; '.join(lost)}")


def _names(of: Any, count: int, what: str) -> Mapping[int, str]:
    """Names, by number, of the ``count`` bodies or joints ``of(number)`` of a compiled model.

    One without a name is called ``what``, body or joint, with its number. Raises ValueError if another one has this
    name.
    """
    given = {number: of(number).name for number in range(count)}
    taken = set(given.values())
    free = {number: name or f"{what} {number + (what == 'joint')}" for number, name in given.items()}
    twice = [name for number, name in free.items() if not given[number] and name in taken]
    if twice:
        raise ValueError(f"name the {what} without a name: its default {twice[0]!r} is taken")
    return free


def _pose(position: Any = (0.0, 0.0, 0.0), quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Array:
    """Pose (4, 4) from a position and a quaternion, scalar first."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_quat(np.asarray(quaternion), scalar_first=True).as_matrix()
    pose[:3, 3] = position
    return pose


def _rotation_pose(vector: Array) -> Array:
    """Pose (4, 4) of a rotation by a rotation vector (3,) [rad]."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec(vector).as_matrix()
    return pose
