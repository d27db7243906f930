"""Equations of a :class:`flexph.PHDAE` from the graph of a Dirac structure.

:meth:`PortHamiltonian.phdae` uses :class:`DirectEquations` where they hold, otherwise :class:`GeneralEquations`.

f are flows and e efforts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arrays import Array, block_diag
from ..numerics.step_failed import StepFailed
from .forms import ConstrainedForm, partition
from .graph import Graph
from .resistance import Resistance
from .storage import LagrangianStorage

LARGEST_GROWTH = 20.0
"""Growth of the largest entry of b, relative to the sample, up to which the multipliers chosen at the sample are valid;
b maps multipliers to rates."""


@dataclass(frozen=True)
class Layout:
    """Names of the ports of a system by kind: storage, resistive, external.

    Vectors of all ports are in this order. ``spans`` are the slices of the ports by name, ``relations`` the
    resistive relations by the name of their port.
    """

    storage: tuple[str, ...]
    resistive: tuple[str, ...]
    external: tuple[str, ...]
    spans: dict[str, slice]
    relations: dict[str, Resistance]

    def size(self, names: tuple[str, ...]) -> int:
        """Number of entries of the ports ``names`` together."""
        return sum(spans.width(self.spans[name]) for name in names)

    def slices(self, names: tuple[str, ...], start: int = 0) -> dict[str, slice]:
        """Consecutive slices, from ``start`` on, for the ports ``names``, each with the size of its port."""
        return spans.consecutive_of(self.spans, names, start)

    @property
    def constant(self) -> bool:
        """True if the matrices of all relations are constant."""
        return all(r.is_constant for r in self.relations.values())

    @property
    def admits(self) -> bool:
        """True if all resistive relations admit every effort: f is a function of e."""
        return all(r.admits_efforts for r in self.relations.values())

    @property
    def reciprocal(self) -> bool:
        """True if no relation has a skew part."""
        return all(r.is_reciprocal for r in self.relations.values())

    @property
    def flow_controlled(self) -> Array:
        """Mask of the entries of flow-controlled relations, whose flows and efforts are exchanged."""
        controlled = np.zeros(self.size(tuple(self.spans)), dtype=bool)
        slices = self.slices(self.resistive, self.size(self.storage))
        for name, relation in self.relations.items():
            controlled[slices[name]] = relation.controlled == "flow"
        return controlled


def of_last(function: Callable[[Array], Any]) -> Callable[[Array], Any]:
    """Add a cache of the last value to a function of an array, as J, R and B are evaluated at the same state."""
    last = lru_cache(maxsize=1)(lambda state: function(np.frombuffer(state)))
    return lambda x: last(np.asarray(x, dtype=float).tobytes())


def _ended(x: Array) -> StepFailed:
    """Error at a state where the constraints no longer determine the multipliers that were chosen at the sample."""
    return StepFailed(
        f"the multipliers chosen at the sample are not determined near x = {check.shown(x)}: their "
        "constraints have rotated too far; restart from the last state, with a PortHamiltonian that has it as sample",
        0,
        0.0,
    )


class _Equations:
    """Base class of :class:`DirectEquations` and :class:`GeneralEquations`: ports, storage and graph of a system.

    ``graph`` is a function of the energy variables x = X(ξ), ``start`` its value at the state ``sample`` ξ. In both
    forms, flows and efforts of flow-controlled relations are exchanged.
    """

    def __init__(
        self, names: Layout, graph: Callable[[Array], Graph], storage: LagrangianStorage, sample: Array
    ) -> None:
        self.names, self.storage = names, storage
        swapped = names.flow_controlled
        self.n, self.m_r, self.m = (names.size(ports) for ports in (names.storage, names.resistive, names.external))
        self.ports = names.slices(names.external)
        self.relations = [names.relations[name] for name in names.resistive]

        def exchanged(x: Array) -> Graph:
            given = graph(x)
            return Graph(given.J.copy(), given.flow_inputs ^ swapped)

        self.graph = exchanged
        self.start = exchanged(storage.states(sample))

    def energy_variables(self, x: Array) -> Array:
        """Energy variables X(ξ) of states (ξ, ...)."""
        return self.storage.states(x[: self.n])

    def efforts(self, x: Array) -> Array:
        """Efforts ∂H/∂x = ε(ξ) of states (ξ, ...)."""
        return self.storage.efforts(x[: self.n])


class DirectEquations(_Equations):
    """Equations ``ẋ = (J − g_R (R + S) g_Rᵀ) ∇H + g u + b λ, 0 = −bᵀ∇H`` with states (x, λ), f_R = −(R + S) e_R.

    J, g_R, g and b (n, k) are those of the :class:`ConstrainedForm`. These equations hold for systems whose resistive
    and external efforts e_R and y depend only on the efforts ∇H of the storage.
    """

    def __init__(
        self, names: Layout, graph: Callable[[Array], Graph], storage: LagrangianStorage, sample: Array
    ) -> None:
        super().__init__(names, graph, storage, sample)
        self.partition = partition(self.start, self.n)
        self.largest = np.inf
        if self.partition.direct:
            self.largest = float(np.abs(self.partition.form(self.start, self.m_r).b).max(initial=1.0))
        self.form: Callable[[Array], ConstrainedForm] = of_last(self._form)
        self.resistance: Callable[[Array], tuple[Array, Array]] = of_last(self._resistance)
        self.multipliers = int(self.partition.flow_inputs[: self.n].sum())
        self.size = self.n + self.multipliers
        self.parts = names.slices(names.storage)
        if self.multipliers:
            self.parts["multipliers"] = slice(self.n, self.size)

    def _form(self, x: Array) -> ConstrainedForm:
        """Constrained form at a state; raises StepFailed where its multipliers are no longer determined."""
        try:
            form = self.partition.form(self.graph(self.energy_variables(x)), self.m_r)
        except ValueError as error:
            raise _ended(x) from error
        if np.abs(form.b).max(initial=0.0) > LARGEST_GROWTH * self.largest:
            raise _ended(x)
        return form

    def J(self, x: Array) -> Array:
        """Matrix [[J − g_R S g_Rᵀ, b], [−bᵀ, 0]]."""
        form, k = self.form(x), self.multipliers
        J = np.block([[form.J, form.b], [-form.b.T, np.zeros((k, k))]])
        if not self.names.reciprocal:
            J[: self.n, : self.n] -= self.resistance(x)[1]
        return J

    def B(self, x: Array) -> Array:
        """Input matrix [g; 0] (n + k, m)."""
        return np.vstack([self.form(x).inputs, np.zeros((self.multipliers, self.m))])

    def R(self, x: Array) -> Array:
        """Matrix diag(g_R R g_Rᵀ, 0) (n + k, n + k)."""
        R = np.zeros((self.size, self.size))
        R[: self.n, : self.n] = self.resistance(x)[0]
        return R

    def _resistance(self, x: Array) -> tuple[Array, Array]:
        """Matrices g_R R g_Rᵀ and g_R S g_Rᵀ (n, n)."""
        g = self.form(x).resistive
        here, efforts = self.energy_variables(x), g.T @ self.efforts(x)
        R, S = np.zeros((self.m_r,) * 2), np.zeros((self.m_r,) * 2)
        for relation, own in zip(self.relations, self.names.slices(self.names.resistive).values(), strict=True):
            R[own, own], S[own, own] = relation.matrices(here, efforts[own])
        R, S = g @ R @ g.T, g @ S @ g.T
        return 0.5 * (R + R.T), 0.5 * (S - S.T)

    def z(self, x: Array) -> Array:
        """Costate (∇H, λ)."""
        return np.concatenate([self.efforts(x), x[self.n :]])


class GeneralEquations(_Equations):
    """Equations with states (x, a, y, λ), e_R = T a: the constrained form ``f = J e + G λ, Gᵀe = 0`` of all ports.

        ẋ = −J_S e − G_S λ,  0 = −Tᵀ(J_R e + G_R λ) − (D + S) a,  0 = −J_C e − G_C λ + u,  0 = Gᵀe

    Subscripts S, R and C denote the rows of storage, resistive and external ports. a are coordinates of the efforts of
    resistive ports, with Tᵀf_R = −(D + S) a and a skew S (:meth:`Resistance.reduced`); y are the efforts of external
    ports.
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
        """Slices of the states by name."""
        resistive = dict(zip(self.names.resistive, self.sizes, strict=True))
        parts = self.names.slices(self.names.storage) | spans.consecutive(resistive, self.n)
        parts |= self.names.slices(self.names.external, self.n + self.k_r)
        if self.multipliers:
            parts["multipliers"] = slice(self.size - self.multipliers, self.size)
        return parts

    def _effort_blocks(self, here: Array) -> Array:
        """Block-diagonal matrix V of the efforts (e_S, e_R, e_C) = V (∇H, a, y), at the energy variables ``here``."""
        return block_diag(np.eye(self.n), *(r.admitted(here) for r in self.relations), np.eye(self.m))

    def J(self, x: Array) -> Array:
        """Matrix −[[VᵀJV, VᵀG], [−GᵀV, 0]] with e = V (∇H, a, y), minus S in the rows of a."""
        here = self.energy_variables(x)
        graph = self.graph(here)
        free = self.flows
        try:
            J = graph.exchanged(np.flatnonzero(graph.flow_inputs != free)).J
        except ValueError as error:
            raise _ended(x) from error
        inner = np.where(free[:, None] | free[None, :], 0.0, J)
        G = J[:, free].copy()
        G[free] = np.eye(G.shape[1])
        V = self._effort_blocks(here)
        whole = -np.block([[V.T @ inner @ V, V.T @ G], [-G.T @ V, np.zeros((G.shape[1],) * 2)]])
        return whole if self.names.reciprocal else whole - self.resistance(x)[1]

    def B(self, x: Array) -> Array:
        """Matrix with the identity in the rows of y."""
        return np.eye(self.size)[:, self.n + self.k_r : self.n + self.k_r + self.m]

    def R(self, x: Array) -> Array:
        """Matrix with D in the rows and columns of a, otherwise zero."""
        return self.resistance(x)[0].copy()

    def _resistance(self, x: Array) -> tuple[Array, Array]:
        """Matrices of the size of the state with the D, and with the S, of all resistive relations.

        The diagonal block of each a is from its relation; all other entries are zero.
        """
        here, at = self.energy_variables(x), self.n
        D, S = np.zeros((self.size,) * 2), np.zeros((self.size,) * 2)
        for relation, size in zip(self.relations, self.sizes, strict=True):
            own = slice(at, at + size)
            D[own, own], S[own, own] = relation.reduced(here, x[own])
            at = own.stop
        return D, S

    def z(self, x: Array) -> Array:
        """Costate (∇H, a, y, λ)."""
        return np.concatenate([self.efforts(x), x[self.n :]])
