"""Motions of a coin: upright in three models, constrained, reduced and as a mechanism, and a wobbling euro.

Symbols are those of the case :mod:`cases.rolling_coin`, equations those of [survey].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.special import fresnel

import rigid
from flexph import GROUND, Mechanism, Solution, State, Trajectory, connect, hinge, integrate, planar, torque
from flexph.drawing import cylinder_shape
from flexph.joints import rolling_disc
from flexph.methods import Exact
from flexph.numerics.arrays import Array

START = np.array([0.0, 0.0, 0.0, -1.2])  # x, y [m], θ, φ [rad]
RATES = np.array([1.0, 1.0])  # φ̇, θ̇ [rad/s]
DURATION = 12.0  # [s]
EURO_MASS, EURO_RADIUS, GRAVITY = 7.5e-3, 11.625e-3, 9.81  # [kg], [m], [m/s²]
TILT, SHARE = math.radians(40.0), 0.6  # of the euro from the ground [rad]; its spin over that of the steady motion


def constrained() -> rigid.MultibodySystem:
    """System of example 2.4 in the velocities ϖ = (ẋ, ẏ, θ̇, φ̇), with rolling constraints Aϖ = 0 and unit M and Z."""

    def rolling(zeta: Array) -> Array:
        c, s = math.cos(zeta[3]), math.sin(zeta[3])
        return np.array([[1.0, 0.0, -c, 0.0], [0.0, 1.0, -s, 0.0]])

    one = np.eye(4)
    return rigid.MultibodySystem(
        mass=one,
        sample=START,
        velocity_constraints=(rigid.VelocityConstraint("rolling", rolling),),
        ports={"roll": rigid.ExternalPort(one[:, 2:3]), "turn": rigid.ExternalPort(one[:, 3:4])},
        parts={"place": slice(0, 2), "angles": slice(2, 4)},
    )


def basis(zeta: Array) -> Array:
    """Matrix S (4, 2) of (ẋ, ẏ, θ̇, φ̇) = S (φ̇, θ̇) at the positions ζ, ``zeta``; momenta are p̃ = Sᵀp, eq. (4.20)."""
    return np.array([[0.0, math.cos(zeta[3])], [0.0, math.sin(zeta[3])], [0.0, 1.0], [1.0, 0.0]])


def reduced() -> rigid.MultibodySystem:
    """System of example 4.1 in the velocities (φ̇, θ̇), with M_r = diag(1, 2), J_c and B_c of (4.21)."""
    return rigid.resolve(constrained(), basis, velocity_parts={"turning": slice(0, 1), "rolling": slice(1, 2)})


def exact(times: Array, roll: float, turn: float) -> Array:
    """Motion (x, y, θ, φ) at times (k, 4) in closed form, under constant torques u₁ ``roll`` and u₂ ``turn``.

    It begins at the positions START with the rates RATES, (φ̇, θ̇).
    """
    x0, y0, theta0, phi0 = START
    (p, a), b, u = RATES, 0.5 * roll, turn
    phi, theta = phi0 + p * times + 0.5 * u * times**2, a * times + 0.5 * b * times**2
    if u != 0.0:  # θ̇ = (b/u) φ̇ + a − b p/u

        def cornu(t: Any) -> Any:
            sine, cosine = fresnel((t + p / u) * math.sqrt(abs(u) / math.pi))
            return (
                math.sqrt(math.pi / abs(u)) * np.exp(1j * (phi0 - 0.5 * p**2 / u)) * (cosine + 1j * np.sign(u) * sine)
            )

        path = b / (1j * u) * (np.exp(1j * phi) - np.exp(1j * phi0)) + (a - b * p / u) * (cornu(times) - cornu(0.0))
    elif p != 0.0:

        def spiral(t: Any, at: Any) -> Any:
            return np.exp(1j * at) * ((a + b * t) / (1j * p) + b / p**2)

        path = spiral(times, phi) - spiral(0.0, phi0)
    else:
        path = theta * np.exp(1j * phi0)
    return np.column_stack([x0 + path.real, y0 + path.imag, theta0 + theta, phi])


def jacobi_sum(J: Any, x: Array, step: float = 1e-5) -> float:
    """Norm of Σ_l (J_lj ∂_l J_ik + J_li ∂_l J_kj + J_lk ∂_l J_ji) over i < j < k (7.1), by central differences.

    It is zero for J_c of holonomic constraints. Here the triples (x, p₁, p₂) and (y, p₁, p₂) give −sin φ and cos φ, so
    that the norm is one at every state.
    """
    D = np.array([(J(x + m) - J(x - m)) / (2.0 * step) for m in step * np.eye(x.size)])  # ∂_l J
    term = np.einsum("lj,lik->ijk", J(x), D)
    total = term + term.transpose(1, 2, 0) + term.transpose(2, 0, 1)
    return math.sqrt(float(np.sum(total**2)) / 6.0)


UPRIGHT = Rotation.from_euler("x", -90, degrees=True)
"""Axis of a disc, its z, along y, so that it rolls along x."""


def held() -> Mechanism:
    """Mechanism of a disc kept upright by a frame, with the same equations of motion as the coin.

    The masses, and the moments of inertia about the vertical, sum to one; that of the disc about its axis is one. Both
    the disc and the frame are held at their height by the ground; one of the two constraints is redundant.
    """
    disc = cylinder_shape(0.05, 1.0, axis=(0.0, 0.0, 1.0))
    coin = rigid.body(0.5, inertia=(0.5, 0.5, 1.0), ports={"centre": (0.0, 0.0, 0.0)}, shape=disc)
    frame = rigid.body(0.5, inertia=(0.5, 0.5, 0.5), ports={"hub": (0.0, 0.0, 0.0)})
    return connect(
        {"coin": coin, "frame": frame},
        [
            rolling_disc("coin.centre", radius=1.0, axis=(0.0, 0.0, 1.0)),
            hinge("coin.centre", "frame.hub", axis=(0.0, 0.0, 1.0), second_axis=(0.0, 1.0, 0.0)),
            planar("frame.hub", GROUND.at(0.0, 0.0, 1.0), normal=(0.0, 0.0, 1.0)),
            torque("coin.centre", axes="section", name="roll"),
            torque("frame.hub", name="turn"),
        ],
    )


def held_start(mechanism: Mechanism) -> State:
    """State of the mechanism at the start, from START and RATES."""
    heading, (turning, rolling) = Rotation.from_euler("z", START[3]), RATES
    place, velocity = np.array([*START[:2], 1.0]), heading.apply([rolling, 0.0, 0.0])
    pose = mechanism.assemble(guess={"coin": (place, heading * UPRIGHT), "frame": (place, heading)})
    spin = heading.apply([0.0, rolling, turning])
    return mechanism.consistent_state(pose, velocities={"coin": (velocity, spin), "frame": (velocity, (0, 0, turning))})


def euro() -> Mechanism:
    """Mechanism of a thin disc of the size of a one-euro coin that rolls freely."""
    across = 0.25 * EURO_MASS * EURO_RADIUS**2
    ports = {"centre": (0.0, 0.0, 0.0), "head": (0.0, EURO_RADIUS, 0.0), "foot": (0.0, -EURO_RADIUS, 0.0)}
    disc = cylinder_shape(0.1 * EURO_RADIUS, EURO_RADIUS, axis=(0.0, 0.0, 1.0))
    coin = rigid.body(EURO_MASS, inertia=(across, across, 2.0 * across), ports=ports, shape=disc)
    rolls = rolling_disc("coin.centre", radius=EURO_RADIUS, axis=(0.0, 0.0, 1.0))
    return connect({"coin": coin}, [rolls], gravity=(0.0, 0.0, -GRAVITY))


def rounds(tilt: float) -> float:
    """Rate Ω = √(4g/(r sin α)) at which the point of contact moves round while the centre rests [rad/s].

    α is the ``tilt`` [rad].
    """
    return math.sqrt(4.0 * GRAVITY / (EURO_RADIUS * math.sin(tilt)))


def wobble(steps: int, share: float = SHARE, tilt: float = TILT, turns: float = 10.0) -> Solution:
    """Run of the euro from the tilt [rad], with the fraction ``share`` of the spin of the steady motion at this tilt.

    The run lasts ``turns`` rounds of the point of contact in the steady motion.
    """
    mechanism, rate = euro(), rounds(tilt)
    s, c = math.sin(tilt), math.cos(tilt)
    up = np.array([-c, 0.0, s])  # of the disc: from the point of contact to its centre
    pose = mechanism.assemble({"coin": ((0.0, 0.0, EURO_RADIUS * s), Rotation.from_euler("y", tilt))})
    start = mechanism.consistent_state(pose, velocities={"coin": ((0.0, 0.0, 0.0), share * rate * s * up)})
    return integrate(mechanism, start, np.linspace(0.0, turns * 2.0 * math.pi / rate, steps + 1))


def tilts(solution: Solution) -> Array:
    """Angle of the coin from the ground at the saved times (k + 1,) [rad]."""
    return np.arccos(solution.rotations("coin")[:, 2, 2])


def contacts(solution: Solution) -> Array:
    """Point of contact relative to the centre of the coin (k + 1, 2) [m]: r (e cos α − n)/sin α, along the ground.

    α is the tilt, n the axis of the coin and e the vertical, both projected on the ground.
    """
    axis, tilt = solution.rotations("coin")[:, :, 2], tilts(solution)[:, None]
    return EURO_RADIUS * axis[:, :2] * np.cos(tilt) / np.sin(tilt)


@dataclass(frozen=True)
class Motion:
    """Runs of the constrained and of the reduced coin under constant torques, and the exact motion.

    ``exact`` is (x, y, θ, φ), (k + 1, 4).
    """

    constrained: Trajectory
    reduced: Trajectory
    exact: Array

    @property
    def errors(self) -> Mapping[str, float]:
        """Largest error of any position over the run [m, rad], by the name of the model."""
        return {
            "constrained": float(np.abs(self.constrained["positions"] - self.exact).max()),
            "reduced": float(np.abs(self.reduced["positions"] - self.exact).max()),
        }

    @property
    def slip(self) -> float:
        """Largest slip |A(ζ̄)ϖ̄| of the constrained coin in the middle of a step [m/s].

        ζ̄ and ϖ̄ are the means of positions and velocities over the step.
        """
        x = self.constrained.states[:, :8]
        system, middle = constrained(), 0.5 * (x[1:] + x[:-1])
        return max(float(np.abs(system.A(m[:4]) @ m[4:]).max()) for m in middle)


@dataclass(frozen=True)
class Result:
    """Motions of the coin by name of the acting torques, the mechanism under both torques, and the wobbling euro."""

    motions: Mapping[str, Motion]
    mechanism: Solution
    wobble: Solution

    @property
    def mechanism_error(self) -> float:
        """Largest error of the mechanism in the position of its centre and in its two rates [m, rad/s].

        References are the exact positions, and the rates of the reduced model.
        """
        run, both = self.mechanism, self.motions["both"]
        rates = np.column_stack([run["frame.spin"][:, 2], run["coin.spin"][:, 2]])
        place = np.abs(run.position("coin.centre")[:, :2] - both.exact[:, :2]).max()
        return float(max(place, np.abs(rates - both.reduced["velocities"]).max()))


def move(times: Array, roll: float, turn: float) -> Motion:
    """Run the constrained and the reduced coin under constant torques u₁ ``roll`` and u₂ ``turn``."""
    torques, runs = {"roll": roll, "turn": turn}, {}
    for name, system, rates in (("constrained", constrained(), basis(START) @ RATES), ("reduced", reduced(), RATES)):
        x = system.state(START, rates, inputs=torques)
        runs[name] = integrate(system.phdae(x), x, times, inputs=torques)
    return Motion(**runs, exact=exact(times, roll, turn))


def roll_held(times: Array, roll: float, turn: float) -> Solution:
    """Run the mechanism of coin and frame under constant torques u₁ ``roll`` and u₂ ``turn``.

    Its two constraints on the height, one of them redundant, share the normal force.
    """
    mechanism = held()
    torques = {"roll": (0.0, 0.0, roll), "turn": (0.0, 0.0, turn)}
    return integrate(mechanism, held_start(mechanism), times, inputs=torques, method=Exact(redundant="least_norm"))
