"""Evaluation of a system for the analysis: differential states, their rates, algebraic equations and probe states.

V₁ᵀx are the differential and V₂ᵀx the algebraic states of x, the rows with U₁ᵀ and U₂ᵀ the differential and algebraic
equations, as in :class:`flexph.discretisation.descriptor_split.Split`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..consistency.equations import Equations
from ..dirac.system import PortHamiltonian
from ..interconnection.feedthrough import without_feedthrough
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import State
from ..numerics import checks as check
from ..numerics.arrays import Array, dense
from ..numerics.differences import derivative, state_sizes
from ..numerics.memo import Memo, once
from ..numerics.ranks import singular_vectors
from ..numerics.subspaces import RANK, echelon
from ..switching import SwitchingPHDAE
from ..systems.inputs import Forcing, Input
from ..systems.linear import LinearPHDAE, from_linear
from ..systems.nonlinear import PHDAE, Constant

System = PHDAE | LinearPHDAE | PortHamiltonian | Mechanism | SwitchingPHDAE
"""Systems that can be analysed; of a switching system one mode at a time."""
PROBES = 4
"""Number of random states near the given one at which conditions are tested that cannot be decided for all states."""
SPREAD = 0.1
"""Distance of probes from the state, relative to the size of each state."""
SAME = 1e-12
"""Relative change of a matrix between probes up to which it counts as constant."""


def as_general_system(system: System, state: Any = None) -> PHDAE:
    """Any system as a :class:`flexph.PHDAE` without feed-through; a mechanism at the given state."""
    if isinstance(system, Mechanism):
        if not isinstance(state, State):
            raise ValueError("a mechanism needs a state, see mechanism.consistent_state(mechanism.assemble(...))")
        return system.phdae(state)
    if isinstance(system, SwitchingPHDAE):
        raise ValueError(f"a switching system has modes {', '.join(map(repr, system.modes))}: give system.system(mode)")
    if isinstance(system, PortHamiltonian):
        return system.phdae()
    if isinstance(system, LinearPHDAE):
        return from_linear(system)
    if isinstance(system, PHDAE) and system.has_feedthrough:
        return without_feedthrough(system)
    if not isinstance(system, PHDAE):
        raise ValueError(
            "system must be a PHDAE, a LinearPHDAE, a PortHamiltonian or a Mechanism with a state, got "
            f"{type(system).__name__}"
        )
    return system


@dataclass(frozen=True, eq=False)
class SystemView(Memo):
    """System at a state x (n,) with inputs held at a time [s]; x₁ = V₁ᵀx are its differential states."""

    system: PHDAE
    equations: Equations
    x: Array
    time: float

    @property
    def V1(self) -> Array:
        """Directions (n, r) of the differential states, as orthonormal columns."""
        return self.equations.split.V1

    @property
    def V2(self) -> Array:
        """Directions (n, n − r) of the algebraic states, as orthonormal columns."""
        return self.equations.split.V2

    def at(self, x: Array) -> SystemView:
        """View of the system at another state."""
        return SystemView(self.system, self.equations, x, self.time)

    @once
    def sizes(self) -> Array:
        """Magnitude of each state (n,), by which steps of finite differences are scaled."""
        return state_sizes(self.x, self.system.parts.values())

    def derivative(self, function: Callable[[Array], Any], x: Array, directions: Array | None = None) -> Array:
        """Derivative of a function at a state by fourth-order differences, in all states or along ``directions``."""
        return derivative(function, x, directions=directions, sizes=self.sizes)

    @once
    def probes(self) -> list[Array]:
        """The state and a few random states near it."""
        rng = np.random.default_rng(0)
        sizes = SPREAD * self.sizes
        return [self.x, *(self.x + sizes * rng.uniform(-1.0, 1.0, self.x.size) for _ in range(PROBES))]

    def rate(self, x: Array) -> Array:
        """Rates V₁ᵀẋ (r,) of the differential states."""
        return self.equations.rate(self.time, x)

    def algebraic(self, x: Array) -> Array:
        """Residual g(x) of the algebraic equations, zero on consistent states."""
        return self.equations.algebraic(self.time, x)

    def gradient(self, x: Array) -> Array:
        """Gradient V₁ᵀEᵀz (r,) of H in the differential states."""
        return self.V1.T @ (dense(self.system.E(x)).T @ self.system.z(x))

    def hessian(self, x: Array) -> Array:
        """Hessian ∂²H/∂x₁² (r, r): from ∂z/∂x if it is given and E is constant, otherwise by differences."""
        given, E = self.system.exact_derivatives, self.system.E
        if given is not None and isinstance(E, Constant):
            hessian = self.V1.T @ dense(E(x)).T @ dense(given.costate(x)) @ self.V1
        else:
            hessian = self.derivative(self.gradient, x, self.V1)
        return 0.5 * (hessian + hessian.T)

    def flow_slope(self, x: Array) -> Array:
        """Jacobian ``∂((J − R)z + Bu)/∂x`` (n, n): from given derivatives, otherwise by differences."""
        if self.system.exact_derivatives is not None:
            return -self.equations.jacobian(self.time, x, np.zeros(x.size), self.sizes)[0]
        return self.derivative(lambda at: self.equations.flow(self.time, at), x)

    def algebraic_slopes(self, x: Array) -> Array:
        """Jacobian ``∂g/∂x`` (n − r, n) of the algebraic equations, from given derivatives or by differences."""
        return self.equations.split.U2.T @ self.flow_slope(x)

    def algebraic_slope(self, x: Array) -> Array:
        """Jacobian ``∂g/∂x₂`` (n − r, n − r) of the algebraic equations by the algebraic states x₂ = V₂ᵀx."""
        if self.system.exact_derivatives is not None:
            return self.algebraic_slopes(x) @ self.V2
        return self.derivative(self.algebraic, x, self.V2)

    def slope_noise(self, relative: float) -> Array:
        """Errors of ∂g/∂x (n − r, n) if entries of J − R err by ``relative`` times the largest of their row."""
        assert self.system.exact_derivatives is not None
        flow = np.abs(dense(self.system.J(self.x)) - dense(self.system.R(self.x))).max(axis=1, initial=0.0)
        moved = np.abs(dense(self.system.exact_derivatives.costate(self.x))).sum(axis=0)
        return relative * np.outer(np.abs(self.equations.split.U2.T) @ flow, moved)

    @once
    def is_linear(self) -> bool:
        """True if E, J, R and B are constant and the given derivative ∂z/∂x is equal at all probes."""
        s = self.system
        if s.exact_derivatives is None or not all(isinstance(m, Constant) for m in (s.E, s.J, s.R, s.B)):
            return False
        first = dense(s.exact_derivatives.costate(self.x))
        return all(np.array_equal(dense(s.exact_derivatives.costate(x)), first) for x in self.probes[1:])

    @once
    def rate_slope(self) -> Array:
        """Jacobian ``∂(V₁ᵀẋ)/∂x`` (r, n) of a system with constant E."""
        s = self.equations.split
        return np.linalg.solve(s.U1.T @ dense(self.system.E(self.x)) @ s.V1, s.U1.T @ self.flow_slope(self.x))

    @once
    def scales(self) -> Array:
        """Scale (r,) of each differential state: its value with the energy ½ J, if all others are zero.

        The scale of a state with hardly any energy is its size.
        """
        stiff, sizes = np.diag(self.hessian(self.x)), np.abs(self.V1.T) @ self.sizes
        is_stiff = stiff * sizes**2 > 1e-9 * float(np.max(stiff * sizes**2, initial=0.0))
        return np.where(is_stiff, 1.0 / np.sqrt(np.where(is_stiff, stiff, 1.0)), sizes)

    @once
    def resistive_basis(self) -> Array:
        """Basis g_R (n, k) of the ranges of R at the probes, of unit vectors if possible.

        R = g_R R̃ g_Rᵀ, and e_R = g_Rᵀz vanishes if no energy is dissipated, whatever the relation.
        """
        states = self.probes[:1] if isinstance(self.system.R, Constant) else self.probes
        total = sum((dense(self.system.R(x)) for x in states), np.zeros((self.x.size,) * 2))
        size = np.sqrt(np.abs(np.diag(total)))
        entries = np.flatnonzero(size)
        inner = total[np.ix_(entries, entries)] / np.outer(size[entries], size[entries])
        units = np.eye(self.x.size)[:, entries]
        if np.count_nonzero(inner) == entries.size:
            return units
        kept = singular_vectors(inner, tolerance=RANK).range
        if kept.shape[1] == entries.size:
            return units
        return echelon(units @ (kept * size[entries, None]))[0]

    @once
    def is_constant(self) -> bool:
        """True if E and J do not depend on the state: declared constant, or equal at all probes."""
        system = self.system
        if isinstance(system.J, Constant) and isinstance(system.E, Constant):
            return True
        for function in (system.E, system.J):
            here = dense(function(self.x))
            if any(np.abs(dense(function(x)) - here).max() > SAME * np.abs(here).max() for x in self.probes[1:]):
                return False
        return True

    @once
    def names(self) -> list[str]:
        """Names of the differential states."""
        return state_names(self.system, self.V1)


def view(
    system: System,
    state: Sequence[float] | Array | State | None = None,
    *,
    inputs: Mapping[str, Input] | None = None,
    time: float = 0.0,
) -> SystemView:
    """View of a system at a state, by default its sample; with feed-through, inputs and outputs become states."""
    plain = as_general_system(system, state)
    given = plain.sample if state is None or isinstance(state, State) else state
    forcing = Forcing(plain.ports, inputs or {})
    x = check.array("state", with_ports(system, given, forcing.at(time)), (plain.size,))
    equations = Equations(plain, forcing, (time, np.inf))
    return SystemView(plain, equations, x, check.number("time", time))


def with_ports(system: System, state: Any, u: Array) -> Any:
    """State (x, u, y) of :func:`without_feedthrough`, from the state x of a system with feed-through and inputs u.

    States of other systems, and states that have u and y already, are returned unchanged.
    """
    if not isinstance(system, PHDAE) or not system.has_feedthrough or np.shape(state) != (system.size,):
        return state
    x = check.array("state", state, (system.size,))
    return np.concatenate([x, u, system.output(x, u)])


def state_names(system: PHDAE, directions: Array) -> list[str]:
    """Names of the states along ``directions`` (n, r): the smallest part that contains the state, with an index.

    If a direction is a combination of states, all names are ``x1`` with an index.
    """
    n = len(directions)
    labels, widths = [f"x[{i}]" for i in range(n)], [n + 1] * n
    for part, span in system.parts.items():
        inside = range(*span.indices(n))
        for i in inside:
            if len(inside) <= widths[i]:
                labels[i] = part if len(inside) == 1 else f"{part}[{i - inside[0]}]"
                widths[i] = len(inside)
    if np.any((directions != 0.0).sum(axis=0) != 1):
        return [f"x1[{i}]" for i in range(directions.shape[1])]
    return [labels[int(np.argmax(np.abs(column)))] for column in directions.T]
