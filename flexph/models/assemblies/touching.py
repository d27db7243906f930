"""Contacts of parts of a drawing: pins in bores, slots and threads, bores in line, balls, planes on each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ...meshes.contents import ProposedPort
from ...meshes.drawings.drawing import Drawing, Part
from ...numerics.arrays import Array

PARALLEL = 1e-4
"""Sine of the angle between axes up to which they are parallel."""
COAXIAL = 0.02
"""Distance of parallel axes, relative to the radius of the bore, up to which they are one."""
CLEARANCE = 0.1
"""Clearance of a pin, relative to the radius of the bore, up to which it fits."""
TIGHT = 1e-3
"""Interference, relative to the radius of the bore, up to which a pin fits."""
NEIGHBOURS = 0.1
"""Gap along the axis, relative to the radius, up to which bores in line belong together."""

THREADED = (0.05, 0.3)
"""Interference, relative to the radius of the bore, of a thread that is drawn by its outer and core diameters."""

SURE = {
    **{"pin": "sure", "ball": "sure", "slot": "likely", "plane": "sure", "bores": "likely"},
    **{"screw": "likely", "thread": "not sure"},
}


@dataclass(frozen=True, eq=False)
class Touch:
    """Contact between ports of two parts: its kind, position (3,) [m], and axis or normal (3,).

    Kinds are pin (in a bore), bores, slot, ball, plane, thread, and screw, which is a thread that clamps. The names in
    ``ports`` are those of the faces of the first and the second part. A pin in a slot also has the ``normal`` (3,) of
    the sides of the slot.
    """

    kind: str
    first: str
    second: str
    at: Array
    axis: Array
    ports: tuple[str, str]
    normal: Array | None = None

    def words(self) -> str:
        """Text that describes the contact."""
        one, two = f"{self.first}.{self.ports[0]}", f"{self.second}.{self.ports[1]}"
        return {
            "pin": f"{one} and {two} are coaxial and fit",
            "bores": f"{one} and {two} are bores in line, without a pin in the drawing",
            "ball": f"{one} and {two} are a ball in its socket",
            "slot": f"{one} and {two} are a pin between the sides of a slot",
            "plane": f"{one} and {two} lie on each other",
            "screw": f"{one} and {two} are a screw in its thread",
            "thread": f"{one} and {two} are coaxial, and the pin is larger by the depth of a thread",
        }[self.kind]


def contacts(drawing: Drawing) -> list[Touch]:
    """All contacts of a drawing.

    Two bores in line are a contact only if no pin of the drawing is in one of them.
    """
    touches = [t for one, two in combinations(drawing.parts, 2) for t in _of_pair(one, two)]
    filled = {end for t in touches if t.kind == "pin" for end in ((t.first, t.ports[0]), (t.second, t.ports[1]))}
    kept = [t for t in touches if t.kind != "bores" or not {(t.first, t.ports[0]), (t.second, t.ports[1])} & filled]
    planes = list(_planes(drawing))
    screws = [replace(t, kind="screw") if _clamps(t, kept, planes) else t for t in kept]
    return [*screws, *planes]


def _clamps(touch: Touch, touches: Sequence[Touch], planes: Sequence[Touch]) -> bool:
    """True if the contact ``touch`` is the thread of a clamping screw, or of a screw that is in one part only.

    A clamping screw goes through another part into the part with the thread (both are listed in ``touches``: a pin in
    a bore, or a thread). The two parts lie on each other at a plane normal to the screw, one of ``planes``.
    """
    if touch.kind != "thread":
        return False
    of_first = touch.ports[0].startswith("pin")
    screw, held = (touch.first, touch.second) if of_first else (touch.second, touch.first)
    others = {
        t.second if t.first == screw else t.first
        for t in touches
        if t.kind in ("pin", "thread") and screw in (t.first, t.second)
    } - {held}
    across = [t for t in planes if abs(t.axis @ touch.axis) > 1.0 - PARALLEL]
    return not others or any({t.first, t.second} == {held, other} for t in across for other in others)


def _of_pair(one: Part, two: Part) -> Iterator[Touch]:
    for a in one.ports:
        for b in two.ports:
            kinds = {a.kind, b.kind}
            if kinds == {"hole", "pin"} or (a.kind == b.kind == "hole"):
                touch = _round(a, b)
            elif kinds == {"ball", "socket"}:
                touch = _ball(a, b)
            else:
                continue
            if touch is not None:
                yield replace(touch, first=one.name, second=two.name)
    for owner, other in ((one, two), (two, one)):
        yield from _slots(owner, other)


def _slots(owner: Part, other: Part) -> Iterator[Touch]:
    """Yield the contacts of pins of ``owner`` with two parallel plane faces of ``other``, the sides of a slot."""
    sides = [port for port in other.ports if port.kind == "plane"]
    extents = {port.name: _places(other, port) for port in sides}
    for pin in (port for port in owner.ports if port.kind == "pin"):
        for a, b in combinations(sides, 2):
            normal, axis = np.array(a.axis), np.array(pin.axis)
            if abs(normal @ axis) > PARALLEL or normal @ b.axis > -1.0 + PARALLEL:
                continue
            gap = float(np.subtract(b.centre, a.centre) @ normal)
            away = float(np.subtract(pin.centre, a.centre) @ normal)
            assert pin.radius is not None
            if not _fits(pin.radius, 0.5 * gap) or abs(away - 0.5 * gap) > COAXIAL * pin.radius:
                continue
            if all(_is_within_slot(pin, extents[side.name], np.cross(normal, axis)) for side in (a, b)):
                yield Touch("slot", owner.name, other.name, np.array(pin.centre), axis, (pin.name, a.name), normal)


def _places(part: Part, port: ProposedPort) -> Array:
    """Points (k, 3) [m] on the plane faces of a port of a part."""
    held = [np.reshape(face["points"], (-1, 3)) for face in part.faces if face["tag"] in port.faces]
    return part.scale * np.vstack(held)


def _is_within_slot(pin: ProposedPort, places: Array, direction: Array) -> bool:
    """True if a pin is within the extent of a side of a slot, both along the slot and along the axis of the pin.

    ``places`` (k, 3) [m] are points on this side; ``direction`` (3,) is that of the slot.
    """
    assert pin.radius is not None and pin.length is not None
    away = places - np.array(pin.centre)
    along, across = away @ direction, away @ np.array(pin.axis)
    half = 0.5 * pin.length
    inside = along.min() - pin.radius <= 0.0 <= along.max() + pin.radius
    return bool(inside and across.min() < half and across.max() > -half)


def _fits(inner: float, outer: float) -> bool:
    return -TIGHT * outer <= outer - inner <= CLEARANCE * outer


def _round(a: ProposedPort, b: ProposedPort) -> Touch | None:
    """Contact of two cylindrical ports if they are coaxial and touch, otherwise None.

    The kinds are pin, if a pin fits in a bore; thread, if a pin is slightly larger than the bore; and bores, for two
    bores of equal radius that adjoin. The names of the parts are left empty.
    """
    assert a.radius is not None and b.radius is not None and a.length is not None and b.length is not None
    axis, away = np.array(a.axis), np.subtract(b.centre, a.centre)
    bore = max(a.radius, b.radius)
    if np.linalg.norm(np.cross(axis, b.axis)) > PARALLEL:
        return None
    if np.linalg.norm(away - (away @ axis) * axis) > COAXIAL * bore:
        return None
    low, high = -0.5 * a.length, 0.5 * a.length
    other = away @ axis
    start, end = max(low, other - 0.5 * b.length), min(high, other + 0.5 * b.length)
    at = np.array(a.centre) + 0.5 * (start + end) * axis
    if a.kind == b.kind:
        if abs(a.radius - b.radius) <= 0.01 * bore and -NEIGHBOURS * bore <= end - start <= 1e-3 * bore:
            return Touch("bores", "", "", at, axis, (a.name, b.name))
        return None
    pin, hole = (a, b) if a.kind == "pin" else (b, a)
    assert pin.radius is not None and hole.radius is not None
    if end - start <= 1e-3 * bore:
        return None
    if _fits(pin.radius, hole.radius):
        return Touch("pin", "", "", at, axis, (a.name, b.name))
    if THREADED[0] <= pin.radius / hole.radius - 1.0 <= THREADED[1]:
        return Touch("thread", "", "", at, axis, (a.name, b.name))
    return None


def _ball(a: ProposedPort, b: ProposedPort) -> Touch | None:
    ball, socket = (a, b) if a.kind == "ball" else (b, a)
    assert ball.radius is not None and socket.radius is not None
    near = np.linalg.norm(np.subtract(a.centre, b.centre)) <= COAXIAL * socket.radius
    if near and _fits(ball.radius, socket.radius):
        return Touch("ball", "", "", np.array(ball.centre), np.array(ball.axis), (a.name, b.name))
    return None


def _planes(drawing: Drawing) -> Iterator[Touch]:
    """Yield the contacts of plane faces that lie on each other."""
    owners = {face: (part.name, port) for part in drawing.parts for port in part.ports for face in port.faces}
    for first, second, at in drawing.touching:
        (one, a), (two, b) = owners[first], owners[second]
        yield Touch("plane", one, two, at, np.array(a.axis), (a.name, b.name))
