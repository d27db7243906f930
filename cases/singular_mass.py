"""Two masses on springs in redundant coordinates: a singular mass matrix ([dg] example 7 and appendix E).

After F. E. Udwadia, P. Phohomsiri, Explicit equations of motion for constrained mechanical systems with singular mass
matrices, Proc. R. Soc. A 462 (2006), sec. 5, example 3. Masses and springs are chosen here; [dg] states none.

x₁ and x₂ are the elongations of the springs, q₂ is the position at which the second spring begins: the constraint is
g = q₂ − x₁ − l₁₀ − w = 0 with the length l₁₀ of the first spring at rest and the width w of the first mass. Its
force is the multiplier λ. M is the mass matrix, P a basis of the velocities that the constraint permits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from flexph import PHDAE, Trajectory, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import by_name
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import vanishes
from .files import write_rows
from .times import equal_steps

MASSES = np.array([2.0, 1.0])  # [kg]
STIFFNESS = np.array([50.0, 20.0])  # [N/m]
LENGTH, WIDTH = 1.0, 0.2  # l₁₀ of the first spring at rest, w of the first mass [m]
STRETCH = np.array([0.15, -0.05])  # of both springs at the start, from rest [m]

M = np.array([[MASSES[0], 0.0, 0.0], [0.0, MASSES[1], MASSES[1]], [0.0, MASSES[1], MASSES[1]]])  # [dg] eq. (36)
G = np.array([[-1.0, 1.0, 0.0]])  # of g = q₂ − x₁ − l₁₀ − w
KEPT = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # (v₁, v₂, v₃) of (ẋ₁, ẋ₂): what G leaves free
METHODS = ("gonzalez", "mean_value", "dirac")


@dataclass(frozen=True)
class Result:
    """Runs in redundant and in minimal coordinates, by method, and the table of errors by step.

    ``hardening`` is β of the springs.
    """

    redundant: dict[str, Trajectory]
    minimal: dict[str, Trajectory]
    convergence: tuple[dict[str, float], ...]
    hardening: float


def springs(hardening: float) -> tuple[Any, Any]:
    """Two functions of the elongations x (2,): the energy V = Σ kᵢ(½xᵢ² + ¼βxᵢ⁴), and its gradient (2,).

    β [1/m²] is ``hardening``.
    """

    def potential(x: Array) -> float:
        return float(STIFFNESS @ (0.5 * x**2 + 0.25 * hardening * x**4))

    def forces(x: Array) -> Array:
        return STIFFNESS * (x + hardening * x**3)

    return potential, forces


def redundant(hardening: float) -> PHDAE:
    """System in redundant coordinates x = (x₁, q₂, x₂, v₁, v₂, v₃, λ), [dg] eq. (E.2).

    E = diag(1, M, 0) has rank 5.
    """
    potential, forces = springs(hardening)
    E, J = np.zeros((7, 7)), np.zeros((7, 7))
    E[:3, :3], E[3:6, 3:6] = np.eye(3), M
    J[:3, 3:6], J[3:6, :3], J[3:6, 6:], J[6:, 3:6] = np.eye(3), -np.eye(3), -G.T, G

    def costates(x: Array) -> Array:
        first, second = forces(x[[0, 2]])
        return np.concatenate([[first, 0.0, second], x[3:]])

    return PHDAE(
        E=E,
        J=J,
        z=costates,
        H=lambda x: potential(x[[0, 2]]) + 0.5 * float(x[3:6] @ M @ x[3:6]),
        sample=start_redundant(),
        parts={"q": slice(0, 3), "v": slice(3, 6), "lam": slice(6, 7)},
    )


def minimal(hardening: float) -> PHDAE:
    """System in minimal coordinates x = (x₁, x₂, ẋ₁, ẋ₂), with the invertible mass matrix PᵀMP.

    The constraint is eliminated.
    """
    potential, forces = springs(hardening)
    E, J = np.eye(4), np.zeros((4, 4))
    E[2:, 2:] = KEPT.T @ M @ KEPT
    J[:2, 2:], J[2:, :2] = np.eye(2), -np.eye(2)
    return PHDAE(
        E=E,
        J=J,
        z=lambda x: np.concatenate([forces(x[:2]), x[2:]]),
        H=lambda x: potential(x[:2]) + 0.5 * float(x[2:] @ E[2:, 2:] @ x[2:]),
        sample=start_minimal(),
        parts={"q": slice(0, 2), "v": slice(2, 4)},
    )


def start_redundant() -> Array:
    """State in redundant coordinates at rest with both springs stretched, and with the λ of linear springs."""
    return np.array([STRETCH[0], STRETCH[0] + LENGTH + WIDTH, STRETCH[1], 0.0, 0.0, 0.0, STIFFNESS[1] * STRETCH[1]])


def start_minimal() -> Array:
    """State in minimal coordinates at rest with both springs stretched."""
    return np.concatenate([STRETCH, np.zeros(2)])


def solve(hardening: float, step: float, end: float, method: str) -> tuple[Trajectory, Trajectory]:
    """Two runs: in redundant coordinates, with E split by [dg] proposition 2, and with the constraint eliminated.

    Raises ValueError unless 0 < ``step`` ≤ ``end``.
    """
    times = equal_steps(step, end)
    return (
        integrate(redundant(hardening), start_redundant(), times, method=by_name(method)),
        integrate(minimal(hardening), start_minimal(), times, method=by_name(method)),
    )


def modes(times: Array) -> Array:
    """Elongations (k, 2) [m] of linear springs in closed form at ``times`` (k,).

    The motion is a superposition of the modes φ of K φ = ω² PᵀMP φ, which are PᵀMP-orthonormal.
    """
    mass = KEPT.T @ M @ KEPT
    squares, shapes = eigh(np.diag(STIFFNESS), mass)
    return (np.cos(np.outer(times, np.sqrt(squares))) * (shapes.T @ mass @ STRETCH)) @ shapes.T


def reference(hardening: float, times: Array) -> Array:
    """Exact elongations (k, 2) [m] of the springs at ascending times.

    For linear springs they are from :func:`modes`, otherwise from a Runge-Kutta method of order 8.
    """
    if hardening == 0.0:
        return modes(times)
    system = minimal(hardening)
    inverse = np.linalg.inv(system.E(system.sample)) @ system.J(system.sample)
    span = (0.0, float(times[-1]))
    solved = solve_ivp(
        lambda _, x: inverse @ system.z(x), span, start_minimal(), "DOP853", rtol=1e-12, atol=1e-13, t_eval=times
    )
    return solved.y[:2].T


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.02,
    end: Annotated[float, Option("end of the run", "s")] = 10.0,
    hardening: Annotated[float, Option("hardening β of the springs, forces k(x + βx³)", "1/m²")] = 10.0,
) -> Result:
    """Masses in redundant coordinates: a singular mass matrix, split and eliminated ([dg] example 7)."""
    if not (math.isfinite(hardening) and hardening >= 0.0):
        raise ValueError(f"hardening must not be negative, got {hardening}")
    pairs = {method: solve(hardening, step, end, method) for method in METHODS}
    return Result(
        redundant={method: pair[0] for method, pair in pairs.items()},
        minimal={method: pair[1] for method, pair in pairs.items()},
        convergence=tuple(converge(hardening)),
        hardening=hardening,
    )


def elongations(trajectory: Trajectory) -> Array:
    """Elongations x₁ and x₂ (k, 2) [m] of a run in either kind of coordinates."""
    return trajectory["q"][:, [0, -1]]


def apart(one: Trajectory, other: Trajectory) -> float:
    """Largest difference of the elongations of two runs, divided by the largest elongation of the first."""
    first, second = elongations(one), elongations(other)
    return float(np.abs(first - second).max() / np.abs(first).max())


def converge(
    hardening: float, end: float = 1.0, counts: Iterable[int] = (25, 50, 100, 200)
) -> Iterable[dict[str, float]]:
    """Yield largest errors for several steps: of the elongations in both kinds of coordinates, and of λ.

    λ is compared with the force of the second spring at the midpoints of the steps.
    """
    _, forces = springs(hardening)
    for count in counts:
        split, eliminated = solve(hardening, end / count, end, "gonzalez")
        exact, middle = (reference(hardening, times) for times in (split.times, split.output_times))
        force = np.array([forces(x)[1] for x in middle])
        yield {
            "step_s": end / count,
            "redundant": float(np.abs(elongations(split) - exact).max()),
            "minimal": float(np.abs(elongations(eliminated) - exact).max()),
            "lambda_at_middle": float(np.abs(split["lam"][1:, 0] - force).max()),
            "apart": apart(split, eliminated),
        }


def orders(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    """Orders of convergence from the two finest steps of the rows of :func:`converge`, by column."""
    *_, coarse, fine = rows
    ratio = math.log(coarse["step_s"] / fine["step_s"])
    names = ("redundant", "minimal", "lambda_at_middle")
    return {name: math.log(coarse[name] / fine[name]) / ratio for name in names}


def gap(trajectory: Trajectory) -> Array:
    """Defect g = q₂ − x₁ − l₁₀ − w (k,) [m] of the constraint in a run in redundant coordinates."""
    q = trajectory["q"]
    return q[:, 1] - q[:, 0] - LENGTH - WIDTH


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: difference of both formulations by method, their balances, the constraint and the orders."""
    both = (result.redundant, result.minimal)
    return {
        "rank_of_E": int(np.linalg.matrix_rank(redundant(0.0).E(start_redundant()))),
        "largest_difference_of_formulations": {m: apart(result.redundant[m], result.minimal[m]) for m in METHODS},
        "balance_residual_max_J": {m: max(r[m].ledger.residual.max() for r in both) for m in METHODS},
        "position_drift_max_m": {m: np.abs(gap(trajectory)).max() for m, trajectory in result.redundant.items()},
        "orders": orders(result.convergence),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of the motion, differences of both formulations, refinement, and a picture.

    Return the summary numbers.
    """
    trajectory = result.redundant["gonzalez"]
    columns = {
        "t_s": trajectory.times,
        "x1_m": trajectory["q"][:, 0],
        "q2_m": trajectory["q"][:, 1],
        "x2_m": trajectory["q"][:, 2],
    }
    columns |= {"H_J": trajectory.ledger.total_energy, "g_m": gap(trajectory)}
    columns |= {f"x{i + 1}_minimal_m": elongations(result.minimal["gonzalez"])[:, i] for i in (0, 1)}
    write_table(folder / "motion.csv", columns)
    write_table(folder / "lambda.csv", {"t_middle_s": trajectory.output_times, "lambda_N": trajectory["lam"][1:, 0]})
    write_rows(folder / "convergence.csv", result.convergence)
    draw(result, folder / "routes.png")
    return figures(result)


LABELS = {"gonzalez": "Gonzalez", "mean_value": "mean value", "dirac": "Dirac form"}
FLOOR = np.finfo(float).eps / 8.0
SHOWN = 4.0  # of the motion [s]


def draw(result: Result, path: Path) -> None:
    """Draw the motion by both formulations, their difference by method, and errors against the step."""
    figure = new_figure(13.0, 4.6)
    motion, difference, errors = figure.subplots(1, 3)
    split, eliminated = result.redundant["mean_value"], result.minimal["mean_value"]
    shown = split.times <= SHOWN
    every = slice(0, np.count_nonzero(shown), max(1, np.count_nonzero(shown) // 40))
    for i, name in enumerate(("$x_1$", "$x_2$")):
        motion.plot(split.times[shown], elongations(split)[shown, i], color=f"C{i}", label=f"{name}, singular M")
        other = elongations(eliminated)[every, i]
        motion.plot(split.times[every], other, "x", color=f"C{i}", markersize=4, label=f"{name}, eliminated")
    motion.set_ylabel("elongation [m]")
    for (method, trajectory), style in zip(result.redundant.items(), ("-", "-", "--"), strict=True):
        away = np.abs(elongations(trajectory) - elongations(result.minimal[method])).max(axis=1)
        largest = np.maximum(np.maximum.accumulate(away), FLOOR)
        difference.semilogy(trajectory.times, largest, style, label=LABELS[method])
    difference.set_ylabel("routes apart, largest so far [m]")
    steps = np.array([row["step_s"] for row in result.convergence])
    words = {"redundant": "singular M [m]", "minimal": "eliminated [m]", "lambda_at_middle": r"$\lambda$ [N]"}
    for (name, label), style in zip(words.items(), ("o-", "x--", "s-"), strict=True):
        errors.loglog(steps, [row[name] for row in result.convergence], style, markersize=4, label=label)
    scale = 0.2 * result.convergence[-1]["redundant"]
    errors.loglog(steps, scale * (steps / steps[-1]) ** 2, color="0.6", linewidth=0.8, label="order 2")
    errors.set_xticks(steps, [f"{h:g}" for h in steps])
    errors.xaxis.set_minor_formatter("")
    errors.set_ylabel("largest error within 1 s, Gonzalez")
    for axes, word in ((motion, "t [s]"), (difference, "t [s]"), (errors, "h [s]")):
        legend_above(axes, 2)
        axes.set_xlabel(word)
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: motions in redundant against minimal coordinates, balance, position drift, and orders of convergence.

    Without hardening both formulations are the same discretisation by any method, with hardening by the mean-value
    gradient. Gonzalez' gradient does not commute with changes of coordinates ([dg] example 10): with hardening the two
    formulations agree to second order.
    """

    for hardening, methods in ((0.0, METHODS), (10.0, ("mean_value",))):
        for method in methods:
            pair = solve(hardening, 0.02, 5.0, method)
            name = f"routes apart, {LABELS[method]}, β = {hardening:g}"
            yield vanishes(name, apart(*pair), 1e-11, source="[dg] theorem 9")  # 250 steps of round-off
            worst = max(trajectory.ledger.residual.max() for trajectory in pair)
            yield vanishes(f"balance residual [J], {LABELS[method]}, β = {hardening:g}", worst, 1e-13)
            yield vanishes(
                f"position drift [m], {LABELS[method]}, β = {hardening:g}",
                np.abs(gap(pair[0])).max(),
                1e-13,
                source="[dg] eq. (45)",
            )
    for hardening in (0.0, 10.0):
        for name, order in orders(tuple(converge(hardening))).items():
            words = name.replace("_", " ")
            yield Check(
                f"order, {words}, β = {hardening:g}", "[dg] proposition 1", 2.0, order, kind="theorem", tolerance=0.02
            )


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: redundant(10.0))
