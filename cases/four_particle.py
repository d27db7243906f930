"""Four particles, two springs, two rigid bars and a dashpot by discrete gradients ([dg] sec. 6.3).

P. L. Kinon, R. Morandin, P. Schulze, Discrete gradient methods for port-Hamiltonian differential-algebraic equations,
eq. (47)-(51) and table 1, after O. Gonzalez, Physica D 132 (1999).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from scipy.integrate import solve_ivp

from flexph import PHDAE, IntegrationError, Trajectory, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import by_name
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.systems import Derivatives, Invariants

from .checks import converges, vanishes
from .files import write_rows
from .times import equal_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MASSES = np.array([1.0, 3.0, 2.3, 1.7])  # [kg]
M = np.repeat(MASSES, 3)
K13, K24 = STIFFNESS = 50.0, 500.0  # [J/m⁴]
ALPHA = 0.5  # growth of the viscosity with distance [1/m²]
SPEED = 20.0 / 17.0  # of the fourth particle at the start [m/s]
START = np.zeros(26)
START[[3, 7, 9, 10]] = 1.0  # the corners of a square of 1 m, [dg] eq. (51)
START[23] = SPEED
PARTS = {"q": slice(0, 12), "v": slice(12, 24), "lam": slice(24, 26)}
BARS = ((0, 1), (2, 3))

METHODS = {"paper": "gonzalez", "invariant": "invariants"}
CONVERGENCE_END = 0.1  # t at which [dg] fig. 6 compares [s]
CONVERGENCE_STEPS = (5, 10, 20, 40, 80)
LONG_STEP, LONG_END = 0.25, 10.0  # of [dg] fig. 6, right [s]
WARM = 1000  # at most so many steps are timed

Gradient = Literal["paper", "invariant"]


@dataclass(frozen=True)
class Result:
    """The run and, beside it, the midpoint rule, both gradients without dissipation, long steps and refined ones."""

    run: Trajectory
    midpoint: Trajectory
    undamped: dict[str, Trajectory]  # by method
    long: Trajectory
    long_midpoint: Trajectory
    convergence: tuple[dict[str, Any], ...]
    steps_per_s: float
    gradient: str
    eta: float
    step: float


def four_particles(eta: float) -> PHDAE:
    """The system [dg] eq. (43) with the viscosity η₀ = ``eta``; the port ``push`` is a force on the fourth particle.

    Its invariants are the squared lengths of both springs and twice the kinetic energy. Its functions are within what
    numba compiles: where numba is installed, time stepping of this system is compiled.
    """
    dashpot = np.zeros((26, 26))
    dashpot[15:21, 15:21] = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(3))  # [dg] eq. (49)
    push = np.zeros((26, 3))
    push[21:24] = np.eye(3)

    def R(x: Array) -> Array:
        apart = x[6:9] - x[3:6]
        return (eta * (1.0 + ALPHA * (apart @ apart))) * dashpot

    def z(x: Array) -> Array:
        costate, forces = x.copy(), spring_forces(x)
        for i in range(12):
            costate[i] = forces[i]
        return costate

    return PHDAE(
        E=np.diag([*np.ones(12), *M, 0.0, 0.0]),
        J=interconnection(),
        R=R,
        B=push,
        z=z,
        H=lambda x: energy(invariants(x)),
        sample=START,
        ports={"push": slice(0, 3)},
        parts=PARTS,
        invariants=Invariants(invariants, invariants_jacobian, energy, energy_gradient),
        derivatives=Derivatives(costate=costate_slopes, structure=structure_slopes(eta)),
        compiled=True,
    )


def interconnection() -> Callable[[Array], Array]:
    """J(x) (26, 26): positions and velocities, and the bars."""
    skew = np.zeros((26, 26))
    skew[:12, 12:24], skew[12:24, :12] = np.eye(12), -np.eye(12)

    def J(x: Array) -> Array:
        matrix = skew.copy()
        for k in range(2):  # the bars: columns −Dgᵀ, rows Dg
            lam, i, j = 24 + k, 6 * k, 6 * k + 3
            for a in range(3):
                matrix[12 + i + a, lam] = matrix[lam, 12 + j + a] = x[j + a] - x[i + a]
                matrix[12 + j + a, lam] = matrix[lam, 12 + i + a] = x[i + a] - x[j + a]
        return matrix

    return J


def structure_slopes(eta: float) -> Callable[[Array, Array], Array]:
    """The derivatives of (J − R)w by the state (26, 26), w constant."""

    def structure(x: Array, w: Array) -> Array:
        slopes = np.zeros((26, 26))
        for k in range(2):  # −Dgᵀw and Dg w of each bar are linear in q
            lam, i, j = 24 + k, 6 * k, 6 * k + 3
            for a in range(3):
                slopes[12 + i + a, j + a] = slopes[12 + j + a, i + a] = w[lam]
                slopes[12 + i + a, i + a] = slopes[12 + j + a, j + a] = -w[lam]
                slopes[lam, j + a] = w[12 + j + a] - w[12 + i + a]
                slopes[lam, i + a] = w[12 + i + a] - w[12 + j + a]
        for a in range(3):
            for b in range(3):  # the viscosity grows with the distance
                drag = (2.0 * eta * ALPHA) * (w[18 + a] - w[15 + a]) * (x[6 + b] - x[3 + b])
                slopes[15 + a, 6 + b] += drag
                slopes[15 + a, 3 + b] -= drag
                slopes[18 + a, 6 + b] -= drag
                slopes[18 + a, 3 + b] += drag
        return slopes

    return structure


def springs(q: Array) -> tuple[Array, Array]:
    """q₃ − q₁ and q₄ − q₂ (3,) [m]."""
    return q[6:9] - q[0:3], q[9:12] - q[3:6]


def spring_forces(q: Array) -> Array:
    """∇V(q) (12,) [N]."""
    forces, (a, b) = np.empty(12), springs(q)
    first, second = 2.0 * K13 * (a @ a - 1.0), 2.0 * K24 * (b @ b - 1.0)
    for i in range(3):
        forces[6 + i], forces[9 + i] = first * a[i], second * b[i]
        forces[i], forces[3 + i] = -forces[6 + i], -forces[9 + i]
    return forces


def costate_slopes(x: Array) -> Array:
    """∂z/∂x (26, 26): the stiffness of the springs, 2k((d·d − 1)I + 2ddᵀ), and ones."""
    slopes, (first, second) = np.eye(26), springs(x)
    for i, k, d in ((0, K13, first), (3, K24, second)):
        force = 2.0 * k * (d @ d - 1.0)
        for a in range(3):
            for b in range(3):
                stiffness = 4.0 * k * d[a] * d[b] + (force if a == b else 0.0)
                slopes[i + a, i + b] = slopes[i + 6 + a, i + 6 + b] = stiffness
                slopes[i + a, i + 6 + b] = slopes[i + 6 + a, i + b] = -stiffness
    return slopes


def invariants(x: Array) -> Array:
    """π(x) (3,): the squared lengths of both springs [m²], twice the kinetic energy [J]."""
    (a, b), v = springs(x), x[12:24]
    return np.array([a @ a, b @ b, v @ (M * v)])


def invariants_jacobian(x: Array) -> Array:
    """Dπ(x) (3, 26)."""
    jacobian, (first, second) = np.zeros((3, 26)), springs(x)
    for a in range(3):
        jacobian[0, 6 + a], jacobian[1, 9 + a] = 2.0 * first[a], 2.0 * second[a]
        jacobian[0, a], jacobian[1, 3 + a] = -2.0 * first[a], -2.0 * second[a]
    for i in range(12):
        jacobian[2, 12 + i] = 2.0 * M[i] * x[12 + i]
    return jacobian


def energy(pi: Array) -> float:
    """H of the invariants [J], [dg] eq. (47)."""
    return 0.5 * (K13 * (pi[0] - 1.0) ** 2 + K24 * (pi[1] - 1.0) ** 2 + pi[2])


def energy_gradient(pi: Array) -> Array:
    """∂H/∂π (3,)."""
    return np.array([K13 * (pi[0] - 1.0), K24 * (pi[1] - 1.0), 0.5])


def constraints(q: Array) -> Array:
    """g(q) of both bars (k, 2) [m²] at configurations (k, 12), [dg] eq. (50)."""
    q = q.reshape(-1, 4, 3)
    return 0.5 * (np.stack([np.sum((q[:, j] - q[:, i]) ** 2, axis=1) for i, j in BARS], axis=1) - 1.0)


def constraint_jacobian(q: Array) -> Array:
    """Dg(q) (2, 12)."""
    jacobian, a, b = np.zeros((2, 12)), q[3:6] - q[0:3], q[9:12] - q[6:9]
    jacobian[0, 0:3], jacobian[0, 3:6], jacobian[1, 6:9], jacobian[1, 9:12] = -a, a, -b, b
    return jacobian


def constraint_rates(q: Array, v: Array) -> Array:
    """Dg(q) v of both bars (k, 2) [m²/s], [dg] eq. (40)."""
    q, v = q.reshape(-1, 4, 3), v.reshape(-1, 4, 3)
    return np.stack([np.sum((q[:, j] - q[:, i]) * (v[:, j] - v[:, i]), axis=1) for i, j in BARS], axis=1)


def momenta(run: Trajectory) -> tuple[Array, Array]:
    """Linear [kg m/s] and angular momentum [kg m²/s] at the saved times, (k + 1, 3) each."""
    q, v = run["q"].reshape(-1, 4, 3), run["v"].reshape(-1, 4, 3)
    return np.einsum("p,tpi->ti", MASSES, v), np.einsum("p,tpi->ti", MASSES, np.cross(q, v))


def drifts(run: Trajectory) -> tuple[float, float]:
    """Largest departures of both momenta from their start, in any component."""
    linear, angular = (float(np.abs(p - p[0]).max()) for p in momenta(run))
    return linear, angular


def solve(step: float, end: float, eta: float, method: str) -> Trajectory:
    """One run from the start of [dg] eq. (51)."""
    return integrate(four_particles(eta), START, equal_steps(step, end, filling=True), method=by_name(method))


def as_far_as_it_goes(step: float, end: float, eta: float, method: str) -> Trajectory:
    """The run, or its finished part where a step has no solution."""
    try:
        return solve(step, end, eta, method)
    except IntegrationError as error:
        return error.solution


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.01,
    end: Annotated[float, Option("end of the run", "s")] = 10.0,
    eta: Annotated[float, Option("viscosity η₀ of the dashpot", "N s/m")] = 1.0,
    gradient: Annotated[
        Gradient, Option("discrete gradient: Gonzalez' of H(q, v), or that through the invariants")
    ] = "paper",
) -> Result:
    """Four particles, springs, bars and a dashpot: energy, constraints and momenta by discrete gradients ([dg] 6.3)."""
    if not (math.isfinite(eta) and eta >= 0.0):
        raise ValueError(f"eta must not be negative, got {eta}")
    method = METHODS[gradient]
    main = solve(step, end, eta, method)
    clock = time.perf_counter()  # once more and warm
    warm = min(len(main.times) - 1, WARM)
    solve(step, warm * step, eta, method)
    clock = time.perf_counter() - clock
    return Result(
        run=main,
        midpoint=as_far_as_it_goes(step, end, eta, "midpoint"),
        undamped={m: main if (eta, method) == (0.0, m) else solve(step, end, 0.0, m) for m in METHODS.values()},
        long=as_far_as_it_goes(LONG_STEP, LONG_END, eta, method),
        long_midpoint=as_far_as_it_goes(LONG_STEP, LONG_END, eta, "midpoint"),
        convergence=tuple(converge(eta, (method, "midpoint"))),
        steps_per_s=warm / clock,
        gradient=gradient,
        eta=eta,
        step=step,
    )


def reference(eta: float, end: float = CONVERGENCE_END) -> Any:
    """t ↦ (q, v) (24,) by a Runge-Kutta method of order 8 on the equations with the multipliers eliminated."""
    system = four_particles(eta)

    def rate(_: float, y: Array) -> Array:
        force, g = _applied(system, y), constraint_jacobian(y[:12])
        return np.concatenate([y[12:], (force - g.T @ multipliers(system, y)) / M])

    return solve_ivp(rate, (0.0, end), START[:24], method="DOP853", rtol=1e-13, atol=1e-15, dense_output=True).sol


def multipliers(system: PHDAE, y: Array) -> Array:
    """λ that holds the bars at (q, v): ``Dg M⁻¹Dgᵀ λ = Dg M⁻¹(−∇V − R v) + d(Dg)/dt v`` (2,)."""
    g, moving = constraint_jacobian(y[:12]), constraint_jacobian(y[12:])  # Dg is linear in q
    return np.linalg.solve((g / M) @ g.T, (g / M) @ _applied(system, y) + moving @ y[12:])


def _applied(system: PHDAE, y: Array) -> Array:
    x = np.append(y, [0.0, 0.0])
    return -spring_forces(y[:12]) - (system.R(x) @ x)[12:24]


def converge(eta: float, methods: Iterable[str], counts: Iterable[int] = CONVERGENCE_STEPS) -> Iterable[dict[str, Any]]:
    """Relative errors of q₄, v₄ and λ₁ at t = 0.1 s as in [dg] fig. 6; λ also where it belongs, in mid-step."""
    exact, system = reference(eta), four_particles(eta)
    for method in methods:
        for count in counts:
            trajectory = solve(CONVERGENCE_END / count, CONVERGENCE_END, eta, method)
            at_end, at_middle = exact(CONVERGENCE_END), exact(trajectory.output_times[-1])
            yield {
                "method": method,
                "step_s": CONVERGENCE_END / count,
                "q4": _relative(trajectory["q"][-1, 9:], at_end[9:12]),
                "v4": _relative(trajectory["v"][-1, 9:], at_end[21:24]),
                "lam1_at_middle": _relative(trajectory["lam"][-1, :1], multipliers(system, at_middle)[:1]),
                "lam1_at_end": _relative(trajectory["lam"][-1, :1], multipliers(system, at_end)[:1]),
            }


def _relative(value: Array, exact: Array) -> float:
    return float(np.linalg.norm(value - exact) / np.linalg.norm(exact))


def orders(rows: Iterable[dict[str, Any]], method: str) -> dict[str, float]:
    """Slopes over the two finest of the refined steps."""
    *_, coarse, fine = [row for row in rows if row["method"] == method]
    ratio = math.log(coarse["step_s"] / fine["step_s"])
    names = ("q4", "v4", "lam1_at_middle", "lam1_at_end")
    return {name: math.log(coarse[name] / fine[name]) / ratio for name in names}


def figures(result: Result) -> dict[str, Any]:
    """Numbers of the run, and of those beside it."""
    trajectory, energy = result.run, result.run.balance.total_energy
    linear, angular = drifts(trajectory)
    free = result.undamped[trajectory.method]
    free_linear, free_angular = drifts(free)
    return {
        "H0": energy[0],
        "H_end": energy[-1],
        "q4_end": trajectory["q"][-1, 9:],
        "lambda_end": trajectory["lam"][-1],  # of the last step, in its middle
        "lambda_time": trajectory.output_times[-1],
        "balance_residual_max": trajectory.balance.residual.max(),
        "position_drift_max": np.abs(constraints(trajectory["q"])).max(),
        "velocity_residual_max": np.abs(constraint_rates(trajectory["q"], trajectory["v"])).max(),
        "energy_increment_max": np.diff(energy).max(),
        "linear_momentum_drift": linear,
        "angular_momentum_drift": angular,  # changed by the dashpot unless eta is 0
        "undamped_energy_drift": np.abs(free.balance.total_energy - SPEED).max(),
        "undamped_linear_momentum_drift": free_linear,
        "undamped_angular_momentum_drift": free_angular,
        "midpoint_balance_residual_max": result.midpoint.balance.residual.max(),
        "long_energy_increment_max": np.diff(result.long.balance.total_energy).max(),
        "long_midpoint_energy_increment_max": np.diff(result.long_midpoint.balance.total_energy).max(),
        "orders": orders(result.convergence, trajectory.method),
        "steps_per_s": result.steps_per_s,
        "newton_iterations_mean": trajectory.balance.iterations.mean(),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Tables and pictures in the manner of [dg] figs. 3-6."""
    trajectory = result.run
    gap, rate = constraints(trajectory["q"]), constraint_rates(trajectory["q"], trajectory["v"])
    at_ends = {f"q{k + 1}_{axis}_m": trajectory["q"][:, 3 * k + i] for k in range(4) for i, axis in enumerate("xyz")}
    bars = {f"{name}_{k + 1}": part[:, k] for name, part in (("g", gap), ("rate_of_g", rate)) for k in (0, 1)}
    write_table(
        folder / "states.csv", {"t_s": trajectory.times, "H_J": trajectory.balance.total_energy, **at_ends, **bars}
    )
    steps = {
        "t_middle_s": trajectory.output_times,
        "change_of_H_J": np.diff(trajectory.balance.total_energy),
        "dissipated_J": trajectory.balance.total_dissipation,
        "balance_residual_J": trajectory.balance.residual,
        "lambda_1_N_per_m": trajectory["lam"][1:, 0],
        "lambda_2_N_per_m": trajectory["lam"][1:, 1],
        "iterations": trajectory.balance.iterations,
    }
    write_table(folder / "steps.csv", steps)
    write_rows(folder / "convergence.csv", result.convergence)
    draw_energy(result, folder / "energy.png")
    draw_constraints(result, folder / "constraints.png")
    draw_undamped(result, folder / "undamped.png")
    draw_convergence(result, folder / "convergence.png")
    return figures(result)


LABELS = {"gonzalez": "Gonzalez' gradient", "invariants": "gradient through invariants", "midpoint": "midpoint rule"}
FLOOR = np.finfo(float).eps / 8.0  # exact zeros are drawn here


def draw_energy(result: Result, path: Path) -> None:
    """[dg] fig. 3: the Hamiltonian, its increments against the dissipated work, and what is missing between them."""
    chosen, other = result.run, result.midpoint
    figure = new_figure(13.0, 4.2)
    level, increments, missing = figure.subplots(1, 3)
    level.plot(chosen.times, chosen.balance.total_energy, linewidth=1.5)
    level.set_ylabel("H [J]")
    level.set_ylim(bottom=0.0)
    change = np.diff(chosen.balance.total_energy)
    increments.plot(chosen.output_times, 1e3 * change, linewidth=1.0, label=r"$H^{k+1} - H^k$")
    increments.plot(chosen.output_times, 1e3 * chosen.balance.total_dissipation, linewidth=1.0, label=r"$W_{diss}$")
    total = change + chosen.balance.total_dissipation
    increments.plot(chosen.output_times, 1e3 * total, "k:", linewidth=1.2, label="their sum")
    increments.set_ylabel("in each step [mJ]")
    increments.legend(fontsize="small")
    for trajectory, colour in ((other, "C1"), (chosen, "C0")):
        residual = np.maximum(trajectory.balance.residual, FLOOR)
        missing.semilogy(
            trajectory.output_times, residual, ".", color=colour, markersize=2, label=LABELS[trajectory.method]
        )
    missing.set_ylabel(r"$|H^{k+1} - H^k + W_{diss}|$ [J]")
    missing.legend(fontsize="small", loc="center right", markerscale=4)
    for axes in (level, increments, missing):
        _time_axis(axes)
    figure.suptitle(f"h = {result.step:g} s, η₀ = {result.eta:g} N s/m")
    figure.savefig(path)


def draw_constraints(result: Result, path: Path) -> None:
    """[dg] fig. 4: both bars on position and on velocity level."""
    trajectory = result.run
    gap, rate = constraints(trajectory["q"]), constraint_rates(trajectory["q"], trajectory["v"])
    figure = new_figure(11.0, 4.2)
    position, velocity = figure.subplots(1, 2)
    for k in (1, 0):
        position.plot(trajectory.times, 1e15 * gap[:, k], ".-", linewidth=0.6, markersize=2, color=f"C{k}")
        velocity.plot(trajectory.times, rate[:, k], linewidth=0.6, color=f"C{k}", label=f"bar {k + 1}")
    position.set_ylabel(r"$g_i(q^k)\;\;[10^{-15}\,$m²]")
    velocity.set_ylabel(r"$Dg_i(q^k)\,v^k\;\;$[m²/s]")
    velocity.ticklabel_format(axis="y", scilimits=(-2, 2))
    handles, names = velocity.get_legend_handles_labels()
    velocity.legend(handles[::-1], names[::-1], fontsize="small", loc="upper right")
    for axes in (position, velocity):
        _time_axis(axes)
    figure.savefig(path)


def draw_undamped(result: Result, path: Path) -> None:
    """[dg] fig. 5: the Hamiltonian without dissipation, and how far both momenta go, by both gradients."""
    figure = new_figure(11.0, 4.4)
    energy, moved = figure.subplots(1, 2)
    for colour, (method, trajectory) in zip(("C0", "C2"), result.undamped.items(), strict=True):
        away = 1e15 * (trajectory.balance.total_energy - trajectory.balance.total_energy[0])
        energy.plot(trajectory.times, away, linewidth=0.8, color=colour, label=LABELS[method])
        for name, style, values in zip(("linear", "angular"), ("-", "--"), momenta(trajectory), strict=True):
            largest = np.maximum.accumulate(np.abs(values - values[0]).max(axis=1))
            label = f"{name}, {LABELS[method]}"
            moved.semilogy(trajectory.times, np.maximum(largest, FLOOR), style, color=colour, label=label)
    energy.set_ylabel(r"$H(t) - H(0)\;\;[10^{-15}\,$J]")
    energy.legend(fontsize="small")
    moved.set_ylabel("largest change of momentum so far [SI]")
    moved.set_ylim(FLOOR, 1e-2)
    moved.legend(fontsize="small", loc="center right")
    for axes in (energy, moved):
        _time_axis(axes)
    figure.suptitle(f"without dissipation, h = {result.step:g} s")
    figure.savefig(path)


def draw_convergence(result: Result, path: Path) -> None:
    """[dg] fig. 6: errors at t = 0.1 s over the step, and the Hamiltonian with steps of 0.25 s."""
    figure = new_figure(12.0, 4.8)
    errors, long = figure.subplots(1, 2)
    names = {"q4": "$q_4$", "v4": "$v_4$", "lam1_at_middle": r"$\lambda_1$ in mid-step"}
    names["lam1_at_end"] = r"$\lambda_1$ taken at the end"
    for k, (name, label) in enumerate(names.items()):
        for method, style in ((result.run.method, "o-"), ("midpoint", "x--")):
            rows = [row for row in result.convergence if row["method"] == method]
            steps, error = [row["step_s"] for row in rows], [row[name] for row in rows]
            kept = label if method == result.run.method else None
            errors.loglog(steps, error, style, color=f"C{k}", linewidth=1.0, markersize=4, label=kept)
    _slopes(errors)
    errors.set_xticks([CONVERGENCE_END / count for count in CONVERGENCE_STEPS])
    errors.xaxis.set_major_formatter("{x:g}")
    errors.xaxis.set_minor_formatter("")
    errors.set_xlabel("h [s]")
    errors.set_ylabel("relative error at t = 0.1 s")
    errors.set_title(f"solid: {LABELS[result.run.method]}, dashed: midpoint rule", fontsize="small")
    errors.legend(fontsize="small", loc="lower right")
    errors.set_ylim(bottom=3e-9)
    long.plot(result.run.times, result.run.balance.total_energy, "k:", linewidth=1.2, label=f"h = {result.step:g} s")
    for trajectory, style in ((result.long, "o-"), (result.long_midpoint, "x--")):
        label = f"{LABELS[trajectory.method]}, h = {LONG_STEP:g} s"
        long.plot(trajectory.times, trajectory.balance.total_energy, style, linewidth=1.0, markersize=4, label=label)
    long.set_ylabel("H [J]")
    long.set_ylim(bottom=0.0)
    long.legend(fontsize="small", loc="lower left")
    _time_axis(long)
    errors.grid(alpha=0.3, which="both")
    figure.savefig(path)


def _slopes(axes: Axes) -> None:
    """Lines of first and second order beside the curves."""
    steps = np.array([CONVERGENCE_END / CONVERGENCE_STEPS[-1], CONVERGENCE_END / CONVERGENCE_STEPS[0]])
    for order, level in ((1, 0.4), (2, 2.5e-5)):
        axes.loglog(steps, level * (steps / steps[-1]) ** order, color="0.6", linewidth=0.8)
        at = math.sqrt(steps[0] * steps[-1])
        axes.text(at, 1.6 * level * (at / steps[-1]) ** order, f"order {order}", fontsize="small", color="0.4")


def _time_axis(axes: Axes) -> None:
    axes.set_xlabel("t [s]")
    axes.grid(alpha=0.3)


def checks() -> Iterable[Check]:
    """H at both ends with h = 0.01 s, what must vanish, the momenta, and the orders.

    The limit h → 0 of H(10) is met to the digits of the reference by two routes: a Runge-Kutta method on the equations
    without multipliers, and Gauss collocation of order 6 on those with them.
    """
    damped, free = solve(0.01, 10.0, 1.0, "gonzalez"), solve(0.01, 10.0, 0.0, "gonzalez")
    kept = solve(0.01, 10.0, 0.0, "invariants")
    energy = damped.balance.total_energy
    yield Check("H(0) [J]", "[dg] eq. (51)", SPEED, float(energy[0]), kind="closed form", tolerance=1e-14)
    yield Check(
        "H(10), h = 0.01 [J]",
        "reference, h = 0.01",
        0.68501669,
        float(energy[-1]),
        kind="independent code",
        tolerance=1.5e-8,
    )
    limit = four_particles(1.0).H(np.append(reference(1.0, 10.0)(10.0), [0.0, 0.0]))
    # two routes to the limit: 1e-11 are the errors of the collocation at its step
    collocated = solve(0.0025, 10.0, 1.0, "gauss6").balance.total_energy[-1]
    for name, value in (("DOP853", limit), ("gauss6", float(collocated))):
        yield Check(f"H(10), h → 0 [J], {name}", "reference, h → 0", 0.68504343, value, kind="independent code",
                    tolerance=7.3e-9)  # fmt: skip

    yield vanishes("balance residual of a step [J]", damped.balance.residual.max(), 1e-13)
    yield vanishes("position drift [m²]", np.abs(constraints(damped["q"])).max(), 1e-13)
    yield vanishes("increase of H in a step [J]", max(0.0, np.diff(energy).max()), 1e-13)
    long = solve(LONG_STEP, LONG_END, 1.0, "gonzalez").balance.total_energy
    yield vanishes("increase of H in a step, h = 0.25 [J]", max(0.0, np.diff(long).max()), 1e-13)
    yield vanishes("drift of H, η₀ = 0 [J]", np.abs(free.balance.total_energy - SPEED).max(), 1e-12)
    leak = drifts(free)[0]
    yield Check(
        "leak of linear momentum, η₀ = 0", "reference, Gonzalez", 1.8e-5, leak, kind="independent code", tolerance=0.05
    )
    for name, value in zip(("linear", "angular"), drifts(kept), strict=True):
        yield vanishes(f"drift of {name} momentum, invariants", value, 1e-12)
    computed = orders(tuple(converge(1.0, ("gonzalez",))), "gonzalez")
    for name, order in (("q4", 2.0), ("v4", 2.0), ("lam1_at_middle", 2.0), ("lam1_at_end", 1.0)):
        yield converges(f"order of {name}", computed[name], 0.1, theory=order, source="[dg] fig. 6")


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: four_particles(1.0))
