"""A system as the analysis sees it: which states are differential, their rates, the algebraic equations, probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import checks as check
from ..differences import derivative, state_sizes
from ..dirac.graph import Graph
from ..dirac.structure import DiracStructure
from ..dirac.subspaces import RANK, echelon, null_space
from ..dirac.system import PortHamiltonian
from ..inputs import Forcing, Input
from ..linear import LinearPHDAE
from ..methods.equations import Equations
from ..phdae import PHDAE, Constant, from_linear
from ..space import Array, dense

System = PHDAE | LinearPHDAE | PortHamiltonian
PROBES = 4
"""States beside the one in question at which conditions are looked at, where they cannot be decided for all states."""
SPREAD = 0.1
"""How far from the state they lie, relative to the size of each state."""
SAME = 1e-12
"""Relative change of a matrix between probes up to which it counts as constant."""


def general(system: System) -> PHDAE:
    """Any of the systems as a :class:`flexph.PHDAE`."""
    if isinstance(system, PortHamiltonian):
        return system.phdae()
    if isinstance(system, LinearPHDAE):
        return from_linear(system)
    if not isinstance(system, PHDAE):
        raise ValueError(
            "system must be a PHDAE (of a mechanism mechanism.phdae(state)), a LinearPHDAE or a PortHamiltonian, got "
            f"{type(system).__name__}"
        )
    return system


@dataclass(frozen=True)
class SystemView:
    """A system at a state x (n,), under inputs that hold at a time [s]; x₁ = V₁ᵀx are its differential states."""

    system: PHDAE
    equations: Equations
    x: Array
    time: float

    @property
    def V1(self) -> Array:
        """Directions of the differential states, (n, r)."""
        return self.equations.split.V1

    @property
    def V2(self) -> Array:
        """Directions of the algebraic states, (n, n − r)."""
        return self.equations.split.V2

    def at(self, x: Array) -> SystemView:
        """The same at another state."""
        return SystemView(self.system, self.equations, x, self.time)

    @cached_property
    def sizes(self) -> Array:
        """What each state is moved by for differences, (n,)."""
        return state_sizes(self.x, self.system.parts.values())

    def derivative(self, function: Callable[[Array], Any], x: Array, directions: Array | None = None) -> Array:
        """Differences of a function at a state, along directions."""
        return derivative(function, x, directions=directions, sizes=self.sizes)

    @cached_property
    def probes(self) -> list[Array]:
        """The state and some near it, at random."""
        rng = np.random.default_rng(0)
        sizes = SPREAD * self.sizes
        return [self.x, *(self.x + sizes * rng.uniform(-1.0, 1.0, self.x.size) for _ in range(PROBES))]

    def rate(self, x: Array) -> Array:
        """V₁ᵀẋ (r,)."""
        return self.equations.rate(self.time, x)

    def algebraic(self, x: Array) -> Array:
        """g(x), zero on consistent states."""
        return self.equations.algebraic(self.time, x)

    def gradient(self, x: Array) -> Array:
        """∇H by the differential states, V₁ᵀEᵀz (r,)."""
        made: Array = self.V1.T @ (dense(self.system.E(x)).T @ self.system.z(x))
        return made

    def hessian(self, x: Array) -> Array:
        """∂²H/∂x₁² (r, r) by differences of the gradient."""
        made = self.derivative(self.gradient, x, self.V1)
        return 0.5 * (made + made.T)

    @cached_property
    def scales(self) -> Array:
        """A size of each differential state: what has the energy of 1 J by itself, or that of the state, (r,)."""
        stiff, sizes = np.diag(self.hessian(self.x)), np.abs(self.V1.T) @ self.sizes
        own = stiff * sizes**2 > 1e-9 * float(np.max(stiff * sizes**2, initial=0.0))
        made: Array = np.where(own, 1.0 / np.sqrt(np.where(own, stiff, 1.0)), sizes)
        return made

    @cached_property
    def resists(self) -> Array:
        """g_R (n, k): what resists somewhere, a basis of the ranges of R at the probes; of unit vectors if it can.

        R = g_R R̃ g_Rᵀ, and e_R = g_Rᵀz is zero where nothing is lost whatever the relation.
        """
        total = sum((dense(self.system.R(x)) for x in self.probes), np.zeros((self.x.size,) * 2))
        size = np.sqrt(np.abs(np.diag(total)))
        own = size > 0.0
        scale = 1.0 / np.where(own, size, 1.0)
        u, values, _ = np.linalg.svd(scale[:, None] * total * scale)
        kept = u[:, values > RANK * max(float(values.max(initial=0.0)), 1e-300)]
        if kept.shape[1] == own.sum():
            return np.eye(self.x.size)[:, own]
        return echelon(kept / scale[:, None])[0]

    @cached_property
    def is_constant(self) -> bool:
        """Whether E and J do not depend on the state: known, or the same at all probes."""
        system = self.system
        if isinstance(system.J, Constant) and isinstance(system.E, Constant):
            return True
        for function in (system.E, system.J):
            here = dense(function(self.x))
            if any(np.abs(dense(function(x)) - here).max() > SAME * np.abs(here).max() for x in self.probes[1:]):
                return False
        return True

    @cached_property
    def names(self) -> list[str]:
        """Names of the differential states."""
        return state_names(self.system, self.V1)


def view(
    system: System,
    state: Sequence[float] | Array | None = None,
    *,
    inputs: Mapping[str, Input] | None = None,
    time: float = 0.0,
) -> SystemView:
    """A system at a state, its sample by default."""
    made = general(system)
    x = check.array("state", made.sample if state is None else state, (made.size,))
    equations = Equations(made, Forcing(made.ports, inputs or {}), (time, np.inf))
    return SystemView(made, equations, x, check.number("time", time))


def structure_of(
    system: System, state: Sequence[float] | Array | None = None, *, algebraic: bool = False
) -> DiracStructure:
    """The Dirac structure of a system at a state, its sample by default.

    Of a :class:`PortHamiltonian` it is D(x). Of a :class:`flexph.PHDAE`, ``f̃ = −Eẋ = −J z − g_R f_R − B u``,
    ``e_R = g_Rᵀz``, ``y = Bᵀz`` with g_R a basis of the range of R = g_R R̃ g_Rᵀ, f_R = −R̃ e_R; algebraic rows have
    f̃ = 0 and their costates are free (multipliers), and with E = U₁E₁₁V₁ᵀ the storage has f = −V₁ᵀẋ, e = V₁ᵀ∇H
    ([survey] eq. (2.42)). Ports: the parts of the differential states, ``resistive`` and the inputs by their names;
    with ``algebraic=True`` also those of the algebraic states, at which f̃ = 0 is still to be set: the equations as they
    are.
    """
    if isinstance(system, PortHamiltonian):
        x = check.array("state", system.sample if state is None else state, (system.size,))
        return system.at(x)
    made = view(system, state)
    return _of_view(made, algebraic=algebraic)


def _of_view(made: SystemView, *, algebraic: bool) -> DiracStructure:
    system, x, s = made.system, made.x, made.equations.split
    n, J, B = x.size, dense(system.J(x)), dense(system.B(x))
    outer = np.hstack([made.resists, B])
    k = outer.shape[1]
    E11 = s.U1.T @ dense(system.E(x)) @ s.V1
    # f̃ = U₁E₁₁f_S on the rows of U₁ and zero on those of U₂; z = U₁E₁₁⁻ᵀe_S + U₂e₂
    r = E11.shape[0]
    left = np.linalg.solve(E11, s.U1.T) if r else np.zeros((0, n))
    change = np.vstack([left, s.U2.T])
    inner, outer = -change @ J @ change.T, -change @ outer
    inner = 0.5 * (inner - inner.T)
    matrix = np.block([[inner, outer], [-outer.T, np.zeros((k, k))]])
    sizes = {"storage": r, "algebraic": n - r, "resistive": made.resists.shape[1]}
    ports, at = {}, 0
    for name, size in sizes.items():
        ports[name], at = slice(at, at + size), at + size
    taken = {name: _free_name(name, ports) for name in system.ports}
    ports |= {taken[name]: slice(at + p.start, at + p.stop) for name, p in system.ports.items()}
    graph = Graph(0.5 * (matrix - matrix.T), np.arange(len(matrix)) >= n)
    D = DiracStructure.from_graph(graph, {p: q for p, q in ports.items() if q.stop > q.start})
    if n > r and algebraic:
        D = _named(D, "algebraic", state_names(made.system, made.V2))
    elif n > r:
        D = D.closed(flows=["algebraic"])
    return _named(D, "storage", made.names) if r else D


def _free_name(name: str, ports: Mapping[str, slice]) -> str:
    return f"port {name}" if name in ports else name


def _named(D: DiracStructure, port: str, names: list[str]) -> DiracStructure:
    """A port in the parts of its states, where each is one piece."""
    owners = [name.partition("[")[0] for name in names]
    parts: dict[str, int] = {}
    for i, owner in enumerate(owners):
        if owner in parts and owners[i - 1] != owner:
            return D
        parts[owner] = parts.get(owner, 0) + 1
    return D if set(parts) & (set(D.ports) - {port}) else D.split(port, parts)


def state_names(system: PHDAE, directions: Array) -> list[str]:
    """Names of states along unit directions: their parts with an index, or x₁ with one for others."""
    n = len(directions)
    labels = [f"x[{i}]" for i in range(n)]
    for part, span in system.parts.items():
        inside = range(*span.indices(n))
        for i in inside:
            labels[i] = part if len(inside) == 1 else f"{part}[{i - inside[0]}]"
    if np.any((directions != 0.0).sum(axis=0) != 1):
        return [f"x1[{i}]" for i in range(directions.shape[1])]
    return [labels[int(np.argmax(np.abs(column)))] for column in directions.T]


def codistribution(made: SystemView, x: Array) -> Array:
    """``{α : f_S = 0, e_S = α, f_R = 0, e_R = 0, u = 0}`` ([survey] eq. (4.30), (4.33)), orthonormal columns (r, k).

    Scaled: entries are those of α times ``scales``, so that units do not decide on ranks.
    """
    s, J = made.equations.split, dense(made.system.J(x))
    r = made.V1.shape[1]
    E11 = s.U1.T @ dense(made.system.E(x)) @ s.V1
    inner = s.U1 @ np.linalg.solve(E11.T, np.diag(1.0 / made.scales)) if r else np.zeros((x.size, 0))
    costates = np.hstack([inner, s.U2])  # z of (α̂, z₂)
    size = np.abs(costates).max(axis=0, initial=0.0)
    rows = np.vstack([J @ costates, made.resists.T @ costates])
    column = np.where(np.arange(rows.shape[1]) < r, 1.0, 1.0 / np.maximum(np.linalg.norm(rows, axis=0), 1e-300 + size))
    found = null_space(rows * column)[:r]
    u, values, _ = np.linalg.svd(found, full_matrices=False)
    return u[:, values > 1e-9]
