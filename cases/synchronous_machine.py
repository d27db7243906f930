"""A synchronous generator in currents and in fluxes ([dg] example 4 and appendix B).

Data: P. Kundur, Power System Stability and Control, McGraw-Hill 1994: 555 MVA, 24 kV, 60 Hz, 2 poles. Example 3.1 gives
stator and field in henry and ohm; example 3.2 per unit the leakages and the damper windings, of which [dg] has room for
one in each axis: 1d and 1q; examples of chapter 12 give H = 3.5 s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

from flexph import PHDAE, Trajectory, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import DiscreteGradient
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import converges, vanishes
from .files import write_rows

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
METHOD = DiscreteGradient("mean_value")
"""Gonzalez' correction along Δx adds webers, newton metre seconds and radians: it depends on units."""
SMALL_TURN = 1e-5  # Δθ below which L′ serves for ΔL/Δθ: it errs by (Δθ)²/24, the quotient by round-off over Δθ [rad]
TURNS = 10  # made before a loaded run begins: p is large, and checks by differences move θ in proportion to its size
FLOOR = np.finfo(float).eps / 8.0  # exact zeros are drawn here
CYCLES_SHORT, REFINED = 3.0, (25, 50, 100, 200)  # cycles and steps per cycle of the refinement

Inputs = Mapping[str, Callable[[float], Any] | float]


def _rotor() -> Array:
    """L_rr of field and dampers [H]; the dampers have as many turns as the field has, so L_fd is L_ad of its base."""
    base, p = Z_ROTOR / OMEGA, PER_UNIT
    mutual, d, q = p["L_ad"] * base, (p["L_ad"] + p["L_1d"]) * base, (p["L_aq"] + p["L_1q"]) * base
    return np.array([[L_FF, mutual, 0.0], [mutual, d, 0.0], [0.0, 0.0, q]])


L_RR = _rotor()
L_A1Q = L_AF * PER_UNIT["L_aq"] / PER_UNIT["L_ad"]  # damper of the q axis to a phase [H]
ZERO_SEQUENCE = L_LEAK - (L_S - 2.0 * L_M)  # what makes it the leakage: the published L_S − 2 L_M is nought [H]
L_SS = (L_S + L_M) * np.eye(3) + (ZERO_SEQUENCE / 3.0 - L_M)  # mean of the stator


def _harmonics() -> Array:
    """L(θ) = Σ_k f_k(θ) C_k with f = (1, cos θ, sin θ, cos 2θ, sin 2θ) as rows of (5, 36).

    Phase i is at the angle φ_i, the axis of the q damper a quarter turn ahead: its flux in phase i is −sin(θ − φ_i).
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
    """L(θ) (6, 6) [H]: phases a, b, c, field, dampers; positive definite.

    The published L_s and its mutual value −L_s/2 leave currents that are equal in all phases without inductance:
    L(θ) would be singular. They get the leakage here; no balanced run excites them.
    """
    c, s = math.cos(theta), math.sin(theta)
    matrix: Array = np.array([1.0, c, s, c * c - s * s, 2.0 * c * s]) @ HARMONICS
    return matrix.reshape(6, 6)


def inductance_slope(theta: float) -> Array:
    """L′(θ) (6, 6) [H/rad]."""
    c, s = math.cos(theta), math.sin(theta)
    slope: Array = np.array([0.0, -s, c, -4.0 * c * s, 2.0 * (c * c - s * s)]) @ HARMONICS
    return slope.reshape(6, 6)


def in_currents(inertia: float = INERTIA, discrete_jacobian: bool = True) -> PHDAE:
    """x = (I, p, θ) with E(x) = [[L, 0, L′I], [0, 1, 0], [0, 0, 1]], [dg] eq. (17).

    Over a step E is the discrete Jacobian of ψ = L(θ)I ([dg] theorem 6), :func:`flux_jacobian`; without
    ``discrete_jacobian`` it is E in the middle, from which fluxes drift.
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
    """Ē with Ē Δ(I, p, θ) = Δ(ψ, p, θ): ``½(L₀ + L₁) ΔI + (ΔL/Δθ) ½(I₀ + I₁) Δθ = Δ(LI)``."""
    jacobian, turn, before, after = np.eye(8), x1[7] - x0[7], inductance(x0[7]), inductance(x1[7])
    near = abs(turn) < SMALL_TURN
    slope = inductance_slope(0.5 * (x0[7] + x1[7])) if near else (after - before) / turn
    jacobian[:6, :6], jacobian[:6, 7] = 0.5 * (before + after), slope @ (0.5 * (x0[:6] + x1[:6]))
    return jacobian


def in_fluxes(inertia: float = INERTIA) -> PHDAE:
    """x = (ψ, p, θ) with E = 1 and H = ½ψᵀL(θ)⁻¹ψ + p²/2J_r, [dg] eq. (B.1)."""

    def z(x: Array) -> Array:
        current = np.linalg.solve(inductance(x[7]), x[:6])
        pull = 0.5 * float(current @ inductance_slope(x[7]) @ current)
        return np.concatenate([current, [x[6] / inertia, -pull]])

    def H(x: Array) -> float:
        return 0.5 * float(x[:6] @ np.linalg.solve(inductance(x[7]), x[:6])) + 0.5 * x[6] ** 2 / inertia

    return PHDAE(E=np.eye(8), z=z, H=H, **_shared(to_fluxes(start_open(inertia))))


def _shared(sample: Array) -> dict[str, Any]:
    """J, R, B and names, the same in both coordinates."""
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
    """(I, p, θ) to (ψ, p, θ)."""
    return np.concatenate([inductance(x[7]) @ x[:6], x[6:]])


def currents(trajectory: Trajectory) -> Array:
    """Currents of all windings (k + 1, 6) [A] in either coordinates."""
    x = trajectory.states
    if trajectory.system.E(x[0])[0, 0] != 1.0:
        return x[:, :6]
    return np.array([np.linalg.solve(inductance(row[7]), row[:6]) for row in x])


def torque(x: Array) -> float:
    """½ IᵀL′(θ)I on the rotor [N m] at a state in currents; negative in a generator."""
    return 0.5 * float(x[:6] @ inductance_slope(x[7]) @ x[:6])


@dataclass(frozen=True)
class Steady:
    """A steady operation at the network voltage PEAK·cos(ωt): state at t = 0 in currents, inputs, load angle [rad]."""

    state: Array
    field_voltage: float
    shaft_torque: float
    load_angle: float


def steady(load_angle: float, field_current: float) -> Steady:
    """Exact in dq coordinates: ``v = R i + jωψ``, ψ_d = L_d i_d + L_af i_f, ψ_q = L_q i_q."""
    theta = load_angle - 0.5 * math.pi + 2.0 * math.pi * TURNS
    v = PEAK * np.array([math.cos(theta), -math.sin(theta)])
    impedance = np.array([[R_A, -OMEGA * L_Q], [OMEGA * L_D, R_A]])
    i_d, i_q = np.linalg.solve(impedance, v - np.array([0.0, OMEGA * L_AF * field_current]))
    phases = i_d * np.cos(theta - PHASES) - i_q * np.sin(theta - PHASES)
    x = np.array([*phases, field_current, 0.0, 0.0, INERTIA * OMEGA, theta])
    return Steady(x, R_F * field_current, FRICTION * OMEGA - torque(x), load_angle)


def rated(power: float = 0.9, reactive: float = math.sqrt(1.0 - 0.9**2)) -> Steady:
    """Steady operation at the given active and reactive power per rating; by default full load at 0.9 lagging."""
    current = np.conj(RATING * complex(power, reactive) / (1.5 * PEAK))  # delivered, of phase a
    internal = PEAK + (R_A + 1j * OMEGA * L_Q) * current  # along the q axis
    angle = float(np.angle(internal))
    i_q, i_d = -(current * np.exp(-1j * angle)).real, (current * np.exp(-1j * angle)).imag
    field_current = (PEAK * math.cos(angle) - R_A * i_q - OMEGA * L_D * i_d) / (OMEGA * L_AF)
    return steady(angle, field_current)


def at_torque(shaft: float, field_current: float) -> Steady:
    """Steady operation at a shaft torque, on the stable side. Raises ValueError where the field is too weak for it."""
    angles = np.linspace(-0.1, math.pi, 200)
    pull_out = max(angles, key=lambda angle: steady(angle, field_current).shaft_torque)
    if shaft >= steady(pull_out, field_current).shaft_torque:
        raise ValueError(f"a shaft torque of {shaft:.3g} N m pulls the machine out of step")
    return steady(brentq(lambda a: steady(a, field_current).shaft_torque - shaft, -1.0, pull_out), field_current)


def network(t: float) -> Array:
    """Balanced terminal voltages (3,) [V]."""
    return PEAK * np.cos(OMEGA * t - PHASES)


def start_open(inertia: float = INERTIA) -> Array:
    """Full speed, rated voltage at open terminals, d axis on phase a: state in currents."""
    return np.array([0.0, 0.0, 0.0, PEAK / (OMEGA * L_AF), 0.0, 0.0, inertia * OMEGA, 0.0])


def short_circuit_inputs() -> Inputs:
    """Terminals shorted, field voltage and shaft torque as before."""
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
    """From a state in currents, in either coordinates."""
    times = np.arange(round(end * FREQUENCY * steps_per_cycle) + 1) / (FREQUENCY * steps_per_cycle)
    first = to_fluxes(start) if coordinates == "fluxes" else start
    return integrate(SYSTEMS[coordinates](), first, times, method=method, inputs=inputs)


@dataclass(frozen=True)
class Result:
    """Both runs in both coordinates, by their names, the operation that the load leads to, and the refinement."""

    short: dict[str, Trajectory]
    loaded: dict[str, Trajectory]
    target: Steady
    convergence: tuple[dict[str, float], ...]


def run(
    *,
    steps_per_cycle: Annotated[int, Option("time steps in a cycle of 1/60 s")] = 50,
    short_circuit: Annotated[float, Option("length of the run from open to shorted terminals", "s")] = 0.5,
    loaded: Annotated[float, Option("length of the run on the network after half load became full", "s")] = 1.5,
    power: Annotated[float, Option("full load: active power over the rating, at 0.9 lagging")] = 0.9,
) -> Result:
    """Synchronous generator in currents and in fluxes: short circuit and load on a network ([dg] example 4)."""
    if steps_per_cycle < 10:
        raise ValueError(f"steps_per_cycle must be at least 10, got {steps_per_cycle}")
    for name, length in (("short_circuit", short_circuit), ("loaded", loaded)):
        if not (math.isfinite(length) and length * FREQUENCY * steps_per_cycle >= 1.0):
            raise ValueError(f"{name} must be at least one step long, got {length}")
    if not 0.0 < power <= 1.0:
        raise ValueError(f"power must be above 0 and at most 1, got {power}")
    full = rated(power, power * math.tan(math.acos(0.9)))
    half, inputs = load_step(full)
    return Result(
        short={
            c: solve(c, start_open(), short_circuit_inputs(), steps_per_cycle=steps_per_cycle, end=short_circuit)
            for c in COORDINATES
        },
        loaded={c: solve(c, half.state, inputs, steps_per_cycle=steps_per_cycle, end=loaded) for c in COORDINATES},
        target=full,
        convergence=tuple(converge()),
    )


def load_step(full: Steady) -> tuple[Steady, Inputs]:
    """Steady operation at half the shaft torque, and the inputs that lead to the full one from there."""
    half = at_torque(0.5 * full.shaft_torque, full.state[3])
    return half, {"stator": network, "field": full.field_voltage, "shaft": full.shaft_torque}


def reference(end: float, inertia: float = INERTIA) -> Array:
    """The short circuit in currents at a time, by a Runge-Kutta method of order 8 in fluxes."""
    system, inputs, first = in_fluxes(inertia), short_circuit_inputs(), to_fluxes(start_open(inertia))
    u = np.array([0.0, 0.0, 0.0, inputs["field"], inputs["shaft"]])
    flow, B = system.J(system.sample) - system.R(system.sample), system.B(system.sample)
    motion = solve_ivp(lambda _, x: flow @ system.z(x) + B @ u, (0.0, end), first, "DOP853", rtol=1e-12, atol=1e-9)
    x = motion.y[:, -1]
    return np.concatenate([np.linalg.solve(inductance(x[7]), x[:6]), x[6:]])


def converge(cycles: float = CYCLES_SHORT, counts: Iterable[int] = REFINED) -> Iterable[dict[str, float]]:
    """Errors of the currents (over the largest) and of the speed after some cycles of the short circuit."""
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
    """Slopes over the two finest refinements."""
    *_, coarse, fine = rows
    ratio = math.log(fine["steps_per_cycle"] / coarse["steps_per_cycle"])
    return {name: math.log(coarse[name] / fine[name]) / ratio for name in coarse if name != "steps_per_cycle"}


def constant_speed(t: float) -> Array:
    """The shorted currents (6,) at a speed held constant: dq coordinates by the matrix exponential.

    ``d(L i)/dt = −(R + ω W L) i + v`` with constant L of (d, q, field, damper d, damper q) and W = [[0, −1], [1, 0]] of
    the stator; the rotor sees the stator through three halves of its flux linkage.
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
    """Phase a half a cycle after the short circuit at its largest flux, by the textbook's superposition [A].

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
    """Load angle δ = θ + π/2 − ωt against the network (k + 1,) [rad]."""
    return trajectory["angle"][:, 0] + (0.5 - 2.0 * TURNS) * math.pi - OMEGA * trajectory.times


def torques(trajectory: Trajectory) -> Array:
    """Electric torque on the rotor at the saved times (k + 1,) [N m]."""
    x = np.hstack([currents(trajectory), trajectory.states[:, 6:]])
    return np.array([torque(row) for row in x])


def speeds(trajectory: Trajectory) -> Array:
    """Speed over the synchronous one (k + 1,)."""
    return trajectory["momentum"][:, 0] / (INERTIA * OMEGA)


def apart(runs: Mapping[str, Trajectory]) -> float:
    """Largest difference of the currents in both coordinates, over the largest current."""
    one, other = (currents(runs[name]) for name in COORDINATES)
    return float(np.abs(one - other).max() / np.abs(one).max())


def figures(result: Result) -> dict[str, Any]:
    """Numbers of both runs, in per unit of the rating where nothing is said."""
    short, loaded = result.short["fluxes"], result.loaded["fluxes"]
    both = (*result.short.values(), *result.loaded.values())
    grid = np.linspace(0.0, math.pi, 181)
    phase, rest = currents(short)[:, :3], currents(short)[:, 3:]
    return {
        "smallest_inductance_mH": 1e3 * min(np.linalg.eigvalsh(inductance(theta))[0] for theta in grid),
        "short_circuit_peak_kA": 1e-3 * np.abs(phase).max(),
        "short_circuit_peak_textbook_kA": 1e-3 * textbook_peak(),
        "short_circuit_field_peak_kA": 1e-3 * np.abs(rest[:, 0]).max(),
        "short_circuit_torque_peak": np.abs(torques(short)).max() * OMEGA / RATING,
        "load_angle_start_deg": math.degrees(angles(loaded)[0]),
        "load_angle_largest_deg": math.degrees(angles(loaded).max()),
        "load_angle_end_deg": math.degrees(angles(loaded)[-1]),
        "load_angle_of_full_load_deg": math.degrees(result.target.load_angle),
        "coordinates_apart_short_circuit": apart(result.short),
        "coordinates_apart_loaded": apart(result.loaded),
        "orders": orders(result.convergence),
        "balance_residual_max_rel": max(trajectory.balance.largest_residual for trajectory in both),
        "balance_residual_max_J": max(trajectory.balance.residual.max() for trajectory in both),
        "energy_drift_max_rel": max(trajectory.energy_drift() for trajectory in both),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Tables and pictures of both runs in fluxes; differences to currents, refinement."""
    for name, runs in (("short-circuit", result.short), ("loaded", result.loaded)):
        trajectory = runs["fluxes"]
        columns = {
            "t_s": trajectory.times,
            "theta_rad": trajectory["angle"][:, 0],
            "speed_over_synchronous": speeds(trajectory),
        }
        columns |= {f"i_{w.replace(' ', '_')}_A": i for w, i in zip(WINDINGS, currents(trajectory).T, strict=True)}
        write_table(folder / f"{name}.csv", columns | {"electric_torque_Nm": torques(trajectory)})
        write_table(folder / f"{name}-ledger.csv", ledger(trajectory))
    write_rows(folder / "convergence.csv", result.convergence)
    draw_short(result, folder / "short-circuit.png")
    draw_loaded(result, folder / "loaded.png")
    draw_ledgers(result, folder / "ledger.png")
    draw_convergence(result, folder / "convergence.png")
    return figures(result)


def ledger(trajectory: Trajectory) -> dict[str, Array]:
    """Energy by part at the end of each step, works by port and dissipation within it, balance residual [J]."""
    balance = trajectory.balance
    kinetic = trajectory["momentum"][1:, 0] ** 2 / (2.0 * INERTIA)
    magnetic = balance.total_energy[1:] - kinetic
    columns = {"t_s": trajectory.times[1:], "kinetic_J": kinetic, "magnetic_J": magnetic}
    columns |= {f"work_{name}_J": work for name, work in balance.work.items()}
    return columns | {"dissipated_J": balance.total_dissipation, "balance_residual_J": balance.residual}


def draw_short(result: Result, path: Path) -> None:
    """Phase currents, rotor currents, electric torque and speed after the short circuit."""
    figure = new_figure(12.0, 7.2)
    phases, rotor, pull, speed = figure.subplots(2, 2, sharex=True).ravel()
    fluxes, other = result.short["fluxes"], result.short["currents"]
    for k, i in enumerate(currents(fluxes).T):
        axes, label = (phases, f"phase {WINDINGS[k]}") if k < 3 else (rotor, WINDINGS[k])
        axes.plot(fluxes.times, 1e-3 * i, linewidth=0.9, color=f"C{k}", label=label)
    for axes, unit in ((phases, "stator currents [kA]"), (rotor, "rotor currents [kA]")):
        axes.set_ylabel(unit)
    for trajectory, style, name in ((fluxes, "-", "in fluxes"), (other, "--", "in currents")):
        pull.plot(trajectory.times, 1e-6 * torques(trajectory), style, linewidth=0.9, label=name)
        speed.plot(trajectory.times, speeds(trajectory), style, linewidth=0.9, label=name)
    pull.set_ylabel("electric torque on the rotor [MN m]")
    speed.set_ylabel("speed over synchronous speed")
    speed.ticklabel_format(useOffset=False)
    for axes in (phases, rotor, pull, speed):
        axes.legend(fontsize="small", ncols=3, loc="upper right")
        axes.grid(alpha=0.3)
    for axes in (pull, speed):
        axes.set_xlabel("t [s]")
    figure.savefig(path)


def draw_loaded(result: Result, path: Path) -> None:
    """Load angle, electric torque, speed and the size of the stator current on the way to full load."""
    figure = new_figure(12.0, 7.2)
    angle, pull, speed, current = figure.subplots(2, 2, sharex=True).ravel()
    target = result.target
    for name, style in (("fluxes", "-"), ("currents", "--")):
        trajectory = result.loaded[name]
        size = np.sqrt(2.0 / 3.0 * np.sum(currents(trajectory)[:, :3] ** 2, axis=1))
        for axes, values in (
            (angle, np.degrees(angles(trajectory))),
            (pull, -1e-6 * torques(trajectory)),
            (speed, 60.0 / (2.0 * math.pi) * OMEGA * (speeds(trajectory) - 1.0)),
            (current, 1e-3 * size),
        ):
            axes.plot(trajectory.times, values, style, linewidth=1.2, label=f"in {name}")
    size = math.sqrt(2.0 / 3.0 * np.sum(target.state[:3] ** 2))
    steady_values = (math.degrees(target.load_angle), -1e-6 * torque(target.state), 0.0, 1e-3 * size)
    for axes, value in zip((angle, pull, speed, current), steady_values, strict=True):
        axes.axhline(value, color="k", linestyle=":", linewidth=1.0, label="steady full load")
        axes.legend(fontsize="small", loc="lower right", ncols=3)
        axes.grid(alpha=0.3)
        axes.margins(y=0.18)
    angle.set_ylabel("load angle [°]")
    pull.set_ylabel("electric torque against the shaft [MN m]")
    speed.set_ylabel("speed over synchronous speed [r/min]")
    current.set_ylabel("amplitude of the stator current [kA]")
    for axes in (speed, current):
        axes.set_xlabel("t [s]")
    figure.savefig(path)


def draw_ledgers(result: Result, path: Path) -> None:
    """Both runs: where the energy is, what came in and went out, and the balance residual of every step."""
    figure = new_figure(12.0, 9.6)
    panels = figure.subplots(3, 2, height_ratios=(3, 3, 2), sharex="col")
    for column, (title, runs) in enumerate((("short circuit", result.short), ("loaded", result.loaded))):
        stored, moved, audit = panels[:, column]
        trajectory = runs["fluxes"]
        book, energy = ledger(trajectory), trajectory.balance.total_energy
        kinetic = trajectory["momentum"][:, 0] ** 2 / (2.0 * INERTIA)
        for name, values in (("kinetic", kinetic), ("magnetic", energy - kinetic)):
            stored.plot(trajectory.times, 1e-6 * (values - values[0]), linewidth=1.2, label=name)
        stored.plot(trajectory.times, 1e-6 * (energy - energy[0]), "k:", label="total")
        stored.set_ylabel("energy since the start [MJ]")
        for name in PORTS:
            moved.plot(book["t_s"], 1e-6 * np.cumsum(book[f"work_{name}_J"]), linewidth=1.2, label=f"work of {name}")
        moved.plot(book["t_s"], 1e-6 * np.cumsum(book["dissipated_J"]), "--", label="dissipated")
        moved.plot(trajectory.times, 1e-6 * (energy - energy[0]), "k:", label="change of energy")
        moved.set_ylabel("accumulated [MJ]")
        for name in COORDINATES:
            relative = np.maximum(runs[name].balance.residual / energy.max(), FLOOR)
            audit.semilogy(runs[name].output_times, relative, ".", markersize=2, label=f"in {name}")
        audit.axhline(np.finfo(float).eps, color="0.6", linewidth=0.8, label="round-off of one number")
        audit.set_ylim(FLOOR / 2.0, 1e-14)
        audit.set_ylabel("balance residual / energy")
        audit.set_xlabel("t [s]")
        stored.set_title(title)
        stored.legend(fontsize="small")
        above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 3, "frameon": False}
        moved.legend(fontsize="small", **above)
        audit.legend(fontsize="small", markerscale=4, **above)
        for axes in (stored, moved, audit):
            axes.grid(alpha=0.3)
    figure.savefig(path)


def draw_convergence(result: Result, path: Path) -> None:
    """Errors of the currents after three cycles of the short circuit over the step."""
    figure = new_figure(6.4, 4.8)
    axes = figure.subplots()
    counts = np.array([row["steps_per_cycle"] for row in result.convergence])
    curves = {name: f"{name}: currents" for name in SYSTEMS} | {"fluxes and currents apart": "apart"}
    for (label, name), style in zip(curves.items(), ("o-", "s-", "^-", "x--"), strict=True):
        axes.loglog(counts, [row[name] for row in result.convergence], style, linewidth=1.0, label=label)
    axes.loglog(counts, 1e-4 * (counts[0] / counts) ** 2, color="0.6", linewidth=0.8, label="order 2")
    axes.set_xticks(counts, [f"{int(c)}" for c in counts])
    axes.xaxis.set_minor_formatter("")
    axes.set_xlabel("steps in a cycle of 1/60 s")
    axes.set_ylabel("error of the currents / largest current")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3, which="both")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Definite inductance, the short circuit against two other solutions, a steady load, orders and balances."""
    grid = np.linspace(0.0, math.pi, 181)
    smallest = 1e3 * float(min(np.linalg.eigvalsh(inductance(theta))[0] for theta in grid))
    yield Check(
        "smallest inductance on a grid of θ [mH]",
        "leakage of the stator",
        1e3 * L_LEAK,
        smallest,
        kind="closed form",
        tolerance=1e-3,
    )
    cycle = 1.0 / FREQUENCY
    short = {
        c: solve(c, start_open(), short_circuit_inputs(), steps_per_cycle=100, end=3.0 * cycle) for c in COORDINATES
    }
    peak = float(np.abs(currents(short["fluxes"])[:, 0]).max())
    # the textbook's formula neglects resistances beside reactances: some per cent in the first half cycle
    yield Check(
        "short circuit, peak of phase a [A]",
        "textbook formula",
        textbook_peak(),
        peak,
        kind="closed form",
        tolerance=0.03,
    )
    exact, heavy = constant_speed(cycle), reference(cycle, 1e6 * INERTIA)[:6]  # which turns on at the same speed
    off = float(np.abs(heavy - exact).max() / np.abs(exact).max())
    yield vanishes("currents at constant speed", off, 1e-6, source="matrix exponential", kind="independent code")
    half, inputs = load_step(rated())
    loaded = {c: solve(c, half.state, inputs, steps_per_cycle=50, end=0.2) for c in COORDINATES}
    held = rated()
    still: Inputs = {"stator": network, "field": held.field_voltage, "shaft": held.shaft_torque}
    angle = angles(
        solve("fluxes", held.state, still, steps_per_cycle=50, end=0.5)
    )  # (hω)² of the step, 4e-3 of 0.7 rad, at most
    yield vanishes(
        "steady load: drift of the load angle [rad]", np.ptp(angle), 2e-4, source="phasors", kind="closed form"
    )
    for name, order in orders(tuple(converge(counts=(100, 200)))).items():
        if "speed" not in name:
            yield converges(f"order, {name}", order, 0.1, source="[dg] proposition 1")
    for name, runs in (("short circuit", short), ("load", loaded)):
        for coordinates, trajectory in runs.items():
            worst = trajectory.balance.largest_residual
            yield vanishes(f"balance residual over energy, {name}, {coordinates}", worst, 1e-13)


case = Case(run, write, checks, needs=("matplotlib",), system=in_currents)
