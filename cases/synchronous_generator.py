"""A synchronous generator: its data, its inductances and its equations in currents and in fluxes ([dg] appendix B).

Data: P. Kundur, Power System Stability and Control, McGraw-Hill 1994: 555 MVA, 24 kV, 60 Hz, 2 poles. Example 3.1 has
stator and field in henry and ohm; example 3.2 gives, per unit, the leakages and the damper windings, of which [dg]
models one in each axis: 1d and 1q; examples of chapter 12 give H = 3.5 s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from flexph import PHDAE, Trajectory
from flexph.numerics.arrays import Array

RATING, VOLTAGE, FREQUENCY = 555e6, 24e3, 60.0  # [VA], line to line [V], [Hz]
OMEGA = 2.0 * math.pi * FREQUENCY  # of two poles also the speed of the shaft [rad/s]
PEAK = VOLTAGE * math.sqrt(2.0 / 3.0)  # of a phase [V]
L_S, L_2, L_M = 3.2758e-3, 0.0458e-3, 1.6379e-3  # stator: mean, its variation, mutual [H]
L_AF, L_FF = 40.0e-3, 576.92e-3  # field: to a phase, own [H]
R_A, R_F = 0.0031, 0.0715  # [Ω]
PER_UNIT = {"L_l": 0.15, "L_ad": 1.66, "L_aq": 1.61, "L_1d": 0.1713, "R_1d": 0.0284, "L_1q": 0.7252, "R_1q": 0.00619}
Z_STATOR = VOLTAGE**2 / RATING  # base of the stator [Ω]
L_LEAK = PER_UNIT["L_l"] * Z_STATOR / OMEGA  # [H]
L_D, L_Q = L_S + L_M + 1.5 * L_2, L_S + L_M - 1.5 * L_2  # synchronous inductances [H]
I_ROTOR = (L_D - L_LEAK) / L_AF * 2.0 * RATING / (3.0 * PEAK)  # base of the rotor, reciprocal system [A]
Z_ROTOR = RATING / I_ROTOR**2  # [Ω]
INERTIA = 2.0 * 3.5 * RATING / OMEGA**2  # J_r of H = 3.5 s [kg m²]
FRICTION = 1e-3 * RATING / OMEGA**2  # d, chosen: 0.1 % of the rating at full speed; [dg] asks for d > 0 [N m s]
PHASES = np.array([0.0, 2.0, -2.0]) * math.pi / 3.0
RESISTANCE = np.array([R_A, R_A, R_A, R_F, PER_UNIT["R_1d"] * Z_ROTOR, PER_UNIT["R_1q"] * Z_ROTOR])
PORTS = {"stator": slice(0, 3), "field": slice(3, 4), "shaft": slice(4, 5)}
WINDINGS = ("a", "b", "c", "field", "damper d", "damper q")
COORDINATES = ("currents", "fluxes")
SMALL_TURN = 1e-5  # Δθ below which L′ serves for ΔL/Δθ: it errs by (Δθ)²/24, the quotient by round-off over Δθ [rad]


def _rotor() -> Array:
    """Inductances L_rr (3, 3) [H] of field and damper windings among each other, with equal numbers of turns.

    The mutual inductance of field and damper in the d axis is the per-unit L_ad times the base inductance.
    """
    base, p = Z_ROTOR / OMEGA, PER_UNIT
    mutual, d, q = p["L_ad"] * base, (p["L_ad"] + p["L_1d"]) * base, (p["L_aq"] + p["L_1q"]) * base
    return np.array([[L_FF, mutual, 0.0], [mutual, d, 0.0], [0.0, 0.0, q]])


L_RR = _rotor()
L_A1Q = L_AF * PER_UNIT["L_aq"] / PER_UNIT["L_ad"]  # damper of the q axis to a phase [H]
ZERO_SEQUENCE = L_LEAK - (L_S - 2.0 * L_M)  # what makes it the leakage: the published L_S − 2 L_M is nought [H]
L_SS = (L_S + L_M) * np.eye(3) + (ZERO_SEQUENCE / 3.0 - L_M)  # mean of the stator


def _harmonics() -> Array:
    """Flattened matrices C_k (5, 36) of L(θ) = Σ_k f_k(θ) C_k with f = (1, cos θ, sin θ, cos 2θ, sin 2θ).

    Phase i is at the angle φ_i, the axis of the q damper 90° ahead: its flux in phase i is −sin(θ − φ_i).
    """
    C, c, s = np.zeros((5, 6, 6)), np.cos(PHASES), np.sin(PHASES)
    C[0, :3, :3], C[0, 3:, 3:] = L_SS, L_RR
    C[1, :3, 3:] = np.column_stack([L_AF * c, L_AF * c, L_A1Q * s])
    C[2, :3, 3:] = np.column_stack([L_AF * s, L_AF * s, -L_A1Q * c])
    C[1:3, 3:, :3] = C[1:3, :3, 3:].transpose(0, 2, 1)
    C[3, :3, :3], C[4, :3, :3] = (L_2 * f(PHASES[:, None] + PHASES) for f in (np.cos, np.sin))
    return C.reshape(5, 36)


HARMONICS = _harmonics()


def inductance(theta: float) -> Array:
    """Inductance matrix L(θ) (6, 6) [H] of phases a, b, c, field and dampers at the rotor angle θ; positive definite.

    With the published L_s and its mutual value −L_s/2, equal currents in all phases would have no inductance, and L(θ)
    would be singular. In this matrix equal currents have the leakage inductance, which no balanced run excites.
    """
    c, s = math.cos(theta), math.sin(theta)
    matrix: Array = np.array([1.0, c, s, c * c - s * s, 2.0 * c * s]) @ HARMONICS
    return matrix.reshape(6, 6)


def inductance_slope(theta: float) -> Array:
    """Derivative L′(θ) (6, 6) [H/rad] of the inductance matrix with respect to the rotor angle θ."""
    c, s = math.cos(theta), math.sin(theta)
    slope: Array = np.array([0.0, -s, c, -4.0 * c * s, 2.0 * (c * c - s * s)]) @ HARMONICS
    return slope.reshape(6, 6)


def in_currents(inertia: float = INERTIA, discrete_jacobian: bool = True) -> PHDAE:
    """System in currents, x = (I, p, θ), with E(x) = [[L, 0, L′I], [0, 1, 0], [0, 0, 1]], [dg] eq. (17).

    Over a step E is the discrete Jacobian of ψ = L(θ)I ([dg] theorem 6), :func:`flux_jacobian`; without
    ``discrete_jacobian`` it is E at the midpoint, with a drift of fluxes. ``inertia`` is J_r of the rotor.
    """

    def E(x: Array) -> Array:
        matrix = np.eye(8)
        matrix[:6, :6], matrix[:6, 7] = inductance(x[7]), inductance_slope(x[7]) @ x[:6]
        return matrix

    def z(x: Array) -> Array:
        return np.concatenate([x[:6], [x[6] / inertia, -torque(x)]])

    def H(x: Array) -> float:
        return 0.5 * float(x[:6] @ inductance(x[7]) @ x[:6]) + 0.5 * x[6] ** 2 / inertia

    means = {"E": flux_jacobian} if discrete_jacobian else {}
    return PHDAE(E=E, z=z, H=H, means=means, **_shared(start_open(inertia)))


def flux_jacobian(x0: Array, x1: Array) -> Array:
    """Matrix Ē (8, 8) of a step between the states x0 and x1, with Ē Δ(I, p, θ) = Δ(ψ, p, θ).

    ``½(L₀ + L₁) ΔI + (ΔL/Δθ) ½(I₀ + I₁) Δθ = Δ(LI)``.
    """
    jacobian, turn, before, after = np.eye(8), x1[7] - x0[7], inductance(x0[7]), inductance(x1[7])
    near = abs(turn) < SMALL_TURN
    slope = inductance_slope(0.5 * (x0[7] + x1[7])) if near else (after - before) / turn
    jacobian[:6, :6], jacobian[:6, 7] = 0.5 * (before + after), slope @ (0.5 * (x0[:6] + x1[:6]))
    return jacobian


def in_fluxes(inertia: float = INERTIA) -> PHDAE:
    """System in fluxes, x = (ψ, p, θ), with E = 1 and H = ½ψᵀL(θ)⁻¹ψ + p²/2J_r, [dg] eq. (B.1).

    ``inertia`` is J_r of the rotor.
    """

    def z(x: Array) -> Array:
        current = np.linalg.solve(inductance(x[7]), x[:6])
        pull = 0.5 * float(current @ inductance_slope(x[7]) @ current)
        return np.concatenate([current, [x[6] / inertia, -pull]])

    def H(x: Array) -> float:
        return 0.5 * float(x[:6] @ np.linalg.solve(inductance(x[7]), x[:6])) + 0.5 * x[6] ** 2 / inertia

    return PHDAE(E=np.eye(8), z=z, H=H, **_shared(to_fluxes(start_open(inertia))))


def _shared(sample: Array) -> dict[str, Any]:
    """Matrices J, R and B and the names of the parts and ports, which the systems in currents and in fluxes share."""
    J, B = np.zeros((8, 8)), np.zeros((8, 5))
    J[6, 7], J[7, 6] = -1.0, 1.0
    B[:4, :4], B[6, 4] = np.eye(4), 1.0
    parts = {"windings": slice(0, 6), "momentum": slice(6, 7), "angle": slice(7, 8)}
    return {"J": J, "R": np.diag([*RESISTANCE, FRICTION, 0.0]), "B": B, "sample": sample, "ports": PORTS,
            "parts": parts}  # fmt: skip


SYSTEMS: dict[str, Callable[[], PHDAE]] = {
    "currents": in_currents,
    "currents, E in the middle": lambda: in_currents(discrete_jacobian=False),
    "fluxes": in_fluxes,
}


def to_fluxes(x: Array) -> Array:
    """State in fluxes, (ψ, p, θ), from the state in currents, (I, p, θ)."""
    return np.concatenate([inductance(x[7]) @ x[:6], x[6:]])


def currents(trajectory: Trajectory) -> Array:
    """Currents of all windings (k + 1, 6) [A] of a run in currents or in fluxes."""
    x = trajectory.states
    if trajectory.system.E(x[0])[0, 0] != 1.0:
        return x[:, :6]
    return np.array([np.linalg.solve(inductance(row[7]), row[:6]) for row in x])


def start_open(inertia: float = INERTIA) -> Array:
    """State in currents at full speed, with rated voltage at open terminals and the d axis on phase a."""
    return np.array([0.0, 0.0, 0.0, PEAK / (OMEGA * L_AF), 0.0, 0.0, inertia * OMEGA, 0.0])


def torque(x: Array) -> float:
    """Torque ½ IᵀL′(θ)I on the rotor [N m] at a state in currents; negative in a generator."""
    return 0.5 * float(x[:6] @ inductance_slope(x[7]) @ x[:6])
