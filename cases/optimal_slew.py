"""Rest-to-rest slew of a flexible arm with the least effort ∫ u² dt of the torque u at its root.

The arm is a slender beam on a hinge without gravity. It turns by an angle in a given time and is at rest at the end:
the angles of its sections at root, middle and tip are those of the turned straight arm, and their rates zero. The
torque is a table whose nodes are optimised by direct single shooting with exact gradients.

For small angles the modes of a pinned and free Euler-Bernoulli beam decouple, q̈ᵢ + ωᵢ² qᵢ = φᵢ′(0) u. The angles and
rates at the end are y = ∫ g(t) u(t) dt with the sums g over modes, and the least effort is yᵀ W⁻¹ y, W = ∫ g gᵀ dt,
for the torque u = gᵀ W⁻¹ y. A rigid arm of inertia J needs 12 J² θ²/T³, which is less than any flexible one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy

import fem
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate, torque
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.gradients import OptimalControl, optimal_control
from flexph.mechanisms.model.state import State
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import Quantity, joint_angle, joint_rate

from .checks import near, vanishes
from .files import write_run

LENGTH, WIDTH, HEIGHT = 1.0, 0.03, 0.003  # [m]
STEEL = fem.Material(young=2.1e11, density=7850.0)
END = 1.0  # time of the slew [s]
PORTS = ("arm.root", "arm.middle", "arm.tip")
MODES = 12  # elastic modes of the closed form


@dataclass(frozen=True)
class Result:
    """The optimal torque, and a run with it and a second half without torque."""

    optimum: OptimalControl
    solution: Solution
    angle: float


def arm(elements: int) -> tuple[Mechanism, State]:
    """The arm, straight and at rest."""
    beam = fem.beam(
        LENGTH,
        STEEL,
        fem.Section(width=WIDTH, height=HEIGHT),
        elements=elements,
        stations={"middle": 0.5 * LENGTH},
    )
    mechanism = connect({"arm": beam}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    return mechanism, mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}))


def ends(angle: float) -> dict[str, tuple[Quantity, float]]:
    """Angles of the sections and their rates at the end."""
    angles = {f"angle of {port}": (joint_angle(port), angle) for port in PORTS}
    return angles | {f"rate of {port}": (joint_rate(port), 0.0) for port in PORTS}


def run(
    *,
    angle: Annotated[float, Option("angle of the slew", unit="rad")] = 0.5 * math.pi,
    nodes: Annotated[int, Option("nodes of the table of the torque")] = 41,
    steps: Annotated[int, Option("time steps of the slew")] = 200,
    elements: Annotated[int, Option("finite elements of the arm, an even number")] = 4,
) -> Result:
    """Rest-to-rest slew of a flexible arm by the torque of least effort, against the closed form of its modes."""
    check.positive("angle", angle)
    mechanism, start = arm(check.count("elements", elements, 2))
    times = np.linspace(0.0, END, check.count("steps", steps) + 1)
    table = np.linspace(0.0, END, check.count("nodes", nodes, 6))
    guess = 6.0 * inertia() * angle / END**2 * (1.0 - 2.0 * table / END)  # of a rigid arm
    best = optimal_control(
        lambda: (mechanism, start), times, {"motor": (table, guess)}, effort={"motor": 1.0}, ends=ends(angle)
    )
    after = np.append(best.inputs["motor"][0], [END + 1e-9, 1.5 * END])
    torques = np.append(best.inputs["motor"][1].ravel(), [0.0, 0.0])
    whole = np.append(times, END + times[1 : steps // 2 + 1])
    solution = integrate(mechanism, start, whole, inputs={"motor": (after, torques)})
    return Result(best, solution, angle)


def inertia() -> float:
    """Moment of inertia about the root [kg m²]."""
    return STEEL.density * WIDTH * HEIGHT * LENGTH**3 / 3.0


def modes() -> tuple[Array, Array]:
    """Frequencies (k,) [rad/s] of a pinned and free beam, zero first, and slopes (3, k) of its modes at the ports.

    The modes have unit modal masses.
    """
    line, bending = STEEL.density * WIDTH * HEIGHT, STEEL.young * WIDTH * HEIGHT**3 / 12.0
    roots = np.array(
        [
            scipy.optimize.brentq(lambda b: math.tan(b) - math.tanh(b), (i + 0.1) * math.pi, (i + 0.45) * math.pi)
            for i in range(1, MODES + 1)
        ]
    )
    x = np.array([0.0, 0.5, 1.0])[:, None]
    ratio = np.sin(roots) / np.sinh(roots)
    grid = np.linspace(0.0, 1.0, 20001)[:, None]
    shape = np.sin(roots * grid) + ratio * np.sinh(roots * grid)
    masses = line * LENGTH * scipy.integrate.simpson(shape**2, x=grid[:, 0], axis=0)
    slopes = roots / LENGTH * (np.cos(roots * x) + ratio * np.cosh(roots * x)) / np.sqrt(masses)
    rigid = np.full((3, 1), 1.0 / math.sqrt(inertia()))
    return np.append(0.0, roots**2 / LENGTH**2 * math.sqrt(bending / line)), np.hstack([rigid, slopes])


def closed_form(angle: float) -> tuple[float, Array, Array]:
    """Least effort [N² m² s], and times with the torque [N m] of the modal problem."""
    frequencies, slopes = modes()
    times = np.linspace(0.0, END, 4001)
    left = END - times
    places = np.stack([np.sinc(w * left / math.pi) * left for w in frequencies])  # sin(ω t)/ω
    rates = np.cos(frequencies[:, None] * left)
    g = np.vstack([(slopes * slopes[0]) @ places, (slopes * slopes[0]) @ rates])
    W = scipy.integrate.simpson(g[:, None] * g[None], x=times, axis=-1)
    share = np.linalg.solve(W, np.append(np.full(3, angle), np.zeros(3)))
    effort = float(share @ np.append(np.full(3, angle), np.zeros(3)))
    return effort, times, share @ g


def bend(solution: Solution) -> Array:
    """Angle (k,) of the tip relative to the root [rad]."""
    return np.asarray(solution.measured(joint_angle("arm.tip")) - solution.measured(joint_angle("arm.root")))


def residual(result: Result) -> float:
    """Largest bend after the slew over the largest one in it."""
    own, times = np.abs(bend(result.solution)), result.solution.times
    return float(own[times >= END].max() / own.max())


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: torque, angles and a picture; return the summary numbers."""
    solution, best = result.solution, result.optimum
    write_run(solution, folder)
    nodes, torques = best.inputs["motor"]
    write_table(folder / "torque.csv", {"t_s": nodes, "torque_Nm": torques.ravel()})
    angles = {port: solution.measured(joint_angle(port)) for port in PORTS}
    columns = {f"{port.partition('.')[2]}_rad": own for port, own in angles.items()}
    write_table(folder / "angles.csv", {"t_s": solution.times} | columns)
    figure = new_figure(8.0, 3.6)
    left, right = figure.subplots(1, 2)
    _, times, modal = closed_form(result.angle)
    left.plot(times, modal, color="C1", linestyle="--", linewidth=1.0, label="modes, small angles")
    left.plot(nodes, torques.ravel(), color="C0", linewidth=1.4, label="optimal torque")
    left.set(xlabel="time [s]", ylabel="torque [N m]")
    left.legend()
    for port, own in angles.items():
        right.plot(solution.times, np.degrees(own), linewidth=1.2, label=port.partition(".")[2])
    right.axvline(END, color="black", linewidth=0.8)
    right.set(xlabel="time [s]", ylabel="angle of the section [°]")
    right.legend()
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(folder / "slew.png")
    return {
        "effort_N2m2s": best.cost,
        "effort_of_modes": closed_form(result.angle)[0],
        "residual_vibration": residual(result),
        "runs": best.evaluations,
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: effort and torque of a small slew against the modes; rest at the end of a large one, and its balance."""
    small = run(angle=0.01)
    effort, times, torques = closed_form(0.01)
    source = "yᵀ W⁻¹ y of twelve modes of a pinned and free beam"
    yield near("effort of a small slew over that of modes", 1.0, small.optimum.cost / effort, 5e-3, source=source)
    nodes, own = small.optimum.inputs["motor"]
    gap = np.abs(own.ravel() - np.interp(nodes, times, torques)).max() / np.abs(torques).max()
    yield near("torque of a small slew, largest error", 0.0, gap, 0.03, source="u = gᵀ W⁻¹ y")
    large = run()
    misses = [float(np.abs(miss).max()) for miss in large.optimum.misses.values()]
    yield vanishes("end conditions of a slew by 90° [rad, rad/s]", max(misses), 1e-6, source="demanded")
    yield vanishes("vibration after the slew, of that in it", residual(large), 0.02, source="at rest at the end")
    yield vanishes("balance of the slew", large.solution.ledger.largest_residual, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
