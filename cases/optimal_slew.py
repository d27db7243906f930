"""Rest-to-rest slew of a flexible arm with the least effort ∫ u² dt of the torque u at its hub.

A hub of inertia J turns by an angle θ in the time T; it carries a light arm with a load m at its tip. At the end the
hub is at its angle, the tip has no deflection w, and both rates are zero. The torque is a table whose nodes are
optimised by direct single shooting with exact gradients.

For small angles an arm without mass, of stiffness k = 3EI/L³ at its tip, has (J + mL²) θ̈ + mL ẅ = u and
ẅ + Ω² w = −(L/J) u with Ω² = k (1/m + L²/J). Rest at the end are four conditions y = ∫ g(t) u(t) dt with
g = (T − t, 1, sin Ω(T − t), cos Ω(T − t)) and y = ((J + mL²) θ, 0, 0, 0). The least effort is yᵀ W⁻¹ y, W = ∫ g gᵀ dt,
of the torque u = gᵀ W⁻¹ y (Bhat and Miu, J. Dyn. Syst. Meas. Control 112, 1990). A rigid arm needs 12 (J + mL²)² θ²/T³.
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
import rigid
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate, torque, weld
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.gradients import OptimalControl, optimal_control
from flexph.mechanisms.model.state import State
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import Quantity, joint_angle, offset, rate

from .checks import near, vanishes
from .files import write_run

LENGTH, BENDING = 1.0, 14.0  # [m], E I [N m²]
LOAD, HUB = 0.5, 0.2  # [kg], [kg m²]
LIGHT = fem.Material(young=2.0e11, density=1.0)  # the closed form has no mass of the arm; here it is 0.1 g
HEIGHT = 0.003  # [m]
END = 1.0  # time of the slew [s]
INERTIA = HUB + LOAD * LENGTH**2  # about the hub [kg m²]


@dataclass(frozen=True)
class Result:
    """The optimal torque, and a run of the arm under it that goes on after the slew without torque."""

    optimum: OptimalControl
    solution: Solution
    angle: float


def arm(elements: int) -> tuple[Mechanism, State]:
    """Mechanism of a hub with a light flexible arm and a load at its tip, and its straight state at rest."""
    section = fem.Section(width=12.0 * BENDING / (LIGHT.young * HEIGHT**3), height=HEIGHT)
    bodies = {
        "hub": rigid.body(1.0, inertia=HUB, ports={"axis": (0.0, 0.0)}),
        "arm": fem.beam(LENGTH, LIGHT, section, elements=elements),
        "load": rigid.point(LOAD),
    }
    joints = [
        hinge("hub.axis", GROUND),
        weld("arm.root", "hub.axis"),
        hinge("load.point", "arm.tip"),
        torque("hub.axis", name="motor"),
    ]
    mechanism = connect(bodies, joints)
    return mechanism, mechanism.consistent_state(mechanism.assemble({"hub": (0.0, 0.0, 0.0)}))


def ends(angle: float) -> dict[str, tuple[Quantity, float]]:
    """Conditions at the end of the slew by name: a sensor with the value that it is to have.

    They are the angle of the hub, the deflection of the tip, and the rates of both.
    """
    turn, deflection = joint_angle("hub.axis"), tip()
    return {
        "angle": (turn, angle),
        "deflection": (deflection, 0.0),
        "rate of the angle": (rate(turn), 0.0),
        "rate of the deflection": (rate(deflection), 0.0),
    }


def tip() -> Quantity:
    """Sensor for the deflection of the tip from the axis of the hub [m]."""
    return offset("arm.tip", "hub.axis", direction=(0.0, 1.0))


def run(
    *,
    angle: Annotated[float, Option("angle of the slew", unit="rad")] = 0.5 * math.pi,
    nodes: Annotated[int, Option("nodes of the table of the torque")] = 41,
    steps: Annotated[int, Option("time steps of the slew")] = 200,
    elements: Annotated[int, Option("finite elements of the arm")] = 2,
) -> Result:
    """Rest-to-rest slew of a flexible arm by the torque of least effort, against the closed form of its two modes."""
    check.positive("angle", angle)
    mechanism, start = arm(check.count("elements", elements))
    times = np.linspace(0.0, END, check.count("steps", steps) + 1)
    table = np.linspace(0.0, END, check.count("nodes", nodes, 6))
    guess = 6.0 * INERTIA * angle / END**2 * (1.0 - 2.0 * table / END)  # of a rigid arm
    best = optimal_control(
        lambda: (mechanism, start), times, {"motor": (table, guess)}, effort={"motor": 1.0}, ends=ends(angle)
    )
    after = np.append(best.inputs["motor"][0], [END + 1e-9, 1.5 * END])
    torques = np.append(best.inputs["motor"][1].ravel(), [0.0, 0.0])
    whole = np.append(times, END + times[1 : steps // 2 + 1])
    solution = integrate(mechanism, start, whole, inputs={"motor": (after.tolist(), torques)})
    return Result(best, solution, angle)


def closed_form(angle: float) -> tuple[float, Array, Array]:
    """Solution for small angles: least effort [N² m² s], times (k,) [s] and the torque (k,) [N m] at these times."""
    omega = math.sqrt(3.0 * BENDING / LENGTH**3 * (1.0 / LOAD + LENGTH**2 / HUB))
    times = np.linspace(0.0, END, 4001)
    left = END - times
    g = np.stack([left, np.ones_like(left), np.sin(omega * left), np.cos(omega * left)])
    W = scipy.integrate.simpson(g[:, None] * g[None], x=times, axis=-1)
    y = np.array([INERTIA * angle, 0.0, 0.0, 0.0])
    share = np.linalg.solve(W, y)
    return float(share @ y), times, share @ g


def bend(solution: Solution) -> Array:
    """Deflection of the tip from the axis of the hub at the saved times (k,) [m]."""
    return np.asarray(solution.measured(tip()))


def residual(result: Result) -> float:
    """Largest deflection of the tip after the slew, divided by the largest one during it."""
    bending, times = np.abs(bend(result.solution)), result.solution.times
    return float(bending[times >= END].max() / bending.max())


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
    effort, times, modal = closed_form(result.angle)
    left.plot(times, modal, color="C1", linestyle="--", linewidth=1.0, label="closed form, small angles")
    left.plot(nodes, torques.ravel(), color="C0", linewidth=1.4, label="optimal torque")
    left.set(xlabel="time [s]", ylabel="torque [N m]")
    left.legend()
    right.plot(solution.times, np.degrees(turn), linewidth=1.2, label="angle of the hub [°]")
    right.plot(solution.times, 1e3 * deflection, linewidth=1.2, label="deflection of the tip [mm]")
    right.axvline(END, color="black", linewidth=0.8)
    right.set(xlabel="time [s]")
    right.legend()
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "slew.png")
    return {
        "effort_N2m2s": best.cost,
        "effort_of_closed_form": effort,
        "residual_vibration": residual(result),
        "runs": best.evaluations,
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: effort and torque of a small slew against closed forms; rest at the end and balance of a slew by 90°."""
    small = run(angle=0.01)
    nodes, values = small.optimum.inputs["motor"]
    effort, times, torques = closed_form(0.01)
    ratio = small.optimum.cost / effort
    yield near("effort of a small slew over the closed form", 1.0, ratio, 1e-3, source="yᵀ W⁻¹ y of two modes")
    gap = np.abs(values.ravel() - np.interp(nodes, times, torques)).max() / np.abs(torques).max()
    yield near("torque of a small slew, largest error", 0.0, gap, 0.01, source="u = gᵀ W⁻¹ y")
    large = run()
    errors = [float(np.abs(error).max()) for error in large.optimum.end_errors.values()]
    yield vanishes("end conditions of a slew by 90° [rad, m, rad/s, m/s]", max(errors), 1e-6, source="demanded")
    yield vanishes("vibration after the slew, of that in it", residual(large), 1e-4, source="at rest at the end")
    yield vanishes("balance of the slew", large.solution.ledger.largest_residual, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
