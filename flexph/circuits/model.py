"""Data of a circuit: elements between nodes, its graph and tree, voltages and currents from its states and inputs.

Q are charges, φ fluxes, v voltages and i currents of elements, e potentials of nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.memo import Memo, once, read_only
from ..systems.inputs import Input
from .elements import Element, Resistor, Source, Storage, Switch, TwoPort
from .equations import Assembly
from .systems import Storing, energies
from .tree import Edge, Tree, check_node, edges_of, incidence, nodes_of, normal_tree, references


class Readings:
    """Rows that map costates z and inputs u to voltages ``V z + Vu u`` and currents ``I z + Iu u`` of the edges.

    Undetermined voltages (of parts between open switches) and currents (of loops of closed ones) are those of least
    norm, the limit of equal small leakages or resistances.
    """

    def __init__(self, assembly: Assembly, A: Array) -> None:
        self.assembly, self._A = assembly, A
        tree, n, m = assembly.tree, assembly.size, len(assembly.inputs)
        edges = len(tree.edges)
        efforts = np.zeros((edges, n + m))
        for k, effort in assembly.efforts.items():
            if effort.state is not None:
                efforts[k, effort.state] = 1.0
            elif effort.input is not None:
                element = assembly.elements[tree.edges[k].name]
                assert isinstance(element, Source)
                efforts[k, n + effort.input] = 1.0 if element.kind == "voltage source" else -1.0
        voltages, currents = np.zeros((edges, n + m)), np.zeros((edges, n + m))
        trees, links = list(tree.tree), list(tree.links)
        voltages[trees], currents[links] = efforts[trees], efforts[links]
        voltages[links], currents[trees] = tree.M.T @ efforts[trees], -tree.M @ efforts[links]
        self._remove_switches(voltages, currents)
        self.voltages, self.currents = voltages, self._through_windings(currents)
        self.potentials = np.linalg.pinv(A.T) @ voltages

    def _remove_switches(self, voltages: Array, currents: Array) -> None:
        """Subtract in place from voltages and currents (edges, n + m) what open and closed switches leave undetermined.

        The result has the least norm at the switches.
        """
        tree = self.assembly.tree
        roles = [edge.role for edge in tree.edges]
        both = np.vstack([np.eye(len(tree.tree)), tree.M.T])  # of (tree, links)
        order = [*tree.tree, *tree.links]
        free = [row for row, k in enumerate(tree.tree) if roles[k] in ("open", "winding")]
        if free:
            moves = np.zeros((len(roles), len(free)))
            moves[order] = both[:, free]
            opened = [k for k, role in enumerate(roles) if role == "open"]
            voltages -= moves @ (np.linalg.pinv(moves[opened]) @ voltages[opened])
        closed = [k for k, role in enumerate(roles) if role == "closed"]
        columns = [column for column, k in enumerate(tree.links) if roles[k] == "closed"]
        if columns:
            moves = np.zeros((len(roles), len(columns)))
            moves[order] = np.vstack([-tree.M, np.eye(len(tree.links))])[:, columns]
            currents -= moves @ (np.linalg.pinv(moves[closed]) @ currents[closed])

    def _through_windings(self, currents: Array) -> Array:
        """Currents of transformer windings from Kirchhoff's current law, with the currents of all other edges given."""
        edges = self.assembly.tree.edges
        turns = []
        for name, element in self.assembly.elements.items():
            if isinstance(element, TwoPort) and element.kind == "transformer":
                column = np.zeros(len(edges))
                for k, edge in enumerate(edges):
                    if edge.name == name:
                        column[k] = 1.0 if edge.pair == 0 else -element.ratio
                turns.append(column)
        if not turns:
            return currents
        windings = [k for k, edge in enumerate(edges) if edge.role == "winding"]
        currents[windings] = 0.0
        along = np.array(turns).T
        return currents - along @ (np.linalg.pinv(self._A @ along) @ (self._A @ currents))

    def of(self, rows: Array, states: Array, inputs: Array) -> Array:
        """Products of ``rows`` (k, n + m) with costates and inputs (z, u), for states (..., n) and inputs (..., m)."""
        storing = Storing(self.assembly.size, energies(self.assembly))
        z = np.apply_along_axis(storing.costates, -1, states)
        wide = np.broadcast_to(inputs, (*z.shape[:-1], inputs.shape[-1]))
        return np.concatenate([z, wide], axis=-1) @ rows.T

    def under(self, rows: Array, states: Any, inputs: Mapping[str, Any] | None) -> Array:
        """Products of ``rows`` (k, n + m) with costates and inputs, for states (..., n) and inputs by source.

        Missing inputs are zero.

        Raises ValueError for wrong shapes and unknown sources.
        """
        x = check.numbers("states", states)
        if x.ndim == 0 or x.shape[-1] != self.assembly.size:
            raise ValueError(f"states must have shape (..., {self.assembly.size}), got {x.shape}")
        sources = self.assembly.inputs
        u = np.zeros((*x.shape[:-1], len(sources)))
        for name, value in (inputs or {}).items():
            check.lookup("source", name, dict.fromkeys(sources))
            u[..., sources.index(name)] = check.broadcast(f"input {name!r}", value, x.shape[:-1])
        return self.of(rows, x, u)

    def by_element(self, rows: Array, states: Any, inputs: Mapping[str, Any] | None) -> dict[str, Array]:
        """Products of ``rows``, one for each edge, by element (...); two-ports have two values (..., 2)."""
        values, read = self.under(rows, states, inputs), {}
        for name, element in self.assembly.elements.items():
            columns = [k for k, edge in enumerate(self.assembly.tree.edges) if edge.name == name]
            read[name] = values[..., columns] if isinstance(element, TwoPort) else values[..., columns[0]]
        return read


KINDS = (Storage, Resistor, Source, Switch, TwoPort)


@dataclass(frozen=True, eq=False, repr=False)
class Model(Memo):
    """Elements by name between named nodes, as data for the functions of a circuit.

    ``positions`` maps the names of switches and diodes to True (closed) or False (open); see :meth:`at`. Systems need
    the positions of all switches and diodes.
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
        """Positions of the switches and diodes in words."""
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
        """Edges of the graph: the pair of terminals of each element, both pairs of a two-port.

        Raises ValueError while positions of switches or diodes are missing.
        """
        missing = [name for name in self.switches if name not in self.positions]
        if missing:
            raise ValueError(f"{', '.join(map(repr, missing))} must have positions, see circuit.at({{name: closed}})")
        return edges_of(self.elements, self.positions)

    @once
    def incidence(self) -> Array:
        """Incidence matrix A (nodes, edges), with A i = 0 and v = Aᵀe.

        An entry is 1 where an edge leaves a node, −1 where it enters one.
        """
        return incidence(self.edges, self.nodes)

    @once
    def reduced_incidence(self) -> Array:
        """Incidence matrix A without the rows of the reference nodes, whose potential is zero."""
        return self.incidence[[node not in self.references for node in self.nodes]]

    @once
    def tree(self) -> Tree:
        """Tree whose voltages, with the currents of the links, determine all others."""
        return normal_tree(self.edges, self.reduced_incidence, self.elements)

    @once
    def assembly(self) -> Assembly:
        """States of the tree form, with the matrices J and B of the equations, assembled from tree and elements."""
        return Assembly(self.tree, self.elements)

    @once
    def readings(self) -> Readings:
        """Rows that map states and inputs to voltages and currents of all edges."""
        return Readings(self.assembly, self.reduced_incidence)

    def at(self, positions: Mapping[str, bool]) -> Self:
        """Circuit with further switches and diodes closed (True) or open (False)."""
        return replace(self, positions={**self.positions, **positions})
