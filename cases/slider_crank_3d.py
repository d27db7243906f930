"""Rigid spatial slider-crank of the IFToMM library of multibody benchmark problems.

A crank (0.08 m, 0.12 kg) turns about an axle parallel to x through (0, 0.1, 0.12) m and moves, by a rod (0.3 m,
0.5 kg), a slider of 2 kg on the x axis. Initially the crank points along +z, the slider is at 0.2 m, and the
crank turns at 6 rad/s without a drive. g = 9.81 m/s² along −z, 5 s. The published curves are the position of the
slider and the angle of the crank. They depend on data that the library does not specify, assumed here:

- the crank turns in the positive sense about +x, so that the slider starts at +0.24 m/s;
- the mass centre of the crank lies in the middle between axle and pin, and its 1e-4 kg m² are about that centre;
- the cross of the universal joint has one axis along the rail, fixed in the slider, and the other one in the rod,
  across the rod and the rail;
- the inertia of the slider, which does not turn, has no effect.

``rod`` selects the moments of inertia of the rod about its centre, 4e-4 and twice 4e-3 kg m². With ``slender`` the
small moment is about the rod's own axis, as stated; this is the curve submitted by F. González, to 6e-5 m over 5 s.
With ``masoudi`` it is about the normal of the plane of rod and cross axis: this is the curve submitted by R. Masoudi,
to 1.1e-5 m and 2.4e-4 rad. After 5 s the crank angles of the two differ by 2.8 rad; other submitted curves end between
51.3 and 54.1 rad.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, State, connect, integrate, prismatic, revolute, spherical, universal
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import near, vanishes
from .files import write_run

CRANK, ROD = 0.08, 0.3  # lengths [m]
AXLE = (0.0, 0.1, 0.12)  # [m]
PIN = (0.0, 0.1, 0.2)  # where the crank pin is at the start [m]
START = 0.2  # position of the slider at the start [m]
SPEED = 6.0  # of the crank at the start [rad/s]
DURATION = 5.0  # [s]
GRAVITY = (0.0, 0.0, -9.81)
RODS = {"slender": (4e-4, 4e-3, 4e-3), "masoudi": (4e-3, 4e-3, 4e-4)}  # along the rod, cross axis, normal [kg m²]

Rod = Literal["slender", "masoudi"]


@dataclass(frozen=True)
class Result:
    """A run of the mechanism, the angle of the crank from +z, and the motion of the slider on its axis.

    Angle (k,) [rad], position (k,) [m] and velocity (k,) [m/s].
    """

    rod: Rod
    solution: Solution
    angle: Array
    position: Array
    velocity: Array


def slider_crank(rod: Rod) -> Mechanism:
    """Mechanism with a revolute axle, a spherical joint at the crank pin, a universal joint at the slider, and a rail.

    ``rod`` selects the inertia of the rod.
    """
    crank = rigid.body(
        0.12,
        inertia=(1e-4, 1e-4, 1e-5),  # only the first one takes part
        centre=(0.0, 0.0, 0.5 * CRANK),
        ports={"axle": (0.0, 0.0, 0.0), "pin": (0.0, 0.0, CRANK)},
    )
    ends = {"pin": (-0.5 * ROD, 0.0, 0.0), "slider": (0.5 * ROD, 0.0, 0.0)}
    return connect(
        {
            "crank": crank,
            "rod": rigid.body(0.5, inertia=RODS[rod], ports=ends),
            "slider": rigid.box((0.04, 0.025, 0.025), density=2.0 / (0.04 * 0.025**2)),
        },
        [
            revolute("crank.axle", GROUND.at(*AXLE), axis=(1.0, 0.0, 0.0)),
            spherical("rod.pin", "crank.pin"),
            universal("rod.slider", "slider.centre", axis=(0.0, 1.0, 0.0), second_axis=(1.0, 0.0, 0.0)),
            prismatic("slider.centre", GROUND.at(0.0, 0.0, 0.0), direction=(1.0, 0.0, 0.0)),
        ],
        gravity=GRAVITY,
    )


def start(mechanism: Mechanism) -> State:
    """State in the published pose with the published crank speed; the joints determine all other velocities."""
    pin, end = np.array(PIN), np.array([START, 0.0, 0.0])
    along = (end - pin) / ROD
    cross = np.cross([1.0, 0.0, 0.0], along)
    cross /= np.linalg.norm(cross)
    axes = np.column_stack([along, cross, np.cross(along, cross)])
    pose = mechanism.assemble({"crank": AXLE, "rod": (0.5 * (pin + end), axes), "slider": (START, 0.0, 0.0)})
    return mechanism.consistent_state(pose, velocities={"crank": ((0.0, 0.0, 0.0), (SPEED, 0.0, 0.0))})


def solve(rod: Rod, steps: int, duration: float = DURATION) -> Result:
    """Run of the mechanism with ``steps`` equal steps, and its curves of slider and crank."""
    mechanism = slider_crank(rod)
    solution = integrate(mechanism, start(mechanism), np.linspace(0.0, duration, steps + 1))
    turned = solution.rotations("crank")
    angle = np.unwrap(np.arctan2(-turned[:, 1, 2], turned[:, 2, 2]))
    position = solution.position("slider.centre")[:, 0]
    return Result(rod, solution, angle, position, solution["slider.velocity"][:, 0])


def run(
    *,
    steps: Annotated[int, Option("time steps over 5 s")] = 5000,
    rod: Annotated[
        Rod, Option("inertia of the rod: as stated, or as in the curve of the problem's author")
    ] = "slender",
) -> Result:
    """Rigid spatial slider-crank (IFToMM benchmark): slider, crank angle, joint reactions and energy ledger."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    return solve(rod, steps)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of motion and reactions, plots, the moving bodies, and the run itself.

    Return the summary numbers.
    """
    solution, ledger = result.solution, result.solution.ledger
    write_run(solution, folder)
    write_table(
        folder / "motion.csv",
        {
            "t_s": solution.times,
            "slider_m": result.position,
            "slider_m_s": result.velocity,
            "crank_rad": result.angle,
            "crank_rad_s": solution.spin("crank")[:, 0],
        },
    )
    forces = reactions(solution)
    columns = {f"{name}_{'xyz'[k]}_N": force[:, k] for name, force in forces.items() for k in range(3)}
    write_table(folder / "reactions.csv", {"t_s": solution.multiplier_times, **columns})
    draw_motion(result, folder / "motion.png")
    draw_reactions(solution, forces, folder / "reactions.png")
    return {
        "slider_end_m": result.position[-1],
        "slider_max_m": result.position.max(),
        "slider_min_m": result.position.min(),
        "crank_end_rad": result.angle[-1],
        "energy_residual_max_rel": max(solution.energy_drift(), ledger.largest_residual),
        "joint_drift_max_m": ledger.position_residual.max(),
        "orthogonality_max": solution.orthogonality(),
        "reaction_max_N": {name: np.linalg.norm(force, axis=1).max() for name, force in forces.items()},
        "step_size_s": solution.times[1] - solution.times[0],
        "newton_iterations_mean": ledger.iterations.mean(),
    }


def reactions(solution: Solution) -> dict[str, Array]:
    """Forces of the four joints in world axes at ``multiplier_times``, (k, 3) [N] each, by name.

    They act on the crank at the axle, on the rod at the crank pin and at the slider, and on the slider from the rail.
    """
    names = ("axle", "crank_pin", "slider_pin", "rail")
    joints = [connection.name for connection in solution.mechanism.connections]
    return {name: solution.reaction(joint).force for name, joint in zip(names, joints, strict=True)}


def draw_motion(result: Result, path: Path) -> None:
    """Draw the position and velocity of the slider, angle of the crank, with the curve submitted for this rod."""
    figure = new_figure(8.0, 7.5)
    position, velocity, angle = figure.subplots(3, 1, sharex=True)
    times = result.solution.times
    for axes, values, label in (
        (position, result.position, "slider [m]"),
        (velocity, result.velocity, "slider [m/s]"),
        (angle, result.angle, "crank [rad]"),
    ):
        axes.plot(times, values, linewidth=1.2)
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    given = SUBMITTED[result.rod]
    position.plot(given.times, given.positions, "k.", clip_on=False, label=f"solution submitted by {given.author}")
    legend_above(position)
    angle.set_xlabel("t [s]")
    angle.set_xlim(times[0], times[-1])
    figure.align_ylabels()
    figure.savefig(path)


def draw_reactions(solution: Solution, forces: dict[str, Array], path: Path) -> None:
    """Draw the magnitudes of the joint forces over the first turns."""
    figure = new_figure(8.0, 3.8)
    axes = figure.subplots()
    shown = solution.multiplier_times <= 1.2  # two turns: the rest repeats
    for name, force in forces.items():
        size = np.linalg.norm(force, axis=1)
        axes.plot(solution.multiplier_times[shown], size[shown], label=name.replace("_", " "), linewidth=1.0)
    axes.set_xlabel("t [s]")
    axes.set_ylabel("joint force [N]")
    axes.set_xlim(0.0, solution.multiplier_times[shown][-1])
    axes.set_ylim(bottom=0.0)
    legend_above(axes, 4)
    axes.grid(alpha=0.3)
    figure.savefig(path)


class Submitted(NamedTuple):
    """Solution that was submitted for the benchmark: author, times (k,) [s] and slider positions (k,) [m].

    ``steps`` is a number of equal steps whose ends include these times.
    """

    author: str
    times: Array
    positions: Array
    steps: int


SUBMITTED: dict[Rod, Submitted] = {
    "slender": Submitted(
        "González",
        0.5 * np.arange(1, 11),
        np.array(
            [
                *(0.184952803, 0.211754668, 0.25696554, 0.289063554, 0.256509783),
                *(0.228450093, 0.206512886, 0.188208161, 0.199295373, 0.240761815),
            ]
        ),
        1500,
    ),
    "masoudi": Submitted(
        "Masoudi",
        5.0 / 299.0 * np.array([30, 60, 90, 120, 150, 180, 210, 240, 270, 299]),
        np.array(
            [
                *(0.188148922, 0.234415945, 0.288465174, 0.264900212, 0.228634358),
                *(0.201825396, 0.186353697, 0.23007366, 0.286518254, 0.261012849),
            ]
        ),
        6 * 299,
    ),
}
"""Every fiftieth value of the solution submitted to the benchmark by F. González and every thirtieth of R. Masoudi's,
from the collection that comes with Exudyn (docs/verification)."""

ACCURACY = 7e-5
"""Largest deviation of the submitted positions from the equation of motion [m]: up to 5.8e-5."""

EXACT: dict[Rod, tuple[float, float]] = {"slender": (0.24071957, 54.3333322), "masoudi": (0.26100201, 51.5065784)}
"""Slider [m] and crank [rad] at 5 s from the equation of motion of the crank angle, integrated by an
explicit method of order 8 with tolerance 1e-11 (tests/cases/test_slider_crank_3d.py does so again)."""


def checks() -> Iterable[Check]:
    """Checks: positions of the slider against submitted solutions, motion at 5 s against a reference, energy balance.

    The reference is the equation of motion of the crank angle, integrated independently.
    """
    for rod, given in SUBMITTED.items():
        coarse, fine = solve(rod, given.steps), solve(rod, 2 * given.steps)
        positions = extrapolated(coarse.position, fine.position)
        nodes = np.rint(given.times / DURATION * given.steps).astype(int)
        for time, published, computed in zip(given.times, given.positions, positions[nodes], strict=True):
            name, source = f"slider at {time:.4g} s [m], {rod}", f"solution of {given.author}"
            yield near(name, published, computed, ACCURACY, source=source, kind="independent code")
        ends = float(positions[-1]), float(extrapolated(coarse.angle, fine.angle)[-1])
        units = ("slider at 5 s [m]", "crank at 5 s [rad]")
        for name, published, computed, tolerance in zip(units, EXACT[rod], ends, (1e-6, 2e-5), strict=True):
            # remaining fourth-order terms
            source = "equation of motion"
            yield near(f"{name}, {rod}", published, computed, tolerance, source=source, kind="independent code")
        drift = max(fine.solution.energy_drift(), fine.solution.ledger.largest_residual)
        yield vanishes(f"energy residual, {rod}", drift, 1e-11)


def extrapolated(coarse: Array, fine: Array) -> Array:
    """Curve at the times of the coarse run without its error of second order; ``fine`` has half the step."""
    return (4.0 * fine[::2] - coarse) / 3.0


case = Case(run, write, checks, needs=("matplotlib",))
