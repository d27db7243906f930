"""Parts of Abaqus input files: nodes, elements, sets, surfaces and section assignments, as numbers of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from .abaqus_elements import cell_type
from .abaqus_keywords import Block
from .cell_nodes import NODES

GENERATING = ("NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM", "ELEMENT COPY")
"""Keywords that make or move nodes and elements."""

Member = str | range
"""A member of a set: a number, the name of another set, or numbers that were not written out."""


class Elements(NamedTuple):
    """Elements of one type: their numbers (k,) and nodes (k, n), by numbers."""

    kind: str
    cell: str
    numbers: Array
    nodes: Array


class Surface(NamedTuple):
    """A surface: pairs of an element set or number and a face label (S1, …, or "" for all free faces), or of nodes."""

    kind: str
    members: list[tuple[str, str]]
    line: int

    @property
    def on_nodes(self) -> bool:
        """Whether it is made of nodes."""
        return self.kind == "NODE"


@dataclass
class Part:
    """What lies between *PART and *END PART, or in a file without parts.

    Sets are lists of numbers, ranges and names of other sets, as they come; names are looked up in capitals.
    """

    name: str
    nodes: dict[int, tuple[float, ...]] = field(default_factory=dict)
    elements: list[Elements] = field(default_factory=list)
    node_sets: dict[str, list[Member]] = field(default_factory=dict)
    element_sets: dict[str, list[Member]] = field(default_factory=dict)
    surfaces: dict[str, Surface] = field(default_factory=dict)
    sections: list[tuple[str, str]] = field(default_factory=list)
    internal: set[str] = field(default_factory=set)

    def take(self, block: Block) -> None:
        """Take a block into the part. Raises ValueError, with the line, for what it cannot read."""
        if block.keyword in GENERATING:
            raise ValueError(f"line {block.line}: *{block.keyword} makes nodes or elements, write them out in full")
        if block.keyword == "NODE":
            self._take_nodes(block)
        elif block.keyword == "ELEMENT":
            self._take_elements(block)
        elif block.keyword in ("NSET", "ELSET"):
            self._take_set(block)
        elif block.keyword == "SURFACE":
            kind = "COMBINE" if "COMBINE" in block.parameters else block.parameters.get("TYPE", "ELEMENT").upper()
            members = [(row[0], row[1].upper() if len(row) > 1 else "") for row in block.data]
            self.surfaces[block.name("NAME")] = Surface(kind, members, block.line)
        elif block.keyword == "SOLID SECTION":
            self.sections.append((block.name("ELSET"), block.name("MATERIAL")))

    def _take_nodes(self, block: Block) -> None:
        for line, row in zip(block.lines, block.data, strict=True):
            try:
                at = tuple(_finite(x) for x in row[1:4] if x)
                self.nodes[int(row[0])] = (*at, *(0.0,) * (3 - len(at)))
            except ValueError:
                raise ValueError(f"line {line}: {', '.join(row)!r} must be a node number and its coordinates") from None
        if "NSET" in block.parameters:
            self.node_sets.setdefault(block.name("NSET"), []).extend(row[0] for row in block.data)

    def _take_elements(self, block: Block) -> None:
        kind = block.name("TYPE").upper()
        cell = cell_type(kind)
        if cell is None:
            raise ValueError(f"line {block.line}: elements of type {kind} are not supported")
        width = 1 + len(NODES[cell])
        try:
            flat = np.array([int(x) for row in block.data for x in row if x])
            rows = flat.reshape(-1, width)
        except ValueError:
            raise ValueError(
                f"line {block.line}: elements of type {kind} must have a number and {width - 1} nodes each"
            ) from None
        if not len(rows):
            return
        self.elements.append(Elements(kind, cell, rows[:, 0], rows[:, 1:]))
        if "ELSET" in block.parameters:
            self.element_sets.setdefault(block.name("ELSET"), []).extend(str(n) for n in rows[:, 0])

    def _take_set(self, block: Block) -> None:
        sets = self.node_sets if block.keyword == "NSET" else self.element_sets
        name = block.name(block.keyword)
        members = sets.setdefault(name, [])
        if block.keyword == "NSET" and "ELSET" in block.parameters:
            members.extend(str(n) for n in self.nodes_of(self.element_numbers(block.name("ELSET"))))
        listed = [x for row in block.data for x in row if x]
        members.extend(_generated(block) if "GENERATE" in block.parameters else listed)
        if "INTERNAL" in block.parameters:
            self.internal.add(name)

    def node_numbers(self, name: str) -> Array:
        """Numbers of the nodes of a set (or a number), (k,)."""
        return _resolved(name, self.node_sets, ("node", np.array(list(self.nodes), dtype=int)))

    def element_numbers(self, name: str) -> Array:
        """Numbers of the elements of a set (or a number), (k,)."""
        known = [elements.numbers for elements in self.elements]
        return _resolved(name, self.element_sets, ("element", np.concatenate([np.zeros(0, dtype=int), *known])))

    def nodes_of(self, elements: Array) -> Array:
        """Numbers of the nodes of elements."""
        nodes = [e.nodes[np.isin(e.numbers, elements)].ravel() for e in self.elements]
        return np.unique(np.concatenate([np.zeros(0, dtype=int), *nodes]))


def _generated(block: Block) -> list[Member]:
    """Ranges of lines 'first, last, step': they may be longer than memory."""
    ranges: list[Member] = []
    for line, row in zip(block.lines, block.data, strict=True):
        if not all(x.isdecimal() for x in row) or len(row) not in (2, 3) or int(row[-1]) < 1:
            raise ValueError(f"line {line}: {', '.join(row)!r} must be first, last and step of numbers to generate")
        first, last, *step = (int(x) for x in row)
        ranges.append(range(first, last + 1, step[0] if step else 1))
    return ranges


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word} is no coordinate")
    return number


def _resolved(name: str, sets: dict[str, list[Member]], of: tuple[str, Array]) -> Array:
    """Numbers of a set, whose members may be names of sets; of ranges those of the nodes or elements there are."""
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
        ranges = [member for member in sets[key] if isinstance(member, range)]
        numbers.append(np.array([int(x) for x in words if x.isdecimal()], dtype=int))
        numbers += [existing[_within(existing, r)] for r in ranges]
        pending += [x for x in words if not x.isdecimal()]
    return np.unique(np.concatenate(numbers))


def _within(numbers: Array, of: range) -> Array:
    """Which numbers a range holds."""
    return (numbers >= of.start) & (numbers < of.stop) & ((numbers - of.start) % of.step == 0)
