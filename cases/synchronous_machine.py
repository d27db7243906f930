"""A synchronous generator in currents and in fluxes: a short circuit and a load on a network ([dg] example 4)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph.case import Case, Check, Option
from flexph.export.tables import write_table

from .checks import converges, vanishes
from .files import write_rows
from .synchronous_generator import (
    COORDINATES,
    FREQUENCY,
    INERTIA,
    L_LEAK,
    OMEGA,
    RATING,
    WINDINGS,
    currents,
    in_currents,
    inductance,
    start_open,
)
from .synchronous_machine_pictures import draw_convergence, draw_ledgers, draw_loaded, draw_short
from .synchronous_runs import (
    Inputs,
    Result,
    angles,
    apart,
    constant_speed,
    converge,
    ledger,
    load_step,
    network,
    orders,
    rated,
    reference,
    short_circuit_inputs,
    solve,
    speeds,
    textbook_peak,
    torques,
)


def run(
    *,
    steps_per_cycle: Annotated[int, Option("time steps in a cycle of 1/60 s")] = 50,
    short_circuit: Annotated[float, Option("length of the run from open to shorted terminals", "s")] = 0.5,
    loaded: Annotated[float, Option("length of the run on the network after half load became full", "s")] = 1.5,
    power: Annotated[float, Option("full load: active power over the rating, at 0.9 lagging")] = 0.9,
) -> Result:
    """Synchronous generator in currents and in fluxes: short circuit and load on a network ([dg] example 4)."""
    if steps_per_cycle < 10:
        raise ValueError(f"steps_per_cycle must be at least 10, got {steps_per_cycle}")
    for name, length in (("short_circuit", short_circuit), ("loaded", loaded)):
        if not (math.isfinite(length) and length * FREQUENCY * steps_per_cycle >= 1.0):
            raise ValueError(f"{name} must be at least one step long, got {length}")
    if not 0.0 < power <= 1.0:
        raise ValueError(f"power must be above 0 and at most 1, got {power}")
    full = rated(power, power * math.tan(math.acos(0.9)))
    half, inputs = load_step(full)
    return Result(
        short={
            c: solve(c, start_open(), short_circuit_inputs(), steps_per_cycle=steps_per_cycle, end=short_circuit)
            for c in COORDINATES
        },
        loaded={c: solve(c, half.state, inputs, steps_per_cycle=steps_per_cycle, end=loaded) for c in COORDINATES},
        target=full,
        convergence=tuple(converge()),
    )


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers of the short circuit and of the load, in per unit of the rating unless stated otherwise."""
    short, loaded = result.short["fluxes"], result.loaded["fluxes"]
    both = (*result.short.values(), *result.loaded.values())
    grid = np.linspace(0.0, math.pi, 181)
    phase, rest = currents(short)[:, :3], currents(short)[:, 3:]
    return {
        "smallest_inductance_mH": 1e3 * min(np.linalg.eigvalsh(inductance(theta))[0] for theta in grid),
        "short_circuit_peak_kA": 1e-3 * np.abs(phase).max(),
        "short_circuit_peak_textbook_kA": 1e-3 * textbook_peak(),
        "short_circuit_field_peak_kA": 1e-3 * np.abs(rest[:, 0]).max(),
        "short_circuit_torque_peak": np.abs(torques(short)).max() * OMEGA / RATING,
        "load_angle_start_deg": math.degrees(angles(loaded)[0]),
        "load_angle_largest_deg": math.degrees(angles(loaded).max()),
        "load_angle_end_deg": math.degrees(angles(loaded)[-1]),
        "load_angle_of_full_load_deg": math.degrees(result.target.load_angle),
        "coordinates_apart_short_circuit": apart(result.short),
        "coordinates_apart_loaded": apart(result.loaded),
        "orders": orders(result.convergence),
        "balance_residual_max_rel": max(trajectory.ledger.largest_residual for trajectory in both),
        "balance_residual_max_J": max(trajectory.ledger.residual.max() for trajectory in both),
        "energy_drift_max_rel": max(trajectory.energy_drift() for trajectory in both),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables and pictures of both runs in fluxes, and the errors by step.

    Return the summary numbers.
    """
    for name, runs in (("short-circuit", result.short), ("loaded", result.loaded)):
        trajectory = runs["fluxes"]
        columns = {
            "t_s": trajectory.times,
            "theta_rad": trajectory["angle"][:, 0],
            "speed_over_synchronous": speeds(trajectory),
        }
        columns |= {f"i_{w.replace(' ', '_')}_A": i for w, i in zip(WINDINGS, currents(trajectory).T, strict=True)}
        write_table(folder / f"{name}.csv", columns | {"electric_torque_Nm": torques(trajectory)})
        write_table(folder / f"{name}-ledger.csv", ledger(trajectory))
    write_rows(folder / "convergence.csv", result.convergence)
    draw_short(result, folder / "short-circuit.png")
    draw_loaded(result, folder / "loaded.png")
    draw_ledgers(result, folder / "ledger.png")
    draw_convergence(result, folder / "convergence.png")
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: smallest inductance, short-circuit currents, steady load, orders of convergence, and balances.

    References of the currents are the textbook's peak and, at constant speed, the matrix exponential.
    """
    grid = np.linspace(0.0, math.pi, 181)
    smallest = 1e3 * float(min(np.linalg.eigvalsh(inductance(theta))[0] for theta in grid))
    yield Check(
        "smallest inductance on a grid of θ [mH]",
        "leakage of the stator",
        1e3 * L_LEAK,
        smallest,
        kind="closed form",
        tolerance=1e-3,
    )
    cycle = 1.0 / FREQUENCY
    short = {
        c: solve(c, start_open(), short_circuit_inputs(), steps_per_cycle=100, end=3.0 * cycle) for c in COORDINATES
    }
    peak = float(np.abs(currents(short["fluxes"])[:, 0]).max())
    # the textbook's formula neglects resistances against reactances: some per cent in the first half cycle
    yield Check(
        "short circuit, peak of phase a [A]",
        "textbook formula",
        textbook_peak(),
        peak,
        kind="closed form",
        tolerance=0.03,
    )
    exact, heavy = constant_speed(cycle), reference(cycle, 1e6 * INERTIA)[:6]  # which turns on at the same speed
    off = float(np.abs(heavy - exact).max() / np.abs(exact).max())
    yield vanishes("currents at constant speed", off, 1e-6, source="matrix exponential", kind="independent code")
    half, inputs = load_step(rated())
    loaded = {c: solve(c, half.state, inputs, steps_per_cycle=50, end=0.2) for c in COORDINATES}
    held = rated()
    still: Inputs = {"stator": network, "field": held.field_voltage, "shaft": held.shaft_torque}
    angle = angles(
        solve("fluxes", held.state, still, steps_per_cycle=50, end=0.5)
    )  # (hω)² of the step, 4e-3 of 0.7 rad, at most
    yield vanishes(
        "steady load: drift of the load angle [rad]", np.ptp(angle), 2e-4, source="phasors", kind="closed form"
    )
    for name, order in orders(tuple(converge(counts=(100, 200)))).items():
        if "speed" not in name:
            yield converges(f"order, {name}", order, 0.1, source="[dg] proposition 1")
    for name, runs in (("short circuit", short), ("load", loaded)):
        for coordinates, trajectory in runs.items():
            worst = trajectory.ledger.largest_residual
            yield vanishes(f"balance residual over energy, {name}, {coordinates}", worst, 1e-13)


case = Case(run, write, checks, needs=("matplotlib",), system=in_currents)
