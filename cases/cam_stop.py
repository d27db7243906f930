"""An eccentric cam that lifts a flat follower off a stop, in a guide with clearance: closed forms of lift and loss.

The follower rests on the stop while the top of the cam is below it; once a turn the cam strikes it, lifts it, and
sets it down again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, drive, hinge, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.export.tables import write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, complementarity, figures, least_taken
from .files import write_run

RADIUS, ECCENTRICITY, REST = 0.03, 0.01, 0.002  # cam [m]; height of the stop over the middle of the lift [m]
MASS, HALF_WIDTH, HALF_LENGTH, GRAVITY = 0.2, 0.01, 0.04, 9.81  # of the follower [kg], [m], [m]; [m/s²]
CORNERS = {
    f"{side} {end}": (x * HALF_WIDTH, y * HALF_LENGTH)
    for side, x in (("left", -1.0), ("right", 1.0))
    for end, y in (("foot", -1.0), ("head", 1.0))
}
Contact = Literal["events", "steps"]


@dataclass(frozen=True)
class Result:
    """A run of cam and follower, the spin of the cam [rad/s] and the clearance of the guide [m]."""

    solution: Solution
    spin: float
    clearance: float


def cam_and_follower(spin: float, clearance: float, law: Rigid) -> Mechanism:
    """Mechanism of a cam with a given spin [rad/s] and a follower with a clearance [m] on each side of its guide."""
    cam = rigid.body(0.1, inertia=1e-4, ports={"shaft": (-ECCENTRICITY, 0.0), "centre": (0.0, 0.0)})
    ports = {"face": (0.0, -HALF_LENGTH), **CORNERS}
    inertia = MASS * (HALF_WIDTH**2 + HALF_LENGTH**2) / 3.0
    follower = rigid.body(MASS, inertia=inertia, ports=ports)
    wide = HALF_WIDTH + clearance
    sides = {"left": Plane(GROUND.at(-wide, 0.0), (1.0, 0.0)), "right": Plane(GROUND.at(wide, 0.0), (-1.0, 0.0))}
    feet = [f"follower.{name}" for name in CORNERS if name.endswith("foot")]
    touching = [
        contact(Sphere("cam.centre", RADIUS), Plane("follower.face", (0.0, -1.0)), law, name="cam"),
        contact(feet, Plane(GROUND.at(0.0, RADIUS + REST), (0.0, 1.0)), law, name="stop"),
    ]
    for side, plane in sides.items():
        corners = [f"follower.{name}" for name in CORNERS if name.startswith(side)]
        touching.append(contact(corners, plane, law, name=f"guide {side}"))
    joints = [hinge("cam.shaft", GROUND.at(0.0, 0.0)), drive("cam.shaft", GROUND, angle=lambda t: spin * t)]
    return connect({"cam": cam, "follower": follower}, [*joints, *touching], gravity=(0.0, -GRAVITY))


def run(
    *,
    spin: Annotated[float, Option("spin of the cam", "rad/s")] = 20.0,
    turns: Annotated[float, Option("turns of the cam")] = 2.0,
    clearance: Annotated[float, Option("of the guide on each side", "m")] = 1e-5,
    friction: Annotated[float, Option("coefficient of friction")] = 0.0,
    restitution: Annotated[float, Option("e, from 0 to 1")] = 0.0,
    step: Annotated[float, Option("time step", "s")] = 5e-4,
    contact: Annotated[Contact, Option("treatment of impacts")] = "events",
) -> Result:
    """A cam that lifts a follower off a stop, in a guide with clearance."""
    law = Rigid(restitution=restitution, friction=friction)
    check.positive("clearance", clearance, "m")
    mechanism = cam_and_follower(check.positive("spin", spin, "rad/s"), clearance, law)
    places = {"cam": (ECCENTRICITY, 0.0, 0.0), "follower": (0.0, RADIUS + REST + HALF_LENGTH, 0.0)}
    pose = mechanism.assemble(guess=places)
    end = 2.0 * math.pi * check.positive("turns", turns) / spin
    count = math.ceil(end / check.positive("step", step, "s") - 1e-9)
    start = mechanism.consistent_state(pose)
    times = np.linspace(0.0, end, count + 1)
    return Result(integrate(mechanism, start, times, method=Exact(contact=contact)), spin, clearance)


def heights(result: Result) -> Array:
    """Height (k,) [m] of the follower's flat face; zero on a cam whose centre is level with its shaft."""
    return result.solution.position("follower.face")[:, 1] - RADIUS


def lift(t: Array, spin: float) -> Array:
    """Height of the follower at the times t in closed form: the larger of the heights of cam and stop.

    It holds for e ω² < g, up to the hops of :func:`hop`.
    """
    return np.maximum(ECCENTRICITY * np.sin(spin * t), REST)


def loss(spin: float) -> float:
    """Energy that impacts dissipate in a turn [J], in closed form.

    There are two plastic impacts at the speed e ω cos φ: of the cam on the follower, and of the follower on the stop.
    """
    return MASS * spin**2 * (ECCENTRICITY**2 - REST**2)


def hop(spin: float) -> float:
    """Upper bound of the hop of the follower after it is set down [m], for a guide of any clearance.

    However small the clearance is, the follower leans on the cam and lands on a corner of its foot, at the distance b
    from its middle. A plastic impact there leaves b²/(k² + b²) of its energy for a hop, with the radius of gyration k.
    This does not vanish with the clearance, so that the closed form of the lift holds only while the cam carries the
    follower, and after the hops have ended.
    """
    speed, gyration = spin * math.sqrt(ECCENTRICITY**2 - REST**2), (HALF_WIDTH**2 + HALF_LENGTH**2) / 3.0
    return HALF_WIDTH**2 / (gyration + HALF_WIDTH**2) * speed**2 / (2.0 * GRAVITY)


def taken(result: Result) -> float:
    """Energy [J] that all contacts have dissipated over the run."""
    return float(sum(values.sum() for values in result.solution.ledger.dissipation.values()))


def gap_min(result: Result) -> float:
    """Smallest gap [m] of the follower to cam, stop and guide at the saved times; negative for penetration."""
    solution = result.solution
    corners = {name: solution.position(f"follower.{name}") for name in CORNERS}
    normal = -solution.rotations("follower")[:, :, 1]
    to_cam = np.vecdot(normal, solution["cam.centre"] - solution.position("follower.face"))
    to_stop = [place[:, 1] for name, place in corners.items() if name.endswith("foot")]
    to_guide = [np.abs(place[:, 0]) for place in corners.values()]
    least = (to_cam.min() - RADIUS, np.min(to_stop) - RADIUS - REST, HALF_WIDTH + result.clearance - np.max(to_guide))
    return float(min(least))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: lift of the follower and losses over time; return the summary numbers."""
    solution, t, height = result.solution, result.solution.times, heights(result)
    write_run(solution, folder)
    lost = np.concatenate([[0.0], np.cumsum(np.sum(list(solution.ledger.dissipation.values()), axis=0))])
    write_table(folder / "motion.csv", {"t_s": t, "lift_m": height, "loss_J": lost})
    figure = new_figure(7.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(t, 1e3 * height, label="follower")
    above.plot(t, 1e3 * ECCENTRICITY * np.sin(result.spin * t), "k:", linewidth=0.8, label="cam")
    above.axhline(1e3 * REST, color="0.6", linewidth=0.8)
    above.set_ylabel("lift [mm]")
    above.legend(frameon=False)
    below.plot(t, 1e3 * lost)
    below.set(xlabel="t [s]", ylabel="taken by contacts [mJ]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    numbers = {
        "lift_max_m": float(height.max()),
        "loss_J": taken(result),
        "gap_min_m": gap_min(result),
        "complementarity_max": complementarity(solution),
    }
    return numbers | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: lift and energy loss against closed forms, exact for a narrow guide; gaps, balance, complementarity."""
    clearance, spin = 1e-5, 20.0
    result = run(turns=1.0, clearance=clearance, spin=spin)
    tilt = clearance / HALF_LENGTH * (HALF_WIDTH + ECCENTRICITY)  # how far a follower that leans may be higher or lower
    t, apart = result.solution.times, np.abs(heights(result) - lift(result.solution.times, spin))
    set_down = (math.pi - math.asin(REST / ECCENTRICITY)) / spin
    carried, after = ECCENTRICITY * np.sin(spin * t) > REST, t > set_down
    source = "the higher one of cam and stop"
    yield vanishes("lift by the cam [m]", apart[carried].max(), 2.0 * tilt, source=source, kind="closed form")
    highest = hop(spin) + tilt
    yield vanishes(
        "hop after it is set down [m]", apart[after].max(), highest, source="energy left", kind="closed form"
    )
    yield vanishes("lift at the end of the turn [m]", apart[-1], 2.0 * tilt, source=source, kind="closed form")
    share = 0.02  # the speeds of impacts change with the lean by a few clearances over the eccentricity
    yield near("loss of a turn [J]", loss(spin), taken(result), share * loss(spin), source="m ω² (e² − c²)")
    yield vanishes("gaps [m]", min(gap_min(result), 0.0), 1e-12)
    yield vanishes("balance", balance(result.solution), 1e-11)
    yield vanishes("complementarity", complementarity(result.solution), 1e-10)
    yield vanishes("energy given", least_taken(result.solution), 1e-11)


case = Case(run, write, checks, needs=("matplotlib",))
