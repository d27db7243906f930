"""Lateral-torsional buckling of a cantilever strip under a tip force in its stiff plane.

Closed form: F = 4.0126 √(EI GJ)/L² (S. P. Timoshenko, J. M. Gere, Theory of Elastic Stability, sec. 6.3), for a
strip so high that it does not bend before.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

import fem
from flexph import Mechanism, Pose, force
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near
from .rods import clamped

EXACT = 4.0126
LENGTH, WEAK, TORSION = 1.0, 1.0, 1.0  # [m], EI [N m²] about the axis the strip turns aside about, GJ [N m²]
STIFF = 1e6  # EI [N m²] in the plane of the force
SECTION = fem.RodSection(
    axial=1e8, shear=(1e8, 1e8), torsion=TORSION, bending=(WEAK, STIFF), mass=1.0, inertia=(1e-2, 1e-2, 1e-2)
)
UNIT = np.sqrt(WEAK * TORSION) / LENGTH**2  # [N]


class Result(NamedTuple):
    """The load factor F L²/√(EI GJ) at which the strip buckles, and squares of its lowest frequency under ``factors``.

    The squares ω² [1/s²] are negative for unstable equilibria.
    """

    factor: float
    factors: Array
    squares: Array


def strip(elements: int, order: int) -> tuple[Mechanism, Pose]:
    """Mechanism and pose of the clamped strip along x, with its height along y and a force at its tip."""
    rod = fem.rod(LENGTH, None, SECTION, elements=elements, order=order)
    return clamped(rod, force("rod.tip", name="load"))


def lowest_square(mechanism: Mechanism, pose: Pose, factor: float) -> float:
    """Square ω² [1/s²] of the strip's lowest frequency about its equilibrium under a load; negative if motions grow.

    The load, downwards, is ``factor`` times UNIT = √(EI GJ)/L².
    """
    inputs = {"load": [0.0, -factor * UNIT, 0.0]}
    values = mechanism.spectrum(mechanism.equilibrium(pose, inputs=inputs), inputs=inputs).values
    return float(-np.max((values**2).real))


def buckling_factor(elements: int, order: int) -> float:
    """Load factor at which the lowest frequency of the strip vanishes.

    The search begins in the equilibrium under the load factor one.
    """
    mechanism, pose = strip(elements, order)
    inputs = {"load": [0.0, -UNIT, 0.0]}
    return mechanism.buckling(mechanism.equilibrium(pose, inputs=inputs), inputs=inputs).factor


def run(
    *,
    elements: Annotated[int, Option("elements of the rod")] = 8,
    order: Annotated[int, Option("their order: 1, 2 or 3")] = 2,
) -> Result:
    """Lateral buckling of a cantilever strip: the critical load, and frequencies around it."""
    mechanism, pose = strip(elements, order)
    factors = np.linspace(0.0, 4.5, 10)
    squares = np.array([lowest_square(mechanism, pose, factor) for factor in factors])
    return Result(buckling_factor(elements, order), factors, squares)


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: the load factor F L²/√(EI GJ), computed and exact."""
    return {"factor": result.factor, "exact": EXACT}


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and picture of the lowest frequency against the load; return the summary numbers."""
    write_table(folder / "frequencies.csv", {"factor": result.factors, "square_1_s2": result.squares})
    figure = new_figure(6.0, 4.0)
    axes = figure.add_subplot()
    axes.plot(result.factors, result.squares, "o-", markersize=4)
    axes.axvline(EXACT, color="0.4", linestyle=":", label=f"closed form: {EXACT}")
    axes.axhline(0.0, color="0.7", linewidth=0.8)
    axes.set(xlabel=r"$F L^2 / \sqrt{EI\,GJ}$", ylabel=r"$\omega_1^2$ [1/s²]")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(folder / "frequencies.png")
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: load factor at buckling with 9 and with 17 nodes of order 2 against the closed form.

    The closed form has five digits. It assumes a strip that is rigid in its stiff plane; here the ratio of the bending
    stiffnesses is 1e6.
    """
    for elements, bound in ((4, 1e-3), (8, 1e-4)):
        factor = buckling_factor(elements, 2)
        yield near(f"{elements} elements: factor", EXACT, factor, bound * EXACT, source="Timoshenko, Gere")


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
