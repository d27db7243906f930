"""The double four-bar mechanism of the IFToMM library of multibody benchmark problems, through its singular poses.

Three uniform rods (1 m, 1 kg) stand upright on ground pivots at x = 0, 1, 2 m; two such bars join their tops, which
move at 1 m/s along x at the start; g = 9.81 m/s² downwards, 10 s. Rods stay parallel and bars level: with the angle θ
of the rods from upright

    3 θ̈ = 3.5 g sin θ
and the first top moves with (cos θ, −sin θ) θ̇. The mechanism turns over and over. Ten times in 10 s all links are
aligned. There the rank of its 14 constraints falls to 12, and other branches of motion begin, on which bars turn.
No special measures are taken: the steps pass the pose. A step that ends at the angle δ from it amplifies the
round-off ε of positions to ε/(δh) in velocities along the other branches: bars turn by 1e-7 rad/s at h = 1e-3 s and
by 1e-4 rad/s at 1e-4 s. Below 3e-4 s this exceeds the error of the scheme; the remedy is a longer step or
``exact4``. Energy is conserved at every step: near singular poses the convergence of the iteration is judged by the
balance, not by the velocities (flexph.integration.loops.steps.newton).

M. González, D. Dopico, U. Lugrís, J. Cuadrado, A benchmarking system for MBS simulation software, Multibody System
Dynamics 16 (2006), problem A02; E. Bayo, A. Avello, Singularity-free augmented Lagrangian algorithms for constrained
multibody dynamics, Nonlinear Dynamics 5 (1994).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.integrate import solve_ivp

import rigid
from flexph import GROUND, PHDAE, Mechanism, Solution, State, connect, hinge, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import by_name
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import converges, near, vanishes
from .files import write_run

LENGTH, MASS, GRAVITY = 1.0, 1.0, 9.81  # of each link [m], [kg]; [m/s²]
SPEED = 1.0  # of the tops at the start [m/s]
DURATION = 10.0  # [s]
PIN = "rod1.tip"  # the first moving pin

Method = Literal["exact", "exact4"]


@dataclass(frozen=True)
class Result:
    """A run of the mechanism, the motion of its first moving pin, and the spin of its bars.

    Position (k, 2) [m] and velocity (k, 2) [m/s] are those of the pin, ``bar_spin`` (k,) [rad/s] is the larger spin of
    the two bars in magnitude.
    """

    solution: Solution
    position: Array
    velocity: Array
    bar_spin: Array

    @property
    def energy_error(self) -> Array:
        """Error |H(t) − H(0)| of the energy, divided by the kinetic energy at the start, at the saved times (k,)."""
        energy, kinetic = self.solution.ledger.total_energy, self.solution.ledger.kind("kinetic")
        return np.asarray(np.abs(energy - energy[0]) / kinetic[0])


def double_four_bar() -> Mechanism:
    """Mechanism of three rods on ground pivots and two bars between their tops, with one degree of freedom.

    Its constraints are redundant at singular poses only.
    """
    link = rigid.bar(LENGTH, MASS)
    return connect(
        {"rod1": link, "rod2": link, "rod3": link, "bar1": link, "bar2": link},
        [
            *(hinge(f"rod{k + 1}.root", GROUND.at(k * LENGTH, 0.0)) for k in range(3)),
            hinge("rod1.tip", "bar1.root"),
            hinge("bar1.tip", "rod2.tip"),
            hinge("rod2.tip", "bar2.root"),
            hinge("bar2.tip", "rod3.tip"),
        ],
        gravity=(0.0, -GRAVITY),
    )


def start(mechanism: Mechanism) -> State:
    """Initial state: upright, with the tops of the rods moving along x.

    The constraints determine all velocities from the spin of the first rod.
    """
    links = {f"rod{k + 1}": (k * LENGTH, 0.0, 0.5 * math.pi) for k in range(3)}
    links |= {f"bar{k + 1}": (k * LENGTH, LENGTH, 0.0) for k in range(2)}
    pose = mechanism.assemble({"rod1": links.pop("rod1")}, guess=links)
    return mechanism.consistent_state(pose, velocities={"rod1": -SPEED / LENGTH})


def solve(step: float, method: Method = "exact", duration: float = DURATION) -> Result:
    """Run from the initial state with equal steps of the length ``step`` [s]."""
    mechanism = double_four_bar()
    times = np.linspace(0.0, duration, count(step, duration) + 1)
    solution = integrate(mechanism, start(mechanism), times, method=by_name(method))
    turning = np.max([np.abs(solution.spin(bar)[:, 0]) for bar in ("bar1", "bar2")], axis=0)
    return Result(solution, solution.position(PIN), solution.velocity(PIN), turning)


def count(step: float, duration: float = DURATION) -> int:
    """Number of steps of a run; raise ValueError unless ``step`` divides the duration."""
    steps = max(1, round(duration / check.positive("step", step, "s")))
    if abs(steps * step - duration) > 1e-9 * duration:  # decimal steps are known to round-off
        raise ValueError(f"step must divide {duration:g} s, got {step:g} s: the nearest is {duration / steps:.12g} s")
    return steps


def velocity_of_theory(times: Array) -> Array:
    """Velocity (k, 2) [m/s] of the first moving pin from the equation of motion of θ, by an adaptive integrator.

    ``times`` (k,) begin with zero and ascend.
    """
    motion = solve_ivp(
        lambda _, y: [y[1], 3.5 * GRAVITY / (3.0 * LENGTH) * math.sin(y[0])],
        (0.0, times[-1]),
        [0.0, SPEED / LENGTH],
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        t_eval=times,
    )
    angle, rate = motion.y
    return LENGTH * np.column_stack([np.cos(angle) * rate, -np.sin(angle) * rate])


def run(
    *,
    step: Annotated[float, Option("length of a time step, which divides 10 s", "s")] = 1e-3,
    method: Annotated[Method, Option("scheme of second or of fourth order")] = "exact",
) -> Result:
    """Double four-bar (IFToMM benchmark) through its singular poses: pin velocity, energy and joint drift."""
    return solve(step, method)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of the motion, plots, the moving links for mesh viewers, and the run itself.

    Return the summary numbers.
    """
    solution, ledger = result.solution, result.solution.ledger
    write_run(solution, folder)
    write_table(
        folder / "motion.csv",
        {
            "t_s": solution.times,
            "pin_x_m": result.position[:, 0],
            "pin_y_m": result.position[:, 1],
            "pin_x_m_s": result.velocity[:, 0],
            "pin_y_m_s": result.velocity[:, 1],
            "bar_spin_rad_s": result.bar_spin,
            "energy_error_rel": result.energy_error,
        },
    )
    draw_motion(result, folder / "motion.png")
    draw_singular(result, folder / "singular.png")
    return {
        "velocity_end": result.velocity[-1],
        "velocity_end_error_m_s": np.abs(result.velocity[-1] - np.array(VELOCITY)),
        "energy_drift_max": result.energy_error.max(),
        "drift_max_m": ledger.position_residual.max(),
        "bar_spin_max_rad_s": result.bar_spin.max(),
        "singular_passes": len(passes(result)),
        "step_size_s": solution.times[1] - solution.times[0],
        "newton_iterations_mean": ledger.iterations.mean(),
    }


def passes(result: Result) -> Array:
    """Times [s] at the ends of the steps in which the first moving pin crosses the line of the ground pivots."""
    height = result.position[:, 1]
    return np.asarray(result.solution.times[1:][height[:-1] * height[1:] <= 0.0])


def draw_motion(result: Result, path: Path, frames: int = 6) -> None:
    """Draw the mechanism in the first second, about half a turn, and the velocity of the first moving pin."""
    figure = new_figure(10.0, 5.5)
    grid = figure.add_gridspec(2, frames, height_ratios=(1, 2))
    solution = result.solution
    for column, time in enumerate(np.linspace(0.0, 1.0, frames)):
        k = int(np.argmin(np.abs(solution.times - time)))
        axes = figure.add_subplot(grid[0, column])
        for name in solution.mechanism.bodies:
            ends = np.array([solution.position(f"{name}.{end}")[k] for end in ("root", "tip")])
            axes.plot(*ends.T, ".-", color="C0" if name.startswith("rod") else "C1", linewidth=2.0)
        axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
        axes.set(xlim=(-0.4, 3.4), ylim=(-1.3, 1.3), aspect="equal", xlabel="x [m]")
        axes.set_title(f"t = {solution.times[k]:.3g} s", fontsize="small")
        axes.tick_params(labelleft=column == 0)
    figure.axes[0].set_ylabel("y [m]")
    velocity = figure.add_subplot(grid[1, :])
    fine = np.linspace(0.0, solution.times[-1], 1001)
    velocity.plot(fine, velocity_of_theory(fine), color="0.7", linewidth=4.0)
    for k, label in enumerate(("along x", "along y")):
        velocity.plot(solution.times, result.velocity[:, k], linewidth=1.2, label=label)
    velocity.plot([], [], color="0.7", linewidth=4.0, label="equation of motion")
    velocity.plot([DURATION] * 2, VELOCITY, "k.", clip_on=False, label="reference")
    velocity.set(xlabel="t [s]", ylabel="first moving pin [m/s]", xlim=(0.0, solution.times[-1]))
    legend_above(velocity, 4)
    velocity.grid(alpha=0.3)
    figure.savefig(path)


def draw_singular(result: Result, path: Path) -> None:
    """Draw the energy error and the largest spin of the bars, zero while they stay level; mark the singular poses."""
    figure = new_figure(8.0, 5.5)
    times, least = result.solution.times, np.finfo(float).eps
    energy, branch = figure.subplots(2, 1, sharex=True)
    energy.semilogy(times, np.maximum(result.energy_error, least), linewidth=0.8)
    energy.axhline(1e-9, color="0.5", linestyle=":", label="required")
    energy.set_ylabel("|ΔH| / kinetic energy at the start")
    branch.semilogy(times, np.maximum(result.bar_spin, least), linewidth=0.8, color="C1")
    branch.set_ylabel("largest spin of a bar [rad/s]")
    for axes in (energy, branch):
        for k, time in enumerate(passes(result)):
            axes.axvline(time, color="C3", alpha=0.4, linewidth=0.8, label=None if k else "singular pose")
        axes.grid(alpha=0.3)
    legend_above(energy, 2)
    branch.set(xlabel="t [s]", xlim=(times[0], times[-1]))
    figure.savefig(path)


VELOCITY = (1.4230514702, -0.4948688455)
"""Velocity of the first moving pin at 10 s [m/s]: the equation of motion of θ, integrated to these digits."""


def checks() -> Iterable[Check]:
    """Checks: velocity at the end and its order, energy at several step sizes, drift of joints, and ``exact4``."""
    runs = {step: solve(step) for step in (0.05, 0.02, 4e-3, 2e-3, 1e-3, 4e-4, 4e-5, 2e-5)}
    fourth = {step: solve(step, "exact4") for step in (0.02, 0.01)}
    source = "3 θ̈ = 3.5 g sin θ"
    for what, result, bound in (("h = 1 ms", runs[1e-3], 5e-5), ("exact4, 10 ms", fourth[0.01], 2e-6)):
        for axis, published, computed in zip("xy", VELOCITY, result.velocity[-1], strict=True):
            name = f"pin velocity {axis} at 10 s [m/s], {what}"
            yield near(name, published, computed, bound, source=source, kind="independent code")
    orders = {2.0: order(runs[2e-3], runs[1e-3]), 4.0: order(fourth[0.02], fourth[0.01])}
    for published, computed in orders.items():
        yield converges("order of the end velocity", computed, 0.05, theory=published)
    for step, result in runs.items():
        error = float(result.energy_error.max())
        yield vanishes(f"energy error, h = {step:g} s", error, 1e-9)
        drift = float(result.solution.ledger.position_residual.max())
        yield vanishes(f"joint drift [m], h = {step:g} s", drift, 1e-11)


def order(coarse: Result, fine: Result) -> float:
    """Order of convergence of the velocity of the pin at the end, from a run and a run with half the step."""
    errors = [float(np.linalg.norm(result.velocity[-1] - VELOCITY)) for result in (coarse, fine)]
    return math.log2(errors[0] / errors[1])


def analysed() -> PHDAE:
    """Equations of the mechanism at its start, for the analysis of this case."""
    mechanism = double_four_bar()
    return mechanism.phdae(mechanism.consistent_multipliers(start(mechanism)))


case = Case(run, write, checks, needs=("matplotlib",), system=analysed)
