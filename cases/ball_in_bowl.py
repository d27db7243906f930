"""A ball that rolls in a bowl of triangles: against the smooth bowl, in closed form, as the mesh is refined.

In a smooth bowl of radius R a ball of radius r that rolls without slip is a pendulum of length (R − r) under ⁵⁄₇ of its
weight. In a mesh it loses a little energy at each concave edge; the loss vanishes with the angles of the mesh.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy

import rigid
from flexph import GROUND, Solution, connect, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import KelvinVoigt, Mesh, Sphere, contact
from flexph.drawing import sphere_shape
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.results import static_solution
from flexph.sensors import gap

from .checks import converges, vanishes
from .contact_figures import balance, figures, least_taken
from .files import write_run

RADIUS, BALL, MASS, GRAVITY = 1.0, 0.1, 1.0, 9.81  # of the bowl and of the ball [m]; [kg], [m/s²]
RIM, START = 0.9, 0.5  # angles of the rim of the bowl and of the start, from the vertical [rad]
LAW = KelvinVoigt(1e5, damping=50.0, friction=0.8)


@dataclass(frozen=True)
class Result:
    """A run of the ball, and the number of triangles of the bowl."""

    solution: Solution
    triangles: int

    @property
    def angle(self) -> Array:
        """Angle of the ball from the vertical through the centre of the bowl, at the saved times [rad]."""
        x = self.solution["ball.centre"]
        return np.arctan2(x[:, 0], RADIUS - x[:, 2])

    @property
    def error(self) -> Array:
        """Angle of the ball minus that in the smooth bowl [rad]."""
        return self.angle - smooth(self.solution.times)


def smooth(t: Array) -> Array:
    """Angle of a ball in the smooth bowl at the times t [rad], in closed form.

    θ = 2 asin(k sn(K − ωt, k)), with k = sin ½θ₀ and ω² = 5g/7(R − r); sn is Jacobi's elliptic function with the
    quarter period K.
    """
    k = math.sin(0.5 * START)
    omega = math.sqrt(5.0 * GRAVITY / (7.0 * (RADIUS - BALL)))
    angle: Array = 2.0 * np.arcsin(k * scipy.special.ellipj(scipy.special.ellipk(k * k) - omega * t, k * k)[0])
    return angle


def bowl(rings: int) -> tuple[Array, Array]:
    """Points (n, 3) [m] and triangles of a mesh of the bowl: a spherical cap with ``rings`` rings about its bottom.

    The rings have 6, 12, 18, … points.
    """
    polar, azimuth, cells = [0.0], [0.0], []
    first = [0]
    for i in range(1, rings + 1):
        first.append(len(polar))
        polar += [RIM * i / rings] * (6 * i)
        azimuth += [2.0 * math.pi * j / (6 * i) for j in range(6 * i)]
    for i in range(1, rings + 1):
        inner, outer = max(6 * (i - 1), 1), 6 * i
        for j in range(outer):
            sector, step = divmod(j, i)
            near_by = first[i - 1] + (sector * (i - 1) + step) % inner
            cells.append((near_by, first[i] + j, first[i] + (j + 1) % outer))
            if step:
                before = first[i - 1] + (sector * (i - 1) + step - 1) % inner
                cells.append((before, first[i] + j, near_by))
    p, a = np.array(polar), np.array(azimuth)
    points = RADIUS * np.stack([np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), 1.0 - np.cos(p)], axis=1)
    return points, np.array(cells)


def run(
    *,
    rings: Annotated[int, Option("rings of triangles")] = 24,
    end: Annotated[float, Option("end of the run", "s")] = 1.5,
    step: Annotated[float, Option("time step", "s")] = 1e-3,
) -> Result:
    """A ball that rolls in a bowl of triangles."""
    points, cells = bowl(check.count("rings", rings))
    inertia = (0.4 * MASS * BALL**2,) * 3
    ball = rigid.body(MASS, inertia=inertia, ports={"centre": (0.0, 0.0, 0.0)}, shape=sphere_shape(BALL))
    mesh = Mesh(GROUND.at(0.0, 0.0, 0.0), (points, cells))
    touch = contact(Sphere("ball.centre", BALL), mesh, LAW, name="bowl")
    mechanism = connect({"ball": ball}, [touch], gravity=(0.0, 0.0, -GRAVITY))
    out, below = np.array([math.sin(START), 0.0, -math.cos(START)]), np.array([0.0, 0.0, RADIUS])

    def apart(distance: float) -> float:
        """Gap [m] between the bowl and a ball at a horizontal distance [m] from the axis of the bowl."""
        state = mechanism.consistent_state(mechanism.assemble({"ball": (below + distance * out, np.eye(3))}))
        return float(np.ravel(static_solution(mechanism, state).measured(gap("bowl")))[0])

    distance = float(scipy.optimize.brentq(apart, 0.5 * RADIUS, RADIUS - 0.5 * BALL, xtol=1e-12)) - 1e-12
    pose = mechanism.assemble({"ball": (below + distance * out, np.eye(3))})
    steps = round(check.positive("end", end, "s") / check.positive("step", step, "s"))
    times = np.linspace(0.0, end, steps + 1)
    return Result(integrate(mechanism, mechanism.consistent_state(pose), times), len(cells))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: angle of the ball in the bowl of triangles and in a smooth bowl; return summary numbers."""
    solution, t = result.solution, result.solution.times
    write_run(solution, folder)
    write_table(folder / "motion.csv", {"t_s": t, "angle_rad": result.angle, "smooth_rad": smooth(t)})
    figure = new_figure(7.0, 4.0)
    axes = figure.subplots()
    axes.plot(t, result.angle, label=f"{result.triangles} triangles")
    axes.plot(t, smooth(t), "k:", label="smooth bowl")
    axes.set(xlabel="t [s]", ylabel="angle from the vertical [rad]")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    return {"triangles": result.triangles, "error_max_rad": float(np.abs(result.error).max())} | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: the angle against the smooth bowl, its order as the mesh is refined, balance, no energy generated."""
    errors = []
    for rings in (6, 12, 24, 48):
        result = run(rings=rings)
        errors.append(float(np.abs(result.error).max()))
        yield vanishes(f"balance, {rings} rings", balance(result.solution), 1e-12)
        yield vanishes(f"energy given, {rings} rings", least_taken(result.solution), 1e-13)
    source, angle = "the smooth bowl", 3e-3  # of first order: each edge takes the square of its angle
    yield vanishes("angle, 48 rings [rad]", errors[-1], angle, source=source, kind="closed form")
    order = math.log2(errors[0] / errors[-1]) / 3.0
    yield converges("order of the error of the angle", order, 0.6, theory=1.0, source=source)


case = Case(run, write, checks, needs=("matplotlib",))
