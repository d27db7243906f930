"""A coin that rolls upright on a plane: constrained, reduced and as a mechanism ([survey] examples 2.4 and 4.1).

x, y is the point of contact, θ the angle by which the coin rolled, φ its heading. All constants are one:

    ẍ = λ₁,   ÿ = λ₂,   θ̈ = −λ₁ cos φ − λ₂ sin φ + u₁,   φ̈ = u₂,   ẋ = θ̇ cos φ,   ẏ = θ̇ sin φ

With p₁ = p_φ and p₂ = p_θ + p_x cos φ + p_y sin φ the constraints are gone, ṗ₁ = u₂, ṗ₂ = u₁, H_c = ½p₁² + ¼p₂²
(4.21), so that under constant torques θ and φ are quadratic in time. The path, ẋ + iẏ = θ̇ e^{iφ}, is then a line or a
circle (no torque), a spiral whose radius grows with time (u₁ alone), Cornu's spiral (u₂ alone), or one whose radius of
curvature θ̇/φ̇ goes to a limit (both): all by Fresnel integrals at most.

Let go, a coin tilts: a euro that wobbles on its rim as ``rolling_disc``, without loss. Where its centre rests, its
tilt α from the ground stays and the point of contact goes round at Ω with Ω² sin α = 4 g/r (H. K. Moffatt, Euler's
disk and its finite-time singularity, Nature 404 (2000) 833).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.special import fresnel

import rigid
from flexph import (
    GROUND,
    Mechanism,
    Solution,
    State,
    Trajectory,
    connect,
    hinge,
    integrate,
    planar,
    rolling_disc,
    torque,
)
from flexph.case import Case, Check, Option
from flexph.drawing import cylinder_shape
from flexph.export import write_series
from flexph.export.tables import write_ledger, write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import converges, vanishes

START = np.array([0.0, 0.0, 0.0, -1.2])  # x, y [m], θ, φ [rad]
RATES = np.array([1.0, 1.0])  # φ̇, θ̇ [rad/s]
DURATION = 12.0  # [s]
EURO_MASS, EURO_RADIUS, GRAVITY = 7.5e-3, 11.625e-3, 9.81  # [kg], [m], [m/s²]
TILT, SHARE = math.radians(40.0), 0.6  # of the euro from the ground [rad]; its spin over that of the steady motion


def constrained() -> rigid.MultibodySystem:
    """Example 2.4: M = Z = 1 and A of the rolling constraints."""

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
    """S of (ẋ, ẏ, θ̇, φ̇) = S (φ̇, θ̇), p̃ = Sᵀp (4.20)."""
    return np.array([[0.0, math.cos(zeta[3])], [0.0, math.sin(zeta[3])], [0.0, 1.0], [1.0, 0.0]])


def reduced() -> rigid.MultibodySystem:
    """Example 4.1: M_r = diag(1, 2), J_c and B_c of (4.21)."""
    return rigid.resolve(constrained(), basis, velocity_parts={"turning": slice(0, 1), "rolling": slice(1, 2)})


def exact(times: Array, roll: float, turn: float) -> Array:
    """(x, y, θ, φ) at times (k, 4) under constant torques u₁ and u₂, from START with RATES."""
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

    Zero for J_c of holonomic constraints; here {x, p₁, p₂} has −sin φ and {y, p₁, p₂} cos φ: one, at every state.
    """
    D = np.array([(J(x + m) - J(x - m)) / (2.0 * step) for m in step * np.eye(x.size)])  # ∂_l J
    term = np.einsum("lj,lik->ijk", J(x), D)
    total = term + term.transpose(1, 2, 0) + term.transpose(2, 0, 1)
    return math.sqrt(float(np.sum(total**2)) / 6.0)


UPRIGHT = Rotation.from_euler("x", -90, degrees=True)
"""The axis of a disc, its z, along y: it rolls along x."""


def held() -> Mechanism:
    """A disc, upright on a frame without tilt: masses and moments of both add up to ones.

    The ground holds the disc by its height and the frame by its own, which is once too often.
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
    """START and RATES."""
    heading, (turning, rolling) = Rotation.from_euler("z", START[3]), RATES
    place, velocity = np.array([*START[:2], 1.0]), heading.apply([rolling, 0.0, 0.0])
    pose = mechanism.assemble(guess={"coin": (place, heading * UPRIGHT), "frame": (place, heading)})
    spin = heading.apply([0.0, rolling, turning])
    return mechanism.consistent_state(pose, velocities={"coin": (velocity, spin), "frame": (velocity, (0, 0, turning))})


def euro() -> Mechanism:
    """A thin disc of the size of one euro, rolling as it likes."""
    across = 0.25 * EURO_MASS * EURO_RADIUS**2
    ports = {"centre": (0.0, 0.0, 0.0), "head": (0.0, EURO_RADIUS, 0.0), "foot": (0.0, -EURO_RADIUS, 0.0)}
    disc = cylinder_shape(0.1 * EURO_RADIUS, EURO_RADIUS, axis=(0.0, 0.0, 1.0))
    coin = rigid.body(EURO_MASS, inertia=(across, across, 2.0 * across), ports=ports, shape=disc)
    rolls = rolling_disc("coin.centre", radius=EURO_RADIUS, axis=(0.0, 0.0, 1.0))
    return connect({"coin": coin}, [rolls], gravity=(0.0, 0.0, -GRAVITY))


def rounds(tilt: float) -> float:
    """Ω = √(4g/(r sin α)): how fast the point of contact goes round under a centre at rest [rad/s]."""
    return math.sqrt(4.0 * GRAVITY / (EURO_RADIUS * math.sin(tilt)))


def wobble(steps: int, share: float = SHARE, tilt: float = TILT, turns: float = 10.0) -> Solution:
    """The euro with a share of the spin of its steady motion, over the time that this needs for some turns."""
    mechanism, rate = euro(), rounds(tilt)
    s, c = math.sin(tilt), math.cos(tilt)
    up = np.array([-c, 0.0, s])  # of the disc: from the point of contact to its centre
    pose = mechanism.assemble({"coin": ((0.0, 0.0, EURO_RADIUS * s), Rotation.from_euler("y", tilt))})
    start = mechanism.consistent_state(pose, velocities={"coin": ((0.0, 0.0, 0.0), share * rate * s * up)})
    return integrate(mechanism, start, np.linspace(0.0, turns * 2.0 * math.pi / rate, steps + 1))


def tilts(solution: Solution) -> Array:
    """Angle of the coin from the ground (k + 1,) [rad]."""
    return np.arccos(solution.rotations("coin")[:, 2, 2])


def contacts(solution: Solution) -> Array:
    """The point of contact less the centre (k + 1, 2) [m]: r (e cos α − n)/sin α along the ground."""
    axis, tilt = solution.rotations("coin")[:, :, 2], tilts(solution)[:, None]
    return EURO_RADIUS * axis[:, :2] * np.cos(tilt) / np.sin(tilt)


@dataclass(frozen=True)
class Motion:
    """The constrained and the reduced coin under constant torques, and the solution (x, y, θ, φ) (k + 1, 4)."""

    constrained: Trajectory
    reduced: Trajectory
    exact: Array

    @property
    def errors(self) -> Mapping[str, float]:
        """Largest error of a position by model [m, rad]."""
        return {
            "constrained": float(np.abs(self.constrained["positions"] - self.exact).max()),
            "reduced": float(np.abs(self.reduced["positions"] - self.exact).max()),
        }

    @property
    def slip(self) -> float:
        """Largest |A(ζ̄)ϖ̄| of the constrained coin [m/s]."""
        x = self.constrained.states[:, :8]
        system, middle = constrained(), 0.5 * (x[1:] + x[:-1])
        return max(float(np.abs(system.A(m[:4]) @ m[4:]).max()) for m in middle)


@dataclass(frozen=True)
class Result:
    """Motions by the torques that act, the mechanism under both, and the euro that wobbles."""

    motions: Mapping[str, Motion]
    mechanism: Solution
    wobble: Solution

    @property
    def mechanism_error(self) -> float:
        """Largest error of the place and of the rolling and turning rates of the mechanism [m, rad/s]."""
        run, both = self.mechanism, self.motions["both"]
        rates = np.column_stack([run["frame.spin"][:, 2], run["coin.spin"][:, 2]])
        place = np.abs(run.position("coin.centre")[:, :2] - both.exact[:, :2]).max()
        return float(max(place, np.abs(rates - both.reduced["velocities"]).max()))


def move(times: Array, roll: float, turn: float) -> Motion:
    """Run both models."""
    torques, runs = {"roll": roll, "turn": turn}, {}
    for name, system, rates in (("constrained", constrained(), basis(START) @ RATES), ("reduced", reduced(), RATES)):
        x = system.state(START, rates, inputs=torques)
        runs[name] = integrate(system.phdae(x), x, times, inputs=torques)
    return Motion(**runs, exact=exact(times, roll, turn))


def roll_held(times: Array, roll: float, turn: float) -> Solution:
    """Run the mechanism; of the two that hold the height, each takes a share."""
    mechanism = held()
    torques = {"roll": (0.0, 0.0, roll), "turn": (0.0, 0.0, turn)}
    return integrate(mechanism, held_start(mechanism), times, inputs=torques, method=Exact(redundant="least_norm"))


def run(
    *,
    steps: Annotated[int, Option("time steps of 12 s")] = 480,
    roll: Annotated[float, Option("torque about the axis of the coin, u₁")] = 0.4,
    turn: Annotated[float, Option("torque about the vertical, u₂")] = -0.25,
) -> Result:
    """A rolling coin: constrained, reduced, as a mechanism, and wobbling when let go ([survey] ex. 2.4 and 4.1)."""
    times = np.linspace(0.0, DURATION, check.count("steps", steps) + 1)
    torques = {"none": (0.0, 0.0), "u1": (roll, 0.0), "u2": (0.0, turn), "both": (roll, turn)}
    motions = {name: move(times, *pair) for name, pair in torques.items()}
    return Result(motions, roll_held(times, roll, turn), wobble(4 * steps))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Tables of the motions, plots, the moving euro for mesh viewers, and the runs of the mechanisms themselves."""
    result.mechanism.save(folder / "held.h5")  # first: whatever fails below, the runs are kept
    result.wobble.save(folder / "wobble.h5")
    columns: dict[str, Any] = {"t_s": result.mechanism.times}
    for name, motion in result.motions.items():
        for model, zeta in (("constrained", motion.constrained["positions"]), ("exact", motion.exact)):
            columns |= {f"{label}_{name}_{model}": zeta[:, k] for k, label in enumerate(("x", "y", "theta", "phi"))}
    write_table(folder / "motions.csv", columns)
    write_ledger(folder / "wobble.csv", result.wobble)
    draw_paths(result, folder / "paths.png")
    draw_accounts(result, folder / "accounts.png")
    draw_wobble(result.wobble, folder / "wobble.png")
    write_series(folder / "euro.vtkhdf", result.wobble)
    system, ledger = reduced(), result.wobble.ledger
    balances = [max(m.constrained.energy_drift(), m.reduced.energy_drift()) for m in result.motions.values()]
    return {
        "errors_max": {name: dict(motion.errors) for name, motion in result.motions.items()},
        "mechanism_error_max": result.mechanism_error,
        "slip_max_m_s": max(motion.slip for motion in result.motions.values()),
        "energy_balance_max_rel": max(*balances, result.mechanism.energy_drift()),
        "jacobi_sum": jacobi_sum(system.phdae().J, np.append(START, RATES)),
        "wobble_tilt_rad": [tilts(result.wobble).min(), tilts(result.wobble).max()],
        "wobble_energy_drift_rel": result.wobble.energy_drift(),
        "wobble_height_drift_m": ledger.position_residual.max(),
        "wobble_slip_m_s": ledger.nonholonomic_residual.max(),
    }


TITLES = {"none": "no torque", "u1": "$u_1$ rolls", "u2": "$u_2$ turns", "both": "both"}


def draw_paths(result: Result, path: Path, coins: int = 9) -> None:
    """Paths of the point of contact from above, and the coin there."""
    figure = new_figure(9.0, 7.0)
    for axes, (name, motion) in zip(
        figure.subplots(2, 2, height_ratios=(3, 2)).flat, result.motions.items(), strict=True
    ):
        zeta = motion.constrained["positions"]
        axes.plot(*motion.exact[:, :2].T, color="0.75", linewidth=4.0, label="closed form")
        axes.plot(*zeta[:, :2].T, color="C0", linewidth=1.2, label="constrained")
        axes.plot(*motion.reduced["positions"][:, :2].T, "C1--", linewidth=1.2, label="reduced")
        place = result.mechanism.position("coin.centre") if name == "both" else np.full((1, 2), np.nan)
        axes.plot(place[:, 0], place[:, 1], "k:", linewidth=1.2, label="mechanism")
        extent = float(np.ptp(motion.exact[:, :2], axis=0).max())
        for k in np.linspace(0, len(zeta) - 1, coins).astype(int):
            ahead = 0.04 * extent * np.array([math.cos(zeta[k, 3]), math.sin(zeta[k, 3])])
            axes.plot(*np.array([zeta[k, :2] - ahead, zeta[k, :2] + ahead]).T, color="C3", linewidth=2.5)
        axes.plot(*zeta[0, :2], "ko", markersize=4)
        axes.set(aspect="equal", title=TITLES[name], xlabel="x [m]", ylabel="y [m]")
        axes.grid(alpha=0.3)
    lines, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside upper center", ncols=4, fontsize="small", frameon=False)
    figure.savefig(path)


def draw_accounts(result: Result, path: Path) -> None:
    """Under both torques: the energy and the work of the torques, errors, slip and balance."""
    figure = new_figure(8.0, 7.5)
    energy, error, kept = figure.subplots(3, 1, sharex=True)
    motion = result.motions["both"]
    times, balance = motion.reduced.times, motion.constrained.balance
    change = balance.total_energy - balance.total_energy[0]
    energy.plot(times, change, "k:", linewidth=1.2, label="change of energy")
    for name, label in (("roll", "work of $u_1$"), ("turn", "work of $u_2$")):
        energy.plot(times[1:], np.cumsum(balance.work[name]), linewidth=1.2, label=label)
    place = result.mechanism.position("coin.centre")
    places = {"constrained": motion.constrained["place"], "reduced": motion.reduced["place"], "mechanism": place[:, :2]}
    for name, at in places.items():
        gap = np.linalg.norm(at - motion.exact[:, :2], axis=1)
        error.semilogy(times[1:], gap[1:], linewidth=1.2, label=name)
    slip = result.mechanism.ledger.nonholonomic_residual
    kept.semilogy(times[1:], _shown(balance.residual / balance.scale), ".", markersize=2, label="balance, constrained")
    kept.semilogy(times[1:], _shown(slip), ".", markersize=2, label="slip of the mechanism")
    for axes, label in ((energy, "energy [J]"), (error, "error of x, y [m]"), (kept, "balance / energy,\nslip [m/s]")):
        axes.set_ylabel(label)
        legend_above(axes, 4)
        axes.grid(alpha=0.3)
    kept.set(xlabel="t [s]", xlim=(times[0], times[-1]))
    figure.savefig(path)


def _shown(values: Array) -> Array:
    """What a logarithmic axis can show."""
    return np.where(values > 0.0, values, np.nan)


def draw_wobble(solution: Solution, path: Path) -> None:
    """The euro let go: paths on the ground, tilt, energies, and what drifts."""
    figure = new_figure(11.0, 5.5)
    grid = figure.add_gridspec(3, 2, width_ratios=(5, 6))
    ground, ledger, times = figure.add_subplot(grid[:, 0]), solution.ledger, 1e3 * solution.times
    centre = solution.position("coin.centre")[:, :2]
    ground.plot(*(1e3 * (centre + contacts(solution))).T, linewidth=0.9, label="point of contact")
    ground.plot(*(1e3 * centre).T, linewidth=1.2, label="centre")
    ground.set(aspect="equal", xlabel="x [mm]", ylabel="y [mm]")
    tilt, energy, drift = (figure.add_subplot(grid[k, 1]) for k in range(3))
    tilt.plot(times, np.degrees(tilts(solution)), linewidth=1.2, label="tilt from the ground [°]")
    for word in ("kinetic", "potential"):
        energy.plot(times, 1e3 * ledger.kind(word), linewidth=1.2, label=f"{word} [mJ]")
    energy.plot(times, 1e3 * ledger.total_energy, "k:", linewidth=1.2, label="total")
    change = np.abs(ledger.total_energy / ledger.total_energy[0] - 1.0)[1:]
    for values, label in ((change, "|ΔH| / H"), (ledger.position_residual / EURO_RADIUS, "drift of the height / r")):
        drift.semilogy(times[1:], _shown(values), ".", markersize=2, label=label)
    drift.set_xlabel("t [ms]")
    for axes in (ground, tilt, energy, drift):
        legend_above(axes, 3)
        axes.grid(alpha=0.3)
    for axes in (tilt, energy):
        axes.tick_params(labelbottom=False)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Closed forms and their order, what is exact at any step, (7.1), Moffatt's rate, energy, slip and height."""
    source = "[survey] ex. 4.1"
    coarse, fine = run(steps=240), run(steps=480)
    for name, motion in fine.motions.items():
        for model, error in motion.errors.items():
            value = math.log2(coarse.motions[name].errors[model] / error)
            yield converges(f"order, torque {name}, {model}", value, 0.1, source="closed form")
            yield vanishes(f"error, torque {name}, {model}", error, 2e-3, source="closed form", kind="closed form")
        angles = float(np.abs(motion.reduced["angles"] - motion.exact[:, 2:]).max())
        yield vanishes(f"error of θ, φ, {name}, reduced", angles, 1e-11, source="ṗ = u", kind="closed form")
        drift = max(motion.constrained.energy_drift(), motion.reduced.energy_drift())
        # the iteration of general systems may end with a correction of 3e-12 (discretisation.iteration, noise)
        yield vanishes(f"(energy − work) / energy, {name}", drift, 1e-11)
        yield vanishes(f"slip in mid-step, {name}", motion.slip, 1e-12)
    value = math.log2(coarse.mechanism_error / fine.mechanism_error)
    yield converges("order, mechanism", value, 0.1, source="closed form")
    x = np.append(START, RATES)
    yield Check("norm of the Jacobi sum (7.1)", f"{source}, not 0", 1.0, jacobi_sum(reduced().phdae(x).J, x),
                kind="closed form", tolerance=1e-9)  # fmt: skip
    steady = wobble(4000, share=1.0)
    path = contacts(steady)
    turned = float(np.unwrap(np.arctan2(path[:, 1], path[:, 0]))[-1])
    yield Check("rate of the point of contact [rad/s]", "Moffatt (2000)", rounds(TILT), turned / steady.times[-1],
                kind="closed form", tolerance=1e-4)  # fmt: skip
    yield Check(
        "tilt of the steady euro [rad]", "Moffatt (2000)", TILT, tilts(steady).min(), kind="closed form", tolerance=1e-6
    )
    for what, run_ in (("held", fine.mechanism), ("wobbling", fine.wobble)):
        ledger = run_.ledger
        for quantity, value in (
            ("relative energy drift", run_.energy_drift()),
            ("slip [m/s]", float(ledger.nonholonomic_residual.max())),
            ("height [m]", float(ledger.position_residual.max())),
        ):
            yield vanishes(f"{quantity}, {what}", value, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: constrained().phdae())
