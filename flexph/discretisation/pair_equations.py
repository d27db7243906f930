"""Equations of discrete gradient pairs on arrays.

A bar denotes a mean over a step. U₁, U₂, V₁ and V₂ are the bases of :class:`.descriptor_split.Split`, which separate
differential and algebraic equations and states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array, dense
from ..systems.discrete_gradients import correction, gonzalez

CONSTANT, OF_STATE, OF_STEP = 0, 1, 2
"""Origins of a :class:`Matrix`: constant, a function of the state, or a function of both ends of a step."""
MIDPOINT, GONZALEZ, MEAN_VALUE, INVARIANTS, GIVEN = 0, 1, 2, 3, 4
"""Kinds of discrete gradients, from which costates follow; GIVEN is a function of (x₀, x₁) of the user."""
FED_BACK = 1e-9
"""Difference between H and its account, relative to the exchanged energy of the last step, up to which it is round-off
and is compensated in the next step."""


class Matrix(NamedTuple):
    """Matrix of a system with its ``origin``: constant, ``of_state`` x, or ``of_step`` (x₀, x₁)."""

    origin: int
    constant: Any
    of_state: Any
    of_step: Any


class Pair(NamedTuple):
    """Functions and constants of a system for steps by a discrete gradient pair.

    Functions that a system lacks are never called. B is B − P with feed-through. ``states`` and ``costates`` are the
    projectors V₁V₁ᵀ and U₂U₂ᵀ of the split of E, or their diagonals (1, n) if ``diagonal``. ``to_costates`` is
    U₁(U₁ᵀEV₁)⁻ᵀV₁ᵀ of a constant E, ``costates_of`` computes it from E. ``nodes`` and ``weights`` are the quadrature of
    the mean value gradient. With ``in_middle``, Ēᵀz(m) is the gradient in the middle. ``given`` (4,) flags available
    derivatives: of costate, descriptor, structure, inputs.
    """

    E: Matrix
    J: Matrix
    R: Matrix
    B: Matrix
    z: Any
    H: Any
    discrete: Any
    values: Any
    jacobian: Any
    energy: Any
    gradient: Any
    costate: Any
    descriptor: Any
    structure: Any
    inputs: Any
    costates_of: Any
    states: Array
    costates: Array
    to_costates: Array
    nodes: Array
    weights: Array
    given: Array
    kind: int
    in_middle: bool
    diagonal: bool


class Step(NamedTuple):
    """Step of a pair: its start x₀, inputs u, length h [s], and the data of H at its start.

    ``before`` is the value that is taken as H(x₀), see :func:`begin`; ``first`` are the values of invariants at x₀.
    """

    pair: Pair
    x0: Array
    u: Array
    h: float
    before: float
    first: Array


class Terms(NamedTuple):
    """Terms of the equation of a step: the means Ē, J̄, R̄, B̄ and z̄, and products of them.

    ``step`` is the differential part of Δx, ``moved`` is ĒΔx, ``lost`` is R̄z̄.
    """

    E: Any
    J: Any
    R: Any
    B: Any
    z: Array
    step: Array
    moved: Array
    lost: Array


def at(matrix: Matrix, x: Array) -> Any:
    """Value of a matrix at a state x."""
    return matrix.constant if matrix.origin == CONSTANT else matrix.of_state(x)


def over_step(matrix: Matrix, x0: Array, x1: Array, middle: Array) -> Any:
    """Discretised matrix: constant, the user's mean over the step, or its value in the middle."""
    return matrix.of_step(x0, x1) if matrix.origin == OF_STEP else at(matrix, middle)


def part(projector: Array, x: Array, diagonal: bool) -> Array:
    """Projection of a state or costate (n,) by a projector (n, n), or by its diagonal (1, n) if ``diagonal``."""
    return projector[0] * x if diagonal else projector @ x


def middle_derivative(pair: Pair, matrix: Array) -> Array:
    """Derivative with respect to the end x₁ of a step, from the derivative ``matrix`` with respect to its middle.

    The middle is x₁ − ½V₁V₁ᵀ(x₁ − x₀).
    """
    return matrix * (1.0 - 0.5 * pair.states[0]) if pair.diagonal else matrix - 0.5 * (matrix @ pair.states)


def to_costates(pair: Pair, E: Any) -> Array:
    """Matrix ``U₁(U₁ᵀEV₁)⁻ᵀV₁ᵀ``, which maps gradients to costates, for a value of E over the step."""
    return pair.to_costates if pair.E.origin == CONSTANT else pair.costates_of(E)


def slope(pair: Pair, x: Array) -> Array:
    """Gradient ∇H = Eᵀz."""
    return at(pair.E, x).T @ pair.z(x)


def gradient(given: Step, x1: Array, step: Array) -> Array:
    """Discrete gradient ∇̄H(x₀, x₁) (n,) of the kind of the pair; ``step`` is the differential part of x₁ − x₀."""
    pair = given.pair
    if pair.kind == GIVEN:
        return pair.discrete(given.x0, x1)
    if pair.kind == INVARIANTS:
        last = pair.values(x1)
        mean = pair.gradient(0.5 * (given.first + last))
        costate = gonzalez(mean, last - given.first, given.before, pair.energy(last))
        return pair.jacobian(0.5 * (given.x0 + x1)).T @ costate
    if pair.kind == GONZALEZ:
        mean = slope(pair, x1 - 0.5 * step)
    else:
        mean = np.zeros(x1.size)
        for k in range(pair.nodes.size):
            mean = mean + pair.weights[k] * slope(pair, x1 + (pair.nodes[k] - 1.0) * step)
    # corrects the mean if H is no polynomial that the points integrate exactly
    return gonzalez(mean, step, given.before, pair.H(x1))


class StartData(NamedTuple):
    """Start of a step: x₀, H(x₀), H summed from work and dissipation, and data of the last step.

    The data are the exchanged energy Σ|z̄ᵢ(Ē Δx)ᵢ| of the last step and its rate (n,).
    """

    x: Array
    energy: float
    account: float
    exchanged: float
    rate: Array


def begin(pair: Pair, start_data: StartData, u: Array, h: float) -> tuple[Step, Array]:
    """Step with its data, and a guess of its end, extrapolated with the rate of the last step.

    As states are rounded, H(x₀) differs from the sum of work and dissipation by round-off. If the difference is that
    small, the sum replaces H(x₀), so that the errors of steps do not accumulate in long runs.
    """
    rounded = abs(start_data.account - start_data.energy) <= FED_BACK * start_data.exchanged
    first = pair.values(start_data.x) if pair.kind == INVARIANTS else np.empty(0)
    step = Step(pair, start_data.x, u, h, start_data.account if rounded else start_data.energy, first)
    return step, start_data.x + h * part(pair.states, start_data.rate, pair.diagonal)


def shortened_step(step: Step, part: float) -> Step:
    """Copy of a step whose length is multiplied by ``part``."""
    return step if part == 1.0 else step._replace(h=part * step.h)


def exchanged(terms: Terms) -> float:
    """Exchanged energy Σ|z̄ᵢ(Ē Δx)ᵢ|."""
    return float(np.abs(terms.z) @ np.abs(terms.moved))


def equation(given: Step, x1: Array) -> tuple[Array, Terms]:
    """Residual ``Ē Δx − h ((J̄ − R̄) z̄ + B̄ u)`` and its terms."""
    pair, x0 = given.pair, given.x0
    step = part(pair.states, x1 - x0, pair.diagonal)
    middle = x1 - 0.5 * step
    E, J = over_step(pair.E, x0, x1, middle), over_step(pair.J, x0, x1, middle)
    R, B = over_step(pair.R, x0, x1, middle), over_step(pair.B, x0, x1, middle)
    moved, costate = E @ step, pair.z(middle)
    if pair.in_middle:  # z̄₁ = Ē₁₁⁻ᵀ∇̄H where ∇H(m) = Ēᵀz(m)
        ratio = correction(costate @ moved, step, given.before, pair.H(x1))
        if ratio != 0.0:
            costate = costate + to_costates(pair, E) @ (ratio * step)
    elif pair.kind != MIDPOINT:
        unseen = part(pair.costates, costate, pair.diagonal)
        costate = to_costates(pair, E) @ gradient(given, x1, step) + unseen
    lost = R @ costate
    flow = J @ costate - lost
    if given.u.size:
        flow = flow + B @ given.u
    return moved - given.h * flow, Terms(E, J, R, B, costate, step, moved, lost)


def slopes(given: Step, x1: Array) -> Array:
    """Derivative (n, n) of the residual of a step with respect to its end x₁, for systems with derivatives.

    With ``means``, another gradient than Gonzalez', or a varying E, it is approximated by derivatives in the middle of
    the step, to the order of the step.
    """
    pair, h = given.pair, given.h
    step = part(pair.states, x1 - given.x0, pair.diagonal)
    middle = x1 - 0.5 * step
    E, J, R = dense(at(pair.E, middle)), dense(at(pair.J, middle)), dense(at(pair.R, middle))
    flow, z = J - R, pair.z(middle)
    of_costate = middle_derivative(pair, dense(pair.costate(middle)))
    of_moved = middle_derivative(pair, dense(pair.descriptor(middle, step))) if pair.given[1] else np.zeros(E.shape)
    if pair.kind == GONZALEZ:
        moved = E @ step
        ratio = correction(z @ moved, step, given.before, pair.H(x1))
        if ratio != 0.0:  # z̄ = z(m) + ratio Ē₁₁⁻ᵀΔx
            of_ratio = (slope(pair, x1) - moved @ of_costate - z @ (E + of_moved) - 2.0 * ratio * step) / (step @ step)
            inverse = dense(to_costates(pair, E))
            of_costate = of_costate + (inverse @ step).reshape(-1, 1) * of_ratio + ratio * inverse
    matrix = E + of_moved - h * (flow @ of_costate)
    if pair.given[2]:
        matrix -= h * middle_derivative(pair, dense(pair.structure(middle, z)))
    if pair.given[3] and np.any(given.u):
        matrix -= h * middle_derivative(pair, dense(pair.inputs(middle, given.u)))
    return matrix
