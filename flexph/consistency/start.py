"""Consistent initial values of general systems of index 1 and 2, also where E(x) has a varying range or null space.

V₁ᵀx are the differential and V₂ᵀx the algebraic states of x, the rows with U₁ᵀ and U₂ᵀ the differential and algebraic
equations, as in :class:`flexph.discretisation.descriptor_split.Split`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..discretisation.descriptor_split import Split, probes, split_of
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.differences import CENTRAL, FORWARD, central, forward
from ..numerics.ranks import equilibrated, rank_of, singular_vectors
from ..systems.inputs import Forcing, Input
from ..systems.linear import LinearPHDAE, from_linear
from ..systems.nonlinear import PHDAE, ROUND_OFF
from .conditions import DEPENDENT, Conditions, Inconsistency, Undetermined, nearest_zero
from .equations import Equations, sizes, with_algebraic


class VaryingConditions:
    """Conditions ``U₂(x)ᵀf = 0`` with ``U₂(x)ᵀE(x) = 0`` near a state, f = (J − R)z + Bu.

    The equations are projected onto U₂ at a reference state x₀, ``g(x) = U₂(x₀)ᵀ P(x) f(x)`` with the projector P(x) =
    U₂U₂ᵀ, which is as smooth as E. If the null space of E is constant, the states in it are algebraic; otherwise none
    are. A rank that changes near the state raises :class:`Undetermined`.
    """

    def __init__(self, equations: Equations, time: float, x: Array) -> None:
        self.equations, self.time, self.split = equations, time, equations.split
        system = equations.system
        self.size = with_algebraic(system, x, sizes(system, x))
        self.multipliers = np.zeros(x.size, dtype=bool)  # index 2 is refused
        self.rank = self.split.V1.shape[1]
        near = probes(system, x)
        ranks = {rank_of(E) for E in near}
        if len(ranks) > 1:
            raise Undetermined(f"the rank of E(x) is {self.rank} at t = {time:.6g} s and {max(ranks)} at nearby states")
        self.has_algebraic = rank_of(np.vstack(near)) == self.rank

    def at(self, x: Array) -> Split:
        """Split of E at a state; raises Undetermined if its rank has changed."""
        split = split_of(dense(self.equations.system.E(x)))
        if split.V1.shape[1] != self.rank:
            raise Undetermined(
                f"the rank of E(x) at t = {self.time:.6g} s is {self.rank}, but {split.V1.shape[1]} at a state of the "
                "search for a consistent one"
            )
        return split

    def rate(self, x: Array) -> Array:
        """Rate ẋ (n,) at a consistent state from ``E(x)ẋ = f`` and, in the null space of E, ``dg/dt = 0``."""
        e, split = self.equations, self.at(x)
        E = split.U1.T @ dense(e.system.E(x)) @ split.V1
        rate: Array = split.V1 @ np.linalg.solve(E, split.U1.T @ e.flow(self.time, x))
        scale = float(np.max(np.abs(rate) / np.maximum(self.size, np.abs(x)), initial=0.0)) or 1.0
        moved = central(self.algebraic, x, CENTRAL / scale * rate) * scale / CENTRAL
        moved = moved + self.split.U2.T @ e.system.port_matrices(x).flow(e.input_rate(self.time))
        return rate - split.V2 @ np.linalg.solve(self._slope(x)[0], moved)

    def algebraic(self, x: Array) -> Array:
        """Algebraic equations g (n − r,)."""
        unseen = self.at(x).kernel_part(self.equations.flow(self.time, x))
        return self.split.U2.T @ unseen

    def with_algebraic(self, x: Array) -> Array:
        """State with algebraic states that solve g = 0; raises Undetermined for an index above 1."""
        if self.has_algebraic:
            scale = np.maximum(np.abs(self.split.V2.T) @ self.size, ROUND_OFF)
            x = self._solved(x, self.split.V2 * scale)
        self.refuse_higher_index(x)
        return x

    def nearest(self, x0: Array, fixed: Array) -> Array:
        """State with g = 0 near x0, with the least changes relative to the sizes of the states.

        States are unchanged where ``fixed`` (n,) is True. If the system has algebraic states, x0 is returned unchanged,
        as :meth:`with_algebraic` solves g = 0 for them.
        """
        if self.has_algebraic:
            return x0
        return self._solved(x0, np.diag(np.where(fixed, 0.0, self.size))[:, ~fixed])

    def _solved(self, x0: Array, moves: Array) -> Array:
        zero = nearest_zero(lambda y: self.algebraic(x0 + moves @ y), moves.shape[1])
        return x0 + moves @ zero

    def report(self, x: Array) -> Inconsistency:
        """Defects of all conditions at a state."""
        g, terms = self.algebraic(x), self.equations.terms(self.time, x, self.size, ROUND_OFF)
        relative = np.abs(g) / np.maximum(np.abs(self.split.U2.T) @ terms, 1e-300)
        names = [f"algebraic {k + 1}" for k in range(g.size)]
        return Inconsistency(dict(zip(names, map(float, g), strict=True)), {}, float(relative.max(initial=0.0)))

    def refuse_higher_index(self, x: Array) -> None:
        """Raise Undetermined unless the derivative of g along the null space of E is invertible."""
        slope, size = self._slope(x)
        terms = np.abs(self.split.U2.T) @ self.equations.terms(self.time, x, self.size)
        slope = np.where(np.abs(slope) * size > 1e1 * FORWARD * terms[:, None], slope, 0.0)
        if singular_vectors(equilibrated(slope)[0], tolerance=DEPENDENT).rank < len(slope):
            raise Undetermined(
                f"the index at t = {self.time:.6g} s is above 1, or equations are dependent: if E(x) is not "
                "semi-explicit, only index 1 is supported; transform(...) the system, or use "
                "method=DiscreteGradient() if its null space is constant"
            )

    def _slope(self, x: Array) -> tuple[Array, Array]:
        """Derivative (n − r, n − r) of g along the null space of E at x, and sizes (n − r,) of the states along it."""
        null = self.at(x).V2
        size = np.abs(null.T) @ np.maximum(self.size, np.abs(x))
        return forward(self.algebraic, x, self.algebraic(x), FORWARD * size, directions=null), size


@checked
def inconsistency(
    system: PHDAE | LinearPHDAE,
    state: Sequence[float] | Array,
    *,
    time: float = 0.0,
    inputs: Mapping[str, Input] | None = None,
) -> Inconsistency:
    """Defects of the algebraic equations and their hidden conditions at a state, a time and under inputs.

    Equations that the system does not contain (positions behind constraints on velocities) are not checked. Inputs in
    algebraic equations are differentiated.

    Parameters
    ----------
    system : PHDAE or LinearPHDAE
        The system.
    state : array_like
        State (n,).
    time : float
        Time [s].
    inputs : mapping, optional
        Inputs by port: values or functions of time; zero unless given.

    Returns
    -------
    Inconsistency
        Defects by equation; false if the state is consistent.

    Raises
    ------
    ArithmeticError
        If the rank of E changes near the state.
    """
    conditions, x = _conditions(system, state, time, inputs)
    return conditions.report(x)


@checked
def consistent(
    system: PHDAE | LinearPHDAE,
    state: Sequence[float] | Array,
    *,
    time: float = 0.0,
    inputs: Mapping[str, Input] | None = None,
    keep: Sequence[str] = (),
) -> Array:
    """Nearest consistent state (n,): algebraic equations and hidden conditions of index 2 hold to round-off.

    Algebraic states are free. Differential states change least in the norm ``Σ ((x − x₀)/size)²`` (Gauss-Newton). The
    size of a state with energy is the value with the energy |H|, so that velocities change least in kinetic energy; the
    size of another state is the largest entry of its part. If the null space of E varies, no state is algebraic, and
    all change least.

    Parameters
    ----------
    system : PHDAE or LinearPHDAE
        The system.
    state : array_like
        State (n,).
    time : float
        Time [s].
    inputs : mapping, optional
        Inputs by port: values or functions of time; zero unless given.
    keep : sequence of str
        Parts that do not change.

    Returns
    -------
    array
        Consistent state (n,).

    Raises
    ------
    ValueError
        For an unknown part.
    ArithmeticError
        If no consistent state is found; for an index above 2, or above 1 if E is not semi-explicit.
    """
    conditions, x = _conditions(system, state, time, inputs)
    parts = conditions.equations.system.parts
    fixed = np.zeros(x.size, dtype=bool)
    for name in keep:
        fixed[check.lookup("part", name, parts)] = True
    x = conditions.with_algebraic(conditions.nearest(x, fixed))
    left = conditions.report(x)
    if left:
        raise ArithmeticError(f"no consistent state was found near the given one: {left}")
    return x


def start_of(equations: Equations, time: float, x: Array) -> tuple[Array, Conditions | VaryingConditions]:
    """State with consistent algebraic states, and its consistency conditions.

    Raises ValueError if the differential states are inconsistent, ArithmeticError for an index above 2 (above 1 if E is
    not semi-explicit).
    """
    conditions = _conditions_at(equations, time, x)
    x = conditions.with_algebraic(x)
    refuse_inconsistent(conditions, x)
    return x, conditions


def refuse_inconsistent(conditions: Conditions | VaryingConditions, x: Array) -> None:
    """Raise ValueError, naming the defects, for a start that violates the algebraic equations."""
    left = conditions.report(x)
    if left:
        raise ValueError(
            f"inconsistent start at t = {conditions.time} s: {left}; see flexph.consistency.consistent(system, state)"
        )


def _conditions(
    system: PHDAE | LinearPHDAE, state: Sequence[float] | Array, time: float, inputs: Mapping[str, Input] | None
) -> tuple[Conditions | VaryingConditions, Array]:
    system = from_linear(system) if isinstance(system, LinearPHDAE) else system
    x = np.array(check.array("state", state, (system.size,)))
    equations = Equations(system, Forcing(system.ports, inputs or {}), (time, np.inf), at=x)
    return _conditions_at(equations, check.number("time", time), x), x


def _conditions_at(equations: Equations, time: float, x: Array) -> Conditions | VaryingConditions:
    return VaryingConditions(equations, time, x) if equations.varies else Conditions(equations, time, x)
