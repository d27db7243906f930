"""A wheelset that hunts: conical wheels that creep on rails, below and above the critical speed.

A wheelset in springs k_y, k_ψ moves sideways by y and yaws by ψ. Its wheels have the radius r₀, the conicity γ and the
distance 2b of their treads; creep forces are linear with the coefficients f₁ along and f₂ across:

    m ÿ + 2 f₂ (ẏ/V − ψ) + k_y y = 0,    J ψ̈ + 2 f₁ b (b ψ̇/V + γ y/r₀) + k_ψ ψ = 0

(A. H. Wickens, Fundamentals of Rail Vehicle Dynamics, 2003, ch. 3, without gravitational stiffness and spin creep). By
Routh's criterion it hunts from a speed V_c on: the forward motion feeds the oscillation. Above V_c creep saturates by
friction, and hunting ends where flanges touch the rails. A wheelset without springs rolls with Klingel's frequency V
√(γ/(b r₀)).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

import rigid
from flexph import (
    GROUND,
    Mechanism,
    Solution,
    State,
    connect,
    hinge,
    integrate,
    planar,
    spring_damper,
    torsion_spring,
)
from flexph.case import Case, Check, Option
from flexph.drawing import box_shape, cylinder_shape
from flexph.export.tables import write_table
from flexph.joints import railway_wheel
from flexph.laws import CreepLaw, backlash, creep
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import converges, vanishes
from .files import write_run
from .times import equal_steps

SET, BOX = 1250.0, 300.0  # masses of the wheelset and its axle boxes [kg]
YAW, SPIN, BOX_YAW = 700.0, 100.0, 100.0  # moments of inertia [kg m²]
HALF, RADIUS, CONE = 0.7465, 0.45, 0.15  # half the distance of the treads, radius [m], conicity
ALONG, ACROSS, FRICTION = 9.43e6, 8.8e6, 2e4  # Kalker's coefficients f₁, f₂ and μN of a wheel [N]
SIDEWAYS, YAWING = 3.2e5, 4e5  # stiffnesses k_y [N/m] and k_ψ [N m/rad]
FLANGE, CLEARANCE = 1e7, 9e-3  # stiffness of a flange at its rail [N/m], and the play on either side [m]
INERTIA, MASS = YAW + BOX_YAW, SET + BOX


def closed_form(speed: float) -> Array:
    """Exponents (4,) [1/s] of the linear equations of the wheelset at a speed [m/s]."""
    return np.linalg.eigvals(matrix(speed))


def matrix(speed: float) -> Array:
    """Matrix (4, 4) of the linear equations of the wheelset at a speed [m/s], for the states (y, ψ, ẏ, ψ̇)."""
    aside, yaw = 2.0 * ACROSS / MASS, 2.0 * ALONG * HALF / INERTIA
    return np.array(
        [
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [-SIDEWAYS / MASS, aside, -aside / speed, 0.0],
            [-yaw * CONE / RADIUS, -YAWING / INERTIA, 0.0, -yaw * HALF / speed],
        ]
    )


def critical_speed() -> float:
    """Speed V_c [m/s] at which hunting begins, by Routh's criterion of the linear equations."""
    a3 = 2.0 * ACROSS * INERTIA + 2.0 * ALONG * HALF**2 * MASS  # over V
    a2, further = SIDEWAYS * INERTIA + YAWING * MASS, 4.0 * ALONG * ACROSS * HALF**2  # over V²
    a1 = 2.0 * ALONG * HALF**2 * SIDEWAYS + 2.0 * ACROSS * YAWING  # over V
    a0 = SIDEWAYS * YAWING + 4.0 * ALONG * ACROSS * HALF * CONE / RADIUS
    return math.sqrt(further / ((a1**2 * MASS * INERTIA + a3**2 * a0) / (a1 * a3) - a2))


def wheelset(law: CreepLaw, *, held: bool = True) -> Mechanism:
    """Mechanism of the wheelset on rails along x; if ``held``, springs hold it to the ground across the track."""
    ports = {"left": (0.0, HALF, 0.0), "right": (0.0, -HALF, 0.0), "axle": (0.0, 0.0, 0.0)}
    axle = cylinder_shape(2.2 * HALF, 0.09, axis=(0.0, 1.0, 0.0))
    bodies = {
        "set": rigid.body(SET, inertia=(YAW, SPIN, YAW), ports=ports, shape=axle),
        "box": rigid.body(
            BOX,
            inertia=(BOX_YAW,) * 3,
            ports={"axle": (0.0, 0.0, 0.0)},
            shape=box_shape((0.25, 1.2 * HALF, 0.12), centre=(0.0, 0.0, 0.2)),
        ),
    }
    middle = GROUND.at(0.0, 0.0, RADIUS)
    joints = [
        hinge("set.axle", "box.axle", axis=(0.0, 1.0, 0.0)),
        planar("box.axle", middle, normal=(0.0, 0.0, 1.0)),
    ]
    if held:
        joints += [
            spring_damper(
                "box.axle", middle, stiffness=SIDEWAYS, length=0.0, direction=(0.0, 1.0, 0.0), name="sideways"
            ),
            spring_damper(
                "box.axle",
                middle,
                law=backlash(stiffness=FLANGE, play=2.0 * CLEARANCE),
                length=0.0,
                direction=(0.0, 1.0, 0.0),
                name="flange",
            ),
            torsion_spring("box.axle", GROUND, stiffness=YAWING, angle=0.0, axis=(0.0, 0.0, 1.0), name="yaw"),
        ]
    joints += [
        railway_wheel(
            f"set.{side}",
            "box.axle",
            GROUND.at(0.0, sign * HALF, 0.0),
            radius=RADIUS,
            conicity=sign * CONE,
            creep=law,
            name=side,
        )
        for side, sign in (("left", 1.0), ("right", -1.0))
    ]
    return connect(bodies, joints)


def rolling(mechanism: Mechanism, speed: float, *, aside: float = 0.0) -> State:
    """State of the wheelset that rolls straight at a speed [m/s], displaced sideways by ``aside`` [m]."""
    place = ((0.0, aside, RADIUS), np.eye(3))
    pose = mechanism.assemble({"set": place, "box": place})
    ahead = (speed, 0.0, 0.0)
    velocities = {"set": (ahead, (0.0, speed / RADIUS, 0.0)), "box": (ahead, (0.0, 0.0, 0.0))}
    return mechanism.consistent_state(pose, velocities=velocities)


def linear() -> CreepLaw:
    """Linear creep law of the wheels, without saturation."""
    return creep(longitudinal=ALONG, lateral=ACROSS)


def exponents(speed: float) -> Array:
    """Exponents (4,) [1/s] of the sideways and yawing motions at a speed [m/s], from the spectrum of the mechanism."""
    mechanism = wheelset(linear())
    spectrum = mechanism.spectrum(rolling(mechanism, speed))
    moved = np.abs(spectrum.part("box.centre")[1]) + np.abs(spectrum.part("box.turn")[2])
    return spectrum.values[moved > 1e-9]


def measured_exponent(speed: float, step: float, *, end: float = 0.4) -> complex:
    """Exponent of hunting [1/s] at a speed [m/s], measured in a run up to ``end`` [s].

    The result is the mean rate of the logarithm of the hunting component: the product of the state (y, ψ, ẏ, ψ̇)
    with the left eigenvector of the linear equations.
    """
    mechanism = wheelset(linear())
    values, left = np.linalg.eig(matrix(speed).T)
    mode = left[:, int(np.argmax(values.imag))]
    times = equal_steps(step, end)
    solution = integrate(mechanism, rolling(mechanism, speed, aside=1e-5), times, progress=False)
    turn = solution.rotations("box")
    place, yaw = sideways(solution), np.arctan2(turn[:, 1, 0], turn[:, 0, 0])
    rates = solution["box.velocity"][:, 1], solution["box.spin"][:, 2]
    part = np.column_stack([place, yaw, *rates]) @ mode
    begin = len(times) // 4  # after the fast motions
    turned = np.unwrap(np.angle(part))
    time = float(times[-1] - times[begin])
    return complex(math.log(abs(part[-1] / part[begin])), float(turned[-1] - turned[begin])) / time


class Result(NamedTuple):
    """Exponents of the wheelset over its speed, and runs below and above the critical speed."""

    speeds: Array  # (k,) [m/s]
    exponents: Array  # (k, 4) [1/s]
    below: Solution
    above: Solution


def run(
    *,
    slow: Annotated[float, Option("speed of the first run over the critical one")] = 0.4,
    fast: Annotated[float, Option("speed of the second run over the critical one")] = 1.3,
    aside: Annotated[float, Option("initial sideways displacement", "m")] = 4e-3,
    step: Annotated[float, Option("time step", "s")] = 2e-3,
    end: Annotated[float, Option("end of the runs", "s")] = 4.0,
    speeds: Annotated[int, Option("speeds of the diagram")] = 40,
) -> Result:
    """A wheelset with conical wheels that creep on rails: hunting from its critical speed on."""
    critical = critical_speed()
    grid = np.linspace(0.1, 1.6, check.count("speeds", speeds)) * critical
    times, mechanism = equal_steps(step, end), wheelset(saturated())
    runs = [integrate(mechanism, rolling(mechanism, s * critical, aside=aside), times) for s in (slow, fast)]
    return Result(grid, np.array([exponents(float(v)) for v in grid]), *runs)


def saturated() -> CreepLaw:
    """Creep law of the wheels that saturates at the limit of friction."""
    return creep(longitudinal=ALONG, lateral=ACROSS, limit=FRICTION)


def sideways(solution: Solution) -> Array:
    """Sideways displacement of the wheelset from the middle of the track at the saved times (k,) [m]."""
    return solution.position("box.axle")[:, 1]


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: exponents against the speed, and both runs; return the summary numbers."""
    write_run(result.above, folder)
    own = result.exponents
    rows = {f"{part}_{i + 1}_1_s": getattr(own, part)[:, i] for i in range(own.shape[1]) for part in ("real", "imag")}
    write_table(folder / "exponents.csv", {"speed_m_s": result.speeds} | rows)
    columns = {"t_s": result.above.times, "slow_m": sideways(result.below), "fast_m": sideways(result.above)}
    write_table(folder / "sideways.csv", columns)
    _draw(result, folder / "hunting.png")
    return {
        "critical_speed_m_s": critical_speed(),
        "amplitude_m": float(np.abs(sideways(result.above)[-len(result.above.times) // 4 :]).max()),
        "largest_residual": float(max(r.ledger.largest_residual for r in (result.below, result.above))),
    }


def _draw(result: Result, path: Path) -> None:
    figure = new_figure(8.5, 4.0)
    diagram, over_time = figure.subplots(1, 2, width_ratios=(2, 3))
    slow = np.nanmax(np.where(result.exponents.imag > 0.0, result.exponents.real, np.nan), axis=1)
    exact = [max((s.real for s in closed_form(float(v)) if s.imag > 0.0), default=np.nan) for v in result.speeds]
    diagram.plot(result.speeds, slow, "C0o", markersize=4, markerfacecolor="none", label="spectrum")
    diagram.plot(result.speeds, exact, "k-", linewidth=0.8, label="linear equations")
    diagram.axvline(critical_speed(), color="0.6", linestyle=":")
    diagram.set(xlabel="speed [m/s]", ylabel="growth of hunting [1/s]")
    for solution, label in ((result.below, "below"), (result.above, "above the critical speed")):
        over_time.plot(solution.times, 1e3 * sideways(solution), linewidth=1.0, label=label)
    over_time.set(xlabel="t [s]", ylabel="aside of the track [mm]")
    for axes in (diagram, over_time):
        axes.grid(alpha=0.3)
        legend_above(axes, 2)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: exponents from spectrum and runs against the linear equations; balance, dissipation, decay at low speed.

    The frequency of a slow free wheelset is compared with Klingel's.
    """
    source, critical = "Wickens 2003, ch. 3", critical_speed()
    for share in (0.3, 1.0, 1.5):
        wanted = closed_form(share * critical)
        far = max(float(np.abs(exponents(share * critical) - s).min() / np.abs(s)) for s in wanted)
        yield vanishes(f"exponents at {share:g} V_c, relative", far, 1e-10, source=source, kind="closed form")
    hunting = max(closed_form(1.2 * critical), key=lambda s: s.imag)
    coarse, fine = (abs(measured_exponent(1.2 * critical, step) - hunting) for step in (1e-3, 5e-4))
    yield converges("order of the hunting exponent in steps", math.log2(coarse / fine), 0.1)
    yield vanishes("hunting exponent of steps of 0.5 ms [1/s]", fine, 0.02, source=source, kind="closed form")
    result = run(speeds=2)
    for name, solution in (("below", result.below), ("above", result.above)):
        ledger = solution.ledger
        yield vanishes(f"balance, {name}", ledger.largest_residual, 1e-12)
        gained = max(-min(float(x.min()) for x in ledger.dissipation.values()), 0.0)
        yield vanishes(f"energy gained by creep, {name} [J]", gained, 1e-15)
    decayed = float(np.abs(sideways(result.below)[-200:]).max() / np.abs(sideways(result.below)).max())
    yield vanishes("oscillation of the slow wheelset after 4 s over its largest", decayed, 0.5)
    free = wheelset(linear(), held=False)
    values = free.spectrum(rolling(free, 1.0)).values
    klingel = math.sqrt(CONE / (HALF * RADIUS))
    yield Check("frequency of a slow free wheelset [rad/s]", "Klingel 1883", klingel, float(values.imag.max()),
                kind="closed form", tolerance=1e-3)  # fmt: skip


case = Case(run, write, checks, needs=("matplotlib",))
