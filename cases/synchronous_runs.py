"""Runs of a synchronous generator: steady operations, a short circuit and a load, and reference solutions.

The equations are those of :mod:`cases.synchronous_generator`; the case :mod:`cases.synchronous_machine` computes,
writes and checks these runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

from flexph import Trajectory, integrate
from flexph.methods import DiscreteGradient
from flexph.numerics.arrays import Array

from .synchronous_generator import (
    COORDINATES,
    FREQUENCY,
    FRICTION,
    INERTIA,
    L_A1Q,
    L_AF,
    L_D,
    L_FF,
    L_Q,
    L_RR,
    OMEGA,
    PEAK,
    PER_UNIT,
    PHASES,
    R_A,
    R_F,
    RATING,
    RESISTANCE,
    SYSTEMS,
    Z_ROTOR,
    Z_STATOR,
    currents,
    in_fluxes,
    inductance,
    start_open,
    to_fluxes,
    torque,
)

METHOD = DiscreteGradient("mean_value")
"""Mean-value gradient, as Gonzalez' depends on units: its correction adds webers, newton metre seconds and radians."""
TURNS = 10  # made before a loaded run begins: p is large, and checks by differences move θ in proportion to its size
CYCLES_SHORT, REFINED = 3.0, (25, 50, 100, 200)  # cycles and steps per cycle of the refinement
Inputs = Mapping[str, Callable[[float], Any] | float]


@dataclass(frozen=True)
class Steady:
    """A steady operation of the generator at the network voltage PEAK·cos(ωt).

    ``state`` is the state in currents at t = 0. ``field_voltage`` [V] and ``shaft_torque`` [N m] are constant inputs
    that maintain the operation, ``load_angle`` [rad] is the angle δ of :func:`angles`.
    """

    state: Array
    field_voltage: float
    shaft_torque: float
    load_angle: float


def steady(load_angle: float, field_current: float) -> Steady:
    """Steady operation in closed form for a load angle [rad] and a field current [A].

    In dq coordinates ``v = R i + jωψ``; the fluxes are ψ_d = L_d i_d + L_af i_f and ψ_q = L_q i_q.
    """
    theta = load_angle - 0.5 * math.pi + 2.0 * math.pi * TURNS
    v = PEAK * np.array([math.cos(theta), -math.sin(theta)])
    impedance = np.array([[R_A, -OMEGA * L_Q], [OMEGA * L_D, R_A]])
    i_d, i_q = np.linalg.solve(impedance, v - np.array([0.0, OMEGA * L_AF * field_current]))
    phases = i_d * np.cos(theta - PHASES) - i_q * np.sin(theta - PHASES)
    x = np.array([*phases, field_current, 0.0, 0.0, INERTIA * OMEGA, theta])
    return Steady(x, R_F * field_current, FRICTION * OMEGA - torque(x), load_angle)


def rated(power: float = 0.9, reactive: float = math.sqrt(1.0 - 0.9**2)) -> Steady:
    """Steady operation at active and reactive powers, relative to the rating; by default full load at 0.9 lagging."""
    current = np.conj(RATING * complex(power, reactive) / (1.5 * PEAK))  # delivered, of phase a
    internal = PEAK + (R_A + 1j * OMEGA * L_Q) * current  # along the q axis
    angle = float(np.angle(internal))
    i_q, i_d = -(current * np.exp(-1j * angle)).real, (current * np.exp(-1j * angle)).imag
    field_current = (PEAK * math.cos(angle) - R_A * i_q - OMEGA * L_D * i_d) / (OMEGA * L_AF)
    return steady(angle, field_current)


def at_torque(shaft: float, field_current: float) -> Steady:
    """Steady operation at a shaft torque [N m] and a field current [A], on the stable side of the load angle.

    Raises ValueError if the field is too weak for the torque.
    """
    angles = np.linspace(-0.1, math.pi, 200)
    pull_out = max(angles, key=lambda angle: steady(angle, field_current).shaft_torque)
    if shaft >= steady(pull_out, field_current).shaft_torque:
        raise ValueError(f"a shaft torque of {shaft:.3g} N m pulls the machine out of step")
    return steady(brentq(lambda a: steady(a, field_current).shaft_torque - shaft, -1.0, pull_out), field_current)


def network(t: float) -> Array:
    """Balanced terminal voltages (3,) [V] of the network at the time t."""
    return PEAK * np.cos(OMEGA * t - PHASES)


def short_circuit_inputs() -> Inputs:
    """Inputs of a short circuit: terminals at zero voltage, field voltage and shaft torque unchanged."""
    return {"stator": lambda t: np.zeros(3), "field": R_F * PEAK / (OMEGA * L_AF), "shaft": FRICTION * OMEGA}


def solve(
    coordinates: str,
    start: Array,
    inputs: Inputs,
    *,
    steps_per_cycle: int,
    end: float,
    method: DiscreteGradient = METHOD,
) -> Trajectory:
    """Run of the generator in ``coordinates`` "currents" or "fluxes" from the state ``start``, which is in currents."""
    times = np.arange(round(end * FREQUENCY * steps_per_cycle) + 1) / (FREQUENCY * steps_per_cycle)
    first = to_fluxes(start) if coordinates == "fluxes" else start
    return integrate(SYSTEMS[coordinates](), first, times, method=method, inputs=inputs)


@dataclass(frozen=True)
class Result:
    """Runs of the short circuit and of the load, each in both coordinates by name, and the errors by step.

    ``target`` is the steady operation at full load.
    """

    short: dict[str, Trajectory]
    loaded: dict[str, Trajectory]
    target: Steady
    convergence: tuple[dict[str, float], ...]


def load_step(full: Steady) -> tuple[Steady, Inputs]:
    """Steady operation at half of the shaft torque of ``full``, and inputs that lead from there to the whole torque."""
    half = at_torque(0.5 * full.shaft_torque, full.state[3])
    return half, {"stator": network, "field": full.field_voltage, "shaft": full.shaft_torque}


def reference(end: float, inertia: float = INERTIA) -> Array:
    """State in currents at the time ``end`` after the short circuit, by a Runge-Kutta method of order 8 in fluxes."""
    system, inputs, first = in_fluxes(inertia), short_circuit_inputs(), to_fluxes(start_open(inertia))
    u = np.array([0.0, 0.0, 0.0, inputs["field"], inputs["shaft"]])
    flow, B = system.J(system.sample) - system.R(system.sample), system.B(system.sample)
    motion = solve_ivp(lambda _, x: flow @ system.z(x) + B @ u, (0.0, end), first, "DOP853", rtol=1e-12, atol=1e-9)
    x = motion.y[:, -1]
    return np.concatenate([np.linalg.solve(inductance(x[7]), x[:6]), x[6:]])


def converge(cycles: float = CYCLES_SHORT, counts: Iterable[int] = REFINED) -> Iterable[dict[str, float]]:
    """Yield the errors after some cycles of the short circuit in both coordinates, for several steps.

    Errors of the currents are divided by the largest current, that of the speed by the speed.
    """
    end = cycles / FREQUENCY
    exact = reference(end)
    size = np.abs(exact[:6]).max()
    for count in counts:
        row: dict[str, float] = {"steps_per_cycle": count}
        last = {}
        for coordinates in SYSTEMS:
            trajectory = solve(coordinates, start_open(), short_circuit_inputs(), steps_per_cycle=count, end=end)
            last[coordinates] = currents(trajectory)[-1]
            row[f"{coordinates}: currents"] = float(np.abs(last[coordinates] - exact[:6]).max() / size)
            row[f"{coordinates}: speed"] = abs(float(trajectory.states[-1, 6] / exact[6] - 1.0))
        row["apart"] = float(np.abs(last["currents"] - last["fluxes"]).max() / size)
        yield row


def orders(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    """Orders of convergence from the two finest steps of the rows of :func:`converge`, by column."""
    *_, coarse, fine = rows
    ratio = math.log(fine["steps_per_cycle"] / coarse["steps_per_cycle"])
    return {name: math.log(coarse[name] / fine[name]) / ratio for name in coarse if name != "steps_per_cycle"}


def constant_speed(t: float) -> Array:
    """Currents (6,) [A] at the time t after a short circuit at constant speed, by the matrix exponential.

    In dq coordinates ``d(L i)/dt = −(R + ω W L) i + v`` with constant L of (d, q, field, damper d, damper q) and W =
    [[0, −1], [1, 0]] of the stator. Stator currents enter the flux linkages of the rotor with the factor 3/2.
    """
    L = np.zeros((5, 5))
    L[0, 0], L[1, 1], L[2:, 2:] = L_D, L_Q, L_RR
    L[0, 2:4], L[1, 4] = L_AF, L_A1Q
    L[2:, :2] = 1.5 * L[:2, 2:].T
    W, R = np.zeros((5, 5)), np.diag(RESISTANCE[[0, 0, 3, 4, 5]])
    W[0, 1], W[1, 0] = -1.0, 1.0
    rate = -np.linalg.solve(L, R + OMEGA * W @ L)
    field_current = PEAK / (OMEGA * L_AF)
    final = np.linalg.solve(-np.linalg.solve(L, R + OMEGA * W @ L), -np.linalg.solve(L, np.eye(5)[2]))
    final *= R_F * field_current
    i = final + expm(rate * t) @ (field_current * np.eye(5)[2] - final)
    theta = OMEGA * t
    return np.concatenate([i[0] * np.cos(theta - PHASES) - i[1] * np.sin(theta - PHASES), i[2:]])


def textbook_peak() -> float:
    """Current of phase a half a cycle after a short circuit at its largest flux, by the textbook's superposition [A].

    ``V̂ [1/X_d + (1/X′_d − 1/X_d) e^{−t/T′} + (1/X″_d − 1/X′_d) e^{−t/T″}] + V̂ ½(1/X″_d + 1/X″_q) e^{−t/T_a} + …``
    with the reactances and short-circuit time constants of the equivalent circuits.
    """
    p = PER_UNIT
    l, ad, aq = p["L_l"], p["L_ad"], p["L_aq"]
    fd = (L_FF * OMEGA / Z_ROTOR) - ad
    parallel = lambda *x: 1.0 / sum(1.0 / each for each in x)  # noqa: E731
    d, d1, d2 = l + ad, l + parallel(ad, fd), l + parallel(ad, fd, p["L_1d"])
    q2 = l + parallel(aq, p["L_1q"])
    slow = (fd + parallel(ad, l)) / (OMEGA * R_F / Z_ROTOR)
    fast = (p["L_1d"] + parallel(ad, fd, l)) / (OMEGA * p["R_1d"])
    armature = 2.0 / (1.0 / d2 + 1.0 / q2) / (OMEGA * R_A / Z_STATOR)
    t = math.pi / OMEGA
    alternating = 1.0 / d + (1.0 / d1 - 1.0 / d) * math.exp(-t / slow) + (1.0 / d2 - 1.0 / d1) * math.exp(-t / fast)
    decay = math.exp(-t / armature)
    direct, double = 0.5 * (1.0 / d2 + 1.0 / q2) * decay, 0.5 * (1.0 / d2 - 1.0 / q2) * decay
    return PEAK / Z_STATOR * (alternating + direct + double)


def angles(trajectory: Trajectory) -> Array:
    """Load angle δ = θ + π/2 − ωt relative to the network at the saved times (k + 1,) [rad]."""
    return trajectory["angle"][:, 0] + (0.5 - 2.0 * TURNS) * math.pi - OMEGA * trajectory.times


def torques(trajectory: Trajectory) -> Array:
    """Electric torque on the rotor at the saved times (k + 1,) [N m]."""
    x = np.hstack([currents(trajectory), trajectory.states[:, 6:]])
    return np.array([torque(row) for row in x])


def speeds(trajectory: Trajectory) -> Array:
    """Speed of the rotor divided by the synchronous speed, at the saved times (k + 1,)."""
    return trajectory["momentum"][:, 0] / (INERTIA * OMEGA)


def apart(runs: Mapping[str, Trajectory]) -> float:
    """Largest difference of the currents between the runs in both coordinates, divided by the largest current."""
    one, other = (currents(runs[name]) for name in COORDINATES)
    return float(np.abs(one - other).max() / np.abs(one).max())


def ledger(trajectory: Trajectory) -> dict[str, Array]:
    """Columns of a table with a row for each step, by name.

    They are the energies at the end of the step, the work of each port and the dissipation in it, and the balance
    residual, in [J].
    """
    balance = trajectory.ledger
    kinetic = trajectory["momentum"][1:, 0] ** 2 / (2.0 * INERTIA)
    magnetic = balance.total_energy[1:] - kinetic
    columns = {"t_s": trajectory.times[1:], "kinetic_J": kinetic, "magnetic_J": magnetic}
    columns |= {f"work_{name}_J": work for name, work in balance.work.items()}
    return columns | {"dissipated_J": balance.total_dissipation, "balance_residual_J": balance.residual}
