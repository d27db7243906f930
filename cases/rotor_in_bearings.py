"""A rigid rotor in anisotropic bearings: Campbell diagram, and instability of an asymmetric rotor.

For a rotor of revolution the equations in world axes have constant coefficients (G. Genta, Dynamics of Rotating
Systems, 2005, ch. 4); the bearings, with k and c each, are at the distance l from the centre:

    m ẍ + 2c_x ẋ + 2k_x x = 0,   J θ̈_x + J_p Ω θ̇_y + 2l²(c_y θ̇_x + k_y θ_x) = 0,  θ_y likewise with −J_p Ω θ̇_x.

For a rotor with transverse moments of inertia J₁ ≠ J₂ the coefficients are periodic in any axes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from tqdm import tqdm

import rigid
from flexph import GROUND, connect
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.joints import cartesian_spring_damper
from flexph.mechanisms import Spectrum
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import vanishes
from .stability_map import draw_stability_map

MASS, POLAR, ACROSS, HALF = 10.0, 0.35, 0.25, 0.3  # [kg], J_p and mean J [kg m²], half the span of the bearings [m]
STIFFNESS, DAMPING = np.array([40e3, 60e3]), np.array([2.0, 3.0])  # of each bearing along x and y [N/m, N s/m]
AXIAL = 1e5  # [N/m]
SLOWEST, FASTEST, BAND = 10.0, 400.0, (248.0, 284.0)  # [rad/s], the last where unequal rotors grow


class Result(NamedTuple):
    """Exponents of the symmetric rotor over its speed, and growth of asymmetric rotors.

    ``exponents`` (k, 8) are those of transverse motions in world axes, ``closed`` the same in closed form. ``growth``
    (k, r) [1/s] is at the speeds ``band`` and for the asymmetries (J₁ − J₂)/(J₁ + J₂), ``shares``.
    """

    speeds: Array  # (k,) [rad/s]
    exponents: Array  # (k, 8), across the axis, as they are seen in the world
    closed: Array  # (k, 8)
    band: Array  # (k,) [rad/s]
    shares: Array  # (r,), (J₁ − J₂)/(J₁ + J₂)
    growth: Array  # (k, r) [1/s], at the speeds of the band


def spectrum(speed: float, unequal: float) -> Spectrum:
    """Spectrum of small motions of a rotor about its rotation around z at ``speed`` [rad/s].

    ``unequal`` is (J₁ − J₂)/(J₁ + J₂) of its transverse moments of inertia.
    """
    ports = {"low": (0.0, 0.0, -HALF), "high": (0.0, 0.0, HALF)}
    inertia = (ACROSS * (1.0 + unequal), ACROSS * (1.0 - unequal), POLAR)
    bearings = [
        cartesian_spring_damper(
            f"rotor.{name}", GROUND.at(*place), stiffness=(*STIFFNESS, AXIAL), damping=(*DAMPING, 1.0)
        )
        for name, place in ports.items()
    ]
    mechanism = connect({"rotor": rigid.body(MASS, inertia=inertia, ports=ports)}, bearings)
    return mechanism.spectrum(mechanism.equilibrium(mechanism.assemble(), spin=(0.0, 0.0, speed)))


def across(small_motions: Spectrum) -> Array:
    """Exponents (8,) [1/s] of the transverse motions of a rotor in world axes, from its spectrum."""
    moved = np.abs(small_motions.shapes)
    is_transverse = np.max(moved[[0, 1, 3, 4]], axis=0) > 0.5
    return np.sort_complex(small_motions.fixed_values[is_transverse])


def closed_form(speed: float) -> Array:
    """Exponents (8,) [1/s] of the symmetric rotor in world axes, from its equations with constant coefficients."""
    moves = [np.roots([MASS, 2.0 * c, 2.0 * k]) for k, c in zip(STIFFNESS, DAMPING, strict=True)]
    C = np.diag(2.0 * HALF**2 * DAMPING[::-1]) + POLAR * speed * np.array([[0.0, 1.0], [-1.0, 0.0]])
    K = np.diag(2.0 * HALF**2 * STIFFNESS[::-1])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-K / ACROSS, -C / ACROSS]])
    return np.sort_complex(np.concatenate([*moves, np.linalg.eigvals(A)]))


def own_growths(speed: float, unequal: float) -> Array:
    """Growth rates (4,) [1/s] of the tilts of an unequal rotor, by Floquet's theory of Euler's equations in its axes.

    ``unequal`` is (J₁ − J₂)/(J₁ + J₂) of its transverse moments of inertia.
    """
    J1, J2 = ACROSS * (1.0 + unequal), ACROSS * (1.0 - unequal)
    gyroscopic = (J1 + J2 - POLAR) * speed * np.array([[0.0, -1.0], [1.0, 0.0]])
    centrifugal = speed**2 * np.diag([POLAR - J2, POLAR - J1])
    turning, M = speed * np.array([[0.0, -1.0], [1.0, 0.0]]), np.diag([J1, J2])

    def slope(t: float, y: Array) -> Array:
        c, s = np.cos(speed * t), np.sin(speed * t)
        back = np.array([[c, s], [-s, c]])
        stiff, damping = (2.0 * HALF**2 * back @ np.diag(part[::-1]) @ back.T for part in (STIFFNESS, DAMPING))
        angle, rate = np.split(y.reshape(4, 4), 2)
        pull = stiff @ angle + damping @ (rate + turning @ angle) + gyroscopic @ rate + centrifugal @ angle
        return np.concatenate([rate, -np.linalg.solve(M, pull)]).ravel()

    period = 2.0 * np.pi / speed
    end = solve_ivp(slope, (0.0, period), np.eye(4).ravel(), rtol=1e-10, atol=1e-12, method="DOP853").y[:, -1]
    return np.sort(np.log(np.abs(np.linalg.eigvals(end.reshape(4, 4)))) / period)


def run(
    *,
    speeds: Annotated[int, Option("speeds of the pictures")] = 12,
    shares: Annotated[int, Option("rotors of the map, from equal to unequal")] = 4,
) -> Result:
    """A rotor in unequal bearings: Campbell diagram, and stability map of unequal rotors."""
    grid, band, unequal = (
        np.linspace(SLOWEST, FASTEST, speeds),
        np.linspace(*BAND, speeds),
        np.linspace(0.0, 0.6, shares),
    )
    exponents = [across(spectrum(speed, 0.0)) for speed in tqdm(grid, unit="speed", delay=1.0)]
    growth = [
        [across(spectrum(speed, share)).real.max() for share in unequal]
        for speed in tqdm(band, unit="speed", delay=1.0)
    ]
    closed = np.array([closed_form(speed) for speed in grid])
    return Result(grid, np.array(exponents), closed, band, unequal, np.array(growth))


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: largest growth [1/s] of all asymmetric rotors, with its speed [rad/s] and asymmetry."""
    speed, share = np.unravel_index(int(np.argmax(result.growth)), result.growth.shape)
    return {"growth_1_s": result.growth.max(), "speed_rad_s": result.band[speed], "share": result.shares[share]}


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: a Campbell diagram and a stability map, with their tables; return the summary numbers."""
    whirls = np.sort(np.abs(result.exponents.imag), axis=1)[:, ::2]
    frequencies = {f"whirl{i + 1}_rad_s": values for i, values in enumerate(whirls.T)}
    rows = {f"unequal_{share:.3g}_1_s": values for share, values in zip(result.shares, result.growth.T, strict=True)}
    write_table(folder / "frequencies.csv", {"speed_rad_s": result.speeds, **frequencies})
    write_table(folder / "growth.csv", {"speed_rad_s": result.band, **rows})
    _draw_campbell(result, folder / "campbell.png")
    draw_stability_map(
        folder / "stability.png",
        result.band,
        result.shares,
        result.growth,
        other="(J₁ − J₂)/(J₁ + J₂)",
        title="largest growth [1/s]",
    )
    return figures(result)


def _draw_campbell(result: Result, path: Path) -> None:
    figure = new_figure(6.0, 4.5)
    axes = figure.add_subplot()
    axes.plot(result.speeds, np.abs(result.exponents.imag), "o", color="C0", markersize=6, markerfacecolor="none")
    axes.plot(result.speeds, np.abs(result.closed.imag), "k.", markersize=3)
    axes.plot(result.speeds, result.speeds, ":", color="0.5", label="once a turn")
    axes.plot([], [], "o", color="C0", markerfacecolor="none", label="spectrum")
    axes.plot([], [], "k.", markersize=3, label="closed form")
    axes.set(xlabel="speed [rad/s]", ylabel="whirl frequency [rad/s]", ylim=(0.0, None))
    axes.grid(alpha=0.3)
    legend_above(axes, 3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: exponents of the symmetric rotor against its equations of constant coefficients; growth of others.

    The growth rates of asymmetric rotors are compared with :func:`own_growths`.
    """
    for speed in (60.0, 250.0):
        apart = np.abs(across(spectrum(speed, 0.0))[:, None] - closed_form(speed)).min(axis=0).max()
        yield vanishes(f"symmetric, {speed:g} rad/s: exponents", apart, 1e-6, source="Genta 2005", kind="closed form")
    for speed in (100.0, 260.0):
        growths = np.sort(spectrum(speed, 0.3).values.real)
        far = max(np.abs(growths - growth).min() for growth in own_growths(speed, 0.3))
        source = "Euler's equations, DOP853"
        yield vanishes(f"unequal, {speed:g} rad/s: growths", far, 1e-6, source=source, kind="independent code")


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
