"""Ground resonance: a rotor whose blades swing in lag hinges, on a hub that moves in the springs of a landing gear.

R. P. Coleman, A. M. Feingold, Theory of self-excited mechanical oscillations of helicopter rotors with hinged blades,
NACA Report 1351, 1958. The lag angles of three or more blades are sums ζ_c cos ψ + ζ_s sin ψ, which have constant
equations in world axes. The equations of two blades on a hub with unequal springs are periodic in any axes: they have
Floquet exponents only.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from tqdm import tqdm

import rigid
from flexph import GROUND, Mechanism, connect, drive, hinge, integrate, torsion_spring
from flexph.analysis import floquet
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.joints import cartesian_spring_damper
from flexph.mechanisms import Spectrum, State
from flexph.methods import ExactGauss
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import near, vanishes
from .stability_map import draw_stability_map

HUB, BLADE = 20.0, 3.0  # [kg]
REACH, CENTRE, OWN = 0.1, 0.5, 0.25  # from the hub to a hinge and on to the centre of a blade [m], its inertia [kg m²]
STATIC, INERTIA = BLADE * CENTRE, OWN + BLADE * CENTRE**2  # about the hinge
SPRING, DAMPER = 2000.0, 5.0  # of the hub along x [N/m, N s/m]
LAG_SPRING, LAG_DAMPER = 20.0, 0.5  # [N m/rad, N m s/rad]
SLOWEST, FASTEST = 4.0, 40.0  # [rad/s]


class Result(NamedTuple):
    """Exponents of a rotor with three or more blades over its speed, and growth of one with two blades.

    ``exponents`` are those in world axes, ``closed`` those of Coleman and Feingold, both at ``speeds``. ``growth``
    [1/s] is also over the stiffness ratios k_y/k_x, ``ratios``.
    """

    speeds: Array  # (k,) [rad/s]
    exponents: Array  # (k, 10), as they are seen in the world
    closed: Array  # (k, 10), Coleman and Feingold
    ratios: Array  # (r,), k_y/k_x
    growth: Array  # (k, r) [1/s]


def rotor(speed: float, blades: int, ratio: float, damping: float = 1.0) -> tuple[Mechanism, State]:
    """Mechanism of a rotor in the plane of its disc, and its steady rotation at ``speed`` [rad/s].

    ``ratio`` is the stiffness k_y/k_x of the landing gear; ``damping`` multiplies all dampers.
    """
    angles = 2.0 * np.pi * np.arange(blades) / blades
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    names = [f"blade{i + 1}" for i in range(blades)]
    hub = rigid.body(
        HUB, inertia=1.0, ports={"c": (0.0, 0.0)} | dict(zip(names, map(tuple, REACH * directions), strict=True))
    )
    swung = {
        name: rigid.body(BLADE, inertia=OWN, centre=tuple(CENTRE * direction), ports={"root": (0.0, 0.0)})
        for name, direction in zip(names, directions, strict=True)
    }
    gear = cartesian_spring_damper(
        "hub.c", GROUND.at(0.0, 0.0), stiffness=(SPRING, ratio * SPRING), damping=damping * DAMPER
    )
    joints = [gear, drive("hub.c", GROUND, angle=lambda t: speed * t)]
    for name in names:
        joints.append(hinge(f"{name}.root", f"hub.{name}"))
        joints.append(torsion_spring(f"{name}.root", f"hub.{name}", stiffness=LAG_SPRING, damping=damping * LAG_DAMPER))
    mechanism = connect({"hub": hub, **swung}, joints)
    places = {name: (*map(float, REACH * direction), 0.0) for name, direction in zip(names, directions, strict=True)}
    return mechanism, mechanism.equilibrium(mechanism.assemble(guess=places), spin=speed)


def spectrum(speed: float, blades: int, ratio: float) -> Spectrum:
    """Spectrum of the small motions of a rotor about its steady rotation; for the arguments see :func:`rotor`."""
    mechanism, state = rotor(speed, blades, ratio)
    return mechanism.spectrum(state)


def coleman(speed: float, blades: int, ratio: float) -> Array:
    """Exponents (10,) of a rotor of three or more blades in world axes, by Coleman's equations [1/s].

    Eight belong to (x, y, ζ_c, ζ_s), two to the collective motion of the blades.
    """
    total, half = HUB + blades * BLADE, 0.5 * blades * STATIC
    lag_stiffness = LAG_SPRING + REACH * STATIC * speed**2
    M = np.array([[total, 0, 0, -half], [0, total, half, 0], [0, STATIC, INERTIA, 0], [-STATIC, 0, 0, INERTIA]])
    C = np.diag([DAMPER, DAMPER, LAG_DAMPER, LAG_DAMPER])
    C[2, 3], C[3, 2] = 2.0 * INERTIA * speed, -2.0 * INERTIA * speed
    K = np.diag([SPRING, ratio * SPRING, *2 * [lag_stiffness - INERTIA * speed**2]])
    K[2, 3], K[3, 2] = LAG_DAMPER * speed, -LAG_DAMPER * speed
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    together = np.roots([INERTIA, LAG_DAMPER, lag_stiffness])
    return np.sort_complex(np.concatenate([np.linalg.eigvals(A), together]))


def run(
    *,
    speeds: Annotated[int, Option("speeds of the pictures")] = 13,
    ratios: Annotated[int, Option("stiffness ratios of the map")] = 4,
    blades: Annotated[int, Option("blades of the Campbell diagram, three or more")] = 3,
    ratio: Annotated[float, Option("stiffness along y over that along x, there")] = 1.5,
) -> Result:
    """Ground resonance: Campbell diagram of a rotor with hinged blades, and a stability map of one with two."""
    grid, shares = np.linspace(SLOWEST, FASTEST, speeds), np.linspace(1.0, 4.0, ratios)
    of_many = [spectrum(speed, blades, ratio).fixed_values for speed in tqdm(grid, unit="speed", delay=1.0)]
    growth = [
        [spectrum(speed, 2, share).values.real.max() for share in shares]
        for speed in tqdm(grid, unit="speed", delay=1.0)
    ]
    return Result(
        grid,
        np.array([np.sort_complex(exponents)[:10] for exponents in of_many]),
        np.array([coleman(speed, blades, ratio) for speed in grid]),
        shares,
        np.array(growth),
    )


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: largest growth [1/s] of the rotor with many blades and of that with two."""
    return {"many_blades_1_s": result.exponents.real.max(), "two_blades_1_s": result.growth.max()}


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: a Campbell diagram with the growth, and a stability map; return the summary numbers."""
    rows = {f"ratio_{ratio:.3g}_1_s": growth for ratio, growth in zip(result.ratios, result.growth.T, strict=True)}
    many = {"many_blades_1_s": result.exponents.real.max(axis=1), "closed_form_1_s": result.closed.real.max(axis=1)}
    write_table(folder / "growth.csv", {"speed_rad_s": result.speeds, **many, **rows})
    _draw_campbell(result, folder / "campbell.png")
    draw_stability_map(
        folder / "stability.png",
        result.speeds,
        result.ratios,
        result.growth,
        other="stiffness along y over x",
        title="two blades: growth [1/s]",
    )
    return figures(result)


def _draw_campbell(result: Result, path: Path) -> None:
    figure = new_figure(6.0, 6.0)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2.0, 1.0))
    for axes, part, label in ((upper, np.imag, "frequency [rad/s]"), (lower, np.real, "growth [1/s]")):
        axes.plot(result.speeds, np.abs(part(result.closed)) if axes is upper else part(result.closed), "k.", ms=5)
        parts = np.abs(part(result.exponents)) if axes is upper else part(result.exponents)
        axes.plot(result.speeds, parts, "o", color="C0", markersize=7, markerfacecolor="none")
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    upper.plot(result.speeds, result.speeds, ":", color="0.5", label="once a turn")
    upper.plot([], [], "k.", label="Coleman and Feingold")
    upper.plot([], [], "o", color="C0", markerfacecolor="none", label="spectrum")
    upper.set_ylim(0.0, None)
    legend_above(upper, 3)
    lower.axhline(0.0, color="0.4", linewidth=0.8)
    lower.set_xlabel("speed [rad/s]")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: exponents against Coleman's equations, two blades by two methods, and the growth of a run."""
    source = "Coleman, Feingold 1958"
    for ratio, name in ((1.0, "equal springs"), (1.5, "unequal springs")):
        for speed in (16.0, 26.0):
            spectrum_here, closed = spectrum(speed, 3, ratio), coleman(speed, 3, ratio)
            apart = np.abs(np.sort(spectrum_here.values.real) - np.sort(closed.real)).max()
            yield vanishes(
                f"three blades, {name}, {speed:g} rad/s: growths", apart, 1e-7, source=source, kind="closed form"
            )
            seen = np.abs(np.sort(np.abs(spectrum_here.fixed_values.imag)) - np.sort(np.abs(closed.imag))).max()
            yield vanishes(
                f"three blades, {name}, {speed:g} rad/s: frequencies", seen, 1e-6, source=source, kind="closed form"
            )
    speed = 26.0
    mechanism, state = rotor(speed, 2, 3.0)
    growth = mechanism.spectrum(state).values.real.max()
    steps = floquet(mechanism, state, period=2.0 * np.pi / speed, steps=24)
    in_run = _run_growth(mechanism, state, speed)
    for name, computed, bound in (("by linearised steps", steps.growth, 1e-4), ("in a run", in_run, 1e-3 * growth)):
        yield near(f"two blades: growth {name} [1/s]", growth, computed, bound, source="Hill's matrix", kind="theorem")
    free, at = rotor(speed, 2, 3.0, damping=0.0)
    product = np.prod(floquet(free, at, period=2.0 * np.pi / speed, steps=24).multipliers).real
    yield vanishes("without damping: product of the multipliers less 1", product - 1.0, 1e-4, source="Liouville")


def _run_growth(mechanism: Mechanism, state: State, speed: float) -> float:
    """Growth [1/s] of the motion of the hub after a small impulse, from a run of 80 turns.

    The hub's positions x, once a turn, are Re(c μᵏ): μ is fitted to x₊₂ = 2 Re μ x₊ − |μ|² x, where x₊ is a turn later.
    """
    struck = mechanism.impact(state, "hub.c", impulse=np.array([1e-8, 1e-8]))
    turns, steps, turn = 80, 24, 2.0 * np.pi / speed
    times = turn * np.linspace(0.0, turns, turns * steps + 1)
    x = integrate(mechanism, struck, times, method=ExactGauss()).position("hub.c")[turns // 2 * steps :: steps]
    fit = np.linalg.lstsq(np.column_stack([x[1:-1].ravel(), x[:-2].ravel()]), x[2:].ravel(), rcond=None)[0]
    return float(0.5 * np.log(-fit[1]) / turn)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
