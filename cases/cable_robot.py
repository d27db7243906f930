"""A platform on eight driven ropes, which can only pull (cable-driven parallel robot in space).

Winches at the corners of a frame change the free lengths L₀(t) of the ropes so that the platform, if the ropes did not
stretch, would follow a circle with a tilt. Gravity and inertia stretch them: the platform sags and swings, and ropes
with too little tension fall slack. The reference integrates Newton's and Euler's equations of the platform with
T = max(kx + cẋ, 0) for x > 0 by an independent adaptive integrator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, Mechanism, Solution, connect, integrate
from flexph.case import Case, Check, Option
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.joints import rope
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import position, spring_force

from .checks import converges, vanishes
from .files import write_run
from .times import equal_steps

FRAME, BOX = np.array([4.0, 3.0, 3.0]), np.array([0.6, 0.4, 0.3])  # [m], sides of the frame and of the platform
MASS, GRAVITY = 30.0, 9.81  # [kg], [m/s²]
INERTIA = MASS / 12.0 * (np.sum(BOX**2) - BOX**2)  # [kg m²], of a solid box
CIRCLE, TILT = 0.6, 0.2  # [m], [rad]
CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
WINCHES = CORNERS * FRAME
EYES = CORNERS * BOX * (1.0, 1.0, -1.0)  # crossed: ropes from above go to the lower corners, which holds the platform
DAMPING = 1e-3  # [s], c/k of the ropes


@lru_cache(maxsize=8192)  # all ropes ask at the times of a run
def pose(t: float, period: float) -> tuple[Array, Array]:
    """Position (3,) [m] and rotation (3, 3) of the platform on its planned path at the time t.

    The path is once round a circle in the time ``period`` [s], at rest at both ends.
    """
    s = min(max(t / period, 0.0), 1.0)
    angle = 2.0 * math.pi * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    place = np.array([CIRCLE * (math.cos(angle) - 1.0), CIRCLE * math.sin(angle), 0.2 * math.sin(angle)])
    tilt = TILT * math.sin(angle)
    cosine, sine = math.cos(tilt), math.sin(tilt)
    return place, np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])


def rope_lengths(place: Array, turn: Array) -> Array:
    """Distances (8,) [m] of the eyes from their winches for a position and a rotation of the platform."""
    lengths: Array = np.linalg.norm(place + EYES @ turn.T - WINCHES, axis=1)
    return lengths


def free_length(number: int, period: float, stretch: float) -> Callable[[float], float]:
    """Function of time that gives the free length [m] of the rope ``number``: its planned length less ``stretch``.

    The planned length is that on the path if ropes did not stretch.
    """
    eye, winch = EYES[number], WINCHES[number]

    def length(t: float) -> float:
        place, turn = pose(t, period)
        return math.dist(place + turn @ eye, winch) - stretch

    return length


def robot(stiffness: float, pretension: float, period: float) -> Mechanism:
    """Mechanism of the platform with eight ropes, one from each of its eyes to a winch on the frame.

    ``pretension`` [N] is the tension without weight, ``period`` [s] the time of the planned circle.
    """
    eyes = {f"eye{i}": tuple(eye) for i, eye in enumerate(EYES.tolist())} | {"centre": (0.0, 0.0, 0.0)}
    platform = rigid.body(MASS, inertia=tuple(INERTIA), ports=eyes, shape=box_shape(tuple(BOX)))
    ropes = [
        rope(
            [GROUND.at(*winch), f"platform.eye{i}"],
            stiffness=stiffness,
            damping=DAMPING * stiffness,
            length=free_length(i, period, pretension / stiffness),
            name=f"rope {i}",
        )
        for i, winch in enumerate(WINCHES.tolist())
    ]
    return connect({"platform": platform}, ropes, gravity=(0.0, 0.0, -GRAVITY))


def run(
    *,
    stiffness: Annotated[float, Option("stiffness of a rope", "N/m")] = 5e4,
    pretension: Annotated[float, Option("tension of the ropes without weight", "N")] = 400.0,
    period: Annotated[float, Option("time for the circle", "s")] = 2.0,
    step: Annotated[float, Option("time step", "s")] = 2e-3,
    end: Annotated[float, Option("end of the run", "s")] = 2.5,
) -> Solution:
    """A platform on eight driven ropes that can only pull, along a circle (cable-driven parallel robot)."""
    for name, value, unit in (
        ("stiffness", stiffness, "N/m"),
        ("pretension", pretension, "N"),
        ("period", period, "s"),
    ):
        check.positive(name, value, unit)
    mechanism = robot(stiffness, pretension, period)
    start = mechanism.equilibrium(mechanism.assemble({"platform": ((0.0, 0.0, 0.0), np.eye(3))}))
    return integrate(mechanism, start, equal_steps(step, end))


def tensions(solution: Solution) -> Array:
    """Elastic tensions (k, 8) [N] of the ropes at the saved times."""
    return np.stack([solution.measured(spring_force(f"rope {i}")) for i in range(len(EYES))], axis=1)


def deviation(solution: Solution, period: float = 2.0) -> Array:
    """Distance of the platform's first eye from its planned position at the saved times, (k,) [m]."""
    wanted = []
    for t in solution.times.tolist():
        place, turn = pose(t, period)
        wanted.append(place + turn @ EYES[0])
    distances: Array = np.linalg.norm(solution.measured(position("platform.eye0")) - wanted, axis=1)
    return distances


def rotation_of(quaternion: Array) -> Array:
    """Rotation matrix of a quaternion (x, y, z, w) of any length."""
    x, y, z, w = (quaternion / math.sqrt(quaternion @ quaternion)).tolist()
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def reference(stiffness: float, pretension: float, period: float, start: tuple[Array, Array], end: float) -> Array:
    """Position (3,) [m] of the platform's first eye at the time ``end``, by an independent adaptive integration.

    It starts at rest from the position and rotation ``start`` of the platform.
    """
    free = lambda t: rope_lengths(*pose(t, period)) - pretension / stiffness  # noqa: E731

    def rates(t: float, y: Array) -> Array:
        r, q, v, w = y[:3], y[3:7], y[7:10], y[10:]  # quaternion (x, y, z, w), spin in body axes
        R = rotation_of(q)
        gap = r + EYES @ R.T - WINCHES
        length = np.linalg.norm(gap, axis=1)
        speed = v + np.cross(w, EYES) @ R.T
        rate = np.einsum("ij,ij->i", gap, speed) / length - (free(t + 1e-5) - free(t - 1e-5)) / 2e-5
        stretch = length - free(t)
        pull = np.where(stretch > 0.0, np.maximum(stiffness * (stretch + DAMPING * rate), 0.0), 0.0)
        forces = -(pull / length)[:, None] * gap
        torque = np.cross(EYES, forces @ R).sum(axis=0) - np.cross(w, INERTIA * w)
        spin = 0.5 * np.append(q[3] * w + np.cross(q[:3], w), -q[:3] @ w)
        return np.concatenate([v, spin, forces.sum(axis=0) / MASS - (0.0, 0.0, GRAVITY), torque / INERTIA])

    first = np.concatenate([start[0], Rotation.from_matrix(start[1]).as_quat(), np.zeros(6)])
    path = scipy.integrate.solve_ivp(
        rates, (0.0, end), first, method="DOP853", rtol=1e-6, atol=1e-8, max_step=0.02 * period
    )
    y = path.y[:, -1]
    place: Array = y[:3] + Rotation.from_quat(y[3:7]).as_matrix() @ EYES[0]
    return place


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tensions of the ropes, and the path of the platform; return the summary numbers."""
    write_run(solution, folder)
    pull, path = tensions(solution), solution.position("platform.centre")
    columns = {f"rope_{i}_N": pull[:, i] for i in range(len(EYES))}
    write_table(folder / "tensions.csv", {"t_s": solution.times} | columns)
    figure = new_figure(8.0, 3.6)
    over_time, above = figure.subplots(1, 2)
    over_time.plot(solution.times, pull, linewidth=0.9)
    over_time.set(xlabel="t [s]", ylabel="tension [N]")
    above.plot(path[:, 0], path[:, 1], linewidth=1.2)
    above.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    for axes in (over_time, above):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "tensions.png")
    return {
        "tension_max_N": float(pull.max()),
        "tension_min_N": float(pull.min()),
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: an eye of the platform against an independent integration, ropes taut and slack; balance and order."""
    for kind, options in (("taut", {}), ("slack", {"pretension": 20.0, "period": 1.2})):
        settings: dict[str, float] = {"stiffness": 5e4, "pretension": 400.0, "period": 2.0} | options
        end = settings["period"]
        errors: list[float] = []
        for step in (1e-3, 5e-4):
            solution = run(**settings, step=step, end=end)
            if not errors:
                start = solution.position("platform.centre")[0], solution.rotations("platform")[0]
                place = reference(**settings, start=start, end=end)
            errors.append(float(np.abs(solution.measured(position("platform.eye0"))[-1] - place).max()))
            yield vanishes(f"balance, {kind}, step {step:g}", solution.ledger.largest_residual, 1e-12)
        bound = 1e-5 if kind == "taut" else 5e-5  # steps of order 2, less accurate at kinks
        yield vanishes(f"eye, {kind} [m]", errors[1], bound, source="solve_ivp (DOP853)", kind="independent code")
        if kind == "taut":
            yield converges("order", math.log2(errors[0] / errors[1]), 0.1)
        least = float(tensions(solution).min())
        yield vanishes(f"tension below zero, {kind} [N]", max(-least, 0.0), 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
