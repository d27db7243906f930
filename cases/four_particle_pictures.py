"""Pictures of the case four-particle."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from flexph.plot.axes import new_figure

from .four_particle_runs import CONVERGENCE_END, CONVERGENCE_STEPS, LONG_STEP, Result, momenta
from .four_particle_system import constraint_rates, constraints

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LABELS = {"gonzalez": "Gonzalez' gradient", "invariants": "gradient through invariants", "midpoint": "midpoint rule"}
FLOOR = np.finfo(float).eps / 8.0  # exact zeros are drawn here


def draw_energy(result: Result, path: Path) -> None:
    """Draw [dg] fig. 3: the Hamiltonian, its increments and the dissipated work, and the residual between them."""
    chosen, other = result.run, result.midpoint
    figure = new_figure(13.0, 4.2)
    level, increments, missing = figure.subplots(1, 3)
    level.plot(chosen.times, chosen.ledger.total_energy, linewidth=1.5)
    level.set_ylabel("H [J]")
    level.set_ylim(bottom=0.0)
    change = np.diff(chosen.ledger.total_energy)
    increments.plot(chosen.output_times, 1e3 * change, linewidth=1.0, label=r"$H^{k+1} - H^k$")
    increments.plot(chosen.output_times, 1e3 * chosen.ledger.total_dissipation, linewidth=1.0, label=r"$W_{diss}$")
    total = change + chosen.ledger.total_dissipation
    increments.plot(chosen.output_times, 1e3 * total, "k:", linewidth=1.2, label="their sum")
    increments.set_ylabel("in each step [mJ]")
    increments.legend(fontsize="small")
    for trajectory, colour in ((other, "C1"), (chosen, "C0")):
        residual = np.maximum(trajectory.ledger.residual, FLOOR)
        missing.semilogy(
            trajectory.output_times, residual, ".", color=colour, markersize=2, label=LABELS[trajectory.method]
        )
    missing.set_ylabel(r"$|H^{k+1} - H^k + W_{diss}|$ [J]")
    missing.legend(fontsize="small", loc="center right", markerscale=4)
    for axes in (level, increments, missing):
        _time_axis(axes)
    figure.suptitle(f"h = {result.step:g} s, η₀ = {result.eta:g} N s/m")
    figure.savefig(path)


def draw_constraints(result: Result, path: Path) -> None:
    """Draw [dg] fig. 4: constraints of both bars at position and velocity level."""
    trajectory = result.run
    gap, rate = constraints(trajectory["q"]), constraint_rates(trajectory["q"], trajectory["v"])
    figure = new_figure(11.0, 4.2)
    position, velocity = figure.subplots(1, 2)
    for k in (1, 0):
        position.plot(trajectory.times, 1e15 * gap[:, k], ".-", linewidth=0.6, markersize=2, color=f"C{k}")
        velocity.plot(trajectory.times, rate[:, k], linewidth=0.6, color=f"C{k}", label=f"bar {k + 1}")
    position.set_ylabel(r"$g_i(q^k)\;\;[10^{-15}\,$m²]")
    velocity.set_ylabel(r"$Dg_i(q^k)\,v^k\;\;$[m²/s]")
    velocity.ticklabel_format(axis="y", scilimits=(-2, 2))
    handles, names = velocity.get_legend_handles_labels()
    velocity.legend(handles[::-1], names[::-1], fontsize="small", loc="upper right")
    for axes in (position, velocity):
        _time_axis(axes)
    figure.savefig(path)


def draw_undamped(result: Result, path: Path) -> None:
    """Draw [dg] fig. 5: the Hamiltonian without dissipation and the drift of momenta, for both discrete gradients."""
    figure = new_figure(11.0, 4.4)
    energy, moved = figure.subplots(1, 2)
    for colour, (method, trajectory) in zip(("C0", "C2"), result.undamped.items(), strict=True):
        away = 1e15 * (trajectory.ledger.total_energy - trajectory.ledger.total_energy[0])
        energy.plot(trajectory.times, away, linewidth=0.8, color=colour, label=LABELS[method])
        for name, style, values in zip(("linear", "angular"), ("-", "--"), momenta(trajectory), strict=True):
            largest = np.maximum.accumulate(np.abs(values - values[0]).max(axis=1))
            label = f"{name}, {LABELS[method]}"
            moved.semilogy(trajectory.times, np.maximum(largest, FLOOR), style, color=colour, label=label)
    energy.set_ylabel(r"$H(t) - H(0)\;\;[10^{-15}\,$J]")
    energy.legend(fontsize="small")
    moved.set_ylabel("largest change of momentum so far [SI]")
    moved.set_ylim(FLOOR, 1e-2)
    moved.legend(fontsize="small", loc="center right")
    for axes in (energy, moved):
        _time_axis(axes)
    figure.suptitle(f"without dissipation, h = {result.step:g} s")
    figure.savefig(path)


def draw_convergence(result: Result, path: Path) -> None:
    """Draw [dg] fig. 6: errors at t = 0.1 s against the step, and the Hamiltonian with steps of 0.25 s."""
    figure = new_figure(12.0, 4.8)
    errors, long = figure.subplots(1, 2)
    names = {"q4": "$q_4$", "v4": "$v_4$", "lam1_at_middle": r"$\lambda_1$ in mid-step"}
    names["lam1_at_end"] = r"$\lambda_1$ taken at the end"
    for k, (name, label) in enumerate(names.items()):
        for method, style in ((result.run.method, "o-"), ("midpoint", "x--")):
            rows = [row for row in result.convergence if row["method"] == method]
            steps, error = [row["step_s"] for row in rows], [row[name] for row in rows]
            kept = label if method == result.run.method else None
            errors.loglog(steps, error, style, color=f"C{k}", linewidth=1.0, markersize=4, label=kept)
    _slopes(errors)
    errors.set_xticks([CONVERGENCE_END / count for count in CONVERGENCE_STEPS])
    errors.xaxis.set_major_formatter("{x:g}")
    errors.xaxis.set_minor_formatter("")
    errors.set_xlabel("h [s]")
    errors.set_ylabel("relative error at t = 0.1 s")
    errors.set_title(f"solid: {LABELS[result.run.method]}, dashed: midpoint rule", fontsize="small")
    errors.legend(fontsize="small", loc="lower right")
    errors.set_ylim(bottom=3e-9)
    long.plot(result.run.times, result.run.ledger.total_energy, "k:", linewidth=1.2, label=f"h = {result.step:g} s")
    for trajectory, style in ((result.long, "o-"), (result.long_midpoint, "x--")):
        label = f"{LABELS[trajectory.method]}, h = {LONG_STEP:g} s"
        long.plot(trajectory.times, trajectory.ledger.total_energy, style, linewidth=1.0, markersize=4, label=label)
    long.set_ylabel("H [J]")
    long.set_ylim(bottom=0.0)
    long.legend(fontsize="small", loc="lower left")
    _time_axis(long)
    errors.grid(alpha=0.3, which="both")
    figure.savefig(path)


def _slopes(axes: Axes) -> None:
    """Draw reference lines of first and second order into axes of errors over steps."""
    steps = np.array([CONVERGENCE_END / CONVERGENCE_STEPS[-1], CONVERGENCE_END / CONVERGENCE_STEPS[0]])
    for order, level in ((1, 0.4), (2, 2.5e-5)):
        axes.loglog(steps, level * (steps / steps[-1]) ** order, color="0.6", linewidth=0.8)
        at = math.sqrt(steps[0] * steps[-1])
        axes.text(at, 1.6 * level * (at / steps[-1]) ** order, f"order {order}", fontsize="small", color="0.4")


def _time_axis(axes: Axes) -> None:
    axes.set_xlabel("t [s]")
    axes.grid(alpha=0.3)
