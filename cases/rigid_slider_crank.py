"""A slider-crank made of two systems that are coupled at their ports ([rigid] sec. 7.3).

The crank turns about A, the origin, and ends in C; the rod, with the slider as part of it, is guided on the x axis
at B. Both are separate systems with a port at C. The coupling F_{1,C} = −F_{2,C}, v_{1,C} = v_{2,C} joins them:

    0 = [B₁ᵀ, −B₂ᵀ] ϖ = d/dt (p_{1,C} − p_{2,C}),

and its multiplier is the force in the pin. A torque on the crank and a force on the slider remain as ports. The
coupling is one of velocities, while a pin constrains positions (remark 4). Ports with a position p(ζ) of the
coordinates ζ (ζ̇ = Zϖ, p'Z = Bᵀ) are discretised by the increment of p: the pin is then exact to round-off, at any step.
Ports that are given by their matrix B alone couple velocities at the midpoint of each step, and the pin drifts apart at
second order. Both are shown.

The motion has one degree of freedom, the crank angle φ, with x_B = ℓ₁ cos φ + √(ℓ₂² − ℓ₁² sin²φ) and

    I(φ) φ̈ + ½ I'(φ) φ̇² = M_ext + F_ext x_B'(φ),

the same as that of :func:`flexph.connect` with hinges and a slider.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.integrate import solve_ivp

import rigid
from flexph import GROUND, Mechanism, Solution, Trajectory, connect, force, hinge, integrate, slider, torque
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import converges, vanishes

CRANK, ROD = 0.15, 0.4  # ℓ₁, ℓ₂ [m]
INERTIA_A = 0.01  # of the crank about A [kg m²]
MASS, CENTRE, INERTIA_B = 0.8, 0.1, 0.03  # of rod and slider: m₂ [kg], r₂ from B [m], about B [kg m²]
SPEED = 2.0 * math.pi  # of the crank at the start [rad/s]
ANGLE = 0.5 * math.pi  # of the crank at the start [rad]
DURATION = 10.0  # [s]
PIN = "crank.C = rod.C"


@dataclass(frozen=True)
class Result:
    """Three runs of the slider-crank with the amplitudes of torque [N m] and load [N].

    In ``coupled`` the ports are coupled by positions, in ``loose`` by velocities only; ``hinged`` is of bodies and
    joints.
    """

    coupled: Trajectory
    loose: Trajectory
    hinged: Solution
    torque: float
    load: float


def crank() -> rigid.MultibodySystem:
    """System of the crank with the equations φ̇₁ = ω₁, I_{1,A} ω̇₁ = M_ext + B_Cᵀ F_C."""
    return rigid.pivoted_body(INERTIA_A, ports={"motor": rigid.Torque(), "C": (CRANK, 0.0)})


def rod() -> rigid.MultibodySystem:
    """System of the rod with its slider: ζ = (r_B, φ₂), and ϖ = (v₂, ω₂) in body axes at B.

    B is guided on the x axis, with a force along it as a port.
    """
    return rigid.free_body(
        MASS,
        inertia=INERTIA_B,
        about=(0.0, 0.0),
        centre=(CENTRE, 0.0),
        ports={"C": (ROD, 0.0), "slider": rigid.Force((0.0, 0.0), along=(1.0, 0.0))},
        constraints={"bearing": rigid.OnLine((0.0, 0.0), along=(1.0, 0.0))},
    )


def slider_crank(*, places: bool = True) -> rigid.MultibodySystem:
    """System of crank and rod coupled at C, by positions or, without ``places``, by velocities only."""
    parts = {"crank": crank(), "rod": rod()}
    if not places:
        parts = {name: without_place(part) for name, part in parts.items()}
    return rigid.interconnect(parts, [("crank.C", "rod.C")])


def without_place(system: rigid.MultibodySystem) -> rigid.MultibodySystem:
    """Copy of a system whose port C has a matrix but no position, so that its coupling is one of velocities."""
    return replace(system, ports={**system.ports, "C": rigid.ExternalPort(system.ports["C"].matrix)})


def mechanism() -> Mechanism:
    """Mechanism of the slider-crank, made of bodies and joints."""
    inertia = INERTIA_B - MASS * CENTRE**2
    bodies = {
        "crank": rigid.body(1.0, inertia=INERTIA_A, ports={"A": (0.0, 0.0), "C": (CRANK, 0.0)}),
        "rod": rigid.body(MASS, inertia=inertia, centre=(CENTRE, 0.0), ports={"B": (0.0, 0.0), "C": (ROD, 0.0)}),
    }
    return connect(
        bodies,
        [
            hinge("crank.A", GROUND.at(0.0, 0.0)),
            hinge("crank.C", "rod.C"),
            slider("rod.B", GROUND.at(0.0, 0.0), turning=True),
            torque("crank.A", name="motor"),
            force("rod.B", name="load"),
        ],
    )


class Freedom:
    """The linkage as functions of the crank angle φ: x_B, φ₂ and their first two derivatives, I and I'.

    Derivatives are with respect to φ.
    """

    def __init__(self, phi: Any) -> None:
        s, c = np.sin(phi), np.cos(phi)
        self.phi2 = math.pi - np.arcsin(CRANK / ROD * s)
        s2, c2 = np.sin(self.phi2), np.cos(self.phi2)
        self.x = CRANK * c - ROD * c2
        self.turn = CRANK * c / (ROD * c2)  # φ₂' of ℓ₁ sin φ = ℓ₂ sin φ₂
        bend = (-CRANK * s + ROD * s2 * self.turn**2) / (ROD * c2)
        self.shift = -CRANK * s + ROD * s2 * self.turn  # x_B'
        curve = -CRANK * c + ROD * (c2 * self.turn**2 + s2 * bend)
        cross, lever = MASS * CENTRE * s2, MASS * CENTRE * c2 * self.turn
        self.inertia = (
            INERTIA_A + MASS * self.shift**2 - 2.0 * cross * self.shift * self.turn + INERTIA_B * self.turn**2
        )
        self.slope = 2.0 * MASS * self.shift * curve - 2.0 * lever * self.shift * self.turn
        self.slope += 2.0 * (INERTIA_B * self.turn * bend - cross * (curve * self.turn + self.shift * bend))


def loads(torque: float, load: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Torque M_ext [N m] on the crank and force F_ext [N] on the slider as functions of time, with given amplitudes."""
    return lambda t: torque * math.cos(3.0 * t), lambda t: load * math.cos(5.0 * t)


def of_one_freedom(times: Array, torque: float, load: float) -> Array:
    """Reference motion (k, 4) at ascending times, by a Runge-Kutta method of order 8 with the tolerance 1e-12.

    Its columns are the angle φ of the crank, its spin φ̇, the angle φ₂ of the rod and the position x_B of the slider.
    """
    motor, push = loads(torque, load)

    def rates(t: float, y: Array) -> list[float]:
        at = Freedom(y[0])
        return [y[1], (motor(t) + push(t) * at.shift - 0.5 * at.slope * y[1] ** 2) / at.inertia]

    motion = solve_ivp(rates, (0.0, times[-1]), [ANGLE, SPEED], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    at = Freedom(motion.y[0])
    return np.column_stack([*motion.y, at.phi2, at.x])


def solve(times: Array, torque: float, load: float, *, places: bool = True) -> Trajectory:
    """Run of both systems, coupled at C by positions or velocities, by the discrete gradient pair.

    Without ``places`` only velocities are coupled.
    """
    system, at = slider_crank(places=places), Freedom(ANGLE)
    motor, push = loads(torque, load)
    inputs = {"crank.motor": lambda t: [motor(t)], "rod.slider": lambda t: [push(t)]}
    # in body axes of the rod: the velocity of B rotated by −φ₂
    v = at.shift * SPEED * np.array([math.cos(at.phi2), -math.sin(at.phi2)])
    start = system.state([ANGLE, at.x, 0.0, at.phi2], [SPEED, *v, at.turn * SPEED], inputs=inputs)
    return integrate(system.phdae(), start, times, inputs=inputs)


def solve_hinged(times: Array, torque: float, load: float) -> Solution:
    """Run of the slider-crank of bodies and joints by the exact scheme."""
    hinged, at = mechanism(), Freedom(ANGLE)
    motor, push = loads(torque, load)
    pose = hinged.assemble({"crank": (0.0, 0.0, ANGLE)}, guess={"rod": (at.x, 0.0, at.phi2)})
    state = hinged.consistent_state(pose, velocities={"crank": SPEED})
    inputs = {"motor": lambda t: [motor(t)], "load": lambda t: [push(t), 0.0]}
    return integrate(hinged, state, times, inputs=inputs)


def run(
    *,
    torque: Annotated[float, Option("amplitude of M_ext = M cos(3t) on the crank", "N m")] = 0.06,
    load: Annotated[float, Option("amplitude of F_ext = F cos(5t) on the slider", "N")] = 0.5,
    step: Annotated[float, Option("length of a time step, which divides 10 s", "s")] = 4e-3,
) -> Result:
    """Slider-crank of two systems coupled at their ports: exact or drifting pin, against bodies with joints."""
    times = mesh(step)
    given = check.number("torque", torque), check.number("load", load)
    return Result(solve(times, *given), solve(times, *given, places=False), solve_hinged(times, *given), torque, load)


def mesh(step: float, duration: float = DURATION) -> Array:
    """Times of equal steps [s]; raise ValueError unless ``step`` divides the duration."""
    steps = max(1, round(duration / check.positive("step", step, "s")))
    if abs(steps * step - duration) > 1e-9 * duration:  # decimal steps are known to round-off
        raise ValueError(f"step must divide {duration:g} s, got {step:g} s: the nearest is {duration / steps:.12g} s")
    return np.linspace(0.0, duration, steps + 1)


def motion(run: Trajectory) -> Array:
    """Angle φ, rate φ̇, angle φ₂ and position x_B (k, 4) of a run at the saved times, as in :func:`of_one_freedom`."""
    phi, x, _, phi2 = run["positions"].T
    return np.column_stack([phi, run["crank.spin"], phi2, x])


def gap(run: Trajectory) -> Array:
    """Distance (k,) [m] between the two coupled points C of crank and rod at the saved times."""
    phi, x, y, phi2 = run["positions"].T
    return np.hypot(CRANK * np.cos(phi) - x - ROD * np.cos(phi2), CRANK * np.sin(phi) - y - ROD * np.sin(phi2))


def pin_force(run: Trajectory) -> Array:
    """Force on the crank in its pin C at all times except the first and last (k − 1, 2) [N].

    Multipliers belong to midpoints of steps and alternate about their mean; neighbours are averaged.
    """
    mu = run[f"multipliers of {PIN}"]
    return -0.5 * (mu[1:-1] + mu[2:])


def energy_residual(trajectory: Trajectory | Solution) -> float:
    """Largest |ΔH − work| of any step and of the whole run, divided by the largest energy."""
    return float(max(trajectory.ledger.largest_residual, trajectory.energy_drift()))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of motion, pin and energy; pictures; the runs.

    Return the summary numbers.
    """
    coupled, loose, hinged = result.coupled, result.loose, result.hinged
    coupled.save(folder / "coupled.h5")  # first: whatever fails below, the run is kept
    hinged.save(folder / "hinged.h5")
    exact = of_one_freedom(coupled.times, result.torque, result.load)
    moved = motion(coupled)
    columns = dict(zip(("phi_rad", "omega_rad_s", "phi2_rad", "x_B_m"), moved.T, strict=True))
    columns |= {"phi_error_rad": moved[:, 0] - exact[:, 0], "x_B_error_m": moved[:, 3] - exact[:, 3]}
    columns |= {"gap_m": gap(coupled), "gap_velocities_only_m": gap(loose), "bearing_m": coupled["rod.position"][:, 1]}
    write_table(folder / "motion.csv", {"t_s": coupled.times, **columns})
    force_at = dict(zip(("x_N", "y_N"), pin_force(coupled).T, strict=True))
    write_table(folder / "pin.csv", {"t_s": coupled.times[1:-1], **force_at})
    energy = {"energy_J": coupled.ledger.total_energy[1:], "residual_J": coupled.ledger.residual}
    works = {f"work of {name} [J]": work for name, work in coupled.ledger.work.items()}
    write_table(folder / "balance.csv", {"t_s": coupled.times[1:], **energy, **works})
    draw_motion(result, exact, folder / "motion.png")
    draw_pin(result, folder / "pin.png")
    hinged_x = hinged.position("rod.B")[:, 0]
    return {
        "gap_max_m": gap(coupled).max(),
        "gap_velocities_only_max_m": gap(loose).max(),
        "bearing_max_m": np.abs(coupled["rod.position"][:, 1]).max(),
        "energy_residual_max_rel": energy_residual(coupled),
        "energy_residual_velocities_only_max_rel": energy_residual(loose),
        "energy_residual_hinged_max_rel": energy_residual(hinged),
        "phi_error_max_rad": np.abs(moved - exact)[:, 0].max(),
        "x_B_error_max_m": np.abs(moved - exact)[:, 3].max(),
        "x_B_error_hinged_max_m": np.abs(hinged_x - exact[:, 3]).max(),
        "x_B_from_hinged_max_m": np.abs(moved[:, 3] - hinged_x).max(),
        "turns": (moved[-1, 0] - moved[0, 0]) / (2.0 * math.pi),
        "pin_force_max_N": np.linalg.norm(pin_force(coupled), axis=1).max(),
    }


def draw_motion(result: Result, exact: Array, path: Path, frames: int = 6) -> None:
    """Draw the linkage over one turn, crank speed, slider position, and the errors of both formulations."""
    figure = new_figure(10.0, 7.5)
    grid = figure.add_gridspec(4, frames, height_ratios=(2, 3, 3, 3))
    run, times, moved = result.coupled, result.coupled.times, motion(result.coupled)
    turning = np.flatnonzero(moved[:, 0] - moved[0, 0] >= 2.0 * math.pi)
    last = int(turning[0]) if turning.size else len(times) - 1
    for column, k in enumerate(np.linspace(0, last, frames, endpoint=False).round().astype(int)):
        axes = figure.add_subplot(grid[0, column])
        phi, x, y, phi2 = run["positions"][k]
        pin = CRANK * np.array([math.cos(phi), math.sin(phi)])
        axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
        axes.plot([0.0, pin[0]], [0.0, pin[1]], color="C0", linewidth=3.0)
        axes.plot([x, x + ROD * math.cos(phi2)], [y, y + ROD * math.sin(phi2)], color="C1", linewidth=3.0)
        axes.plot(*pin, "o", color="0.3", markersize=4)
        axes.plot(x, y, "s", color="C1", markersize=8)
        axes.plot(0.0, 0.0, "k^", markersize=6)
        axes.set(xlim=(-0.2, 0.6), ylim=(-0.22, 0.22), xticks=(0.0, 0.4), aspect="equal")
        axes.set_title(f"t = {times[k]:.2f} s", fontsize="small")
        axes.tick_params(labelleft=column == 0, labelsize="small")
    figure.axes[0].set(xlabel="x [m]", ylabel="y [m]")
    speed, place, error = (figure.add_subplot(grid[row, :]) for row in (1, 2, 3))
    speed.plot(times, exact[:, 1], color="0.75", linewidth=4.0, label="one freedom, solve_ivp")
    speed.plot(times, moved[:, 1], color="C0", linewidth=1.0, label="coupled systems")
    speed.set_ylabel("speed of the\ncrank [rad/s]")
    legend_above(speed, 2)
    place.plot(times, exact[:, 3], color="0.75", linewidth=4.0)
    place.plot(times, moved[:, 3], color="C1", linewidth=1.0)
    place.set_ylabel("slider [m]")
    hinged = result.hinged.position("rod.B")[:, 0]
    error.plot(times, 1e3 * (moved[:, 3] - exact[:, 3]), color="C1", linewidth=1.0, label="coupled systems")
    error.plot(times, 1e3 * (hinged - exact[:, 3]), color="C2", linewidth=1.0, label="bodies with joints")
    error.set(xlabel="t [s]", ylabel="error of the\nslider [mm]")
    error.legend(loc="lower left", fontsize="small", ncols=2)
    for axes in (speed, place, error):
        axes.set_xlim(times[0], times[-1])
        axes.grid(alpha=0.3)
        axes.tick_params(labelbottom=axes is error)
    figure.savefig(path)


def draw_pin(result: Result, path: Path) -> None:
    """Draw the gap in the pin with positions or only velocities coupled, the energy balance and the pin force."""
    figure = new_figure(9.0, 7.5)
    apart, energy, pin = figure.subplots(3, 1, sharex=True)
    times, least = result.coupled.times, np.finfo(float).eps / 16.0
    for run, color, label in (
        (result.loose, "C3", "velocities coupled"),
        (result.coupled, "C0", "places coupled too"),
    ):
        apart.semilogy(times, np.maximum(gap(run), least), color=color, linewidth=0.8, label=label)
        residual = np.maximum(run.ledger.residual / run.ledger.scale, least)
        energy.semilogy(times[1:], residual, ".", markersize=2, color=color, label=label)
    apart.axhline(1e-11, color="0.5", linestyle=":", label="required")
    apart.set_ylabel("gap at C [m]")
    legend_above(apart, 3)
    energy.set(ylabel="|ΔH − work| / H", ylim=(0.5 * least, 1e-12))
    hinge_force = result.hinged.reaction(f"hinge {PIN.replace(' = ', '–')}")
    for k, axis in enumerate("xy"):
        pin.plot(hinge_force.times, hinge_force.force[:, k], color=f"C{k + 1}", linewidth=3.0, alpha=0.4)
        pin.plot(times[1:-1], pin_force(result.coupled)[:, k], color=f"C{k + 1}", linewidth=0.9, label=f"along {axis}")
    pin.plot([], [], color="0.6", linewidth=3.0, label="bodies with joints")
    pin.set(xlabel="t [s]", ylabel="force on the crank [N]", xlim=(times[0], times[-1]))
    legend_above(pin, 3)
    for axes in figure.axes:
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: drift of the pin, balance, and motion over 10 s for both couplings and for the mechanism of joints.

    The motion of the system coupled by positions is compared with the equation of motion in φ.
    """
    results = {step: run(step=step) for step in (8e-3, 4e-3)}
    for step, result in results.items():
        at = f"h = {step:g} s"
        drift = float(max(gap(result.coupled).max(), np.abs(result.coupled["rod.position"][:, 1]).max()))
        yield vanishes(f"drift of pin and bearing [m], {at}", drift, 1e-11)
        for name, trajectory in (("coupled", result.coupled), ("velocities", result.loose), ("hinged", result.hinged)):
            yield vanishes(f"energy − work, {name}, {at}", energy_residual(trajectory), 1e-12)
    coarse, fine = results.values()
    exact = of_one_freedom(coarse.coupled.times, coarse.torque, coarse.load)
    errors = [np.abs(motion(r.coupled)[::every] - exact).max(axis=0) for r, every in ((coarse, 1), (fine, 2))]
    for k, (name, bound) in enumerate((("φ [rad]", 3e-3), ("φ̇ [rad/s]", 3e-2), ("φ₂ [rad]", 1e-3), ("x_B [m]", 3e-4))):
        source = "one freedom"
        yield vanishes(f"error of {name}, h = 4 ms", errors[1][k], bound, source=source, kind="independent code")
        order = math.log2(errors[0][k] / errors[1][k])
        yield converges(f"order of {name}", order, 0.1)
    apart = [np.abs(motion(r.coupled)[:, 3] - r.hinged.position("rod.B")[:, 0]).max() for r in (coarse, fine)]
    yield converges("order of the distance of both routes", math.log2(apart[0] / apart[1]), 0.1)
    drifts = [float(gap(r.loose).max()) for r in (coarse, fine)]
    yield converges("order of the drift of velocities only", math.log2(drifts[0] / drifts[1]), 0.1)
    yield Check(
        "work of the force is that along x_B [J]",
        "∫ F dx",
        work_along(fine),
        done(fine),
        kind="theorem",
        tolerance=1e-3,
    )


def work_along(result: Result) -> float:
    """Work ∫ F_ext dx_B [J] along the reference motion, by Simpson's rule at the saved times."""
    from scipy.integrate import simpson

    times = result.coupled.times
    exact = of_one_freedom(times, result.torque, result.load)
    power = np.array([loads(0.0, result.load)[1](t) for t in times]) * Freedom(exact[:, 0]).shift * exact[:, 1]
    return float(simpson(power, x=times))


def done(result: Result) -> float:
    """Work [J] of the force on the slider in the run coupled by positions, from its ledger."""
    return float(result.coupled.ledger.work["rod.slider"].sum())


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: slider_crank().phdae())
