"""Pictures of the case gyroscope."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from flexph.plot.axes import legend_above, new_figure

from .gyroscope_motions import ACROSS, AXIAL, Result, apart, defects, slope, suspension

LOOK = {"angles": ("C0", 3.5, "angles, gauss6"), "matrix": ("C1", 1.6, "rotation matrix"),
        "quaternion": ("C2", 0.8, "quaternion")}  # fmt: skip


def draw_motion(result: Result, path: Path) -> None:
    """Draw the axle on the unit sphere, β against γ, and the difference of γ from its law M t/(Aω cos β₀)."""
    figure = new_figure(11.0, 4.6)
    grid = figure.add_gridspec(2, 2, width_ratios=(2, 3))
    ball = figure.add_subplot(grid[:, 0], projection="3d")
    path_of, turned = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    around = np.linspace(0.0, 2.0 * math.pi, 181)
    for level in (0.0, result.tilt):
        ring = math.cos(level) * np.cos(around), math.cos(level) * np.sin(around), np.full(181, -math.sin(level))
        ball.plot(*ring, color="0.75", linewidth=0.8)
    ball.plot([0, 0], [0, 0], [-1, 1], color="0.75", linewidth=0.8)
    law = result.torque / (AXIAL * result.spin * math.cos(result.tilt))
    for kept, run in result.runs.items():
        (beta, gamma), (color, width, label) = suspension(run, kept).T, LOOK[kept]
        n = np.array([np.cos(beta) * np.cos(gamma), np.cos(beta) * np.sin(gamma), -np.sin(beta)])
        ball.plot(*n, color=color, linewidth=width)
        path_of.plot(np.degrees(gamma), np.degrees(beta), color=color, linewidth=width, label=label)
        turned.plot(run.times, np.degrees(gamma - law * run.times), color=color, linewidth=width)
    ball.quiver(0, 0, 0, *n[:, -1], color="k", linewidth=1.0, arrow_length_ratio=0.08)
    ball.text(0.0, 0.0, 1.05, "z", ha="center")
    ball.set(xlabel="x", ylabel="y", xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0, 1))
    ball.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-0.75, 0.75), box_aspect=(1, 1, 0.75))
    ball.set_title("the axle on the unit sphere", fontsize="medium")
    path_of.set(xlabel="γ [deg]", ylabel="β [deg]")
    legend_above(path_of, 3)
    turned.set(xlabel="t [s]", ylabel="γ less the law\nM t/(Aω cos β₀) [deg]", xlim=(0.0, run.times[-1]))
    if result.start == "rest" and result.tilt == 0.0:
        small = law / (AXIAL * result.spin / ACROSS)
        mean = -np.degrees(1.25 * small**2 * law * run.times)
        turned.plot(run.times, mean, "k--", linewidth=1.0, label=r"mean of theory, $-\frac{5}{4}\varepsilon^2\Omega t$")
        legend_above(turned)
    for axes in (path_of, turned):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def draw_rates(result: Result, path: Path) -> None:
    """Draw the deviation of precession and nutation from the laws of the fast gyroscope; errors near gimbal lock."""
    figure = new_figure(11.0, 4.4)
    laws, lock = figure.subplots(1, 2)
    small = np.array([row["epsilon"] for row in result.rates])
    curves = (("precession_short", r"mean precession below $M/(I\omega)$", r"$\frac{5}{4}\varepsilon^2$", "o", 1.25),
              ("nutation_beyond", r"nutation above $I\omega/C$", r"$\frac{5}{2}\varepsilon^2$", "s", 2.5))  # fmt: skip
    for k, (name, label, theory, marker, factor) in enumerate(curves):
        laws.loglog(small, factor * small**2, "k-" if k else "k--", linewidth=0.8, label=theory)
        order = slope(small, result.rates, name)
        differences = [row[name] for row in result.rates]
        laws.loglog(small, differences, marker, color=f"C{k}", markersize=7, label=f"{label}: order {order:.2f}")
    laws.set_xticks(small, [f"{e:.2g}" for e in small])
    laws.set(xlabel="ε = precession / nutation", ylabel="relative difference")
    laws.xaxis.set_minor_formatter("")
    for kept, (color, _, label) in LOOK.items():
        errors = [row[f"error_{kept}"] for row in result.lock]
        lock.loglog([row["distance_rad"] for row in result.lock], errors, "o-", color=color, linewidth=1.2, label=label)
    lock.axvspan(min(row["distance_rad"] for row in result.lock), 0.1, color="0.92", zorder=0, label="angles warn")
    lock.set(xlabel="least distance of the axle from z [rad]", ylabel="largest error of R in one turn")
    for axes in (laws, lock):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    figure.savefig(path)


def draw_kept(result: Result, path: Path) -> None:
    """Draw the energy balance of every step, |RᵀR − 1| or the deviation of |q| from one, and differences of runs."""
    figure = new_figure(8.0, 6.5)
    least = np.finfo(float).eps / 16.0
    between = [kept for kept in result.runs if kept != "angles" and "angles" in result.runs]
    balance, manifold, *rest = figure.subplots(2 + bool(between), 1, sharex=True)
    for kept, run in result.runs.items():
        color, _, label = LOOK[kept]
        residual = np.maximum(run.ledger.residual / run.ledger.scale, least)
        balance.semilogy(run.times[1:], residual, ".", markersize=2, color=color, label=label)
        if kept != "angles":
            manifold.semilogy(run.times, np.maximum(defects(run, kept), least), ".", markersize=2, color=color)
    for kept in between:
        gap = apart(result.runs, "angles", kept)
        times = np.linspace(0.0, result.runs["angles"].times[-1], len(gap))
        rest[0].plot(times, gap, color=LOOK[kept][0], linewidth=1.2)
        rest[0].set_ylabel("R apart from\nthat of the angles")
    balance.set(ylabel="|ΔH − work| / H", ylim=(0.5 * least, 1e-14))
    manifold.set(ylabel="|RᵀR − 1|, ||q| − 1|", ylim=(0.5 * least, 1e-13))
    legend_above(balance, 3, markerscale=5)
    for axes in figure.axes:
        axes.grid(alpha=0.3)
    figure.axes[-1].set_xlabel("t [s]")
    figure.savefig(path)
