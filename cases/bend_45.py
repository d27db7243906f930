"""A rod bent to 45° of a circle, with a force out of its plane at its tip.

Source: K.-J. Bathe, S. Bolourchi, Large displacement analysis of three-dimensional beam structures, Int. J. Numer.
Methods Engrg. 14 (1979) 961; a standard test of rods in space.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

import fem
from flexph import Mechanism, State, force
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array

from .checks import near
from .rods import axis_of, clamped, draw_axes

RADIUS, ANGLE = 100.0, 0.25 * np.pi  # [m], [rad]
YOUNG = 1e7  # E [Pa], ν = 0, a square section of 1 m × 1 m with GJ = G/6
SECTION = fem.RodSection(
    axial=YOUNG,
    shear=(0.5 * YOUNG, 0.5 * YOUNG),
    torsion=YOUNG / 12.0,
    bending=(YOUNG / 12.0, YOUNG / 12.0),
    mass=1.0,
    inertia=(1.0 / 6.0, 1.0 / 12.0, 1.0 / 12.0),
)
CONVERGED = (47.150, 15.685, 53.475)  # tip under 600 N, of our own prototype on fine meshes of other elements [m]
SIMO = {300.0: (58.84, 22.33, 40.08), 450.0: (52.32, 18.62, 48.39), 600.0: (47.23, 15.79, 53.37)}
"""Tips [m] under forces [N] by the code of J. C. Simo, L. Vu-Quoc, Comput. Methods Appl. Mech. Engrg. 58 (1986) 79.

Values as quoted in the literature; the original table was not available for comparison.
"""


class Result(NamedTuple):
    """Equilibria of the rod, one ``states`` entry for each of the ``forces`` [N]."""

    mechanism: Mechanism
    forces: tuple[float, ...]
    states: tuple[State, ...]


def bend(s: float) -> tuple[Array, Array]:
    """Position (3,) [m] and section axes (3, 3), as columns, at the length s [m] of the undeformed rod.

    The rod is an arc of a circle that starts along x and turns to y.
    """
    c, d = np.cos(s / RADIUS), np.sin(s / RADIUS)
    return RADIUS * np.array([d, 1.0 - c, 0.0]), np.array([[c, -d, 0.0], [d, c, 0.0], [0.0, 0.0, 1.0]])


def solve(elements: int, order: int, forces: tuple[float, ...]) -> Result:
    """Equilibria of the clamped rod under the given forces [N] along z at its tip."""
    rod = fem.rod(RADIUS * ANGLE, None, SECTION, elements=elements, order=order, curve=bend)
    mechanism, pose = clamped(rod, force("rod.tip", name="pull"))
    states = [mechanism.equilibrium(pose, inputs={"pull": [0.0, 0.0, value]}) for value in forces]
    return Result(mechanism, forces, tuple(states))


def tips(result: Result) -> Array:
    """Positions (forces, 3) [m] of the tip of the rod in all equilibria."""
    return np.array([result.mechanism.position(state, "rod.tip") for state in result.states])


def run(
    *,
    elements: Annotated[int, Option("elements of the rod")] = 8,
    order: Annotated[int, Option("their order: 1, 2 or 3")] = 2,
) -> Result:
    """A rod bent to 45° under a force out of its plane (Bathe, Bolourchi): position of its tip."""
    return solve(elements, order, (300.0, 450.0, 600.0))


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: position of the tip under the largest force [m], and the number of nodes."""
    return {"tip_m": tips(result)[-1].tolist(), "nodes": len(result.mechanism.bodies["rod"].frames)}


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: a table of the tips, and the rod under all forces; return the summary numbers."""
    places = tips(result)
    columns = {f"tip_{axis}_m": places[:, k] for k, axis in enumerate("xyz")}
    write_table(folder / "tips.csv", {"force_N": result.forces, **columns})
    lines = {
        f"{value:g} N": axis_of(result.mechanism, state.x)
        for value, state in zip(result.forces, result.states, strict=True)
    }
    draw_axes(folder / "bend.png", lines, ("xy", "xz"))
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: position of the tip with 17 nodes of order 2, to 2e-4 of the length against our own fine meshes.

    The mesh of Simo and Vu-Quoc is coarser: their values agree to 2e-3 of the length.
    """
    tip, length = np.array(figures(solve(8, 2, (600.0,)))["tip_m"]), RADIUS * ANGLE
    for value, reference, axis in zip(tip, CONVERGED, "xyz", strict=True):
        source = "our own fine meshes"
        yield near(f"tip {axis} [m]", reference, value, 2e-4 * length, source=source, kind="independent code")
    coarse = tips(solve(8, 2, tuple(SIMO)))
    for places, (load, place) in zip(coarse, SIMO.items(), strict=True):
        for value, reference, axis in zip(places, place, "xyz", strict=True):
            name, source = f"{load:g} N: tip {axis} [m]", "Simo, Vu-Quoc, as quoted"
            yield near(name, reference, value, 2e-3 * length, source=source, kind="independent code")


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
