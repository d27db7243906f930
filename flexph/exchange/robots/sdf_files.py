"""Parser of SDF files into links, joints and loops, by the XML parser of the standard library.

It reads one model with the poses of its links, joints and frames (SDFormat 1.7 and later), and shapes of requested
links; sensors, plugins and lights are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import numpy as np
from scipy.spatial.transform import Rotation

from ...files.reading import refuse_missing
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ...robots.links.elements import BALL, FIXED, FLOATING, SLIDING, TURNING, JointElement, Limit, LinkElement, Mimic
from ...robots.links.shapes import LinkShape, Use
from .contents import Contents, Spring, anchor, unused
from .shape_files import shapes_of
from .xml_values import Element, named, only, parsed, tree

WORLD = "world"
KINDS = (*TURNING, *SLIDING, FIXED, BALL)
OLDEST = (1, 7)
"""First version in which poses may be relative to any frame, and axes are in the frame of the joint."""
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def read_contents(path: Path, *, fixed: bool) -> Contents:
    """Links, joints, springs and loops of an SDF file; raises ValueError with the name of the faulty link or joint.

    A link that is no child of a joint floats relative to its pose in the file; with ``fixed``, and in a static model,
    it is welded to the ground.
    """
    refuse_missing("robot", path)
    try:
        root = tree(path.read_bytes().lstrip())
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise ValueError(f"{str(path)!r} is no SDF file: {error}") from error
    if root.tag != "sdf":
        raise ValueError(f"{str(path)!r} is no SDF file: its first element must be sdf, got {root.tag!r}")
    version = tuple(int(word) for word in root.get("version", "").split(".") if word.isdigit())
    if version < OLDEST:
        right = ".".join(map(str, OLDEST))
        raise ValueError(f"{str(path)!r} must be of SDFormat {right} or later, got {root.get('version', '')!r}")
    models = [*root.findall("model"), *root.findall("world/model")]
    if len(models) != 1:
        raise ValueError(f"{str(path)!r} must contain one model, got {len(models)}")
    if root.find("world/joint") is not None:
        raise ValueError(f"{str(path)!r} has a joint between models, which is not read: put it into the model")
    if root.find("world/include") is not None:
        warn("the models that the world includes are left out")
    model = _Model(models[0])

    def shapes(link: str, use: Use) -> tuple[LinkShape, ...]:
        element = model.links.get(link)
        return () if element is None else shapes_of(element, use, where=f"link {link!r}", file=path, pose=_own_pose)

    return model.contents(fixed)._replace(shapes=shapes)


class _Model:
    """Links, joints and frames of a model, with their poses in the world at the zero of all joints."""

    def __init__(self, model: Element) -> None:
        nested = [tag for tag in ("include", "model") if model.find(tag) is not None]
        if nested:
            raise ValueError(f"the model must not have the element {nested[0]}: expand it first")
        self.own = model
        static = only(model, "static", "the model")
        self.is_static = static is not None and (static.text or "").strip() in ("true", "1")
        self.links, self.joints, self.frames = (dict(named(model, tag)) for tag in ("link", "joint", "frame"))
        if not self.links:
            raise ValueError("the model must have a link, got none")
        twice = (self.links.keys() & self.joints.keys()) | (
            (self.links.keys() | self.joints.keys()) & self.frames.keys()
        )
        if twice:
            raise ValueError(f"links, joints and frames must have different names, got {sorted(twice)[0]!r} twice")
        self.canonical = model.get("canonical_link") or next(iter(self.links))
        self.poses: dict[str, Array] = {WORLD: np.eye(4)}

    def contents(self, fixed: bool) -> Contents:
        """Contents of the model: tree of joints from the world, and joints that close loops.

        ``fixed``: True to weld links that are no child of a joint to the ground.
        """
        self._place()
        links = {WORLD: LinkElement(WORLD), **{name: _link(name, element) for name, element in self.links.items()}}
        ends = {name: self._ends(name) for name in self.joints}
        in_tree, loops = self._sorted(ends)
        elements: list[JointElement] = []
        closing: list[JointElement] = []
        springs: list[Spring] = []
        for name in (*in_tree, *loops):
            parent, child = ends[name]
            held = name in loops
            origin = np.linalg.inv(self._pose_of(parent)) @ self._pose_of(name)
            start = f"{name} on {parent}"
            if held:
                links[start], fixture = anchor(parent, origin, start)
                elements.append(fixture)
                parent, origin = start, np.eye(4)
            moved = np.linalg.inv(self._pose_of(name)) @ self._pose_of(child)
            end = f"{name} on {child}"
            if held:
                links[end], fixture = anchor(child, np.linalg.inv(moved), end)
                elements.append(fixture)
            elif np.array_equal(moved, np.eye(4)):
                end = child
            else:  # the frame of the joint on its child, which the child is fixed to
                links[end] = LinkElement(end)
                elements.append(JointElement(f"{end} fixed", FIXED, end, child, moved, np.zeros(3)))
            joint, spring = self._joint(name, parent, end, origin)
            (closing if held else elements).append(joint)
            if held and (spring is not None or joint.mimic is not None):
                what = "has a spring" if joint.mimic is None else "follows another one"
                raise ValueError(f"joint {name!r} closes a loop and {what}, which is not read")
            springs += [] if spring is None else [spring]
        kind = FIXED if fixed or self.is_static else FLOATING
        for name in self._roots(ends, in_tree):
            held_by = unused(f"{name} free", self.joints)
            elements.append(JointElement(held_by, kind, WORLD, name, self._pose_of(name), np.zeros(3)))
        return Contents(links, elements, springs, closing)

    def _place(self) -> None:
        """Set the pose of the model in the world, which the file can give as the pose of one of its frames."""
        element = only(self.own, "pose", "the model")
        base = "" if element is None else element.get("relative_to", "")
        if base not in ("", WORLD):
            raise ValueError(f"the pose of the model must be relative to the world, got relative_to={base!r}")
        self.poses["__model__"] = np.eye(4)
        placed = self.own.get("placement_frame", "")
        placement = self._pose_of(placed) if placed else np.eye(4)
        self.poses = {WORLD: np.eye(4), "__model__": _pose(self.own, "the model") @ np.linalg.inv(placement)}

    def _sorted(self, ends: dict[str, tuple[str, str]]) -> tuple[list[str], list[str]]:
        """Names of the joints of the tree, and of joints that close loops.

        ``ends``: parent and child of each joint. Of several joints with the same child, the first one in the file
        belongs to the tree.
        """
        led: set[str] = {WORLD}
        above: dict[str, str] = {}
        in_tree, loops = [], []
        for name, (parent, child) in ends.items():
            if child in led or _reaches(above, parent, child):
                loops.append(name)
                continue
            led.add(child)
            above[child] = parent
            in_tree.append(name)
        return in_tree, loops

    def _roots(self, ends: dict[str, tuple[str, str]], in_tree: list[str]) -> Iterator[str]:
        """Yield the links that are no child of a joint in the tree.

        ``ends``: parent and child of each joint.
        """
        children = {ends[name][1] for name in in_tree}
        return (name for name in self.links if name not in children)

    def _ends(self, name: str) -> tuple[str, str]:
        """Parent and child link of a joint.

        A frame is replaced by the link to which it is attached.
        """
        joint, where = self.joints[name], f"joint {name!r}"
        ends = []
        for tag in ("parent", "child"):
            element = only(joint, tag, where)
            given = "" if element is None else (element.text or "").strip()
            ends.append(self._link_of(given, where) if given else "")
            if not ends[-1]:
                raise ValueError(f"{where} must have a {tag}")
        if ends[1] == WORLD:
            raise ValueError(f"{where} must have a link as its child, got the world")
        if ends[0] == ends[1]:
            raise ValueError(f"{where} must join two links, got {ends[0]!r} twice")
        return ends[0], ends[1]

    def _link_of(self, name: str, where: str, depth: int = 0) -> str:
        """Link to which the frame ``name`` is attached, or ``name`` itself if it is a link or the world.

        Raises ValueError, naming ``where``, for an unknown name.
        """
        if name == WORLD or name in self.links:
            return name
        if name == "__model__" or name in self.joints:
            return self.canonical if name == "__model__" else self._ends(name)[1]
        if name not in self.frames or depth > len(self.frames):
            raise ValueError(f"{where} names {name!r}, which is no link or frame of the model")
        return self._link_of(self.frames[name].get("attached_to") or "__model__", where, depth + 1)

    def _pose_of(self, name: str, depth: int = 0) -> Array:
        """Pose (4, 4) of a link, joint or frame in the world."""
        if name in self.poses:
            return self.poses[name]
        where = f"{name!r}"
        if name in self.joints:
            element = self.joints[name]
            self._ends(name)  # refuses a joint without a child
            base = str(element.findtext("child")).strip()  # also for a frame, whose pose differs from that of its link
        elif name in self.links:
            element, base = self.links[name], "__model__"
        elif name in self.frames:
            element = self.frames[name]
            base = element.get("attached_to") or "__model__"
        else:
            raise ValueError(f"a pose is relative to {where}, which is no link, joint or frame of the model")
        if depth > len(self.links) + len(self.joints) + len(self.frames):
            raise ValueError(f"the pose of {where} is relative to itself")
        pose_element = only(element, "pose", where)
        base = (pose_element.get("relative_to") if pose_element is not None else None) or base
        self.poses[name] = self._pose_of(base, depth + 1) @ _pose(element, where)
        return self.poses[name]

    def _joint(self, name: str, parent: str, child: str, origin: Array) -> tuple[JointElement, Spring | None]:
        """Joint with axis, limits, damping and friction; and its spring, None without one."""
        element, where = self.joints[name], f"joint {name!r}"
        kind = element.get("type", "")
        if kind not in KINDS:
            raise ValueError(f"{where} must be one of {', '.join(KINDS)}, got {kind!r}")
        axis = only(element, "axis", where)
        if axis is None or kind in (FIXED, BALL):
            if kind not in (FIXED, BALL):
                raise ValueError(f"{where} must have an axis")
            return JointElement(name, kind, parent, child, origin, np.zeros(3)), None
        along = self._axis(axis, name)
        losses, bounds = only(axis, "dynamics", where), only(axis, "limit", where)
        damping, friction, rest, stiffness = (
            _value(losses, tag, where, 0.0) for tag in ("damping", "friction", "spring_reference", "spring_stiffness")
        )
        for what, value in (("damping", damping), ("friction", friction), ("spring_stiffness", stiffness)):
            if value < 0.0:
                raise ValueError(f"{what} of {where} must not be negative, got {value:g}")
        lower, upper, effort, velocity = (
            _value(bounds, tag, where, default)
            for tag, default in (("lower", -math.inf), ("upper", math.inf), ("effort", -1.0), ("velocity", -1.0))
        )
        unbounded = (value if value >= 0.0 else math.inf for value in (velocity, effort))
        ends = (-math.inf, math.inf) if kind == "continuous" else _bounds(lower, upper)
        limit, mimic = Limit(*ends, *unbounded), _mimic(axis, where)
        spring = Spring(name, stiffness, rest) if stiffness else None
        return JointElement(name, kind, parent, child, origin, along, damping, friction, limit, mimic), spring

    def _axis(self, axis: Element, name: str) -> Array:
        """Unit vector (3,) of the axis of the joint ``name``, in the frame of the joint."""
        where = f"joint {name!r}"
        element = only(axis, "xyz", where)
        along = np.array([0.0, 0.0, 1.0]) if element is None else _numbers(element.text or "", 3, where, "xyz")
        size = float(np.linalg.norm(along))
        if size == 0.0:
            raise ValueError(f"{where} must have an axis that is not zero")
        frame = "" if element is None else element.get("expressed_in", "")
        if frame and frame != name:
            along = self._pose_of(name)[:3, :3].T @ self._pose_of(frame)[:3, :3] @ along
        return np.asarray(along / size)


def _reaches(above: dict[str, str], link: str, child: str) -> bool:
    """True if ``child`` is ``link`` or one of its ancestors in the tree.

    ``above``: parent of each link.
    """
    while link != child and link in above:
        link = above[link]
    return link == child


def _bounds(lower: float, upper: float) -> tuple[float, float]:
    """Lower and upper limit of a joint.

    Values from 1e16 on, the default of the format, mean no limit.
    """
    return (lower if lower > -1e16 else -math.inf), (upper if upper < 1e16 else math.inf)


def _mimic(axis: Element, where: str) -> Mimic | None:
    """Law q = a (q' − q'₀) + b of a joint that follows another one (SDFormat 1.11); None if it follows none.

    q and q' are the coordinates of follower and leader, a the multiplier, b the offset and q'₀ the reference.
    """
    mimic = only(axis, "mimic", where)
    if mimic is None:
        return None
    if not mimic.get("joint") or mimic.get("axis", "axis") != "axis":
        raise ValueError(f"mimic of {where} must name a joint and its only axis, got {mimic.attrib}")
    factor, offset, reference = (
        _value(mimic, tag, where, missing)
        for tag, missing in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
    )
    return Mimic(mimic.attrib["joint"], factor, offset - factor * reference)


def _link(name: str, element: Element) -> LinkElement:
    where = f"link {name!r}"
    inertial = only(element, "inertial", where)
    if inertial is not None and inertial.get("auto") in ("true", "1"):
        raise ValueError(f"inertial of {where} must state its mass and inertia: those of shapes are not computed")
    if inertial is None:
        warn(f"link {name!r} has no inertial, it gets the defaults of the format, 1 kg and 1 kg m²")
    mass = _value(inertial, "mass", where, 1.0)
    if mass < 0.0:
        raise ValueError(f"mass of {where} must not be negative, got {mass:g}")
    stated = None if inertial is None else only(inertial, "inertia", where)
    values = [_value(stated, entry, where, float(entry[1] == entry[2])) for entry in MOMENTS]
    moments = np.diag(values[:3])
    for value, (i, j) in zip(values[3:], ((0, 1), (0, 2), (1, 2)), strict=True):
        moments[i, j] = moments[j, i] = value
    pose = np.eye(4) if inertial is None else _pose(inertial, where)
    return LinkElement(name, mass, pose[:3, 3], pose[:3, :3] @ moments @ pose[:3, :3].T)


def _own_pose(element: Element, where: str) -> Array:
    """Pose (4, 4) of a shape on its link; raises ValueError for a pose relative to another frame."""
    pose_element = only(element, "pose", where)
    if pose_element is not None and pose_element.get("relative_to"):
        raise ValueError(
            f"the pose of {where} must be relative to its link, got relative_to={pose_element.get('relative_to')!r}"
        )
    return _pose(element, where)


def _pose(element: Element, where: str) -> Array:
    """Pose (4, 4) from the pose of an element: position, and angles about fixed axes or a quaternion."""
    pose, pose_element = np.eye(4), only(element, "pose", where)
    if pose_element is None or not (pose_element.text or "").strip():
        return pose
    quaternion = pose_element.get("rotation_format") == "quat_xyzw"
    values = _numbers(pose_element.text or "", 7 if quaternion else 6, where, "pose")
    pose[:3, 3] = values[:3]
    if quaternion:
        if not values[3:].any():
            raise ValueError(f"the quaternion of {where} must not be zero")
        pose[:3, :3] = Rotation.from_quat(values[3:]).as_matrix()
    else:
        degrees = pose_element.get("degrees") in ("true", "1")
        pose[:3, :3] = Rotation.from_euler("xyz", values[3:], degrees=degrees).as_matrix()
    return pose


def _value(element: Element | None, tag: str, where: str, missing: float) -> float:
    """Number in a child element ``tag``, or ``missing`` if there is no such element.

    ``where`` names the element in errors.
    """
    child = None if element is None else only(element, tag, where)
    return missing if child is None else float(_numbers(child.text or "", 1, where, tag, endless=True)[0])


def _numbers(text: str, count: int, where: str, what: str, *, endless: bool = False) -> Array:
    words = text.split()
    if len(words) != count:
        raise ValueError(f"{what} of {where} must be {count} numbers, got {text.strip()!r}")
    return np.array(parsed(words, where, what, endless=endless))
