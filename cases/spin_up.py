"""Spin-up of a flexible beam: Kane's manoeuvre.

A hub turns a beam from rest to a constant speed. With von Kármán strain the centrifugal force stiffens the beam, and
its tip returns to the direction of the hub; with linear strain the tip diverges.

Sources: T. R. Kane, R. R. Ryan, A. K. Banerjee, Dynamics of a cantilever beam attached to a moving base, J. Guidance 10
(1987); J. C. Simo, L. Vu-Quoc, The role of non-linear theories in transient dynamic analysis of flexible structures,
J. Sound Vibration 119 (1987).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import fem
from flexph import GROUND, IntegrationError, Mechanism, Solution, ValidityWarning, connect, drive, hinge, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import at_most, vanishes
from .files import write_run

LENGTH = 10.0  # [m]
METAL = fem.Material(young=7e10, density=3000.0, poisson=0.3)  # ν enters torsion only, which nothing excites
AREA, SECOND_MOMENT = 4e-4, 2e-7  # [m²], [m⁴]
RISE = 15.0  # T, until the hub turns steadily [s]
RATE = 6.0  # ω_s [rad/s], above the first frequency 3.80 rad/s of the beam at rest
END = 20.0  # of the run [s]
STRETCH = METAL.density * RATE**2 * LENGTH**3 / (3.0 * METAL.young)  # ρAω²L³/3EA [m]
CHUNK = 0.5  # interval of the test whether the tip has diverged, with linear strain [s]

Strain = Literal["linear", "von_karman"]


@dataclass(frozen=True)
class Result:
    """Runs with von Kármán and with linear strain.

    The run with linear strain ends soon after the tip diverges; ``message`` is the reason.
    """

    solution: Solution
    linear: Solution
    message: str


def hub_angle(t: float) -> float:
    """Angle of the hub at the time t, (ω_s/T) (t²/2 + (T/2π)² (cos(2πt/T) − 1)) [rad] up to T.

    After T the rate is constant, ω_s.
    """
    if t >= RISE:
        return RATE * (t - 0.5 * RISE)
    return RATE / RISE * (0.5 * t**2 + (RISE / (2.0 * math.pi)) ** 2 * (math.cos(2.0 * math.pi * t / RISE) - 1.0))


def spin_up(elements: int, strain: Strain, dim: int = 3) -> Mechanism:
    """Mechanism of a cantilever along x on a driven hub without radius; its motion stays in the x-y plane."""
    section = fem.Section(
        area=AREA, second_moment=SECOND_MOMENT, second_moment_y=SECOND_MOMENT, torsion_constant=2.0 * SECOND_MOMENT
    )
    beam = fem.beam(LENGTH, METAL, section, elements=elements, dim=dim, strain=strain)
    axis = (0.0, 0.0, 1.0) if dim == 3 else None
    return connect(
        {"beam": beam},
        [
            hinge("beam.root", GROUND.at(*[0.0] * dim), axis=axis),
            drive("beam.root", angle=hub_angle, axis=axis),
        ],
    )


def solve(elements: int, steps: int, dim: int = 3) -> Solution:
    """Run with von Kármán strain from rest to the time ``END``, in ``steps`` steps."""
    mechanism = spin_up(elements, "von_karman", dim)
    start = mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, 0.0)}))
    return integrate(mechanism, start, np.linspace(0.0, END, steps + 1))


def solve_linear(elements: int, steps: int, dim: int = 3) -> tuple[Solution, str]:
    """Run with linear strain from rest until the tip lags by more than the length, after which it diverges.

    The run consists of pieces, each from the final state of the one before. The second result is a text: the lag of the
    tip or the error of a step that ended the run, and the first warning.
    """
    mechanism = spin_up(elements, "linear", dim)
    start = mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, 0.0)}))
    times, stride = np.linspace(0.0, END, steps + 1), max(1, round(CHUNK * steps / END))
    solution: Solution | None = None
    said = "it stayed within 10 m"
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ValidityWarning)
        for first in range(0, steps, stride):
            grid = times[first : first + stride + 1]
            try:
                part = integrate(mechanism, solution.final if solution else start, grid, progress=False)
            except IntegrationError as error:
                part, said = error.solution, str(error)
            solution = solution.followed_by(part) if solution else part
            if left_at(solution) < math.inf:
                said = f"the tip lags by more than {LENGTH:g} m from t = {left_at(solution):.4g} s on"
            if solution.times[-1] < grid[-1] or left_at(solution) < math.inf:
                break
    assert solution is not None
    return solution, "; ".join([said, *(str(w.message) for w in warned[:1])])


def left_at(solution: Solution) -> float:
    """First saved time [s] at which the tip lags by more than the length, in magnitude; infinite if there is none."""
    gone = solution.times[np.abs(lag(solution)) > LENGTH]
    return float(gone[0]) if gone.size else math.inf


def lag(solution: Solution) -> Array:
    """Lag of the tip behind the direction of the hub at the saved times (k,) [m]."""
    return -solution.displacement("beam.tip")[:, 1]


def run(
    *,
    elements: Annotated[int, Option("finite elements")] = 8,
    steps: Annotated[int, Option("time steps")] = 2000,
    dim: Annotated[int, Option("3: a beam in space, 2: in the plane; the same motion")] = 3,
) -> Result:
    """Spin-up of a flexible beam (Kane's manoeuvre): tip lag with and without geometric stiffening."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    linear, message = solve_linear(elements, steps, dim)
    return Result(solve(elements, steps, dim), linear, message)


def figures(solution: Solution) -> dict[str, float]:
    """Summary numbers: largest lag of the tip with its time; after the rise, largest lag and mean stretch."""
    after, behind = solution.times >= RISE, lag(solution)
    return {
        "tip_lag_max_m": behind.max(),
        "tip_lag_max_at_s": solution.times[behind.argmax()],
        "ringing_max_m": np.abs(behind[after]).max(),
        "mean_stretch_m": solution.displacement("beam.tip")[after, 0].mean(),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables, plots, the moving beam for mesh viewers, and the runs themselves.

    Return the summary numbers.
    """
    solution, ledger = result.solution, result.solution.ledger
    write_run(solution, folder)
    result.linear.save(folder / "linear.h5")
    for name, run_ in (("tip", solution), ("tip_linear", result.linear)):
        tip = run_.displacement("beam.tip")
        columns = {"t_s": run_.times, "tip_lag_m": -tip[:, 1], "tip_x_m": tip[:, 0]}
        write_table(folder / f"{name}.csv", columns)
    draw_lag(result, folder / "tip.png")
    return {
        **figures(solution),
        "stretch_of_theory_m": STRETCH,
        "linear_tip_leaves_at_s": left_at(result.linear),
        "linear_message": result.message,
        "energy_residual_max_rel": ledger.largest_residual,
        "energy_drift_max_rel": solution.energy_drift(),
        "joint_drift_max_m": ledger.position_residual.max(),
        "orthogonality_defect_max": solution.orthogonality(),
        "steps": len(solution.times) - 1,
        "newton_iterations_mean": ledger.iterations.mean(),
    }


def draw_lag(result: Result, path: Path) -> None:
    """Draw the tip lag for both strains; the ringing and the stretch after the rise, enlarged."""
    t, tip, late = result.solution.times, result.solution.displacement("beam.tip"), lag(result.solution)
    away = left_at(result.linear)
    gone = f"passes {LENGTH:g} m at {away:.2f} s" if away < math.inf else "stays within the length"
    figure = new_figure(11.0, 4.8)
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))
    whole, ringing, stretch = (figure.add_subplot(grid[place]) for place in ((slice(2), 0), (0, 1), (1, 1)))
    whole.plot(t, late, linewidth=1.5, label="von Kármán")
    whole.plot(result.linear.times, lag(result.linear), "--", linewidth=1.5, label=f"linear: {gone}")
    whole.axhline(0.575, color="0.6", linewidth=0.8, label="published: largest lag 0.575 m")
    whole.axvspan(0.0, RISE, color="C1", alpha=0.08, linewidth=0.0)
    whole.text(0.5 * RISE, -0.19, "the hub speeds up", ha="center", va="center", fontsize="small")
    whole.set_ylim(-0.25, 1.25)
    whole.set_xlim(0.0, END)
    whole.set_ylabel("tip lag [m]")
    whole.legend(loc="upper right")
    after = t >= RISE
    ringing.plot(t[after], 1e3 * late[after], linewidth=1.2)
    ringing.set_ylabel("tip lag [mm]")
    stretch.plot(t[after], 1e3 * tip[after, 0], linewidth=1.2)
    stretch.axhline(1e3 * STRETCH, color="0.4", linestyle=":", label=r"$\rho A \omega^2 L^3 / 3EA$")
    stretch.set_ylabel("tip stretch [mm]")
    stretch.ticklabel_format(useOffset=False)
    legend_above(stretch)
    for axes in (whole, ringing, stretch):
        axes.set_xlabel("t [s]")
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: largest lag of the tip against the publication, mean stretch against the closed form, and drifts.

    With 8 elements and 2000 steps the stretch agrees to 0.2 %: at the final spin ω_s, steps of length h raise the
    centrifugal force by (hω_s)²/6 = 6e-4, and the vibration after the rise shortens the chord by ½∫u_y'², at most
    1.6e-3 of the stretch.
    """
    solution = solve(8, 2000)
    computed = {name: float(value) for name, value in figures(solution).items()}
    kane = "Kane, Ryan, Banerjee 1987"
    yield Check("largest tip lag [m]", kane, 0.575, computed["tip_lag_max_m"], kind="published", tolerance=0.02)
    # vibration after the spin-up: theory gives its mean, Kane's picture its small amplitude
    yield at_most("ringing about zero after 15 s [m]", 5e-3, computed["ringing_max_m"], source="steady rotation")
    yield Check(
        "mean stretch after 15 s [m]",
        "ρAω²L³/3EA",
        STRETCH,
        computed["mean_stretch_m"],
        kind="closed form",
        tolerance=2e-3,
    )
    yield at_most("linear strain: tip leaves at [s]", RISE, left_at(solve_linear(8, 2000)[0]), source=kane)
    drift = solution.energy_drift()
    yield vanishes("relative energy drift of the run", drift, 1e-11)
    open_by = float(solution.ledger.position_residual.max())
    yield vanishes("largest joint drift [m]", open_by, 1e-11)


case = Case(run, write, checks, needs=("matplotlib",))
