"""A flexible link on a motor with a sampled, delayed controller and an encoder, against a linear prediction.

The prediction is the discrete closed loop of the linearised plant and the controller, after a step of the reference.

Sampled systems with delay: K. J. Åström, B. Wittenmark, Computer-Controlled Systems, Prentice Hall (1997), ch. 2 and 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
import rigid
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate, torque, weld
from flexph.case import Case, Check, Option
from flexph.control import Compensator, Plant, angles_of, closed_loop, delayed, pid, quantised
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure
from flexph.sensors import joint_angle

from .checks import converges, vanishes
from .files import write_run

METAL, SECTION = fem.Material(young=7e10, density=2700.0), fem.Section(width=0.03, height=0.01)
TARGET = 0.02  # height of the reference step [rad]
LAW: Compensator = pid(6.0, integral=5.0, derivative=0.6, lag=0.01)
MOTOR, ANGLE = "motor", joint_angle("hub.axle")
STEPS = 4  # of a period


@dataclass(frozen=True)
class Result:
    """A run with the sampled controller, and the angle that the linear system predicts at the sampling times.

    ``mark`` is the resolution of the encoder [rad], ``period`` the sampling period [s].
    """

    solution: Solution
    predicted: Array
    largest_pole: float
    mark: float
    period: float


@cache
def link() -> Mechanism:
    """Mechanism of a hub on a hinge with a flexible link welded to it, and a motor torque on the hub.

    The weight acts normal to the plane, and is left out.
    """
    beam = fem.beam(0.8, METAL, SECTION, elements=3, damping=fem.Damping(stiffness=2e-4))
    hub = rigid.body(0.5, inertia=0.01, ports={"axle": (0.0, 0.0)})
    joints = [hinge("hub.axle", GROUND.at(0.0, 0.0)), weld("link.root", "hub.axle"), torque("hub.axle", name=MOTOR)]
    return connect({"hub": hub, "link": beam}, joints)


@cache
def plant() -> Plant:
    """Linear system from the torque of the motor to the angle of the hub, linearised at the undeformed rest state."""
    mechanism = link()
    return angles_of(mechanism.linearize(mechanism.assemble({"hub": (0.0, 0.0, 0.0)})), [MOTOR])


def predicted(period: float, delay: int, count: int) -> tuple[Array, float]:
    """Predicted angle (count,) [rad] at the samples after a step of the reference, and the largest |pole| of the loop.

    ``delay`` is the number of periods by which outputs are late.
    """
    loop = closed_loop(plant(), LAW, period=period, delay=delay)
    x, angles = np.zeros(len(loop.A)), np.zeros(count)
    for k in range(count):
        angles[k] = (loop.C @ x)[0]
        x = loop.A @ x + loop.B @ [TARGET]
    return angles, float(np.abs(loop.poles).max())


def solve(period: float, delay: int, marks: int, end: float, *, steps: int = STEPS) -> Result:
    """Run after a step of the reference, from the undeformed rest state up to ``end`` [s], and its linear prediction.

    Each ``period`` [s] of the controller has ``steps`` steps; ``delay`` is that of its outputs in periods. ``marks`` is
    the number of marks of the encoder on a turn, 0 for exact angles.
    """
    mechanism, count = link(), round(end / period)
    start = mechanism.consistent_state(mechanism.assemble({"hub": (0.0, 0.0, 0.0)}))
    loop = LAW.sampled(period, sensors={"angle": ANGLE}, ports=[MOTOR], reference=lambda t: TARGET)
    mark = 2.0 * math.pi / marks if marks else 0.0
    if marks:
        loop = quantised(loop, {"angle": mark})
    if delay:
        loop = delayed(loop, delay)
    times = np.linspace(0.0, count * period, steps * count + 1)
    solution = integrate(mechanism, start, times, controllers={"hardware": loop}, save_every=steps)
    return Result(solution, *predicted(period, delay, count + 1), mark, period)


def run(
    *,
    period: Annotated[float, Option("time between two calls of the controller", "s")] = 2e-3,
    delay: Annotated[int, Option("delay of its outputs, in calls")] = 1,
    marks: Annotated[int, Option("marks of the encoder on a turn; 0: exact angle")] = 65536,
    end: Annotated[float, Option("end of the run", "s")] = 1.5,
) -> Result:
    """Hardware in the loop: a sampled controller with delay and quantisation against its linear prediction."""
    if not 0.0 < period <= end:
        raise ValueError(f"period must be positive and not above end = {end} s, got {period} s")
    if delay < 0 or marks < 0:
        raise ValueError(f"delay and marks must not be negative, got {delay} and {marks}")
    return solve(period, delay, marks, end)


def late(period: float, most: int = 40) -> int:
    """Smallest delay, in calls of the controller, that makes the loop unstable; ``most`` if no smaller one does."""
    return next((n for n in range(most) if not closed_loop(plant(), LAW, period=period, delay=n).is_stable), most)


def figures(result: Result) -> Mapping[str, Any]:
    """Summary numbers: difference of run and prediction, resolution of the encoder, stability of the loop."""
    angle = result.solution.measured(ANGLE)
    return {
        "prediction_error_max_rad": float(np.abs(angle - result.predicted).max()),
        "mark_rad": result.mark,
        "angle_end_rad": float(angle[-1]),
        "overshoot_rel": float(angle.max() / TARGET - 1.0),
        "pole_max_abs": result.largest_pole,
        "delay_unstable_calls": late(result.period),
        "balance_residual_max_rel": result.solution.ledger.largest_residual,
        "controller_energy_J": float(result.solution.ledger.work[MOTOR].sum()),
    }


def write(result: Result, folder: Path) -> Mapping[str, Any]:
    """Write to ``folder``: the run, with table and picture of the angle and its prediction.

    Return the summary numbers.
    """
    solution = result.solution
    write_run(solution, folder)
    angle = solution.measured(ANGLE)
    write_table(folder / "angle.csv", {"t_s": solution.times, "angle_rad": angle, "predicted_rad": result.predicted})
    figure = new_figure(9.0, 4.0)
    way, apart = figure.subplots(1, 2)
    way.plot(solution.times, 1e3 * angle, label="run")
    way.plot(solution.times, 1e3 * result.predicted, "--", linewidth=1.0, label="linear prediction")
    way.set(xlabel="t [s]", ylabel="angle [mrad]")
    legend_above(way, columns=2)
    apart.plot(solution.times, 1e6 * (angle - result.predicted), linewidth=0.8, label="run − prediction")
    if result.mark:
        apart.axhline(1e6 * result.mark, color="0.6", linewidth=0.8, label="a mark of the encoder")
    apart.set(xlabel="t [s]", ylabel="difference [µrad]")
    legend_above(apart, columns=2)
    for axes in (way, apart):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "angle.png")
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: run against prediction, with exact angles, with an encoder, and at a delay that makes the loop unstable.

    The prediction is exact in time, the steps are of second order: with half as many steps the difference is four times
    as large. With four steps in a period it is below 0.25 % of the target.
    """
    exact = figures(solve(2e-3, 1, 0, 1.5))
    error = exact["prediction_error_max_rad"]
    yield vanishes("run beside the prediction, over the target", error / TARGET, 2.5e-3)
    halved = figures(solve(2e-3, 1, 0, 1.5, steps=STEPS // 2))["prediction_error_max_rad"]
    yield converges("order of the difference in the step", math.log2(halved / error), 0.1)
    yield vanishes("step balance", exact["balance_residual_max_rel"], 1e-11)
    coarse = figures(solve(2e-3, 1, 65536, 1.5))
    yield vanishes("with an encoder, over its mark", coarse["prediction_error_max_rad"] / coarse["mark_rad"], 2.0)
    growing = [_apart(solve(2e-3, late(2e-3), 0, 1.5, steps=steps)) for steps in (STEPS, 2 * STEPS)]
    yield converges("unstable by delay: order of the difference", math.log2(growing[0] / growing[1]), 0.1)


def _apart(result: Result) -> float:
    """Largest difference of the angle of a run from its prediction, divided by the largest predicted angle."""
    return float(np.abs(result.solution.measured(ANGLE) - result.predicted).max() / np.abs(result.predicted).max())


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
