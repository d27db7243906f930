"""An iron ball in the field of a controlled inductor: [survey] example 2.2.

At constant voltage the ball has an equilibrium below the coil, at which the linearised system is analysed; a run begins
there with a push. States are the height q and the momentum p of the ball, and the flux φ of the coil.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import PHDAE, Trajectory, integrate
from flexph.analysis import Analysis, analyze, equilibrium
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.systems import Derivatives

from .checks import vanishes
from .times import equal_steps

MASS, GRAVITY = 0.1, 9.81  # [kg], [m/s²]
K1, K2 = 0.05, -0.02  # of the inductance k₁(1 − q/k₂) [H], [m]
RESISTANCE = 2.0  # [Ω]
HEIGHT = -0.005  # at which the ball is to float [m]
CURRENT = math.sqrt(2.0 * MASS * GRAVITY * -K2 / K1)  # whose force on the ball is its weight, at any height [A]


def inductance(q: float) -> float:
    """Inductance k₁(1 − q/k₂) [H] of the coil with the ball at the height q [m].

    With k₂ < 0 it grows with the height, as the coil is above the ball.
    """
    return K1 * (1.0 - q / K2)


def energy(x: Array) -> float:
    """Energy H = m g q + p²/2m + φ²/2L(q) [J] at the state x = (q, p, φ)."""
    q, p, phi = x
    return float(MASS * GRAVITY * q + p**2 / (2.0 * MASS) + phi**2 / (2.0 * inductance(q)))


def gradient(x: Array) -> Array:
    """Gradient ∇H (3,) at the state x = (q, p, φ): force, velocity, current."""
    q, p, phi = x
    L = inductance(q)
    return np.array([MASS * GRAVITY + phi**2 * K1 / (2.0 * K2 * L**2), p / MASS, phi / L])


def hessian(x: Array) -> Array:
    """Hessian ∂²H (3, 3) of the energy at the state x = (q, p, φ)."""
    q, _, phi = x
    L, s = inductance(q), K1 / K2
    return np.array(
        [[phi**2 * s**2 / L**3, 0.0, phi * s / L**2], [0.0, 1.0 / MASS, 0.0], [phi * s / L**2, 0.0, 1.0 / L]]
    )


def ball() -> PHDAE:
    """System of [survey] eq. (2.28) with the states (q, p, φ) and the port ``coil`` of voltage and current.

    The sample state of the system, at which it is analysed, is the equilibrium.
    """
    return PHDAE(
        E=np.eye(3),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        R=np.diag([0.0, 0.0, RESISTANCE]),
        B=np.array([[0.0], [0.0], [1.0]]),
        z=gradient,
        H=energy,
        sample=np.array([HEIGHT, 0.0, inductance(HEIGHT) * CURRENT]),
        ports={"coil": slice(0, 1)},
        parts={"q": slice(0, 1), "p": slice(1, 2), "phi": slice(2, 3)},
        derivatives=Derivatives(costate=hessian),
    )


@dataclass(frozen=True)
class Result:
    """A run of the ball after a push, the report of the analysis at its equilibrium, and the equilibrium state."""

    trajectory: Trajectory
    report: Analysis
    floating: Array


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.5e-3,
    end: Annotated[float, Option("end of the run", "s")] = 1.0,
    push: Annotated[float, Option("velocity at the start", "m/s")] = 0.02,
) -> Result:
    """A ball levitating below a coil at constant voltage: equilibrium, linear motion, balance ([survey] ex. 2.2)."""
    times = equal_steps(step, end)
    system, inputs = ball(), {"coil": RESISTANCE * CURRENT}
    floating = equilibrium(system, system.sample * [1.0, 1.0, 0.9], inputs=inputs)
    report = analyze(system, floating, inputs=inputs)
    start = floating + np.array([0.0, MASS * push, 0.0])
    return Result(integrate(system, start, times, inputs=inputs, progress=False), report, floating)


def linear_rates(height: float) -> Array:
    """Eigenvalues (3,) [1/s] of the motion linearised at the equilibrium at ``height`` [m].

    They are those of m v̇ = a i, L i̇ = −a v − R i, and zero; a is the equilibrium current times the derivative of the
    inductance with respect to the height.
    """
    a, L = CURRENT * K1 / -K2, inductance(height)
    return np.append(np.linalg.eigvals([[0.0, a / MASS], [-a / L, -RESISTANCE / L]]), 0.0)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: height, current and the power balance over time; return the summary numbers."""
    trajectory = result.trajectory
    current = np.array([gradient(x)[2] for x in trajectory.states])
    columns = {"t_s": trajectory.times, "q_m": trajectory["q"][:, 0], "p_Ns": trajectory["p"][:, 0]}
    write_table(folder / "motion.csv", columns | {"current_A": current, "H_J": trajectory.ledger.total_energy})
    draw(trajectory, current, folder / "ball.png")
    return {
        "floating_current_A": float(gradient(result.floating)[2]),
        "floating_height_m": float(result.floating[0]),
        "eigenvalues_per_s": sorted([v.real, abs(v.imag)] for v in result.report.stability.eigenvalues),
        "end_height_m": float(trajectory["q"][-1, 0]),
        "balance_residual_max_rel": trajectory.ledger.largest_residual,
    }


def draw(trajectory: Trajectory, current: Array, path: Path) -> None:
    """Draw the height of the ball and the current of the coil over time."""
    figure = new_figure(7.0, 4.6)
    height, coil = figure.subplots(2, 1, sharex=True)
    height.plot(trajectory.times, 1e3 * trajectory["q"][:, 0], linewidth=1.0)
    height.set_ylabel("height [mm]")
    coil.plot(trajectory.times, current, color="C1", linewidth=1.0)
    coil.axhline(CURRENT, color="0.6", linewidth=0.8)
    coil.set_ylabel("current [A]")
    coil.set_xlabel("t [s]")
    for axes in (height, coil):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: current at equilibrium and eigenvalues against closed forms; balance and decay rate of a run."""
    result = run(end=0.5)
    yield Check("current where it floats [A]", "√(2 m g |k₂|/k₁)", CURRENT, gradient(result.floating)[2],
                kind="closed form", tolerance=1e-9)  # fmt: skip
    exact = linear_rates(float(result.floating[0]))
    eigenvalues = np.array(result.report.stability.eigenvalues)
    away = max(float(np.abs(eigenvalues - value).min()) for value in exact)
    yield vanishes("eigenvalues apart [1/s]", away, 1e-6, source="linearised by hand", kind="closed form")
    yield vanishes("balance residual", result.trajectory.ledger.largest_residual, 1e-11)
    rate = float(np.max(exact.real[np.abs(exact) > 1e-9]))
    q = result.trajectory["q"][:, 0]
    late = np.abs(q - q[-1])[len(q) // 2 :].max() / np.abs(q - q[-1]).max()
    yield Check("motion left after half the run, logarithm over the slowest rate", "linear theory", rate * 0.25,
                math.log(late), kind="closed form", tolerance=0.25)  # fmt: skip


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: (ball(), {"coil": RESISTANCE * CURRENT}))
