"""Roller chain over two equal sprockets, whose teeth are closed curves that the rollers touch.

Links are massless and keep the pitch p between their rollers. The driven sprocket turns with the mean speed of the
driver, whatever the load. In the mean a turn of z teeth advances the chain by z p, so that under the torque T the
tension of the tight strand exceeds that of the slack strand by 2π T/(z p).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, distance, drive, hinge, integrate, torque
from flexph.case import Case, Check, Option
from flexph.contacts import KelvinVoigt, Mesh, Sphere, contact
from flexph.export.tables import write_table
from flexph.laws import viscous
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures
from .files import write_run

TEETH, SPAN, PITCH, ROLLER = 10, 6, 0.02, 0.006  # an even number, links of a strand, [m], [m]
WIDER, SEAT, TIP = 1.08, np.radians(65.0), 0.06  # of seats relative to rollers, half angles of seats and tips
STIFFNESS, DAMPING, MASS = 5e5, 40.0, 0.005  # [N/m], [N s/m], of a roller [kg]
RADIUS = PITCH / (2.0 * np.sin(np.pi / TEETH))
APART = SPAN * PITCH
"""Distance between the axes of the sprockets [m]; RADIUS is that of their pitch circles [m]."""
LOADED = 0.05
"""Time in which the load grows [s]."""


def profile() -> tuple[Array, list[tuple[int, int]]]:
    """Points (n, 2) [m] and segments, pairs of points, of the closed outline of a sprocket, counterclockwise.

    Each tooth adds an arc for the seat of a roller and a tip.
    """
    points = []
    for i in range(TEETH):
        at = 2.0 * np.pi * i / TEETH
        out, along = np.array([np.cos(at), np.sin(at)]), np.array([-np.sin(at), np.cos(at)])
        for turn in np.linspace(-SEAT, SEAT, 9):
            points.append(RADIUS * out + WIDER * ROLLER * (np.sin(turn) * along - np.cos(turn) * out))
        for way in (-TIP, TIP):
            tip = at + np.pi / TEETH + way
            points.append((RADIUS + 0.45 * ROLLER) * np.array([np.cos(tip), np.sin(tip)]))
    return np.array(points), [(i, (i + 1) % len(points)) for i in range(len(points))]


def places() -> Array:
    """Positions (n, 2) [m] of all rollers around both sprockets, counterclockwise from the top of the driver."""
    half, step = TEETH // 2 + 1, 2.0 * np.pi / TEETH
    left = 0.5 * np.pi + step * np.arange(half)
    strand = PITCH * np.arange(1, SPAN)
    circle = RADIUS * np.column_stack([np.cos(left), np.sin(left)])
    below = np.column_stack([strand, np.full(strand.size, -RADIUS)])
    return np.vstack([circle, below, (APART, 0.0) - circle, (APART, 0.0) - below])


def chain_drive(speed: float) -> Mechanism:
    """Mechanism of a chain over a driver with the given speed [rad/s] and a driven sprocket with a load."""
    count = len(places())
    rollers = [f"roller {i + 1}" for i in range(count)]
    sprocket = rigid.body(0.5, inertia=2e-4, ports={"hub": (0.0, 0.0)})
    law, teeth = KelvinVoigt(STIFFNESS, damping=DAMPING), profile()
    joints = [
        hinge("driver.hub", GROUND.at(0.0, 0.0)),
        hinge("driven.hub", GROUND.at(APART, 0.0), friction=viscous(2e-4)),
        drive("driver.hub", angle=lambda t: 0.5 * np.pi + speed * t, name="motor"),
        torque("driven.hub", name="load"),
        *(distance(f"{a}.point", f"{b}.point") for a, b in zip(rollers, [*rollers[1:], rollers[0]], strict=True)),
    ]
    for name in ("driver", "driven"):
        balls = [Sphere(f"{roller}.point", ROLLER) for roller in rollers]
        joints.append(contact(balls, Mesh(f"{name}.hub", teeth), law, name=f"{name} teeth"))
    bodies = {"driver": sprocket, "driven": sprocket} | {roller: rigid.point(MASS) for roller in rollers}
    return connect(bodies, joints)


def run(
    *,
    speed: Annotated[float, Option("speed of the driver", "rad/s")] = 20.0,
    load: Annotated[float, Option("torque of the load", "N m")] = 1.0,
    end: Annotated[float, Option("end of the run", "s")] = 0.25,
    step: Annotated[float, Option("time step", "s")] = 1e-4,
) -> Solution:
    """Roller chain over two equal sprockets."""
    mechanism, at = chain_drive(check.positive("speed", speed, "rad/s")), places()
    names = [name for name in mechanism.bodies if name.startswith("roller")]
    pose = mechanism.assemble(
        {name: (*place, 0.0) for name, place in zip(names, at.tolist(), strict=True)}
        | {"driver": (0.0, 0.0, 0.5 * np.pi), "driven": (APART, 0.0, 0.5 * np.pi)}
    )
    centre = np.clip(at[:, 0], 0.0, APART)
    rates = speed * np.column_stack([-at[:, 1], at[:, 0] - centre])
    velocities = {"driver": (0.0, 0.0, speed), "driven": (0.0, 0.0, speed)}
    start = mechanism.consistent_state(
        pose, velocities=velocities | {name: tuple(rate) for name, rate in zip(names, rates.tolist(), strict=True)}
    )
    steps = round(check.positive("end", end, "s") / check.positive("step", step, "s"))
    inputs = {"load": lambda t: -load * min(t / LOADED, 1.0)}
    return integrate(mechanism, start, np.linspace(0.0, end, steps + 1), inputs=inputs)


def strands(solution: Solution) -> tuple[Array, Array]:
    """Tensions (k,) [N] of the upper and of the lower strand, half-way between the sprockets, in each step."""
    names = [name for name in solution.mechanism.bodies if name.startswith("roller")]
    place = np.stack([solution[f"{name}.centre"] for name in names], axis=1)
    place = 0.5 * (place[1:] + place[:-1])
    x, y = place[:, :, 0] - 0.5 * APART, place[:, :, 1]
    rows = [i for i, name in enumerate(solution.mechanism.constraint_names) if name.startswith("distance")]
    force = solution.multipliers[:, rows]
    crosses = x * np.roll(x, -1, axis=1) <= 0.0
    upper, lower = (np.where(crosses & (sign * y > 0.0), force, 0.0).sum(axis=1) for sign in (1.0, -1.0))
    return upper, lower


def means(solution: Solution) -> dict[str, float]:
    """Means over the second half of the run: ratio of the speeds, and difference of the tensions [N].

    The difference is |T₁ − T₂| of the mean tensions T₁ of the upper and T₂ of the lower strand.
    """
    late = solution.times.size // 2
    upper, lower = strands(solution)
    return {
        "ratio": float(solution["driven.spin"][late:].mean() / solution["driver.spin"][late:].mean()),
        "pull_N": float(abs((upper - lower)[late:].mean())),
    }


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: speed of the driven sprocket and tensions over time; return the summary numbers."""
    t, (upper, lower) = solution.times[1:], strands(solution)
    spin = solution["driven.spin"][1:, 0]
    write_run(solution, folder)
    write_table(folder / "chain.csv", {"t_s": t, "driven_rad_s": spin, "upper_N": upper, "lower_N": lower})
    figure = new_figure(7.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(t, spin)
    above.set_ylabel("speed [rad/s]")
    below.plot(t, upper, label="upper strand")
    below.plot(t, lower, label="lower strand")
    below.set(xlabel="t [s]", ylabel="tension [N]")
    below.legend(frameon=False)
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "chain.png")
    return means(solution) | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: mean ratio of the speeds, difference of the tensions of both strands, and the balance."""
    load = 1.0
    solution = run(load=load)
    mean_values = means(solution)
    yield near("ratio of the speeds", 1.0, mean_values["ratio"], 0.01, source="positive drive: as many teeth")
    pull = 2.0 * np.pi * load / (TEETH * PITCH)
    yield near(
        "pull of the tight strand [N]", pull, mean_values["pull_N"], 0.05 * pull, source="T = F z p/2π in the mean"
    )
    yield vanishes("balance", balance(solution), 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
