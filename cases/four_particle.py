"""Case four-particle: four particles, two springs, two rigid bars and a dashpot by discrete gradients ([dg] sec. 6.3).

P. L. Kinon, R. Morandin, P. Schulze, Discrete gradient methods for port-Hamiltonian differential-algebraic equations,
eq. (47)-(51) and table 1, after O. Gonzalez, Physica D 132 (1999).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from flexph import integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import by_name

from .checks import converges, vanishes
from .files import write_rows
from .four_particle_pictures import draw_constraints, draw_convergence, draw_energy, draw_undamped
from .four_particle_runs import (
    LONG_END,
    LONG_STEP,
    METHODS,
    WARM,
    Result,
    as_far_as_it_goes,
    converge,
    drifts,
    orders,
    reference,
    solve,
)
from .four_particle_system import SPEED, START, constraint_rates, constraints, four_particles
from .times import equal_steps

Gradient = Literal["paper", "invariant"]


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.01,
    end: Annotated[float, Option("end of the run", "s")] = 10.0,
    eta: Annotated[float, Option("viscosity η₀ of the dashpot", "N s/m")] = 1.0,
    gradient: Annotated[
        Gradient, Option("discrete gradient: Gonzalez' of H(q, v), or that through the invariants")
    ] = "paper",
) -> Result:
    """Four particles, springs, bars and a dashpot: energy, constraints and momenta by discrete gradients ([dg] 6.3)."""
    if not (math.isfinite(eta) and eta >= 0.0):
        raise ValueError(f"eta must not be negative, got {eta}")
    method = METHODS[gradient]
    main = solve(step, end, eta, method)
    warm = min(len(main.times) - 1, WARM)
    system, times, gradient_method = four_particles(eta), equal_steps(step, warm * step, filling=True), by_name(method)
    clock = time.perf_counter()  # once more and warm
    integrate(system, START, times, method=gradient_method)
    clock = time.perf_counter() - clock
    return Result(
        run=main,
        midpoint=as_far_as_it_goes(step, end, eta, "midpoint"),
        undamped={m: main if (eta, method) == (0.0, m) else solve(step, end, 0.0, m) for m in METHODS.values()},
        long=as_far_as_it_goes(LONG_STEP, LONG_END, eta, method),
        long_midpoint=as_far_as_it_goes(LONG_STEP, LONG_END, eta, "midpoint"),
        convergence=tuple(converge(eta, (method, "midpoint"))),
        steps_per_s=warm / clock,
        gradient=gradient,
        eta=eta,
        step=step,
    )


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers of the run: energy, residuals, momenta, orders; and of the runs that are compared with it."""
    trajectory, energy = result.run, result.run.ledger.total_energy
    linear, angular = drifts(trajectory)
    free = result.undamped[trajectory.method]
    free_linear, free_angular = drifts(free)
    return {
        "H0": energy[0],
        "H_end": energy[-1],
        "q4_end": trajectory["q"][-1, 9:],
        "lambda_end": trajectory["lam"][-1],  # of the last step, in its middle
        "lambda_time": trajectory.output_times[-1],
        "balance_residual_max": trajectory.ledger.residual.max(),
        "position_drift_max": np.abs(constraints(trajectory["q"])).max(),
        "velocity_residual_max": np.abs(constraint_rates(trajectory["q"], trajectory["v"])).max(),
        "energy_increment_max": np.diff(energy).max(),
        "linear_momentum_drift": linear,
        "angular_momentum_drift": angular,  # changed by the dashpot unless eta is 0
        "undamped_energy_drift": np.abs(free.ledger.total_energy - SPEED).max(),
        "undamped_linear_momentum_drift": free_linear,
        "undamped_angular_momentum_drift": free_angular,
        "midpoint_balance_residual_max": result.midpoint.ledger.residual.max(),
        "long_energy_increment_max": np.diff(result.long.ledger.total_energy).max(),
        "long_midpoint_energy_increment_max": np.diff(result.long_midpoint.ledger.total_energy).max(),
        "orders": orders(result.convergence, trajectory.method),
        "steps_per_s": result.steps_per_s,
        "newton_iterations_mean": trajectory.ledger.iterations.mean(),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables and pictures in the manner of [dg] figs. 3-6; return the summary numbers."""
    trajectory = result.run
    gap, rate = constraints(trajectory["q"]), constraint_rates(trajectory["q"], trajectory["v"])
    at_ends = {f"q{k + 1}_{axis}_m": trajectory["q"][:, 3 * k + i] for k in range(4) for i, axis in enumerate("xyz")}
    bars = {f"{name}_{k + 1}": part[:, k] for name, part in (("g", gap), ("rate_of_g", rate)) for k in (0, 1)}
    write_table(
        folder / "states.csv", {"t_s": trajectory.times, "H_J": trajectory.ledger.total_energy, **at_ends, **bars}
    )
    steps = {
        "t_middle_s": trajectory.output_times,
        "change_of_H_J": np.diff(trajectory.ledger.total_energy),
        "dissipated_J": trajectory.ledger.total_dissipation,
        "balance_residual_J": trajectory.ledger.residual,
        "lambda_1_N_per_m": trajectory["lam"][1:, 0],
        "lambda_2_N_per_m": trajectory["lam"][1:, 1],
        "iterations": trajectory.ledger.iterations,
    }
    write_table(folder / "steps.csv", steps)
    write_rows(folder / "convergence.csv", result.convergence)
    draw_energy(result, folder / "energy.png")
    draw_constraints(result, folder / "constraints.png")
    draw_undamped(result, folder / "undamped.png")
    draw_convergence(result, folder / "convergence.png")
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: energy at both ends, residuals that must vanish, momenta, and orders of convergence, with h = 0.01 s.

    The limit h → 0 of H(10) is confirmed to the digits of the reference by two routes: a Runge-Kutta method on the
    equations without multipliers, and Gauss collocation of order 6 on the equations with them.
    """
    damped, free = solve(0.01, 10.0, 1.0, "gonzalez"), solve(0.01, 10.0, 0.0, "gonzalez")
    kept = solve(0.01, 10.0, 0.0, "invariants")
    energy = damped.ledger.total_energy
    yield Check("H(0) [J]", "[dg] eq. (51)", SPEED, float(energy[0]), kind="closed form", tolerance=1e-14)
    yield Check(
        "H(10), h = 0.01 [J]",
        "reference, h = 0.01",
        0.68501669,
        float(energy[-1]),
        kind="independent code",
        tolerance=1.5e-8,
    )
    limit = four_particles(1.0).H(np.append(reference(1.0, 10.0)(10.0), [0.0, 0.0]))
    # two routes to the limit: the collocation errs by 1e-11 at its step
    collocated = solve(0.0025, 10.0, 1.0, "gauss6").ledger.total_energy[-1]
    for name, value in (("DOP853", limit), ("gauss6", float(collocated))):
        yield Check(f"H(10), h → 0 [J], {name}", "reference, h → 0", 0.68504343, value, kind="independent code",
                    tolerance=7.3e-9)  # fmt: skip

    yield vanishes("balance residual of a step [J]", damped.ledger.residual.max(), 1e-13)
    yield vanishes("position drift [m²]", np.abs(constraints(damped["q"])).max(), 1e-13)
    yield vanishes("increase of H in a step [J]", max(0.0, np.diff(energy).max()), 1e-13)
    long = solve(LONG_STEP, LONG_END, 1.0, "gonzalez").ledger.total_energy
    yield vanishes("increase of H in a step, h = 0.25 [J]", max(0.0, np.diff(long).max()), 1e-13)
    yield vanishes("drift of H, η₀ = 0 [J]", np.abs(free.ledger.total_energy - SPEED).max(), 1e-12)
    leak = drifts(free)[0]
    yield Check(
        "leak of linear momentum, η₀ = 0", "reference, Gonzalez", 1.8e-5, leak, kind="independent code", tolerance=0.05
    )
    for name, value in zip(("linear", "angular"), drifts(kept), strict=True):
        yield vanishes(f"drift of {name} momentum, invariants", value, 1e-12)
    computed = orders(tuple(converge(1.0, ("gonzalez",))), "gonzalez")
    for name, order in (("q4", 2.0), ("v4", 2.0), ("lam1_at_middle", 2.0), ("lam1_at_end", 1.0)):
        yield converges(f"order of {name}", computed[name], 0.1, theory=order, source="[dg] fig. 6")


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: four_particles(1.0))
