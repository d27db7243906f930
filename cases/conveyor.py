"""A block that is laid on a moving belt: it slips until it has the speed of the belt, in closed form.

With the speed u of the belt and friction μ it slips for the time u/μg and stays u²/2μg behind the belt. Slip dissipates
½mu²; the drive of the belt supplies mu².
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import KelvinVoigt, Plane, Rigid, contact
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures
from .files import write_run

MASS, GRAVITY, SIZE = 2.0, 9.81, 0.2  # [kg], [m/s²], [m]
STIFFNESS, DAMPING = 1e6, 4e3  # of the compliant law [N/m], [N s/m]
Law = Literal["rigid", "anchor"]


def block_on_belt(speed: float, law: KelvinVoigt | Rigid) -> Mechanism:
    """Mechanism of a block that touches a belt with the given speed [m/s]; ``law`` is the contact law."""
    shape = box_shape((SIZE, SIZE, SIZE), centre=(0.0, 0.5 * SIZE, 0.0))
    block = rigid.body(MASS, inertia=MASS * SIZE**2 / 6.0, ports={"foot": (0.0, 0.0)}, shape=shape)
    belt = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0), speed=speed)
    return connect({"block": block}, [contact("block.foot", belt, law, name="belt")], gravity=(0.0, -GRAVITY))


def run(
    *,
    speed: Annotated[float, Option("speed of the belt", "m/s")] = 1.5,
    friction: Annotated[float, Option("coefficient of friction")] = 0.3,
    law: Annotated[Law, Option("contact law")] = "rigid",
    end: Annotated[float, Option("end of the run", "s")] = 1.0,
    step: Annotated[float, Option("time step", "s")] = 1e-3,
) -> Solution:
    """A block that is laid on a moving belt."""
    check.positive("friction", friction)
    own = Rigid(friction=friction)
    compliant = KelvinVoigt(STIFFNESS, damping=DAMPING, friction=friction)
    mechanism = block_on_belt(speed, own if law == "rigid" else compliant)
    depth = 0.0 if law == "rigid" else MASS * GRAVITY / STIFFNESS
    start = mechanism.consistent_state(mechanism.assemble(guess={"block": (0.0, -depth, 0.0)}))
    steps = round(check.positive("end", end, "s") / check.positive("step", step, "s"))
    return integrate(mechanism, start, np.linspace(0.0, end, steps + 1), method=Exact())


def travel(t: Array, speed: float, friction: float) -> Array:
    """Distance (k,) [m] that the block has travelled at the times t (k,), in closed form."""
    slips = speed / (friction * GRAVITY)
    return np.where(t < slips, 0.5 * friction * GRAVITY * t**2, speed * (t - 0.5 * slips))


def heat(solution: Solution) -> float:
    """Energy [J] that friction has dissipated over the run."""
    return float(sum(values.sum() for values in solution.ledger.dissipation.values()))


def given(solution: Solution) -> float:
    """Work [J] that the drive of the belt has done over the run."""
    return float(solution.ledger.work["belt: surface"].sum())


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: displacement and speed of the block, work and heat; return the summary numbers."""
    t, place, velocity = solution.times, solution["block.centre"][:, 0], solution["block.velocity"][:, 0]
    work = np.concatenate([[0.0], np.cumsum(solution.ledger.work["belt: surface"])])
    lost = np.concatenate([[0.0], np.cumsum(np.sum(list(solution.ledger.dissipation.values()), axis=0))])
    write_run(solution, folder)
    write_table(
        folder / "motion.csv", {"t_s": t, "travel_m": place, "speed_m_s": velocity, "work_J": work, "heat_J": lost}
    )
    figure = new_figure(7.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(t, velocity)
    above.set_ylabel("speed of the block [m/s]")
    below.plot(t, work, label="drive of the belt")
    below.plot(t, lost, label="heat")
    below.set(xlabel="t [s]", ylabel="energy [J]")
    below.legend(frameon=False)
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    return {"travel_m": float(place[-1]), "work_J": given(solution), "heat_J": heat(solution)} | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: displacement, heat and work against closed forms with both contact laws, and the balance."""
    speed, friction = 1.5, 0.3
    laws: tuple[Law, ...] = ("rigid", "anchor")
    for law in laws:
        solution = run(speed=speed, friction=friction, law=law)
        share = 1e-6 if law == "rigid" else 3e-3  # an anchor rings at the end of slip
        place, closed = solution["block.centre"][-1, 0], float(travel(np.array(1.0), speed, friction))
        energy = MASS * speed**2
        yield near(f"way, {law} [m]", closed, place, 1e-5, source="u t − u²/2μg", kind="closed form")
        yield near(f"heat, {law} [J]", 0.5 * energy, heat(solution), share * energy, source="½mu²")
        yield near(f"work of the belt, {law} [J]", energy, given(solution), share * energy, source="mu²")
        yield vanishes(f"balance, {law}", balance(solution), 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
