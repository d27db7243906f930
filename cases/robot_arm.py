"""A robot arm of two flexible links, turned to a target by joint motors under control of the angles.

The control law is proportional-derivative, by springs and dampers with moving references ("port") or by a sampled
function, or a sampled linear-quadratic regulator.

Proportional-derivative control of the joints: M. W. Spong, S. Hutchinson, M. Vidyasagar, Robot Modeling and
Control, Wiley (2005), ch. 6.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import fem
import rigid
from flexph import GROUND, Body, Mechanism, Solution, connect, hinge, integrate, torque, torsion_spring, weld
from flexph.case import Case, Check, Option
from flexph.control import Compensator, Plant, Sampled, angles_of, closed_loop, lqr
from flexph.export.tables import write_table
from flexph.fmu import CoSimulation
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure
from flexph.sensors import Quantity, joint_angle, joint_rate, position

from .checks import near, vanishes
from .files import write_run

LENGTH = 1.0  # of each link [m]
METAL = fem.Material(young=7e10, density=2700.0)
SECTION = fem.Section(width=0.03, height=0.02)
DAMPING = fem.Damping(stiffness=2e-4)  # [s]
RISE = 1.0  # T, until the targets stand still [s]
READ = (0.3, 0.5, 1.0, 2.0)  # times at which the position of the tip is printed [s]
Controller = Literal["port", "sampled", "lqr"]


@dataclass(frozen=True)
class Joint:
    """A motor between two ports: its gains K_p [N m] and K_d [N m s] and its angle of rotation ``target`` [rad]."""

    name: str
    ports: tuple[str, Any]
    stiffness: float
    damping: float
    target: float

    @property
    def angle(self) -> Quantity:
        """Sensor of the motor's angle q."""
        return joint_angle(*self.ports)

    @property
    def rate(self) -> Quantity:
        """Sensor of the motor's rate q̇."""
        return joint_rate(*self.ports)


JOINTS = (
    Joint("shoulder", ("shoulder.axle", GROUND), 800.0, 60.0, math.radians(90.0)),
    Joint("elbow", ("elbow.axle", "stator.axle"), 150.0, 8.0, math.radians(-60.0)),
)
SENSORS = {f"{joint.name} {kind}": getattr(joint, kind) for joint in JOINTS for kind in ("angle", "rate")}


@dataclass(frozen=True)
class Result:
    """A run of the arm, and its processor time [s]."""

    solution: Solution
    seconds: float


def profile(t: float) -> float:
    """Part, from 0 to 1, of the way to the target at the time t: 10s³ − 15s⁴ + 6s⁵, s = t/RISE."""
    s = min(max(t / RISE, 0.0), 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def profile_rate(t: float) -> float:
    """Time derivative of :func:`profile` [1/s]."""
    s = min(max(t / RISE, 0.0), 1.0)
    return 30.0 * s**2 * (1.0 - s) ** 2 / RISE


def bodies(elements: int, payload: float = 0.5) -> dict[str, Body]:
    """Bodies of the arm by name: two flexible links, three hubs and the payload [kg]."""
    link = fem.beam(LENGTH, METAL, SECTION, elements=elements, strain="von_karman", damping=DAMPING)
    hub = partial(rigid.body, ports={"axle": (0.0, 0.0)})
    return {
        "shoulder": hub(2.0, inertia=0.2),
        "upper": link,
        "stator": hub(0.5, inertia=0.02),
        "elbow": hub(0.5, inertia=0.05),
        "fore": link,
        "payload": rigid.point(payload),
    }


def arm(controller: Controller, elements: int = 4, payload: float = 0.5) -> Mechanism:
    """Mechanism of the arm, whose motors are springs and dampers with moving references, or torques as inputs.

    The first kind is for the ``controller`` "port".
    """
    joints = [
        hinge("shoulder.axle", GROUND.at(0.0, 0.0)),
        weld("upper.root", "shoulder.axle"),
        weld("stator.axle", "upper.tip"),
        hinge("elbow.axle", "stator.axle"),
        weld("fore.root", "elbow.axle"),
        hinge("payload.point", "fore.tip"),
    ]
    motors = [port_motor(joint) if controller == "port" else motor(joint) for joint in JOINTS]
    return connect(bodies(elements, payload), [*joints, *motors], gravity=(0.0, -9.81))


def port_motor(joint: Joint) -> Any:
    """Connection for the control law τ = K_p(q_d − q) + K_d(q̇_d − q̇): a spring and damper with a moving reference."""
    first, second = joint.ports

    def reference(t: float) -> float:
        return joint.target * profile(t)

    return torsion_spring(
        first, second, stiffness=joint.stiffness, damping=joint.damping, angle=reference, name=joint.name
    )


def motor(joint: Joint) -> Any:
    """External torques of a motor as inputs: τ on its hub, and −τ on the body that carries it."""
    first, second = joint.ports
    return torque(first, name=joint.name, against=None if second is GROUND else second)


def held_torques(t: float, see: Mapping[str, Any]) -> dict[str, float]:
    """Torques of the control law by motor at the time t, from the readings ``see`` of the sensors."""
    part, rate, (first, second) = profile(t), profile_rate(t), JOINTS
    upper = first.stiffness * (first.target * part - see["shoulder angle"])
    fore = second.stiffness * (second.target * part - see["elbow angle"])
    return {
        "shoulder": upper + first.damping * (first.target * rate - see["shoulder rate"]),
        "elbow": fore + second.damping * (second.target * rate - see["elbow rate"]),
    }


def placed(shoulder: float = 0.0, elbow: float = 0.0) -> dict[str, tuple[float, float, float]]:
    """Poses (x, y, angle) of the undeformed bodies by name, at the joint angles [rad]."""
    fore = shoulder + elbow
    middle = LENGTH * math.cos(shoulder), LENGTH * math.sin(shoulder)
    tip = middle[0] + LENGTH * math.cos(fore), middle[1] + LENGTH * math.sin(fore)
    return {
        "shoulder": (0.0, 0.0, shoulder),
        "upper": (0.0, 0.0, shoulder),
        "stator": (*middle, shoulder),
        "elbow": (*middle, fore),
        "fore": (*middle, fore),
        "payload": (*tip, 0.0),
    }


def plant(elements: int = 4) -> Plant:
    """Linear system from the motor torques to the joint angles of the weightless arm at its target.

    The regulator is designed with it.
    """
    flying = replace(arm("lqr", elements), gravity=np.zeros(2))
    return angles_of(flying.linearize(flying.assemble(placed(*(j.target for j in JOINTS)))), [j.name for j in JOINTS])


def regulator(elements: int = 4) -> Compensator:
    """Linear-quadratic regulator of the arm, with an observer because only the joint angles are measured."""
    return lqr(
        plant(elements),
        stiffness=(2e4, 4e3),
        effort=(0.03, 0.1),
        energy=100.0,
        load=(100.0, 10.0),
        drift=(1e5, 1e4),
        noise=(1e-6, 1e-6),
    )


def wanted(t: float) -> Array:
    """Target angles (2,) [rad] of both joints at the time t, on their way from zero."""
    return profile(t) * np.array([joint.target for joint in JOINTS])


def controllers(kind: Controller, period: float, elements: int) -> dict[str, Sampled]:
    """Sampled controllers of a ``kind``, by name; an empty mapping for "port".

    ``period`` [s] is the time between two calls.
    """
    if kind == "lqr":
        sensors, ports = {joint.name: joint.angle for joint in JOINTS}, [joint.name for joint in JOINTS]
        return {"motors": regulator(elements).sampled(period, sensors=sensors, ports=ports, reference=wanted)}
    return {} if kind == "port" else {"motors": Sampled(function=held_torques, period=period, sensors=SENSORS)}


def solve(kind: Controller, step: float, *, period: float = 1e-3, elements: int = 4, end: float = 2.0) -> Result:
    """Run of the arm with controllers of a ``kind`` up to ``end`` [s], from rest, straight along x.

    ``period`` [s] is the time between two calls of a sampled controller.
    """
    mechanism = arm(kind, elements)
    start = mechanism.consistent_state(mechanism.assemble(placed()))
    times, loops = np.linspace(0.0, end, max(1, round(end / step)) + 1), controllers(kind, period, elements)
    clock = time.process_time()
    solution = integrate(mechanism, start, times, controllers=loops)
    return Result(solution, time.process_time() - clock)


def co_simulation(*, payload: float = 0.5) -> CoSimulation:
    """The arm with torques as inputs and a given payload [kg], for ``flexph fmu cases/robot_arm.py -o arm.fmu``."""
    mechanism = arm("sampled", payload=payload)
    start = mechanism.consistent_state(mechanism.assemble(placed()))
    return CoSimulation(mechanism=mechanism, start=start, outputs={**SENSORS, "tip": position("fore.tip")}, end=2.0)


def run(
    *,
    controller: Annotated[Controller, Option("springs with moving references, a sampled function, or LQR")] = "port",
    step: Annotated[float, Option("time step", "s")] = 2.5e-4,
    period: Annotated[float, Option("time between two calls of the controller", "s")] = 1e-3,
    elements: Annotated[int, Option("elements of each link")] = 4,
    end: Annotated[float, Option("end of the run", "s")] = 2.0,
) -> Result:
    """A flexible robot arm turns to a target under PD control, by springs or sampled, or LQR."""
    if not 0.0 < step <= end:
        raise ValueError(f"step must be positive and not above end = {end} s, got {step} s")
    return solve(controller, step, period=period, elements=elements, end=end)


def tip_at(solution: Solution, moments: Iterable[float] = READ) -> Array:
    """Positions (k, 2) [m] of the tip at the saved times nearest to the times ``moments``."""
    tip, times = solution.position("fore.tip"), solution.times
    return np.array([tip[np.abs(times - t).argmin()] for t in moments if t <= times[-1] + 1e-9]).reshape(-1, 2)


def given(solution: Solution) -> dict[str, float]:
    """Energy [J] that each motor has supplied to the arm over the run, by name."""
    ledger, energies = solution.ledger, {}
    for joint in JOINTS:
        name = joint.name
        stored = ledger.energy.get(f"stored {name}", np.zeros(1))
        lost = ledger.dissipation.get(name, np.zeros(1)).sum()
        energies[name] = float(ledger.work[name].sum() - lost - (stored[-1] - stored[0]))
    return energies


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: the tip, the balance, the energy from the controllers, and the processor time."""
    solution, energies = result.solution, given(result.solution)
    return {
        "tip_m": tip_at(solution).tolist(),
        "balance_residual_max_rel": solution.ledger.largest_residual,
        "controller_energy_J": sum(energies.values()),
        **{f"{name}_energy_J": value for name, value in energies.items()},
        "angles_end_deg": [math.degrees(solution.measured(joint.angle)[-1]) for joint in JOINTS],
        "joint_drift_max_m": float(solution.ledger.position_residual.max()),
        "steps": len(solution.times) - 1,
        "cpu_s": result.seconds,
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and picture of the motion, the moving arm for mesh viewers, and the run itself.

    Return the summary numbers.
    """
    solution = result.solution
    write_run(solution, folder)
    tip = solution.position("fore.tip")
    angles = {joint.name: np.degrees(solution.measured(joint.angle)) for joint in JOINTS}
    columns = {"t_s": solution.times, "tip_x_m": tip[:, 0], "tip_y_m": tip[:, 1]}
    write_table(folder / "motion.csv", columns | {f"{name}_deg": values for name, values in angles.items()})
    draw(solution, angles, folder / "motion.png")
    return figures(result)


def draw(solution: Solution, angles: Mapping[str, Array], path: Path) -> None:
    """Draw the path of the tip with the arm at some times, and angles with their targets."""
    figure = new_figure(9.0, 4.2)
    way, turn = figure.subplots(1, 2)
    tip, elbow, times = solution.position("fore.tip"), solution.position("upper.tip"), solution.times
    way.plot(tip[:, 0], tip[:, 1], linewidth=1.0, label="tip")
    for t in (0.0, *READ):
        k = np.abs(times - t).argmin()
        way.plot([0.0, elbow[k, 0], tip[k, 0]], [0.0, elbow[k, 1], tip[k, 1]], "o-", color="0.6", markersize=3)
    way.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    for joint in JOINTS:
        (line,) = turn.plot(times, angles[joint.name], label=joint.name)
        wanted = [math.degrees(joint.target) * profile(t) for t in times]
        turn.plot(times, wanted, "--", color=line.get_color(), linewidth=0.8, label=f"{joint.name}, wanted")
    turn.set(xlabel="t [s]", ylabel="angle [°]")
    legend_above(turn, columns=2)
    for axes in (way, turn):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: tip against half the step and an independent code, balance, order of sampling, regulator at the end.

    With the sampled law the tip tends to that with the "port" law, at first order in the sampling period.
    """
    result = solve("port", 2.5e-4)
    port, half = tip_at(result.solution), tip_at(solve("port", 1.25e-4).solution)
    yield vanishes("tip beside that of half the step [m]", float(np.abs(port - half).max()), 1e-5)
    cables = "Exudyn 1.13: ANCF cables, generalised-α, 2000 steps, user functions (benchmarks/feedback.py)"
    for name, reference, computed in zip("xy", (0.9519, 1.3815), port[-1], strict=True):
        yield near(f"tip at 2 s: {name} [m]", reference, computed, 5e-4, source=cables, kind="independent code")
    yield vanishes("step balance", result.solution.ledger.largest_residual, 1e-11)
    apart = []
    for period in (2e-3, 1e-3, 5e-4):
        sampled = solve("sampled", 2.5e-4, period=period).solution
        apart.append(float(np.abs(tip_at(sampled) - port).max()))
        yield vanishes(f"step balance, sampled every {1e3 * period:g} ms", sampled.ledger.largest_residual, 1e-11)
    orders = np.log2(np.divide(apart[:-1], apart[1:]))
    yield near("order of sampling", 1.0, float(orders[-1]), 0.1, source="a delay of half a period", kind="theorem")
    regulated = solve("lqr", 1e-3).solution
    yield vanishes("step balance, LQR", regulated.ledger.largest_residual, 1e-11)
    ends = [regulated.measured(joint.angle)[-1] - joint.target for joint in JOINTS]
    yield vanishes("angles at the end, LQR [rad]", np.abs(ends).max(), 2e-3)
    linear = closed_loop(plant(), regulator(), period=1e-3)
    yield near(
        "sampled loop stable", 1.0, linear.is_stable, 1e-9, source="separation of regulator and filter", kind="theorem"
    )


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
