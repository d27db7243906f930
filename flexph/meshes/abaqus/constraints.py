"""Constraints of Abaqus input files: couplings to reference points; unsupported constraints with their points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Literal, NamedTuple, Protocol

import numpy as np

from ...numerics.arrays import Array
from ..contents import Coupling, LeftOut
from .instances import Instance, has_set
from .keywords import Block
from .parts import Part, StrangeElements
from .vocabulary import COUPLED

TRANSLATIONS = {1, 2, 3}
UNIFORM = ("", "UNIFORM")
BY_NODES = ("MPC", "EQUATION", "KINEMATIC COUPLING", "DISTRIBUTING COUPLING")
"""Constraints whose data lines have node numbers."""
NAMES = ("NAME", "CONSTRAINT NAME", "SURFACE", "ELSET", "NSET")

Scope = int | None
"""Number of the instance of a part; None for the assembly."""


class Places(Protocol):
    """Protocol of the builder of the mesh: what constraints need to find nodes, sets and regions."""

    instances: list[Instance]
    assembly: Part
    of_body: Array

    def rows(self, k: int, numbers: Array) -> Array:
        """Indices of the points of the mesh for the nodes with ``numbers`` (n,) in the instance with index ``k``.

        Unknown numbers are left out.
        """

    def region(self, name: str) -> tuple[str, Array] | None:
        """Name and point indices (k,) of the region called ``name``, regardless of upper and lower case.

        The returned name is as written in the file. None if there is no such region.
        """

    def position(self, k: Scope, number: int) -> Array | None:
        """Position (3,) of the node ``number`` of instance k, or of the assembly if k is None.

        None if there is no such node.
        """

    def called(self, one: Instance, name: str) -> str:
        """Name of the region for the set or surface ``name`` of an instance's part."""


class Reached(NamedTuple):
    """Points that a word of the file names: their indices (k,), and the name of their region, "" if they have none."""

    points: Array
    region: str


def names_of(block: Block) -> str:
    """Names, surfaces and sets in a keyword line, as a text for messages."""
    given = [block.parameters.get(name) for name in NAMES]
    return ", ".join(repr(name) for name in given if name)


class Constraints:
    """Constraints of an input file: ``couplings`` by name, and unsupported constraints and elements in ``left_out``.

    ``hung``: indices of the points that are coupled to a reference node, by its scope and number. A scope is the number
    of an instance, or None for the assembly.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.couplings: dict[str, Coupling] = {}
        self.left_out: list[LeftOut] = []
        self.hung: dict[tuple[Scope, int], Array] = {}
        for k, part in _scopes(places):
            pairs = zip_longest(part.constraints, part.constraints[1:])
            used = [self._add(k, part, block, after) for block, after in pairs if block is not None]
            for strange in part.strange:
                if strange.elset.upper() not in {name.upper() for name in used if name}:
                    self.left_out.append(replace(strange.left_out, reach=self._of_elements(k, strange)))

    def _add(self, k: Scope, part: Part, block: Block, after: Block | None) -> str:
        """Add the constraint of the keyword ``block``, as a coupling or in ``left_out``.

        ``k`` is the scope, ``part`` its part, ``after`` the next keyword, which for a *COUPLING says if it is kinematic
        or distributing. Returns the name of the set of elements that represent the reference point of a *DISTRIBUTING
        COUPLING; "" for other constraints.
        """
        if block.keyword in COUPLED:
            return ""
        kind = after if block.keyword == "COUPLING" and after is not None and after.keyword in COUPLED else None
        found = self._as_port(k, part, block, kind)
        if isinstance(found, Coupling):
            is_kinematic = block.keyword != "DISTRIBUTING COUPLING"
            self.couplings[found.name] = found
            if found.how == "rigid":
                why = f"{names_of(block) or repr(found.name)} is rigid"
                self.left_out.append(
                    LeftOut(block.keyword, block.place, "stiffness", why, found.points, port=found.name)
                )
            return "" if is_kinematic else block.parameters.get("ELSET", "")
        reached = [r.points for word in _words(block) if (r := self._reached(k, word)) is not None]
        reach = np.unique(np.concatenate(reached)) if reached else None
        why = "; ".join(text for text in (names_of(block), found) if text)
        self.left_out.append(LeftOut(block.keyword, block.place, "stiffness", why, reach))
        return ""

    def _as_port(self, k: Scope, part: Part, block: Block, kind: Block | None) -> Coupling | str:
        """Coupling that the constraint of the keyword ``block`` describes, or the reason why it is unsupported.

        The reason may be empty. ``k`` is the scope, ``part`` its part; ``kind`` is the keyword below *COUPLING, None
        for other constraints.
        """
        word, node = block.keyword, block.parameters.get("REF NODE", "")
        name = block.parameters.get("CONSTRAINT NAME", f"{word} {node}")
        if word == "COUPLING" and kind is not None:
            how: Literal["rigid", "mean"] = "rigid" if kind.keyword == "KINEMATIC" else "mean"
            if how == "rigid" and not _translations(kind.data, 0):
                return "not all translations are coupled"
            if kind.parameters.get("WEIGHTING METHOD", "").upper() not in UNIFORM:
                return f"WEIGHTING METHOD={kind.parameters['WEIGHTING METHOD']}"
            return self._coupling(k, block, name, how, node, [block.parameters.get("SURFACE", "")])
        if word == "KINEMATIC COUPLING":
            if not all(_translations([row], 1) for row in block.data):
                return "not all translations are coupled"
            return self._coupling(k, block, name, "rigid", node, [row[0] for row in block.data])
        if word == "DISTRIBUTING COUPLING":
            unknown_cells = [
                s for s in part.strange if s.elset and s.elset.upper() == block.parameters.get("ELSET", "").upper()
            ]
            nodes = [nodes[0] for s in unknown_cells for nodes in s.nodes if nodes]
            weights = [_weight(row) for row in block.data]
            if len(nodes) != 1 or None in weights:
                return "weights are not positive" if len(nodes) == 1 else ""
            words = [row[0] for row in block.data]
            return self._coupling(k, block, f"{word} {nodes[0]}", "mean", nodes[0], words, weights)
        if word == "RIGID BODY":
            sets = [block.parameters[p] for p in ("ELSET", "NSET", "TIE NSET", "PIN NSET") if p in block.parameters]
            return self._coupling(k, block, name, "rigid", node, sets)
        beams = word == "MPC" and all(row[0].upper() == "BEAM" and len(row) == 3 for row in block.data)
        masters = {row[2].upper() for row in block.data} if beams else set()
        if len(masters) == 1:
            master = masters.pop()
            return self._coupling(k, block, f"MPC {master}", "rigid", master, [row[1] for row in block.data])
        return ""

    def _coupling(
        self,
        k: Scope,
        block: Block,
        name: str,
        how: Literal["rigid", "mean"],
        node: str,
        words: list[str],
        weights: Sequence[float | None] = (),
    ) -> Coupling | str:
        """Coupling, rigid or as a mean, of points to a reference node, or the reason why it is unsupported.

        ``words`` are the names of the points' nodes, sets or surfaces in the scope ``k``; ``weights`` has a weight for
        each of these, or is empty if the file gives none; ``node`` names the reference node. The reason is empty if one
        of the names is unknown.
        """
        reached = [self._reached(k, word) for word in words]
        at, scope, number = self._reference(k, node)
        if not words or at is None or any(r is None for r in reached):
            return ""
        held = [r.points for r in reached if r is not None]
        points, owner = np.unique(np.concatenate(held), return_inverse=True)
        self.hung[scope, number] = points
        if not len(points) or not np.isin(points, self.places.of_body).all():
            return "it reaches beyond the body"
        reference = None if scope is None else self._reached(scope, str(number))
        if reference is not None and np.isin(reference.points, self.places.of_body).any():
            return "its reference point is a node of the body"
        first = reached[0]
        given_name = k if k is None else self.places.called(self.places.instances[k], name)
        label = _unused_name(given_name or name, self.couplings)
        region = first.region if len(words) == 1 and first is not None and first.region and not weights else label
        each = [float(w or 0.0) for w, nodes_of in zip(weights, held, strict=True) for _ in nodes_of] if weights else []
        shares = np.bincount(owner.ravel(), each) if weights else None
        return Coupling(label, how, region, points, tuple(at.tolist()), block.keyword, block.place, shares)

    def _reference(self, k: Scope, word: str) -> tuple[Array | None, Scope, int]:
        """Reference node that ``word`` names by its number or by a set of one node: position (3,), scope and number.

        The position is None if there is no such node.
        """
        owner, _, rest = word.rpartition(".")
        if owner:
            k = self._instance(owner) if k is None else k
        if rest.isdecimal():
            return self.places.position(k, int(rest)), k, int(rest)
        for scope, part in _parts_in(self.places, k):
            if has_set(part, rest, nodes=True):
                numbers = part.node_numbers(rest)
                if len(numbers) == 1:
                    return self.places.position(scope, int(numbers[0])), scope, int(numbers[0])
        return None, k, -1

    def _instance(self, name: str) -> Scope:
        names = [one.name.upper() for one in self.places.instances]
        return names.index(name.upper()) if name.upper() in names else None

    def _reached(self, k: Scope, word: str) -> Reached | None:
        """Points that ``word`` names: a node number, a set or a surface; None if it is unknown.

        ``k`` is the scope in which it is looked up: the number of an instance, or None for the assembly.
        """
        owner, _, rest = word.rpartition(".")
        if owner and k is None:
            k = self._instance(owner)
            return None if k is None else self._reached(k, rest)
        if word.isdecimal():
            return None if k is None else Reached(self.places.rows(k, np.array([int(word)])), "")
        one = None if k is None else self.places.instances[k]
        held = self.places.region(word if one is None else self.places.called(one, word))
        if held is not None:
            return Reached(held[1], held[0])
        points = [
            self.places.rows(scope, part.node_numbers(word) if nodes else part.nodes_of(part.element_numbers(word)))
            for scope, part in _parts_in(self.places, k)
            if scope is not None
            for nodes in (True, False)
            if has_set(part, word, nodes=nodes)
        ]
        return Reached(np.unique(np.concatenate(points)), "") if points else None

    def _of_elements(self, k: Scope, strange: StrangeElements) -> Array | None:
        """Indices (k,) of the points of the mesh for the nodes of unsupported elements; None if a node is unknown."""
        words = {word for nodes in strange.nodes for word in nodes if word.rpartition(".")[2].isdecimal()}
        reached = [self._reached(k, word) for word in words]
        if not words or any(r is None for r in reached):
            return None
        points = np.concatenate([r.points for r in reached if r is not None])
        return np.unique(points) if len(points) else None


def _weight(row: list[str]) -> float | None:
    """Weight in a line of a distributing coupling, by default 1; None unless it is positive."""
    try:
        weight = float(row[1]) if len(row) > 1 and row[1] else 1.0
    except ValueError:
        return None
    return weight if weight > 0.0 else None


def _scopes(places: Places) -> Iterator[tuple[Scope, Part]]:
    """Yield each instance's number with its part, then None with the assembly."""
    yield from ((k, one.part) for k, one in enumerate(places.instances))
    yield None, places.assembly


def _parts_in(places: Places, k: Scope) -> list[tuple[Scope, Part]]:
    """Parts in which the names of sets in a scope are looked up, each with its own scope.

    For instance k it is the instance's part; for None the assembly, and the sets of the assembly in each instance.
    """
    if k is not None:
        return [(k, places.instances[k].part)]
    return [(None, places.assembly), *((n, one.outer) for n, one in enumerate(places.instances))]


def _translations(rows: list[list[str]], first: int) -> bool:
    """True if the degrees of freedom in data lines include all translations, or if there are no lines.

    In a line, the word with index ``first`` is the first degree of freedom, and the next word the last one. A line
    without these words has all degrees of freedom.
    """
    held: set[int] = set()
    for row in rows:
        words = row[first:]
        if not words:
            return True
        if not all(word.isdecimal() for word in words[:2]):
            return False
        held |= set(range(int(words[0]), int(words[-1] if len(words) > 1 else words[0]) + 1))
    return not rows or held >= TRANSLATIONS


def _words(block: Block) -> list[str]:
    """Words of a constraint that may name nodes, sets or surfaces: parameters other than its name, and data lines."""
    kept = {key: value for key, value in block.parameters.items() if key not in ("NAME", "CONSTRAINT NAME", "TYPE")}
    if block.keyword == "EQUATION":
        words = [row[i] for row in block.data for i in range(0, len(row), 3) if len(row) > 1]
    else:
        words = [word for row in block.data for word in row[: 2 if block.keyword != "MPC" else None]]
    by_number = block.keyword in BY_NODES
    words = [word for word in words if word and (by_number or not word.rpartition(".")[2].isdecimal())]
    return [*(value for value in kept.values() if value), *words]


def _unused_name(name: str, known: Mapping[str, Coupling]) -> str:
    """Name for a coupling: ``name``, with a number added if a coupling in ``known`` has this name."""
    names = [name, *(f"{name} ({n})" for n in range(2, len(known) + 3))]
    return next(each for each in names if each not in known)
