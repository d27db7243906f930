"""A chain of a hundred links, hung in folds, that is dropped on a plane and makes a heap: contacts, friction, hinges.

All links have balls at their hinges, which touch the ground and each other; the impacts are plastic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.export.tables import write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import vanishes
from .contact_figures import balance, complementarity, figures, least_taken
from .files import write_run

LENGTH, RADIUS, MASS, GRAVITY = 0.05, 0.02, 0.05, 9.81  # of a link [m], of its balls [m]; [kg]; [m/s²]
FOLD = 8  # links of a fold


def chain(links: int, friction: float) -> Mechanism:
    """Mechanism of a number of links joined by hinges, with balls at all hinges and both ends, above the ground.

    The balls touch the ground and each other, with the coefficient ``friction``.
    """
    half = 0.5 * LENGTH
    link = rigid.body(MASS, inertia=MASS * LENGTH**2 / 12.0, ports={"left": (-half, 0.0), "right": (half, 0.0)})
    names = [f"link{i}" for i in range(links)]
    balls = [Sphere(f"{name}.left", RADIUS) for name in names] + [Sphere(f"{names[-1]}.right", RADIUS)]
    law, floor = Rigid(friction=friction), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    touching = [contact(balls, floor, law, name="ground"), mutual_contact(balls, law, name="balls")]
    joints = [hinge(f"{first}.right", f"{second}.left") for first, second in pairwise(names)]
    return connect(dict.fromkeys(names, link), [*joints, *touching], gravity=(0.0, -GRAVITY))


def folded(links: int, height: float, lean: Array) -> dict[str, tuple[float, float, float]]:
    """Poses (x, y, angle) of the links, by name, folded to and fro above the ground.

    ``height`` [m] is the gap between the lowest ball and the ground; ``lean`` (links,) [rad] is an additional angle of
    each link.
    """
    place, poses = np.array([0.0, height + RADIUS]), {}
    for i in range(links):
        fold, within = divmod(i, FOLD)
        angle = 0.5 * math.pi if within == FOLD - 1 else math.pi * (fold % 2)
        angle += lean[i]
        way = LENGTH * np.array([math.cos(angle), math.sin(angle)])
        middle, place = place + 0.5 * way, place + way
        poses[f"link{i}"] = (float(middle[0]), float(middle[1]), angle)
    return poses


@dataclass(frozen=True)
class Result:
    """A run of a chain, and its number of links."""

    solution: Solution
    links: int


def run(
    *,
    links: Annotated[int, Option("number of links")] = 100,
    friction: Annotated[float, Option("coefficient of friction")] = 0.3,
    height: Annotated[float, Option("gap to the ground at the start", "m")] = 0.02,
    step: Annotated[float, Option("time step", "s")] = 2e-3,
    end: Annotated[float, Option("end of the run", "s")] = 0.4,
    seed: Annotated[int, Option("of how the links lean")] = 1,
) -> Result:
    """A chain that is dropped on a plane and makes a heap."""
    count = check.count("links", links)
    mechanism = chain(count, friction)
    lean = 0.02 * np.random.default_rng(seed).standard_normal(count)
    poses = folded(count, check.positive("height", height, "m"), lean)
    start = mechanism.consistent_state(mechanism.assemble(guess=poses))
    steps = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    times = np.linspace(0.0, steps * step, steps + 1)
    return Result(integrate(mechanism, start, times, method=Exact(contact="steps")), count)


def centres(result: Result) -> Array:
    """Positions (k + 1, n + 1, 2) [m] of the balls of n links at the saved times."""
    ends = [f"link{i}.left" for i in range(result.links)] + [f"link{result.links - 1}.right"]
    return np.stack([result.solution.position(end) for end in ends], axis=1)


def gap_min(result: Result) -> float:
    """Smallest gap [m] at the saved times, of all pairs of balls that are not neighbours and of balls and ground."""
    place = centres(result)
    i, j = np.triu_indices(result.links + 1, 2)
    between = np.linalg.norm(place[:, i] - place[:, j], axis=2) - 2.0 * RADIUS
    return float(min(between.min(initial=math.inf), place[:, :, 1].min() - RADIUS))


def kinetic(result: Result) -> Array:
    """Kinetic energy of all links at the saved times [J]."""
    return result.solution.ledger.kind("kinetic")


def rest(result: Result) -> float | None:
    """Time from which on the kinetic energy is below a billionth of its maximum [s]; None if the chain still moves."""
    energy, times = kinetic(result), result.solution.times
    moving = np.flatnonzero(energy > 1e-9 * energy.max())
    if not moving.size:
        return 0.0
    return float(times[moving[-1] + 1]) if moving[-1] + 1 < times.size else None


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: the chain at some times, and its energies; return the summary numbers."""
    solution, place = result.solution, centres(result)
    write_run(solution, folder)
    ledger = solution.ledger
    energies = {"t_s": solution.times, "kinetic_J": kinetic(result), "H_J": ledger.total_energy}
    write_table(folder / "motion.csv", energies | {"height_m": place[:, :, 1].max(axis=1) + RADIUS})
    write_table(folder / "chain.csv", {"x_m": place[-1, :, 0], "y_m": place[-1, :, 1]})
    figure = new_figure(9.0, 4.5)
    for axes, k in zip(figure.subplots(1, 3, sharey=True), np.linspace(0, len(place) - 1, 3).astype(int), strict=True):
        axes.plot(*place[k].T, "C0", linewidth=0.8)
        turn = np.linspace(0.0, 2.0 * math.pi, 30)
        for x, y in place[k]:
            axes.plot(x + RADIUS * np.cos(turn), y + RADIUS * np.sin(turn), "C0", linewidth=0.5)
        axes.axhline(0.0, color="k", linewidth=0.8)
        axes.set(aspect="equal", xlabel="x [m]", title=f"{solution.times[k]:.2f} s")
    figure.axes[0].set_ylabel("y [m]")
    figure.savefig(folder / "chain.png")
    numbers = {
        "gap_min_m": gap_min(result),
        "complementarity_max": complementarity(solution),
        "height_m": float(place[-1, :, 1].max()) + RADIUS,
        "rest_s": rest(result),
        "kinetic_J": float(kinetic(result)[-1]),
        "energy_J": float(ledger.total_energy[-1]),
    }
    return numbers | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: no penetration, balance, complementarity and dissipation of contacts, with and without friction."""
    for friction in (0.0, 0.3):
        result = run(links=12, friction=friction, end=0.2)
        yield vanishes(f"gaps [m], μ = {friction}", min(gap_min(result), 0.0), 1e-12)
        yield vanishes(f"balance, μ = {friction}", balance(result.solution), 1e-11)
        yield vanishes(f"complementarity, μ = {friction}", complementarity(result.solution), 1e-10)
        yield vanishes(f"energy given, μ = {friction}", least_taken(result.solution), 1e-11)


case = Case(run, write, checks, needs=("matplotlib",))
