"""A Stewart platform: six legs that slide, between universal joints at the base and spherical ones at the platform.

D. Stewart, A platform with six degrees of freedom, Proc. Inst. Mech. Eng. 180 (1965) 371-386. Each leg is a cylinder
and a rod, so that the mechanism has thirteen rigid bodies and six loops. Drives give the legs the lengths

    L_k = |p + R b_k - a_k|

of a reference motion (p, R) of the platform, with its feet a_k and heads b_k: closed-form inverse kinematics, against
which the inverse kinematics of the mechanism are compared. The forces of the drives are compared with inverse dynamics
in leg coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, Mechanism, Pose, Solution, connect, drive, integrate, prismatic, spherical, universal
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.robots import Kinematics, Motion, spline
from flexph.sensors import offset, position

from .checks import vanishes
from .files import write_run
from .times import equal_steps

BASE, TOP, HEIGHT = 1.0, 0.6, 1.2  # [m], radii of feet and heads, height of the platform at rest
PAIRS, OFFSET = np.repeat([0.0, 2.0, 4.0], 2) * math.pi / 3.0, math.radians(12.0)
SIDES = np.tile([-1.0, 1.0], 3)
FEET_AT, HEADS_AT = PAIRS + SIDES * OFFSET, PAIRS + SIDES * (math.pi / 3.0 - OFFSET)
FEET = BASE * np.stack([np.cos(FEET_AT), np.sin(FEET_AT), np.zeros(6)], axis=1)
HEADS = TOP * np.stack([np.cos(HEADS_AT), np.sin(HEADS_AT), np.zeros(6)], axis=1)
MASS, MOMENTS = 60.0, (6.0, 6.0, 11.0)  # [kg], [kg m²] of the platform
CYLINDER, ROD, LENGTH = 4.0, 2.0, 0.8  # [kg], [m] of each half of a leg
LEGS = tuple(f"leg {k}" for k in range(1, 7))
WAY = (0.2, 0.15, 0.1, 0.15, -0.1, 0.3)  # amplitudes of x, y, z [m] and of the rotation vector [rad]


@dataclass(frozen=True)
class Result:
    """A run of the platform, its kinematics in the lengths of the legs, and its reference motion ``wanted``."""

    solution: Solution
    kinematics: Kinematics
    wanted: Motion


def motion(end: float) -> Motion:
    """Reference motion of the platform up to ``end`` [s]: a spline through five points (6,).

    A point is position and rotation vector.
    """
    points = np.outer([0.0, 1.0, 0.0, -1.0, 0.0], WAY)
    points[:, 2] += HEIGHT
    return spline(np.linspace(0.0, end, 5), points)


def leg_vectors(place: Array) -> Array:
    """Vectors (6, 3) [m] from the feet to the heads of the legs.

    ``place`` (6,) is position and rotation vector of the platform.
    """
    return place[:3] + Rotation.from_rotvec(place[3:]).apply(HEADS) - FEET


def leg_lengths(place: Array) -> Array:
    """Lengths (6,) [m] of the legs in closed form with the platform at ``place`` (6,).

    ``place`` is its position and its rotation vector.
    """
    lengths: Array = np.linalg.norm(leg_vectors(place), axis=1)
    return lengths


def leg_frames(place: Array) -> Array:
    """Rotations (6, 3, 3) of the legs with the platform at ``place`` (6,): x along the leg, y horizontal."""
    x = leg_vectors(place)
    x /= np.linalg.norm(x, axis=1)[:, None]
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y, axis=1)[:, None]
    return np.stack([x, y, np.cross(x, y)], axis=2)


def platform(lengths: Callable[[int], Callable[[float], float]] | None = None) -> tuple[Mechanism, Pose]:
    """Mechanism of the platform with six legs, and its pose at rest.

    ``lengths`` gives, for the number of a leg, the length of its drive as a function of time; without it the legs are
    free.
    """
    rest = np.array([0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0])
    bar = LENGTH**2 / 12.0
    heads = {f"head {k + 1}": tuple(HEADS[k]) for k in range(6)}
    bodies: dict[str, Any] = {"platform": rigid.body(MASS, inertia=MOMENTS, ports={"middle": (0, 0, 0), **heads})}
    joints: list[Any] = []
    guess: dict[str, Any] = {"platform": (rest[:3], np.eye(3))}
    for k, (leg, frame) in enumerate(zip(LEGS, leg_frames(rest), strict=True)):
        end: dict[str, Any] = {"centre": (0.5 * LENGTH, 0.0, 0.0), "ports": {"foot": (0, 0, 0)}}
        cylinder = rigid.body(CYLINDER, inertia=(0.01, CYLINDER * bar, CYLINDER * bar), **end)
        back: dict[str, Any] = {"centre": (-0.5 * LENGTH, 0.0, 0.0), "ports": {"head": (0, 0, 0)}}
        rod = rigid.body(ROD, inertia=(0.005, ROD * bar, ROD * bar), **back)
        bodies |= {f"cylinder {k + 1}": cylinder, f"rod {k + 1}": rod}
        foot, head = f"cylinder {k + 1}.foot", f"rod {k + 1}.head"
        outward = np.cross(frame[:, 1], [0.0, 0.0, 1.0])
        joints += [
            universal(
                foot, GROUND.at(*FEET[k]), axis=(0.0, 1.0, 0.0), second_axis=tuple(outward), name=f"foot of {leg}"
            ),
            prismatic(head, foot, direction=(1.0, 0.0, 0.0), name=f"slide of {leg}"),
            spherical(head, f"platform.head {k + 1}", name=f"head of {leg}"),
        ]
        if lengths is not None:
            joints.append(drive(head, foot, displacement=lengths(k), direction=(1.0, 0.0, 0.0), name=leg))
        guess |= {f"cylinder {k + 1}": (FEET[k], frame), f"rod {k + 1}": (rest[:3] + HEADS[k], frame)}
    mechanism = connect(bodies, joints, gravity=(0.0, 0.0, -9.81))
    return mechanism, mechanism.assemble(guess=guess)


def kinematics_of(mechanism: Mechanism, pose: Pose) -> Kinematics:
    """Kinematics of the mechanism with the lengths of the legs as coordinates, and ``pose`` as the home pose."""
    legs = {leg: offset(f"rod {k}.head", f"cylinder {k}.foot", (1.0, 0.0, 0.0)) for k, leg in enumerate(LEGS, 1)}
    return Kinematics(mechanism, legs, pose)


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 5e-3,
    end: Annotated[float, Option("duration of the motion", "s")] = 2.0,
) -> Result:
    """A Stewart platform follows a motion in all six degrees of freedom by driven legs."""
    times, wanted = equal_steps(step, end), motion(end)

    def length(k: int) -> Callable[[float], float]:
        return lambda t: float(np.linalg.norm(leg_vectors(wanted(t))[k]))

    mechanism, pose = platform(length)
    solution = integrate(mechanism, mechanism.consistent_state(pose), times)
    return Result(solution, kinematics_of(mechanism, pose), wanted)


def leg_forces(solution: Solution) -> Array:
    """Forces (k, 6) [N] of the drives along the legs, means over the steps."""
    rows = [solution.reaction(leg, frame="second").force[:, 0] for leg in LEGS]
    return np.stack(rows, axis=1)


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: deviation of the platform from its reference motion, forces of the legs, balance."""
    solution = result.solution
    apart = solution.measured(position("platform.middle")) - result.wanted(solution.times)[:, :3]
    return {
        "platform_deviation_max_m": float(np.abs(apart).max()),
        "leg_force_max_N": float(np.abs(leg_forces(solution)).max()),
        "leg_length_max_m": float(max(leg_lengths(place).max() for place in result.wanted(solution.times))),
        "balance_residual_max_rel": solution.ledger.largest_residual,
        "steps": len(solution.times) - 1,
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write the run, a table of lengths and forces, and their picture to ``folder``; return the summary numbers."""
    solution = result.solution
    write_run(solution, folder)
    lengths = np.array([leg_lengths(place) for place in result.wanted(solution.multiplier_times)])
    forces = leg_forces(solution)
    columns = {"t_s": solution.multiplier_times}
    for k, leg in enumerate(LEGS):
        name = leg.replace(" ", "_")
        columns |= {f"{name}_m": lengths[:, k], f"{name}_N": forces[:, k]}
    write_table(folder / "legs.csv", columns)
    figure = new_figure(7.0, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    upper.plot(solution.multiplier_times, lengths, label=LEGS)
    lower.plot(solution.multiplier_times, forces)
    upper.set(ylabel="length [m]")
    lower.set(xlabel="t [s]", ylabel="force [N]")
    upper.legend(ncols=3, fontsize="small")
    figure.savefig(folder / "legs.png")
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: kinematics and driven motion against closed forms, forces of the drives against inverse dynamics."""
    result = run(step=1e-2)
    kinematics, wanted, end = result.kinematics, result.wanted, result.wanted.end
    source = "closed form: |p + R b - a|"
    legs, places = [], []
    for t in np.linspace(0.1, 0.9, 5) * end:
        place = wanted(t)
        q = kinematics.inverse("platform.middle", position=place[:3], rotation=Rotation.from_rotvec(place[3:]))
        legs.append(np.abs(q - leg_lengths(place)).max())
        there = kinematics.place("platform.middle", leg_lengths(place))
        turned = Rotation.from_matrix(there.rotation).as_rotvec()
        places.append(np.abs(np.concatenate([there.position, turned]) - place).max())
    yield vanishes("inverse kinematics: lengths [m]", max(legs), 1e-10, source=source, kind="closed form")
    yield vanishes("forward kinematics: place [m, rad]", max(places), 1e-10, source=source, kind="closed form")
    yield vanishes(
        "driven platform [m]", figures(result)["platform_deviation_max_m"], 1e-10, source=source, kind="closed form"
    )
    yield vanishes("step balance", result.solution.ledger.largest_residual, 1e-11)
    apart = [force_deviation(run(step=step, end=1.0)) for step in (5e-3, 2.5e-3)]
    yield vanishes(
        "forces of the drives beside inverse dynamics, relative", apart[1], 5e-5, source="of second order in the step"
    )
    yield vanishes("order of these forces, minus 2", math.log2(apart[0] / apart[1]) - 2.0, 0.2)


def force_deviation(result: Result) -> float:
    """Largest deviation of the drives' forces from inverse dynamics in leg coordinates, at some times.

    It is divided by the largest force at that time.
    """
    kinematics, wanted, h = result.kinematics, result.wanted, 1e-4
    computed, deviations = leg_forces(result.solution), []
    for near in (0.1, 0.3, 0.45, 0.7):
        k = int(np.abs(result.solution.multiplier_times - near).argmin())
        t = float(result.solution.multiplier_times[k])
        before, now, after = (leg_lengths(wanted(t + by)) for by in (-h, 0.0, h))
        efforts = kinematics.efforts(now, (after - before) / (2.0 * h), (after - 2.0 * now + before) / h**2)
        deviations.append(np.abs(computed[k] - efforts).max() / np.abs(efforts).max())
    return float(max(deviations))


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
