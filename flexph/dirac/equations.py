"""From the graph of a Dirac structure to the matrices of a :class:`flexph.PHDAE`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from .forms import ConstrainedForm
from .graph import Graph
from .partition import partition
from .relations.resistance import Resistance
from .relations.storage import LagrangianStorage


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
    def constant(self) -> bool:
        """Whether the matrices of all relations are constant."""
        return all(r.is_constant for r in self.relations.values())

    @property
    def admits(self) -> bool:
        """Whether all relations admit every effort."""
        return all(r.admits_efforts for r in self.relations.values())

    @property
    def reciprocal(self) -> bool:
        """Whether no relation has a skew part."""
        return all(r.is_reciprocal for r in self.relations.values())

    @property
    def flow_controlled(self) -> Array:
        """Which entries of all ports belong to flow-controlled relations, of which flows and efforts change places."""
        made = np.zeros(sum(s.stop - s.start for s in self.spans.values()), dtype=bool)
        own = self.slices(self.resistive, self.size(self.storage))
        for name, relation in self.relations.items():
            made[own[name]] = relation.controlled == "flow"
        return made


def of_last(function: Callable[[Array], Any]) -> Callable[[Array], Any]:
    """A function of an array that keeps its last value: J, R and B of a system ask for the same state."""
    last = lru_cache(maxsize=1)(lambda state: function(np.frombuffer(state)))
    return lambda x: last(np.asarray(x, dtype=float).tobytes())


class _Equations:
    """What both kinds share: where things are, and the structure at a state.

    ``graph`` is that of energy variables x = X(ξ), ``start`` that at the ``sample`` ξ.
    """

    def __init__(
        self, names: Layout, graph: Callable[[Array], Graph], storage: LagrangianStorage, sample: Array
    ) -> None:
        self.names, self.storage = names, storage
        swapped = names.flow_controlled
        self.n, self.m_r, self.m = (names.size(own) for own in (names.storage, names.resistive, names.external))
        self.ports = names.slices(names.external)
        self.relations = [names.relations[name] for name in names.resistive]

        def exchanged(x: Array) -> Graph:
            made = graph(x)
            return Graph(made.J.copy(), made.flow_inputs ^ swapped)

        self.graph = exchanged
        self.start = exchanged(storage.states(sample))

    def energy_variables(self, x: Array) -> Array:
        """X(ξ) of states (ξ, ...)."""
        return self.storage.states(x[: self.n])

    def efforts(self, x: Array) -> Array:
        """∂H/∂x = ε(ξ) of states (ξ, ...)."""
        return self.storage.efforts(x[: self.n])


class DirectEquations(_Equations):
    """``ẋ = (J − g_R (R + S) g_Rᵀ) ∇H + g u + b λ, 0 = −bᵀ∇H``: states (x, λ), f_R = −(R + S) e_R."""

    def __init__(
        self, names: Layout, graph: Callable[[Array], Graph], storage: LagrangianStorage, sample: Array
    ) -> None:
        super().__init__(names, graph, storage, sample)
        self.made = partition(self.start, self.n)
        self.form: Callable[[Array], ConstrainedForm] = of_last(self._form)
        self.resistance: Callable[[Array], tuple[Array, Array]] = of_last(self._resistance)
        self.multipliers = int(self.made.flow_inputs[: self.n].sum())
        self.size = self.n + self.multipliers
        self.parts = names.slices(names.storage)
        if self.multipliers:
            self.parts["multipliers"] = slice(self.n, self.size)

    def _form(self, x: Array) -> ConstrainedForm:
        """The constrained form at a state."""
        return self.made.form(self.graph(self.energy_variables(x)), self.m_r)

    def J(self, x: Array) -> Array:
        """[[J − g_R S g_Rᵀ, b], [−bᵀ, 0]]."""
        form, k = self.form(x), self.multipliers
        made = np.block([[form.J, form.b], [-form.b.T, np.zeros((k, k))]])
        if not self.names.reciprocal:
            made[: self.n, : self.n] -= self.resistance(x)[1]
        return made

    def B(self, x: Array) -> Array:
        """[g; 0]."""
        return np.vstack([self.form(x).inputs, np.zeros((self.multipliers, self.m))])

    def R(self, x: Array) -> Array:
        """g_R R g_Rᵀ."""
        made = np.zeros((self.size, self.size))
        made[: self.n, : self.n] = self.resistance(x)[0]
        return made

    def _resistance(self, x: Array) -> tuple[Array, Array]:
        """g_R R g_Rᵀ and g_R S g_Rᵀ (n, n)."""
        g = self.form(x).resistive
        here, efforts = self.energy_variables(x), g.T @ self.efforts(x)
        R, S = np.zeros((self.m_r,) * 2), np.zeros((self.m_r,) * 2)
        for relation, own in zip(self.relations, self.names.slices(self.names.resistive).values(), strict=True):
            R[own, own], S[own, own] = relation.matrices(here, efforts[own])
        R, S = g @ R @ g.T, g @ S @ g.T
        return 0.5 * (R + R.T), 0.5 * (S - S.T)

    def z(self, x: Array) -> Array:
        """(∇H, λ)."""
        return np.concatenate([self.efforts(x), x[self.n :]])


class GeneralEquations(_Equations):
    """States (x, a, y, λ), e_R = T a: the constrained form ``f = J e + G λ, Gᵀe = 0`` of all ports.

    ẋ = −J_S e − G_S λ,  0 = −Tᵀ(J_R e + G_R λ) − (D + S) a,  0 = −J_C e − G_C λ + u,  0 = Gᵀe
    """

    def __init__(
        self, names: Layout, graph: Callable[[Array], Graph], storage: LagrangianStorage, sample: Array
    ) -> None:
        super().__init__(names, graph, storage, sample)
        self.flows = self.start.settled(np.flatnonzero(self.start.flow_inputs)).flow_inputs
        self.sizes = [relation.coordinates for relation in self.relations]
        self.k_r = sum(self.sizes)
        self.resistance: Callable[[Array], tuple[Array, Array]] = of_last(self._resistance)

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

    def _spread(self, here: Array) -> Array:
        """(e_S, e_R, e_C) of (∇H, a, y), at energy variables."""
        made = np.zeros((self.n + self.m_r + self.m, self.n + self.k_r + self.m))
        made[: self.n, : self.n] = np.eye(self.n)
        made[self.n + self.m_r :, self.n + self.k_r :] = np.eye(self.m)
        row, column = self.n, self.n
        for relation in self.relations:
            T = relation.admitted(here)
            made[row : row + len(T), column : column + T.shape[1]] = T
            row, column = row + len(T), column + T.shape[1]
        return made

    def J(self, x: Array) -> Array:
        """−[[VᵀJV, VᵀG], [−GᵀV, 0]] with e = V (∇H, a, y), less S in the rows of a."""
        here = self.energy_variables(x)
        graph = self.graph(here)
        free = self.flows
        J = graph.exchanged(np.flatnonzero(graph.flow_inputs != free)).J
        inner = np.where(free[:, None] | free[None, :], 0.0, J)
        G = J[:, free].copy()
        G[free] = np.eye(G.shape[1])
        V = self._spread(here)
        made = -np.block([[V.T @ inner @ V, V.T @ G], [-G.T @ V, np.zeros((G.shape[1],) * 2)]])
        return made if self.names.reciprocal else made - self.resistance(x)[1]

    def B(self, x: Array) -> Array:
        """The unit matrix in the rows of y."""
        made = np.zeros((self.size, self.m))
        made[self.n + self.k_r : self.n + self.k_r + self.m] = np.eye(self.m)
        return made

    def R(self, x: Array) -> Array:
        """D in the rows of a."""
        return self.resistance(x)[0].copy()

    def _resistance(self, x: Array) -> tuple[Array, Array]:
        """D and S of all relations, each in its rows (n + ..., n + ...)."""
        here, at = self.energy_variables(x), self.n
        D, S = np.zeros((self.size,) * 2), np.zeros((self.size,) * 2)
        for relation, size in zip(self.relations, self.sizes, strict=True):
            own = slice(at, at + size)
            D[own, own], S[own, own] = relation.reduced(here, x[own])
            at = own.stop
        return D, S

    def z(self, x: Array) -> Array:
        """(∇H, a, y, λ)."""
        return np.concatenate([self.efforts(x), x[self.n :]])
