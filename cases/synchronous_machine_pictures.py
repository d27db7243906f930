"""Pictures of the case synchronous-machine."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from flexph.plot.axes import new_figure

from .synchronous_generator import COORDINATES, INERTIA, OMEGA, PORTS, SYSTEMS, WINDINGS, currents, torque
from .synchronous_runs import Result, angles, ledger, speeds, torques

FLOOR = np.finfo(float).eps / 8.0  # exact zeros are drawn here


def draw_short(result: Result, path: Path) -> None:
    """Draw the phase currents, rotor currents, electric torque and speed after the short circuit."""
    figure = new_figure(12.0, 7.2)
    phases, rotor, pull, speed = figure.subplots(2, 2, sharex=True).ravel()
    fluxes, other = result.short["fluxes"], result.short["currents"]
    for k, i in enumerate(currents(fluxes).T):
        axes, label = (phases, f"phase {WINDINGS[k]}") if k < 3 else (rotor, WINDINGS[k])
        axes.plot(fluxes.times, 1e-3 * i, linewidth=0.9, color=f"C{k}", label=label)
    for axes, unit in ((phases, "stator currents [kA]"), (rotor, "rotor currents [kA]")):
        axes.set_ylabel(unit)
    for trajectory, style, name in ((fluxes, "-", "in fluxes"), (other, "--", "in currents")):
        pull.plot(trajectory.times, 1e-6 * torques(trajectory), style, linewidth=0.9, label=name)
        speed.plot(trajectory.times, speeds(trajectory), style, linewidth=0.9, label=name)
    pull.set_ylabel("electric torque on the rotor [MN m]")
    speed.set_ylabel("speed over synchronous speed")
    speed.ticklabel_format(useOffset=False)
    for axes in (phases, rotor, pull, speed):
        axes.legend(fontsize="small", ncols=3, loc="upper right")
        axes.grid(alpha=0.3)
    for axes in (pull, speed):
        axes.set_xlabel("t [s]")
    figure.savefig(path)


def draw_loaded(result: Result, path: Path) -> None:
    """Draw the load angle, electric torque, speed and the size of the stator current on the way to full load."""
    figure = new_figure(12.0, 7.2)
    angle, pull, speed, current = figure.subplots(2, 2, sharex=True).ravel()
    target = result.target
    for name, style in (("fluxes", "-"), ("currents", "--")):
        trajectory = result.loaded[name]
        size = np.sqrt(2.0 / 3.0 * np.sum(currents(trajectory)[:, :3] ** 2, axis=1))
        for axes, values in (
            (angle, np.degrees(angles(trajectory))),
            (pull, -1e-6 * torques(trajectory)),
            (speed, 60.0 / (2.0 * math.pi) * OMEGA * (speeds(trajectory) - 1.0)),
            (current, 1e-3 * size),
        ):
            axes.plot(trajectory.times, values, style, linewidth=1.2, label=f"in {name}")
    size = math.sqrt(2.0 / 3.0 * np.sum(target.state[:3] ** 2))
    steady_values = (math.degrees(target.load_angle), -1e-6 * torque(target.state), 0.0, 1e-3 * size)
    for axes, value in zip((angle, pull, speed, current), steady_values, strict=True):
        axes.axhline(value, color="k", linestyle=":", linewidth=1.0, label="steady full load")
        axes.legend(fontsize="small", loc="lower right", ncols=3)
        axes.grid(alpha=0.3)
        axes.margins(y=0.18)
    angle.set_ylabel("load angle [°]")
    pull.set_ylabel("electric torque against the shaft [MN m]")
    speed.set_ylabel("speed over synchronous speed [r/min]")
    current.set_ylabel("amplitude of the stator current [kA]")
    for axes in (speed, current):
        axes.set_xlabel("t [s]")
    figure.savefig(path)


def draw_ledgers(result: Result, path: Path) -> None:
    """Draw both runs: stored energies, flows in and out, and the balance residual of every step."""
    figure = new_figure(12.0, 9.6)
    panels = figure.subplots(3, 2, height_ratios=(3, 3, 2), sharex="col")
    for column, (title, runs) in enumerate((("short circuit", result.short), ("loaded", result.loaded))):
        stored, moved, audit = panels[:, column]
        trajectory = runs["fluxes"]
        table, energy = ledger(trajectory), trajectory.ledger.total_energy
        kinetic = trajectory["momentum"][:, 0] ** 2 / (2.0 * INERTIA)
        for name, values in (("kinetic", kinetic), ("magnetic", energy - kinetic)):
            stored.plot(trajectory.times, 1e-6 * (values - values[0]), linewidth=1.2, label=name)
        stored.plot(trajectory.times, 1e-6 * (energy - energy[0]), "k:", label="total")
        stored.set_ylabel("energy since the start [MJ]")
        for name in PORTS:
            moved.plot(table["t_s"], 1e-6 * np.cumsum(table[f"work_{name}_J"]), linewidth=1.2, label=f"work of {name}")
        moved.plot(table["t_s"], 1e-6 * np.cumsum(table["dissipated_J"]), "--", label="dissipated")
        moved.plot(trajectory.times, 1e-6 * (energy - energy[0]), "k:", label="change of energy")
        moved.set_ylabel("accumulated [MJ]")
        for name in COORDINATES:
            relative = np.maximum(runs[name].ledger.residual / energy.max(), FLOOR)
            audit.semilogy(runs[name].output_times, relative, ".", markersize=2, label=f"in {name}")
        audit.axhline(np.finfo(float).eps, color="0.6", linewidth=0.8, label="round-off of one number")
        audit.set_ylim(FLOOR / 2.0, 1e-14)
        audit.set_ylabel("balance residual / energy")
        audit.set_xlabel("t [s]")
        stored.set_title(title)
        stored.legend(fontsize="small")
        above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 3, "frameon": False}
        moved.legend(fontsize="small", **above)
        audit.legend(fontsize="small", markerscale=4, **above)
        for axes in (stored, moved, audit):
            axes.grid(alpha=0.3)
    figure.savefig(path)


def draw_convergence(result: Result, path: Path) -> None:
    """Draw the errors of the currents after three cycles of the short circuit against the step."""
    figure = new_figure(6.4, 4.8)
    axes = figure.subplots()
    counts = np.array([row["steps_per_cycle"] for row in result.convergence])
    curves = {name: f"{name}: currents" for name in SYSTEMS} | {"fluxes and currents apart": "apart"}
    for (label, name), style in zip(curves.items(), ("o-", "s-", "^-", "x--"), strict=True):
        axes.loglog(counts, [row[name] for row in result.convergence], style, linewidth=1.0, label=label)
    axes.loglog(counts, 1e-4 * (counts[0] / counts) ** 2, color="0.6", linewidth=0.8, label="order 2")
    axes.set_xticks(counts, [f"{int(c)}" for c in counts])
    axes.xaxis.set_minor_formatter("")
    axes.set_xlabel("steps in a cycle of 1/60 s")
    axes.set_ylabel("error of the currents / largest current")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3, which="both")
    figure.savefig(path)
