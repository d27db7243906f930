"""A bicycle that rolls straight: weave, capsize and castering over the speed, and the self-stable speeds.

Four rigid bodies (rear wheel, rear frame with rider, handlebar, front wheel), three hinges and two thin discs that roll
without slip. Parameters, linear equations M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0 of lean and steer, exponents and
critical speeds: J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Linearized dynamics equations for the
balance and steer of a bicycle: a benchmark and review, Proc. R. Soc. A 463 (2007) 1955, Tables 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

import rigid
from flexph import Mechanism, Pose, Solution, State, connect, hinge, integrate
from flexph.case import Case, Check, Option
from flexph.drawing import box_shape, cylinder_shape
from flexph.export.tables import write_table
from flexph.joints import rolling_disc
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import vanishes
from .files import write_run
from .times import equal_steps

BASE, TRAIL, TILT, GRAVITY = 1.02, 0.08, math.pi / 10.0, 9.81  # wheelbase, trail [m], tilt of the steering axis [rad]
REAR, FRONT = 0.3, 0.35  # radii of the wheels [m]
STEERING = (-math.sin(TILT), 0.0, math.cos(TILT))
HEAD = (BASE + TRAIL + 0.85 * STEERING[0], 0.0, 0.85 * STEERING[2])  # a point of the steering axis
PUBLISHED = (
    complex(-0.775341882195846, 4.464867713788236),
    complex(-0.775341882195846, -4.464867713788236),
    -0.322866429004087,
    -14.078389692798217,
)
"""Exponents at 5 m/s: weave, capsize and castering [1/s]."""
WEAVE, CAPSIZE = 4.292382536341, 6.024262015388
"""Speeds between which the bicycle is stable [m/s]."""
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])


def closed_form(speed: float) -> Array:
    """Exponents (4,) [1/s] of lean and steer at a speed [m/s], from the published linear equations."""
    stiff, damping = GRAVITY * K0 + speed**2 * K2, speed * C1
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, stiff), -np.linalg.solve(M, damping)]])
    return np.linalg.eigvals(A)


def bicycle(turn: Array | None = None) -> Mechanism:
    """Mechanism of the bicycle, upright along x, on ground with the normal z.

    The rotation ``turn`` turns bicycle and ground in the world.
    """
    turn = np.eye(3) if turn is None else turn
    rim = {name: cylinder_shape(0.03, r, axis=(0.0, 1.0, 0.0)) for name, r in (("rear", REAR), ("front", FRONT))}
    spokes = {"hub": (0.0, 0.0, 0.0)}
    rider = np.array([[9.2, 0.0, -2.4], [0.0, 11.0, 0.0], [-2.4, 0.0, 2.8]])
    bar = np.array([[0.05892, 0.0, 0.00756], [0.0, 0.06, 0.0], [0.00756, 0.0, 0.00708]])
    bodies = {
        "rear": rigid.body(2.0, inertia=(0.0603, 0.12, 0.0603), ports=spokes, shape=rim["rear"]),
        "frame": rigid.body(
            85.0,
            inertia=rider,
            centre=(0.3, 0.0, 0.9),
            ports={"rear": (0.0, 0.0, REAR), "head": HEAD, "saddle": (0.3, 0.0, 0.9)},
            shape=box_shape((0.25, 0.3, 0.6), centre=(0.3, 0.0, 0.9)),
        ),
        "fork": rigid.body(
            4.0,
            inertia=bar,
            centre=(0.9, 0.0, 0.7),
            ports={"front": (BASE, 0.0, FRONT), "head": HEAD},
            shape=box_shape((0.05, 0.5, 0.05), centre=(0.85, 0.0, 0.85)),
        ),
        "front": rigid.body(3.0, inertia=(0.1405, 0.28, 0.1405), ports=spokes, shape=rim["front"]),
    }
    normal = turn @ np.array([0.0, 0.0, 1.0])
    joints = [
        rolling_disc("rear.hub", radius=REAR, axis=(0.0, 1.0, 0.0), normal=normal),
        rolling_disc("front.hub", radius=FRONT, axis=(0.0, 1.0, 0.0), normal=normal),
        hinge("rear.hub", "frame.rear", axis=(0.0, 1.0, 0.0)),
        hinge("frame.head", "fork.head", axis=STEERING),
        hinge("front.hub", "fork.front", axis=(0.0, 1.0, 0.0)),
    ]
    return connect(bodies, joints, gravity=-GRAVITY * normal)


def riding(mechanism: Mechanism, speed: float, *, turn: Array | None = None, lean: float = 0.0) -> State:
    """State of the bicycle that rolls straight ahead at a speed [m/s], upright, with a rate of lean ``lean`` [rad/s].

    ``turn`` is that of :func:`bicycle`.
    """
    turn = np.eye(3) if turn is None else turn
    ahead, across = turn[:, 0], turn[:, 1]
    velocities = {
        name: (speed * ahead, spin * across)
        for name, spin in {"rear": speed / REAR, "frame": 0.0, "fork": 0.0, "front": speed / FRONT}.items()
    }
    if lean:
        velocities = {
            name: (v + np.cross(lean * ahead, at), w + lean * ahead)
            for (name, (v, w)), at in zip(velocities.items(), _places(turn), strict=True)
        }
    return mechanism.consistent_state(upright(mechanism, turn), velocities=velocities)


def _places(turn: Array) -> list[Array]:
    """Positions (3,) [m] of the origins of the four bodies of the upright bicycle, turned in the world by ``turn``."""
    return [turn @ np.array(at) for at in ((0.0, 0.0, REAR), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (BASE, 0.0, FRONT))]


def upright(mechanism: Mechanism, turn: Array | None = None) -> Pose:
    """Pose of the upright bicycle, turned in the world by ``turn``."""
    turn = np.eye(3) if turn is None else turn
    return mechanism.assemble({name: (at, turn) for name, at in zip(mechanism.bodies, _places(turn), strict=True)})


class Result(NamedTuple):
    """Exponents of the bicycle over the speed, and a ride at a stable speed after a push."""

    speeds: Array  # (k,) [m/s]
    exponents: Array  # (k, 4) [1/s]
    ride: Solution


def exponents(speed: float) -> Array:
    """Exponents (4,) [1/s] of the mechanism at a speed [m/s], by ascending real part.

    The zero that belongs to the forward motion is left out.
    """
    mechanism = bicycle()
    values = mechanism.spectrum(riding(mechanism, speed)).values
    values = np.delete(values, int(np.argmax(values == 0.0)))
    return values[np.lexsort((values.imag, values.real))]


def run(
    *,
    speed: Annotated[float, Option("speed of the ride", "m/s")] = 4.6,
    push: Annotated[float, Option("rate of lean at the start", "rad/s")] = 0.5,
    step: Annotated[float, Option("time step", "s")] = 0.005,
    end: Annotated[float, Option("end of the ride", "s")] = 5.0,
    speeds: Annotated[int, Option("speeds of the diagram")] = 60,
) -> Result:
    """A bicycle that rolls straight: exponents over the speed (Meijaard et al. 2007), and a ride after a push."""
    grid = np.linspace(0.02, 10.0, check.count("speeds", speeds))
    mechanism = bicycle()
    start = riding(mechanism, check.positive("speed", speed, "m/s"), lean=push)
    ride = integrate(mechanism, start, equal_steps(step, end))
    return Result(grid, np.array([exponents(float(v)) for v in grid]), ride)


def critical_speeds() -> tuple[float, float]:
    """Speeds [m/s] above which weave is stable and capsize is unstable, from spectra of the mechanism."""
    weave = lambda v: max(s.real for s in exponents(v) if s.imag > 0.0)  # noqa: E731
    capsize = lambda v: max(s.real for s in exponents(v) if s.imag == 0.0)  # noqa: E731
    return float(brentq(weave, 4.0, 4.6, xtol=1e-12)), float(brentq(capsize, 5.5, 6.5, xtol=1e-12))


def leans(ride: Solution) -> Array:
    """Angle of lean of the rear frame at the saved times (k,) [rad]."""
    across: Array = np.arcsin(np.clip(-ride.rotations("frame")[:, 2, 1], -1.0, 1.0))
    return across


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: exponents against the speed, their diagram, and the ride; return the summary numbers."""
    write_run(result.ride, folder)
    found = result.exponents
    rows = {
        f"{part}_{i + 1}_1_s": getattr(found, part)[:, i] for i in range(found.shape[1]) for part in ("real", "imag")
    }
    write_table(folder / "exponents.csv", {"speed_m_s": result.speeds} | rows)
    _draw(result, folder / "exponents.png")
    stable = result.speeds[found.real.max(axis=1) < 0.0]
    return {
        "stable_from_m_s": float(stable.min(initial=math.inf)),
        "stable_to_m_s": float(stable.max(initial=-math.inf)),
        "largest_residual": float(result.ride.ledger.largest_residual),
    }


def _draw(result: Result, path: Path) -> None:
    figure = new_figure(8.5, 4.0)
    diagram, over_time = figure.subplots(1, 2, width_ratios=(3, 2))
    closed = np.array([closed_form(float(v)) for v in result.speeds])
    for k in range(4):
        branch = result.exponents[:, k]
        diagram.plot(result.speeds, branch.real, "C0.", markersize=4, label="real part" if k == 0 else None)
        diagram.plot(
            result.speeds, np.where(branch.imag > 0.0, branch.imag, np.nan), "C1.", markersize=4,
            label="imaginary part" if k == 0 else None,
        )  # fmt: skip
        diagram.plot(
            result.speeds,
            closed[:, k].real,
            "k.",
            markersize=1,
            zorder=5,
            label="published equations" if k == 0 else None,
        )
    diagram.axvspan(WEAVE, CAPSIZE, color="0.9", zorder=0)
    diagram.set(xlabel="speed [m/s]", ylabel="exponent [1/s]", ylim=(-10.0, 10.0))
    over_time.plot(result.ride.times, np.degrees(leans(result.ride)), linewidth=1.2, label="lean [°]")
    over_time.set(xlabel="t [s]")
    for axes in (diagram, over_time):
        axes.grid(alpha=0.3)
        legend_above(axes, 3 if axes is diagram else 1)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: published exponents at 5 m/s and critical speeds; linear equations at other speeds; balance of a ride."""
    source = "Meijaard et al. 2007"
    computed = exponents(5.0)
    for name, wanted in zip(("weave", "capsize", "castering"), (PUBLISHED[0], *PUBLISHED[2:]), strict=True):
        far = float(np.abs(computed - wanted).min())
        yield vanishes(f"{name} at 5 m/s [1/s]", far, 1e-11, source=f"{source}, Table 2", kind="published")
    for name, value, wanted in zip(("weave", "capsize"), critical_speeds(), (WEAVE, CAPSIZE), strict=True):
        yield Check(f"critical speed of {name} [m/s]", source, wanted, value, kind="published", tolerance=1e-11)
    for speed in (0.5, 3.0, 10.0):
        far = max(float(np.abs(exponents(speed) - s).min()) for s in closed_form(speed))
        yield vanishes(f"exponents at {speed:g} m/s", far, 1e-10, source=f"{source}, M, C₁, K₀, K₂", kind="published")
    ride = run(speeds=1).ride
    yield vanishes("balance of the ride", ride.ledger.largest_residual, 1e-12)
    yield vanishes(
        "lean after 5 s [rad]", abs(float(leans(ride)[-1])), 0.05, source="it rides alone between these speeds"
    )


case = Case(run, write, checks, needs=("matplotlib",))
