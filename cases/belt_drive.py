"""A belt drive: an elastic belt that does not slip on its two pulleys, with pretension and a braked output.

The belt is two ropes, one for each span, that only pull: T = max(T₀ ± k(r₁θ₁ − r₂θ₂), 0). While both are taut the
pulleys follow a linear vibration in closed form. If the torque of the motor is too large for the pretension, one span
falls slack; the reference is then an adaptive integration of the same two equations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy

import rigid
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate, torque
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.joints import Sheave, rope, torsion_spring
from flexph.linear import poles
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import spring_force

from .checks import converges, near, vanishes
from .files import write_run
from .times import equal_steps

RADII, INERTIAS, APART = (0.06, 0.15), (0.002, 0.05), 0.5  # [m], [kg m²], [m]
BRAKE = 0.4  # [N m s], viscous, at the output
SPANS = {"above": -1.0, "below": 1.0}  # with the sense in which the belt runs over the motor's pulley


def belt_drive(stiffness: float, pretension: float) -> Mechanism:
    """Mechanism of two pulleys on fixed axles, two spans of the belt, a brake, and an input for the motor's torque."""
    straight = math.sqrt(APART**2 - (RADII[1] - RADII[0]) ** 2)
    bodies = {
        name: rigid.body(1.0, inertia=inertia, ports={"axle": (0.0, 0.0)})
        for name, inertia in zip(("input", "output"), INERTIAS, strict=True)
    }
    spans = [
        rope(
            [Sheave("input.axle", sense * RADII[0], grips=True), Sheave("output.axle", sense * RADII[1], grips=True)],
            stiffness=stiffness,
            length=straight - pretension / stiffness,
            name=f"span {name}",
        )
        for name, sense in SPANS.items()
    ]
    axles = [hinge("input.axle", GROUND.at(0.0, 0.0)), hinge("output.axle", GROUND.at(APART, 0.0))]
    brake = torsion_spring("output.axle", GROUND, damping=BRAKE, name="brake")
    return connect(bodies, [*axles, *spans, brake, torque("input.axle", name="motor")])


def run(
    *,
    stiffness: Annotated[float, Option("stiffness of a span", "N/m")] = 2e4,
    pretension: Annotated[float, Option("tension of the belt at rest", "N")] = 60.0,
    motor: Annotated[float, Option("torque of the motor", "N m")] = 3.0,
    step: Annotated[float, Option("time step", "s")] = 2e-4,
    end: Annotated[float, Option("end of the run", "s")] = 0.5,
) -> Solution:
    """A belt drive with an elastic belt that only pulls: taut against a closed form, slack against an integration."""
    check.positive("stiffness", stiffness, "N/m")
    check.positive("pretension", pretension, "N")
    mechanism = belt_drive(stiffness, pretension)
    pose = mechanism.assemble({"input": (0.0, 0.0, 0.0), "output": (APART, 0.0, 0.0)})
    times = equal_steps(step, end)
    return integrate(mechanism, mechanism.consistent_state(pose), times, inputs={"motor": lambda t: motor})


def rates(state: Array, stiffness: float, pretension: float, motor: float) -> Array:
    """Rates of the state (θ₁, θ₂, ω₁, ω₂) of the pulleys by Newton's equations.

    ``motor`` is the torque [N m]; a span whose tension would be negative is slack.
    """
    turn, spin = state[:2], state[2:]
    stretch = stiffness * (RADII[0] * turn[0] - RADII[1] * turn[1])
    pull = max(pretension + stretch, 0.0) - max(pretension - stretch, 0.0)
    torques = motor - RADII[0] * pull, RADII[1] * pull - BRAKE * spin[1]
    return np.concatenate([spin, np.array(torques) / INERTIAS])


def equations(stiffness: float, motor: float) -> Array:
    """Matrix (5, 5) of the linear equations ẏ = Ay of a taut belt, with y = (θ₁, θ₂, ω₁, ω₂, 1).

    ``motor`` is the torque of the motor [N m].
    """
    r, s = RADII
    matrix = np.zeros((5, 5))
    matrix[:2, 2:4] = np.eye(2)
    matrix[2:4, :2] = 2.0 * stiffness * np.array([[-r * r, r * s], [r * s, -s * s]]) / np.array(INERTIAS)[:, None]
    matrix[3, 3], matrix[2, 4] = -BRAKE / INERTIAS[1], motor / INERTIAS[0]
    return matrix


def taut(stiffness: float, motor: float, times: Array) -> Array:
    """Angular velocities (k, 2) [rad/s] of both pulleys at ``times`` (k,), from rest, if the belt stays taut.

    ``motor`` is the torque of the motor [N m].
    """
    matrix = equations(stiffness, motor)
    spins: Array = np.array([scipy.linalg.expm(t * matrix)[2:4, 4] for t in times.tolist()])
    return spins


def speeds(solution: Solution) -> Array:
    """Angular velocities (k, 2) [rad/s] of both pulleys at the saved times of a run."""
    return np.stack([solution[f"{name}.spin"][:, 0] for name in ("input", "output")], axis=1)


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: speeds of the pulleys and tensions of the spans over time; return the summary numbers."""
    write_run(solution, folder)
    spin, pull = speeds(solution), {name: solution.measured(spring_force(f"span {name}")) for name in SPANS}
    columns = {"input_rad_s": spin[:, 0], "output_rad_s": spin[:, 1]}
    write_table(folder / "belt.csv", {"t_s": solution.times} | columns | {f"{n}_N": force for n, force in pull.items()})
    figure = new_figure(8.0, 3.6)
    turning, pulling = figure.subplots(1, 2)
    turning.plot(solution.times, spin[:, 0], label="input", linewidth=1.0)
    turning.plot(solution.times, spin[:, 1] * RADII[1] / RADII[0], label="output, times r₂/r₁", linewidth=1.0)
    for name, force in pull.items():
        pulling.plot(solution.times, force, label=f"span {name}", linewidth=0.9)
    turning.set(xlabel="t [s]", ylabel="angular velocity [rad/s]")
    pulling.set(xlabel="t [s]", ylabel="tension [N]")
    for axes in (turning, pulling):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(folder / "belt.png")
    return {
        "output_rad_s": float(spin[-1, 1]),
        "tension_max_N": float(max(force.max() for force in pull.values())),
        "tension_min_N": float(min(force.min() for force in pull.values())),
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: both pulleys against the closed form of a taut belt, or an adaptive integration with a slack span."""
    rest = belt_drive(2e4, 60.0)
    still = rest.equilibrium(rest.assemble({"input": (0.0, 0.0, 0.0), "output": (APART, 0.0, 0.0)}))
    value, computed = (
        np.abs(roots.imag).max() for roots in (np.linalg.eigvals(equations(2e4, 0.0)), poles(rest.linearize(still)))
    )
    yield near(
        "frequency of the taut belt [rad/s]", value, computed, 1e-8 * value, source="eigenvalues of two equations"
    )

    errors: list[float] = []
    for step in (2e-4, 1e-4):
        solution = run(step=step, motor=1.5, end=0.1)
        yield vanishes(f"balance, taut, step {step:g}", solution.ledger.largest_residual, 1e-12)
        some = slice(None, None, round(2e-3 / step))
        errors.append(float(np.abs(speeds(solution)[some] - taut(2e4, 1.5, solution.times[some])).max()))
    yield near("speeds, taut, largest error [rad/s]", 0.0, errors[1], 5e-3, source="linear vibration, closed form")
    yield converges("order, taut", math.log2(errors[0] / errors[1]), 0.1)

    solution = run(step=5e-5, motor=6.0, end=0.1)
    adaptive = scipy.integrate.solve_ivp(
        lambda t, y: rates(y, 2e4, 60.0, 6.0), (0.0, 0.1), np.zeros(4), method="DOP853", rtol=1e-10, atol=1e-12,
        max_step=1e-3, t_eval=solution.times[::100],
    )  # fmt: skip
    apart = float(np.abs(speeds(solution)[::100] - adaptive.y[2:].T).max())
    yield near(
        "speeds, slack, largest error [rad/s]", 0.0, apart, 5e-3, source="solve_ivp (DOP853)", kind="independent code"
    )
    slack = min(float(solution.measured(spring_force(f"span {name}")).min()) for name in SPANS)
    yield vanishes("tension of the slack span [N]", slack, 1e-12)
    yield vanishes("balance, slack", solution.ledger.largest_residual, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
