"""Voltages and currents of all elements, and potentials of all nodes, from states and inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from .elements import Source, TwoPort
from .equations import Assembly
from .systems import Storing, energies


class Readings:
    """Voltages and currents of the edges as ``V z + Vu u`` and ``I z + Iu u``.

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
        self._spread(voltages, currents)
        self.voltages, self.currents = voltages, self._through_windings(currents)
        self.potentials = np.linalg.pinv(A.T) @ voltages

    def _spread(self, voltages: Array, currents: Array) -> None:
        """Subtract the undetermined part of voltages and currents (in place), so that the rest has the least norm."""
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
        """Currents of transformers from the remainder of Kirchhoff's law."""
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
        """Values of rows (k, n + m) of costates and inputs, for states (..., n) and inputs (..., m)."""
        storing = Storing(self.assembly.size, energies(self.assembly))
        z = np.apply_along_axis(storing.costates, -1, states)
        wide = np.broadcast_to(inputs, (*z.shape[:-1], inputs.shape[-1]))
        return np.concatenate([z, wide], axis=-1) @ rows.T

    def under(self, rows: Array, states: Any, inputs: Mapping[str, Any] | None) -> Array:
        """Values of rows for users' states and inputs by source, zero if omitted."""
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
        """Values of edges by element (...), two-ports (..., 2)."""
        values, read = self.under(rows, states, inputs), {}
        for name, element in self.assembly.elements.items():
            columns = [k for k, edge in enumerate(self.assembly.tree.edges) if edge.name == name]
            read[name] = values[..., columns] if isinstance(element, TwoPort) else values[..., columns[0]]
        return read
