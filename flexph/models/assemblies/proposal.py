"""Proposal of a mechanism for a drawing: ground part, joints between the parts, and the contacts behind each joint."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...meshes.drawings.drawing import Drawing
from .freedoms import Pair, pair_of
from .touching import Touch, contacts

GROUND_WORDS = re.compile(
    r"ground|base|frame|fram|housing|casing|chassis|stator|foundation|gestell|gehäuse|grund|boden|sockel", re.IGNORECASE
)


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
    """Proposed mechanism: ground part and the reason for it, joints, omitted joints, free parts, overlaps [m³]."""

    ground: str
    reason: str
    joints: tuple[ProposedJoint, ...]
    left_out: tuple[ProposedJoint, ...]
    free: tuple[str, ...]
    overlaps: tuple[tuple[str, str, float], ...] = ()


def proposed(drawing: Drawing, ground: str | None = None) -> Proposal:
    """Propose a mechanism for a drawing; ``ground`` names the fixed part.

    A pin that can rotate in all of its bores is welded to one of the parts. Two parts in contact at a single plane are
    welded if one of them has no other joint; otherwise this contact is omitted. Raises ValueError for fewer than two
    parts or an unknown ground.
    """
    if len(drawing.parts) < 2:
        raise ValueError(f"a mechanism needs two parts or more, got {len(drawing.parts)} in {drawing.path.name}")
    touches = contacts(drawing)
    names = [part.name for part in drawing.parts]
    ground, reason = _ground(drawing, touches, ground)
    groups = {name: name for name in names}
    welds = [_loose_pin(name, group, groups) for name, group in _pins(names, ground, touches)]
    joints, left_out = _between(names, groups, touches)
    held = {name for joint in (*welds, *joints) for name in (joint.first, joint.second)}
    for joint in [j for j in left_out if j.pair.kind == "planar"]:
        bare = [name for name in (joint.first, joint.second) if name not in held]
        if bare:
            remark = f"they share one plane, and nothing else holds {bare[0]}: a planar joint if it slides"
            joints.append(ProposedJoint(joint.first, joint.second, _weld(joint.pair), joint.touches, (remark,)))
            left_out.remove(joint)
            held |= {joint.first, joint.second}
    free = tuple(name for name in names if name not in held and name != ground)
    return Proposal(ground, reason, (*welds, *joints), tuple(left_out), free, drawing.overlaps)


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


def _pins(names: Sequence[str], ground: str, touches: Sequence[Touch]) -> list[tuple[str, list[Touch]]]:
    """Loose pins with their contacts: parts that are pins in two or more other parts and can rotate in each of them."""
    pins = []
    for name in names:
        own = [t for t in touches if name in (t.first, t.second)]
        round_ones = [t for t in own if t.kind == "pin"]
        others = {t.second if t.first == name else t.first for t in round_ones}
        if name == ground or len(others) < 2:
            continue
        if pair_of(own).kind in ("hinge", "cylindrical") and _is_pin(name, round_ones):
            pins.append((name, round_ones))
    return pins


def _is_pin(name: str, touches: Sequence[Touch]) -> bool:
    """True if the part is the pin in all of the contacts ``touches``."""
    return all((t.ports[0] if t.first == name else t.ports[1]).startswith("pin") for t in touches)


def _loose_pin(name: str, touches: Sequence[Touch], groups: dict[str, str]) -> ProposedJoint:
    """Weld of a loose pin to the part of its first contact, which it joins in ``groups``."""
    host = touches[0]
    other = host.second if host.first == name else host.first
    groups[name] = groups[other]
    remark = f"{name} turns in all of its bores: it is held in {other} here"
    return ProposedJoint(other, name, Pair("weld", host.at, host.axis, 0), (host,), (remark,))


def _between(
    names: Sequence[str], groups: dict[str, str], touches: Sequence[Touch]
) -> tuple[list[ProposedJoint], list[ProposedJoint]]:
    """Joints between groups of parts; and omitted joints: of unknown kind, or of contact at a single plane."""
    joints: list[ProposedJoint] = []
    left_out: list[ProposedJoint] = []
    for one, two in combinations(dict.fromkeys(groups[name] for name in names), 2):
        own = [t for t in touches if {groups[t.first], groups[t.second]} == {one, two}]
        if not own:
            continue
        pair = pair_of(own)
        main = min(own, key=lambda t: ("slot", "ball", "pin", "bores", "plane").index(t.kind))
        joint = ProposedJoint(main.first, main.second, pair, tuple(own), tuple(_remarks(pair, own)))
        (left_out if pair.kind in ("other", "planar") else joints).append(joint)
    return joints, left_out


def _remarks(pair: Pair, touches: Sequence[Touch]) -> list[str]:
    remarks = []
    if any(t.kind == "bores" for t in touches):
        remarks.append("likely: no pin or screw is in the bores")
    if pair.kind == "slot":
        remarks.append("the slider leaves all turns free: other joints must keep the parts parallel")
    if pair.kind == "cylindrical":
        remarks.append("nothing in the drawing holds it along its axis: a hinge if something does")
    if pair.kind == "weld" and not any(t.kind == "bores" for t in touches):
        remarks.append("their surfaces leave no motion")
    return remarks


def loops(proposal: Proposal) -> int:
    """Number of closed kinematic loops of the proposed joints."""
    parts = {name for j in proposal.joints for name in (j.first, j.second)} | {proposal.ground}
    root = {name: name for name in parts}

    def top(name: str) -> str:
        while root[name] != name:
            name = root[name]
        return name

    closed = 0
    for joint in proposal.joints:
        one, two = top(joint.first), top(joint.second)
        closed += one == two
        root[one] = two
    return closed


def direction(axis: np.ndarray) -> list[float]:
    """Components of an axis as a list, without round-off."""
    return [float(x) for x in np.round(axis, 12) + 0.0]
