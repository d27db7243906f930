"""A gyroscope in a gimbal, driven by a torque on its second axis ([rigid] sec. 7.2), in three kinds of coordinates.

A disc (mass m, radius r, width w) spins about its x' axis in a massless gimbal of the angles α (spin), β and γ (outer
axis, z), ``R = R_z(γ) R_y(β) R_x(α)``; its centre rests, I_O is (15). A constant torque M acts on the axis of β, and
the axle precesses: it turns about z. α and γ do not appear in the energy, so that with A = I_x', C = I_y' = I_z'
p = A ω_x' is constant, P = C γ̇ cos²β − p sin β too, and one equation is left for β:

    C β̈ = M − p γ̇ cos β − C γ̇² sin β cos β,    steady precession  M = Ω cos β (p + C Ω sin β),

at β = 0 just Ω = M/(Aω). Released at rest there, P = 0 and C β̈ = M − (p²/C) tan β / cos²β: the axle nutates between
β = 0 and nearly 2ε, ε = Ω/ν, ν = p/C. Averaged over a nutation, with β = ε(1 − cos νt) in the small terms, γ turns by
Ω(1 − 5/4 ε²) and the frequency of nutation is ν(1 + 5/2 ε²): the law M/(Iω) errs at second order in precession/spin.

The orientation is kept by the three angles (integrated by Gauss collocation, ``gauss6``), by the nine entries of R or
by a unit quaternion (both by the discrete gradient pair, on RᵀR = 1 and |q| = 1 to round-off). At β = π/2 the axle and
the outer axis are one, and the angles have no rates; the other two pass. A torque on the second axis has no direction
there in any coordinates: it is the gimbal that is locked. What coordinates do is shown without it (`pass_lock`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import PPoly, make_interp_spline
from scipy.spatial.transform import Rotation

import rigid
from flexph import Trajectory, ValidityWarning, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import DiscreteGradient, Gauss
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import converges, vanishes
from .files import write_rows

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
    """Runs by orientation, how they were started, rates over the torque, and errors near the lock.

    ``torque`` [N m], ``spin`` [rad/s], ``tilt``, β at the start [rad].
    """

    runs: dict[str, Trajectory]
    torque: float
    spin: float
    tilt: float
    start: Start
    rates: tuple[dict[str, float], ...]
    lock: tuple[dict[str, float], ...]


def gyroscope(orientation: rigid.Orientation) -> rigid.MultibodySystem:
    """ζ = orientation, ϖ = ω, with the torque on the second axis as its port: [rigid] eq. (16)-(18)."""
    return rigid.pivoted_body(INERTIA, orientation=orientation, ports={"second axis": rigid.Gimbal(1)})


def solve(
    kept: str, times: Array, torque: float, spin: float, *, tilt: float = 0.0, start: Start = "rest"
) -> Trajectory:
    """From α = γ = 0 and β = ``tilt`` [rad], at rest but for the spin or in steady precession."""
    orientation = KEPT[kept]
    rate = steady(torque, spin, tilt) if start == "steady" else 0.0
    system, inputs = gyroscope(orientation), {"second axis": [torque]}
    zeta = orientation.coordinates(Rotation.from_euler("xyz", (0.0, tilt, 0.0)))
    begin = system.state(zeta, [spin, 0.0, rate * math.cos(tilt)], inputs=inputs)
    return integrate(system.phdae(), begin, times, inputs=inputs, method=method_of(kept))


def method_of(kept: str) -> Gauss | DiscreteGradient:
    """Angles by a general integrator, rotation matrix and quaternion by the pair, which keeps them."""
    return Gauss(6) if kept == "angles" else DiscreteGradient("pair")


def steady(torque: float, spin: float, tilt: float = 0.0) -> float:
    """The slow root Ω of ``M = Ω cos β (p + C Ω sin β)`` [rad/s]."""
    p, c, s = AXIAL * spin, math.cos(tilt), math.sin(tilt)
    under = p * p + 4.0 * ACROSS * torque * s / c
    if under < 0.0:
        raise ValueError(f"no steady precession at a tilt of {math.degrees(tilt):.3g}° with {torque:g} N m: the disc "
                         f"must spin faster than {math.sqrt(p * p - under) / AXIAL:.4g} rad/s")  # fmt: skip
    return 2.0 * torque / c / (p + math.copysign(math.sqrt(under), p))


def suspension(run: Trajectory, kept: str) -> Array:
    """β and γ over time (k, 2) [rad], γ without jumps."""
    rotation = KEPT[kept].rotation(run["orientation"])
    zeta = KEPT["angles"].coordinates(rotation)[:, 1:]
    return np.unwrap(zeta, axis=0)


def mean_rates(run: Trajectory, kept: str) -> tuple[float, float]:
    """Mean precession and circular frequency of nutation [rad/s], over all nutations from rest to rest again."""
    beta, gamma = (make_interp_spline(run.times, angle, k=5) for angle in suspension(run, kept).T)
    rate = PPoly.from_spline(beta.derivative())
    sign = float(beta(run.times[1]) - beta(0.0))  # of the motion from rest
    rests = [t for t in rate.roots(extrapolate=False) if sign * rate(t, 1) > 0.0 and t > 2.0 * run.times[1]]
    last = float(rests[-1])
    return float(gamma(last)) / last, 2.0 * math.pi * len(rests) / last


def reference(times: Array, torque: float, spin: float) -> Array:
    """β and γ (k, 2) [rad] from rest at β = γ = 0, by the equation of β alone."""
    p = AXIAL * spin

    def rates(_: float, y: Array) -> list[float]:
        s, c = math.sin(y[0]), math.cos(y[0])
        turn = p * s / (ACROSS * c * c)  # P = 0
        return [y[1], (torque - p * turn * c) / ACROSS - turn * turn * s * c, turn]

    span = (0.0, float(times[-1]))
    motion = solve_ivp(rates, span, [0.0, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-14, t_eval=times)
    return motion.y[[0, 2]].T


def rate_table(torque: float, spin: float, steps: int = 24) -> list[dict[str, float]]:
    """Precession and nutation from rest over the torque, by gauss6 in angles with ``steps`` in a nutation."""
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
    """Largest error of R over a turn of the axle about L without torque, and what the run warned of.

    The axle passes z (β = π/2) at this distance [rad] in the middle of a step, steps being odd. The closed solution is
    ``R = exp(t L/C) R₀ exp(t (1 − A/C) ω_x')``, L = p n + C ω_⊥ in world axes. Angles may fail at 0.
    """
    turn = AXIAL * spin / math.cos(TILT) / ACROSS  # |L|/C [rad/s]
    cone = np.array([math.sin(TILT + distance), 0.0, -math.cos(TILT + distance)])  # direction of L: β > 0 points down
    own = np.array([(1.0 - AXIAL / ACROSS) * spin, 0.0, 0.0])
    times = 2.0 * math.pi / abs(turn) * (np.arange(steps + 1) / steps)
    lowest = Rotation.from_euler("y", 0.5 * math.pi - distance)  # n in the plane of z and L
    about_cone = Rotation.from_rotvec(np.outer(turn * times - math.copysign(math.pi, turn), cone))
    exact = about_cone * lowest * Rotation.from_rotvec(np.outer(times, own))
    orientation = KEPT[kept]
    system = rigid.pivoted_body(INERTIA, orientation=orientation)
    begin = system.state(orientation.coordinates(exact[0]), exact[0].inv().apply(turn * cone) + own)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ValidityWarning)
        trajectory = integrate(system.phdae(), begin, times, method=method_of(kept))
    error = np.abs(orientation.rotation(trajectory["orientation"]) - exact.as_matrix()).max()
    return float(error), [str(w.message) for w in said]


def lock_table(spin: float) -> list[dict[str, float]]:
    """Errors of the three over the distance at which the axle passes the lock, and of how much angles warned."""
    rows = []
    for distance in DISTANCES:
        passes = {kept: pass_lock(kept, distance, spin) for kept in KEPT}
        errors = {f"error_{kept}": error for kept, (error, _) in passes.items()}
        rows.append({"distance_rad": distance, **errors, "warnings_angles": float(len(passes["angles"][1]))})
    return rows


def run(
    *,
    torque: Annotated[float, Option("on the second axis of the gimbal", "N m")] = 2.0,
    spin: Annotated[float, Option("of the disc about its axle", "rad/s")] = 60.0,
    tilt: Annotated[float, Option("β at the start, of the axle out of the level plane", "deg")] = 0.0,
    start: Annotated[Start, Option("released at rest, or in steady precession")] = "rest",
    orientation: Annotated[Which, Option("how the orientation is kept")] = "all",
    step: Annotated[float, Option("largest time step of the pair; gauss6 takes four at once", "s")] = 5e-4,
    duration: Annotated[float, Option("length of the run", "s")] = 1.0,
) -> Result:
    """Gyroscope in a gimbal by angles, rotation matrix and quaternion: precession, nutation, and gimbal lock."""
    if check.number("spin", spin) == 0.0 or check.number("torque", torque) == 0.0:
        raise ValueError(f"spin and torque must not be zero, got {spin:g} rad/s and {torque:g} N m")
    if not abs(tilt) < 90.0:
        raise ValueError(f"tilt must be between -90 and 90 degrees, where the gimbal locks, got {tilt:g}")
    grid = mesh(step, duration)
    level = math.radians(tilt)
    runs = {
        kept: solve(kept, grid[:: COARSER if kept == "angles" else 1], torque, spin, tilt=level, start=start)
        for kept in (KEPT if orientation == "all" else [orientation])
    }
    tables = tuple(rate_table(torque, spin)), tuple(lock_table(spin))
    return Result(runs, torque, spin, level, start, *tables)


def mesh(step: float, duration: float) -> Array:
    """Times of the pair [s]: as many equal steps as are needed, and gauss6 takes :data:`COARSER` of them at once."""
    check.positive("step", step, "s")
    count = COARSER * math.ceil(check.positive("duration", duration, "s") / (COARSER * step) - 1e-9)
    return np.linspace(0.0, duration, count + 1)


def defects(run: Trajectory, kept: str) -> Array:
    """|RᵀR − 1| or ||q| − 1| at all times (k,)."""
    return np.array([KEPT[kept].defect(zeta) for zeta in run["orientation"]])


def apart(runs: dict[str, Trajectory], first: str, second: str) -> Array:
    """Largest difference of the entries of R of two runs at the times of both (k,)."""
    both = min(len(runs[name].times) for name in (first, second)) - 1
    one, other = (
        KEPT[name].rotation(runs[name]["orientation"][:: (len(runs[name].times) - 1) // both])
        for name in (first, second)
    )
    return np.abs(one - other).max(axis=(1, 2))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Tables of the axle's motion, of rates over the torque and of errors near the lock; pictures."""
    for kept, trajectory in result.runs.items():
        trajectory.save(folder / f"{kept}.h5")
        beta, gamma = suspension(trajectory, kept).T
        columns = {
            "t_s": trajectory.times,
            "beta_rad": beta,
            "gamma_rad": gamma,
            "energy_J": trajectory.balance.total_energy,
        }
        write_table(folder / f"{kept}.csv", columns)
    for name, rows in (("rates", result.rates), ("lock", result.lock)):
        write_rows(folder / f"{name}.csv", rows)
    draw_motion(result, folder / "motion.png")
    draw_rates(result, folder / "rates.png")
    draw_kept(result, folder / "kept.png")
    law = result.torque / (AXIAL * result.spin * math.cos(result.tilt))
    pairs = [kept for kept in result.runs if kept != "angles"]
    motions = {kept: of_motion(trajectory, kept, result.start) for kept, trajectory in result.runs.items()}
    return {
        "law_rad_s": law,
        "steady_precession_rad_s": steady(result.torque, result.spin, result.tilt),
        "motion": motions,
        "apart_max": {kept: apart(result.runs, "angles", kept).max() for kept in pairs if "angles" in result.runs},
        "energy_residual_max_rel": max(max(m.balance.largest_residual, m.energy_drift()) for m in result.runs.values()),
        "defect_max": {kept: defects(result.runs[kept], kept).max() for kept in pairs},
        "order_of_the_law": slope([row["epsilon"] for row in result.rates], result.rates, "precession_short"),
    }


def of_motion(run: Trajectory, kept: str, start: Start) -> dict[str, float]:
    """Mean precession and nutation of a run, of the whole run where it is steady or shorter than a nutation."""
    beta, gamma = suspension(run, kept).T
    range_of_beta = {"beta_min_deg": math.degrees(beta.min()), "beta_max_deg": math.degrees(beta.max())}
    try:
        rates = mean_rates(run, kept) if start == "rest" else None
    except IndexError:  # no nutation is complete
        rates = None
    if rates is None:
        return {"precession_rad_s": gamma[-1] / run.times[-1], **range_of_beta}
    return {"precession_rad_s": rates[0], "nutation_rad_s": rates[1], **range_of_beta}


def slope(sizes: Any, rows: Iterable[dict[str, float]], name: str) -> float:
    """Order of a column in sizes, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log([row[name] for row in rows]), 1)[0])


LOOK = {"angles": ("C0", 3.5, "angles, gauss6"), "matrix": ("C1", 1.6, "rotation matrix"),
        "quaternion": ("C2", 0.8, "quaternion")}  # fmt: skip


def draw_motion(result: Result, path: Path) -> None:
    """Where the axle points: on the unit sphere, and β over γ, with the steady precession and the law of the mean."""
    figure = new_figure(11.0, 4.6)
    grid = figure.add_gridspec(2, 2, width_ratios=(2, 3))
    ball = figure.add_subplot(grid[:, 0], projection="3d")
    path_of, turned = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    around = np.linspace(0.0, 2.0 * math.pi, 181)
    for level in (0.0, result.tilt):
        ring = math.cos(level) * np.cos(around), math.cos(level) * np.sin(around), np.full(181, -math.sin(level))
        ball.plot(*ring, color="0.75", linewidth=0.8)
    ball.plot([0, 0], [0, 0], [-1, 1], color="0.75", linewidth=0.8)
    law = result.torque / (AXIAL * result.spin * math.cos(result.tilt))
    for kept, run in result.runs.items():
        (beta, gamma), (color, width, label) = suspension(run, kept).T, LOOK[kept]
        n = np.array([np.cos(beta) * np.cos(gamma), np.cos(beta) * np.sin(gamma), -np.sin(beta)])
        ball.plot(*n, color=color, linewidth=width)
        path_of.plot(np.degrees(gamma), np.degrees(beta), color=color, linewidth=width, label=label)
        turned.plot(run.times, np.degrees(gamma - law * run.times), color=color, linewidth=width)
    ball.quiver(0, 0, 0, *n[:, -1], color="k", linewidth=1.0, arrow_length_ratio=0.08)
    ball.text(0.0, 0.0, 1.05, "z", ha="center")
    ball.set(xlabel="x", ylabel="y", xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0, 1))
    ball.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-0.75, 0.75), box_aspect=(1, 1, 0.75))
    ball.set_title("the axle on the unit sphere", fontsize="medium")
    path_of.set(xlabel="γ [deg]", ylabel="β [deg]")
    legend_above(path_of, 3)
    turned.set(xlabel="t [s]", ylabel="γ less the law\nM t/(Aω cos β₀) [deg]", xlim=(0.0, run.times[-1]))
    if result.start == "rest" and result.tilt == 0.0:
        small = law / (AXIAL * result.spin / ACROSS)
        mean = -np.degrees(1.25 * small**2 * law * run.times)
        turned.plot(run.times, mean, "k--", linewidth=1.0, label=r"mean of theory, $-\frac{5}{4}\varepsilon^2\Omega t$")
        legend_above(turned)
    for axes in (path_of, turned):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def draw_rates(result: Result, path: Path) -> None:
    """How far mean precession and nutation are from the laws of the fast gyroscope; errors where it passes the lock."""
    figure = new_figure(11.0, 4.4)
    laws, lock = figure.subplots(1, 2)
    small = np.array([row["epsilon"] for row in result.rates])
    curves = (("precession_short", r"mean precession below $M/(I\omega)$", r"$\frac{5}{4}\varepsilon^2$", "o", 1.25),
              ("nutation_beyond", r"nutation above $I\omega/C$", r"$\frac{5}{2}\varepsilon^2$", "s", 2.5))  # fmt: skip
    for k, (name, label, theory, marker, factor) in enumerate(curves):
        laws.loglog(small, factor * small**2, "k-" if k else "k--", linewidth=0.8, label=theory)
        order = slope(small, result.rates, name)
        differences = [row[name] for row in result.rates]
        laws.loglog(small, differences, marker, color=f"C{k}", markersize=7, label=f"{label}: order {order:.2f}")
    laws.set_xticks(small, [f"{e:.2g}" for e in small])
    laws.set(xlabel="ε = precession / nutation", ylabel="relative difference")
    laws.xaxis.set_minor_formatter("")
    for kept, (color, _, label) in LOOK.items():
        errors = [row[f"error_{kept}"] for row in result.lock]
        lock.loglog([row["distance_rad"] for row in result.lock], errors, "o-", color=color, linewidth=1.2, label=label)
    lock.axvspan(min(row["distance_rad"] for row in result.lock), 0.1, color="0.92", zorder=0, label="angles warn")
    lock.set(xlabel="least distance of the axle from z [rad]", ylabel="largest error of R in one turn")
    for axes in (laws, lock):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    figure.savefig(path)


def draw_kept(result: Result, path: Path) -> None:
    """Energy balance of every step, how far R or q are from a rotation, and how far the runs are apart."""
    figure = new_figure(8.0, 6.5)
    least = np.finfo(float).eps / 16.0
    between = [kept for kept in result.runs if kept != "angles" and "angles" in result.runs]
    balance, manifold, *rest = figure.subplots(2 + bool(between), 1, sharex=True)
    for kept, run in result.runs.items():
        color, _, label = LOOK[kept]
        residual = np.maximum(run.balance.residual / run.balance.scale, least)
        balance.semilogy(run.times[1:], residual, ".", markersize=2, color=color, label=label)
        if kept != "angles":
            manifold.semilogy(run.times, np.maximum(defects(run, kept), least), ".", markersize=2, color=color)
    for kept in between:
        gap = apart(result.runs, "angles", kept)
        times = np.linspace(0.0, result.runs["angles"].times[-1], len(gap))
        rest[0].plot(times, gap, color=LOOK[kept][0], linewidth=1.2)
        rest[0].set_ylabel("R apart from\nthat of the angles")
    balance.set(ylabel="|ΔH − work| / H", ylim=(0.5 * least, 1e-14))
    manifold.set(ylabel="|RᵀR − 1|, ||q| − 1|", ylim=(0.5 * least, 1e-13))
    legend_above(balance, 3, markerscale=5)
    for axes in figure.axes:
        axes.grid(alpha=0.3)
    figure.axes[-1].set_xlabel("t [s]")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Rates of the fast gyroscope, the equation of β, steady precession, the lock, and what the schemes keep."""
    torque, spin = 1.0, 60.0
    rates = rate_table(torque, spin)
    for name, theory, what in (("precession_short", "theory_short", "precession below M/(Iω)"),
                               ("nutation_beyond", "theory_beyond", "nutation above Iω/C")):  # fmt: skip
        order = slope([row["epsilon"] for row in rates], rates, name)
        yield converges(f"{what}: order in ε", order, 0.02, source="averaging")
        yield Check(f"{what}, ε = {rates[1]['epsilon']:.3f}", "averaging", rates[1][theory], rates[1][name],
                    kind="closed form", tolerance=5e-3)  # fmt: skip
    runs = {n: {kept: solve(kept, np.linspace(0.0, 0.2, n + 1), torque, spin) for kept in KEPT} for n in (400, 800)}
    for kept, fine in runs[800].items():
        both = [by_orientation[kept] for by_orientation in runs.values()]
        errors = [float(np.abs(suspension(r, kept) - reference(r.times, torque, spin)).max()) for r in both]
        bound = 1e-9 if kept == "angles" else 2e-4
        yield vanishes(f"β, γ apart [rad], {kept}", errors[1], bound, source="equation of β", kind="independent code")
        if kept != "angles":
            order = math.log2(errors[0] / errors[1])
            yield converges(f"order of β, γ, {kept}", order, 0.05)
            defect = float(defects(fine, kept).max())
            yield vanishes(f"defect of the rotation, {kept}", defect, 1e-13)
        worst = max(fine.balance.largest_residual, fine.energy_drift())
        yield vanishes(f"energy − work, {kept}", worst, 1e-12)
    for kept, bound in (("angles", 1e-10), ("matrix", 2e-4), ("quaternion", 2e-4)):
        tilt = math.radians(30.0)
        trajectory = solve(kept, np.linspace(0.0, 0.1, 201), torque, spin, tilt=tilt, start="steady")
        computed = float(suspension(trajectory, kept)[-1, 1]) / 0.1
        yield Check(f"steady precession [rad/s], β = 30°, {kept}", "M = Ω cos β (p + C Ω sin β)",
                    steady(torque, spin, tilt), computed, kind="closed form", tolerance=bound)  # fmt: skip
    for kept in ("matrix", "quaternion"):
        far, near = (pass_lock(kept, distance, spin)[0] for distance in (DISTANCES[0], 0.0))
        yield Check(f"error through the lock, {kept}", "that far from it", far, near, kind="theorem", tolerance=1e-6)


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: gyroscope(KEPT["matrix"]).phdae())
