"""A block that slides down a slope and stops: set-valued Coulomb friction at its corners.

With μ = 0.3 and a slope of the angle α, tan α = ½μ, it decelerates by g(μ cos α − sin α) until it sticks, and then
remains at rest.
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
from flexph.contacts import Plane, Rigid, contact
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures
from .files import write_run

GRAVITY, FRICTION = 9.81, 0.3  # [m/s²]
Contact = Literal["events", "steps"]


def block_on_slope(slope: float) -> Mechanism:
    """Mechanism of a block of 1 kg on a slope [rad] in inclined world axes, with x down along the slope."""
    ports = {"left": (-0.1, -0.05), "right": (0.1, -0.05)}
    block = rigid.body(1.0, inertia=0.01, ports=ports, shape=box_shape((0.2, 0.1, 0.1)))
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    touch = contact(["block.left", "block.right"], ground, Rigid(friction=FRICTION), name="ground")
    return connect({"block": block}, [touch], gravity=(GRAVITY * math.sin(slope), -GRAVITY * math.cos(slope)))


def run(
    *,
    tangent: Annotated[float, Option("tangent of the slope over the coefficient of friction")] = 0.5,
    speed: Annotated[float, Option("velocity at the start", "m/s")] = 1.0,
    step: Annotated[float, Option("time step", "s")] = 1e-3,
    end: Annotated[float, Option("end of the run", "s")] = 0.8,
    contact: Annotated[Contact, Option("treatment of impacts")] = "events",
) -> Solution:
    """A block that slides on a slope until it sticks (Coulomb friction as a set-valued law)."""
    mechanism = block_on_slope(math.atan(tangent * FRICTION))
    pose = mechanism.assemble(guess={"block": (0.0, 0.05, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"block": (check.number("speed", speed), 0.0, 0.0)})
    count = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    return integrate(mechanism, start, np.linspace(0.0, count * step, count + 1), method=Exact(contact=contact))


def stop(solution: Solution) -> float:
    """Distance [m] that the block has slid at the end of the run."""
    return float(solution["block.centre"][-1, 0])


def exact_stop(speed: float = 1.0, tangent: float = 0.5) -> float:
    """Stopping distance v²/(2g(μ cos − sin)) [m] from the speed v [m/s] on a slope.

    ``tangent`` is the tangent of the slope over the coefficient of friction μ.
    """
    slope = math.atan(tangent * FRICTION)
    return 0.5 * speed**2 / (GRAVITY * (FRICTION * math.cos(slope) - math.sin(slope)))


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: displacement and velocity over time; return the summary numbers."""
    write_run(solution, folder)
    travel, speed = solution["block.centre"][:, 0], solution["block.velocity"][:, 0]
    write_table(folder / "motion.csv", {"t_s": solution.times, "x_m": travel, "v_m_s": speed})
    figure = new_figure(7.0, 4.5)
    above, below = figure.subplots(2, 1, sharex=True)
    for axes, values, label in ((above, travel, "travel [m]"), (below, speed, "velocity [m/s]")):
        axes.plot(solution.times, values, linewidth=1.2)
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    below.set_xlabel("t [s]")
    figure.savefig(folder / "motion.png")
    left = float(np.abs(solution["block.velocity"][-1]).max())
    return {"stop_m": stop(solution), "speed_left_m_s": left} | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: stopping distance against the closed form, balance, and no creep just below the angle of friction."""
    solution = run(step=2e-3)
    yield near("way until it stops [m]", exact_stop(), stop(solution), 1e-6, source="v²/(2g(μ cos − sin))")
    yield vanishes("velocity left [m/s]", np.abs(solution["block.velocity"][-1]).max(), 1e-12)
    yield vanishes("balance", balance(solution), 1e-13)
    still = run(tangent=1.0 - 1e-12, speed=0.0, step=1e-2, end=0.2)
    yield vanishes("creep at μ(1 − 1e-12) [m]", stop(still), 1e-15)


case = Case(run, write, checks, needs=("matplotlib",))
