"""A tower crane that slews, drives its trolley and hoists at the same time; the load swings on a rope of two falls.

The rope runs from the foot of the jib over the trolley down to the hook block, up to the trolley again, and to the tip
of the jib: moving the trolley alone keeps the height of the load. All three motions are prescribed, so that the load is
a point under its weight and the tension of the rope, T = k (L − L₀(t)) + c (L̇ − L̇₀). The reference integrates the
equation of this point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy

import rigid
from flexph import GROUND, Mechanism, Solution, connect, drive, integrate, prismatic, revolute
from flexph.case import Case, Check, Option
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.joints import rope
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import position, spring_force

from .checks import converges, near, vanishes
from .files import write_run
from .times import equal_steps

JIB, HEIGHT, GRAVITY = 20.0, 30.0, 9.81  # [m], [m], [m/s²]
LOAD, STIFFNESS, DAMPING = 1500.0, 6e5, 0.02  # [kg], [N/m], c/k [s]
SLEW, REACH, HOIST = 1.2, (16.0, 8.0), (20.0, 12.0)  # [rad], [m] of the trolley, [m] of the load below it
TURN = (0.0, 0.0, 1.0)


def smooth(first: float, last: float, period: float) -> Callable[[float], float]:
    """Function of time that goes from ``first`` to ``last`` in ``period`` [s], with continuous accelerations."""

    def value(t: float) -> float:
        s = min(max(t / period, 0.0), 1.0)
        return first + (last - first) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)

    return value


def motions(period: float) -> tuple[Callable[[float], float], ...]:
    """Functions of time of the three motions: angle of the jib [rad], reach of the trolley [m], depth of the load [m].

    The depth is that on a rope which does not stretch.
    """
    return tuple(smooth(*ends, period) for ends in ((0.0, SLEW), REACH, HOIST))


def sag() -> float:
    """Stretch [m] of the rope under the load at rest."""
    return 0.5 * LOAD * GRAVITY / STIFFNESS


def crane(period: float) -> Mechanism:
    """Mechanism of jib, trolley and load with drives of the three motions; ``period`` [s] is their duration."""
    angle, reach, depth = motions(period)
    jib = rigid.body(
        4000.0, inertia=(1e3, 1e5, 1e5), ports={"foot": (0.0, 0.0, 0.0), "tip": (JIB, 0.0, 0.0)}, centre=(6.0, 0.0, 0.0)
    )
    shape = box_shape((1.0, 0.8, 0.3))
    trolley = rigid.body(300.0, inertia=(50.0, 50.0, 50.0), ports={"eye": (0.0, 0.0, 0.0)}, shape=shape)
    load = rigid.body(LOAD, inertia=(500.0,) * 3, ports={"hook": (0.0, 0.0, 0.0)}, shape=box_shape((1.5, 1.5, 1.5)))
    mast = GROUND.at(0.0, 0.0, HEIGHT)
    falls = ["jib.foot", "trolley.eye", "load.hook", "trolley.eye", "jib.tip"]
    parts = [
        revolute("jib.foot", mast, axis=TURN, name="mast"),
        drive("jib.foot", mast, angle=angle, axis=TURN, name="slewing"),
        prismatic("trolley.eye", "jib.foot", direction=(1.0, 0.0, 0.0), name="rail"),
        drive("trolley.eye", "jib.foot", displacement=reach, direction=(1.0, 0.0, 0.0), name="trolley motor"),
        rope(
            falls,
            stiffness=STIFFNESS,
            damping=DAMPING * STIFFNESS,
            length=lambda t: JIB + 2.0 * depth(t) - sag(),
            name="hoist",
        ),
    ]
    return connect({"jib": jib, "trolley": trolley, "load": load}, parts, gravity=(0.0, 0.0, -GRAVITY))


def run(
    *,
    period: Annotated[float, Option("time of the motions", "s")] = 12.0,
    step: Annotated[float, Option("time step", "s")] = 5e-3,
    end: Annotated[float, Option("end of the run", "s")] = 20.0,
) -> Solution:
    """A tower crane that slews, travels and hoists: the swinging load against an independent integration."""
    mechanism = crane(check.positive("period", period, "s"))
    upright = np.eye(3)
    places = {"jib": (0.0, 0.0, HEIGHT), "trolley": (REACH[0], 0.0, HEIGHT), "load": (REACH[0], 0.0, HEIGHT - HOIST[0])}
    start = mechanism.consistent_state(mechanism.assemble({name: (place, upright) for name, place in places.items()}))
    return integrate(mechanism, start, equal_steps(step, end))


def reference(period: float, times: Array) -> Array:
    """Positions (k, 3) [m] of the load at ``times`` (k,), as a point on two falls below the trolley.

    The equation of motion of this point is integrated adaptively, independently of the mechanism.
    """
    angle, reach, depth = motions(period)

    def eye(t: float) -> Array:
        return np.array([reach(t) * math.cos(angle(t)), reach(t) * math.sin(angle(t)), HEIGHT])

    def rates(t: float, y: Array) -> Array:
        nudge = 1e-4
        slip = (eye(t + nudge) - eye(t - nudge)) / (2.0 * nudge)
        paid = (depth(t + nudge) - depth(t - nudge)) / (2.0 * nudge)
        fall = eye(t) - y[:3]
        length = float(np.linalg.norm(fall))
        rate = 2.0 * (fall @ (slip - y[3:]) / length - paid)
        pull = max(float(STIFFNESS * (2.0 * (length - depth(t)) + sag() + DAMPING * rate)), 0.0)
        return np.concatenate([y[3:], 2.0 * pull / LOAD * fall / length - (0.0, 0.0, GRAVITY)])

    first = np.concatenate([eye(0.0) - (0.0, 0.0, HOIST[0]), np.zeros(3)])
    path = scipy.integrate.solve_ivp(
        rates, (0.0, times[-1]), first, method="DOP853", rtol=1e-9, atol=1e-9, t_eval=times, max_step=0.1
    )
    places: Array = path.y[:3].T
    return places


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: path of the load, and the tension of the rope; return the summary numbers."""
    write_run(solution, folder)
    path, pull = solution.measured(position("load.hook")), solution.measured(spring_force("hoist"))
    trolley = solution.measured(position("trolley.eye"))
    below = trolley - path
    swing = np.degrees(np.arctan2(np.hypot(below[:, 0], below[:, 1]), below[:, 2]))
    columns = {"x_m": path[:, 0], "y_m": path[:, 1], "z_m": path[:, 2], "swing_deg": swing, "tension_N": pull}
    write_table(folder / "load.csv", {"t_s": solution.times} | columns)
    figure = new_figure(8.0, 3.6)
    above, over_time = figure.subplots(1, 2)
    above.plot(trolley[:, 0], trolley[:, 1], label="trolley", linewidth=1.0)
    above.plot(path[:, 0], path[:, 1], label="load", linewidth=1.0)
    above.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    above.legend()
    over_time.plot(solution.times, swing, linewidth=1.0)
    over_time.set(xlabel="t [s]", ylabel="angle of the rope [°]")
    for axes in (above, over_time):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "load.png")
    return {
        "swing_max_deg": float(swing.max()),
        "tension_max_N": float(pull.max()),
        "lifted_m": float(path[-1, 2] - path[0, 2]),
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: path of the load against an independent integration; order of convergence and balance."""
    errors: list[float] = []
    for step in (1e-2, 5e-3):
        solution = run(period=6.0, step=step, end=8.0)
        some = slice(None, None, round(0.1 / step))
        path = solution.measured(position("load.hook"))[some]
        if not errors:
            expected = reference(6.0, solution.times[some])
        errors.append(float(np.abs(path - expected).max()))
        yield vanishes(f"balance, step {step:g}", solution.ledger.largest_residual, 1e-12)
    source = "solve_ivp (DOP853)"
    yield near("path of the load, largest error [m]", 0.0, errors[1], 1e-4, source=source, kind="independent code")
    yield converges("order", math.log2(errors[0] / errors[1]), 0.1)


case = Case(run, write, checks, needs=("matplotlib",))
