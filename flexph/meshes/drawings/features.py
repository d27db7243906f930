"""Ports proposed by a drawing: bores and pins, balls and sockets, plane faces.

Names depend only on the drawing, not on the size of cells.

Cylindrical faces of one axis and radius that meet are one feature. A bore or pin is a full cylinder, except for a
keyway or a flat: fillets and the ends of slots are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ..contents import ProposedPort

NEAR = 1e-4
"""Distance of axes, relative to the radius, up to which faces are coaxial."""
ROUND = 0.7
"""Share of a full turn from which faces of a cylinder are a bore or pin: 0.9 without a keyway, 0.5 at a slot end."""
WHOLE_SPHERE = 0.2
"""Share of a sphere from which its face is a ball or socket."""


@dataclass(frozen=True)
class _Cylinder:
    """Cylindrical faces of one axis and radius, as one feature: point and direction of the axis, and radius.

    ``concave``: True for a bore; ``low``, ``high``: extent along the axis; ``swept``: sum over the faces of angle times
    length; ``faces``: their numbers.
    """

    at: Array
    axis: Array
    radius: float
    concave: bool
    low: float
    high: float
    swept: float
    faces: tuple[int, ...]


def proposed_ports(faces: Sequence[dict[str, Any]], scale: float) -> tuple[ProposedPort, ...]:
    """Ports at the faces of one part in [m], sorted by kind, size and position, and named by kind and number.

    Lengths of the ``faces`` are in the unit ``scale`` [m].
    """
    places = [*_round(faces), *_balls(faces), *_planes(faces)]
    ordered = sorted(places, key=_order)
    counts: dict[str, int] = {}
    ports = []
    for port in ordered:
        counts[port.kind] = counts.get(port.kind, 0) + 1
        ports.append(_scaled(replace(port, name=f"{port.kind}{counts[port.kind]}"), scale))
    return tuple(ports)


def _order(port: ProposedPort) -> tuple[Any, ...]:
    kinds = ("hole", "pin", "socket", "ball", "plane")
    size = port.length if port.radius is None else port.radius
    return kinds.index(port.kind), -_digits(size or 0.0), *(_digits(x) for x in (*port.centre, *port.axis))


def _digits(value: float) -> float:
    """Length rounded to 1e-5 (10 nm in millimetres), so that the order of ports does not depend on round-off."""
    return round(float(value), 5) + 0.0


def _scaled(port: ProposedPort, scale: float) -> ProposedPort:
    return replace(
        port,
        centre=tuple(scale * x + 0.0 for x in port.centre),
        radius=None if port.radius is None else scale * port.radius,
        length=None if port.length is None else scale * port.length,
    )


def _tuple(values: Array, digits: int = 9) -> tuple[float, ...]:
    return tuple(float(x) for x in np.round(values, digits) + 0.0)


def upwards(axis: Array) -> Array:
    """Direction (3,) of an axis with the sign for which its first nonzero component is positive."""
    axis = np.asarray(axis, dtype=float)
    leading = axis[np.argmax(np.abs(axis) > 1e-6)]
    return axis if leading > 0.0 else -axis


def _round(faces: Sequence[dict[str, Any]]) -> list[ProposedPort]:
    """Bores and pins: groups of cylindrical faces that make a full turn."""
    groups: list[_Cylinder] = []
    for face in faces:
        if face["kind"] == "Cylinder" and "axis" in face:
            groups = _joined(groups, _cylinder(face))
    ports = []
    for group in groups:
        if group.swept < ROUND * 2.0 * np.pi * (group.high - group.low):
            continue
        centre = group.at + 0.5 * (group.low + group.high) * group.axis
        kind = "hole" if group.concave else "pin"
        place = _tuple(centre), _tuple(group.axis, 12)
        ports.append(ProposedPort("", kind, *place, group.radius, group.high - group.low, group.faces))
    return ports


def _cylinder(face: dict[str, Any]) -> _Cylinder:
    axis, (one, two) = upwards(face["axis"]), np.array(face["ends"])
    at = one - (one @ axis) * axis
    low, high = sorted((float(one @ axis), float(two @ axis)))
    swept = face["angle"] * (high - low)
    return _Cylinder(at, axis, face["radius"], face["concave"], low, high, swept, (face["tag"],))


def _joined(groups: list[_Cylinder], cylinder: _Cylinder) -> list[_Cylinder]:
    """Groups of cylindrical faces with ``cylinder`` added, merged with adjoining coaxial groups of equal radius."""
    kept = []
    for other in groups:
        near = NEAR * cylinder.radius
        same = (
            cylinder.concave == other.concave
            and abs(cylinder.radius - other.radius) <= near
            and np.linalg.norm(np.cross(cylinder.axis, other.axis)) <= 1e-6
            and float(np.linalg.norm(cylinder.at - other.at)) <= max(near, 1e-6 * float(np.linalg.norm(cylinder.at)))
        )
        if same and cylinder.low <= other.high + near and other.low <= cylinder.high + near:
            faces = tuple(sorted((*cylinder.faces, *other.faces)))
            low, high = min(cylinder.low, other.low), max(cylinder.high, other.high)
            cylinder = replace(cylinder, low=low, high=high, swept=cylinder.swept + other.swept, faces=faces)
        else:
            kept.append(other)
    return [*kept, cylinder]


def _balls(faces: Sequence[dict[str, Any]]) -> list[ProposedPort]:
    """Balls and sockets: faces of one centre and radius that cover a fifth of a sphere or more."""
    groups: list[list[dict[str, Any]]] = []
    for face in (f for f in faces if f["kind"] == "Sphere" and "middle" in f):
        for group in groups:
            first, near = group[0], NEAR * face["radius"]
            if (
                first["concave"] == face["concave"]
                and abs(first["radius"] - face["radius"]) <= near
                and np.linalg.norm(np.subtract(first["middle"], face["middle"])) <= near
            ):
                group.append(face)
                break
        else:
            groups.append([face])
    ports = []
    for group in groups:
        area, radius = sum(face["area"] for face in group), group[0]["radius"]
        if area >= WHOLE_SPHERE * 4.0 * np.pi * radius**2:
            kind, tags = "socket" if group[0]["concave"] else "ball", tuple(sorted(face["tag"] for face in group))
            ports.append(ProposedPort("", kind, _tuple(group[0]["middle"]), (0.0, 0.0, 1.0), radius, None, tags))
    return ports


def _planes(faces: Sequence[dict[str, Any]]) -> list[ProposedPort]:
    """Plane faces with their outward normals.

    ``length`` is the root of the area.
    """
    return [
        ProposedPort(
            "",
            "plane",
            _tuple(np.array(face["centre"])),
            _tuple(np.array(face["normal"]), 12),
            None,
            float(np.sqrt(face["area"])),
            (face["tag"],),
        )
        for face in faces
        if face["kind"] == "Plane" and "normal" in face
    ]
