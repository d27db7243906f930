"""A spatial double pendulum of point masses with a nonlinear spring and a damper ([rigid] sec. 3).

Two masses a and b hang on two rods from the origin, in space. A hardening spring, V = ½k e² + ¼k₃e⁴ with e = ℓ − ℓ₀,
and a damper act from a fixed point above the origin on b. In Cartesian coordinates ([rigid] eq. (6))

    ṙ = v,    M v̇ = −∇V − F_d − c'(r)ᵀλ,    0 = c(r),    vᵀF_d ≥ 0.

All forces except the weights act along lines between points, and the fixed points are on the vertical axis, so that
the angular momentum about it is conserved. Energies and constraints are functions of the squared lengths, quadratic
invariants: the discrete gradient pair preserves that momentum, the lengths of the rods and the balance
ΔH = −∫vᵀF_d dt to round-off at any step.

With ``--cord knot`` b hangs on a cord of two elastic pieces instead (k and k₃ each, without a free length, so that
they always pull), joined by a massless knot, with the damper along the second: M is singular. No external force acts
on the knot, so that it lies on the straight line and moves as the damper permits: a standard linear solid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.integrate import solve_ivp

import rigid
from flexph import PHDAE, Trajectory, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.laws import viscous
from flexph.methods import by_name
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import converges, vanishes
from .files import write_rows

MASSES = {"a": 1.0, "b": 0.5}  # [kg]
RODS = {"a": 1.0, "b": 0.7}  # from the origin to a, from a to b [m]
TOP = np.array([0.0, 0.0, 0.5])  # where spring and damper hang [m]
GRAVITY = 9.81  # along −z [m/s²]
STIFFNESS, HARDENING, FREE = 8.0, 20.0, 1.2  # k [N/m], k₃ [N/m³], ℓ₀ [m]
ANGLES = math.radians(60.0), math.radians(100.0)  # of the rods from the downward vertical at the start, towards x
SPEEDS = 1.0, 2.0  # of the masses along y at the start [m/s]
DURATION = 10.0  # [s]

Cord = Literal["spring", "knot"]


@dataclass(frozen=True)
class Result:
    """A run of the pendulum, its system, and the table of errors of a shorter run by step, ``orders``."""

    run: Trajectory
    system: rigid.MultibodySystem
    orders: tuple[dict[str, float], ...]


def spring(first: Any, second: Any, free: float, name: str) -> rigid.Spring:
    """Spring between two points with the energy V = ½k e² + ¼k₃e⁴ of its elongation e from the length ``free`` [m]."""
    return rigid.Spring.linear(first, second, stiffness=STIFFNESS, length=free, hardening=HARDENING, name=name)


def pendulum(damping: float, cord: Cord = "spring") -> rigid.MultibodySystem:
    """System of two masses on two rods, with a spring and a damper from above; or the cord with its knot instead."""
    knot = cord == "knot"
    positions, _ = begin(cord)
    if knot:
        springs = [spring(TOP, "knot", 0.0, "upper"), spring("knot", "b", 0.0, "lower")]
    else:
        springs = [spring(TOP, "b", FREE, "spring")]
    return rigid.point_masses(
        {**MASSES, "knot": 0.0} if knot else MASSES,
        positions,
        gravity=(0.0, 0.0, -GRAVITY),
        rods=[rigid.Rod(np.zeros(3), "a", RODS["a"], "upper rod"), rigid.Rod("a", "b", RODS["b"], "lower rod")],
        springs=springs,
        dashpots=[rigid.Dashpot("knot" if knot else TOP, "b", viscous(damping), "damper")],
    )


def begin(cord: Cord = "spring") -> tuple[Array, Array]:
    """Positions and velocities, (points, 3) each, of a, b and the knot, if there is one, at the start.

    The rods are in the x-z plane and move normal to it; the knot is half-way between the fixed point and b.
    """
    directions = np.array([[math.sin(angle), 0.0, -math.cos(angle)] for angle in ANGLES])
    places = np.cumsum(np.array([*RODS.values()])[:, None] * directions, axis=0)
    velocities = np.array([[0.0, speed, 0.0] for speed in SPEEDS])
    if cord == "spring":
        return places, velocities
    return np.vstack([places, 0.5 * (TOP + places[1])]), np.vstack([velocities, 0.5 * velocities[1]])


def solve(times: Array, damping: float, cord: Cord = "spring", method: str = "pair") -> Trajectory:
    """Run from the initial state with the given step ends ``times``, by a method."""
    system = pendulum(damping, cord)
    start = system.state(*(part.ravel() for part in begin(cord)))
    tolerance = (1e-10, 1e-10) if method == "radau" else None
    return integrate(system.phdae(), start, times, method=by_name(method, tolerance=tolerance))


def newton(times: Array, damping: float, cord: Cord = "spring") -> Array:
    """Positions of a and b (k, 2, 3) by Newton's equations without multipliers, by a Runge-Kutta method to 1e-12.

    The knot of a cord, which has no mass, is eliminated: the cord has the length L = ℓ₁ + ℓ₂ and the force V'(ℓ₁) =
    V'(ℓ₂) + d ℓ̇₂, which determine ℓ̇₂.
    """
    masses = np.array([*MASSES.values()])
    knot = cord == "knot"
    law = spring(TOP, "b", 0.0 if knot else FREE, "one").force

    def rates(_: float, y: Array) -> Array:
        (a, b), (va, vb) = y[:12].reshape(2, 2, 3)
        gap, d, dv = b - TOP, b - a, vb - va
        length = float(np.linalg.norm(gap))
        pull = law(length - y[12]) if knot else law(length) + damping * float(gap @ vb) / length
        force = np.outer(masses, [0.0, 0.0, -GRAVITY])
        force[1] -= pull * gap / length
        rods = np.array([[a, np.zeros(3)], [-d, d]])  # ½ d/dt of the squared lengths
        inner = np.einsum("ipk,p,jpk->ij", rods, 1.0 / masses, rods)
        free = np.einsum("ipk,pk->i", rods, force / masses[:, None]) + np.array([va @ va, dv @ dv])
        force -= np.einsum("i,ipk->pk", np.linalg.solve(inner, free), rods)
        relaxing = [(pull - law(y[12])) / damping] if knot else []
        return np.concatenate([y[6:12], (force / masses[:, None]).ravel(), relaxing])

    places, velocities = (part[:2] for part in begin(cord))
    half = [0.5 * float(np.linalg.norm(places[1] - TOP))] if knot else []
    first = np.concatenate([places.ravel(), velocities.ravel(), half])
    motion = solve_ivp(rates, (0.0, times[-1]), first, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    return motion.y[:6].T.reshape(-1, 2, 3)


def order_table(damping: float, cord: Cord, end: float = 1.0, counts: Sequence[int] = (50, 100, 200)) -> list[Any]:
    """Table of the largest errors of the positions of a and b [m], by step."""
    rows = []
    for count in counts:
        times = np.linspace(0.0, end, count + 1)
        error = np.abs(places(solve(times, damping, cord))[:, :2] - newton(times, damping, cord)).max()
        rows.append({"step_s": end / count, "error_m": float(error)})
    return rows


def run(
    *,
    cord: Annotated[Cord, Option("a spring with a damper, or a cord with a knot without mass")] = "spring",
    damping: Annotated[float, Option("coefficient of the damper", "N s/m")] = 0.3,
    step: Annotated[float, Option("length of a time step, which divides 10 s", "s")] = 5e-3,
) -> Result:
    """Spatial double pendulum of point masses, spring and damper: rods, energy balance and angular momentum."""
    if check.not_negative("damping", damping, "N s/m") == 0.0 and cord == "knot":
        raise ValueError("damping must be positive with a knot: nothing else determines how fast it moves along")
    steps = max(1, round(DURATION / check.positive("step", step, "s")))
    if abs(steps * step - DURATION) > 1e-9 * DURATION:
        raise ValueError(f"step must divide {DURATION:g} s, got {step:g} s: the nearest is {DURATION / steps:.12g} s")
    trajectory = solve(np.linspace(0.0, DURATION, steps + 1), damping, cord)
    return Result(trajectory, pendulum(damping, cord), tuple(order_table(damping, cord)))


def places(run: Trajectory) -> Array:
    """Positions (k, 2 or 3, 3) [m] of a, b and, if there is one, the knot, at the saved times."""
    return run["positions"].reshape(len(run.times), -1, 3)


def rod_defects(run: Trajectory) -> Array:
    """Lengths of both rods minus their nominal values (k, 2) [m], at the saved times."""
    a, b = places(run)[:, 0], places(run)[:, 1]
    return np.linalg.norm([a, b - a], axis=2).T - np.array([*RODS.values()])


def angular_momentum(run: Trajectory) -> Array:
    """Angular momentum about the vertical axis at the saved times (k,) [N m s]."""
    r, v = places(run)[:, :2], run["velocities"].reshape(len(run.times), -1, 3)[:, :2]
    return np.cross(r, v)[:, :, 2] @ np.array([*MASSES.values()])


def rod_forces(run: Trajectory) -> Array:
    """Axial forces (k − 1, 2) [N] of both rods, positive in tension, at all times except the first and last.

    Multipliers belong to midpoints of steps and alternate about their mean; neighbours are averaged.
    """
    return 0.5 * (run["lambda"][1:-1] + run["lambda"][2:])


def slope(rows: Sequence[dict[str, float]]) -> float:
    """Order of convergence of the errors of :func:`order_table`, by least squares of logarithms."""
    steps, errors = ([row[name] for row in rows] for name in ("step_s", "error_m"))
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def kept(run: Trajectory) -> dict[str, float]:
    """Largest errors of what the scheme preserves, by name: rod lengths, angular momentum, balance.

    The smallest dissipation of a step is included, which must not be negative.
    """
    momentum = angular_momentum(run)
    return {
        "rod_drift_max_m": float(np.abs(rod_defects(run)).max()),
        "angular_momentum_drift_rel": float(np.abs(momentum / momentum[0] - 1.0).max()),
        "energy_residual_max_rel": float(max(run.ledger.largest_residual, run.energy_drift())),
        "dissipation_min_J": float(run.ledger.total_dissipation.min()),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of the motion and of the balance, pictures, and the run itself.

    Return the summary numbers.
    """
    run, system = result.run, result.system
    run.save(folder / "trajectory.h5")  # first: whatever fails below, the run is kept
    r = places(run)
    columns = {f"{name}_{'xyz'[k]}_m": r[:, i, k] for i, name in enumerate(system.parts) for k in range(3)}
    columns |= {f"{name}_defect_m": rod_defects(run)[:, i] for i, name in enumerate(("upper_rod", "lower_rod"))}
    write_table(folder / "motion.csv", {"t_s": run.times, **columns, "L_z_N_m_s": angular_momentum(run)})
    balance = run.ledger
    columns = {"energy_J": balance.total_energy[1:], "dissipated_J": balance.total_dissipation}
    columns["residual_J"] = balance.residual
    write_table(folder / "balance.csv", {"t_s": run.times[1:], **columns})
    write_rows(folder / "orders.csv", result.orders)
    draw_motion(result, folder / "motion.png")
    draw_kept(result, folder / "kept.png")
    return {
        **kept(run),
        "dissipated_J": balance.total_dissipation.sum(),
        "energy_end_J": balance.total_energy[-1],
        "order": slope(result.orders),
        "error_finest_m": result.orders[-1]["error_m"],
        "massless_velocities": system.massless.shape[1],
        "newton_iterations_mean": balance.iterations.mean(),
    }


def draw_motion(result: Result, path: Path) -> None:
    """Draw the paths of both masses in space and from above, with the pendulum at the start and the end."""
    figure = new_figure(11.0, 5.0)
    grid = figure.add_gridspec(1, 2, width_ratios=(5, 4))
    space, above = figure.add_subplot(grid[0, 0], projection="3d"), figure.add_subplot(grid[0, 1])
    r = places(result.run)
    for name, i, color in (("a", 0, "C0"), ("b", 1, "C1")):
        space.plot(*r[:, i].T, color=color, linewidth=0.5, alpha=0.7)
        above.plot(r[:, i, 0], r[:, i, 1], color=color, linewidth=0.5, alpha=0.7, label=f"path of {name}")
    for k, shade in ((0, "0.6"), (-1, "k")):
        chain = np.array([np.zeros(3), r[k, 0], r[k, 1]])
        hung = np.array([TOP, *r[k, 2:], r[k, 1]])
        word = "end" if k else "start"
        space.plot(*chain.T, "o-", color=shade, linewidth=2.0, markersize=5)
        space.plot(*hung.T, ".:", color=shade, linewidth=1.4)
        above.plot(
            chain[:, 0], chain[:, 1], "o-", color=shade, linewidth=2.0, markersize=5, label=f"rods at the {word}"
        )
        above.plot(hung[:, 0], hung[:, 1], ".:", color=shade, linewidth=1.4, label=f"spring at the {word}")
    space.plot([0, 0], [0, 0], [-1.7, 0.8], color="0.75", linewidth=0.8)
    space.text(0.0, 0.0, 0.85, "z [m]", ha="center")
    space.set(xlabel="x [m]", ylabel="y [m]", xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0))
    space.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), zlim=(-1.8, 0.8))
    space.set_box_aspect((1, 1, 0.93), zoom=1.12)
    space.view_init(elev=18.0, azim=-60.0)
    above.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    legend_above(above, 3)
    above.grid(alpha=0.3)
    figure.savefig(path)


def draw_kept(result: Result, path: Path) -> None:
    """Draw energies, the balance of every step, errors of rods and momentum, and the order of convergence."""
    figure = new_figure(11.0, 7.0)
    grid = figure.add_gridspec(3, 2, width_ratios=(3, 2))
    energy, balance, drift = (figure.add_subplot(grid[row, 0]) for row in range(3))
    force, order = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1:, 1])
    run, least = result.run, np.finfo(float).eps / 16.0
    potential = np.array([result.system.V(zeta) for zeta in run["positions"]])
    lost = np.concatenate([[0.0], np.cumsum(run.ledger.total_dissipation)])
    energy.plot(run.times, run.ledger.total_energy - potential, linewidth=0.8, label="kinetic")
    energy.plot(run.times, potential, linewidth=0.8, label="weights and spring")
    energy.plot(run.times, lost, linewidth=1.4, label="dissipated")
    energy.plot(run.times, run.ledger.total_energy + lost, "k:", linewidth=1.2, label="sum of all")
    energy.set_ylabel("energy [J]")
    residual = np.maximum(run.ledger.residual / run.ledger.scale, least)
    balance.semilogy(run.times[1:], residual, ".", markersize=2, label="|ΔH + dissipation| / H")
    balance.semilogy(run.times[1:], np.maximum(run.ledger.total_dissipation, 1e-18), "C2", linewidth=0.6,
                     label="dissipation of a step [J]")  # fmt: skip
    balance.set_ylabel("of every step")
    momentum = angular_momentum(run)
    for values, label in ((np.abs(rod_defects(run)).max(axis=1), "rods [m]"),
                          (np.abs(momentum / momentum[0] - 1.0), "angular momentum about z, relative")):  # fmt: skip
        drift.semilogy(run.times, np.maximum(values, least), ".", markersize=2, label=label)
    drift.set(xlabel="t [s]", ylabel="drift", ylim=(0.5 * least, 1e-10))
    drift.axhline(1e-11, color="0.5", linestyle=":", label="required")
    for k, name in enumerate(("upper rod", "lower rod")):
        force.plot(run.times[1:-1], rod_forces(run)[:, k], linewidth=0.8, label=name)
    force.set(xlabel="t [s]", ylabel="force [N]")
    steps, errors = ([row[name] for row in result.orders] for name in ("step_s", "error_m"))
    order.loglog(steps, errors, "o-", label=f"places over 1 s: order {slope(result.orders):.2f}")
    order.set(xlabel="h [s]", ylabel="largest error [m]")
    order.set_xticks(steps, [f"{h:g}" for h in steps])
    order.xaxis.set_minor_formatter("")
    for axes in figure.axes:
        legend_above(axes, 4)
        axes.grid(alpha=0.3)
    for axes in (energy, balance, drift, force):
        axes.set_xlim(0.0, run.times[-1])
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: conserved quantities over 10 s, with and without damper and knot, and orders of convergence.

    The paths, also those of general integrators, are compared with :func:`newton`.
    """
    for cord, damping, count in (
        ("spring", 0.3, 1000),
        ("spring", 0.3, 2000),
        ("spring", 0.0, 1000),
        ("knot", 0.3, 1000),
    ):
        computed = kept(solve(np.linspace(0.0, DURATION, count + 1), damping, cord))  # type: ignore[arg-type]
        at = f"{cord}, {damping:g} N s/m, h = {1e3 * DURATION / count:g} ms"
        for name, bound in (("rod_drift_max_m", 1e-11), ("angular_momentum_drift_rel", 1e-12),
                            ("energy_residual_max_rel", 1e-12)):  # fmt: skip
            yield vanishes(f"{name}, {at}", computed[name], bound)
        negative = min(0.0, computed["dissipation_min_J"])
        yield vanishes(f"negative dissipation [J], {at}", negative, 1e-18)
    for cord in ("spring", "knot"):
        rows = order_table(0.3, cord)  # type: ignore[arg-type]
        yield converges(f"order, {cord}", slope(rows), 0.1)
        yield vanishes(
            f"error of places [m], {cord}, h = 5 ms",
            rows[-1]["error_m"],
            1e-3,
            source="Newton's equations",
            kind="independent code",
        )
    times = np.linspace(0.0, 1.0, 51)
    for cord, method in (("spring", "gauss6"), ("spring", "radau"), ("knot", "gauss6")):
        positions = places(solve(times, 0.3, cord, method))[:, :2]  # type: ignore[arg-type]
        apart = float(np.abs(positions - newton(times, 0.3, cord)).max())  # type: ignore[arg-type]
        yield vanishes(f"{method}, {cord} [m]", apart, 1e-7, source="Newton's equations", kind="independent code")


def analysed() -> PHDAE:
    """System of equations of the pendulum with spring and damper, and its initial state, for the analysis."""
    system = pendulum(0.3)
    return system.phdae(system.state(*(part.ravel() for part in begin())))


case = Case(run, write, checks, needs=("matplotlib",), system=analysed)
