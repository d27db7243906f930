"""Flexible bodies that tumble freely in space: energy and both momenta to round-off.

``--bodies 1`` is a T-shaped handle: a flexible plastic bar (0.4 m, a mass of 20 g at each end) on a rigid stem,
welded to its middle. Thrown with a spin about the stem, its axis of the middle moment of inertia, it flips repeatedly,
and the bar bends each time; a rigid one does so periodically, by Jacobi's solution of Euler's equations.
``--bodies 5`` is a chain of strips, joined alternately by spherical joints and hinges.

Without external forces the energy, the momentum and the angular momentum are constant, with joints and flexibility,
and the scheme conserves them at any step size ([dg] sec. 6.3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.spatial.transform import Rotation

import fem
import rigid
from cases.flexible_pendulum import Strain, check_steps, drift, kept, largest_turn, zeros
from flexph import Mechanism, Solution, State, connect, integrate, revolute, spherical, weld
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .files import write_run

YOUNG, DENSITY, POISSON = 0.2e9, 920.0, 0.45  # low-density polyethylene
VELOCITY = (0.3, -0.2, 0.1)  # of the centre of mass [m/s]

BAR, STEM = 0.4, 0.12  # lengths of the handle [m]
BAR_SECTION = fem.Section(diameter=0.01)  # [m]
STEM_RADIUS, STEM_DENSITY = 0.01, 2700.0  # [m], [kg/m³]
END_MASS = 0.02  # at each end of the bar [kg]
HANDLE_SPIN = (0.15, 15.0, 0.0)  # 1 % beside the stem, which points along y [rad/s]

RIGID_PERIOD = 0.9238964563
"""Time from one reversal of the rigid handle to the next [s], 2K(m)/λ (tests/cases/test_free_flight.py derives it)."""

LINK = 0.25  # length of a strip of the chain [m]
LINK_SECTION = fem.Section(width=0.06, height=0.006)  # [m]
HINGE = (0.0, 0.0, 1.0)  # axis of the hinges, along the width
ZIGZAG = math.radians(40.0)  # angle of the strips from the chain's axis at the start
CHAIN_SPIN = (1.0, 2.0, 4.0)  # [rad/s]
SHORT = 5  # strips with this zigzag and spin; longer chains have less of both, so that they do not crack like whips


@dataclass(frozen=True)
class Result:
    """A run in free flight, and the number of its bodies."""

    solution: Solution
    bodies: int


def plastic(young: float = YOUNG) -> fem.Material:
    """Material of the flexible bodies: polyethylene with the Young's modulus ``young`` [Pa]."""
    return fem.Material(young=young, density=DENSITY, poisson=POISSON)


def handle(strain: Strain, young: float = YOUNG) -> Mechanism:
    """Mechanism of a flexible bar along x, in its mean-axis frame, with a rigid stem welded to its middle.

    ``young`` is Young's modulus of the bar [Pa].
    """
    bar = fem.beam(
        BAR,
        plastic(young),
        BAR_SECTION,
        elements=2,
        dim=3,
        reference="mean_axis",
        strain=strain,
        stations={"middle": 0.5 * BAR},
    )
    stem = rigid.cylinder(STEM, STEM_RADIUS, density=STEM_DENSITY)
    return connect(
        {"bar": bar.with_mass("root", END_MASS).with_mass("tip", END_MASS), "stem": stem},
        [weld("stem.root", "bar.middle")],
    )


def chain(bodies: int, strain: Strain) -> Mechanism:
    """Mechanism of flexible strips in a row, joined by spherical joints and hinges in turn, a spherical one first."""
    link = fem.beam(LINK, plastic(), LINK_SECTION, elements=2, dim=3, strain=strain)
    joints = []
    for k in range(1, bodies):
        ends = f"link{k}.tip", f"link{k + 1}.root"
        joints.append(spherical(*ends) if k % 2 else revolute(*ends, axis=HINGE))
    return connect({f"link{k + 1}": link for k in range(bodies)}, joints)


def thrown(mechanism: Mechanism, places: dict[str, tuple[Array, Rotation]], centre: Array, spin: Array) -> State:
    """Undeformed state of all bodies in rigid motion: VELOCITY at the point ``centre`` [m], and the spin [rad/s].

    ``places`` are positions and rotations of the bodies, by name.
    """
    pose = mechanism.assemble(places)
    velocities = {name: (VELOCITY + np.cross(spin, at - centre), spin) for name, (at, _) in places.items()}
    return mechanism.consistent_state(pose, velocities=velocities)


def start(mechanism: Mechanism, bodies: int) -> State:
    """State at the start: the thrown handle with its stem along y, or the thrown chain as a zigzag in the x-y plane."""
    if bodies == 1:
        middle = np.array([0.5 * BAR, 0.0, 0.0])
        places = {"bar": (np.zeros(3), Rotation.identity()), "stem": (middle, Rotation.from_euler("z", 0.5 * math.pi))}
        return thrown(mechanism, places, handle_centre(mechanism), np.array(HANDLE_SPIN))
    places, at, less = {}, np.zeros(3), min(1.0, SHORT / bodies)
    for k, name in enumerate(mechanism.bodies):
        turn = Rotation.from_euler("z", less * (ZIGZAG if k % 2 else -ZIGZAG))
        places[name] = at, turn
        at = at + turn.apply([LINK, 0.0, 0.0])
    return thrown(mechanism, places, 0.5 * at, less * np.array(CHAIN_SPIN))


def solve(bodies: int, strain: Strain, steps: int, step_size: float, *, young: float = YOUNG) -> Solution:
    """Run of the handle (``bodies`` = 1) or of a chain of ``bodies`` strips, in ``steps`` steps.

    ``young`` is Young's modulus of the handle's bar [Pa].
    """
    mechanism = handle(strain, young) if bodies == 1 else chain(bodies, strain)
    return integrate(mechanism, start(mechanism, bodies), step_size * np.arange(steps + 1))


def run(
    *,
    bodies: Annotated[int, Option("1: a tumbling handle; more: a chain of that many strips")] = 1,
    steps: Annotated[int, Option("time steps")] = 10_000,
    step_size: Annotated[float, Option("length of a time step", "s")] = 5e-4,
    strain: Annotated[Strain, Option("axial strain of the flexible bodies")] = "von_karman",
) -> Result:
    """A flexible body or a chain of them that tumbles freely in space: conservation, motion and energy ledger."""
    if bodies < 1:
        raise ValueError(f"bodies must be at least 1, got {bodies}")
    check_steps(steps, step_size)
    return Result(solve(bodies, strain, steps, step_size), bodies)


def conserved(solution: Solution) -> dict[str, float]:
    """Largest residuals of the quantities that the scheme conserves in free flight, by name.

    They are energy and its balance, joints, rotations, and both momenta.
    """
    return kept(solution) | {
        "linear_momentum_drift_rel": drift(solution.linear_momentum()),
        "angular_momentum_drift_rel": drift(solution.angular_momentum()),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of momenta and spins, plots, the ledger, the moving bodies, and the run itself.

    Return the summary numbers.
    """
    solution = result.solution
    write_run(solution, folder)
    momenta = {"P": (solution.linear_momentum(), "N_s"), "L": (solution.angular_momentum(), "N_m_s")}
    columns = {f"{n}_{'xyz'[k]}_{unit}": p[:, k] for n, (p, unit) in momenta.items() for k in range(3)}
    write_table(folder / "momenta.csv", {"t_s": solution.times, **columns})
    spins = {
        f"{name}_{'xyz'[k]}": solution[f"{name}.spin"][:, k] for name in solution.mechanism.bodies for k in range(3)
    }
    write_table(folder / "spins.csv", {"t_s": solution.times, **spins})
    if result.bodies == 1:
        draw_handle(solution, folder / "tumbling.png")
    else:
        draw_chain(solution, folder / "tumbling.png")
    draw_kept(solution, folder / "conserved.png")
    turns = {"reversals": len(reversals(solution))} if result.bodies == 1 else {}
    return {
        **conserved(solution),
        **turns,
        "section_rotation_max_rad": largest_turn(solution),
        "elastic_energy_max_rel": solution.ledger.kind("elastic").max() / solution.ledger.total_energy[0],
        "newton_iterations_mean": solution.ledger.iterations.mean(),
    }


def reversals(solution: Solution) -> Array:
    """Times [s] at which the spin of the bar about the stem changes its sign, interpolated linearly."""
    spin, times = solution["bar.spin"][:, 1], solution.times
    k = np.flatnonzero(np.diff(np.sign(spin)))
    return times[k] - spin[k] * (times[k + 1] - times[k]) / (spin[k + 1] - spin[k])


def handle_centre(mechanism: Mechanism) -> Array:
    """Centre of mass (3,) [m] of the undeformed handle, from the root of its bar."""
    bar, stem = mechanism.bodies["bar"].mass, mechanism.bodies["stem"].mass
    return np.array([0.5 * BAR, 0.5 * STEM * stem / (bar + stem), 0.0])


def draw_handle(solution: Solution, path: Path) -> None:
    """Draw the spin of the bar in body axes, and deflection of its end."""
    figure = new_figure(8.0, 6.0)
    spin, bend = figure.subplots(2, 1, sharex=True)
    spins, tip, times = solution["bar.spin"], solution.displacement("bar.tip"), solution.times
    tip = tip - solution.displacement("bar.middle")
    for k, label in enumerate(("about the bar", "about the stem", "about the normal")):
        spin.plot(times, spins[:, k], linewidth=1.0, label=label)
    spin.set_ylabel("spin in body axes [rad/s]")
    for k, label in ((1, "along the stem"), (2, "along the normal")):
        bend.plot(times, 1e3 * tip[:, k], linewidth=1.0, label=label)
    bend.set_ylabel("end of the bar from its middle [mm]")
    bend.set_xlabel("t [s]")
    bend.set_xlim(times[0], times[-1])
    for axes in (spin, bend):
        legend_above(axes, 3)
        axes.grid(alpha=0.3)
    figure.savefig(path)


def draw_chain(solution: Solution, path: Path, frames: int = 5) -> None:
    """Draw the chain at a few instants, seen along z, and the deflection of its middle strip over time.

    The origin of each picture of the chain is its centre of mass.
    """
    figure = new_figure(9.0, 5.5)
    grid = figure.add_gridspec(2, frames, height_ratios=(4, 5))
    times, bodies = solution.times, solution.mechanism.bodies
    mass = np.array([body.mass for body in bodies.values()])
    centre = np.einsum("b,btd->td", mass, [solution[f"{name}.centre"] for name in bodies]) / mass.sum()
    moved = [solution.points(name, b.view.points, b.view.shape) for name, b in bodies.items() if b.view]
    instants = np.linspace(0, len(times) - 1, frames).round().astype(int)
    for column, k in enumerate(instants):
        axes = figure.add_subplot(grid[0, column])
        for points in moved:
            x, y, _ = (points[k] - centre[k]).T
            axes.plot(x, y, linewidth=2.0)
            axes.plot(x[[0, -1]], y[[0, -1]], ".", color="0.3")
        reach = 0.55 * LINK * len(bodies)
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axes.set_title(f"t = {times[k]:.3g} s", fontsize="small")
        axes.tick_params(labelleft=column == 0)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("y [m]")
    figure.axes[frames // 2].set_xlabel("x from the centre of mass [m]")
    bend = figure.add_subplot(grid[1, :])
    middle = list(bodies)[len(bodies) // 2]
    for k, label in ((1, "across the thickness"), (2, "across the width")):
        bend.plot(times, 1e3 * solution.displacement(f"{middle}.tip")[:, k], linewidth=0.7, label=label)
    bend.set_xlabel("t [s]")
    bend.set_ylabel(f"deflection of {middle} [mm]")
    bend.set_xlim(times[0], times[-1])
    legend_above(bend, 2)
    bend.grid(alpha=0.3)
    figure.savefig(path)


def draw_kept(solution: Solution, path: Path) -> None:
    """Draw the relative changes of energy and both momenta since the start, at times when they are not zero."""
    figure = new_figure(8.0, 3.8)
    axes = figure.subplots()
    energy = solution.ledger.total_energy
    drifts = {"energy": energy[:, None], "momentum": solution.linear_momentum()}
    drifts["angular momentum"] = solution.angular_momentum()
    for name, values in drifts.items():
        change = np.linalg.norm(values - values[0], axis=1) / np.linalg.norm(values[0])
        seen = change > 0.0
        axes.semilogy(solution.times[seen], change[seen], ".", markersize=1.5, label=name)
    axes.axhline(np.finfo(float).eps, color="0.6", linewidth=0.8, label="round-off of one number")
    axes.set_xlabel("t [s]")
    axes.set_ylabel("change over size at the start")
    axes.set_xlim(solution.times[0], solution.times[-1])
    legend_above(axes, 4, markerscale=4)
    axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: conserved quantities over 200 steps of the handle and the chain; period of a stiff handle."""
    for bodies, what in ((1, "handle"), (5, "chain of 5")):
        for strain in ("linear", "von_karman"):
            for step_size in (5e-4, 1e-3):
                numbers = conserved(solve(bodies, strain, 200, step_size))
                yield from zeros(numbers, f"{what}, {strain}, h = {step_size:g} s")
    turned = reversals(solve(1, "linear", 1500, 1e-3, young=1e3 * YOUNG))
    yield Check(
        "time between reversals, stiff handle [s]",
        "Jacobi",
        RIGID_PERIOD,
        float(turned[1] - turned[0]),
        kind="closed form",
        tolerance=2e-4,
    )


case = Case(run, write, checks, needs=("matplotlib",))
