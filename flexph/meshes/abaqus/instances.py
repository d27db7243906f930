"""Instances of parts in the assembly of an Abaqus input file, and the sets of the assembly."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import finite_rotation
from .keywords import Block, pad
from .parts import Part


@dataclass(frozen=True)
class Instance:
    """Instance of a part, which is placed by x → R x + t (``turn`` R, ``shift`` t).

    ``outer`` contains the sets of the assembly that have members in the instance.
    """

    name: str
    part: Part
    outer: Part
    shift: Array = field(default_factory=lambda: np.zeros(3))
    turn: Array = field(default_factory=lambda: np.eye(3))


def instance(block: Block, parts: dict[str, Part]) -> Instance:
    """Instance from its block, with a copy of its part, to which the instance may add nodes and sets."""
    original = parts.get(block.name("PART").upper())
    if original is None:
        raise ValueError(f"{block.place}: part {block.name('PART')!r} of *INSTANCE must be defined")
    part = deepcopy(original)
    outer = Part("", part.nodes, part.elements, points=part.points)
    return Instance(block.name("NAME"), part, outer, *_placement(block))


def _placement(block: Block) -> tuple[Array, Array]:
    """Translation t and rotation matrix R of an instance, x → R x + t, from its two data lines.

    The first line is a translation; the second is a subsequent rotation, by two points on its axis and the angle [°].
    """
    try:
        rows = block.numbers()
        shift = np.array(pad(rows[0], 3) if rows else [0.0, 0.0, 0.0])
        line = np.array(pad(rows[1], 7) if len(rows) > 1 else [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
        if shift.shape != (3,) or line.shape != (7,) or not np.any(line[3:6] != line[:3]):
            raise ValueError
        a, b, angle = line[:3], line[3:6], line[6]
        turn = finite_rotation(np.deg2rad(angle) * (b - a) / np.linalg.norm(b - a), 3)
        return turn @ (shift - a) + a, turn
    except ValueError:
        raise ValueError(
            f"{block.place}: *INSTANCE must have lines of three components of its translation and seven numbers of "
            f"its rotation, got {block.data}"
        ) from None


def take_assembly_set(block: Block, assembly: Part, instances: list[Instance]) -> None:
    """Add a set of the assembly to each instance that has members of it.

    Members that are nodes or elements of the assembly itself, such as reference points, are added to ``assembly``.
    """
    known = {one.name.upper(): one for one in instances}
    of = block.parameters.get("INSTANCE")
    if of is not None:
        _known(known, of, block).outer.add(block)
        return
    if "GENERATE" in block.parameters:
        assembly.add(block)
        return
    nodes = block.keyword == "NSET"
    name = block.name(block.keyword)
    for member in (x for row in block.data for x in row if x):
        owner, dot, rest = member.rpartition(".")
        if dot:
            one = _known(known, owner, block)
            _extend(one.outer, name, one.part.node_numbers(rest) if nodes else one.part.element_numbers(rest), nodes)
            continue
        owners = [one.outer for one in instances if has_set(one.outer, member, nodes)]
        in_assembly = member.isdecimal() or has_set(assembly, member, nodes)
        if not owners and not in_assembly:
            raise ValueError(f"{block.place}: set {member!r} must be defined in the assembly before it is used")
        for part in [*owners, assembly] if in_assembly else owners:
            _extend(part, name, part.node_numbers(member) if nodes else part.element_numbers(member), nodes)


def _known(known: dict[str, Instance], name: str, block: Block) -> Instance:
    if name.upper() not in known:
        listed = ", ".join(repr(one.name) for one in known.values()) or "none"
        raise ValueError(f"{block.place}: instance {name!r} must be defined, there are {listed}")
    return known[name.upper()]


def has_set(part: Part, name: str, nodes: bool) -> bool:
    """True if a part has a set called ``name``, regardless of upper and lower case.

    It must be a node set if ``nodes``, otherwise an element set.
    """
    return name.upper() in {key.upper() for key in (part.node_sets if nodes else part.element_sets)}


def _extend(part: Part, name: str, numbers: Array, nodes: bool) -> None:
    (part.node_sets if nodes else part.element_sets).setdefault(name, []).append(numbers)
