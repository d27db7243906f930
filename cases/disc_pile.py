"""Discs that fall into a box and pile up: many rigid contacts at once, with friction and restitution or without.

All contacts of a step are solved together; the impacts of a step are at its beginning (``contact="steps"``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, Sphere, contact, mutual_contact
from flexph.drawing import Shape, box_shape, cylinder_shape, merged_shapes
from flexph.export.tables import write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import vanishes
from .contact_figures import balance, complementarity, figures, least_taken
from .files import write_run

RADIUS, SPREAD, GRAVITY = 0.05, 0.1, 9.81  # [m]; radii differ by this share; [m/s²]


@dataclass(frozen=True)
class Result:
    """A run of the pile, the radii (n,) [m] of its discs, and half the width of the box [m]."""

    solution: Solution
    radii: Array
    width: float


def disc(radius: float) -> Shape:
    """Shape of a disc of the given radius [m] with a bar across it, which shows its rotation."""
    round_ = cylinder_shape(0.5 * RADIUS, radius, axis=(0.0, 0.0, 1.0))
    return merged_shapes([round_, box_shape((1.6 * radius, 0.15 * RADIUS, 0.6 * RADIUS))])


def pile(radii: Array, width: float, law: Rigid) -> Mechanism:
    """Mechanism of discs of the given radii (n,) in a box of the half width ``width`` [m], with rigid contacts.

    Masses are proportional to the areas of the discs.
    """
    masses = 1000.0 * math.pi * radii**2 * 0.01
    bodies = {
        f"disc{i}": rigid.body(m, inertia=0.5 * m * r * r, ports={"centre": (0.0, 0.0)}, shape=disc(float(r)))
        for i, (m, r) in enumerate(zip(masses, radii, strict=True))
    }
    spheres = [Sphere(f"disc{i}.centre", float(r)) for i, r in enumerate(radii)]
    box = [
        Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)),
        Plane(GROUND.at(-width, 0.0), (1.0, 0.0)),
        Plane(GROUND.at(width, 0.0), (-1.0, 0.0)),
    ]
    touching = [contact(spheres, box, law, name="box"), mutual_contact(spheres, law, name="discs")]
    return connect(bodies, touching, gravity=(0.0, -GRAVITY))


def run(
    *,
    discs: Annotated[int, Option("number of discs")] = 100,
    friction: Annotated[float, Option("coefficient of friction")] = 0.3,
    restitution: Annotated[float, Option("e, from 0 to 1")] = 0.3,
    step: Annotated[float, Option("time step", "s")] = 5e-3,
    end: Annotated[float, Option("end of the run", "s")] = 0.25,
    seed: Annotated[int, Option("of the radii and places")] = 1,
) -> Result:
    """Discs that fall into a box and pile up, with friction and restitution."""
    count, rng = check.count("discs", discs), np.random.default_rng(seed)
    radii = RADIUS * (1.0 - SPREAD * rng.random(count))
    wide = max(2, round(math.sqrt(count)))
    pitch, width = 2.1 * RADIUS, 1.05 * RADIUS * wide + 0.3 * RADIUS
    mechanism = pile(radii, width, Rigid(restitution=restitution, friction=friction))
    places, motion = {}, {}
    for i in range(count):
        row, column = divmod(i, wide)
        x = (column - 0.5 * (wide - 1)) * pitch + (0.25 * RADIUS if row % 2 else -0.25 * RADIUS)
        places[f"disc{i}"] = (x, RADIUS * 1.05 + row * pitch, 0.0)
        motion[f"disc{i}"] = (*(0.1 * rng.standard_normal(2)), 0.0)
    start = mechanism.consistent_state(mechanism.assemble(guess=places), velocities=motion)
    steps = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    times = np.linspace(0.0, steps * step, steps + 1)
    return Result(integrate(mechanism, start, times, method=Exact(contact="steps")), radii, width)


def centres(result: Result) -> Array:
    """Positions (k + 1, n, 2) [m] of the centres of the discs at the saved times."""
    return np.stack([result.solution[f"disc{i}.centre"] for i in range(result.radii.size)], axis=1)


def penetration(result: Result) -> float:
    """Largest penetration [m] of two discs, or of a disc and the box, at the saved times; zero without any."""
    place, r = centres(result), result.radii
    i, j = np.triu_indices(r.size, 1)
    between = np.linalg.norm(place[:, i] - place[:, j], axis=2) - (r[i] + r[j])
    walls = np.minimum(place[:, :, 1], result.width - np.abs(place[:, :, 0])) - r
    return abs(float(min(between.min(initial=0.0), walls.min(), 0.0)))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: the pile at the end, and energy over time; return the summary numbers."""
    solution, place = result.solution, centres(result)
    write_run(solution, folder)
    write_table(folder / "pile.csv", {"x_m": place[-1, :, 0], "y_m": place[-1, :, 1], "radius_m": result.radii})
    figure = new_figure(6.0, 6.0)
    axes = figure.subplots()
    turn = np.linspace(0.0, 2.0 * math.pi, 40)
    for (x, y), r in zip(place[-1], result.radii, strict=True):
        axes.plot(x + r * np.cos(turn), y + r * np.sin(turn), "C0", linewidth=0.8)
    top = float(place[-1, :, 1].max()) + RADIUS
    axes.plot([-result.width, -result.width, result.width, result.width], [top, 0.0, 0.0, top], "k")
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    figure.savefig(folder / "pile.png")
    numbers = {"penetration_max_m": penetration(result), "complementarity_max": complementarity(solution)}
    return numbers | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: penetration, balance and dissipation of contacts, with and without friction."""
    for friction in (0.0, 0.3):
        result = run(discs=16, friction=friction, end=0.2)
        yield vanishes(f"penetration [m], μ = {friction}", penetration(result), 1e-12)
        yield vanishes(f"balance, μ = {friction}", balance(result.solution), 1e-11)
        yield vanishes(f"complementarity, μ = {friction}", complementarity(result.solution), 1e-10)
        yield vanishes(f"energy given, μ = {friction}", least_taken(result.solution), 1e-11)


case = Case(run, write, checks, needs=("matplotlib",))
