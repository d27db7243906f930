"""Kirchhoff's laws of a circuit: its incidence matrix and a tree of its graph.

[survey] eq. (2.24)-(2.26): currents with A i = 0 and voltages v = Aᵀe form a Dirac structure. The voltages of tree
edges and the currents of the other edges (links) are independent: ``v_links = Mᵀ v_tree, i_tree = −M i_links``, a skew
map from efforts to flows. A transformer adds an equation of voltages, and its transpose for currents; the tree is
therefore a basis, found by elimination, and M contains its ratios besides 0 and ±1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from .elements import Element, Switch, TwoPort, branches

ORDER = (
    "voltage source", "closed", "capacitor", "resistor", "inductor", "current source", "open", "winding"
)  # fmt: skip
"""Roles of edges in the order in which they are preferred as tree edges, whose voltages are independent."""
ROUND_OFF = 1e-11
"""Entry after elimination, relative to the largest entry of the matrix (at least 1), below which it is set to zero."""


@dataclass(frozen=True)
class Edge:
    """Pair of terminals: name of its element, role in the tree, nodes, and index of the pair in the element."""

    name: str
    role: str
    plus: str
    minus: str
    pair: int = 0


@dataclass(frozen=True, eq=False)
class Tree:
    """Tree of a circuit, ``v_links = Mᵀ v_tree, i_tree = −M i_links``.

    ``tree`` and ``links`` are indices of the ``edges``, and M has a row for each tree edge and a column for each link.
    """

    edges: tuple[Edge, ...]
    tree: tuple[int, ...]
    links: tuple[int, ...]
    M: Array

    def cutset(self, row: int) -> list[Edge]:
        """A tree edge and the links whose currents sum to its current."""
        return [self.edges[self.tree[row]], *(self.edges[self.links[k]] for k in np.flatnonzero(self.M[row]))]

    def loop(self, column: int) -> list[Edge]:
        """A link and the tree edges whose voltages sum to its voltage."""
        return [self.edges[self.links[column]], *(self.edges[self.tree[k]] for k in np.flatnonzero(self.M[:, column]))]


def edges_of(elements: Mapping[str, Element], positions: Mapping[str, bool]) -> tuple[Edge, ...]:
    """All edges, with switches by their positions (True is closed)."""
    edges = []
    for name, element in elements.items():
        for pair, (plus, minus) in enumerate(branches(element)):
            role: str = element.kind
            if isinstance(element, Switch):
                role = "closed" if positions[name] else "open"
            elif isinstance(element, TwoPort):
                role = "winding" if element.kind == "transformer" else "resistor"
            edges.append(Edge(name, role, plus, minus, pair))
    return tuple(edges)


def nodes_of(elements: Mapping[str, Element]) -> tuple[str, ...]:
    """Nodes in the order of their appearance."""
    return tuple(dict.fromkeys(node for element in elements.values() for pair in branches(element) for node in pair))


def incidence(edges: Iterable[Edge], nodes: Sequence[str]) -> Array:
    """Incidence matrix (nodes, edges): 1 where a current leaves a node into the edge, −1 where it arrives."""
    edges = list(edges)
    A = np.zeros((len(nodes), len(edges)))
    for k, edge in enumerate(edges):
        A[nodes.index(edge.plus), k], A[nodes.index(edge.minus), k] = 1.0, -1.0
    return A


def references(elements: Mapping[str, Element], nodes: Sequence[str], ground: str) -> list[str]:
    """Reference nodes: ground, and one node of each part that is coupled to it only by a transformer or gyrator.

    Raises ValueError for parts without any coupling, and for nodes with a single element.
    """
    if ground not in nodes:
        raise ValueError(f"no element is at the ground {ground!r}: there are nodes {', '.join(map(repr, nodes))}")
    at: dict[str, list[str]] = {node: [] for node in nodes}
    for name, element in elements.items():
        for node in (node for pair in branches(element) for node in pair):
            at[node].append(name)
    alone = {node: names[0] for node, names in at.items() if len(names) == 1}
    if alone:
        ends = ", ".join(f"{name!r} at {node!r}" for node, name in alone.items())
        raise ValueError(f"elements must not end at a node without other elements, where no current can flow: {ends}")
    pairs = [pair for element in elements.values() for pair in branches(element)]
    parts = _parts(nodes, pairs, ground)
    coupled = _parts(nodes, [*pairs, *((e.first[0], e.second[0]) for e in elements.values() if isinstance(e, TwoPort))],
                     ground)  # fmt: skip
    if len(coupled) > 1:
        away = sorted({name for node in coupled[1] for name in at[node]})
        raise ValueError(
            f"{', '.join(map(repr, away))} (nodes {', '.join(map(repr, sorted(coupled[1])))}) are not connected with "
            f"the ground {ground!r}"
        )
    return [ground, *(min(part, key=nodes.index) for part in parts[1:])]


def _parts(nodes: Sequence[str], pairs: Iterable[tuple[str, str]], first: str) -> list[set[str]]:
    """Connected parts of the graph as sets of nodes, beginning with the part of the node ``first``."""
    part = {node: {node} for node in nodes}
    for one, other in pairs:
        if part[one] is not part[other]:
            merged = part[one] | part[other]
            part |= dict.fromkeys(merged, merged)
    parts = list({id(nodes): nodes for nodes in part.values()}.values())
    return sorted(parts, key=lambda nodes: first not in nodes)


def normal_tree(edges: tuple[Edge, ...], A: Array, elements: Mapping[str, Element]) -> Tree:
    """Tree for which edges are preferred in the ORDER of their roles; A (nodes without references, edges).

    Raises ValueError, with names, for loops of voltage sources and cutsets of current sources.
    """
    rows = _space(edges, A, elements)
    order = sorted(range(len(edges)), key=lambda k: ORDER.index(edges[k].role))
    reduced, pivots = _reduced(rows[:, order])
    tree = tuple(order[k] for k in pivots)
    links = tuple(k for k in order if k not in tree)
    M = reduced[:, [order.index(k) for k in links]]
    chosen = Tree(edges, tree, links, M)
    _check_sources(chosen)
    return chosen


def _space(edges: tuple[Edge, ...], A: Array, elements: Mapping[str, Element]) -> Array:
    """Rows that span the edge voltages v = Aᵀe that the transformers allow."""
    ratios = []
    for name, element in elements.items():
        if isinstance(element, TwoPort) and element.kind == "transformer":
            first, second = (k for k, edge in enumerate(edges) if edge.name == name)
            ratios.append(A[:, first] - element.ratio * A[:, second])
    if not ratios:
        return A
    reduced, pivots = _reduced(np.array(ratios))
    free = [k for k in range(len(A)) if k not in pivots]
    kernel = np.zeros((len(free), len(A)))
    kernel[:, free] = np.eye(len(free))
    kernel[:, pivots] = -reduced[:, free].T
    return kernel @ A


def _reduced(matrix: Array) -> tuple[Array, list[int]]:
    """Reduced row echelon form of a matrix without zero rows, and the indices of its pivot columns.

    It is exact for incidence matrices, with entries 0 and ±1.
    """
    a = matrix.copy()
    pivots: list[int] = []
    noise = ROUND_OFF * max(float(np.abs(a).max(initial=0.0)), 1.0)
    for column in range(a.shape[1]):
        rank = len(pivots)
        if rank == len(a):
            break
        row = rank + int(np.argmax(np.abs(a[rank:, column])))
        if abs(a[row, column]) <= noise:
            a[rank:, column] = 0.0
            continue
        a[[rank, row]] = a[[row, rank]]
        a[rank] /= a[rank, column]
        others = np.arange(len(a)) != rank
        a[others] -= np.outer(a[others, column], a[rank])
        a[np.abs(a) <= noise] = 0.0
        pivots.append(column)
    return a[: len(pivots)], pivots


def _check_sources(graph: Tree) -> None:
    for column, link in enumerate(graph.links):
        loop = graph.loop(column)
        if graph.edges[link].role in ("voltage source", "closed") and any(e.role == "voltage source" for e in loop):
            raise ValueError(
                f"{_listed(loop)} form a loop in which nothing limits the current: a voltage source must not be "
                "shorted or connected in parallel with another one"
            )
    for row, edge in enumerate(graph.tree):
        cutset = graph.cutset(row)
        if graph.edges[edge].role in ("current source", "open") and any(e.role == "current source" for e in cutset):
            raise ValueError(
                f"{_listed(cutset)} alone join two parts of the circuit: the current of a current source needs a "
                "return path"
            )


def _listed(edges: Iterable[Edge]) -> str:
    words = {"closed": "closed ", "open": "open "}
    return ", ".join(f"{words.get(edge.role, '')}{edge.name!r}" for edge in edges)


def check_node(name: Any) -> str:
    """Check the name of a node."""
    if not isinstance(name, str):
        raise ValueError(f"ground must be the name of a node, got {name!r}")
    return name
