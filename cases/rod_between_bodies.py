"""A very flexible rod between two tumbling rigid bodies: joints and invariants are conserved at any step size."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
import rigid
from flexph import Mechanism, Solution, ValidityWarning, connect, integrate, revolute, spherical
from flexph.case import Case, Check, Option
from flexph.drawing import sphere_shape
from flexph.export.tables import write_table

from .checks import vanishes
from .files import write_run
from .rods import axis_of, draw_axes, kept, rod_section

LENGTH = 10.0  # [m]
SECTION = rod_section(1e4, 500.0, mass=1.0, inertia=(20.0, 10.0, 10.0))
MOTION = {"hub": ((1.0, 0.5, 0.0), (1.0, 4.0, 1.5)), "ball": ((-1.0, 0.0, 4.0), (3.0, -3.0, 1.0))}  # [m/s], [rad/s]


def between(elements: int, order: int) -> Mechanism:
    """Mechanism of a flexible rod with a hub at its root (revolute joint) and a ball at its tip (spherical joint)."""
    rod = fem.rod(LENGTH, None, SECTION, elements=elements, order=order)
    hub = rigid.body(10.0, inertia=(20.0, 25.0, 30.0), ports={"axle": (1.0, 0.0, 0.0)}, shape=sphere_shape(0.8))
    ball = rigid.body(5.0, inertia=(5.0, 8.0, 10.0), ports={"pin": (-1.0, 0.2, 0.0)}, shape=sphere_shape(0.6))
    joints = [revolute("rod.root", "hub.axle", axis=(0.0, 1.0, 0.0)), spherical("rod.tip", "ball.pin")]
    return connect({"hub": hub, "rod": rod, "ball": ball}, joints)


def solve(step: float, elements: int, order: int, end: float) -> Solution:
    """Run of the rod and both bodies from the straight rod, with both bodies spinning, up to ``end`` [s]."""
    mechanism = between(elements, order)
    pose = mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))})
    with warnings.catch_warnings():  # the nearest consistent motion is intended
        warnings.filterwarnings("ignore", "the velocities given contradict")
        start = mechanism.consistent_state(pose, velocities=MOTION)
    return integrate(mechanism, start, np.linspace(0.0, end, max(1, round(end / step)) + 1))


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.1,
    elements: Annotated[int, Option("elements of the rod")] = 5,
    order: Annotated[int, Option("their order: 1, 2 or 3")] = 2,
    end: Annotated[float, Option("end of the run", "s")] = 15.0,
) -> Solution:
    """A flexible rod between two tumbling rigid bodies: energy, both momenta, joints and rotations at any step."""
    if not 0.0 < step <= end:
        raise ValueError(f"step must be positive and not above end = {end} s, got {step} s")
    return solve(step, elements, order, end)


def figures(solution: Solution) -> dict[str, Any]:
    """Summary numbers: largest errors of the quantities that the scheme conserves."""
    return {"energy_drift_max_rel": solution.energy_drift(), **kept(solution)}


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and picture of the motion, the moving bodies for mesh viewers, and the run itself.

    Return the summary numbers.
    """
    write_run(solution, folder)
    momenta = {"linear": solution.linear_momentum(), "angular": solution.angular_momentum()}
    columns = {f"{name}_{axis}": rows[:, k] for name, rows in momenta.items() for k, axis in enumerate("xyz")}
    write_table(folder / "momenta.csv", {"t_s": solution.times, **columns})
    pick = np.linspace(0, len(solution.times) - 1, 6).astype(int)
    lines = {f"{solution.times[i]:.3g} s": axis_of(solution.mechanism, solution.states[i]) for i in pick}
    centres = [solution[f"{body}.centre"][pick] for body in ("hub", "ball")]
    draw_axes(folder / "motion.png", lines, bodies=dict(zip(lines, np.stack(centres, axis=1), strict=True)))
    return figures(solution)


def checks() -> Iterable[Check]:
    """Checks: energy, momenta, joints and rotations at two step sizes, one of them too long to resolve the motion."""
    for step in (0.1, 0.3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ValidityWarning)  # the long step turns by more than a radian
            solution = solve(step, 5, 2, 15.0)
        for name, value in figures(solution).items():
            if not name.startswith("newton"):
                yield vanishes(f"step {step} s: {name}", value, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
