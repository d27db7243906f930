"""A block that rocks from corner to corner on rough ground, with Housner's loss at each impact.

About a corner at the distance R from its centre, at the angle α from the vertical, the block obeys θ̈ = −p² sin(α − θ),
with p² = 3g/(4R) for a rectangle; each impact (plastic, the other corner lifts) multiplies the spin by
r = 1 − 1.5 sin²α (G. W. Housner, The behavior of inverted pendulum structures during earthquakes, Bull. Seism. Soc. Am.
53 (1963) 403).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.integrate import quad

import rigid
from flexph import GROUND, Event, Mechanism, Solution, State, connect, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, contact
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import converges, near, vanishes
from .contact_figures import balance, figures, least_taken
from .files import write_run

WIDTH, HEIGHT, GRAVITY = 0.1, 0.4, 9.81  # half the sides b, h [m]; [m/s²]
ALPHA = math.atan2(WIDTH, HEIGHT)
P = math.sqrt(0.75 * GRAVITY / math.hypot(WIDTH, HEIGHT))  # [1/s]
LOSS = 1.0 - 1.5 * math.sin(ALPHA) ** 2


def block_on_ground() -> Mechanism:
    """Mechanism of a block of 1 kg on ground so rough that it does not slide."""
    inertia = (WIDTH**2 + HEIGHT**2) / 3.0
    ports, shape = {"left": (-WIDTH, -HEIGHT), "right": (WIDTH, -HEIGHT)}, box_shape((2.0 * WIDTH, 2.0 * HEIGHT, WIDTH))
    block = rigid.body(1.0, inertia=inertia, ports=ports, shape=shape)
    ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    touch = contact(["block.left", "block.right"], ground, Rigid(friction=10.0), name="ground")
    return connect({"block": block}, [touch], gravity=(0.0, -GRAVITY))


def leaning(mechanism: Mechanism, tilt: float) -> State:
    """State of the block at rest on its right corner, tilted by the angle ``tilt`` [rad]."""
    c, s = math.cos(tilt), math.sin(tilt)
    place = (-c * WIDTH + s * HEIGHT, s * WIDTH + c * HEIGHT, -tilt)
    return mechanism.consistent_state(mechanism.assemble(guess={"block": place}))


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 2e-3,
    end: Annotated[float, Option("end of the run", "s")] = 1.8,
) -> Solution:
    """A rocking block released at half of its overturning angle (Housner 1963)."""
    mechanism = block_on_ground()
    count = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    flat = Event(lambda t, x: float(x["block.rotation"][1]))
    times = np.linspace(0.0, count * step, count + 1)
    return integrate(mechanism, leaning(mechanism, 0.5 * ALPHA), times, events={"flat": flat})


def tilts(solution: Solution) -> Array:
    """Angle of the block at the saved times (k,) [rad]."""
    rotation = solution.rotations("block")
    return np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])


def first_impact(solution: Solution) -> float:
    """Time [s] at which the block first stands on both corners; NaN if there is no impact in the run."""
    times = solution.events["flat"].times
    return float(times[0]) if len(times) else math.nan


def amplitudes(solution: Solution) -> list[float]:
    """Largest tilt between each two successive impacts, divided by α; the tilt before the first impact is left out."""
    edges = np.searchsorted(solution.times, solution.events["flat"].times)
    tilt = np.abs(tilts(solution))
    return [float(tilt[a:b].max() / ALPHA) for a, b in pairwise(edges)]


def exact_amplitudes(count: int) -> list[float]:
    """Largest tilts after the first ``count`` impacts, divided by α, in closed form.

    The kinetic energy falls by the factor r² at each impact.
    """
    top, tilts = 1.0 - math.cos(ALPHA), []
    left = math.cos(0.5 * ALPHA) - math.cos(ALPHA)
    for _ in range(count):
        left *= LOSS**2
        tilts.append(1.0 - math.acos(1.0 - (top - left)) / ALPHA)
    return tilts


def exact_first_impact() -> float:
    """Time of the first impact in closed form [s]: ∫ dθ/√(2p²(cos(α − θ₀) − cos(α − θ))) from zero to θ₀ = α/2.

    The block starts at rest with the tilt θ₀; at the tilt α it would stand on one corner in balance. The
    substitution u² = θ₀ − θ removes the singularity at the start.
    """
    start = 0.5 * ALPHA

    def rate(u: float) -> float:
        if u == 0.0:
            return math.sqrt(2.0 / math.sin(start))
        return 2.0 * u / math.sqrt(2.0 * (math.cos(start) - math.cos(start + u * u)))

    return float(quad(rate, 0.0, math.sqrt(ALPHA - start), epsabs=1e-13)[0] / P)


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tilt and energy over time; return the summary numbers."""
    write_run(solution, folder)
    tilt = tilts(solution)
    write_table(folder / "motion.csv", {"t_s": solution.times, "tilt_rad": tilt, "H_J": solution.ledger.total_energy})
    figure = new_figure(7.0, 4.0)
    axes = figure.subplots()
    axes.plot(solution.times, tilt / ALPHA, linewidth=1.2)
    axes.set(xlabel="t [s]", ylabel="tilt / α")
    axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    numbers = {"first_impact_s": first_impact(solution), "amplitudes": amplitudes(solution)}
    return numbers | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: tilts and time of impact against Housner's closed forms, and the order of convergence to them."""
    coarse, fine = run(step=8e-3, end=1.3), run(step=4e-3, end=1.3)
    exact, computed = exact_amplitudes(3), amplitudes(fine)
    yield near("first impact [s]", exact_first_impact(), first_impact(fine), 1e-5, source="Housner (1963)")
    errors = [abs(first_impact(s) - exact_first_impact()) for s in (coarse, fine)]
    yield converges("order of the first impact", math.log2(errors[0] / errors[1]), 0.2)
    for k, value in enumerate(computed[:2]):
        yield near(f"amplitude {k + 1} over α", exact[k], value, 1e-4, source="Housner (1963)")
    yield vanishes("balance", balance(fine), 1e-12)
    yield vanishes("energy given", least_taken(fine), 1e-13)


case = Case(run, write, checks, needs=("matplotlib",))
