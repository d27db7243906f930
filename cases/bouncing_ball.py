"""A ball that is dropped on a floor: rigid contact with Newton's restitution, until it rests.

From the height H it falls for t₀ = √(2H/g), each flight is e times as long as the one before, and it comes to rest at
t₀ (1 + e)/(1 − e), after infinitely many impacts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.drawing import cylinder_shape
from flexph.export.tables import write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures, least_taken
from .files import write_run

RADIUS, GRAVITY = 0.1, 9.81  # [m], [m/s²]
STILL = 1e-9  # [m/s]
Contact = Literal["events", "steps"]


def ball_over_floor(restitution: float) -> Mechanism:
    """Mechanism of a ball, a disc of 1 kg, above a floor with rigid contact and Newton's ``restitution``."""
    disc = cylinder_shape(0.5 * RADIUS, RADIUS, axis=(0.0, 0.0, 1.0))
    ball = rigid.body(1.0, inertia=0.4 * RADIUS**2, ports={"centre": (0.0, 0.0)}, shape=disc)
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    touch = contact(Sphere("ball.centre", RADIUS), ground, Rigid(restitution=restitution), name="floor")
    return connect({"ball": ball}, [touch], gravity=(0.0, -GRAVITY))


def run(
    *,
    height: Annotated[float, Option("height of the fall", "m")] = 1.0,
    restitution: Annotated[float, Option("e, from 0 to 1")] = 0.5,
    step: Annotated[float, Option("time step", "s")] = 1e-3,
    end: Annotated[float, Option("end of the run", "s")] = 1.5,
    contact: Annotated[Contact, Option("impacts split the step, or are at its beginning")] = "events",
) -> Solution:
    """A ball that bounces on a floor until it rests, with every impact in the ledger."""
    mechanism = ball_over_floor(restitution)
    pose = mechanism.assemble(guess={"ball": (0.0, RADIUS + check.positive("height", height, "m"), 0.0)})
    count = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    times = np.linspace(0.0, count * step, count + 1)
    return integrate(mechanism, mechanism.consistent_state(pose), times, method=Exact(contact=contact))


def heights(solution: Solution) -> Array:
    """Height of the ball above the floor at the saved times (k,) [m]."""
    return solution["ball.centre"][:, 1] - RADIUS


def apex_ratio(solution: Solution) -> float:
    """Height of the first bounce divided by the height of the fall."""
    height, speed = heights(solution), solution["ball.velocity"][:, 1]
    up = np.flatnonzero(speed > STILL)
    if not up.size:
        return 0.0
    falls = np.flatnonzero(speed[up[0] :] <= 0.0)
    last = up[0] + (int(falls[0]) if falls.size else len(speed) - up[0] - 1)
    return float(height[up[0] : last + 1].max() / height[0])


def rest(solution: Solution) -> float | None:
    """Time [s] from which on the ball rests until the end of the run; None if it still moves at the end."""
    moving = np.flatnonzero(np.abs(solution["ball.velocity"][:, 1]) > STILL)
    last = int(moving[-1]) + 1 if moving.size else 0
    return float(solution.times[last]) if last < len(solution.times) else None


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: height and energy over time; return the summary numbers."""
    write_run(solution, folder)
    height, energy = heights(solution), solution.ledger.total_energy
    write_table(folder / "motion.csv", {"t_s": solution.times, "height_m": height, "H_J": energy})
    draw(solution, folder / "motion.png")
    numbers = {"apex_ratio": apex_ratio(solution), "rest_s": rest(solution), "height_min_m": float(height.min())}
    return numbers | figures(solution)


def draw(solution: Solution, path: Path) -> None:
    """Draw the height, energy, and energy dissipated by the impacts so far."""
    figure = new_figure(7.0, 5.0)
    height, energy = figure.subplots(2, 1, sharex=True)
    height.plot(solution.times, heights(solution), linewidth=1.0)
    height.set_ylabel("height [m]")
    lost = np.cumsum(np.sum(list(solution.ledger.dissipation.values()), axis=0))
    energy.plot(solution.times, solution.ledger.total_energy, linewidth=1.0, label="energy")
    energy.plot(solution.times[1:], lost, linewidth=1.0, label="taken by the contact")
    energy.set(xlabel="t [s]", ylabel="energy [J]")
    energy.legend(frameon=False)
    for axes in (height, energy):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: height of the first bounce, time of rest, no penetration, balance and dissipation.

    Impacts split the steps, or are at their beginnings.
    """
    fall = math.sqrt(2.0 / GRAVITY)
    for way, apart, late in (("events", 1e-5, 1e-3), ("steps", 4e-3, 2e-2)):
        solution = run(contact=way, step=1e-3)  # type: ignore[arg-type]
        yield near(f"apex over height, {way}", 0.25, apex_ratio(solution), apart, source="e²")
        yield near(f"rest [s], {way}", 3.0 * fall, rest(solution) or math.inf, late, source="t₀(1 + e)/(1 − e)")
        yield vanishes(f"penetration [m], {way}", min(heights(solution).min(), 0.0), 1e-12)
        yield vanishes(f"balance, {way}", balance(solution), 1e-13)
        yield vanishes(f"energy given, {way}", least_taken(solution), 1e-14)


case = Case(run, write, checks, needs=("matplotlib",))
