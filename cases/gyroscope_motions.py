"""Motions of a gyroscope in its gimbal in three kinds of coordinates, and reference solutions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import PPoly, make_interp_spline
from scipy.spatial.transform import Rotation

import rigid
from flexph import Trajectory, ValidityWarning, integrate
from flexph.methods import DiscreteGradient, Gauss
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array

MASS, RADIUS, WIDTH = 1.0, 0.1, 0.02  # of the disc [kg], [m], [m]
INERTIA = MASS / 12.0 * np.array([6.0 * RADIUS**2, *[3.0 * RADIUS**2 + WIDTH**2] * 2])  # (15) [kg m²]
AXIAL, ACROSS = INERTIA[0], INERTIA[1]
KEPT: dict[str, rigid.Orientation] = {
    "angles": rigid.angles("xyz"),
    "matrix": rigid.rotation_matrix(),
    "quaternion": rigid.quaternion(),
}
COARSER = 4  # steps of the pair in one of gauss6
SWEEP = (0.125, 0.25, 0.5, 1.0)  # torques of the table of rates, over that of the run
TILT = math.radians(40.0)  # angle of the axle from its cone's axis, where it passes the lock
DISTANCES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 5e-3)  # of the axle from z where it is nearest [rad]
Start = Literal["rest", "steady"]
Which = Literal["all", "angles", "matrix", "quaternion"]


@dataclass(frozen=True)
class Result:
    """Runs of the gyroscope by kind of coordinates, rates by torque, and errors by distance from gimbal lock.

    Start values are ``torque`` [N m], ``spin`` [rad/s] and the angle β ``tilt`` [rad]; ``rates`` and ``lock`` are
    tables.
    """

    runs: dict[str, Trajectory]
    torque: float
    spin: float
    tilt: float
    start: Start
    rates: tuple[dict[str, float], ...]
    lock: tuple[dict[str, float], ...]


def gyroscope(orientation: rigid.Orientation) -> rigid.MultibodySystem:
    """System of the gyroscope with ζ = orientation and ϖ = ω, [rigid] eq. (16)-(18).

    Its port is the torque on the second axis; ``orientation`` is the kind of coordinates.
    """
    return rigid.pivoted_body(INERTIA, orientation=orientation, ports={"second axis": rigid.Gimbal(1)})


def solve(
    kept: str, times: Array, torque: float, spin: float, *, tilt: float = 0.0, start: Start = "rest"
) -> Trajectory:
    """Run from α = γ = 0 and β = ``tilt`` [rad], with the spin of the disc only or in steady precession.

    ``kept`` is the kind of coordinates: "angles", "matrix" or "quaternion" as in KEPT.
    """
    orientation = KEPT[kept]
    rate = steady(torque, spin, tilt) if start == "steady" else 0.0
    system, inputs = gyroscope(orientation), {"second axis": [torque]}
    zeta = orientation.coordinates(Rotation.from_euler("xyz", (0.0, tilt, 0.0)))
    begin = system.state(zeta, [spin, 0.0, rate * math.cos(tilt)], inputs=inputs)
    return integrate(system.phdae(), begin, times, inputs=inputs, method=method_of(kept))


def method_of(kept: str) -> Gauss | DiscreteGradient:
    """Method of integration for a kind of coordinates: Gauss collocation for angles, else the discrete gradient pair.

    The pair preserves RᵀR = 1 or |q| = 1.
    """
    return Gauss(6) if kept == "angles" else DiscreteGradient("pair")


def steady(torque: float, spin: float, tilt: float = 0.0) -> float:
    """Rate Ω of the slow steady precession [rad/s], the smaller root of ``M = Ω cos β (p + C Ω sin β)``.

    Raises ValueError if there is none at the angle β ``tilt``.
    """
    p, c, s = AXIAL * spin, math.cos(tilt), math.sin(tilt)
    under = p * p + 4.0 * ACROSS * torque * s / c
    if under < 0.0:
        raise ValueError(f"no steady precession at a tilt of {math.degrees(tilt):.3g}° with {torque:g} N m: the disc "
                         f"must spin faster than {math.sqrt(p * p - under) / AXIAL:.4g} rad/s")  # fmt: skip
    return 2.0 * torque / c / (p + math.copysign(math.sqrt(under), p))


def suspension(run: Trajectory, kept: str) -> Array:
    """Angles β and γ of a run over time (k, 2) [rad], without jumps by full turns.

    ``kept`` is the kind of coordinates of the run.
    """
    rotation = KEPT[kept].rotation(run["orientation"])
    zeta = KEPT["angles"].coordinates(rotation)[:, 1:]
    return np.unwrap(zeta, axis=0)


def mean_rates(run: Trajectory, kept: str) -> tuple[float, float]:
    """Mean precession and circular frequency of nutation [rad/s] over all complete nutations of a run from rest."""
    beta, gamma = (make_interp_spline(run.times, angle, k=5) for angle in suspension(run, kept).T)
    rate = PPoly.from_spline(beta.derivative())
    sign = float(beta(run.times[1]) - beta(0.0))  # of the motion from rest
    rests = [t for t in rate.roots(extrapolate=False) if sign * rate(t, 1) > 0.0 and t > 2.0 * run.times[1]]
    last = float(rests[-1])
    return float(gamma(last)) / last, 2.0 * math.pi * len(rests) / last


def reference(times: Array, torque: float, spin: float) -> Array:
    """Angles β and γ (k, 2) [rad] at ``times`` from rest at β = γ = 0, from the equation of β with P = 0.

    They are the solution of an adaptive integrator for a torque [N m] and a spin of the disc [rad/s].
    """
    p = AXIAL * spin

    def rates(_: float, y: Array) -> list[float]:
        s, c = math.sin(y[0]), math.cos(y[0])
        turn = p * s / (ACROSS * c * c)  # P = 0
        return [y[1], (torque - p * turn * c) / ACROSS - turn * turn * s * c, turn]

    span = (0.0, float(times[-1]))
    motion = solve_ivp(rates, span, [0.0, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-14, t_eval=times)
    return motion.y[[0, 2]].T


def rate_table(torque: float, spin: float, steps: int = 24) -> list[dict[str, float]]:
    """Table of precession and nutation from rest for several torques up to ``torque``, in angles by gauss6.

    Each nutation has ``steps`` steps. Rows compare with the law M/(Aω) and its correction of second order.
    """
    rows = []
    for M in torque * np.array(SWEEP):
        law, nutation = M / (AXIAL * spin), AXIAL * abs(spin) / ACROSS
        times = 2.0 * math.pi / nutation / steps * np.arange(round(1.25 * steps))
        precession, frequency = mean_rates(solve("angles", times, M, spin), "angles")
        small = abs(law) / nutation
        row = {"torque_N_m": M, "law_rad_s": law, "precession_rad_s": precession, "nutation_rad_s": frequency}
        row |= {"epsilon": small, "precession_short": 1.0 - precession / law, "theory_short": 1.25 * small**2}
        rows.append(row | {"nutation_beyond": frequency / nutation - 1.0, "theory_beyond": 2.5 * small**2})
    return rows


def pass_lock(kept: str, distance: float, spin: float, steps: int = 61) -> tuple[float, list[str]]:
    """Largest error of R over a torque-free turn of the axle that passes near the lock, and warnings of the run.

    The axle turns about the angular momentum L and passes z (β = π/2) at ``distance`` [rad], in the middle of a step,
    as the number of steps is odd. The exact solution is ``R = exp(t L/C) R₀ exp(t (1 − A/C) ω_x')``, L = p n + C ω_⊥ in
    world axes. Angles may fail at the distance 0.
    """
    turn = AXIAL * spin / math.cos(TILT) / ACROSS  # |L|/C [rad/s]
    cone = np.array([math.sin(TILT + distance), 0.0, -math.cos(TILT + distance)])  # direction of L: β > 0 points down
    rate = np.array([(1.0 - AXIAL / ACROSS) * spin, 0.0, 0.0])
    times = 2.0 * math.pi / abs(turn) * (np.arange(steps + 1) / steps)
    lowest = Rotation.from_euler("y", 0.5 * math.pi - distance)  # n in the plane of z and L
    about_cone = Rotation.from_rotvec(np.outer(turn * times - math.copysign(math.pi, turn), cone))
    exact = about_cone * lowest * Rotation.from_rotvec(np.outer(times, rate))
    orientation = KEPT[kept]
    system = rigid.pivoted_body(INERTIA, orientation=orientation)
    begin = system.state(orientation.coordinates(exact[0]), exact[0].inv().apply(turn * cone) + rate)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ValidityWarning)
        trajectory = integrate(system.phdae(), begin, times, method=method_of(kept))
    error = np.abs(orientation.rotation(trajectory["orientation"]) - exact.as_matrix()).max()
    return float(error), [str(w.message) for w in said]


def lock_table(spin: float) -> list[dict[str, float]]:
    """Table of the errors of R for several distances of the axle from gimbal lock, in all kinds of coordinates.

    It also has the number of warnings for angles.
    """
    rows = []
    for distance in DISTANCES:
        passes = {kept: pass_lock(kept, distance, spin) for kept in KEPT}
        errors = {f"error_{kept}": error for kept, (error, _) in passes.items()}
        rows.append({"distance_rad": distance, **errors, "warnings_angles": float(len(passes["angles"][1]))})
    return rows


def mesh(step: float, duration: float) -> Array:
    """Times of equal steps of at most ``step`` [s] up to ``duration``.

    Their number is a multiple of :data:`COARSER`, since steps of gauss6 are so many times as long.
    """
    check.positive("step", step, "s")
    count = COARSER * math.ceil(check.positive("duration", duration, "s") / (COARSER * step) - 1e-9)
    return np.linspace(0.0, duration, count + 1)


def defects(run: Trajectory, kept: str) -> Array:
    """Defects |RᵀR − 1| or ||q| − 1| of a run at all times (k,); ``kept`` is the kind of coordinates."""
    return np.array([KEPT[kept].defect(zeta) for zeta in run["orientation"]])


def apart(runs: dict[str, Trajectory], first: str, second: str) -> Array:
    """Largest difference of the entries of R at each common time (k,) of two runs, by their kinds of coordinates."""
    both = min(len(runs[name].times) for name in (first, second)) - 1
    one, other = (
        KEPT[name].rotation(runs[name]["orientation"][:: (len(runs[name].times) - 1) // both])
        for name in (first, second)
    )
    return np.abs(one - other).max(axis=(1, 2))


def slope(sizes: Any, rows: Iterable[dict[str, float]], name: str) -> float:
    """Order of convergence of a table's column ``name`` with respect to ``sizes``, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log([row[name] for row in rows]), 1)[0])
