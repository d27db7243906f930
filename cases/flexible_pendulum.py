"""A flexible pendulum in space: energy, joint, rotations and the vertical angular momentum to round-off.

A strip of soft plastic (polyethylene, 1 m × 60 mm × 20 mm) hangs on a spherical joint at its end. It is released from
the horizontal with a sideways push, a spin about the vertical: it falls, swings round and bends by some centimetres.
The forces of gravity and of the joint have no moment about the vertical through the joint, so

    H = constant,  L_z = constant,  0 = p_root,  RᵀR = 1

and the scheme preserves all four at any step size (a discrete gradient pair, [dg] eq. (18) and sec. 6.3). A rigid thin
rod of length L, released with the spin w, swings down to −L c with c the positive root of ``3 g (1 − c²) = L w² c``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import fem
from flexph import GROUND, PHDAE, Mechanism, Solution, connect, integrate, spherical
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import vanishes
from .files import write_run

LENGTH = 1.0  # [m]
SECTION = fem.Section(width=0.06, height=0.02)  # [m]
YOUNG, DENSITY, POISSON = 0.2e9, 920.0, 0.45  # low-density polyethylene
GRAVITY = 9.81  # [m/s²]
PUSH = 3.0  # spin about the vertical at the start [rad/s]

Strain = Literal["linear", "von_karman"]


@dataclass(frozen=True)
class Result:
    """A run of the pendulum, the position of its tip in the world and its deflection in the frame of the strip.

    Both are (k, 3) [m].
    """

    solution: Solution
    tip: Array
    deflection: Array


def pendulum(elements: int, strain: Strain, young: float = YOUNG) -> Mechanism:
    """Mechanism of the flexible strip, hung at its root on a spherical joint; ``young`` is Young's modulus [Pa]."""
    material = fem.Material(young=young, density=DENSITY, poisson=POISSON)
    arm = fem.beam(LENGTH, material, SECTION, elements=elements, dim=3, strain=strain)
    return connect({"arm": arm}, [spherical("arm.root", GROUND.at(0.0, 0.0, 0.0))], gravity=(0.0, 0.0, -GRAVITY))


def solve(elements: int, strain: Strain, steps: int, step_size: float, *, young: float = YOUNG) -> Solution:
    """Run of the strip from the undeformed horizontal pose with a sideways push, in ``steps`` steps."""
    mechanism = pendulum(elements, strain, young)
    pose = mechanism.assemble({"arm": (0.0, 0.0, 0.0)})
    state = mechanism.consistent_state(pose, velocities={"arm": (0.0, 0.0, PUSH)})
    return integrate(mechanism, state, step_size * np.arange(steps + 1))


def run(
    *,
    steps: Annotated[int, Option("time steps")] = 10_000,
    step_size: Annotated[float, Option("length of a time step", "s")] = 1e-3,
    strain: Annotated[Strain, Option("axial strain of the strip")] = "von_karman",
    elements: Annotated[int, Option("finite elements of the strip")] = 3,
) -> Result:
    """Flexible pendulum in space on a spherical joint: conserved quantities, tip motion and energy ledger."""
    check_steps(steps, step_size)
    solution = solve(elements, strain, steps, step_size)
    return Result(solution, solution.position("arm.tip"), solution.displacement("arm.tip"))


def check_steps(steps: int, step_size: float) -> None:
    """Raise ValueError unless ``steps`` is at least 1 and ``step_size`` is positive."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    if not (step_size > 0.0 and math.isfinite(step_size)):
        raise ValueError(f"step-size must be positive, got {step_size} s")


def kept(solution: Solution) -> dict[str, float]:
    """Largest residuals of what the scheme conserves, by name: energy and its balance, joints, rotations."""
    ledger = solution.ledger
    return {
        "energy_residual_max_rel": max(solution.energy_drift(), ledger.largest_residual),
        "joint_drift_max_m": float(ledger.position_residual.max()),
        "orthogonality_max": solution.orthogonality(),
    }


def drift(momentum: Array) -> float:
    """Largest change of a vector (k, d) or number (k,) since the first time, divided by its magnitude at that time."""
    rows = momentum.reshape(len(momentum), -1)
    return float(np.linalg.norm(rows - rows[0], axis=1).max() / np.linalg.norm(rows[0]))


def largest_turn(solution: Solution) -> float:
    """Largest component of the rotation of any section relative to its body frame [rad].

    The model is valid for small rotations of this kind.
    """
    turned = [
        np.abs(body.section_rotation @ solution.deformation(name).T).max()
        for name, body in solution.mechanism.bodies.items()
        if body.size
    ]
    return float(max(turned))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and plots of the tip, the ledger, the moving strip, and the run itself.

    Return the summary numbers.
    """
    solution = result.solution
    write_run(solution, folder)
    momentum = solution.angular_momentum()
    columns = {f"tip_{'xyz'[k]}_m": result.tip[:, k] for k in range(3)}
    columns |= {f"deflection_{'xyz'[k]}_m": result.deflection[:, k] for k in range(3)}
    write_table(folder / "tip.csv", {"t_s": solution.times, **columns, "L_z_N_m_s": momentum[:, 2]})
    draw(result, folder / "tip.png")
    return {
        **kept(solution),
        "linear_momentum_drift_rel": None,  # gravity and the joint change it
        "angular_momentum_drift_rel": drift(momentum[:, 2]),  # about the vertical; the other two change
        "tip_lowest_m": result.tip[:, 2].min(),
        "deflection_max_m": np.linalg.norm(result.deflection, axis=1).max(),
        "section_rotation_max_rad": largest_turn(solution),
        "newton_iterations_mean": solution.ledger.iterations.mean(),
    }


def draw(result: Result, path: Path) -> None:
    """Draw the path of the tip from above and from the side, height and deflection over time."""
    figure = new_figure(9.0, 7.0)
    above, side, height, bend = figure.subplots(2, 2).ravel()
    x, y, z = result.tip.T
    times = result.solution.times
    for axes, (horizontal, vertical), labels in ((above, (x, y), "xy"), (side, (x, z), "xz")):
        axes.plot(horizontal, vertical, linewidth=0.7)
        axes.plot(0.0, 0.0, "k+")
        axes.set_aspect("equal")
        axes.set_xlabel(f"{labels[0]} [m]")
        axes.set_ylabel(f"{labels[1]} [m]")
        axes.set_title(f"path of the tip, {'from above' if labels == 'xy' else 'from the side'}", fontsize="medium")
    height.plot(times, z, linewidth=0.9)
    height.set_ylabel("height of the tip [m]")
    for k, label in ((1, "across the thickness"), (2, "across the width")):
        bend.plot(times, 1e3 * result.deflection[:, k], linewidth=0.9, label=label)
    bend.set_ylabel("deflection of the tip [mm]")
    legend_above(bend, 2)
    for axes in (height, bend):
        axes.set_xlabel("t [s]")
        axes.set_xlim(times[0], times[-1])
    for axes in (above, side, height, bend):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def lowest_rigid() -> float:
    """Lowest height [m] of the tip of a rigid thin rod, released as the strip is: −L c with 3 g (1 − c²) = L w² c."""
    p = LENGTH * PUSH**2 / (6.0 * GRAVITY)
    return -LENGTH * (math.sqrt(1.0 + p * p) - p)


def checks() -> Iterable[Check]:
    """Checks: conserved quantities with both strains and two step sizes; a stiff strip against a rigid rod."""
    for strain in ("linear", "von_karman"):
        for step_size in (1e-3, 2e-3):
            solution = solve(3, strain, 250, step_size)
            numbers = kept(solution) | {"L_z drift": drift(solution.angular_momentum()[:, 2])}
            yield from zeros(numbers, f"{strain}, h = {step_size:g} s")
    stiff = solve(1, "linear", 500, 1e-3, young=1e4 * YOUNG)
    lowest = float(stiff.position("arm.tip")[:, 2].min())
    yield Check(
        "lowest tip of a stiff strip [m]",
        "rigid thin rod, exact",
        lowest_rigid(),
        lowest,
        kind="closed form",
        tolerance=1e-4,
    )


ZERO = {"energy_residual_max_rel": 1e-11, "joint_drift_max_m": 1e-11, "orthogonality_max": 1e-12}
"""Tolerances of conserved quantities: round-off of thousands of steps; 1e-11 for all others."""


def zeros(numbers: dict[str, float], what: str) -> Iterable[Check]:
    """Checks that all ``numbers`` are zero to round-off, each with its name and ``what``, the name of the run."""
    for name, value in numbers.items():
        tolerance = ZERO.get(name, 1e-11)
        yield vanishes(f"{name}, {what}", value, tolerance)


def analysed() -> PHDAE:
    """Equations of the pendulum with one element and its push, for the analysis of this case."""
    mechanism = pendulum(1, "von_karman")
    pose = mechanism.assemble({"arm": (0.0, 0.0, 0.0)})
    state = mechanism.consistent_state(pose, velocities={"arm": (0.0, 0.0, PUSH)})
    return mechanism.phdae(mechanism.consistent_multipliers(state))


case = Case(run, write, checks, needs=("matplotlib",), system=analysed)
