"""The Princeton beam: a clamped strip with a weight at its tip, at several angles about its axis.

Source of the experiment and of its data: E. H. Dowell, J. J. Traybar, D. H. Hodges, An experimental-theoretical
correlation study of non-linear bending and torsion deformations of a cantilever beam, J. Sound Vib. 50 (1977) 533; the
same data in O. A. Bauchau et al., Validation of flexible multibody dynamics beam formulations using benchmark problems,
Multibody Syst. Dyn. 37 (2016) 29. The measured displacements are printed as points in figures, not as numbers, so
that none are used here. Closed forms hold where the weight acts in one of the two planes of the strip.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import fem
from flexph import Mechanism, force
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .rods import clamped

LENGTH, WIDTH, THICKNESS = 0.508, 12.377e-3, 3.2024e-3  # [m]
ALUMINIUM = fem.Material(young=71.7e9, density=2700.0, poisson=0.31)
STRIP = fem.Section(width=WIDTH, height=THICKNESS)  # thin along y, its flap; wide along z, its chord
LOADS = (4.448, 8.896, 13.345)  # weights of 1, 2 and 3 pounds [N]


class Result(NamedTuple):
    """Displacements of the tip by load and angle of loading: flap and chord [m], twist [rad], (loads, angles) each."""

    angles: Array
    flap: Array
    chord: Array
    twist: Array


def strip(elements: int, order: int) -> tuple[Mechanism, Any]:
    """Mechanism and pose of the clamped strip along x, with a force at its tip for the weight."""
    rod = fem.rod(LENGTH, ALUMINIUM, STRIP, elements=elements, order=order)
    return clamped(rod, force("rod.tip", name="weight"))


def solve(elements: int, order: int, angles: Array) -> Result:
    """Displacements of the tip in equilibrium under all loads at the given angles [rad] from the chord plane.

    Displacements are in axes that turn with the root of the strip.
    """
    mechanism, pose = strip(elements, order)
    tips = np.empty((len(LOADS), len(angles), 3))
    for i, load in enumerate(LOADS):
        for j, angle in enumerate(angles):
            weight = [0.0, load * float(np.sin(angle)), load * float(np.cos(angle))]
            state = mechanism.equilibrium(pose, inputs={"weight": weight})
            place = mechanism.position(state, "rod.tip")
            R = state.x[mechanism.layout.parts["rod.rotation"]].reshape(-1, 3, 3)[-1]
            tips[i, j] = place[1], place[2], np.arctan2(R[2, 1] - R[1, 2], R[1, 1] + R[2, 2])
    return Result(np.asarray(angles), tips[..., 0], tips[..., 1], tips[..., 2])


def run(
    *,
    elements: Annotated[int, Option("elements of the strip")] = 8,
    order: Annotated[int, Option("their order: 1, 2 or 3")] = 2,
    angles: Annotated[int, Option("angles of loading from 0° to 90°")] = 7,
) -> Result:
    """The Princeton beam (Dowell, Traybar): flap, chord and twist of its tip over load and loading angle."""
    if angles < 2:
        raise ValueError(f"angles must be at least 2, got {angles}")
    return solve(elements, order, np.linspace(0.0, 0.5 * np.pi, angles))


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: loads, angles, and displacements of the tip by load and angle.

    Displacements are the flap, across the flat side of the strip, the chord, along it, and the twist.
    """
    return {
        "loads_N": list(LOADS),
        "angles_deg": np.degrees(result.angles).tolist(),
        "tip_flap_m": result.flap.tolist(),
        "tip_chord_m": result.chord.tolist(),
        "tip_twist_rad": result.twist.tolist(),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: a table and a picture of the tip; return the summary numbers."""
    columns: dict[str, Any] = {"angle_deg": np.degrees(result.angles)}
    for i, load in enumerate(LOADS):
        for name, values in (("flap_m", result.flap), ("chord_m", result.chord), ("twist_rad", result.twist)):
            columns[f"{name}_{load:g}_N"] = values[i]
    write_table(folder / "tips.csv", columns)
    figure = new_figure(9.0, 3.8)
    panels = (("flap [m]", result.flap), ("chord [m]", result.chord), ("twist [°]", np.degrees(result.twist)))
    for k, (label, values) in enumerate(panels):
        axes = figure.add_subplot(1, 3, k + 1)
        for load, row in zip(LOADS, values, strict=True):
            axes.plot(np.degrees(result.angles), row, "o-", markersize=3, label=f"{load:g} N")
        axes.set(xlabel="loading angle [°]", ylabel=label)
        axes.grid(alpha=0.3)
    figure.axes[0].legend()
    figure.savefig(folder / "tips.png")
    return figures(result)


def elastica(load: float, stiffness: float) -> float:
    """Tip deflection [m] of a cantilever under a force of constant direction (Bisshopp, Drucker 1945).

    ``load`` is the force [N], ``stiffness`` EI [N m²].
    """
    root = np.sqrt(load * LENGTH**2 / stiffness)

    def parts(slope: float) -> tuple[float, float]:
        m = 0.5 * (1.0 + np.sin(slope))
        return m, float(np.arcsin(1.0 / np.sqrt(2.0 * m)))

    def open_by(slope: float) -> float:
        m, angle = parts(slope)
        return float(ellipk(m) - ellipkinc(angle, m) - root)

    m, angle = parts(brentq(open_by, 1e-9, 0.5 * np.pi - 1e-9))
    return float(LENGTH * (1.0 - 2.0 / root * (ellipe(m) - ellipeinc(angle, m))))


def checks() -> Iterable[Check]:
    """Checks: deflections in both planes of the strip against the elastica, and at 45° against elements of order 3.

    Shear adds a fraction of 1e-4 to the deflection in the chord plane, extension and shear 1e-5 in the flap plane.
    """
    result = solve(8, 2, np.array([0.0, 0.25 * np.pi, 0.5 * np.pi]))
    weak = ALUMINIUM.young * STRIP.second_moment
    for load, flap, chord in zip(LOADS, result.flap, result.chord, strict=True):
        closed, source = elastica(load, weak), "elastica"
        yield near(f"{load:g} N at 90°: flap [m]", closed, flap[-1], 1e-4 * closed, source=source)
        yield vanishes(f"{load:g} N at 90°: chord [m]", chord[-1], 1e-9, source="symmetry")
        strong = ALUMINIUM.young * STRIP.in_space("second_moment_y")
        closed = elastica(load, strong)
        yield near(f"{load:g} N at 0°: chord [m]", closed, chord[0], 1e-3 * closed, source=source)
    fine = solve(8, 3, np.array([0.25 * np.pi]))
    for name in ("flap", "chord", "twist"):
        reference = float(getattr(fine, name)[-1, 0])
        value, source = getattr(result, name)[-1, 1], "8 elements of order 3"
        yield near(f"13.345 N at 45°: {name}", reference, value, 1e-3 * abs(reference), source=source, kind="theorem")


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
