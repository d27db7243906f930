"""A slider-crank whose slider has clearance in its guide: impacts of its corners with friction.

Data of P. Flores, R. Leine, C. Glocker, Modeling and analysis of planar rigid multibody systems with translational
clearance joints based on the non-smooth dynamics approach, Multibody Syst. Dyn. 23 (2010) 165, with e = 0.4 and
μ = 0.01, as in the open example of Siconos.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, contact
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures, least_taken
from .files import write_run

CRANK, ROD = 0.153, 0.306  # lengths [m]
MASSES, INERTIAS = (0.038, 0.038, 0.076), (7.4e-5, 5.9e-4, 2.7e-6)  # crank, rod, slider [kg], [kg m²]
HALF_LENGTH, HALF_HEIGHT, CLEARANCE = 0.05, 0.025, 0.001  # of the slider a, b; c [m]
RESTITUTION, FRICTION, GRAVITY = 0.4, 0.01, 9.81
SPINS = (150.0, -75.0, 0.0)  # [rad/s]
CORNERS = {
    "left below": (-HALF_LENGTH, -HALF_HEIGHT),
    "right below": (HALF_LENGTH, -HALF_HEIGHT),
    "left above": (-HALF_LENGTH, HALF_HEIGHT),
    "right above": (HALF_LENGTH, HALF_HEIGHT),
}
Contact = Literal["events", "steps"]


def link(length: float, mass: float, inertia: float) -> Any:
    """A uniform bar with its ports ``root`` and ``tip`` at equal distances from its centre of mass."""
    half = 0.5 * length
    return rigid.body(mass, inertia=inertia, ports={"root": (-half, 0.0), "tip": (half, 0.0)})


def mechanism_with_clearance() -> Mechanism:
    """Mechanism of a slider-crank whose slider touches the two planes of its guide with its corners."""
    block = box_shape((2.0 * HALF_LENGTH, 2.0 * HALF_HEIGHT, HALF_HEIGHT))
    slider = rigid.body(MASSES[2], inertia=INERTIAS[2], ports={"pin": (0.0, 0.0)} | CORNERS, shape=block)
    law, wide = Rigid(restitution=RESTITUTION, friction=FRICTION), HALF_HEIGHT + CLEARANCE
    below, above = Plane(GROUND.at(0.0, -wide), (0.0, 1.0)), Plane(GROUND.at(0.0, wide), (0.0, -1.0))
    touching = [
        contact([f"slider.{name}" for name in CORNERS if name.endswith("below")], below, law, name="guide below"),
        contact([f"slider.{name}" for name in CORNERS if name.endswith("above")], above, law, name="guide above"),
    ]
    bodies = {"crank": link(CRANK, MASSES[0], INERTIAS[0]), "rod": link(ROD, MASSES[1], INERTIAS[1]), "slider": slider}
    joints = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        hinge("rod.root", "crank.tip"),
        hinge("rod.tip", "slider.pin"),
    ]
    return connect(bodies, [*joints, *touching], gravity=(0.0, -GRAVITY))


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 1e-4,
    end: Annotated[float, Option("end of the run", "s")] = 0.02,
    contact: Annotated[Contact, Option("treatment of impacts")] = "events",
) -> Solution:
    """A slider-crank with a translational clearance joint (Flores, Leine, Glocker 2010)."""
    mechanism = mechanism_with_clearance()
    places = {
        "crank": (0.5 * CRANK, 0.0, 0.0),
        "rod": (CRANK + 0.5 * ROD, 0.0, 0.0),
        "slider": (CRANK + ROD, 0.0, 0.0),
    }
    crank, rod, slider = SPINS
    tip = CRANK * crank
    motion = {
        "crank": (0.0, 0.5 * tip, crank),
        "rod": (0.0, tip + 0.5 * ROD * rod, rod),
        "slider": (0.0, tip + ROD * rod, slider),
    }
    start = mechanism.consistent_state(mechanism.assemble(guess=places), velocities=motion)
    count = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    return integrate(mechanism, start, np.linspace(0.0, count * step, count + 1), method=Exact(contact=contact))


def crank_angle(solution: Solution) -> Array:
    """Angle of the crank at the saved times (k,) [rad]."""
    rotation = solution.rotations("crank")
    return np.unwrap(np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0]))


def eccentricity(solution: Solution) -> Array:
    """Height of the slider's centre above the middle of the guide at the saved times, divided by the clearance."""
    return solution["slider.centre"][:, 1] / CLEARANCE


def loss(solution: Solution) -> float:
    """Energy [J] that the contacts have dissipated over the run."""
    return float(sum(values.sum() for values in solution.ledger.dissipation.values()))


def summary_numbers(solution: Solution) -> dict[str, float]:
    """Summary numbers at the end of the run: angle and speed of the crank, position of the slider, energy loss."""
    return {
        "crank_rev": float(crank_angle(solution)[-1] / (2.0 * math.pi)),
        "crank_rad_s": float(np.asarray(solution["crank.spin"]).ravel()[-1]),
        "slider_over_clearance": float(eccentricity(solution)[-1]),
        "loss_J": loss(solution),
    }


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: angle of the crank and position of the slider in its guide over time.

    Return the summary numbers.
    """
    write_run(solution, folder)
    angle, height = crank_angle(solution), eccentricity(solution)
    write_table(folder / "motion.csv", {"t_s": solution.times, "crank_rad": angle, "y_over_c": height})
    figure = new_figure(7.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(1e3 * solution.times, height, linewidth=1.0)
    above.set_ylabel("height of the slider / c")
    below.plot(1e3 * solution.times, np.asarray(solution["crank.spin"]).ravel(), linewidth=1.0)
    below.set(xlabel="t [ms]", ylabel="spin of the crank [rad/s]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    return summary_numbers(solution) | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: crank and energy loss after 0.02 s against an independent prototype, balance, and dissipation."""
    solution = run()
    computed, source = summary_numbers(solution), "independent prototype"
    for name, reference, apart in (
        ("crank_rev", 0.256767, 2.6e-4),
        ("crank_rad_s", 71.68, 0.08),
        ("loss_J", 0.0471, 2e-4),
    ):
        yield near(name, reference, computed[name], apart, source=source, kind="independent code")
    yield vanishes("balance", balance(solution), 1e-10)
    yield vanishes("energy given", least_taken(solution), 1e-11)


case = Case(run, write, checks, needs=("matplotlib",))
