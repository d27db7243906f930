"""Gear pairs of a drawing: wheels with teeth in mesh, or wheels drawn as pitch cylinders in contact.

Two wheels with z₁ and z₂ teeth and parallel axes at a distance a are in mesh if the pitch radii a z₁/(z₁ ± z₂) and
a z₂/(z₁ ± z₂) are between tips and roots. The gear ratio is that of the numbers of teeth, or of the radii of pitch
cylinders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...meshes.contents import ProposedPort
from ...meshes.drawings.drawing import Drawing, Part
from ...meshes.drawings.teeth import ToothedWheel, toothed_wheels
from ...numerics.arrays import Array
from .freedoms import Pair
from .touching import COAXIAL, PARALLEL, Touch

WORDS = re.compile(
    r"(?<![^\W_])(gear|pinion|worm|bevel|rack|sprocket|pulley|zahn|ritzel|kegelrad|schneckenrad|kettenrad|riemen)(?!box)",
    re.IGNORECASE,
)
"""Names of parts that belong to a transmission."""
TANGENT = 1e-3
"""Gap of two pitch cylinders, relative to the distance of their axes, up to which they touch."""


@dataclass(frozen=True, eq=False)
class Meshing:
    """Two wheels in mesh, ``first`` and ``second``: their parts, centres (3,) [m] and the direction (3,) of their axes.

    ``ratio``: angle of the first over angle of the second wheel, negative if they turn in opposite directions;
    ``regions``: names of the faces in contact; ``words``: text that describes the pair; ``toothed``: False for pitch
    cylinders.
    """

    first: str
    second: str
    places: tuple[Array, Array]
    regions: tuple[str, str]
    axis: Array
    ratio: float
    words: str
    toothed: bool


@dataclass(frozen=True, eq=False)
class ProposedGear:
    """Gear pair, and the group of parts that carries both shafts."""

    meshing: Meshing
    carrier: str


@dataclass(frozen=True, eq=False)
class Gears:
    """Proposed gear pairs, and texts on wheels without a pair."""

    pairs: tuple[ProposedGear, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Hinged:
    """A joint, and the names of the two rigid groups of parts that it connects."""

    groups: tuple[str, str]
    pair: Pair


def meshings(drawing: Drawing, touches: Sequence[Touch]) -> tuple[list[Meshing], list[str]]:
    """Pairs of wheels in mesh, first those with teeth, and texts on toothed wheels without a mating wheel."""
    wheels = {part.name: toothed_wheels(part.faces, part.scale) for part in drawing.parts}
    found: list[Meshing] = []
    met: set[int] = set()
    for one, two in combinations(drawing.parts, 2):
        for a in wheels[one.name]:
            for b in wheels[two.name]:
                meshing = _of_teeth(one.name, two.name, a, b)
                if meshing is not None:
                    found.append(meshing)
                    met |= {id(a), id(b)}
    filled = {
        end
        for t in touches
        if t.kind in ("pin", "screw", "thread")
        for end in ((t.first, t.ports[0]), (t.second, t.ports[1]))
    }
    for one, two in combinations(drawing.parts, 2):
        if not any({m.first, m.second} == {one.name, two.name} for m in found):
            found += _of_cylinders(one, two, filled)
    alone = [
        f"{name} has {wheel.teeth} equal teeth or notches without a mating wheel on a parallel axis: a rack, a "
        "bevel or worm gear, a chain or a spline is not recognised"
        for name, parts in wheels.items()
        for wheel in parts
        if id(wheel) not in met
    ]
    return found, alone


def _of_teeth(one: str, two: str, a: ToothedWheel, b: ToothedWheel) -> Meshing | None:
    """Meshing of the toothed wheels ``a`` of the part ``one`` and ``b`` of the part ``two``; None if they do not mesh.

    They mesh if their axes are parallel, their pitch circles touch between tips and roots, and at most one is internal.
    """
    if a.internal and b.internal:
        return None
    distance = _distance((a.at, a.axis, a.width), (b.at, b.axis, b.width))
    if distance is None:
        return None
    inside = a.internal or b.internal
    total = abs(a.teeth - b.teeth) if inside else a.teeth + b.teeth
    if total == 0 or not all(w.meshes_at(distance * w.teeth / total) for w in (a, b)):
        return None
    if inside and (a.teeth < b.teeth) == a.internal:
        return None
    words = f"wheels of {a.teeth} and {b.teeth} teeth in mesh at {1e3 * distance:.6g} mm"
    ratio = (1.0 if inside else -1.0) * b.teeth / a.teeth
    return Meshing(one, two, (a.at, b.at), (a.name, b.name), a.axis, ratio, words, toothed=True)


def _of_cylinders(one: Part, two: Part, filled: set[tuple[str, str]]) -> Iterator[Meshing]:
    """Yield at most one meshing of two parts: that of their largest cylinders in contact along a line.

    ``filled``: cylinders that are no pitch cylinders, as each is a pin or screw in a bore, or the bore; they are given
    by the names of part and port.
    """
    free = [
        [p for p in part.ports if p.kind in ("pin", "hole") and (part.name, p.name) not in filled]
        for part in (one, two)
    ]
    pairs = [(a, b) for a in free[0] for b in free[1] if _roll(a, b)]
    if pairs:
        a, b = max(pairs, key=lambda pair: _radius(pair[0]) + _radius(pair[1]))
        inside = "hole" in (a.kind, b.kind)
        words = f"{one.name}.{a.name} and {two.name}.{b.name} touch like the pitch cylinders of gears"
        ratio = (1.0 if inside else -1.0) * _radius(b) / _radius(a)
        places = (np.array(a.centre), np.array(b.centre))
        yield Meshing(one.name, two.name, places, (a.name, b.name), np.array(a.axis), ratio, words, toothed=False)


def _radius(port: ProposedPort) -> float:
    assert port.radius is not None
    return port.radius


def _roll(a: ProposedPort, b: ProposedPort) -> bool:
    """True if two cylinders touch along a line, side by side or one within the other."""
    if a.kind == b.kind == "hole":
        return False
    distance = _distance(_line(a), _line(b))
    if distance is None:
        return False
    inside = "hole" in (a.kind, b.kind)
    if not inside:
        return abs(distance - _radius(a) - _radius(b)) <= TANGENT * distance
    bore, wheel = (a, b) if a.kind == "hole" else (b, a)
    apart = distance > 2.0 * COAXIAL * _radius(bore)
    return apart and abs(_radius(bore) - _radius(wheel) - distance) <= TANGENT * _radius(bore)


Line = tuple[Array, Array, float]
"""Middle, direction and length of an axis."""


def _line(port: ProposedPort) -> Line:
    assert port.length is not None
    return np.array(port.centre), np.array(port.axis), port.length


def _distance(one: Line, two: Line) -> float | None:
    """Distance of two parallel axes [m]; None if they are not parallel, or the wheels do not overlap along them."""
    (at, axis, width), (other, other_axis, other_width) = one, two
    if np.linalg.norm(np.cross(axis, other_axis)) > PARALLEL:
        return None
    away = other - at
    along = float(away @ axis)
    if abs(along) >= 0.5 * (width + other_width) * (1.0 - 1e-3):
        return None
    return float(np.linalg.norm(away - along * axis))


def proposed_gears(
    found: Sequence[Meshing], alone: Sequence[str], groups: Mapping[str, str], joints: Sequence[Hinged], ground: str
) -> Gears:
    """Gear pairs for wheels that mesh and turn about their axes in a common carrier, and texts on other wheels.

    ``found``: wheels in mesh; ``alone``: texts on wheels without a mating wheel, which the result repeats, followed by
    texts on omitted pairs; ``groups``: name of the rigid group of each part; ``joints``: joints between rigid groups,
    from which the carrier is determined.
    """
    pairs: dict[frozenset[str], ProposedGear] = {}
    left_out = list(alone)
    met = {name for m in found for name in (m.first, m.second)}
    left_out += [
        f"{name} is a part of a transmission by its name, but no wheel touches it in the drawing"
        for name in groups
        if WORDS.search(name)
        and name not in met
        and name != ground
        and not any(text.startswith(name) for text in alone)
    ]
    for meshing in found:
        ends = groups[meshing.first], groups[meshing.second]
        if ends[0] == ends[1]:
            if meshing.toothed:
                left_out.append(f"{meshing.words}, but {meshing.first} and {meshing.second} are rigidly joined")
            continue
        about = [_about(end, at, meshing.axis, joints) for end, at in zip(ends, meshing.places, strict=True)]
        carriers = (about[0] & about[1]) - set(ends)
        if not carriers and (meshing.toothed or all(any(end in j.groups for j in joints) for end in ends)):
            left_out.append(f"{meshing.words}, but no part carries the shafts of {meshing.first} and {meshing.second}")
        if not carriers:
            continue
        known = pairs.get(frozenset(ends))
        if known is None:
            carrier = groups[ground] if groups[ground] in carriers else min(carriers)
            pairs[frozenset(ends)] = ProposedGear(meshing, carrier)
        elif abs(known.meshing.ratio - _ratio_in_order(known.meshing, meshing, groups)) > 1e-6 * abs(
            known.meshing.ratio
        ):
            left_out.append(f"{meshing.words}: of another ratio than {known.meshing.words}")
    return Gears(tuple(pairs.values()), tuple(left_out))


def _ratio_in_order(known: Meshing, meshing: Meshing, groups: Mapping[str, str]) -> float:
    """Gear ratio of ``meshing`` in the order of ``known``, a meshing between the same two rigid groups.

    The ratio is inverted if the first wheel of ``meshing`` is in the group of the second wheel of ``known``.
    """
    return meshing.ratio if groups[meshing.first] == groups[known.first] else 1.0 / meshing.ratio


def _about(start: str, at: Array, axis: Array, joints: Sequence[Hinged]) -> set[str]:
    """Rigid groups in which the axis of a wheel is fixed: the group ``start`` of the wheel, and groups joined to it.

    Groups are joined by chains of joints that only allow motion about or along the axis (3,) of the wheel, which passes
    through the point ``at`` (3,) [m].
    """
    kept = [j.groups for j in joints if _fixes_line(j.pair, at, axis)]
    held, waiting = {start}, [start]
    while waiting:
        current = waiting.pop()
        for pair in kept:
            if current in pair:
                other = pair[1] if pair[0] == current else pair[0]
                if other not in held:
                    held.add(other)
                    waiting.append(other)
    return held


def _fixes_line(pair: Pair, at: Array, axis: Array) -> bool:
    """True for a joint that fixes a line, the axis (3,) through the point ``at`` (3,), in both of its parts.

    It is a hinge or cylindrical joint about this line, or a prismatic joint parallel to it.
    """
    if pair.kind not in ("hinge", "cylindrical", "prismatic") or np.linalg.norm(np.cross(pair.axis, axis)) > PARALLEL:
        return False
    away = pair.at - at
    off = float(np.linalg.norm(away - (away @ axis) * axis))
    return pair.kind == "prismatic" or off <= 1e-6 + 1e-4 * float(np.linalg.norm(away))
