"""Data of a circuit: elements between nodes, its graph and its tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.memo import Memo, once, read_only
from ..systems.inputs import Input
from .elements import Element, Resistor, Source, Storage, Switch, TwoPort
from .equations import Assembly
from .readings import Readings
from .tree import Edge, Tree, check_node, edges_of, incidence, nodes_of, normal_tree, references

KINDS = (Storage, Resistor, Source, Switch, TwoPort)


@dataclass(frozen=True, eq=False, repr=False)
class Model(Memo):
    """Elements by name between named nodes, as data for the functions of a circuit.

    ``positions`` tell which switches and diodes are closed; see :meth:`at`. Systems need all of them.
    """

    elements: Mapping[str, Element]
    ground: str = "gnd"
    positions: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.elements, Mapping) or not self.elements:
            raise ValueError(f"elements must be a dict of names with elements, got {self.elements!r}")
        for name, element in self.elements.items():
            if not isinstance(name, str) or not name or any(sign in name for sign in "()."):
                raise ValueError(f"the name of an element must not be empty, nor contain '(', ')' or '.', got {name!r}")
            if not isinstance(element, KINDS):
                raise ValueError(f"{name!r} must be an element such as capacitor('a', 'b', 1e-6), got {element!r}")
        for name in self.positions:
            check.lookup("switch or diode", name, dict.fromkeys(self.switches))
        object.__setattr__(self, "elements", read_only(self.elements))
        object.__setattr__(self, "positions", read_only({k: bool(v) for k, v in self.positions.items()}))
        _ = self.references
        if len(self.positions) == len(self.switches):
            _ = self.tree

    def __repr__(self) -> str:
        at = f", {self.at_text}" if self.positions else ""
        return f"<Circuit of {len(self.elements)} elements between {len(self.nodes)} nodes{at}>"

    @property
    def at_text(self) -> str:
        """Positions in words."""
        return ", ".join(f"{name} {'closed' if closed else 'open'}" for name, closed in self.positions.items())

    @property
    def switches(self) -> tuple[str, ...]:
        """Names of switches and diodes."""
        return tuple(name for name, element in self.elements.items() if isinstance(element, Switch))

    @property
    def inputs(self) -> dict[str, Input]:
        """Values given to sources, as inputs of :func:`flexph.integrate`."""
        sources = {name: element for name, element in self.elements.items() if isinstance(element, Source)}
        return {name: source.value for name, source in sources.items() if source.value is not None}

    @once
    def nodes(self) -> tuple[str, ...]:
        """Names of nodes, in the order of the elements."""
        return nodes_of(self.elements)

    @once
    def references(self) -> tuple[str, ...]:
        """Reference nodes of potentials: ground, and one node of each part behind transformers or gyrators."""
        return tuple(references(self.elements, self.nodes, check_node(self.ground)))

    @once
    def edges(self) -> tuple[Edge, ...]:
        """Pairs of terminals, two for two-ports. Raises ValueError while positions are missing."""
        missing = [name for name in self.switches if name not in self.positions]
        if missing:
            raise ValueError(f"{', '.join(map(repr, missing))} must have positions, see circuit.at({{name: closed}})")
        return edges_of(self.elements, self.positions)

    @once
    def incidence(self) -> Array:
        """Incidence matrix A (nodes, edges): 1 where an edge leaves a node, −1 where it ends; A i = 0, v = Aᵀe."""
        return incidence(self.edges, self.nodes)

    @once
    def reduced_incidence(self) -> Array:
        """Incidence matrix without the rows of references."""
        return self.incidence[[node not in self.references for node in self.nodes]]

    @once
    def tree(self) -> Tree:
        """Tree whose voltages, with the currents of the links, determine all others."""
        return normal_tree(self.edges, self.reduced_incidence, self.elements)

    @once
    def assembly(self) -> Assembly:
        """States, J and B by name."""
        return Assembly(self.tree, self.elements)

    @once
    def readings(self) -> Readings:
        """Rows that map states and inputs to voltages and currents of all edges."""
        return Readings(self.assembly, self.reduced_incidence)

    def at(self, positions: Mapping[str, bool]) -> Self:
        """Circuit with further switches and diodes closed (True) or open (False)."""
        return replace(self, positions={**self.positions, **positions})
