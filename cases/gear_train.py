"""A spur stage and a planetary stage, driven by a motor against a brake: ratios and tooth torques.

Planetary trains: R. Willis, Principles of Mechanism, Longmans (1841), the formula (ω_s − ω_a)/(ω_r − ω_a) = −z_r/z_s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import rigid
from flexph import GROUND, Body, Mechanism, Solution, connect, gear, hinge, integrate, torque, weld
from flexph.case import Case, Check, Option
from flexph.drawing import Shape, cylinder_shape, merged_shapes
from flexph.export.tables import write_table
from flexph.laws import coulomb
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure
from flexph.sensors import joint_angle, joint_rate

from .checks import converges, near, vanishes
from .files import write_run

PINION, WHEEL, SUN, PLANET, RING = 20, 60, 24, 30, 84  # teeth
SPUR, PLANETARY = -WHEEL / PINION, 1.0 + RING / SUN
RATIO = SPUR * PLANETARY  # turns of the motor for one of the output
PLANETS = 3
DRIVE, BRAKE = 8.0, 60.0  # torque of the motor, drag of the output [N m]
TURNS = 1.0 - RING / PLANET  # of a planet for one of the output
INERTIA = {"motor": 4e-3, "shaft": 0.02, "planet": 2e-3, "output": 0.9}  # [kg m²]
MASS, ARM = 1.2, 0.135  # of a planet [kg], of its pin from the middle [m]
MIDDLE = (0.2, 0.0)
MODULE, THICK = 5e-3, 0.02  # diameter over teeth, width of the wheels [m]
SHAFTS = {"motor": RATIO, "shaft": PLANETARY, "planet 1": TURNS, "output": 1.0}
"""Turns of the shafts for one turn of the output."""


@dataclass(frozen=True)
class Result:
    """A run of the gear train with the torque ``drive`` of the motor [N m] up to the time ``until`` [s].

    Then the motor is switched off.
    """

    solution: Solution
    drive: float
    until: float

    @property
    def accelerations(self) -> tuple[float, float]:
        """Accelerations of the output while the motor drives, and after it is off, (i τ − τ_b)/J [rad/s²].

        τ is the torque of the motor, i the ratio, τ_b that of the brake, J the inertia reduced to the output.
        """
        return tuple((abs(RATIO) * tau - BRAKE) / reduced_inertia() for tau in (self.drive, 0.0))  # type: ignore[return-value]

    @property
    def angles(self) -> Array:
        """Angles (shafts, k) [rad] of all shafts since the start, at the saved times."""
        measured = [self.solution.measured(joint_angle(f"{name}.centre")) for name in SHAFTS]
        return np.array([angle - angle[0] for angle in measured])


def reduced_inertia() -> float:
    """Moments of inertia of all wheels reduced to the output shaft, in sum [kg m²]."""
    carried = PLANETS * (MASS * ARM**2 + INERTIA["planet"] * TURNS**2)
    return INERTIA["output"] + INERTIA["shaft"] * PLANETARY**2 + INERTIA["motor"] * RATIO**2 + carried


def ring_torque(drive: float, acceleration: float) -> float:
    """Reaction torque on the ring [N m] from the angular momentum about the centre, independent of the run.

    ``drive`` is the torque of the motor, ``acceleration`` that of the output [rad/s²].
    """
    shaft = -SPUR * (INERTIA["motor"] * RATIO * acceleration + drive)  # of the pinion on the wheel
    carried = PLANETS * (MASS * ARM**2 + INERTIA["planet"] * TURNS)
    momentum = (INERTIA["shaft"] * PLANETARY + INERTIA["output"] + carried) * acceleration
    return momentum - shaft + BRAKE


def disc(radius: float, layer: int = 0, *, inner: float = 0.0) -> Shape:
    """Shape of a wheel without teeth or, with an ``inner`` radius, of a ring [m].

    ``layer`` is the number of its plane along the axis.
    """
    centre = (0.0, 0.0, 1.5 * layer * THICK)
    return cylinder_shape(THICK, radius, inner_radius=inner, axis=(0.0, 0.0, 1.0), centre=centre)


def wheel(mass: float, inertia: float, *pins: float, shape: Shape | None = None) -> Body:
    """A wheel with the ports ``centre`` and ``pin 1``, ``pin 2``, …, at the given angles [rad].

    The pins are on the radius of the planet axles.
    """
    places = {f"pin {k}": (ARM * math.cos(at), ARM * math.sin(at)) for k, at in enumerate(pins, 1)}
    return rigid.body(mass, inertia=inertia, ports={"centre": (0.0, 0.0), **places}, shape=shape)


def train() -> Mechanism:
    """Mechanism of pinion, wheel, sun, three planets on an arm, and a fixed ring.

    Only planet 1 is geared to the ring: the constraints of the other two would be redundant.
    """
    names = [f"planet {k}" for k in range(1, PLANETS + 1)]
    pins = [2.0 * math.pi * k / PLANETS for k in range(PLANETS)]
    bodies = {
        "motor": wheel(0.8, INERTIA["motor"], shape=disc(0.5 * MODULE * PINION, -1)),
        "shaft": wheel(
            3.0, INERTIA["shaft"], shape=merged_shapes([disc(0.5 * MODULE * WHEEL, -1), disc(0.5 * MODULE * SUN)])
        ),
        "output": wheel(6.0, INERTIA["output"], *pins, shape=disc(1.1 * ARM, 1, inner=0.9 * ARM)),
        "ring": wheel(4.0, 0.1, shape=disc(0.55 * MODULE * RING, inner=0.5 * MODULE * RING)),
        **{name: wheel(MASS, INERTIA["planet"], shape=disc(0.5 * MODULE * PLANET)) for name in names},
    }
    joints = [
        hinge("motor.centre", GROUND.at(0.0, 0.0)),
        hinge("shaft.centre", GROUND.at(*MIDDLE)),
        hinge("output.centre", GROUND.at(*MIDDLE), friction=coulomb(BRAKE, speed=1e-3)),
        weld("ring.centre", GROUND.at(*MIDDLE)),
        *(hinge(f"{name}.centre", f"output.pin {k}") for k, name in enumerate(names, 1)),
        gear("motor.centre", "shaft.centre", ratio=SPUR),
        *(gear("shaft.centre", f"{name}.centre", "output.centre", ratio=-PLANET / SUN) for name in names),
        gear("ring.centre", "planet 1.centre", "output.centre", ratio=PLANET / RING),  # the others would be redundant
        torque("motor.centre", name="drive"),
    ]
    return connect(bodies, joints)


def run(
    *,
    drive: Annotated[float, Option("torque of the motor while it drives", "N m")] = DRIVE,
    until: Annotated[float, Option("time up to which the motor drives", "s")] = 0.5,
    end: Annotated[float, Option("end of the run", "s")] = 1.0,
    step: Annotated[float, Option("step size", "s")] = 5e-4,
) -> Result:
    """Gear train: a spur and a planetary stage, run up by a motor against a brake, and down to rest."""
    if not 0.0 < step <= until <= end:
        raise ValueError(f"step, until and end must be positive and in this order, got {step}, {until} and {end} s")
    if drive * abs(RATIO) <= BRAKE:
        raise ValueError(f"drive must be more than the brake holds, {BRAKE / abs(RATIO):.4g} N m, got {drive} N m")
    mechanism = train()
    start = mechanism.consistent_state(mechanism.assemble(guess={"motor": (0.0, 0.0, 0.0)}))
    times = np.linspace(0.0, end, round(end / step) + 1)
    solution = integrate(mechanism, start, times, inputs={"drive": lambda t: -drive if t < until else 0.0})
    return Result(solution, drive, until)


def expected(result: Result) -> Array:
    """Angle of the output at the saved times in closed form (k,) [rad], constant once it has come to rest."""
    faster, slower = result.accelerations
    t = result.solution.times
    first, after = np.minimum(t, result.until), np.maximum(t - result.until, 0.0)
    speed = faster * result.until
    after = np.minimum(after, speed / -slower)
    angle: Array = 0.5 * faster * first**2 + speed * after + 0.5 * slower * after**2
    return angle


def figures(result: Result) -> Mapping[str, Any]:
    """Summary numbers: speed ratio, angles, acceleration, torque on the ring, energy of the brake, balance."""
    angles, solution = result.angles, result.solution
    ideal = np.array(list(SHAFTS.values()))[:, None] * angles[-1]
    driven = np.searchsorted(solution.times, 0.5 * result.until)
    held = solution.reaction(next(c.name for c in solution.mechanism.connections if c.name.startswith("weld ring")))
    at = np.searchsorted(held.times, 0.5 * result.until)
    rate = solution.measured(joint_rate("output.centre"))
    return {
        "ratio": float(angles[0, -1] / angles[-1, -1]),
        "ratio_residual_max": float(np.abs(angles - ideal).max() / np.abs(angles).max()),
        "motor_turns": float(abs(angles[0, -1]) / (2.0 * math.pi)),
        "output_angle_rad": float(angles[-1, -1]),
        "angle_error_max_rel": float(np.abs(angles[-1] - expected(result)).max() / angles[-1, -1]),
        "acceleration_rad_s2": float(rate[driven] / solution.times[driven]),
        "ring_torque_Nm": float(held.torque[at].item()),
        "brake_energy_J": float(sum(np.sum(lost) for lost in solution.ledger.dissipation.values())),
        "balance_residual_max_rel": solution.ledger.largest_residual,
    }


def write(result: Result, folder: Path) -> Mapping[str, Any]:
    """Write to ``folder``: the run, angles of the shafts, speeds with their closed form, and residuals of the ratios.

    Return the summary numbers.
    """
    solution, angles = result.solution, result.angles
    write_run(solution, folder)
    named = {f"{name.replace(' ', '_')}_rad": angle for name, angle in zip(SHAFTS, angles, strict=True)}
    write_table(folder / "angles.csv", {"t_s": solution.times, **named, "expected_output_rad": expected(result)})
    figure = new_figure(9.0, 4.0)
    speeds, left = figure.subplots(1, 2)
    for name, turns in SHAFTS.items():
        rate = solution.measured(joint_rate(f"{name}.centre"))
        speeds.plot(solution.times, rate, label=f"{name}, {turns:.4g}")
        residual = np.abs(angles[list(SHAFTS).index(name)] - turns * angles[-1])
        if name != "output":
            left.plot(solution.times, 1e15 * residual, linewidth=0.6, label=name)
    speeds.plot(
        solution.times, np.gradient(expected(result), solution.times), "k--", linewidth=0.8, label="closed form"
    )
    speeds.set(xlabel="t [s]", ylabel="speed [rad/s]")
    left.set(xlabel="t [s]", ylabel="|angle − ratio × that of the output| [1e-15 rad]")
    for axes in (speeds, left):
        axes.grid(alpha=0.3)
    legend_above(speeds, columns=3)
    legend_above(left, columns=3)
    figure.savefig(folder / "angles.png")
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: ratios and balance at round-off; accelerations, angle until rest and torque on the ring in closed form.

    The ratio does not depend on the step. The motion has an error of second order: a step turns the motor by 0.03 rad.
    """
    result = run()
    given = figures(result)
    yield near("turns of the motor for one of the output", RATIO, given["ratio"], 1e-12, source="(60/20)(1 + 84/24)")
    yield vanishes("angles beside their ratios, over the largest", given["ratio_residual_max"], 1e-13)
    yield vanishes("step balance", given["balance_residual_max_rel"], 1e-11)
    faster, _ = result.accelerations
    formula = "(iτ − τ_b)/J"
    yield near("acceleration [rad/s²]", faster, given["acceleration_rad_s2"], 1e-3 * faster, source=formula)
    yield vanishes(
        "angle of the output, over its largest", given["angle_error_max_rel"], 1e-3, source="closed form: zero"
    )
    torque_of_ring = ring_torque(result.drive, faster)
    source = "angular momentum about the middle"
    yield near(
        "torque on the ring [N m]", torque_of_ring, given["ring_torque_Nm"], 0.01 * abs(torque_of_ring), source=source
    )
    ends = [figures(run(step=h, end=0.5))["output_angle_rad"] for h in (2e-3, 1e-3, 5e-4)]
    order = math.log2((ends[0] - ends[1]) / (ends[1] - ends[2]))
    yield converges("order of the angle in the step", order, 0.1)
    large = figures(run(step=5e-3, end=0.5))
    yield vanishes("the same ratios by steps ten times as long", large["ratio_residual_max"], 1e-13)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
