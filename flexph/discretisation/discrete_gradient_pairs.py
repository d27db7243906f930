"""Discrete gradient pairs for general systems ([dg] eq. (18)-(24)).

A bar denotes a mean over a step. U₁, U₂, V₁ and V₂ are the bases of :class:`.descriptor_split.Split`, which separate
differential and algebraic equations and states.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array, dense
from ..numerics.gauss_tableau import gauss_points
from ..systems.discrete_gradients import MEAN_POINTS
from ..systems.nonlinear import PHDAE, Constant
from ..systems.ports import PortMatrices
from .descriptor_split import CostateMap, Split
from .discretised import Advance, CachedFunction, Discretised, Means, ports_over
from .newton import Newton, StepEquations
from .pair_equations import (
    CONSTANT,
    GIVEN,
    GONZALEZ,
    INVARIANTS,
    MEAN_VALUE,
    MIDPOINT,
    OF_STATE,
    OF_STEP,
    Matrix,
    Pair,
    StartData,
    Step,
    Terms,
    begin,
    equation,
    exchanged,
    shortened_step,
    slopes,
)

KINDS = {"midpoint": MIDPOINT, "gonzalez": GONZALEZ, "mean_value": MEAN_VALUE, "invariants": INVARIANTS}
NO_INVARIANTS = "DiscreteGradient('invariants') needs a system with invariants=, see flexph.systems.Invariants"
OF_INVARIANTS = ("values", "jacobian", "energy", "gradient")
DERIVATIVES = ("costate", "descriptor", "structure", "inputs")


class History(NamedTuple):
    """Data of the last step for the next one: energy account, exchanged energy and rate.

    ``account`` is H at the first state plus work minus dissipation of all steps, ``exchanged`` is Σ|z̄ᵢ(Ē Δx)ᵢ| of the
    last step, ``rate`` is Δx/h of the last step.
    """

    account: float
    exchanged: float
    rate: Array


class GradientPair:
    """``Ē Δx = h (J̄ − R̄) z̄ + h (B̄ − P̄)u`` with ``Ē₁₁ᵀ z̄₁ = ∇̄H`` on the differential states ([dg] eq. (20)-(21)).

    Matrices are evaluated in the middle of the step unless the system has ``means``. The algebraic states are stage
    values: they belong to the middle of the step, where they are of second order, and z̄₂ is evaluated at them. With
    ``midpoint`` everything is evaluated in the middle, z̄ included: a discrete gradient for quadratic H and constant E.
    The equations are those of :mod:`flexph.discretisation.pair_equations`.
    """

    def __init__(self, system: PHDAE, kind: str | Any, split: Split) -> None:
        self.system, self.split = system, split
        means = {} if kind == "midpoint" else system.means
        self.pair = pair_of(system, kind, self.split)
        self._ports, self.newton = ports_over(system, means), Newton()

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: History | None = None) -> Advance:
        """Take a step of length h [s] from x₀ with constant inputs u.

        ``size`` (n,) are the sizes of the states, to which corrections are compared; ``history`` are data of the last
        step. Raises StepFailed.
        """
        energy = float(self.pair.H(x0))
        start_data = StartData(x0, energy, *(history or History(energy, 0.0, np.zeros(x0.size))))
        step, guess = begin(self.pair, start_data, u, h)
        derivative = None if self.system.derivatives is None else self.derivative(start_data, u, h)
        equations = StepEquations(lambda x1, part: self.equation(shortened_step(step, part), x1), derivative)
        solved = self.newton.step(equations, x0, guess, size)
        advance = self._discretised(step, solved.x, solved.terms).advance(self.system, solved, u, h)
        reached = start_data.account + h * float(advance.output @ u) - advance.dissipated
        history = History(reached, float(exchanged(solved.terms)), (solved.x - x0) / h)
        return advance._replace(energy=self.pair.H(solved.x), history=history)

    def derivative(self, start_data: StartData, u: Array, h: float) -> Callable[[Array, float], Array]:
        """Function (x₁, part) ↦ derivative (n, n) of the equation of a step with respect to its end x₁.

        The step begins at ``start_data`` and is shortened to the share ``part`` of its length h. It needs derivatives
        of the system.
        """
        step = begin(self.pair, start_data, u, h)[0]
        return lambda x1, part: slopes(shortened_step(step, part), x1)

    def over_step(self, x0: Array, x1: Array) -> Discretised:
        """Discretisation over a step from x₀ to x₁; (Ē, z̄) is the discrete gradient pair of [dg] eq. (30)."""
        energy, none = float(self.pair.H(x0)), np.zeros(self.system.inputs_size)
        step = begin(self.pair, StartData(x0, energy, energy, 0.0, 0.0 * x0), none, 1.0)[0]
        return self._discretised(step, x1, self.equation(step, x1)[1])

    def equation(self, step: Step, x1: Array) -> tuple[Array, Terms]:
        """Residual (n,) of the equation of a step with the end x₁, and the terms that it consists of."""
        return equation(step, x1)

    def _discretised(self, step: Step, x1: Array, terms: Terms) -> Discretised:
        feeds = self.system.has_feedthrough
        ports = self._ports(step.x0, x1, self._middle(step.x0, x1)) if feeds else PortMatrices(terms.B)
        return Discretised(terms.E, terms.J, terms.R, ports, terms.z, terms.moved)

    def _middle(self, x0: Array, x1: Array) -> Array:
        """State at which matrices are evaluated if the system has no mean for them."""
        return self.split.middle(x0, x1)


def _costate_maps(split: Split, E: Array | None) -> Any:
    """Function from E to its map U₁(U₁ᵀEV₁)⁻ᵀV₁ᵀ from gradients to costates.

    The argument ``E`` is the value at the sample, which determines the scaling. It is None for a constant E, for which
    the result is None.
    """
    if E is None:
        return None
    make_map = partial(split.costate_map, scaling=split.scaling(E))
    latest = CachedFunction(make_map)  # the derivative of a step needs the map of the same array again

    def costates_of(E: Any) -> CostateMap:
        matrix = dense(E)
        result: CostateMap = (
            make_map(matrix) if matrix.flags.writeable else latest(matrix)
        )  # read-only arrays never change
        return result

    return costates_of


def pair_of(system: PHDAE, kind: str | Any, split: Split) -> Pair:
    """Functions and constants of a discrete gradient pair for a system.

    ``kind`` is the name of a method, or a discrete gradient as a function of (x₀, x₁). Raises ValueError if the method
    needs invariants and the system has none.
    """
    means = {} if kind == "midpoint" else system.means
    number = GIVEN if callable(kind) else KINDS[kind]
    if number == INVARIANTS and system.invariants is None:
        raise ValueError(NO_INVARIANTS)
    invariants = system.invariants if number == INVARIANTS else None
    functions: dict[str, Any] = {name: getattr(invariants, name, None) for name in OF_INVARIANTS}
    given: dict[str, Any] = {name: getattr(system.derivatives, name, None) for name in DERIVATIVES}
    constant, n = isinstance(system.E, Constant) and "E" not in means, system.size
    diagonal, nodes = split.is_selection, gauss_points(MEAN_POINTS)
    return Pair(
        **{name: _matrix(system, name, split, own=means) for name in "EJRB"},
        z=system.z,
        H=CachedFunction(system.H),  # iterations evaluate it twice at one array
        discrete=kind if number == GIVEN else None,
        **functions,
        **given,
        costates_of=_costate_maps(split, None if constant else dense(system.E(system.sample))),
        states=_projector(split.onto_states, diagonal),
        costates=_projector(split.onto_costates, diagonal),
        to_costates=split.to_costates(dense(system.E(system.sample))) if constant else np.zeros((n, 0)),
        nodes=nodes[0],
        weights=nodes[1],
        given=np.array([function is not None for function in given.values()], dtype=np.int64),
        kind=number,
        in_middle=number == GONZALEZ and "E" not in means,
        diagonal=diagonal,
    )


def _projector(projector: Array, diagonal: bool) -> Array:
    """Projector (n, n) as an array with contiguous rows; if it is ``diagonal``, only its diagonal (1, n)."""
    return np.array(np.diag(projector)[None] if diagonal else projector, order="C")


def _matrix(system: PHDAE, name: str, split: Split, *, own: Means) -> Matrix:
    """Matrix E, J, R or B of a system by its name, constant or as a function, for the equations of a pair.

    ``own`` are the means of the system, which have priority. With feed-through B stands for B − P.
    """
    function: Any = getattr(system, name)
    if name == "B" and system.has_feedthrough:
        ports = ports_over(system, own)
        return Matrix(OF_STEP, None, None, lambda x0, x1: ports(x0, x1, split.middle(x0, x1)).of_inputs)
    if name in own:
        return Matrix(OF_STEP, None, function, own[name])
    if isinstance(function, Constant):
        return Matrix(CONSTANT, function.matrix, None, None)
    return Matrix(OF_STATE, None, function, None)
