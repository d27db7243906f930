"""Pictures of the case rolling-coin."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from flexph import (
    Solution,
)
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .rolling_coin_motions import EURO_RADIUS, Result, contacts, tilts

TITLES = {"none": "no torque", "u1": "$u_1$ rolls", "u2": "$u_2$ turns", "both": "both"}


def draw_paths(result: Result, path: Path, coins: int = 9) -> None:
    """Draw the paths of the point of contact from above, with the coin."""
    figure = new_figure(9.0, 7.0)
    for axes, (name, motion) in zip(
        figure.subplots(2, 2, height_ratios=(3, 2)).flat, result.motions.items(), strict=True
    ):
        zeta = motion.constrained["positions"]
        axes.plot(*motion.exact[:, :2].T, color="0.75", linewidth=4.0, label="closed form")
        axes.plot(*zeta[:, :2].T, color="C0", linewidth=1.2, label="constrained")
        axes.plot(*motion.reduced["positions"][:, :2].T, "C1--", linewidth=1.2, label="reduced")
        place = result.mechanism.position("coin.centre") if name == "both" else np.full((1, 2), np.nan)
        axes.plot(place[:, 0], place[:, 1], "k:", linewidth=1.2, label="mechanism")
        extent = float(np.ptp(motion.exact[:, :2], axis=0).max())
        for k in np.linspace(0, len(zeta) - 1, coins).astype(int):
            ahead = 0.04 * extent * np.array([math.cos(zeta[k, 3]), math.sin(zeta[k, 3])])
            axes.plot(*np.array([zeta[k, :2] - ahead, zeta[k, :2] + ahead]).T, color="C3", linewidth=2.5)
        axes.plot(*zeta[0, :2], "ko", markersize=4)
        axes.set(aspect="equal", title=TITLES[name], xlabel="x [m]", ylabel="y [m]")
        axes.grid(alpha=0.3)
    lines, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside upper center", ncols=4, fontsize="small", frameon=False)
    figure.savefig(path)


def draw_accounts(result: Result, path: Path) -> None:
    """Draw the run under both torques: energy and work of the torques, errors, slip and balance."""
    figure = new_figure(8.0, 7.5)
    energy, error, kept = figure.subplots(3, 1, sharex=True)
    motion = result.motions["both"]
    times, balance = motion.reduced.times, motion.constrained.ledger
    change = balance.total_energy - balance.total_energy[0]
    energy.plot(times, change, "k:", linewidth=1.2, label="change of energy")
    for name, label in (("roll", "work of $u_1$"), ("turn", "work of $u_2$")):
        energy.plot(times[1:], np.cumsum(balance.work[name]), linewidth=1.2, label=label)
    place = result.mechanism.position("coin.centre")
    places = {"constrained": motion.constrained["place"], "reduced": motion.reduced["place"], "mechanism": place[:, :2]}
    for name, at in places.items():
        gap = np.linalg.norm(at - motion.exact[:, :2], axis=1)
        error.semilogy(times[1:], gap[1:], linewidth=1.2, label=name)
    slip = result.mechanism.ledger.nonholonomic_residual
    kept.semilogy(times[1:], _shown(balance.residual / balance.scale), ".", markersize=2, label="balance, constrained")
    kept.semilogy(times[1:], _shown(slip), ".", markersize=2, label="slip of the mechanism")
    for axes, label in ((energy, "energy [J]"), (error, "error of x, y [m]"), (kept, "balance / energy,\nslip [m/s]")):
        axes.set_ylabel(label)
        legend_above(axes, 4)
        axes.grid(alpha=0.3)
    kept.set(xlabel="t [s]", xlim=(times[0], times[-1]))
    figure.savefig(path)


def _shown(values: Array) -> Array:
    """Copy of values for a logarithmic axis, with NaN in place of those that are not positive."""
    return np.where(values > 0.0, values, np.nan)


def draw_wobble(solution: Solution, path: Path) -> None:
    """Draw the released euro: paths on the ground, tilt, energies, and drifts."""
    figure = new_figure(11.0, 5.5)
    grid = figure.add_gridspec(3, 2, width_ratios=(5, 6))
    ground, ledger, times = figure.add_subplot(grid[:, 0]), solution.ledger, 1e3 * solution.times
    centre = solution.position("coin.centre")[:, :2]
    ground.plot(*(1e3 * (centre + contacts(solution))).T, linewidth=0.9, label="point of contact")
    ground.plot(*(1e3 * centre).T, linewidth=1.2, label="centre")
    ground.set(aspect="equal", xlabel="x [mm]", ylabel="y [mm]")
    tilt, energy, drift = (figure.add_subplot(grid[k, 1]) for k in range(3))
    tilt.plot(times, np.degrees(tilts(solution)), linewidth=1.2, label="tilt from the ground [°]")
    for word in ("kinetic", "potential"):
        energy.plot(times, 1e3 * ledger.kind(word), linewidth=1.2, label=f"{word} [mJ]")
    energy.plot(times, 1e3 * ledger.total_energy, "k:", linewidth=1.2, label="total")
    change = np.abs(ledger.total_energy / ledger.total_energy[0] - 1.0)[1:]
    for values, label in ((change, "|ΔH| / H"), (ledger.position_residual / EURO_RADIUS, "drift of the height / r")):
        drift.semilogy(times[1:], _shown(values), ".", markersize=2, label=label)
    drift.set_xlabel("t [ms]")
    for axes in (ground, tilt, energy, drift):
        legend_above(axes, 3)
        axes.grid(alpha=0.3)
    for axes in (tilt, energy):
        axes.tick_params(labelbottom=False)
    figure.savefig(path)
