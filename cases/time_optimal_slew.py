"""Rest-to-rest slew of a flexible arm in the least time, with a limit of the torque at its hub.

The arm is that of the case ``optimal-slew``. Unknown are the torque, a table of nodes, and the time of the slew, with
which table and steps stretch. At the end the hub is at its angle, the tip has no deflection, and both rates are zero.

A rigid arm of inertia J₀ turns by θ in the time 2 √(J₀ θ/τ) under the torque ±τ, with one change of its sign. For small
angles an arm without mass has one mode of frequency Ω. Its torque is +τ, −τ, +τ, −τ, odd about the middle c = T/2, and
changes its sign at c and c ± s with

    c² − 2 s² = J₀ θ/τ,   1 − 2 cos Ωs + cos Ωc = 0

(Singh, Kabamba and McClamroch, J. Guid. Control Dyn. 12, 71-81, 1989).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.optimize import brentq

import rigid
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate, torque
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.gradients import Duration, OptimalControl, optimal_control
from flexph.mechanisms.model.state import State
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure
from flexph.sensors import Quantity, joint_angle, rate

from .checks import near, vanishes
from .files import write_run
from .optimal_slew import BENDING, HUB, INERTIA, LENGTH, LOAD, arm, bend, ends

RIGID = 1.0  # time of the slew of a rigid arm [s]: with the angle it tells the limit of the torque
MOST = 300  # iterations


@dataclass(frozen=True)
class Result:
    """The fastest slew, and a run of the arm with it that goes on without torque for half the time of the slew."""

    optimum: OptimalControl
    solution: Solution
    angle: float

    @property
    def limit(self) -> float:
        """Limit of the motor's torque [N m] for the angle of this slew."""
        return limit_of(self.angle)


def limit_of(angle: float) -> float:
    """Torque [N m] with which a rigid arm takes the time RIGID for a slew by ``angle`` [rad]."""
    return 4.0 * INERTIA * angle / RIGID**2


def run(
    *,
    angle: Annotated[float, Option("angle of the slew", unit="rad")] = 0.5 * math.pi,
    nodes: Annotated[int, Option("nodes of the table of the torque")] = 60,
    steps: Annotated[int, Option("time steps between two nodes")] = 3,
    elements: Annotated[int, Option("finite elements of the arm")] = 2,
) -> Result:
    """Rest-to-rest slew of a flexible arm in minimum time, against the switching times of its mode."""
    check.positive("angle", angle)
    check.count("nodes", nodes, 6), check.count("steps", steps)
    made = arm(check.count("elements", elements))
    best = fastest(made, angle, ends(angle), (nodes, steps))
    end = best.duration
    after = np.append(best.inputs["motor"][0], [end + 1e-9, 2.0 * end])
    torques = np.append(best.inputs["motor"][1].ravel(), [0.0, 0.0])
    times = best.solution.times
    whole = np.append(times, end + times[1 : len(times) // 2 + 1])
    solution = integrate(*made, whole, inputs={"motor": (after.tolist(), torques)})
    return Result(best, solution, angle)


def fastest(
    made: tuple[Mechanism, State], angle: float, at_end: dict[str, tuple[Quantity, float]], sizes: tuple[int, int]
) -> OptimalControl:
    """Fastest slew of an arm by ``angle``, from a guess of 1.2 times the time of a rigid arm.

    ``made`` are mechanism and start, ``at_end`` the conditions at the end, and ``sizes`` the numbers of nodes of the
    table and of steps between two of them.
    """
    guessed, limit = 1.2 * RIGID, limit_of(angle)
    times, table = np.linspace(0.0, guessed, sizes[1] * (sizes[0] - 1) + 1), np.linspace(0.0, guessed, sizes[0])
    smooth = 6.0 * INERTIA * angle / guessed**2 * (1.0 - 2.0 * table / guessed)
    return optimal_control(
        lambda: made,
        times,
        {"motor": (table, np.clip(smooth, -limit, limit))},
        bounds={"motor": (-limit, limit)},
        ends=at_end,
        duration=Duration(0.3 * RIGID, 3.0 * RIGID),
        most=MOST,
    )


def rigid_arm() -> tuple[Mechanism, State]:
    """Mechanism and start of an arm that does not bend, with the inertia of the flexible one."""
    joints = [hinge("hub.axis", GROUND), torque("hub.axis", name="motor")]
    mechanism = connect({"hub": rigid.body(1.0, inertia=INERTIA, ports={"axis": (0.0, 0.0)})}, joints)
    return mechanism, mechanism.consistent_state(mechanism.assemble({"hub": (0.0, 0.0, 0.0)}))


def closed_form() -> tuple[float, tuple[float, float, float]]:
    """Least time of a small slew, and the times at which the torque changes its sign [s]."""
    omega = math.sqrt(3.0 * BENDING / LENGTH**3 * (1.0 / LOAD + LENGTH**2 / HUB))
    square = RIGID**2 / 4.0  # J₀ θ/τ

    def half(c: float) -> float:
        return math.sqrt(0.5 * max(c * c - square, 0.0))

    def missed(c: float) -> float:
        return 1.0 - 2.0 * math.cos(omega * half(c)) + math.cos(omega * c)

    tried = math.sqrt(square) * np.linspace(1.0, 2.0, 1001)
    values = [missed(c) for c in tried]
    first = next(k for k in range(1000) if values[k] * values[k + 1] <= 0.0)
    c = float(brentq(missed, tried[first], tried[first + 1], xtol=1e-14))
    return 2.0 * c, (c - half(c), c, c + half(c))


def switches(optimum: OptimalControl) -> Array:
    """Times [s] at which the torque of the optimal table changes its sign."""
    times, torques = optimum.inputs["motor"][0], optimum.inputs["motor"][1].ravel()
    first = np.flatnonzero(torques[1:] * torques[:-1] < 0.0)
    share = torques[first] / (torques[first] - torques[first + 1])
    return np.asarray(times[first] + share * (times[first + 1] - times[first]))


def residual(result: Result) -> float:
    """Largest deflection of the tip after the slew, divided by the largest one during it."""
    bending, times = np.abs(bend(result.solution)), result.solution.times
    return float(bending[times >= result.optimum.duration].max() / bending.max())


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: torque, angles and a picture; return the summary numbers."""
    solution, best = result.solution, result.optimum
    write_run(solution, folder)
    nodes, torques = best.inputs["motor"]
    write_table(folder / "torque.csv", {"t_s": nodes, "torque_Nm": torques.ravel()})
    turn, deflection = solution.measured(joint_angle("hub.axis")), bend(solution)
    write_table(folder / "angles.csv", {"t_s": solution.times, "hub_rad": turn, "deflection_m": deflection})
    figure = new_figure(8.0, 3.6)
    left, right = figure.subplots(1, 2)
    least, changes = closed_form()
    level = result.limit * np.array([1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    edges = np.repeat([0.0, *changes, least], 2)[1:-1]
    left.plot(edges, level, color="C1", linestyle="--", linewidth=1.0, label="closed form, small angles")
    left.plot(nodes, torques.ravel(), color="C0", linewidth=1.4, label="fastest torque")
    left.set(xlabel="time [s]", ylabel="torque [N m]")
    right.plot(solution.times, np.degrees(turn), linewidth=1.2, label="angle of the hub [°]")
    right.plot(solution.times, 1e3 * deflection, linewidth=1.2, label="deflection of the tip [mm]")
    right.axvline(best.duration, color="black", linewidth=0.8)
    right.set(xlabel="time [s]")
    for axes in (left, right):
        legend_above(axes)
        axes.grid(alpha=0.3)
    figure.savefig(folder / "fastest.png")
    return {
        "time_s": best.duration,
        "time_of_closed_form_s": least,
        "time_of_rigid_arm_s": RIGID,
        "residual_vibration": residual(result),
        "runs": best.evaluations,
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: times of a rigid and a small slew against closed forms; rest at the end and balance of a slew by 90°."""
    turn = joint_angle("hub.axis")
    at_end = {"angle": (turn, 1.0), "rate": (rate(turn), 0.0)}
    bang = fastest(rigid_arm(), 1.0, at_end, (60, 3))
    yield near("time of a rigid slew", RIGID, bang.duration, 1e-4, source="2 √(J₀ θ/τ)")
    small, (least, changes) = run(angle=0.01), closed_form()
    # three ramps of the width d of a node, in place of jumps, cost some d²/6 of T²/4
    yield near("time of a small slew", least, small.optimum.duration, 5e-4, source="one mode, three switches")
    found = switches(small.optimum)
    gap = np.abs(found - np.array(changes)).max() if found.size == 3 else np.inf
    # nodes at distances of 0.017 s leave a tenth of it
    yield near("switching times of a small slew, largest error", 0.0, gap, 2e-3, source="one mode, three switches")
    large = run()
    errors = [float(np.abs(error).max()) for error in large.optimum.end_errors.values()]
    yield vanishes("end conditions of a slew by 90° [rad, m, rad/s, m/s]", max(errors), 1e-6, source="demanded")
    yield vanishes("vibration after the slew, of that in it", residual(large), 1e-4, source="at rest at the end")
    yield vanishes("balance of the slew", large.solution.ledger.largest_residual, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
