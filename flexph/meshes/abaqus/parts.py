"""Parts of Abaqus input files: nodes, elements, sets, surfaces and section assignments, by numbers of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ..axes import Axes
from ..cell_types import NODES
from ..contents import LeftOut, Place
from .elements import MASSLESS, POINTS, cell_type
from .keywords import Block, element_rows, fields, nodes_in
from .systems import material_axes, system
from .vocabulary import COORDINATES, COUPLED, MOVING, SECTIONS, STIFFNESS

Member = str | range | Array
"""A member of a set: a number or the name of another set as text, a range of numbers, or an array of numbers."""


def generated(block: Block) -> list[Member]:
    """Ranges of node or element numbers from data lines 'first, last, step'.

    They are not expanded, as they may be very long. Raises ValueError for another line.
    """
    ranges: list[Member] = []
    for place, row in zip(block.places, block.data, strict=True):
        words = [word or "1" for word in row]  # the default step is 1
        if not all(x.isdecimal() for x in words) or len(words) not in (2, 3) or int(words[-1]) < 1:
            raise ValueError(f"{place}: {', '.join(row)!r} must be first number, last number and step")
        first, last, *step = (int(x) for x in words)
        ranges.append(range(first, last + 1, step[0] if step else 1))
    return ranges


def resolved(name: str, sets: Mapping[str, list[Member]], of: tuple[str, Array]) -> Array:
    """Numbers (k,) of the nodes or elements in a set, also in sets that it contains.

    ``of``: the word "node" or "element", and the existing numbers (n,), to which ranges are restricted. A ``name`` that
    is a number stands for itself. Raises ValueError for an unknown set.
    """
    if name.isdecimal():
        return np.array([int(name)])
    kind, existing = of
    known = {key.upper(): key for key in sets}
    pending, seen, numbers = [name], set(), [np.zeros(0, dtype=int)]
    while pending:
        word = pending.pop()
        key = known.get(word.upper())
        if key is None:
            raise ValueError(f"{kind} set {word!r} must be defined, there are {', '.join(map(repr, sets)) or 'none'}")
        if key in seen:
            continue
        seen.add(key)
        words = [member for member in sets[key] if isinstance(member, str)]
        numbers.append(np.array([int(x) for x in words if x.isdecimal()], dtype=int))
        numbers += [member for member in sets[key] if isinstance(member, np.ndarray)]
        numbers += [existing[_within(existing, member)] for member in sets[key] if isinstance(member, range)]
        pending += [x for x in words if not x.isdecimal()]
    return np.unique(np.concatenate(numbers))


def _within(numbers: Array, of: range) -> Array:
    """Mask (n,) of the ``numbers`` (n,) that lie in a range."""
    return (numbers >= of.start) & (numbers < of.stop) & ((numbers - of.start) % of.step == 0)


class Elements(NamedTuple):
    """Elements of one block: numbers (k,) and node numbers (k, n); ``place`` of the keyword."""

    kind: str
    cell: str
    numbers: Array
    nodes: Array
    place: Place


class PointElement(NamedTuple):
    """Element at one node, MASS or ROTARYI: its number, its node as written in the file, and its line in the file."""

    kind: str
    number: int
    node: str
    place: Place


class StrangeElements(NamedTuple):
    """Elements of an unsupported type: their entry for ``left_out``, their element set, and nodes as written."""

    left_out: LeftOut
    elset: str
    nodes: list[list[str]]


class Surface(NamedTuple):
    """Surface of a part or of the assembly, given by ``members``: pairs of a set or number and the label of a face.

    The label is S1, S2, …, or "" for all free faces of the elements; the members of a surface of nodes have none.
    """

    kind: str
    members: list[tuple[str, str]]
    place: Place

    @property
    def on_nodes(self) -> bool:
        """True if the surface is a set of nodes."""
        return self.kind == "NODE"


@dataclass
class Part:
    """Contents of a part, from *PART to *END PART, or of a file without parts.

    ``nodes``: numbers (k,) and positions (k, 3) of each block; sets: lists of numbers, ranges and names of other sets
    (case-insensitive); ``masses``: blocks of *MASS and *NONSTRUCTURAL MASS; ``constraints``: blocks of couplings, ties
    and the like; ``strange``: elements of unsupported types; ``orientations``: material axes, or why they are not read.
    """

    name: str
    nodes: list[tuple[Array, Array]] = field(default_factory=list)
    elements: list[Elements] = field(default_factory=list)
    node_sets: dict[str, list[Member]] = field(default_factory=dict)
    element_sets: dict[str, list[Member]] = field(default_factory=dict)
    surfaces: dict[str, Surface] = field(default_factory=dict)
    sections: list[tuple[str, str, Block]] = field(default_factory=list)
    internal: set[str] = field(default_factory=set)
    points: list[PointElement] = field(default_factory=list)
    masses: list[Block] = field(default_factory=list)
    constraints: list[Block] = field(default_factory=list)
    strange: list[StrangeElements] = field(default_factory=list)
    orientations: dict[str, Array | str] = field(default_factory=dict)
    axes: Axes = field(default_factory=Axes)

    def add(self, block: Block) -> None:
        """Add a block to the part. Raises ValueError, with the line, if the block cannot be read."""
        word = block.keyword
        if word in COORDINATES:
            does = "moves nodes" if word in MOVING else "makes nodes or elements"
            raise ValueError(
                f"{block.place}: *{word} {does} and is not supported: write all nodes and elements to the file"
            )
        if word == "NODE":
            self._add_nodes(block)
        elif word == "SYSTEM":
            self.axes = system(block)
        elif word == "ELEMENT":
            self._add_elements(block)
        elif word in ("NSET", "ELSET"):
            self._add_set(block)
        elif word == "SURFACE":
            kind = "COMBINE" if "COMBINE" in block.parameters else block.parameters.get("TYPE", "ELEMENT").upper()
            members = [(row[0], row[1].upper() if len(row) > 1 else "") for row in block.data]
            self.surfaces[block.name("NAME")] = Surface(kind, members, block.place)
        elif word == "ORIENTATION":
            self.orientations[block.name("NAME")] = material_axes(block)
        elif word == "SOLID SECTION":
            self.sections.append((block.name("ELSET"), block.name("MATERIAL"), block))
        elif word in SECTIONS and block.parameters.get("ELSET"):
            self.sections.append((block.name("ELSET"), _material_of_shells(block), block))
        elif word in ("MASS", "NONSTRUCTURAL MASS"):
            self.masses.append(block)
        elif word in (*STIFFNESS, *COUPLED):
            self.constraints.append(block)

    def _add_nodes(self, block: Block) -> None:
        numbers, at = nodes_in(block)
        self.nodes.append((numbers, self.axes.placed(at)))
        if "NSET" in block.parameters:
            self.node_sets.setdefault(block.name("NSET"), []).append(numbers)

    def _add_elements(self, block: Block) -> None:
        kind = block.name("TYPE").upper()
        cell = cell_type(kind)
        if kind in POINTS:
            points = [row[:2] for row in block.data if len(row) > 1 and row[0].isdecimal()]
            self.points += [PointElement(kind, int(number), node, block.place) for number, node in points]
            numbers = np.array([int(number) for number, _ in points], dtype=int)
        elif cell is None:
            massless = MASSLESS.fullmatch(kind) is not None
            why = "such elements are not supported"
            left_out = LeftOut(kind, block.place, "stiffness" if massless else "mass", why)
            self.strange.append(StrangeElements(left_out, block.parameters.get("ELSET", ""), _strange_nodes(block)))
            numbers = np.zeros(0, dtype=int)
        else:
            rows = element_rows(block, kind, 1 + len(NODES[cell]))
            numbers = rows[:, 0]
            if len(rows):
                self.elements.append(Elements(kind, cell, numbers, rows[:, 1:], block.place))
        if "ELSET" in block.parameters:
            self.element_sets.setdefault(block.name("ELSET"), []).append(numbers)

    def _add_set(self, block: Block) -> None:
        sets = self.node_sets if block.keyword == "NSET" else self.element_sets
        name = block.name(block.keyword)
        members = sets.setdefault(name, [])
        if block.keyword == "NSET" and "ELSET" in block.parameters:
            members.append(self.nodes_of(self.element_numbers(block.name("ELSET"))))
        listed = [x for row in block.data for x in row if x]
        members.extend(generated(block) if "GENERATE" in block.parameters else listed)
        if "INTERNAL" in block.parameters:
            self.internal.add(name)

    def all_nodes(self) -> tuple[Array, Array]:
        """Numbers (n,) and positions (n, 3) of the nodes.

        A node that is defined again has its last position.
        """
        numbers = np.concatenate([np.zeros(0, dtype=int), *(part for part, _ in self.nodes)])
        at = np.vstack([np.zeros((0, 3)), *(part for _, part in self.nodes)])
        backwards, last = np.unique(numbers[::-1], return_index=True)
        if len(backwards) == len(numbers):
            return numbers, at
        _, first = np.unique(numbers, return_index=True)
        order = np.argsort(first)
        return numbers[first[order]], at[len(numbers) - 1 - last[order]]

    def node_numbers(self, name: str) -> Array:
        """Numbers (k,) of the nodes of a set, or of the one node whose number is given."""
        return resolved(name, self.node_sets, ("node", self.all_nodes()[0]))

    def element_numbers(self, name: str) -> Array:
        """Numbers (k,) of the elements of a set, or of the one element whose number is given."""
        points = np.array([one.number for one in self.points], dtype=int)
        known = [elements.numbers for elements in self.elements]
        return resolved(name, self.element_sets, ("element", np.concatenate([points, *known])))

    def nodes_of(self, elements: Array) -> Array:
        """Numbers (k,) of all nodes of the elements with the given numbers."""
        nodes = [e.nodes[np.isin(e.numbers, elements)].ravel() for e in self.elements]
        return np.unique(np.concatenate([np.zeros(0, dtype=int), *nodes]))


def _material_of_shells(block: Block) -> str:
    """Name of the material of a section of shells; empty for other sections, and for layered shells."""
    layered = "COMPOSITE" in block.parameters or not block.keyword.startswith("SHELL")
    return "" if layered else block.parameters.get("MATERIAL", "")


def _strange_nodes(block: Block) -> list[list[str]]:
    """Nodes of elements of any type as written in the file, by element.

    A line that ends with a comma is continued.
    """
    elements: list[list[str]] = []
    goes_on = False
    for text in block.texts:
        words = [word for word in fields(text) if word]
        if goes_on:
            elements[-1] += words
        else:
            elements.append(words[1:])
        goes_on = text.rstrip().endswith(",")
    return elements
