"""One step of the exact scheme with all that goes into its rows: the one function that does the work of a run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.rolling import state_rates
from ...kernels.state import Configuration, Derived, constraint_sums, derive_at, node_velocities, product_changes
from ...kernels.values import Means, Solve, Step
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.consistency import Checked
from ...mechanisms.model.state import flat
from ...numerics.arrays import Array
from .newton import Converged, solve_step

Rates = tuple[Array, Array]
"""Time derivatives of the term coefficients and row offsets at the end of a step."""


Place = tuple[Configuration, Derived]
"""The arrays of a state, and what follows from them."""


class EvaluatedState:
    """A flat state x between steps, its arrays c, what follows from them, d, and its velocity defect G v − ∂g/∂t, (g,).

    The end of a compiled block gives its ``place`` (c, d) as a function, as its arrays are seldom asked for.
    """

    def __init__(self, x: Array, place: Place | Callable[[], Place], defect: Array) -> None:
        self.x, self.defect, self._place = x, defect, place

    @cached_property
    def place(self) -> Place:
        """(c, d)."""
        return self._place if isinstance(self._place, tuple) else self._place()

    @property
    def c(self) -> Configuration:
        """The arrays."""
        return self.place[0]

    @property
    def d(self) -> Derived:
        """What follows from the arrays."""
        return self.place[1]


class SolvedStep(NamedTuple):
    """A solved step and what is recorded of it.

    ``means`` with the multipliers of all constraints; ``energy`` and ``flows`` in the order of the accounts; ``gap``
    the constraint residuals at the end, of nonholonomic rows those over the step; ``alternating`` what the change of
    the velocity defect adds to the multipliers; ``solve`` the last Jacobian, factored.
    """

    means: Means
    end: EvaluatedState
    energy: Array
    flows: Array
    gap: Array
    alternating: Array
    iterations: int
    solve: Solve


def solve_and_account(
    accounts: Accounts,
    start: EvaluatedState,
    step: Step,
    ahead: tuple[Rates, Means],
    *,
    solve: Callable[[Arrays, Step, Means], Converged] = solve_step,
) -> SolvedStep:
    """Solve the step (of either sign) from ``start`` and record it; raises StepFailed.

    ``ahead`` are the rates of what time prescribes at its end, and the guess of the means.
    """
    a, prescribed, (rates, guess) = accounts.arrays, step.schedule, ahead
    solution = solve(a, step, guess)
    means = solution.means._replace(lam=prescribed.multipliers(solution.means.lam))
    c, trial = solution.trial.end, solution.trial
    # to the bits of a run continued from x: momenta and inertia products of the trial depend on the start of the step
    d = derive_at(a, c, (trial.arm, trial.vector, trial.product))
    defect = velocity_defect(a, (c, d), prescribed.coefficient_1, rates)
    return SolvedStep(
        means=means,
        end=EvaluatedState(flat(accounts.mechanism, c), (c, d), defect),
        energy=accounts.energies(c, d),
        flows=accounts.step(step, means, trial),
        gap=constraint_sums(a, d.product, prescribed.coefficient_1, prescribed.offset_1) + trial.rolled,
        alternating=_alternating(solution, step, defect - start.defect),
        iterations=solution.iterations,
        solve=solution.solve,
    )


def velocity_defect(a: Arrays, at: tuple[Configuration, Derived], coefficient: Array, rates: Rates) -> Array:
    """G v − ∂g/∂t at a state, with the rates of what time prescribes."""
    if not rates[1].size:
        return np.zeros(0)
    c, d = at
    speed = a.incidence @ node_velocities(a, c, c.R, d.arm)
    rate = product_changes(a, speed, d.vector)
    defect = constraint_sums(a, rate, coefficient, prescribed_rate(a, d, rates))
    return defect + state_rates(a, c, d, rate)


def defect_at(start: Checked) -> Array:
    """The velocity defect of a consistent state."""
    coefficient, _, *rates = start.prescribed
    return velocity_defect(start.mechanism.network.arrays, (start.c, start.d), coefficient, (rates[0], rates[1]))


def prescribed_rate(a: Arrays, d: Derived, rates: Rates) -> Array:
    """∂g/∂t with the sign of a right-hand side: G v is equal to it where the constraints hold, (g,)."""
    by_coefficient, by_offset = rates
    return -constraint_sums(a, d.product, by_coefficient, by_offset)


def _alternating(solution: Converged, step: Step, jump: Array) -> Array:
    """What the change of the velocity defect over the step adds to the multipliers: S⁻¹(e₁ − e₀)/h, S = G M⁻¹Gᵀ.

    The factored Jacobian of the step gives it as the answer to a gap of ½h(e₁ − e₀).
    """
    if not jump.size:
        return jump
    v, omega, du = (np.zeros(part.shape) for part in solution.means[:3])
    nothing = Means(v, omega, du, step.schedule.combined(0.5 * step.h * jump))
    return step.schedule.multipliers(solution.solve(nothing).lam)
