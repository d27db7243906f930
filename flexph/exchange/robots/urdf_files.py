"""Parser of URDF files into links and joints, by the XML parser of the standard library.

It reads ``inertial`` of links and ``origin``, ``parent``, ``child``, ``axis``, ``limit``, ``dynamics`` and ``mimic`` of
joints, and shapes of requested links; materials, transmissions and calibrations are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from xml.parsers import expat

import numpy as np
from scipy.spatial.transform import Rotation

from ...files.reading import refuse_missing
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...robots.links.elements import FIXED, FLOATING, PLANAR, SLIDING, TURNING, JointElement, Limit, LinkElement, Mimic
from ...robots.links.shapes import LinkShape, Use
from .contents import Contents
from .shape_files import shapes_of
from .xacro_files import expanded_text
from .xml_values import Element, named, only, parsed, tree

KINDS = (*TURNING, *SLIDING, FIXED, FLOATING, PLANAR)


def read_contents(path: Path, arguments: Mapping[str, str | float | bool] | None = None) -> Contents:
    """Links and joints of a URDF file; raises ValueError with the name of the faulty link or joint.

    A file with the suffix ``.xacro``, and any file if ``arguments`` are given, is expanded first.
    """
    root = _root(path, arguments)
    elements = dict(named(root, "link"))
    links = [_link(*item) for item in elements.items()]
    joints = [_joint(*item) for item in named(root, "joint")]
    if not links:
        raise ValueError(f"{str(path)!r} must have a link, got none")

    def shapes(link: str, use: Use) -> tuple[LinkShape, ...]:
        return shapes_of(elements[link], use, where=f"link {link!r}", file=path, pose=_origin)

    return Contents({link.name: link for link in links}, joints, shapes=shapes)


def _root(path: Path, arguments: Mapping[str, str | float | bool] | None) -> Element:
    refuse_missing("robot", path)
    with_macros = path.suffix.lower() == ".xacro" or arguments is not None
    content = expanded_text(path, arguments or {}) if with_macros else path.read_bytes()
    try:
        root = tree(content.lstrip())
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise ValueError(f"{str(path)!r} is no URDF file: {error}") from error
    known = {"xacro"}
    for element in root.iter():
        spaces = {
            name.partition(":")[2] for name, space in element.items() if name[:6] == "xmlns:" and "xacro" in space
        }
        known |= spaces
        prefix, _, tag = element.tag.partition(":")
        if tag and prefix in known:
            raise ValueError(f"{str(path)!r} has the element {element.tag}: expand it first, by the suffix .xacro")
    if root.tag != "robot":
        raise ValueError(f"{str(path)!r} is no URDF file: its first element must be robot, got {root.tag!r}")
    return root


def _link(name: str, element: Element) -> LinkElement:
    where = f"link {name!r}"
    inertial = only(element, "inertial", where)
    if inertial is None:
        return LinkElement(name)
    stated, moments = only(inertial, "mass", where), only(inertial, "inertia", where)
    if stated is None:
        raise ValueError(f"the inertial of {where} must have a mass")
    mass = _not_negative(stated, "value", where, "mass", missing=None)
    if moments is None:
        if mass > 0.0:
            raise ValueError(f"{where} has mass but no inertia: give it one in the file")
        return LinkElement(name)
    pose, given = _origin(inertial, where), _moments(moments, where)
    return LinkElement(name, mass, pose[:3, 3], pose[:3, :3] @ given @ pose[:3, :3].T)


def _moments(element: Element, where: str) -> Array:
    matrix = np.zeros((3, 3))
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        entry = f"i{'xyz'[i]}{'xyz'[j]}"
        matrix[i, j] = matrix[j, i] = _number(element, entry, where, entry, missing=None if i == j else 0.0)
    return matrix


def _joint(name: str, element: Element) -> JointElement:
    where = f"joint {name!r}"
    kind = element.get("type")
    if kind not in KINDS:
        raise ValueError(f"{where} must be one of {', '.join(KINDS)}, got {kind!r}")
    parent, child = (_reference(element, tag, "link", where) for tag in ("parent", "child"))
    axis, losses = only(element, "axis", where), only(element, "dynamics", where)
    along = np.array([1.0, 0.0, 0.0]) if axis is None else _numbers(axis, "xyz", where, "axis", missing="1 0 0")
    size = float(np.linalg.norm(along))
    if size == 0.0 and kind not in (FIXED, FLOATING):
        raise ValueError(f"{where} must have an axis that is not zero")
    damping, friction = (
        0.0 if losses is None else _not_negative(losses, what, where, what, missing=0.0)
        for what in ("damping", "friction")
    )
    direction, limit = along / (size or 1.0), _limit(element, where, kind)
    pose, mimic = _origin(element, where), _mimic(element, where)
    return JointElement(name, kind, parent, child, pose, direction, damping, friction, limit, mimic)


def _limit(element: Element, where: str, kind: str) -> Limit | None:
    """Limits of a joint; None if the file has no element ``limit``.

    A single missing limit is 0; if both are missing, the range is unlimited, as for continuous joints.
    """
    limit = only(element, "limit", where)
    if limit is None:
        return None
    bounded = kind in ("revolute", *SLIDING) and ("lower" in limit.attrib or "upper" in limit.attrib)
    values = []
    for what, missing in (("lower", -math.inf), ("upper", math.inf), ("velocity", math.inf), ("effort", math.inf)):
        missing = 0.0 if bounded and what in ("lower", "upper") else missing
        values.append(_number(limit, what, where, f"limit {what}", missing=missing, endless=True))
    return Limit(*values) if bounded else Limit(-math.inf, math.inf, *values[2:])


def _mimic(element: Element, where: str) -> Mimic | None:
    mimic = only(element, "mimic", where)
    if mimic is None:
        return None
    leader = _reference(element, "mimic", "joint", where)
    factor, offset = (
        _number(mimic, what, where, f"mimic {what}", missing=missing)
        for what, missing in (("multiplier", 1.0), ("offset", 0.0))
    )
    return Mimic(leader, factor, offset)


def _reference(element: Element, tag: str, attribute: str, where: str) -> str:
    child = only(element, tag, where)
    name = "" if child is None else child.get(attribute, "")
    if not name:
        raise ValueError(f'{where} must have a {tag}, <{tag} {attribute}="…"/>')
    return name


def _origin(element: Element, where: str) -> Array:
    """Pose (4, 4) of an ``origin``.

    Its rotation is a quaternion, or angles rpy about the fixed axes x, y, z.
    """
    pose, origin = np.eye(4), only(element, "origin", where)
    if origin is None:
        return pose
    pose[:3, 3] = _numbers(origin, "xyz", where, "origin xyz")
    if "quat_xyzw" in origin.attrib:
        quaternion = _numbers(origin, "quat_xyzw", where, "origin quat_xyzw", count=4)
        if not quaternion.any():
            raise ValueError(f"origin quat_xyzw of {where} must not be zero")
        pose[:3, :3] = Rotation.from_quat(quaternion).as_matrix()
    else:
        angles = _numbers(origin, "rpy", where, "origin rpy")
        pose[:3, :3] = Rotation.from_euler("xyz", angles).as_matrix()
    return pose


def _not_negative(element: Element, attribute: str, where: str, what: str, *, missing: float | None) -> float:
    value = _number(element, attribute, where, what, missing=missing)
    if value < 0.0:
        raise ValueError(f"{what} of {where} must not be negative, got {value:g}")
    return value


def _number(
    element: Element, attribute: str, where: str, what: str, *, missing: float | None, endless: bool = False
) -> float:
    """Number of an attribute, by default ``missing``; None makes it mandatory, ``endless`` allows infinity.

    In errors, ``what`` names the number and ``where`` the element.
    """
    text = element.get(attribute)
    if text is None:
        if missing is None:
            raise ValueError(f"{what} of {where} must be given")
        return missing
    return parsed([text], where, what, endless=endless)[0]


def _numbers(
    element: Element, attribute: str, where: str, what: str, *, missing: str = "0 0 0", count: int = 3
) -> Array:
    text = element.get(attribute, missing)
    words = text.split()
    if len(words) != count:
        raise ValueError(f"{what} of {where} must be {count} numbers, got {check.shown(text)}")
    return np.array(parsed(words, where, what))
