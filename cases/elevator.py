"""An elevator: a cabin and a counterweight on ropes to both sides of a driven traction sheave that does not slip.

The sheave turns by θ(t), a polynomial from rest to rest. Each weight hangs on a rope of stiffness k and damping c whose
upper end moves by s = ±rθ: m ẍ + c ẋ + k x = k s + c ṡ. The reference is its solution in closed form, a polynomial and
a decaying oscillation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.polynomial import Polynomial

import rigid
from flexph import GROUND, Mechanism, Solution, connect, drive, hinge, integrate, slider
from flexph.case import Case, Check, Option
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.joints import Sheave, rope
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import joint_torque, position, spring_force

from .checks import converges, near, vanishes
from .files import write_run
from .times import equal_steps

CABIN, WEIGHT, GRAVITY = 1200.0, 1000.0, 9.81  # [kg], [kg], [m/s²]
RADIUS, INERTIA = 0.6, 60.0  # [m], [kg m²], of the sheave
DAMPING = 0.01  # [s], c/k of the ropes
TOP, LOW, HIGH = 0.0, -9.0, -2.5  # [m], heights of the sheave, the cabin and the counterweight at the start
SIDES = {"cabin": (CABIN, -RADIUS, LOW), "weight": (WEIGHT, RADIUS, HIGH)}


def travelled(rise: float, period: float) -> Polynomial:
    """Displacement of the cabin [m] as a polynomial of time, from rest to rest with continuous accelerations."""
    s = Polynomial([0.0, 1.0 / period])
    return rise * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def elevator(stiffness: float, rise: float, period: float) -> Mechanism:
    """Mechanism of cabin and counterweight on vertical rails, the driven sheave, and a rope to each side of it."""
    travel = travelled(rise, period)
    sheave = rigid.body(60.0, inertia=INERTIA, ports={"axle": (0.0, 0.0)})
    bodies = {"sheave": sheave}
    parts = [
        hinge("sheave.axle", GROUND.at(0.0, TOP), name="axle"),
        drive("sheave.axle", GROUND.at(0.0, TOP), angle=lambda t: -travel(min(t, period)) / RADIUS, name="motor"),
    ]
    for name, (mass, x, _) in SIDES.items():
        shape = box_shape((1.1, 1.6 if name == "cabin" else 0.9, 0.8))
        bodies[name] = rigid.body(mass, inertia=mass, ports={"hook": (0.0, 0.0)}, shape=shape)
        line: list[str | Sheave] = [f"{name}.hook", Sheave("sheave.axle", -RADIUS if x < 0.0 else RADIUS, grips=True)]
        parts.append(rope(line, stiffness=stiffness, damping=DAMPING * stiffness, name=f"rope of the {name}"))
        parts.append(slider(f"{name}.hook", GROUND.at(x, 0.0), direction=(0.0, 1.0), name=f"rail of the {name}"))
    return connect(bodies, parts, gravity=(0.0, -GRAVITY))


def run(
    *,
    stiffness: Annotated[float, Option("stiffness of a rope", "N/m")] = 4e5,
    rise: Annotated[float, Option("travel of the cabin", "m")] = 6.0,
    period: Annotated[float, Option("time of the travel", "s")] = 4.0,
    step: Annotated[float, Option("time step", "s")] = 2e-3,
    end: Annotated[float, Option("end of the run", "s")] = 5.0,
) -> Solution:
    """An elevator: cabin and counterweight on ropes to both sides of a traction sheave, against a closed form."""
    for name, value, unit in (("stiffness", stiffness, "N/m"), ("rise", rise, "m"), ("period", period, "s")):
        check.positive(name, value, unit)
    mechanism = elevator(stiffness, rise, period)
    poses = {name: (x, y, 0.0) for name, (_, x, y) in SIDES.items()} | {"sheave": (0.0, TOP, 0.0)}
    start = mechanism.equilibrium(mechanism.assemble(poses))
    return integrate(mechanism, start, equal_steps(step, end))


def reference(mass: float, stiffness: float, travel: Polynomial, times: Array) -> Array:
    """Displacement (k,) [m] from rest of a weight on a rope whose upper end moves by the polynomial ``travel``.

    It is in closed form, at the times ``times`` (k,).
    """
    omega, decay = math.sqrt(stiffness / mass), 0.5 * DAMPING * stiffness / mass
    drag, force = DAMPING, travel + DAMPING * travel.deriv()  # of (1/ω²) ẍ + (c/k) ẋ + x = s + (c/k) ṡ
    particular, rest = Polynomial([0.0]), force
    while np.any(rest.coef):  # x = rest − (1/ω²) ẍ − (c/k) ẋ, degree by degree
        particular, rest = particular + rest, -rest.deriv(2) / omega**2 - drag * rest.deriv()
    ringing = math.sqrt(omega**2 - decay**2)
    a, b = -particular(0.0), -(particular.deriv()(0.0) + decay * particular(0.0)) / ringing
    swing: Array = np.exp(-decay * times) * (a * np.cos(ringing * times) + b * np.sin(ringing * times))
    displacement: Array = particular(times) + swing
    return displacement


def travels(solution: Solution) -> dict[str, Array]:
    """Displacements (k,) [m] of cabin and counterweight since the start, by name, positive upwards."""
    heights = {name: solution.measured(position(f"{name}.hook"))[:, 1] for name in SIDES}
    return {name: height - height[0] for name, height in heights.items()}


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: displacements, tensions and torque of the motor over time; return the summary numbers."""
    write_run(solution, folder)
    pull = {name: solution.measured(spring_force(f"rope of the {name}")) for name in SIDES}
    torque = solution.measured(joint_torque("motor"))
    columns = {f"{name}_m": travel for name, travel in travels(solution).items()}
    columns |= {f"rope_{name}_N": force for name, force in pull.items()}
    write_table(folder / "travel.csv", {"t_s": solution.times} | columns)
    figure = new_figure(8.0, 3.6)
    above, below = figure.subplots(1, 2)
    for name in SIDES:
        above.plot(solution.times, travels(solution)[name], label=name, linewidth=1.2)
        below.plot(solution.times, 1e-3 * pull[name], label=name, linewidth=0.9)
    above.set(xlabel="t [s]", ylabel="travel [m]")
    below.set(xlabel="t [s]", ylabel="tension [kN]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(folder / "travel.png")
    return {
        "travel_m": float(travels(solution)["cabin"][-1]),
        "torque_max_N_m": float(np.abs(torque).max()),
        "tension_max_N": float(max(force.max() for force in pull.values())),
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: both weights against the closed form; order of convergence, work of the motor and balance."""
    settings = {"stiffness": 4e5, "rise": 6.0, "period": 3.0}  # hard enough for the ropes to swing
    errors: dict[str, list[float]] = {name: [] for name in SIDES}
    for step in (2e-3, 1e-3):
        solution = run(**settings, step=step, end=3.0)
        for name, (mass, _, _) in SIDES.items():
            travel = travelled(6.0, 3.0) * (1.0 if name == "cabin" else -1.0)
            exact = reference(mass, 4e5, travel, solution.times)
            errors[name].append(float(np.abs(travels(solution)[name] - exact).max()))
        yield vanishes(f"balance, step {step:g}", solution.ledger.largest_residual, 1e-12)
    for name, (first, last) in errors.items():
        yield near(f"travel of the {name}, largest error [m]", 0.0, last, 1e-6, source="linear vibration, closed form")
        yield converges(f"order, {name}", math.log2(first / last), 0.1)
    lifted = GRAVITY * sum(mass * travels(solution)[name][-1] for name, (mass, _, _) in SIDES.items())
    ledger = solution.ledger
    kept = ledger.total_energy[-1] - ledger.total_energy[0] - lifted
    lost = sum(float(loss.sum()) for loss in ledger.dissipation.values())
    work = float(ledger.work["motor"].sum())
    yield vanishes("work of the motor less energies [J/J]", (work - lifted - lost - kept) / work, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
