"""From the graph of a Dirac structure to the matrices of a :class:`flexph.PHDAE`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..space import Array
from .forms import ConstrainedForm
from .graph import Graph
from .resistance import Characteristic, LinearResistance, Resistance
from .subspaces import RANK

Gradient = Callable[[Array], Array]


@dataclass(frozen=True)
class Partition:
    """Which flows are inputs, (n + m,), of the storage's first ``inner`` entries and of the others.

    Those of the storage are multipliers; of other ports flows are inputs ordinarily. ``direct`` says that efforts of
    the other ports follow from the storage's alone.
    """

    flow_inputs: Array
    inner: int
    direct: bool

    def form(self, graph: Graph, resistive: int) -> ConstrainedForm:
        """The constrained form of a structure in this partition."""
        J = graph.exchanged(np.flatnonzero(graph.flow_inputs != self.flow_inputs)).J
        n, free = self.inner, self.flow_inputs[: self.inner]
        kept = ~free
        inside, outside = np.zeros((n, n)), np.zeros((n, len(J) - n))
        inside[np.ix_(kept, kept)] = -J[:n, :n][np.ix_(kept, kept)]
        outside[kept] = -J[:n, n:][kept]
        b = np.zeros((n, int(free.sum())))
        b[kept], b[free] = -J[:n, :n][np.ix_(kept, free)], -np.eye(b.shape[1])
        return ConstrainedForm(inside, outside[:, :resistive], outside[:, resistive:], b)


def partition(graph: Graph, inner: int) -> Partition:
    """The partition in which as few flows of the storage as possible are multipliers, and others' flows are inputs."""
    outer = np.arange(len(graph.J)) >= inner
    made = Graph(graph.J.copy(), graph.flow_inputs ^ outer)  # f and e of the other ports exchanged
    made = made.settled(np.flatnonzero(made.flow_inputs))
    for port in np.flatnonzero(made.flow_inputs & outer):
        swap = np.abs(made.J[port]) * ~(made.flow_inputs | outer)
        best = int(np.argmax(swap))
        if swap[best] > RANK * max(float(np.abs(made.J).max()), 1.0):
            made = made.exchanged(np.array([port, best]))
    free = made.flow_inputs
    fed = np.abs(made.J[np.ix_(outer, outer | free)]).max(initial=0.0)
    direct = not (free & outer).any() and fed <= RANK * max(float(np.abs(made.J).max(initial=0.0)), 1.0)
    return Partition(free ^ outer, inner, bool(direct))


@dataclass(frozen=True)
class Layout:
    """Names and sizes of the ports in the order storage, resistive, external; relations of the resistive ones."""

    storage: tuple[str, ...]
    resistive: tuple[str, ...]
    external: tuple[str, ...]
    spans: dict[str, slice]
    relations: dict[str, Resistance]

    def size(self, names: tuple[str, ...]) -> int:
        """Number of entries of some ports."""
        return sum(self.spans[n].stop - self.spans[n].start for n in names)

    def slices(self, names: tuple[str, ...], start: int = 0) -> dict[str, slice]:
        """These ports one after the other."""
        made = {}
        for name in names:
            size = self.spans[name].stop - self.spans[name].start
            made[name], start = slice(start, start + size), start + size
        return made

    @property
    def linear(self) -> bool:
        """Whether all relations are linear."""
        return not any(isinstance(r, Characteristic) for r in self.relations.values())


class _Equations:
    """What both kinds share: where things are, and the structure at a state; ``start`` is that at the sample."""

    def __init__(self, names: Layout, graph: Callable[[Array], Graph], *, start: Graph, gradient: Gradient) -> None:
        self.names, self.graph, self.gradient, self.linear = names, graph, gradient, names.linear
        self.n, self.m_r, self.m = (names.size(own) for own in (names.storage, names.resistive, names.external))
        self.ports = names.slices(names.external)


class DirectEquations(_Equations):
    """``ẋ = (J − g_R R g_Rᵀ) ∇H + g u + b λ, 0 = −bᵀ∇H``: states (x, λ)."""

    def __init__(self, names: Layout, graph: Callable[[Array], Graph], *, start: Graph, gradient: Gradient) -> None:
        super().__init__(names, graph, start=start, gradient=gradient)
        self.made = partition(start, self.n)
        self.multipliers = int(self.made.flow_inputs[: self.n].sum())
        self.size = self.n + self.multipliers
        self.parts = names.slices(names.storage)
        if self.multipliers:
            self.parts["multipliers"] = slice(self.n, self.size)

    def form(self, x: Array) -> ConstrainedForm:
        """The constrained form at a state."""
        return self.made.form(self.graph(x[: self.n]), self.m_r)

    def J(self, x: Array) -> Array:
        """[[J, b], [−bᵀ, 0]]."""
        form, k = self.form(x), self.multipliers
        return np.block([[form.J, form.b], [-form.b.T, np.zeros((k, k))]])

    def B(self, x: Array) -> Array:
        """[g; 0]."""
        return np.vstack([self.form(x).inputs, np.zeros((self.multipliers, self.m))])

    def R(self, x: Array) -> Array:
        """g_R R g_Rᵀ."""
        made, g = np.zeros((self.size, self.size)), self.form(x).resistive
        efforts = g.T @ self.gradient(x[: self.n])
        for name, own in self.names.slices(self.names.resistive).items():
            relation = self.names.relations[name]
            if isinstance(relation, Characteristic):
                matrix = relation.matrix(efforts[own])
            else:
                matrix = relation.matrix_of_efforts()
            made[: self.n, : self.n] += g[:, own] @ matrix @ g[:, own].T
        return 0.5 * (made + made.T)

    def z(self, x: Array) -> Array:
        """(∇H, λ)."""
        return np.concatenate([self.gradient(x[: self.n]), x[self.n :]])


class GeneralEquations(_Equations):
    """States (x, a, y, λ), e_R = T a: the constrained form ``f = J e + G λ, Gᵀe = 0`` of all ports.

    ẋ = −J_S e − G_S λ,  0 = −Tᵀ(J_R e + G_R λ) − D a,  0 = −J_C e − G_C λ + u,  0 = Gᵀe
    """

    def __init__(self, names: Layout, graph: Callable[[Array], Graph], *, start: Graph, gradient: Gradient) -> None:
        super().__init__(names, graph, start=start, gradient=gradient)
        self.flows = start.settled(np.flatnonzero(start.flow_inputs)).flow_inputs
        relations = [names.relations[name] for name in names.resistive]
        self.maps = [r.image() if isinstance(r, LinearResistance) else (np.eye(r.size),) * 2 for r in relations]
        self.sizes = [T.shape[1] for T, _ in self.maps]
        self.k_r = sum(self.sizes)

    @property
    def multipliers(self) -> int:
        """Number of multipliers."""
        return int(self.flows.sum())

    @property
    def size(self) -> int:
        """Number of states."""
        return self.n + self.k_r + self.m + self.multipliers

    @property
    def parts(self) -> dict[str, slice]:
        """Names of states."""
        made, at = self.names.slices(self.names.storage), self.n
        for name, size in zip(self.names.resistive, self.sizes, strict=True):
            made[name], at = slice(at, at + size), at + size
        made |= self.names.slices(self.names.external, at)
        if self.multipliers:
            made["multipliers"] = slice(self.size - self.multipliers, self.size)
        return made

    def _spread(self) -> Array:
        """(e_S, e_R, e_C) of (∇H, a, y)."""
        made = np.zeros((self.n + self.m_r + self.m, self.n + self.k_r + self.m))
        made[: self.n, : self.n] = np.eye(self.n)
        made[self.n + self.m_r :, self.n + self.k_r :] = np.eye(self.m)
        row, column = self.n, self.n
        for T, _ in self.maps:
            made[row : row + len(T), column : column + T.shape[1]] = T
            row, column = row + len(T), column + T.shape[1]
        return made

    def J(self, x: Array) -> Array:
        """−[[VᵀJV, VᵀG], [−GᵀV, 0]] with e = V (∇H, a, y)."""
        graph = self.graph(x[: self.n])
        free = self.flows
        J = graph.exchanged(np.flatnonzero(graph.flow_inputs != free)).J
        inner = np.where(free[:, None] | free[None, :], 0.0, J)
        G = J[:, free].copy()
        G[free] = np.eye(G.shape[1])
        V = self._spread()
        return -np.block([[V.T @ inner @ V, V.T @ G], [-G.T @ V, np.zeros((G.shape[1],) * 2)]])

    def B(self, x: Array) -> Array:
        """The unit matrix in the rows of y."""
        made = np.zeros((self.size, self.m))
        made[self.n + self.k_r : self.n + self.k_r + self.m] = np.eye(self.m)
        return made

    def R(self, x: Array) -> Array:
        """What the relations dissipate."""
        made, at = np.zeros((self.size, self.size)), self.n
        for name, (_, D) in zip(self.names.resistive, self.maps, strict=True):
            relation = self.names.relations[name]
            own = slice(at, at + D.shape[0])
            at = own.stop
            made[own, own] = relation.matrix(x[own]) if isinstance(relation, Characteristic) else D
        return made

    def z(self, x: Array) -> Array:
        """(∇H, a, y, λ)."""
        return np.concatenate([self.gradient(x[: self.n]), x[self.n :]])
