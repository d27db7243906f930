"""The boom of a loader: a hydraulic cylinder lifts an arm with a load, by a valve that opens and closes.

Fluid in both chambers has a bulk modulus, flows through the edges of the valve are turbulent, a pump and a relief valve
keep the supply pressure (H. E. Merritt, Hydraulic Control Systems, Wiley (1967), ch. 3 and 6). When the valve
closes, arm and load swing on the spring of the oil. The reference integrates angle and pressures of a rigid arm,

    dp/dt = β (q/m − (dV/dt)/V),   m = V e^{p/β},

for chambers of volume V, with the inflow q and the content m as volumes at zero pressure, by an independent adaptive
integrator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import scipy

import fem
import rigid
from flexph import GROUND, Body, Mechanism, Solution, State, connect, force, hinge, integrate, weld
from flexph.case import Case, Check, Option
from flexph.control import Continuous, hydraulic_cylinder
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import joint_angle

from .checks import converges, near, vanishes
from .files import write_run
from .times import equal_steps

INNER, OUTER, MASS, LOAD = 0.8, 1.2, 30.0, 120.0  # [m], [kg] per metre of the arm, [kg]
FOOT, BEGIN = (0.35, -0.6), 0.1  # [m], foot of the cylinder; [rad], angle at the start
A1, A2 = 2.0e-3, 1.2e-3  # [m²]
LENGTH, STROKE, DEAD, LINE = 0.6, 0.6, 5e-5, 1e-3  # [m], [m³]
BETA, RELIEF, OVERLOAD = 1.2e9, 1.6e7, 2e-9  # [Pa], [m³/(s Pa)]
RATED, DROP, TRANSITION = 6e-4, 3.5e6, 1e5  # [m³/s], [Pa]
PUMP, LAG, COIL = 5e-4, 0.02, 10.0  # [m³/s], [s], [W]
OPENING, TIMES = 0.35, (0.1, 0.7)  # command of the valve, and its times [s]
GRAVITY = 9.81
STEEL = fem.Material(young=2.1e11, density=MASS / (0.08 * 0.12 - 0.07 * 0.11))
BOX = fem.Section(area=0.08 * 0.12 - 0.07 * 0.11, second_moment=(0.08 * 0.12**3 - 0.07 * 0.11**3) / 12.0)
Arm = Literal["rigid", "flexible"]


@dataclass(frozen=True)
class Result:
    """A run of the arm."""

    solution: Solution


def command(t: float) -> float:
    """Command of the valve, its relative opening, at the time t: open between two times, with ramps of 50 ms."""
    first, last = TIMES
    return OPENING * min(max((t - first) / 0.05, 0.0), 1.0, max((last - t) / 0.05, 0.0))


def rod_end(angle: float) -> Array:
    """Vector (2,) [m] from the foot of the cylinder to the end of its rod, with the arm at an angle [rad]."""
    return INNER * np.array([math.cos(angle), math.sin(angle)]) - FOOT


def balanced() -> float:
    """Pressure of chamber 1 that balances the arm at the start, without pressure in chamber 2 [Pa]."""
    weight = GRAVITY * (LOAD * (INNER + OUTER) + MASS * (INNER + OUTER) ** 2 / 2.0) * math.cos(BEGIN)
    return weight / (A1 * lever(BEGIN))


def lever(angle: float) -> float:
    """Derivative of the cylinder's length with respect to the angle of the arm [m]."""
    d = rod_end(angle)
    return float(d @ (-INNER * math.sin(angle), INNER * math.cos(angle)) / np.linalg.norm(d))


def arm(kind: Arm, elements: int = 3) -> tuple[Mechanism, State]:
    """Mechanism of the arm with a port for the force of the cylinder, and its state at rest at the angle at the start.

    ``kind`` is "rigid" or "flexible", ``elements`` those of each half of a flexible arm.
    """
    bodies: Mapping[str, Body]
    if kind == "flexible":
        damping = fem.Damping(stiffness=1e-4)
        bodies = {
            "inner": fem.beam(INNER, STEEL, BOX, elements=elements, damping=damping),
            "outer": fem.beam(OUTER, STEEL, BOX, elements=elements, damping=damping).with_mass("tip", LOAD),
        }
    else:
        bodies = {"inner": rigid.bar(INNER, MASS * INNER), "outer": loaded()}
    joints = [
        hinge("inner.root", GROUND.at(0.0, 0.0), name="pivot"),
        weld("outer.root", "inner.tip"),
        force("inner.tip", name="rod"),
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, -GRAVITY))
    end = rod_end(BEGIN) + FOOT
    pose = mechanism.assemble({"inner": (0.0, 0.0, BEGIN), "outer": (*end, BEGIN)})
    return mechanism, mechanism.consistent_state(pose)


def loaded() -> Body:
    """Rigid body for the outer half of the arm, with the load at its tip."""
    mass = MASS * OUTER
    whole, about_centre = mass + LOAD, mass * OUTER**2 / 12.0
    centre = (0.5 * mass + LOAD) * OUTER / whole
    inertia = about_centre + mass * (0.5 * OUTER - centre) ** 2 + LOAD * (OUTER - centre) ** 2
    return rigid.body(whole, inertia=inertia, centre=(centre, 0.0), ports={"root": (0.0, 0.0), "tip": (OUTER, 0.0)})


def run(
    *,
    kind: Annotated[Arm, Option("rigid or flexible arm")] = "rigid",
    step: Annotated[float, Option("time step", "s")] = 2e-3,
    end: Annotated[float, Option("end of the run", "s")] = 1.2,
) -> Result:
    """A hydraulic cylinder lifts an arm with a load."""
    mechanism, start = arm(kind)
    cylinder = hydraulic_cylinder(
        tuple(rod_end(BEGIN)),
        areas=(A1, A2),
        length=LENGTH,
        stroke=STROKE,
        rated_flow=RATED,
        rated_drop=DROP,
        relief=RELIEF,
        pressures=(balanced(), 0.0),
        bulk_modulus=BETA,
        dead_volume=DEAD,
        line_volume=LINE,
        transition=TRANSITION,
        overload=OVERLOAD,
        lag=LAG,
        coil=COIL,
    )
    jack = Continuous(system=cylinder, ports={"rod": "rod"}, inputs={"pump": PUMP, "valve": command})
    return Result(integrate(mechanism, start, equal_steps(step, end), controllers={"jack": jack}))


def angle_of(result: Result) -> Array:
    """Angle of the arm at the saved times [rad]."""
    return result.solution.measured(joint_angle("inner.root"))


def reference(times: Array) -> Array:
    """Motion of the rigid arm at ``times`` by an independent adaptive integrator, (6, k).

    Its rows are angle, rate, pressures of both chambers and of the supply line, and opening of the valve.
    """
    whole = INNER + OUTER
    inertia, moment = MASS * whole**3 / 3.0 + LOAD * whole**2, MASS * whole**2 / 2.0 + LOAD * whole

    def rates(t: float, state: Array) -> list[float]:
        angle, rate, p1, p2, line, y = state
        d, arm_of = rod_end(angle), lever(angle)
        way, speed = float(np.linalg.norm(d)) - LENGTH, arm_of * rate
        volumes = DEAD + A1 * way, DEAD + A2 * (STROKE - way), LINE
        h1, h2, hs = (BETA * -math.expm1(-p / BETA) for p in (p1, p2, line))

        def edge(opening: float, drop: float) -> float:
            return RATED / math.sqrt(DROP) * opening * drop / math.sqrt(abs(drop) + TRANSITION)

        into, out = max(y, 0.0), max(-y, 0.0)
        q1 = edge(into, hs - h1) - edge(out, h1)
        q2 = edge(out, hs - h2) - edge(into, h2)
        spill = OVERLOAD * max(hs - RELIEF, 0.0) * hs / max(hs, RELIEF)
        qs = PUMP - edge(into, hs - h1) - edge(out, hs - h2) - spill
        contents = [V * math.exp(p / BETA) for V, p in zip(volumes, (p1, p2, line), strict=True)]
        slopes = (A1 * speed, -A2 * speed, 0.0)
        pressing = [
            BETA * (q / m - dV / V) for q, m, dV, V in zip((q1, q2, qs), contents, slopes, volumes, strict=True)
        ]
        torque = (p1 * A1 - p2 * A2) * arm_of - GRAVITY * moment * math.cos(angle)
        return [rate, torque / inertia, *pressing, (command(t) - y) / LAG]

    start = [BEGIN, 0.0, balanced(), 0.0, RELIEF, 0.0]
    scale = [1e-9, 1e-8, 1.0, 1.0, 1.0, 1e-8]
    path = scipy.integrate.solve_ivp(
        rates, (0.0, float(times[-1])), start, t_eval=times, method="Radau", rtol=1e-8, atol=scale, max_step=5e-3
    )
    return np.asarray(path.y)


def oil_frequency(angle: float) -> float:
    """Frequency [rad/s] of the loaded rigid arm on the spring of the oil at an angle [rad], with a closed valve."""
    way = float(np.linalg.norm(rod_end(angle))) - LENGTH
    stiffness = BETA * (A1**2 / (DEAD + A1 * way) + A2**2 / (DEAD + A2 * (STROKE - way)))
    whole = INNER + OUTER
    return math.sqrt(stiffness * lever(angle) ** 2 / (MASS * whole**3 / 3.0 + LOAD * whole**2))


def swing(result: Result) -> float:
    """Frequency of the arm's swing after the valve has closed [rad/s], from the zeros of its angular velocity.

    It is NaN if there are too few zeros.
    """
    times, angle = result.solution.times, angle_of(result)
    rate = np.gradient(angle, times)
    after = times > TIMES[1] + 6.0 * LAG
    t, v = times[after], rate[after] - rate[after].mean()
    k = np.flatnonzero(v[:-1] * v[1:] < 0.0)
    zeros = t[k] - v[k] * (t[k + 1] - t[k]) / (v[k + 1] - v[k])
    return math.pi * (len(zeros) - 1) / float(zeros[-1] - zeros[0]) if len(zeros) > 2 else math.nan


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: lift of the arm, energy of the pump, losses, balance."""
    solution, angle = result.solution, angle_of(result)
    ledger = solution.ledger
    return {
        "angle_end_deg": math.degrees(angle[-1]),
        "pump_J": float(ledger.work["jack: pump"].sum()),
        "lost_in_valves_J": float(ledger.dissipation["jack"].sum()),
        "balance_residual_max_rel": ledger.largest_residual,
        "steps": len(solution.times) - 1,
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write the run, a table and a picture of angle and energy to ``folder``; return the summary numbers."""
    solution = result.solution
    write_run(solution, folder)
    angle = np.degrees(angle_of(result))
    given = np.array([command(float(t)) for t in solution.times])
    oil = solution.ledger.energy["stored jack"]
    write_table(folder / "motion.csv", {"t_s": solution.times, "angle_deg": angle, "command": given, "oil_J": oil})
    figure = new_figure(7.0, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(solution.times, angle, label="angle [°]")
    upper.plot(solution.times, 100.0 * given, label="command [%]")
    lower.plot(solution.times, oil, label="energy of the oil [J]")
    lower.plot(
        solution.times[1:], np.cumsum(solution.ledger.work["jack: pump"]) / 10.0, label="work of the pump/10 [J]"
    )
    lower.set(xlabel="t [s]")
    for axes in (upper, lower):
        axes.legend()
        axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: angle of the arm against an independent integrator, swing against the oil spring, order and balance."""
    results = [run(step=step) for step in (4e-3, 2e-3)]
    source, apart = "Radau 5 of scipy in angle and pressures, tolerance 1e-8", []
    for result in results:
        apart.append(float(np.abs(angle_of(result) - reference(result.solution.times)[0]).max()))
    yield vanishes(
        "angle beside an independent integrator [rad]", apart[1], 1e-3, source=source, kind="independent code"
    )
    yield converges("order of this deviation", math.log2(apart[0] / apart[1]), 0.3)
    angle = float(angle_of(results[1])[-1])
    yield near("swing on the oil [rad/s]", oil_frequency(angle), swing(results[1]), 0.5, source="Merritt, sec. 6.2")
    for result in results:
        h = result.solution.times[1]
        yield vanishes(f"step balance, {1e3 * h:g} ms", result.solution.ledger.largest_residual, 1e-11)
    flexible = run(kind="flexible", step=4e-3)
    yield vanishes("step balance, flexible arm", flexible.solution.ledger.largest_residual, 1e-11)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
