"""A flexible arm that swings against a stop, plastic (rigid) or compliant (Hertz), and excites all its modes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import fem
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Hertz, Plane, Rigid, contact
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import vanishes
from .contact_figures import balance, figures, least_taken
from .files import write_run

LENGTH, BELOW, GRAVITY = 0.5, 0.01, 9.81  # [m], [m], [m/s²]
STEEL = fem.Material(young=2e11, density=7800.0)
SECTION = fem.Section(width=5e-3, height=5e-3)
Law = Literal["rigid", "compliant"]


def arm_over_stop(law: Law, elements: int) -> Mechanism:
    """Mechanism of a steel arm on a hinge, with a stop below its tip; ``law`` is the law of the stop."""
    arm = fem.beam(LENGTH, STEEL, SECTION, elements=elements)
    touch = Rigid(friction=0.2) if law == "rigid" else Hertz(1e8, loss=0.2)
    stop = contact("arm.tip", Plane(GROUND.at(0.0, -BELOW), (0.0, 1.0)), touch, name="stop")
    return connect({"arm": arm}, [hinge("arm.root", GROUND), stop], gravity=(0.0, -GRAVITY))


def run(
    *,
    law: Annotated[Law, Option("law of the stop")] = "rigid",
    elements: Annotated[int, Option("elements of the arm")] = 4,
    spin: Annotated[float, Option("spin of the arm at the start, down", "rad/s")] = 1.0,
    step: Annotated[float, Option("time step", "s")] = 2e-4,
    end: Annotated[float, Option("end of the run", "s")] = 0.1,
) -> Solution:
    """A flexible arm strikes a stop with its tip and bounces by its bending."""
    mechanism = arm_over_stop(law, check.count("elements", elements))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"arm": -check.number("spin", spin)})
    count = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    return integrate(mechanism, start, np.linspace(0.0, count * step, count + 1))


def gaps(solution: Solution) -> Array:
    """Gap between tip and stop at the saved times (k,) [m]."""
    return solution.position("arm.tip")[:, 1] + BELOW


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: gap and energies over time; return the summary numbers."""
    write_run(solution, folder)
    gap, ledger = gaps(solution), solution.ledger
    write_table(folder / "motion.csv", {"t_s": solution.times, "gap_m": gap, "H_J": ledger.total_energy})
    figure = new_figure(7.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(1e3 * solution.times, 1e3 * gap, linewidth=1.0)
    above.set_ylabel("gap [mm]")
    for word in ("kinetic", "elastic"):
        below.plot(1e3 * solution.times, ledger.kind(word), linewidth=1.0, label=word)
    below.set(xlabel="t [ms]", ylabel="energy [J]")
    below.legend(frameon=False)
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    return {"penetration_max_m": float(max(-gap.min(), 0.0))} | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: no penetration of a rigid stop, the balance, and dissipation."""
    for law in ("rigid", "compliant"):
        solution = run(law=law, elements=2, end=0.05)
        if law == "rigid":
            yield vanishes("penetration [m]", min(gaps(solution).min(), 0.0), 1e-12)
        yield vanishes(f"balance, {law}", balance(solution), 1e-11)
        yield vanishes(f"energy given, {law}", least_taken(solution), 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
