"""Additional masses of Abaqus input files: at nodes, or distributed over sets of elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, Protocol

import numpy as np

from ...numerics.arrays import Array
from ..contents import LeftOut, PointMass, SpreadMass
from .instances import Instance, has_set
from .keywords import Block
from .parts import Part, PointElement
from .vocabulary import in_full

UNITS = ("TOTAL MASS", "MASS PER VOLUME", "MASS PER AREA", "MASS PER LENGTH")
DISTRIBUTIONS = ("MASS PROPORTIONAL", "VOLUME PROPORTIONAL")


class Places(Protocol):
    """Protocol of the builder of the mesh: what masses need to find nodes and regions."""

    instances: list[Instance]
    assembly: Part

    def row(self, k: int, number: int) -> int | None:
        """Index of the point of the mesh for the node ``number`` of instance k.

        None if no cell of the body uses the node.
        """

    def called(self, one: Instance, name: str) -> str:
        """Name of the region for the set ``name`` of an instance's part."""


class Masses:
    """Additional masses of an input file, at ``points`` of the mesh or ``spread`` over regions of elements.

    ``left_out``: unsupported masses.
    """

    def __init__(self, places: Places, hung: Mapping[tuple[int | None, int], Array]) -> None:
        self.places, self.hung = places, hung
        self.points: list[PointMass] = []
        self.spread: list[SpreadMass] = []
        self.left_out: list[LeftOut] = []
        for block, owners in self._blocks():
            if block.keyword == "MASS":
                self._add_points(block, owners)
            else:
                self._add_spread(block, owners)
        for k, part in self._parts():
            for point in part.points:
                if point.kind == "ROTARYI":
                    why = f"at node {point.node}, {'of the assembly' if k is None else 'which has no rotation'}"
                    reach = self._reach(*self._node(k, point))
                    self.left_out.append(LeftOut("ROTARY INERTIA", point.place, "mass", why, reach))

    def _parts(self) -> Iterator[tuple[int | None, Part]]:
        """Yield the parts with the numbers of their instances, and the assembly with None."""
        yield from ((k, one.part) for k, one in enumerate(self.places.instances))
        yield None, self.places.assembly

    def _blocks(self) -> Iterator[tuple[Block, list[tuple[int | None, Part]]]]:
        """Yield each keyword of masses with the parts that contain its element set, and their instance numbers."""
        for k, part in self._parts():
            outer = [(n, one.outer) for n, one in enumerate(self.places.instances)] if k is None else []
            for block in part.masses:
                name = block.name("ELSET")
                owners = [(n, owner) for n, owner in [(k, part), *outer] if has_set(owner, name, nodes=False)]
                if not owners:
                    raise ValueError(f"{block.place}: element set {name!r} of *{block.keyword} must be defined")
                yield block, owners

    def _add_points(self, block: Block, owners: list[tuple[int | None, Part]]) -> None:
        kind = block.parameters.get("TYPE", "ISOTROPIC")
        if in_full(kind, ("ISOTROPIC", "ANISOTROPIC")) != "ISOTROPIC":
            self.left_out.append(LeftOut("MASS", block.place, "mass", f"TYPE={kind}"))
            return
        value = self._value(block)
        for k, part in owners:
            numbers = set(part.element_numbers(block.name("ELSET")).tolist())
            for point in part.points:
                if point.kind == "MASS" and point.number in numbers and value:
                    self._place(block, value, self._node(k, point), point)

    def _node(self, k: int | None, point: PointElement) -> tuple[int | None, int]:
        """Scope and number of the node of a mass element, −1 for a node that is no number.

        The scope is the number of an instance, or None for the assembly; it is ``k`` unless the node names an instance.
        """
        owner, _, rest = point.node.rpartition(".")
        if owner:
            names = [one.name.upper() for one in self.places.instances]
            k = names.index(owner.upper()) if owner.upper() in names else None
        return k, int(rest) if rest.isdecimal() else -1

    def _row(self, k: int | None, number: int) -> int | None:
        return None if k is None else self.places.row(k, number)

    def _reach(self, k: int | None, number: int) -> Array | None:
        """Index (1,) of the point at a node; for a reference node the indices (n,) of all points coupled to the node.

        ``k`` is the number of the instance, None for the assembly. Returns None if the body has no such points.
        """
        row = self._row(k, number)
        return self.hung.get((k, number)) if row is None else np.array([row])

    def _place(self, block: Block, value: float, node: tuple[int | None, int], point: PointElement) -> None:
        row = self._row(*node)
        if row is None:
            why = f"mass {value:.6g} at node {point.node}, which no cell of the body uses"
            self.left_out.append(LeftOut("MASS", block.place, "mass", why, self._reach(*node)))
        else:
            self.points.append(PointMass(row, value, "MASS", block.place))

    def _add_spread(self, block: Block, owners: list[tuple[int | None, Part]]) -> None:
        units = in_full(block.name("UNITS"), UNITS)
        distribution = in_full(block.parameters.get("DISTRIBUTION", DISTRIBUTIONS[0]), DISTRIBUTIONS)
        if distribution is None or units not in UNITS[:2]:
            why = (
                f"UNITS={block.parameters['UNITS']}"
                if distribution
                else f"DISTRIBUTION={block.parameters['DISTRIBUTION']}"
            )
            self.left_out.append(LeftOut(block.keyword, block.place, "mass", why))
            return
        total: Literal["total by mass", "total by volume"] = (
            "total by mass" if distribution == DISTRIBUTIONS[0] else "total by volume"
        )
        name = block.name("ELSET")
        names = dict.fromkeys(self._named(k, part, name) for k, part in owners)
        for region in names:
            by = total if units == UNITS[0] else "per volume"
            self.spread.append(SpreadMass(region, self._value(block), by, block.keyword, block.place))

    def _named(self, k: int | None, part: Part, name: str) -> str:
        exact_name = next(key for key in part.element_sets if key.upper() == name.upper())
        one = None if k is None else self.places.instances[k]
        return self.places.called(one, exact_name) if one is not None and part is one.part else exact_name

    def _value(self, block: Block) -> float:
        if len(block.texts) != 1:
            raise ValueError(f"{block.place}: *{block.keyword} must have one line, got {len(block.texts)}")
        return block.numbers()[0][0]


def rows_by_number(numbers: Array, wanted: Array) -> Array:
    """Index (k,) of each of the ``wanted`` numbers (k,) in ``numbers`` (n,); −1 for numbers that are missing there."""
    if not len(numbers):
        return np.full(np.shape(wanted), -1)
    order = np.argsort(numbers, kind="stable")
    place = np.minimum(np.searchsorted(numbers, wanted, sorter=order), len(numbers) - 1)
    return np.where(numbers[order[place]] == wanted, order[place], -1)
