"""A robot on four wheels that slip by a friction law, with or without mecanum rollers.

Kinematics of mecanum platforms: P. F. Muir, C. P. Neuman, Kinematic modeling for feedback control of an omnidirectional
wheeled mobile robot, Proc. IEEE Int. Conf. Robotics and Automation (1987) 1772; of four wheels in this form, H. Taheri,
B. Qiao, N. Ghaeminezhad, Int. J. Computer Applications 113 (2015) 1, eq. (20): r ω = v_x ∓ v_y ∓ (l_x + l_y) ω_z.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.integrate import cumulative_simpson

import rigid
from flexph import GROUND, Mechanism, Solution, connect, drive, integrate, planar, revolute
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.joints import slipping_wheel
from flexph.laws import coulomb
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure
from flexph.sensors import joint_angle

from .checks import converges, near, vanishes
from .files import write_run

Wheels = Literal["mecanum", "plain"]
MASS, YAW = 30.0, 1.4  # of the chassis [kg], [kg m²]
WHEEL, SPIN, RADIUS = 1.5, 5e-3, 0.1  # of a wheel [kg], [kg m²] about its axle, [m]
LENGTH, WIDTH = 0.25, 0.2  # l_x and l_y: from the middle to the wheels [m]
GRAVITY, FRICTION = 9.81, 0.6
LOAD = FRICTION * (MASS + 4.0 * WHEEL) * GRAVITY / 4.0  # μN of a wheel [N]
CORNERS = {"front left": (1.0, 1.0), "front right": (1.0, -1.0), "rear left": (-1.0, 1.0), "rear right": (-1.0, -1.0)}
COMMAND = {"mecanum": (0.5, 0.3, 0.6), "plain": (0.5, 0.0, 0.6)}  # v_x, v_y [m/s], ω_z [rad/s] in the chassis
RISE = 0.5  # time in which the command rises, and falls before the end [s]
Z, Y = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Result:
    """A run of the robot with a kind of wheels up to the time ``end`` [s].

    The kind of wheels and the time determine the commanded motion.
    """

    solution: Solution
    wheels: Wheels
    end: float

    @property
    def poses(self) -> Array:
        """Position x, y [m] and heading [rad] of the chassis at the saved times, (k, 3)."""
        places = self.solution["chassis.centre"]
        heading = self.solution.measured(joint_angle("chassis.centre", GROUND, axis=Z))
        return np.column_stack([places[:, :2], heading])


def rollers(corner: tuple[float, float]) -> float:
    """Angle [rad] from the axle of a wheel to the axis of its roller in contact.

    ``corner`` has the signs of the wheel's position; seen from above the roller axes form an X.
    """
    return -0.25 * math.pi * corner[0] * corner[1]


def inverse_kinematics(wheels: Wheels, twist: tuple[float, float, float]) -> dict[str, float]:
    """Spins of the wheels [rad/s], by name, for the velocity (v_x, v_y, ω_z) of the chassis without slip."""
    vx, vy, spin = twist
    if wheels == "plain":  # no longitudinal slip: left wheels are slower in a left turn
        return {name: (vx - side * WIDTH * spin) / RADIUS for name, (_, side) in CORNERS.items()}
    return {
        name: (vx - front * side * vy - side * (LENGTH + WIDTH) * spin) / RADIUS
        for name, (front, side) in CORNERS.items()
    }


def risen(t: Any, end: float) -> Any:
    """Integral from 0 to t of the command divided by its full value [s].

    The command rises and falls as 3s² − 2s³, s being the fraction of the rise time, and is zero from ``end`` on.
    """
    up = np.clip(np.asarray(t) / RISE, 0.0, 1.0)
    down = np.clip((np.asarray(t) - (end - RISE)) / RISE, 0.0, 1.0)
    way = lambda s: s**3 - 0.5 * s**4  # noqa: E731
    level = np.clip(np.asarray(t) - RISE, 0.0, end - 2.0 * RISE)
    return RISE * way(up) + level + RISE * (down - way(down))


def kinematic(wheels: Wheels, end: float, times: Array) -> Array:
    """Poses (x, y, heading) (k, 3) of the chassis under the commanded wheel spins without slip, by fine quadrature."""
    vx, vy, spin = COMMAND[wheels]
    fine = np.linspace(0.0, end, 20001)
    heading, share = spin * risen(fine, end), np.gradient(risen(fine, end), fine)
    rate = np.array([vx * np.cos(heading) - vy * np.sin(heading), vx * np.sin(heading) + vy * np.cos(heading)])
    path = cumulative_simpson(rate * share, x=fine, initial=0.0)
    return np.column_stack([np.interp(times, fine, row) for row in (*path, heading)])


def robot(wheels: Wheels, motion: Callable[[str], Callable[[float], float]], creep: float) -> Mechanism:
    """Mechanism of the chassis on its plane with four wheels and the ground under each of them.

    ``motion(name)`` is the prescribed angle of a wheel as a function of time, ``creep`` the slip velocity [m/s] at
    which friction is near its limit.
    """
    flat = {name: (front * LENGTH, side * WIDTH, 0.0) for name, (front, side) in CORNERS.items()}
    chassis = rigid.body(MASS, inertia=(0.9, 1.0, YAW), ports={"centre": (0.0, 0.0, 0.0), **flat})
    tyre = rigid.body(WHEEL, inertia=(0.6 * SPIN, SPIN, 0.6 * SPIN), ports={"centre": (0.0, 0.0, 0.0)})
    joints = [planar("chassis.centre", GROUND.at(0.0, 0.0, 0.0), normal=Z)]
    for name, corner in CORNERS.items():
        centre, place, roller = f"{name}.centre", f"chassis.{name}", rollers(corner) if wheels == "mecanum" else None
        joints += [
            revolute(centre, place, axis=Y),
            drive(centre, place, angle=motion(name), axis=Y),
            slipping_wheel(
                centre, place, radius=RADIUS, friction=coulomb(LOAD, speed=creep), roller=roller, name=f"ground {name}"
            ),
        ]
    return connect({"chassis": chassis, **dict.fromkeys(CORNERS, tyre)}, joints)


def start_of(mechanism: Mechanism, velocity: tuple[float, float, float]) -> Any:
    """Initial state with a velocity (3,) of the middle of the chassis; joints and drives determine the wheel spins."""
    guess = {name: ((front * LENGTH, side * WIDTH, 0.0), np.eye(3)) for name, (front, side) in CORNERS.items()}
    pose = mechanism.assemble({"chassis": ((0.0, 0.0, 0.0), np.eye(3))}, guess=guess)
    return mechanism.consistent_state(pose, velocities={"chassis": (velocity, (0.0, 0.0, 0.0))})


def run(
    *,
    wheels: Annotated[
        Wheels, Option("wheels with rollers at 45°, which allow sideways motion, or without")
    ] = "mecanum",
    end: Annotated[float, Option("end of the run", "s")] = 4.0,
    step: Annotated[float, Option("step size", "s")] = 0.01,
    creep: Annotated[
        float, Option("slip velocity at which the smoothed friction force is near its limit", "m/s")
    ] = 1e-3,
) -> Result:
    """Mobile robot: four driven wheels that slip by a friction law; mecanum rollers or plain wheels."""
    if not 0.0 < step <= end or end < 2.0 * RISE:
        raise ValueError(
            f"step must be positive and not above end, and end at least {2.0 * RISE} s, got {step}, {end} s"
        )
    if creep <= 0.0:
        raise ValueError(f"creep must be positive, got {creep} m/s")
    spins = inverse_kinematics(wheels, COMMAND[wheels])
    mechanism = robot(wheels, lambda name: lambda t: spins[name] * risen(t, end), creep)
    times = np.linspace(0.0, end, round(end / step) + 1)
    return Result(integrate(mechanism, start_of(mechanism, (0.0, 0.0, 0.0)), times), wheels, end)


def slide(wheels: Wheels, velocity: tuple[float, float, float], creep: float = 1e-4) -> float:
    """Distance [m] that the robot slides with locked wheels until it rests, from an initial velocity of the chassis."""
    mechanism = robot(wheels, lambda name: lambda t: 0.0, creep)
    run = integrate(mechanism, start_of(mechanism, velocity), np.linspace(0.0, 0.5, 401))
    return float(np.linalg.norm(run["chassis.centre"][-1]))


def figures(result: Result) -> Mapping[str, Any]:
    """Summary numbers: final pose of the robot, its distance from the pose without slip, and energy lost by slip."""
    poses, ledger = result.poses, result.solution.ledger
    ideal = kinematic(result.wheels, result.end, result.solution.times)
    return {
        "pose_m": [float(x) for x in poses[-1, :2]],
        "heading_rad": float(poses[-1, 2]),
        "no_slip_pose_m": [float(x) for x in ideal[-1, :2]],
        "no_slip_heading_rad": float(ideal[-1, 2]),
        "pose_error_m": float(np.linalg.norm(poses[-1, :2] - ideal[-1, :2])),
        "slip_energy_J": float(sum(np.sum(lost) for lost in ledger.dissipation.values())),
        "motor_work_J": float(sum(np.sum(work) for work in ledger.work.values())),
        "balance_residual_max_rel": ledger.largest_residual,
    }


def write(result: Result, folder: Path) -> Mapping[str, Any]:
    """Write to ``folder``: the run, its path and that without slip, and the power dissipated by slip.

    Return the summary numbers.
    """
    solution, poses = result.solution, result.poses
    write_run(solution, folder)
    ideal = kinematic(result.wheels, result.end, solution.times)
    columns = {"x_m": poses[:, 0], "y_m": poses[:, 1], "heading_rad": poses[:, 2]}
    wanted = {"no_slip_x_m": ideal[:, 0], "no_slip_y_m": ideal[:, 1], "no_slip_heading_rad": ideal[:, 2]}
    write_table(folder / "path.csv", {"t_s": solution.times, **columns, **wanted})
    figure = new_figure(9.0, 4.2)
    way, taken = figure.subplots(1, 2)
    way.plot(poses[:, 0], poses[:, 1], label=f"{result.wheels} wheels that slip")
    way.plot(ideal[:, 0], ideal[:, 1], "--", linewidth=1.0, label="without slip")
    for k in np.linspace(0, len(poses) - 1, 5).astype(int):
        _draw_chassis(way, poses[k])
    way.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    middle, step = 0.5 * (solution.times[1:] + solution.times[:-1]), np.diff(solution.times)
    for name, lost in solution.ledger.dissipation.items():
        taken.plot(middle, lost / step, linewidth=0.9, label=name.removeprefix("ground "))
    taken.set(xlabel="t [s]", ylabel="power lost to slip [W]")
    for axes in (way, taken):
        axes.grid(alpha=0.3)
        legend_above(axes, columns=2)
    figure.savefig(folder / "path.png")
    return figures(result)


def _draw_chassis(axes: Any, pose: Array) -> None:
    """Draw the chassis as the outline between its wheels, with a line to the front, at ``pose`` (x, y, heading)."""
    x, y, heading = pose
    outline = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1), (1, 0), (0, 0)]) * (LENGTH, WIDTH)
    turn = np.array([[np.cos(heading), np.sin(heading)], [-np.sin(heading), np.cos(heading)]])
    corners = outline @ turn + (x, y)
    axes.plot(corners[:, 0], corners[:, 1], color="0.5", linewidth=0.8)


def _orders() -> Iterable[Check]:
    """Checks: the distance from the pose without slip is a v + b h², of first order in v and of second order in h.

    v is the creep velocity and h the step. At the default step b h² is −1.0e-5 m, a seventh of a v at the default creep
    and a third at half of it, so that distances alone do not halve with the creep. Each part is checked by differences
    that eliminate the other.
    """

    def end(creep: float, step: float) -> Array:
        moved = run(creep=creep, step=step)
        return np.asarray(moved.poses[-1, :2] - kinematic(moved.wheels, moved.end, moved.solution.times)[-1, :2])

    away = [end(creep, 0.01) for creep in (2e-3, 1e-3, 5e-4)]
    parts = [np.linalg.norm(x - y) for x, y in pairwise(away)]
    yield converges("order of the creep", math.log2(parts[0] / parts[1]), 0.02, theory=1.0)
    rests = [2.0 * half - whole for whole, half in ([end(1e-3, 0.02), end(5e-4, 0.02)], away[1:])]
    order = math.log2(np.linalg.norm(rests[0]) / np.linalg.norm(rests[1]))
    yield converges("order of the rest in the step", order, 0.1)


def checks() -> Iterable[Check]:
    """Checks: kinematics without slip against the source, sliding distance with locked wheels, balance at round-off.

    The run with plain wheels, which slide sideways in a turn, is checked for balance only.
    """
    result = run()
    given = figures(result)
    yield vanishes("step balance", given["balance_residual_max_rel"], 1e-11)
    yield vanishes(
        "from the pose without slip [m]", given["pose_error_m"], 2e-3, source="inverse kinematics", kind="closed form"
    )
    yield vanishes(
        "heading from that without slip [rad]", given["heading_rad"] - given["no_slip_heading_rad"], 2e-3,
        source="inverse kinematics", kind="closed form",
    )  # fmt: skip
    yield from _orders()
    yield vanishes(
        "work of the motors less what slips, over it", 1.0 - given["slip_energy_J"] / given["motor_work_J"], 1e-4
    )
    v, push = 1.0, 4.0 * LOAD / (MASS + 4.0 * WHEEL)
    formula = "v²/(2μg)"
    yield near(
        "plain wheels held fast, along [m]", v * v / (2.0 * push), slide("plain", (v, 0.0, 0.0)), 1e-3, source=formula
    )
    sideways = slide("plain", (0.6 * v, 0.8 * v, 0.0))
    yield near("the same, askew [m]", v * v / (2.0 * push), sideways, 1e-3, source=formula)
    rolled = slide("mecanum", (v, 0.0, 0.0))
    wanted = v * v / (2.0 * push * math.sqrt(0.5))
    yield near("mecanum wheels held fast [m]", wanted, rolled, 1e-3, source="v²/(√2 μg)")
    plain = figures(run(wheels="plain"))
    yield vanishes("step balance, plain wheels", plain["balance_residual_max_rel"], 1e-11)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
