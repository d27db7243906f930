"""One step of the exact scheme with all that is booked of it: the one function that does the work of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .kernels.arrays import Arrays
from .kernels.gradient import world_spin_levers
from .kernels.jacobian import Solve
from .kernels.state import Configuration, Derived, constraint_sums, derive, node_displacement
from .kernels.step import Means, Schedule
from .ledger import Accounts
from .newton import Converged, solve_step
from .space import Array
from .state import configuration, flat

Rates = tuple[Array, Array]
"""Time derivatives of the term coefficients and row offsets at the end of a step."""


class Place(NamedTuple):
    """A flat state between steps, its arrays, what follows from them, and its velocity defect G v − ∂g/∂t, (g,)."""

    x: Array
    c: Configuration
    d: Derived
    defect: Array


class Taken(NamedTuple):
    """A solved step and what is booked of it.

    ``means`` with the multipliers of all constraints; ``energy`` and ``flows`` in the order of the accounts; ``gap``
    the constraint residuals at the end; ``alternating`` what the change of the velocity defect adds to the multipliers;
    ``solve`` the last Jacobian, factored.
    """

    means: Means
    end: Place
    energy: Array
    flows: Array
    gap: Array
    alternating: Array
    iterations: int
    solve: Solve


def take_step(accounts: Accounts, start: Place, h: float, prescribed: Schedule, rates: Rates, guess: Means) -> Taken:
    """Solve the step of h (of either sign) from ``start`` and book it; raises NoConvergence."""
    a = accounts.arrays
    found = solve_step(a, start.c, start.d, h, prescribed, guess)
    means = found.means._replace(lam=prescribed.multipliers(found.means.lam))
    x = flat(accounts.mechanism, found.trial.end)
    c = configuration(accounts.mechanism, x)  # a run continued from x has the same bits
    d = derive(a, c)
    defect = velocity_defect(a, c, d, prescribed.coefficient_1, rates)
    return Taken(
        means=means,
        end=Place(x, c, d, defect),
        energy=accounts.energies(c, d),
        flows=accounts.step(start.c, h, means, found.trial, prescribed),
        gap=constraint_sums(a, d.product, prescribed.coefficient_1, prescribed.offset_1),
        alternating=_alternating(found, h, defect - start.defect, prescribed),
        iterations=found.iterations,
        solve=found.solve,
    )


def velocity_defect(a: Arrays, c: Configuration, d: Derived, coefficient: Array, rates: Rates) -> Array:
    """G v − ∂g/∂t at a state, with the rates of what time prescribes."""
    local = node_displacement(a, c.du)
    moved = np.matmul(c.R[a.node_body], local[:, :, None])[:, :, 0]
    moved += np.einsum("ks,ksd->kd", c.omega[a.node_body], world_spin_levers(a, c.R, d.arm))
    speed = a.incidence @ (a.node_moves[:, None] * c.v[a.node_body] + moved)
    rate = np.einsum("pd,pd->p", speed[a.first], d.vector[a.second])
    rate += np.einsum("pd,pd->p", speed[a.second], d.vector[a.first])
    return constraint_sums(a, rate, coefficient, np.zeros_like(rates[1])) - prescribed_rate(a, d, rates)


def prescribed_rate(a: Arrays, d: Derived, rates: Rates) -> Array:
    """∂g/∂t with the sign of a right-hand side: G v is equal to it where the constraints hold, (g,)."""
    by_coefficient, by_offset = rates
    return by_offset - constraint_sums(a, d.product, by_coefficient, np.zeros_like(by_offset))


def _alternating(found: Converged, h: float, jump: Array, prescribed: Schedule) -> Array:
    """What the change of the velocity defect over the step adds to the multipliers: S⁻¹(e₁ − e₀)/h, S = G M⁻¹Gᵀ.

    The factored Jacobian of the step gives it as the answer to a gap of ½h(e₁ − e₀).
    """
    if not jump.size:
        return jump
    v, omega, du = (np.zeros_like(part) for part in found.means[:3])
    nothing = Means(v, omega, du, prescribed.combined(0.5 * h * jump))
    return prescribed.multipliers(found.solve(nothing).lam)
