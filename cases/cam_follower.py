"""A cam and a follower on a nonlinear spring: the spin at which the follower leaves the cam, and its flight.

The cam is a disc of radius R about a shaft at the distance e from its centre, and turns by φ = ωt from its lowest pose.
While they touch, the lift of the flat follower is x = e(1 − cos φ), and the force between them N = m(g + ẍ) + F(x),
with F = k(x + c) + k₃(x + c)³ of a spring that is compressed by c at x = 0. As ẍ = eω² cos φ, N is least at the top,
where it vanishes at ω² = (g + F(2e)/m)/e. Above this spin the follower flies until it touches the cam again.
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
from flexph import GROUND, Mechanism, Solution, connect, drive, hinge, integrate, slider, spring_damper
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, Sphere, contact
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.laws import polynomial
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import gap, normal_force

from .checks import converges, near, vanishes
from .files import write_run

RADIUS, ECCENTRICITY, MASS, GRAVITY = 0.03, 0.01, 0.2, 9.81  # [m], [m], [kg], [m/s²]
STIFFNESS, CUBIC = 2e3, 2e7  # k [N/m], k₃ [N/m³]
SEAT, COMPRESSED = 0.1, 0.008  # [m], length of the spring at the lowest pose, and how far it is compressed there


def spring_at(lift: Any) -> Any:
    """Force of the spring on the follower, positive downwards [N], at the given lifts above the lowest pose [m]."""
    short = lift + COMPRESSED
    return STIFFNESS * short + CUBIC * short**3


def critical_spin() -> float:
    """Spin [rad/s] of the cam above which the follower leaves it at the top."""
    return math.sqrt((GRAVITY + spring_at(2.0 * ECCENTRICITY) / MASS) / ECCENTRICITY)


@dataclass(frozen=True)
class Result:
    """A run of cam and follower, and the spin of the cam [rad/s]."""

    solution: Solution
    spin: float


def cam_and_follower(spin: float) -> Mechanism:
    """Mechanism of the driven cam, the follower in its guide, and the spring between follower and frame."""
    cam = rigid.body(0.5, inertia=1e-3, ports={"shaft": (0.0, ECCENTRICITY), "centre": (0.0, 0.0)})
    follower = rigid.body(
        MASS, inertia=1e-4, ports={"face": (0.0, 0.0)}, shape=box_shape((0.05, 0.006, 0.02), centre=(0.0, 0.003, 0.0))
    )
    seat = GROUND.at(0.0, RADIUS - ECCENTRICITY + SEAT)
    parts = [
        hinge("cam.shaft", GROUND.at(0.0, 0.0)),
        drive("cam.shaft", GROUND, angle=lambda t: spin * t, name="motor"),
        slider("follower.face", GROUND.at(0.0, 0.0), direction=(0.0, 1.0), name="guide"),
        spring_damper(
            "follower.face", seat, law=polynomial(STIFFNESS, 0.0, CUBIC), length=SEAT + COMPRESSED, name="spring"
        ),
        contact(Sphere("cam.centre", RADIUS), Plane("follower.face", (0.0, -1.0)), Rigid(), name="cam"),
    ]
    return connect({"cam": cam, "follower": follower}, parts, gravity=(0.0, -GRAVITY))


def run(
    *,
    speed: Annotated[float, Option("spin of the cam over the critical spin")] = 1.1,
    turns: Annotated[float, Option("turns of the cam")] = 2.0,
    steps: Annotated[int, Option("steps of a turn")] = 1000,
) -> Result:
    """A cam and a follower on a spring with a law: the closed-form spin at which they part, and the flight."""
    spin = check.positive("speed", speed) * critical_spin()
    mechanism = cam_and_follower(spin)
    low = RADIUS - ECCENTRICITY
    pose = mechanism.assemble({"cam": (0.0, -ECCENTRICITY, 0.0), "follower": (0.0, low, 0.0)})
    count = math.ceil(check.positive("turns", turns) * check.positive("steps", steps))
    times = 2.0 * math.pi / (spin * steps) * np.arange(count + 1)
    solution = integrate(mechanism, mechanism.consistent_state(pose), times, method=Exact(contact="events"))
    return Result(solution, spin)


def force_on_cam(spin: float, times: Array) -> Array:
    """Force [N] between cam and follower at ``times``, if they touch at all times."""
    phase = spin * times
    lift = ECCENTRICITY * (1.0 - np.cos(phase))
    force: Array = MASS * (GRAVITY + ECCENTRICITY * spin**2 * np.cos(phase)) + spring_at(lift)
    return force


def flight(spin: float) -> tuple[float, float, Any]:
    """Flight of the follower: the times [s] at which it leaves and meets the cam, and its motion between them.

    The motion is a function of time that returns lift [m] and rate of lift [m/s].
    """
    half = math.pi / spin
    part = scipy.optimize.brentq(lambda t: force_on_cam(spin, t), 0.5 * half, half, xtol=1e-15)
    cam = lambda t: ECCENTRICITY * (1.0 - math.cos(spin * t))  # noqa: E731
    meets = lambda t, y: y[0] - cam(t) if t > part + 0.05 * half else 1.0  # noqa: E731
    meets.terminal = True  # type: ignore[attr-defined]
    path = scipy.integrate.solve_ivp(
        lambda t, y: [y[1], -GRAVITY - spring_at(y[0]) / MASS],
        (part, part + 2.0 * half),
        [cam(part), ECCENTRICITY * spin * math.sin(spin * part)],
        events=meets,
        method="DOP853",
        rtol=1e-11,
        atol=1e-14,
        dense_output=True,
    )
    return part, float(path.t_events[0][0]), path.sol


def lifts(solution: Solution) -> Array:
    """Lift of the follower above its lowest pose at the saved times (k,) [m]."""
    lift: Array = solution.position("follower.face")[:, 1] - (RADIUS - ECCENTRICITY)
    return lift


def gaps(solution: Solution) -> Array:
    """Gap between cam and follower at the saved times (k,) [m]."""
    apart: Array = solution.measured(gap("cam"))[:, 0]
    return apart


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: lift, gap and force over time; return the summary numbers."""
    solution, spin = result.solution, result.spin
    write_run(solution, folder)
    apart, force = gaps(solution), solution.measured(normal_force("cam"))
    columns = {"lift_m": lifts(solution), "gap_m": apart, "force_N": force}
    write_table(folder / "lift.csv", {"t_s": solution.times} | columns)
    figure = new_figure(8.0, 3.6)
    above, below = figure.subplots(1, 2)
    turned = spin * solution.times / (2.0 * math.pi)
    above.plot(turned, 1e3 * lifts(solution), label="follower", linewidth=1.2)
    above.plot(turned, 1e3 * (lifts(solution) - apart), label="cam", linewidth=0.9, linestyle="--")
    above.set(xlabel="turns", ylabel="lift [mm]")
    above.legend()
    below.plot(turned, force, linewidth=0.9)
    below.set(xlabel="turns", ylabel="force on the cam [N]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "lift.png")
    return {
        "spin_rad_s": spin,
        "critical_spin_rad_s": critical_spin(),
        "gap_max_m": float(apart.max()),
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: force on the cam below the critical spin; the flight above it, and the energy lost as it ends."""
    errors: list[float] = []
    for steps in (500, 1000):
        slow = run(speed=0.98, turns=1.0, steps=steps)
        force = slow.solution.measured(normal_force("cam"))[1:]
        errors.append(float(np.abs(force - force_on_cam(slow.spin, slow.solution.times[1:])).max()))
        yield vanishes(f"gap at 0.98 of the critical spin, {steps} steps [m]", gaps(slow.solution).max(), 1e-14)
        yield vanishes(f"balance, {steps} steps", slow.solution.ledger.largest_residual, 1e-12)
    yield near("force on the cam, largest error [N]", 0.0, errors[1], 0.02, source="N = m(g + ẍ) + F(x), up to 506 N")
    yield converges("order of the force", math.log2(errors[0] / errors[1]), 0.1)

    fast = run(speed=1.02, turns=1.0, steps=4000)
    part, meet, flown = flight(fast.spin)
    times = fast.solution.times
    flying = (times > part) & (times < meet)
    apart = float(np.abs(lifts(fast.solution)[flying] - flown(times[flying])[0]).max())
    source = "solve_ivp (DOP853)"
    yield near("lift in flight, largest error [m]", 0.0, apart, 1e-8, source=source, kind="independent code")
    touching = times[gaps(fast.solution) > 1e-9]
    late = float(touching[-1] - meet)
    yield near(
        "last time in flight less that of meeting [s]",
        0.0,
        late,
        2.0 * (times[1] - times[0]),
        source=source,
        kind="independent code",
    )
    fall = flown(meet)[1] - ECCENTRICITY * fast.spin * math.sin(fast.spin * meet)
    lost = sum(float(loss.sum()) for name, loss in fast.solution.ledger.dissipation.items())
    yield near(
        "loss of the impact [J]", 0.5 * MASS * fall**2, lost, 1e-4 * lost, source=source, kind="independent code"
    )
    yield vanishes("balance of the flight", fast.solution.ledger.largest_residual, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
