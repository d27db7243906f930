"""Named ports of a Dirac structure: order, names, splitting, and vectors by port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import numpy as np

from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arrays import Array
from .graph import Graph

Values = Array | Mapping[str, float | Sequence[float] | Array]


class NamedPorts:
    """Graph of a Dirac structure whose flows and efforts belong to named ports."""

    graph: Graph
    ports: Mapping[str, slice]

    @classmethod
    def from_graph(cls, graph: Graph, ports: Mapping[str, slice] | None = None) -> Self:
        """Make a structure from a graph with an exactly skew matrix; classes derived from this one define it."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Number n of flows, and of efforts."""
        return len(self.graph.J)

    def reordered(self, names: Iterable[str]) -> Self:
        """Structure with its ports in the order ``names``, a permutation of all ports."""
        names = list(names)
        if sorted(names) != sorted(self.ports):
            raise ValueError(f"names must be a permutation of the ports {list(self.ports)}, got {names}")
        order = spans.indices(self.ports[name] for name in names)
        graph = Graph(self.graph.J[np.ix_(order, order)], self.graph.flow_inputs[order])
        return self.from_graph(graph, spans.consecutive_of(self.ports, names))

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Structure with other names for some of its ports, by their present names.

        Raises ValueError for an unknown port, or if two ports would have one name.
        """
        for name in names:
            check.lookup("port", name, self.ports)
        others = [names.get(name, name) for name in self.ports]
        if len(set(others)) < len(others):
            raise ValueError(f"ports must have different names, got {others}")
        return self.from_graph(self.graph, dict(zip(others, self.ports.values(), strict=True)))

    def split(self, port: str, parts: Mapping[str, int]) -> Self:
        """Structure with one port split into parts, given as names with sizes in order."""
        return self.from_graph(self.graph, spans.divided(self.ports, port, parts))

    def mask(self, names: Iterable[str] | Array) -> Array:
        """Mask (n,) that is True for the entries of the named ports; a given mask is returned unchanged."""
        if isinstance(names, np.ndarray):
            if names.shape != (self.size,) or names.dtype != bool:
                raise ValueError(f"entries must be {self.size} truth values, got shape {names.shape}")
            return names
        if isinstance(names, str):
            raise ValueError(f"ports must be a list of names, got {check.shown(names)}")
        mask = np.zeros(self.size, dtype=bool)
        for name in names:
            mask[check.lookup("port", name, self.ports)] = True
        return mask

    def vector(self, name: str, values: Values) -> Array:
        """Flows or efforts of all ports as one vector (n,), from such a vector or from arrays by port.

        ``name`` is the noun for them in error messages.
        """
        if not isinstance(values, Mapping):
            return check.array(name, values, (self.size,))
        vector = np.zeros(self.size)
        for port in values:
            check.lookup("port", port, self.ports)
        for port, span in self.ports.items():
            vector[span] = check.lookup(f"{name} of port", port, values)
        return vector

    def sizes(self, values: Array) -> Array:
        """Scale of each of the ``values`` (n,): the largest magnitude in its port, whose entries share a unit."""
        sizes = np.abs(values)
        for span in self.ports.values():
            sizes[span] = sizes[span].max(initial=0.0)
        return sizes
