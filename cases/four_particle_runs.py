"""Runs of the four particles: their momenta, a reference without multipliers, and orders of convergence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from flexph import PHDAE, IntegrationError, Trajectory, integrate
from flexph.methods import by_name
from flexph.numerics.arrays import Array

from .four_particle_system import MASSES, START, M, constraint_jacobian, four_particles, spring_forces
from .times import equal_steps

METHODS = {"paper": "gonzalez", "invariant": "invariants"}
CONVERGENCE_END = 0.1  # t at which [dg] fig. 6 compares [s]
CONVERGENCE_STEPS = (5, 10, 20, 40, 80)
LONG_STEP, LONG_END = 0.25, 10.0  # of [dg] fig. 6, right [s]
WARM = 1000  # at most so many steps are timed


@dataclass(frozen=True)
class Result:
    """A run of the four particles, and further runs to compare it with.

    ``midpoint`` is by the midpoint rule, ``undamped`` without dissipation, by method; ``long`` and ``long_midpoint``
    have long steps. ``convergence`` are the errors by method and step, ``steps_per_s`` is the computing speed.
    """

    run: Trajectory
    midpoint: Trajectory
    undamped: dict[str, Trajectory]  # by method
    long: Trajectory
    long_midpoint: Trajectory
    convergence: tuple[dict[str, Any], ...]
    steps_per_s: float
    gradient: str
    eta: float
    step: float


def momenta(run: Trajectory) -> tuple[Array, Array]:
    """Linear momentum [kg m/s] and angular momentum [kg m²/s] of all particles at the saved times, (k + 1, 3) each."""
    q, v = run["q"].reshape(-1, 4, 3), run["v"].reshape(-1, 4, 3)
    return np.einsum("p,tpi->ti", MASSES, v), np.einsum("p,tpi->ti", MASSES, np.cross(q, v))


def drifts(run: Trajectory) -> tuple[float, float]:
    """Largest deviations from the first value over the run: of any component of the linear and of the angular momentum.

    They are in [kg m/s] and [kg m²/s].
    """
    linear, angular = (float(np.abs(p - p[0]).max()) for p in momenta(run))
    return linear, angular


def solve(step: float, end: float, eta: float, method: str) -> Trajectory:
    """Run from the initial state of [dg] eq. (51) up to ``end`` [s] by a method; ``eta`` is the viscosity η₀."""
    return integrate(four_particles(eta), START, equal_steps(step, end, filling=True), method=by_name(method))


def as_far_as_it_goes(step: float, end: float, eta: float, method: str) -> Trajectory:
    """Run of :func:`solve`, up to the last step that has a solution."""
    try:
        return solve(step, end, eta, method)
    except IntegrationError as error:
        return error.solution


def reference(eta: float, end: float = CONVERGENCE_END) -> Any:
    """Reference solution (q, v) (24,) as a function of t, by a Runge-Kutta method of order 8 without multipliers."""
    system = four_particles(eta)

    def rate(_: float, y: Array) -> Array:
        force, g = _applied(system, y), constraint_jacobian(y[:12])
        return np.concatenate([y[12:], (force - g.T @ multipliers(system, y)) / M])

    return solve_ivp(rate, (0.0, end), START[:24], method="DOP853", rtol=1e-13, atol=1e-15, dense_output=True).sol


def multipliers(system: PHDAE, y: Array) -> Array:
    """Multipliers λ (2,) of the bars at the state ``y``, positions and velocities (q, v).

    ``Dg M⁻¹Dgᵀ λ = Dg M⁻¹(−∇V − R v) + d(Dg)/dt v``.
    """
    g, moving = constraint_jacobian(y[:12]), constraint_jacobian(y[12:])  # Dg is linear in q
    return np.linalg.solve((g / M) @ g.T, (g / M) @ _applied(system, y) + moving @ y[12:])


def _applied(system: PHDAE, y: Array) -> Array:
    x = np.append(y, [0.0, 0.0])
    return -spring_forces(y[:12]) - (system.R(x) @ x)[12:24]


def converge(eta: float, methods: Iterable[str], counts: Iterable[int] = CONVERGENCE_STEPS) -> Iterable[dict[str, Any]]:
    """Yield relative errors of q₄, v₄ and λ₁ at t = 0.1 s for each method and number of steps, as in [dg] fig. 6.

    λ₁ is compared at the end of the last step and in its middle, to which it belongs.
    """
    exact, system = reference(eta), four_particles(eta)
    for method in methods:
        for count in counts:
            trajectory = solve(CONVERGENCE_END / count, CONVERGENCE_END, eta, method)
            at_end, at_middle = exact(CONVERGENCE_END), exact(trajectory.output_times[-1])
            yield {
                "method": method,
                "step_s": CONVERGENCE_END / count,
                "q4": _relative(trajectory["q"][-1, 9:], at_end[9:12]),
                "v4": _relative(trajectory["v"][-1, 9:], at_end[21:24]),
                "lam1_at_middle": _relative(trajectory["lam"][-1, :1], multipliers(system, at_middle)[:1]),
                "lam1_at_end": _relative(trajectory["lam"][-1, :1], multipliers(system, at_end)[:1]),
            }


def _relative(value: Array, exact: Array) -> float:
    return float(np.linalg.norm(value - exact) / np.linalg.norm(exact))


def orders(rows: Iterable[dict[str, Any]], method: str) -> dict[str, float]:
    """Orders of convergence of q₄, v₄ and λ₁ by a method, from its two finest steps in the rows of :func:`converge`."""
    *_, coarse, fine = [row for row in rows if row["method"] == method]
    ratio = math.log(coarse["step_s"] / fine["step_s"])
    names = ("q4", "v4", "lam1_at_middle", "lam1_at_end")
    return {name: math.log(coarse[name] / fine[name]) / ratio for name in names}
