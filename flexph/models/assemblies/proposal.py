"""Proposal of a mechanism for a drawing: ground part, joints between the parts, and the contacts behind each joint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...meshes.drawings.drawing import Drawing
from .freedoms import Pair, pair_of
from .gears import Gears, Hinged, meshings, proposed_gears
from .touching import PARALLEL, Touch, contacts

GROUND_WORDS = re.compile(
    r"ground|base|frame|fram|housing|casing|chassis|stator|foundation|gestell|gehäuse|grund|boden|sockel", re.IGNORECASE
)

ORDER = ("slot", "ball", "pin", "screw", "thread", "bores", "plane")
"""Kinds of contacts; the parts of the first one of a joint are those that it connects."""


@dataclass(frozen=True, eq=False)
class ProposedJoint:
    """Proposed joint between two parts, and the contacts from which it was deduced.

    ``remarks`` are texts on doubtful points.
    """

    first: str
    second: str
    pair: Pair
    touches: tuple[Touch, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Proposal:
    """Mechanism that a drawing suggests: ground part with the reason for it, joints, omitted joints and free parts.

    ``gears``: gear pairs, and texts on wheels without a pair; overlaps: pairs of parts with their common volume [m³].
    """

    ground: str
    reason: str
    joints: tuple[ProposedJoint, ...]
    left_out: tuple[ProposedJoint, ...]
    free: tuple[str, ...]
    overlaps: tuple[tuple[str, str, float], ...] = ()
    gears: Gears = field(default_factory=Gears)


def proposed(drawing: Drawing, ground: str | None = None) -> Proposal:
    """Propose a mechanism for a drawing; ``ground`` names the fixed part.

    Parts between which no motion is possible are welded and form one group, so that a shaft in two bearings of a group
    has one joint. A pin that can rotate in all of its bores is welded to the gear wheels that it carries, otherwise to
    the ground or one of the parts. Two parts that are only in contact at a plane are welded if one of them has no other
    joint, or if one is a bearing block that stands on the other; otherwise this contact is omitted. Raises ValueError
    for fewer than two parts or an unknown ground.
    """
    if len(drawing.parts) < 2:
        raise ValueError(f"a mechanism needs two parts or more, got {len(drawing.parts)} in {drawing.path.name}")
    touches = contacts(drawing)
    names = [part.name for part in drawing.parts]
    ground, reason = _ground(drawing, touches, ground)
    meshes, alone = meshings(drawing, touches)
    wheels = {name for m in meshes for name in (m.first, m.second)}
    groups = {name: name for name in names}
    blocks = _bearing_blocks(groups, _groups_without_blocks(groups, touches, wheels, ground), touches)
    pins = _loose_pins(groups, {ground, *wheels}, touches)
    pinned = [weld for name, touching in pins for weld in _welded_pins(name, touching, groups, wheels, ground)]
    order = {name: names.index(group) for name, group in groups.items()}
    known: Known = {}
    welds = _rigid(groups, touches, known)
    moving, left_out = _between(groups, touches, known)
    joints = sorted([*welds, *moving], key=lambda j: sorted((order[j.first], order[j.second])))
    held = {name for joint in (*blocks, *pinned, *joints) for name in (joint.first, joint.second)}
    for joint in [j for j in left_out if j.pair.kind == "planar"]:
        bare = [name for name in (joint.first, joint.second) if name not in held]
        if bare:
            remark = f"they share one plane, and nothing else holds {bare[0]}: a planar joint if it slides"
            joints.append(ProposedJoint(joint.first, joint.second, _weld(joint.pair), joint.touches, (remark,)))
            left_out.remove(joint)
            held |= {joint.first, joint.second}
            _join(groups, joint.first, joint.second)
    free = tuple(name for name in names if name not in held and name != ground)
    hinged = [Hinged((groups[j.first], groups[j.second]), j.pair) for j in joints]
    gears = proposed_gears(meshes, alone, groups, hinged, ground)
    threads = [{t.first, t.second} for t in touches if t.kind in ("screw", "thread")]
    overlaps = tuple(overlap for overlap in drawing.overlaps if set(overlap[:2]) not in threads)
    return Proposal(ground, reason, (*pinned, *blocks, *joints), tuple(left_out), free, overlaps, gears)


def _weld(pair: Pair) -> Pair:
    return Pair("weld", pair.at, pair.axis, 0)


def _ground(drawing: Drawing, touches: Sequence[Touch], given: str | None) -> tuple[str, str]:
    """Name of the fixed part, and the reason for the choice."""
    if given is not None:
        return drawing.part(given).name, "as given"
    named = [part.name for part in drawing.parts if GROUND_WORDS.search(part.name)]
    if len(named) == 1:
        return named[0], "by its name"
    counts = {part.name: 0 for part in drawing.parts}
    for one, two in {(t.first, t.second) for t in touches}:
        counts[one] += 1
        counts[two] += 1
    volumes = {part.name: part.volume for part in drawing.parts}
    best = max(named or counts, key=lambda name: (counts[name], volumes[name]))
    return best, "a guess: it touches the most parts and is the largest of those; --ground names another"


def _groups_without_blocks(
    groups: dict[str, str], touches: Sequence[Touch], wheels: set[str], ground: str
) -> dict[str, str]:
    """Rigid group of each part, by part, if bearing blocks are not welded to the parts on which they stand.

    In a copy of ``groups``, the group of each loose pin is merged with that of the part to which it is welded, and then
    groups between which no motion is possible; see :func:`proposed`. ``wheels`` are the names of gear wheels,
    ``ground`` that of the fixed part.
    """
    held = dict(groups)
    for name, touching in _loose_pins(held, {ground, *wheels}, touches):
        _welded_pins(name, touching, held, wheels, ground)
    _rigid(held, touches, {})
    return held


def _bearing_blocks(groups: dict[str, str], held: Mapping[str, str], touches: Sequence[Touch]) -> list[ProposedJoint]:
    """Weld bearing blocks to the part on which they stand, and merge their groups in ``groups``; return the welds.

    Bearing blocks are two or more parts with bores for one shaft that are in contact with one further part at planes
    parallel to the shaft, so that they cannot turn about it. The further part must have no bore for the shaft.
    ``held``: rigid group of each part without these welds; two parts of the same group in ``held`` need no weld.
    """
    welds = []
    for shaft in groups:
        pins = [t for t in touches if t.kind == "pin" and shaft in (t.first, t.second)]
        blocks = _others(shaft, pins)
        if len(blocks) < 2 or not _is_pin(shaft, pins) or pair_of(pins).kind != "cylindrical":
            continue
        for seat in sorted(groups.keys() - blocks - {shaft}):
            pairs = [
                joint
                for joint in _pairs(
                    {name: name for name in groups},
                    [t for t in touches if seat in (t.first, t.second) and {t.first, t.second} & blocks],
                    {},
                )
                if joint.pair.kind == "planar" and abs(joint.pair.axis @ pins[0].axis) < PARALLEL
            ]
            for joint in pairs if len(pairs) > 1 else ():
                if groups[joint.first] != groups[joint.second] and held[joint.first] != held[joint.second]:
                    remark = f"they share one plane, and bear {shaft}: a prismatic joint if it slides along {shaft}"
                    welds.append(replace(joint, pair=_weld(joint.pair), remarks=(remark,)))
                    _join(groups, joint.first, joint.second)
    return welds


def _loose_pins(rigid: Mapping[str, str], others: set[str], touches: Sequence[Touch]) -> list[tuple[str, list[Touch]]]:
    """Pins that turn about one axis in bores of two or more rigid groups, each with its contacts in these bores.

    ``rigid``: group of each part; ``others``: names of parts that are no pins, as the ground and wheels. To test a pin,
    every other pin is welded to the part of its first contact, and groups without relative motion are merged. A pin
    whose bores then are all in one group is a shaft in its bearings, and no loose pin.
    """
    pins = {}
    for name in rigid:
        touching = [t for t in touches if name in (t.first, t.second)]
        round_ones = [t for t in touching if t.kind == "pin"]
        if name in others or len(_others(name, round_ones)) < 2:
            continue
        if pair_of(touching).kind in ("hinge", "cylindrical") and _is_pin(name, round_ones):
            pins[name] = round_ones
    loose, known = [], Known()
    for name, touching in pins.items():
        groups = dict(rigid)
        for other, its in pins.items():
            if other != name:
                _join(groups, _other(other, its[0]), other)
        _rigid(groups, [t for t in touches if name not in (t.first, t.second)], known)
        if len({groups[other] for other in _others(name, touching)}) > 1:  # otherwise a shaft in bearings of one body
            loose.append((name, touching))
    return loose


def _other(name: str, touch: Touch) -> str:
    return touch.second if touch.first == name else touch.first


def _others(name: str, touches: Sequence[Touch]) -> set[str]:
    return {_other(name, t) for t in touches}


def _is_pin(name: str, touches: Sequence[Touch]) -> bool:
    """True if, in each of the contacts ``touches``, the part ``name`` is the pin and the other part has the bore."""
    return all((t.ports[0] if t.first == name else t.ports[1]).startswith("pin") for t in touches)


def _welded_pins(
    name: str, touches: Sequence[Touch], groups: dict[str, str], wheels: set[str], ground: str
) -> list[ProposedJoint]:
    """Weld a loose pin to the gear wheels in whose bores it is, merge the groups, and return the welds.

    Without such a wheel it is welded to a part of the ground's group, or else to the part of its first contact.
    ``touches`` are the contacts of the pin, ``wheels`` the names of all gear wheels.
    """
    carried = {_other(name, t): t for t in reversed(touches) if _other(name, t) in wheels}
    why = " with its gear wheel" if carried else " here"
    first = min(touches, key=lambda t: groups[_other(name, t)] != groups[ground])
    welds = []
    for host in list(carried.values())[::-1] or [first]:
        other = _other(name, host)
        _join(groups, other, name)
        remark = f"{name} turns in all of its bores: it is held in {other}{why}"
        welds.append(ProposedJoint(other, name, Pair("weld", host.at, host.axis, 0), (host,), (remark,)))
    return welds


def _join(groups: dict[str, str], one: str, two: str) -> None:
    """Merge the groups of two parts to one, named after the group that comes first in the order of the parts."""
    names = list(groups)
    kept, gone = sorted((groups[one], groups[two]), key=names.index)
    for name, group in groups.items():
        if group == gone:
            groups[name] = kept


Known = dict[tuple[Touch, ...], Pair]
"""Joints by the contacts from which they follow."""


def _rigid(groups: dict[str, str], touches: Sequence[Touch], known: Known) -> list[ProposedJoint]:
    """Merge groups between which the contacts allow no motion, until no such groups are left; return the welds.

    ``known`` is a cache of the joint that follows from each set of contacts.
    """
    welds: list[ProposedJoint] = []
    while True:
        proposed_joints = [joint for joint in _pairs(groups, touches, known) if joint.pair.kind == "weld"]
        for joint in proposed_joints:
            if groups[joint.first] != groups[joint.second]:
                welds.append(joint)
                _join(groups, joint.first, joint.second)
        if not proposed_joints:
            return welds


def _pairs(groups: Mapping[str, str], touches: Sequence[Touch], known: Known) -> Iterator[ProposedJoint]:
    """Yield, for any two groups in contact, the joint that follows from all contacts between them.

    ``known`` is a cache of the joint that follows from each set of contacts.
    """
    between: dict[tuple[str, str], list[Touch]] = {}
    order = {name: k for k, name in enumerate(groups)}
    for touch in touches:
        one, two = sorted((groups[touch.first], groups[touch.second]), key=order.__getitem__)
        if one != two:
            between.setdefault((one, two), []).append(touch)
    for _, touching in sorted(between.items(), key=lambda item: [order[name] for name in item[0]]):
        pair = known.get(tuple(touching)) or known.setdefault(tuple(touching), pair_of(touching))
        main = min(touching, key=lambda t: ORDER.index(t.kind))
        yield ProposedJoint(main.first, main.second, pair, tuple(touching), tuple(_remarks(pair, touching)))


def _between(
    groups: Mapping[str, str], touches: Sequence[Touch], known: Known
) -> tuple[list[ProposedJoint], list[ProposedJoint]]:
    """Proposed joints between groups, and omitted joints: those of kind ``planar`` or ``other``.

    ``known`` is a cache of the joint that follows from each set of contacts.
    """
    joints: list[ProposedJoint] = []
    left_out: list[ProposedJoint] = []
    for joint in _pairs(groups, touches, known):
        (left_out if joint.pair.kind in ("other", "planar") else joints).append(joint)
    return joints, left_out


def _remarks(pair: Pair, touches: Sequence[Touch]) -> list[str]:
    remarks = []
    if any(t.kind == "bores" for t in touches):
        remarks.append("likely: no pin or screw is in the bores")
    if pair.kind == "slot":
        remarks.append("the slider leaves all turns free: other joints must keep the parts parallel")
    if any(t.kind == "screw" for t in touches):
        remarks.append("a screw that is tight: if it is loose, a cylindrical joint")
    if any(t.kind == "thread" for t in touches):
        remarks.append("its lead is not in the drawing: {kind: screw, …, lead: 2 mm} couples turn and way by yours")
    elif pair.kind == "cylindrical":
        remarks.append(
            "nothing in the drawing holds it along its axis: a hinge if something does, a screw if it has a thread"
        )
    if pair.kind == "weld" and not any(t.kind in ("bores", "screw") for t in touches):
        remarks.append("their surfaces leave no motion")
    return remarks


def loops(proposal: Proposal) -> int:
    """Number of independent kinematic loops of the proposed joints and gear pairs between rigid groups of parts."""
    welds = [(j.first, j.second) for j in proposal.joints if j.pair.kind == "weld"]
    gears = [(gear.meshing.first, gear.meshing.second) for gear in proposal.gears.pairs]
    joints = [(j.first, j.second) for j in proposal.joints]
    return _closed(joints) + _closed([*welds, *gears]) - _closed(welds)


def _closed(edges: Sequence[tuple[str, str]]) -> int:
    """Number of independent loops of the graph with the given edges, pairs of names."""
    root = {name: name for edge in edges for name in edge}

    def top(name: str) -> str:
        while root[name] != name:
            name = root[name]
        return name

    closed = 0
    for first, second in edges:
        one, two = top(first), top(second)
        closed += one == two
        root[one] = two
    return closed


def direction(axis: np.ndarray) -> list[float]:
    """Components of an axis as a list, without round-off."""
    return [float(x) for x in np.round(axis, 12) + 0.0]
