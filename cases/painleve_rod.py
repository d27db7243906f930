"""Painlevé's rod: it slides with its tip on rough ground, and jams without a collision.

A rod with its tip ahead, pushed into the ground by friction, has no bounded contact force; rigid-body motion
continues by an impulse: the tip sticks at once, and the spin about it follows from the angular momentum
(P. Painlevé, C. R. Acad. Sci. 121 (1895) 112).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, contact
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures
from .files import write_run

HALF, MASS, ANGLE, SPEED, GRAVITY = 1.0, 1.0, 1.0, -3.0, 9.81  # l [m], [kg], θ [rad], [m/s], [m/s²]


def rod_on_ground(friction: float) -> Mechanism:
    """Mechanism of a uniform rod with its tip on rough ground."""
    rod = rigid.body(MASS, inertia=MASS * HALF**2 / 3.0, ports={"tip": (-HALF, 0.0), "end": (HALF, 0.0)})
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    touch = contact(["rod.tip", "rod.end"], ground, Rigid(friction=friction), name="ground")
    return connect({"rod": rod}, [touch], gravity=(0.0, -GRAVITY))


def run(
    *,
    friction: Annotated[float, Option("coefficient of friction")] = 1.8,
    step: Annotated[float, Option("time step", "s")] = 1e-5,
    steps: Annotated[int, Option("number of steps")] = 20,
) -> Solution:
    """Painlevé's rod, which slides with its tip ahead and jams in one step."""
    mechanism = rod_on_ground(friction)
    place = (HALF * math.cos(ANGLE), HALF * math.sin(ANGLE), ANGLE)
    start = mechanism.consistent_state(mechanism.assemble(guess={"rod": place}), velocities={"rod": (SPEED, 0.0, 0.0)})
    count = check.count("steps", steps)
    return integrate(mechanism, start, check.positive("step", step, "s") * np.arange(count + 1))


def spins(solution: Solution) -> Array:
    """Spin of the rod at the saved times (k,) [rad/s]."""
    return np.asarray(solution["rod.spin"]).ravel()


def loss(solution: Solution) -> float:
    """Energy [J] that the jam in the first step dissipates."""
    return float(sum(values[0] for values in solution.ledger.dissipation.values()))


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: spin and energy over time; return the summary numbers."""
    write_run(solution, folder)
    energy = solution.ledger.total_energy
    write_table(folder / "motion.csv", {"t_s": solution.times, "spin_rad_s": spins(solution), "H_J": energy})
    figure = new_figure(7.0, 4.5)
    above, below = figure.subplots(2, 1, sharex=True)
    for axes, values, label in ((above, spins(solution), "spin [rad/s]"), (below, energy, "energy [J]")):
        axes.plot(1e6 * solution.times, values, ".-")
        axes.set(ylabel=label, ylim=(0.0, 1.15 * float(values.max())))
        axes.grid(alpha=0.3)
    below.set_xlabel("t [µs]")
    figure.savefig(folder / "motion.png")
    return {"omega_after": float(spins(solution)[1]), "loss_J": loss(solution)} | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: spin after the jam and dissipated energy by conserved angular momentum about the tip; balance."""
    solution, after = run(), 2.25 * math.sin(1.0)
    yield near("spin after [rad/s]", after, spins(solution)[1], 1e-4, source="angular momentum about the tip")
    yield near("loss [J]", 4.5 - 0.5 * 4.0 / 3.0 * after**2, loss(solution), 1e-4, source="energies before and after")
    yield vanishes("balance", balance(solution), 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
