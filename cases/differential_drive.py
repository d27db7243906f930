"""A differential drive robot in the plane: constrained, reduced, and as a mechanism ([rigid] sec. 7.1).

ζ = (x, y, φ) are the position of the middle O' of the axle and the heading, ϖ = (v_x, v_y, ω) the velocity in body
axes. The centre of mass lies ℓ before O', the wheels at ±b/2 push with F_L and F_R along the heading and do not slip
sideways, v_y = 0, which the side force μ enforces. Without v_y

    m v̇_x = mℓω² + F_L + F_R,   I_O ω̇ = −mℓω v_x + ½b (F_R − F_L),   I_O = I_S + mℓ²

Solved for the forces this is the inverse dynamics of any path: here x = a sin τ, y = c sin 2τ, a figure of eight that
begins and ends at rest in its crossing, τ = 2πt/T − sin(2πt/T). So the exact motion is known. The paper gives no
numbers; m, I_S, ℓ, b, a, c and T are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

import rigid
from flexph import Mechanism, Solution, Trajectory, connect, force, integrate
from flexph.case import Case, Check, Option
from flexph.drawing import Shape, box_shape, cylinder_shape, merged_shapes, sphere_shape
from flexph.export.tables import write_table
from flexph.joints import wheel
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import converges, vanishes
from .files import write_run

MASS, INERTIA_S, REACH, TRACK = 8.0, 0.3, 0.1, 0.36  # m [kg], I_S [kg m²], ℓ [m], b [m]
INERTIA = INERTIA_S + MASS * REACH**2  # I_O, eq. (14)
LENGTH, WIDTH = 1.5, 0.6  # a and c of the eight [m]
DURATION = 10.0  # T [s]
WHEELS = {"left": 1.0, "right": -1.0}  # their sides of the axle


class Plan(NamedTuple):
    """Exact motion of the robot at k times, and its forces.

    ``positions`` are ζ (k, 3), ``speeds`` (v_x, ω) (k, 2), ``forces`` (F_L, F_R) (k, 2) [N], and ``side`` is μ (k,)
    [N].
    """

    positions: Array
    speeds: Array
    forces: Array
    side: Array


def plan(times: Any, duration: float = DURATION) -> Plan:
    """Exact motion on the figure of eight at times (k,), with its forces by inverse dynamics.

    Headings are unwrapped: the first of several times must be zero.
    """
    turn = 2.0 * math.pi / duration
    s = turn * np.asarray(times)
    tau, rate, change = s - np.sin(s), turn * (1.0 - np.cos(s)), turn**2 * np.sin(s)
    x, y = LENGTH * np.sin(tau), WIDTH * np.sin(2.0 * tau)
    dx, dy, ddx, ddy = LENGTH * np.cos(tau), 2.0 * WIDTH * np.cos(2.0 * tau), -x, -4.0 * y  # by τ
    length, along, across = np.hypot(dx, dy), dx * ddx + dy * ddy, dx * ddy - dy * ddx
    bend = across / length**2  # dφ/dτ
    bent = (-4.0 * dx * dy + dy * dx) / length**2 - 2.0 * bend * along / length**2
    v, omega = length * rate, bend * rate
    dv, domega = along / length * rate**2 + length * change, bent * rate**2 + bend * change
    thrust = MASS * (dv - REACH * omega**2)
    steer = (INERTIA * domega + MASS * REACH * omega * v) / TRACK
    forces = np.column_stack([0.5 * thrust - steer, 0.5 * thrust + steer])
    heading = np.unwrap(np.arctan2(dy, dx))
    side = MASS * (REACH * domega + v * omega)
    return Plan(np.column_stack([x, y, heading]), np.column_stack([v, omega]), forces, side)


def constrained() -> rigid.MultibodySystem:
    """System of the robot with the constraint v_y = 0: the matrices Z, M, G, A and B of sec. 7.1, as printed."""

    def kinematics(zeta: Array) -> Array:
        c, s = math.cos(zeta[2]), math.sin(zeta[2])
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def gyroscopic(zeta: Array, momenta: Array) -> Array:
        p_x, p_y, _ = momenta  # m v_x and m (v_y + ℓω)
        return -np.array([[0.0, 0.0, p_y], [0.0, 0.0, -p_x], [-p_y, p_x, 0.0]])

    lever = MASS * REACH
    return rigid.MultibodySystem(
        mass=np.array([[MASS, 0.0, 0.0], [0.0, MASS, lever], [0.0, lever, INERTIA]]),
        sample=np.zeros(3),
        kinematics=kinematics,
        gyroscopic=gyroscopic,
        velocity_constraints=(rigid.VelocityConstraint("no slip", np.array([[0.0, 1.0, 0.0]])),),
        ports={
            name: rigid.ExternalPort(np.array([[1.0], [0.0], [-0.5 * side * TRACK]])) for name, side in WHEELS.items()
        },
        parts={"position": slice(0, 2), "heading": slice(2, 3)},
        velocity_parts={"velocity": slice(0, 2), "spin": slice(2, 3)},
    )


S = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
"""Basis of ϖ = S (v_x, ω), the velocities that v_y = 0 allows."""


def reduced() -> rigid.MultibodySystem:
    """System of the robot without v_y and the side force, with (v_x, ω) as velocities, as in sec. 7.1."""
    return rigid.resolve(constrained(), S, velocity_parts={"forward": slice(0, 1), "spin": slice(1, 2)})


def robot() -> Mechanism:
    """The robot as a mechanism, on which the forces of the wheels act along its heading.

    It is one body with one wheel in the middle of the axle in place of two.
    """
    ports = {"axle": (0.0, 0.0), **{name: (0.0, 0.5 * side * TRACK) for name, side in WHEELS.items()}}
    chassis = rigid.body(MASS, inertia=INERTIA_S, centre=(REACH, 0.0), ports=ports, shape=drawn())
    pushed = [force(f"robot.{name}", axes="section", name=name) for name in WHEELS]
    return connect({"robot": chassis}, [wheel("robot.axle"), *pushed])


def drawn() -> Shape:
    """Shape of the robot for pictures: its chassis, wheels and castor."""
    wheels = [
        cylinder_shape(0.03, 0.07, axis=(0.0, 1.0, 0.0), centre=(0.0, 0.5 * side * TRACK, 0.07))
        for side in WHEELS.values()
    ]
    axle = cylinder_shape(TRACK, 0.01, axis=(0.0, 1.0, 0.0), centre=(0.0, 0.0, 0.07))
    chassis = box_shape((0.3, 0.26, 0.08), centre=(0.09, 0.0, 0.09))
    return merged_shapes([*wheels, axle, chassis, sphere_shape(0.025, centre=(0.21, 0.0, 0.025))])


@dataclass(frozen=True)
class Result:
    """Runs of the three models of the robot, and the exact motion at the ends and in the middles of their steps."""

    constrained: Trajectory
    reduced: Trajectory
    mechanism: Solution
    exact: Plan
    middle: Plan

    @cached_property
    def positions(self) -> Mapping[str, Array]:
        """Positions ζ (k + 1, 3) at the saved times, by the name of the model."""
        axis = self.mechanism.rotations("robot")[:, :, 0]
        heading = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
        return {
            "constrained": self.constrained["positions"],
            "reduced": self.reduced["positions"],
            "mechanism": np.column_stack([self.mechanism.position("robot.axle"), heading]),
        }

    @property
    def errors(self) -> Mapping[str, float]:
        """Largest |ζ − ζ_exact| of any component [m, rad] over the run, by the name of the model."""
        return {
            name: float(np.abs(positions - self.exact.positions).max()) for name, positions in self.positions.items()
        }

    @property
    def slip(self) -> Mapping[str, float]:
        """Largest sideways velocity |v_y| in the middle of any step [m/s], by the name of the model."""
        times, slips = self.constrained.times, {}
        for name in ("constrained", "reduced"):
            heading, moved = _middles(self.positions[name])[:, 2], np.diff(self.positions[name], axis=0)
            across: Array = np.cos(heading) * moved[:, 1]
            along: Array = np.sin(heading) * moved[:, 0]
            sideways = across - along
            slips[name] = float(np.abs(sideways / np.diff(times)).max())
        return slips | {"mechanism": float(self.mechanism.ledger.nonholonomic_residual.max())}

    @property
    def imbalance(self) -> Mapping[str, float]:
        """Largest |H − H(0) − work of the wheels| over the run divided by the largest energy, by model name."""
        runs = {"constrained": self.constrained, "reduced": self.reduced, "mechanism": self.mechanism}
        return {name: trajectory.energy_drift() for name, trajectory in runs.items()}

    @property
    def side_force(self) -> Array:
        """Side force μ in the middles of the steps (k,) [N]: minus the multiplier of the constrained model."""
        return -self.constrained["multipliers of no slip"][1:, 0]


def _middles(values: Array) -> Array:
    return 0.5 * (values[1:] + values[:-1])


def solve(steps: int, duration: float = DURATION) -> Result:
    """Run the three models from rest under the planned forces, with ``steps`` steps each."""
    duration = check.positive("duration", duration, "s")
    times = np.linspace(0.0, duration, check.count("steps", steps) + 1)
    exact, middle = plan(times, duration), plan(_middles(times), duration)
    pushes = {name: lambda t, k=k: plan(np.array([t]), duration).forces[0, k] for k, name in enumerate(WHEELS)}
    start, runs = exact.positions[0], {}
    for name, system in (("constrained", constrained()), ("reduced", reduced())):
        x = system.state(start, np.zeros(system.velocities), inputs=pushes)
        runs[name] = integrate(system.phdae(x), x, times, inputs=pushes)
    mechanism = robot()
    placed = mechanism.consistent_state(mechanism.assemble({"robot": tuple(start)}))
    along = {name: lambda t, push=push: (push(t), 0.0) for name, push in pushes.items()}
    return Result(**runs, mechanism=integrate(mechanism, placed, times, inputs=along), exact=exact, middle=middle)


def run(
    *,
    steps: Annotated[int, Option("time steps of the figure of eight")] = 400,
    duration: Annotated[float, Option("time for the figure of eight", "s")] = DURATION,
) -> Result:
    """A differential drive draws a figure of eight: constrained, reduced and as a mechanism ([rigid] sec. 7.1)."""
    return solve(steps, duration)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of the motion, plots, the moving robot for mesh viewers, and the mechanism's run.

    Return the summary numbers.
    """
    solution, times = result.mechanism, result.mechanism.times
    write_run(solution, folder)
    columns: dict[str, Any] = {"t_s": times}
    for name, values in {**result.positions, "exact": result.exact.positions}.items():
        columns |= {f"{label}_{name}": values[:, k] for k, label in enumerate(("x_m", "y_m", "heading_rad"))}
    write_table(folder / "path.csv", columns)
    columns = {"t_s": result.constrained.output_times}
    columns |= {f"force_{name}_N": result.middle.forces[:, k] for k, name in enumerate(WHEELS)}
    columns |= {f"speed_{name}_m_s": result.constrained.outputs[name][:, 0] for name in WHEELS}
    write_table(folder / "wheels.csv", columns | {"side_force_N": result.side_force})
    draw_path(result, folder / "path.png")
    draw_wheels(result, folder / "wheels.png")
    positions = result.positions
    return {
        "errors_max": dict(result.errors),
        "closing_gap_m": {name: float(np.hypot(*(zeta[-1] - zeta[0])[:2])) for name, zeta in positions.items()},
        "constrained_from_reduced_max": float(np.abs(positions["constrained"] - positions["reduced"]).max()),
        "constrained_from_mechanism_max": float(np.abs(positions["constrained"] - positions["mechanism"]).max()),
        "sideways_velocity_max_m_s": dict(result.slip),
        "energy_balance_max_rel": dict(result.imbalance),
        "side_force_max_N": float(np.abs(result.side_force).max()),
        "step_size_s": float(times[1] - times[0]),
    }


def draw_path(result: Result, path: Path, stations: int = 10) -> None:
    """Draw the path of the middle O' of the axle, and the robot with its heading at equal distances on the path."""
    figure = new_figure(9.0, 4.8)
    axes = figure.subplots()
    zeta = result.positions["mechanism"]
    axes.plot(*result.exact.positions[:, :2].T, color="0.75", linewidth=4.0, label="planned")
    axes.plot(*zeta[:, :2].T, color="C0", linewidth=1.2, label="O' of the mechanism")
    travelled = np.append(0.0, np.cumsum(np.hypot(*np.diff(zeta[:, :2], axis=0).T)))
    for k in range(stations):
        i = int(np.argmin(np.abs(travelled - travelled[-1] * (k + 0.5) / stations)))
        _draw_robot(axes, zeta[i])
        inward = (0.6 * LENGTH * np.sign(zeta[i, 0]), 0.0) - zeta[i, :2]  # to the centre of this loop of the 8
        label = zeta[i, :2] + 0.29 * inward / np.linalg.norm(inward)
        axes.text(label[0], label[1], f"{result.mechanism.times[i]:.1f} s", ha="center", va="center", size=8)
    axes.plot([], [], "C3o", markersize=4, label="centre of mass")
    axes.plot(*zeta[0, :2], "k.", markersize=8, label="start and end, at rest")
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    axes.grid(alpha=0.3)
    legend_above(axes, 4)
    figure.savefig(path)


def _draw_robot(axes: Any, zeta: Array) -> None:
    """Draw the chassis, wheels, centre of mass and an arrow along the heading."""
    along = np.array([math.cos(zeta[2]), math.sin(zeta[2])])
    frame = np.array([along, (-along[1], along[0])])
    hull = np.array([(-0.08, -0.13), (0.12, -0.13), (0.2, 0.0), (0.12, 0.13), (-0.08, 0.13)])
    axes.fill(*(zeta[:2] + hull @ frame).T, facecolor="C0", alpha=0.2, edgecolor="none")
    sides = 0.5 * TRACK * np.array(list(WHEELS.values()))
    axes.plot(*(zeta[:2] + np.outer(sides, frame[1])).T, color="0.25", linewidth=1.0)
    for side in sides:
        axes.plot(*(zeta[:2] + [[-0.06, side], [0.06, side]] @ frame).T, color="0.25", linewidth=3.0)
    tip = zeta[:2] + 0.34 * along
    axes.annotate("", tip, zeta[:2], arrowprops={"arrowstyle": "-|>", "color": "0.25", "linewidth": 0.8})
    axes.plot(*(zeta[:2] + REACH * along), "C3o", markersize=3)


def draw_wheels(result: Result, path: Path) -> None:
    """Draw the forces and speeds of the wheels, the side force, and the errors of the models."""
    figure = new_figure(8.0, 9.0)
    force, speed, side, error = figure.subplots(4, 1, sharex=True)
    run, middles = result.constrained, result.constrained.output_times
    for k, name in enumerate(WHEELS):
        force.plot(middles, result.middle.forces[:, k], color=f"C{k}", linewidth=1.2, label=f"{name} wheel")
        speed.plot(middles, run.outputs[name][:, 0], color=f"C{k}", linewidth=1.2, label=f"{name} wheel")
    speed.plot(middles, run["velocity"][1:, 0] * 0.5 + run["velocity"][:-1, 0] * 0.5, "k:", linewidth=1.0, label="O'")
    side.plot(middles, result.middle.side, color="0.75", linewidth=4.0, label="planned")
    side.plot(middles, result.side_force, color="C2", linewidth=1.2, label=r"$\mu$ of the constrained model")
    for k, (name, zeta) in enumerate(result.positions.items()):
        gap = np.abs(zeta - result.exact.positions).max(axis=1)
        style = {"reduced": "k:"}.get(name, f"C{k}-")
        error.semilogy(run.times[1:], np.maximum(gap[1:], 1e-12), style, linewidth=1.2, label=name)
    for axes, label in ((force, "force [N]"), (speed, "speed [m/s]"), (side, "side force [N]")):
        axes.set_ylabel(label)
    error.set(xlabel="t [s]", ylabel="error [m, rad]", xlim=(0.0, run.times[-1]))
    for axes in (force, speed, side, error):
        legend_above(axes, 4)
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: closed path and its order of convergence, agreement of the models, no slip, and work of the wheels."""
    runs = [solve(steps) for steps in (200, 400)]
    coarse, fine = runs
    plan = "x = a sin τ, y = c sin 2τ"
    for name in fine.errors:
        value = float(np.hypot(*(fine.positions[name][-1] - fine.positions[name][0])[:2]))
        yield vanishes(f"path closes [m], {name}, h = 25 ms", value, 2e-3, source=plan, kind="closed form")
        order = math.log2(coarse.errors[name] / fine.errors[name])
        yield converges(f"order of the path, {name}", order, 0.05)
    gaps = [np.abs(r.positions["mechanism"] - r.positions["constrained"]).max() for r in runs]
    order = float(np.log2(gaps[0] / gaps[1]))
    yield converges("order of constrained − mechanism", order, 0.05)
    gap = float(np.abs(fine.positions["constrained"] - fine.positions["reduced"]).max())
    yield vanishes("constrained − reduced [m, rad]", gap, 1e-12)
    off = [float(np.abs(r.side_force - r.middle.side).max()) for r in runs]
    yield vanishes("error of the side force [N], h = 25 ms", off[1], 0.05, source=plan, kind="closed form")
    order = math.log2(off[0] / off[1])
    yield converges("order of the side force", order, 0.1)
    for name in fine.errors:
        slip, gone = fine.slip[name], fine.imbalance[name]
        yield vanishes(f"sideways velocity [m/s], {name}", slip, 1e-12)
        yield vanishes(f"(energy − work of the wheels) / energy, {name}", gone, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: constrained().phdae())
