"""Andrews' squeezing mechanism: seven rigid bodies in the plane, driven by a constant torque against a spring.

The crank K1 turns about the origin O and moves, through the rod K2, a common point of three bodies. These are attached
to fixed points: K3 to B directly, K4 through K5 to A, K6 through K7 to A. A spring joins K3 to the fixed point C. There
is no gravity; all bodies are at rest at the start. In 0.03 s the crank makes two and a half turns.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, sec. VII.7, with all data in SI units; the values at
0.03 s are those of the Test Set for IVP Solvers (problem ``andrews``, solved with a tolerance of 1e-14). The published
angles (β Θ γ Φ δ Ω ε) are in part relative; the bodies have the angles K1 β, K2 β + Θ, K3 γ, K4 Φ + δ, K5 δ, K6 Ω + ε,
K7 ε.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import rigid
from flexph import GROUND, PHDAE, Body, Mechanism, Solution, connect, hinge, integrate, spring_damper, torque
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import by_name
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import converges, near, vanishes
from .files import write_run

A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # fixed points [m]
D_, DA, E_, EA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092  # the published lengths d, da, e, ea, rr, ra [m]
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
STIFFNESS, FREE = 4530.0, 0.07785  # of the spring [N/m], [m]
TORQUE = 0.033  # on the crank [N m]
DURATION = 0.03  # [s]
HUNG = ("K3", "K4", "K6")  # on the common point, where K2 ends
ANGLES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
_ARMS = (0.455279819163070, 0.222668390165886, 0.487364979543843, -0.222668390165886, 1.23054744454982)
START = (-0.0617138900142764, 0.0, *_ARMS)  # angles at the start [rad]

Method = Literal["exact", "exact4"]


@dataclass(frozen=True)
class Result:
    """A run of the mechanism with its published angles (β Θ γ Φ δ Ω ε), (k, 7) [rad], and their rates, (k, 7) [rad/s].

    Angles are continuous, without jumps by full turns.
    """

    solution: Solution
    angles: Array
    rates: Array


def bodies() -> dict[str, Body]:
    """Bodies K1 to K7 by name, each with its origin at the hinge by which it hangs on ground or another body."""
    origin = (0.0, 0.0)
    beak = {"axle": origin, "common": (0.0, -SS), "eye": (SD, -SC)}
    return {
        "K1": rigid.body(0.04325, inertia=2.194e-6, centre=(RA, 0.0), ports={"axle": origin, "pin": (RR, 0.0)}),
        "K2": rigid.body(0.00365, inertia=4.410e-7, centre=(-DA, 0.0), ports={"pin": origin, "common": (-D_, 0.0)}),
        "K3": rigid.body(0.02373, inertia=5.255e-6, centre=(SB, -SA), ports=beak),
        "K4": rigid.body(0.00706, inertia=5.667e-7, centre=(0.0, EA - E_), ports={"pin": origin, "common": (0.0, -E_)}),
        "K5": rigid.body(0.07050, inertia=1.169e-5, centre=(TA, -TB), ports={"axle": origin, "pin": (ZT, 0.0)}),
        "K6": rigid.body(0.00706, inertia=5.667e-7, centre=(ZF - FA, 0.0), ports={"pin": origin, "common": (ZF, 0.0)}),
        "K7": rigid.body(0.05498, inertia=1.912e-5, centre=(UA, -UB), ports={"axle": origin, "pin": (0.0, -U)}),
    }


def squeezer() -> Mechanism:
    """Mechanism of seven bodies, ten hinges, a spring and a motor; three of the hinges are at the common point."""
    return connect(
        bodies(),
        [
            hinge("K1.axle", GROUND.at(0.0, 0.0)),
            hinge("K3.axle", GROUND.at(*B)),
            *(hinge(f"{body}.axle", GROUND.at(*A)) for body in ("K5", "K7")),
            *(hinge(*pins) for pins in (("K1.pin", "K2.pin"), ("K5.pin", "K4.pin"), ("K7.pin", "K6.pin"))),
            *(hinge(f"{body}.common", "K2.common") for body in HUNG),
            spring_damper("K3.eye", GROUND.at(*C), stiffness=STIFFNESS, length=FREE, name="spring"),
            torque("K1.axle", name="motor"),
        ],
    )


def placements() -> dict[str, tuple[float, float, float]]:
    """Origin [m] and angle [rad] of each body by name, at the published start."""
    beta, theta, gamma, phi, delta, omega, epsilon = START
    on_k5 = A[0] + ZT * math.cos(delta), A[1] + ZT * math.sin(delta)
    on_k7 = A[0] + U * math.sin(epsilon), A[1] - U * math.cos(epsilon)
    fixed = {"K1": (0.0, 0.0, beta), "K3": (*B, gamma), "K5": (*A, delta), "K7": (*A, epsilon)}
    crank_pin = RR * math.cos(beta), RR * math.sin(beta)
    return fixed | {"K2": (*crank_pin, beta + theta), "K4": (*on_k5, phi + delta), "K6": (*on_k7, omega + epsilon)}


def solve(steps: int, method: Method = "exact", duration: float = DURATION) -> Result:
    """Run of the mechanism in ``steps`` equal steps from rest at the published crank angle.

    The closure of the loops determines all other angles.
    """
    mechanism, guess = squeezer(), placements()
    start = mechanism.consistent_state(mechanism.assemble({"K1": guess.pop("K1")}, guess=guess))
    times = np.linspace(0.0, duration, check.count("steps", steps) + 1)
    solution = integrate(mechanism, start, times, inputs={"motor": [TORQUE]}, method=by_name(method))
    axes = [solution.rotations(name)[:, :, 0] for name in mechanism.bodies]
    angles = np.unwrap([np.arctan2(axis[:, 1], axis[:, 0]) for axis in axes]).T
    rates = np.column_stack([solution.spin(name)[:, 0] for name in mechanism.bodies])
    return Result(solution, relative(angles), relative(rates))


def relative(absolute: Array) -> Array:
    """Published angles (β Θ γ Φ δ Ω ε), or their rates, from those of the bodies K1 to K7, (k, 7) → (k, 7).

    Θ, Φ and Ω are relative: of K2 on K1, of K4 on K5 and of K6 on K7.
    """
    angles = absolute.copy()
    for arm, base in ((1, 0), (3, 4), (5, 6)):  # K2 on K1, K4 on K5, K6 on K7
        angles[:, arm] -= absolute[:, base]
    return angles


def run(
    *,
    steps: Annotated[int, Option("time steps over 0.03 s")] = 6000,
    method: Annotated[Method, Option("scheme of second or of fourth order")] = "exact",
) -> Result:
    """Andrews' squeezing mechanism: angles against published values, joint forces and energy ledger."""
    return solve(steps, method)


def common_forces(solution: Solution) -> Array:
    """Forces of the hinges at the common point on K3, K4 and K6 in world axes, (k, 3, 2) [N].

    They are means over the steps, at the times ``multiplier_times`` of the solution.
    """
    return np.stack([solution.reaction(f"hinge {body}.common–K2.common").force for body in HUNG], axis=1)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of the angles and forces, plots, the moving bodies, and the run itself.

    Return the summary numbers.
    """
    solution, ledger = result.solution, result.solution.ledger
    write_run(solution, folder)
    columns = {f"{name}_rad": result.angles[:, k] for k, name in enumerate(ANGLES)}
    columns |= {f"{name}_rad_s": result.rates[:, k] for k, name in enumerate(ANGLES)}
    write_table(folder / "angles.csv", {"t_s": solution.times, **columns})
    forces = common_forces(solution)
    columns = {f"{b}_{'xy'[k]}_N": forces[:, j, k] for j, b in enumerate(HUNG) for k in range(2)}
    write_table(folder / "forces.csv", {"t_s": solution.multiplier_times, **columns})
    draw_motion(result, folder / "motion.png")
    draw_angles(result, forces, folder / "angles.png")
    return {
        "angles_end_rad": dict(zip(ANGLES, result.angles[-1], strict=True)),
        "angles_error_max_rad": np.abs(result.angles[-1] - ANGLES_END).max(),
        "energy_residual_max_rel": max(solution.energy_drift(), ledger.largest_residual),
        "joint_drift_max_m": ledger.position_residual.max(),
        "step_size_s": solution.times[1] - solution.times[0],
        "newton_iterations_mean": ledger.iterations.mean(),
    }


def draw_motion(result: Result, path: Path, frames: int = 4) -> None:
    """Draw the bodies at a few instants of the last turn, as lines from their suspension points to other ports."""
    figure = new_figure(11.0, 3.6)
    solution, beta = result.solution, result.angles[:, 0]
    for j, axes in enumerate(figure.subplots(1, frames, sharey=True)):
        k = int(np.argmin(np.abs(beta - (beta[-1] - 2.0 * math.pi * (1.0 - j / frames)))))
        for color, (name, body) in enumerate(solution.mechanism.bodies.items()):
            root, *ends = (solution.position(f"{name}.{port}")[k] for port in body.ports)
            for end in ends:
                axes.plot(*np.array([root, end]).T, color=f"C{color}", linewidth=2.5)
        spring = np.array([solution.position("K3.eye")[k], C])
        axes.plot(*spring.T, "--", color="0.6", linewidth=1.2)
        axes.plot(*np.array([(0.0, 0.0), A, B, C]).T, "k^", markersize=5)
        axes.set(aspect="equal", xlim=(-0.08, 0.03), xticks=(-0.06, -0.03, 0.0, 0.03), xlabel="x [m]")
        axes.set_title(f"t = {1e3 * solution.times[k]:.2f} ms")
        axes.grid(alpha=0.3)
    beside = (("O", (0.0, 0.0), (5, -11)), ("A", A, (-6, -12)), ("B", B, (-11, 3)), ("C", C, (4, -11)))  # of the bars
    for label, point, offset in beside:
        figure.axes[0].annotate(label, point, xytext=offset, textcoords="offset points")
    figure.axes[0].set_ylabel("y [m]")
    figure.savefig(path)


def draw_angles(result: Result, forces: Array, path: Path) -> None:
    """Draw the angles with the published end values, and the forces of the common point."""
    figure = new_figure(8.0, 8.0)
    crank, others, force = figure.subplots(3, 1, sharex=True, height_ratios=(2, 3, 2))
    times = 1e3 * result.solution.times
    for k, name in enumerate(ANGLES):
        axes = crank if k < 2 else others
        axes.plot(times, result.angles[:, k], linewidth=1.2, color=f"C{k}", label=rf"$\{name}$")
        axes.plot(times[-1], ANGLES_END[k], ".", color=f"C{k}", markersize=9, clip_on=False)
    for k, body in enumerate(HUNG):
        size = np.linalg.norm(forces[:, k], axis=1)
        force.plot(1e3 * result.solution.multiplier_times, size, linewidth=1.0, label=f"common point on {body}")
    force.set(xlabel="t [ms]", ylabel="force [N]", xlim=(times[0], times[-1]))
    crank.set_ylabel("angle [rad]")
    others.set_ylabel("angle [rad]")
    others.plot([], [], "k.", markersize=9, label="published")
    for axes in (crank, others, force):
        legend_above(axes, 6)
        axes.grid(alpha=0.3)
    figure.savefig(path)


_TURNS, _SWINGS = (15.81077119629904, -15.75637105984298), (0.04082224013073101, -0.5347301163226948)
ANGLES_END = np.array([*_TURNS, *_SWINGS, 0.5244099658805304, 0.5347301163226948, 1.048080741042263])
"""Published angles at 0.03 s [rad]."""

_TURNS, _SWINGS = (1139.920302151208, -1424.379294994111), (11.03291221937134, 19.29337464421385)
RATES_END = np.array([*_TURNS, *_SWINGS, 0.5735699284790808, -19.29337464421385, 0.3231791658026955])
"""Published rates at 0.03 s [rad/s]."""

_K3, _K4 = (199.1753333731910, -29.75531228015052), (23.06654120098399, 31.45271365475927)
FORCES_END = np.array([_K3, _K4, (22.64249232082739, 11.61740700019673)])
"""Published multipliers at 0.03 s: the forces of the common point on K3, K4 and K6 [N]."""


def checks() -> Iterable[Check]:
    """Checks: angles, rates and forces at the end against published values, both orders of convergence, energy, joints.

    ``exact`` takes 6000 steps, ``exact4`` 600.
    """
    second, fourth = [solve(steps) for steps in (3000, 6000)], [solve(steps, "exact4") for steps in (300, 600)]
    fine, source = second[-1], "Test Set for IVP Solvers"
    for label, names, published, computed, bound in (
        ("{} at 0.03 s [rad], h = 5 µs", ANGLES, ANGLES_END, fine.angles[-1], 1e-4),
        ("{} at 0.03 s [rad], exact4, h = 50 µs", ANGLES, ANGLES_END, fourth[-1].angles[-1], 1e-6),
        ("rate of {} at 0.03 s [rad/s], h = 5 µs", ANGLES, RATES_END, fine.rates[-1], 0.02),
    ):  # rates: the crank is late by 1.6e-8 s, which makes 0.009 rad/s
        for name, there, here in zip(names, published, computed, strict=True):
            yield near(label.format(name), there, here, bound, source=source, kind="published")
    for value, runs in ((2.0, second), (4.0, fourth)):
        yield converges("order of the angles", order(*runs), 0.05, theory=value)
    for bar, there, here in zip(("K3", "K4", "K6"), FORCES_END, end_forces(fine.solution), strict=True):
        for axis, wanted, force in zip("xy", there, here, strict=True):
            name = f"force {axis} of the common point on {bar} at 0.03 s [N]"
            yield near(name, wanted, force, 5e-3, source=source, kind="published")
    drift, gap = fine.solution.energy_drift(), float(fine.solution.ledger.position_residual.max())
    yield vanishes("relative energy drift", drift, 1e-12)
    yield vanishes("joint drift [m]", gap, 1e-12)


def end_forces(solution: Solution) -> Array:
    """Forces of the hinges at the common point on K3, K4 and K6 at the end of the run, (3, 2) [N].

    They are extrapolated by a parabola through the last three steps.
    """
    return np.tensordot([0.375, -1.25, 1.875], common_forces(solution)[-3:], axes=1)


def order(coarse: Result, fine: Result) -> float:
    """Order of convergence of the largest error of the end angles, from a run and a run with half the step."""
    errors = [float(np.abs(result.angles[-1] - ANGLES_END).max()) for result in (coarse, fine)]
    return math.log2(errors[0] / errors[1])


def analysed() -> tuple[PHDAE, dict[str, list[float]]]:
    """Nonlinear pHDAE of the mechanism at its start, and the values of its inputs, for ``flexph analyze``."""
    mechanism, guess = squeezer(), placements()
    state = mechanism.consistent_state(mechanism.assemble({"K1": guess.pop("K1")}, guess=guess))
    inputs = {"motor": [TORQUE]}
    return mechanism.phdae(mechanism.consistent_multipliers(state, inputs=inputs)), inputs


case = Case(run, write, checks, needs=("matplotlib",), system=analysed)
