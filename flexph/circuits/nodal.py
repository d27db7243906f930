"""Equations of a circuit in node potentials and currents ([survey] eq. (2.27)).

Q are charges, φ fluxes, v voltages and i currents of elements, e potentials of nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..laws.resistive_relations import Relation
from ..numerics.arrays import Array
from ..systems.derivatives import Derivatives
from ..systems.nonlinear import PHDAE
from .elements import Element, Resistor, Source, Storage, TwoPort
from .systems import Storing, named, quotient_slope
from .tree import Edge, Tree


def to_nodal(elements: Mapping[str, Element], edges: Sequence[Edge], A: Array, nodes: Sequence[str]) -> PHDAE:
    """Equations in x = (Q, φ, e, i) with 0 = A i, v = Aᵀe, and potentials e.

    i are the currents of all elements except inductors, current sources and voltage-controlled resistors. A is the
    incidence matrix (nodes with an unknown potential, edges).
    """
    layout = _Layout(elements, edges, nodes)
    losses = _Losses(layout, A)
    storing = Storing(layout.size, layout.stored)
    return PHDAE(
        E=np.diag(storing.is_stored),
        J=_structure(layout, A),
        R=losses.matrix(storing.sample) if losses.linear else losses.matrix,
        B=_inputs(layout, A),
        z=storing.costates,
        H=storing.energy,
        sample=storing.sample,
        ports={name: slice(k, k + 1) for k, name in enumerate(layout.sources)},
        parts=named(layout.names, len(layout.stored)),
        derivatives=Derivatives(costate=storing.slopes, structure=None if losses.linear else losses.structure),
    )


def check_switches(tree: Tree) -> None:
    """Raise ValueError for loops of closed switches and cutsets of open ones: nodal equations are singular."""
    edges = tree.edges
    loops = [tree.loop(c) for c, k in enumerate(tree.links) if edges[k].role == "closed"]
    parts = [tree.cutset(r) for r, k in enumerate(tree.tree) if edges[k].role == "open"]
    for groups, words, quantity in (
        (loops, "loop of closed switches: its current is undetermined", "current"),
        (parts, "cutset of open switches: the voltage across it is undetermined", "voltage"),
    ):
        if groups:
            names = ", ".join(repr(edge.name) for edge in groups[0])
            raise ValueError(f"{names} form a {words}; use phdae('tree'), which divides this {quantity} equally")


class _Layout:
    """Names and indices of the states of the nodal form: charges and fluxes, node potentials, currents of edges.

    ``potentials`` is the slice of the node potentials, ``current`` the index of the state by edge.
    """

    def __init__(self, elements: Mapping[str, Element], edges: Sequence[Edge], nodes: Sequence[str]) -> None:
        self.elements, self.edges = elements, edges
        storages = {name: element.energy for name, element in elements.items() if isinstance(element, Storage)}
        self.stored = dict(enumerate(storages.values()))
        self.sources = [name for name, element in elements.items() if isinstance(element, Source)]
        carrying = [k for k, edge in enumerate(edges) if _has_current(edge, elements[edge.name])]
        first = len(storages) + len(nodes)
        self.potentials = slice(len(storages), first)
        self.current = {k: first + i for i, k in enumerate(carrying)}
        currents = [_current(edges[k], elements[edges[k].name]) for k in carrying]
        self.names = [*storages, *(f"e({node})" for node in nodes), *currents]

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.names)


def _structure(layout: _Layout, A: Array) -> Array:
    """Matrix J: each current with the potentials at its ends, φ̇ = Aᵀe, Q̇ = i, and the laws of two-ports."""
    J, place = np.zeros((layout.size, layout.size)), layout.potentials
    for k, edge in enumerate(layout.edges):
        element = layout.elements[edge.name]
        if k in layout.current:
            J[layout.current[k], place] += A[:, k]
        if isinstance(element, Storage):
            stored = layout.names.index(edge.name)
            if element.kind == "capacitor":
                J[stored, layout.current[k]] += 1.0
            else:
                J[stored, place] += A[:, k]
        elif isinstance(element, TwoPort) and edge.pair == 1:
            if element.kind == "gyrator":
                J[layout.current[k - 1], layout.current[k]] += element.ratio
            else:  # one current for both windings, i₂ = −n i₁, whose row is v₁ = n v₂
                J[layout.current[k - 1], place] -= element.ratio * A[:, k]
    return J - J.T


def _inputs(layout: _Layout, A: Array) -> Array:
    """Matrix B: −1 in the rows 0 = v − u of voltage sources; for current sources, A in the rows of the nodes."""
    B = np.zeros((layout.size, len(layout.sources)))
    for k, edge in enumerate(layout.edges):
        if edge.role == "voltage source":
            B[layout.current[k], layout.sources.index(edge.name)] = -1.0
        elif edge.role == "current source":
            B[layout.potentials, layout.sources.index(edge.name)] = A[:, k]
    return B


class _Losses:
    """Losses ``R = W diag(ρ(s)/s) Wᵀ, s = Wᵀz`` of the resistors, with a column of W for each.

    s is the voltage v = Aᵀe of a voltage-controlled or linear resistor without a state of its current, else the
    current.
    """

    def __init__(self, layout: _Layout, A: Array) -> None:
        columns: list[Array] = []
        self.relations: list[Relation] = []
        for k, edge in enumerate(layout.edges):
            element = layout.elements[edge.name]
            if not isinstance(element, Resistor):
                continue
            column = np.zeros(layout.size)
            if k in layout.current:
                column[layout.current[k]] = 1.0
            else:
                column[layout.potentials] = A[:, k]
            columns.append(column)
            self.relations.append(_relation(element))
        self.W = np.array(columns).reshape(len(columns), layout.size).T
        self.linear = all(relation.kind == "viscous" for relation in self.relations)

    def matrix(self, x: Array) -> Array:
        """Matrix R(x)."""
        quotients = [float(r.resistance(s)) for r, s in zip(self.relations, self.W.T @ x, strict=True)]
        return (self.W * quotients) @ self.W.T

    def structure(self, x: Array, w: Array) -> Array:
        """Derivative ∂((J − R)w)/∂x (n, n) at constant w, in which only R depends on x."""
        slopes = [quotient_slope(r, float(s)) for r, s in zip(self.relations, self.W.T @ x, strict=True)]
        return -(self.W * (np.array(slopes) * (self.W.T @ w))) @ self.W.T


def _has_current(edge: Edge, element: Element) -> bool:
    """True if the current of an edge is a state of the nodal form."""
    if isinstance(element, TwoPort):
        return element.kind == "gyrator" or edge.pair == 0
    if isinstance(element, Resistor):
        return element.control == "current"
    return edge.role in ("capacitor", "voltage source", "closed")


def _current(edge: Edge, element: Element) -> str:
    gyrating = isinstance(element, TwoPort) and element.kind == "gyrator"
    return f"i({edge.name}.{edge.pair + 1})" if gyrating else f"i({edge.name})"


def _relation(element: Resistor) -> Relation:
    """Relation i = ρ(v), or v = ρ(i) if current-controlled."""
    if element.control == "either":
        return Relation("viscous", (1.0 / element.relation.parameters[0],))
    return element.relation
