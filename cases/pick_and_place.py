"""A flexible arm carries a block from one place to another and returns without it.

Inverse kinematics of the undeformed arm gives the joint angles at both places and above them, quintic polynomials
interpolate these, and computed torque with a rigid model of the arm makes the joints follow; the links bend and swing.
At its place the block is locked to the ground, the grip is released, and the controller continues with a model without
the block. Inverse kinematics are compared with the closed form of three joints (B. Siciliano et al., Robotics, Springer
(2009), sec. 2.12), and the arm at rest with its equilibrium at the same angles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
import rigid
from flexph import GROUND, Mechanism, Pose, Solution, connect, drive, integrate, revolute, torque, weld
from flexph.case import Case, Check, Option
from flexph.changes import lock, release
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.robots import Kinematics, Motion, computed_torque, polynomial, sequence
from flexph.sensors import joint_angle, position

from .checks import near, vanishes
from .files import write_run
from .times import equal_steps

TOWER, UPPER, FORE = 0.5, 0.8, 0.7  # [m], height of the shoulder and lengths of the links
ALLOY = fem.Material(young=7e10, density=2700.0, poisson=0.33)
TUBE = fem.Section(width=0.04, height=0.03)
LOSS = fem.Damping(stiffness=2e-4)  # [s]
BLOCK = 1.5  # [kg]
PICK, PLACE, ABOVE = (0.9, -0.5, 0.3), (0.4, 0.9, 0.2), 0.25  # [m]
MOVES = (0.5, 0.9, 0.5)  # [s], lift, carry and lower
REST, RETURN = 0.6, 0.8  # [s], at rest over the place, and back
MOTORS = ("yaw", "shoulder", "elbow")
STIFFNESS, DAMPING = 36.0, 12.0  # [1/s²], [1/s]


@dataclass(frozen=True)
class Result:
    """A run of the arm, its kinematics, the planned motion of its joints, ``wanted``, and the time ``down`` [s].

    At this time the block is put down.
    """

    solution: Solution
    kinematics: Kinematics
    wanted: Motion
    down: float


def closed_form(place: Iterable[float]) -> Array:
    """Angles (3,) [rad] of the arm's joints, with its elbow up, for which the hand is at ``place`` (3,) [m]."""
    x, y, z = place
    yaw, out, up = math.atan2(y, x), math.hypot(x, y), z - TOWER
    cosine = (out**2 + up**2 - UPPER**2 - FORE**2) / (2.0 * UPPER * FORE)
    elbow = math.acos(cosine)  # about -y: positive downwards
    shoulder = math.atan2(-up, out) - math.atan2(FORE * math.sin(elbow), UPPER + FORE * cosine)
    return np.array([yaw, shoulder, elbow])


def arm(young: float = 1.0, elements: int = 3, *, block: float = BLOCK) -> Mechanism:
    """Mechanism of the arm with a block [kg] in its hand; ``young`` multiplies the stiffness of the links."""
    metal = fem.Material(young=young * ALLOY.young, density=ALLOY.density, poisson=ALLOY.poisson)
    upper, fore = (fem.beam(length, metal, TUBE, elements=elements, dim=3, damping=LOSS) for length in (UPPER, FORE))
    bodies = {
        "tower": rigid.body(
            10.0, inertia=(0.2, 0.2, 0.1), ports={"foot": (0, 0, -TOWER / 2), "top": (0, 0, TOWER / 2)}
        ),
        "upper": upper.with_mass("root", 2.0, inertia=0.3).with_mass("tip", 1.0, inertia=0.15),
        "fore": fore.with_mass("root", 0.8, inertia=0.15).with_mass("tip", 0.2, inertia=0.002),
        "block": rigid.body(block, inertia=(0.002, 0.002, 0.002), ports={"top": (0, 0, 0)}),
    }
    joints = [
        revolute("tower.foot", GROUND.at(0, 0, 0), axis=(0, 0, 1)),
        revolute("upper.root", "tower.top", axis=(0, 1, 0)),
        revolute("fore.root", "upper.tip", axis=(0, 1, 0)),
        weld("block.top", "fore.tip", name="grip"),
    ]
    motors = [
        torque("tower.foot", name="yaw"),
        torque("upper.root", against="tower.top", name="shoulder"),
        torque("fore.root", against="upper.tip", name="elbow"),
    ]
    return connect(bodies, [*joints, *motors], gravity=(0.0, 0.0, -9.81))


def kinematics_of(mechanism: Mechanism) -> Kinematics:
    """Kinematics of the arm with its three joint angles as coordinates; at the home pose it points forwards."""
    angles = {
        "yaw": joint_angle("tower.foot", axis=(0, 0, 1)),
        "shoulder": joint_angle("upper.root", "tower.top", axis=(0, 1, 0)),
        "elbow": joint_angle("fore.root", "upper.tip", axis=(0, 1, 0)),
    }
    top = {"tower": (0, 0, TOWER / 2), "upper": (0, 0, TOWER), "fore": (UPPER, 0, TOWER)}
    home = mechanism.assemble(guess={**top, "block": (UPPER + FORE, 0, TOWER)})
    limits = {"shoulder": (-2.5, 0.8), "elbow": (0.05, 2.8)}
    return Kinematics(mechanism, angles, home, limits=limits)


def raised(place: Iterable[float]) -> tuple[float, ...]:
    """Point (3,) [m] above ``place`` (3,) [m] by the height from which the hand approaches it."""
    x, y, z = place
    return x, y, z + ABOVE


def motion(kinematics: Kinematics) -> tuple[Motion, float]:
    """Planned motion of the joints from the picking point to the placing point and back, and a time [s].

    At this time the block is put down.
    """
    way = (PICK, raised(PICK), raised(PLACE), PLACE)
    stops = [kinematics.inverse("fore.tip", position=way[0], near={"shoulder": -0.5, "elbow": 1.0})]
    for place in way[1:]:
        stops.append(kinematics.inverse("fore.tip", position=place, near=stops[-1]))
    moves, begin = [], 0.0
    for start, end, duration in zip(stops, stops[1:], MOVES, strict=False):
        moves.append(polynomial(start, end, duration=duration, begin=begin))
        begin += duration
    down = begin + REST
    return sequence(*moves, polynomial(stops[-1], stops[0], duration=RETURN, begin=down)), down


@dataclass(frozen=True)
class _Laws:
    """Control law with a model of the arm that includes the block until the time ``down``, and then does not."""

    loaded: Callable[..., Any]
    empty: Callable[..., Any]
    down: float

    def __call__(self, t: float, readings: Any) -> Any:
        return (self.loaded if t < self.down else self.empty)(t, readings)


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 2e-3,
    period: Annotated[float, Option("time between two calls of the controller", "s")] = 2e-3,
    stiffness: Annotated[float, Option("factor of the stiffness of the links")] = 1.0,
    end: Annotated[float, Option("end of the run", "s")] = 3.3,
) -> Result:
    """A flexible arm places a block, by inverse kinematics and computed torque."""
    mechanism = arm(stiffness)
    kinematics = kinematics_of(mechanism)
    wanted, down = motion(kinematics)
    times = equal_steps(step, end)
    start = mechanism.consistent_state(kinematics.pose(wanted(0.0)), elastic="quasi_static")
    gains: dict[str, Any] = {"period": period, "ports": MOTORS, "stiffness": STIFFNESS, "damping": DAMPING}
    loaded = computed_torque(kinematics, wanted, **gains)
    nothing = 1e-3 * BLOCK  # [kg], with the same ports and coordinates
    empty = computed_torque(kinematics_of(arm(stiffness, block=nothing)), wanted, **gains)
    servo = replace(loaded, function=_Laws(loaded.function, empty.function, down))
    put = [lock(weld("block.top", GROUND, name="table"), at=down), release("grip", at=down)]
    solution = integrate(mechanism, start, times, controllers={"servo": servo}, changes=put if down < end else [])
    return Result(solution, kinematics, wanted, down)


def joint_angles(result: Result) -> Array:
    """Angles (k, 3) [rad] of the joints at the saved times."""
    return np.stack(
        [result.solution.measured(coordinate) for coordinate in result.kinematics.coordinates.values()], axis=1
    )


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: error of the block's position, errors of the joints, energy and balance."""
    solution = result.solution
    block, loaded = solution.measured(position("block.top")), solution.times <= result.down
    apart = (joint_angles(result) - result.wanted(solution.times))[loaded]
    return {
        "block_m": block[-1].tolist(),
        "block_from_place_m": float(np.linalg.norm(block[-1] - PLACE)),
        "joint_deviation_with_block_max_rad": float(np.abs(apart).max()),
        "work_of_controller_J": float(solution.ledger.controllers["servo"].sum()),
        "balance_residual_max_rel": solution.ledger.largest_residual,
        "steps": len(solution.times) - 1,
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write the run, a table of joints and block, and their picture to ``folder``; return the summary numbers."""
    solution = result.solution
    write_run(solution, folder)
    angles, wanted = np.degrees(joint_angles(result)), np.degrees(result.wanted(solution.times))
    hand, block = (solution.measured(position(port)) for port in ("fore.tip", "block.top"))
    columns = {"t_s": solution.times}
    for k, name in enumerate(MOTORS):
        columns |= {f"{name}_deg": angles[:, k], f"{name}_wanted_deg": wanted[:, k]}
    for port, places in (("hand", hand), ("block", block)):
        columns |= {f"{port}_{x}_m": places[:, k] for k, x in enumerate("xyz")}
    write_table(folder / "motion.csv", columns)
    figure = new_figure(7.0, 6.5)
    upper, lower = figure.subplots(2, 1, height_ratios=(2, 1))
    upper.plot(solution.times, angles, label=MOTORS)
    upper.plot(solution.times, wanted, "k--", linewidth=0.6, label=[*["_"] * 2, "wanted"])
    upper.set(xlabel="t [s]", ylabel="angle [°]")
    upper.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    lower.plot(hand[:, 1], hand[:, 2], label="hand")
    lower.plot(block[:, 1], block[:, 2], "--", label="block")
    lower.set(xlabel="y [m]", ylabel="z [m]", aspect="equal")
    lower.legend(ncols=2, loc="center", frameon=False)
    figure.savefig(folder / "motion.png")
    return figures(result)


def at_rest(result: Result) -> float:
    """Distance [m] between the block just before it is put down and its position in equilibrium.

    The equilibrium is that of the arm with the same joint angles held.
    """
    solution, mechanism = result.solution, result.kinematics.mechanism
    k = int(np.abs(solution.times - result.down).argmin())
    angles, axes = joint_angles(result)[k], ((0, 0, 1), (0, 1, 0), (0, 1, 0))
    ends: tuple[tuple[str, Any], ...] = (
        ("tower.foot", GROUND),
        ("upper.root", "tower.top"),
        ("fore.root", "upper.tip"),
    )
    held = [
        drive(*pair, angle=partial(_constant, float(angle)), axis=axis)
        for pair, angle, axis in zip(ends, angles, axes, strict=True)
    ]
    locked = mechanism.replace(joints=[*mechanism.connections, *held])
    top = kinematics_of(mechanism).pose(angles)
    pose = locked.assemble(guess={name: _placement(mechanism, top, name) for name in mechanism.bodies})
    state = locked.equilibrium(pose)
    return float(np.linalg.norm(locked.position(state, "block.top") - solution.measured(position("block.top"))[k]))


def _constant(value: float, t: float) -> float:
    return value


def _placement(mechanism: Mechanism, pose: Pose, name: str) -> tuple[Array, Array]:
    """Position of the origin (3,) [m] and rotation (3, 3) of the body ``name`` at a pose."""
    k = list(mechanism.bodies).index(name)
    turn = pose.rotations[k]
    return pose.centres[k] - turn @ mechanism.bodies[name].centre, turn


def checks() -> Iterable[Check]:
    """Checks: inverse kinematics against the closed form, balance, and the block's position.

    Just before it is put down, the block is compared with its equilibrium; its sag, the distance from the target, with
    that for links of 100 times the stiffness.
    """
    result = run(step=2e-3, period=2e-3)
    apart = []
    for place in (PICK, raised(PICK), raised(PLACE), PLACE):
        q = result.kinematics.inverse("fore.tip", position=place, near={"shoulder": -0.5, "elbow": 1.0})
        apart.append(np.abs(q - closed_form(place)).max())
    yield vanishes(
        "inverse kinematics [rad]", max(apart), 1e-10, source="closed form of three joints", kind="closed form"
    )
    yield vanishes("step balance", result.solution.ledger.largest_residual, 1e-11)
    yield vanishes("block at rest beside its equilibrium [m]", at_rest(result), 1e-4, source="two routes")
    sag = figures(result)["block_from_place_m"]
    stiff = figures(run(step=2e-3, period=2e-3, stiffness=100.0))["block_from_place_m"]
    source = "theorem: the sag falls as 1/stiffness"
    yield near("sag [m]", sag, 100.0 * stiff, 0.03 * sag, source=source, kind="theorem")


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
