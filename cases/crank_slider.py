"""Rotating crank-slider with a flexible rod ([flex] sec. 6.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import fem
import rigid
from flexph import GROUND, PHDAE, Body, Mechanism, Solution, State, connect, drive, hinge, integrate, slider
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import vanishes
from .files import write_rows, write_run
from .method_comparison import Comparison, Method, compare
from .method_comparison import checks as method_checks
from .method_comparison import write as write_comparison

CRANK, ROD = 0.15, 0.30  # lengths [m]
SPEED = 150.0  # of the crank [rad/s]
DIAMETER = 6e-3  # of the rod [m]
SLIDER = 0.033  # mass [kg]
STEEL = fem.Material(young=0.2e12, density=7870.0)
CRANK_MASS = 0.1  # [kg]; the crank is driven, its mass takes no part in the motion


CHECKED = {"radau": 5e-5, "ida": 5e-5}
"""Methods of the checks, with the largest deviations of their deformations and energies from the exact scheme, relative
to the maxima: tolerances of 1e-6 a step accumulate."""

STRAINS = {"linear": "linear", "von_karman": "von Kármán"}


@dataclass(frozen=True)
class Result:
    """A run of the crank-slider, with the deflection (k, 2) of the rod's midpoint divided by the rod's length.

    ``refinement`` is the table of :func:`refine`, empty if it was not requested.
    """

    solution: Solution
    midpoint: Array
    strain: str
    steps: int
    refinement: tuple[dict[str, float], ...] = field(default=())


def crank_slider(elements: int, strain: Literal["linear", "von_karman"]) -> Mechanism:
    """Mechanism of a driven rigid crank, a flexible rod with a simply supported frame, and a slider on the x axis."""
    return around(beam(elements, strain, fem.Section(diameter=DIAMETER)))


def beam(elements: int, strain: Literal["linear", "von_karman"], section: fem.Section) -> Body:
    """Flexible rod with a simply supported frame and a port ``middle`` in its middle."""
    return fem.beam(
        ROD,
        STEEL,
        section,
        elements=elements,
        reference="simply_supported",
        strain=strain,
        stations={"middle": 0.5 * ROD},
    )


def around(rod: Body, speed: float = SPEED) -> Mechanism:
    """Mechanism of a crank, a slider and the given rod between them; the crank turns at a constant speed [rad/s]."""
    return connect(
        {"crank": rigid.bar(CRANK, CRANK_MASS), "rod": rod, "slider": rigid.point(SLIDER)},
        [
            hinge("crank.root", GROUND.at(0.0, 0.0)),
            drive("crank.root", GROUND, angle=lambda t: speed * t),
            hinge("crank.tip", "rod.root"),
            hinge("rod.tip", "slider.point"),
            slider("slider.point", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True),
        ],
    )


def solve(
    elements: int, strain: Literal["linear", "von_karman"], steps: int, turns: float, *, start: str = "undeformed"
) -> tuple[Solution, Array]:
    """Run from the stretched pose, and the deflection (k, 2) of the rod's midpoint divided by the rod's length.

    The components are along the chord and at +90° to it. ``start`` is "undeformed" or "quasi_static".
    """
    mechanism = crank_slider(elements, strain)
    solution = integrate(mechanism, stretched(mechanism, start), instants(steps, turns))
    return solution, solution.displacement("rod.middle") / ROD


def stretched(mechanism: Mechanism, start: str = "undeformed") -> State:
    """State in the stretched pose, crank and rod in line, with the rod undeformed.

    If ``start`` is "quasi_static", the rod is deflected by its inertia forces.
    """
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.0)})
    return mechanism.consistent_state(pose, elastic="quasi_static" if start == "quasi_static" else "undeformed")


def instants(steps: int, turns: float) -> Array:
    """Times (steps + 1,) [s] of equal steps for a number of turns of the crank."""
    return np.linspace(0.0, turns * 2.0 * math.pi / SPEED, steps + 1)


def run(
    *,
    strain: Annotated[Literal["linear", "von_karman"], Option("axial strain of the rod")] = "linear",
    elements: Annotated[int, Option("finite elements of the rod")] = 8,
    steps: Annotated[int, Option("time steps")] = 4000,
    turns: Annotated[float, Option("turns of the crank")] = 2.0,
    start: Annotated[Literal["undeformed", "quasi_static"], Option("elastic start of the rod")] = "undeformed",
    refinement: Annotated[bool, Option("also refine steps and elements, about a minute")] = False,
    method: Annotated[Method, Option("exact scheme, or a general method compared with it; [flex] used ida")] = "exact",
) -> Result | Comparison:
    """Rotating crank-slider with a flexible rod: deflection, stresses and energy ledger ([flex] sec. 6.2).

    The methods of general systems take hundreds of times as long: begin with few elements and a fraction of a turn.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    if not (turns > 0.0 and math.isfinite(turns)):
        raise ValueError(f"turns must be positive, got {turns}")
    if method != "exact":
        if refinement:
            raise ValueError(f"refinement belongs to method exact, got {method!r}")
        mechanism = crank_slider(elements, strain)
        return compare((mechanism, stretched(mechanism, start)), instants(steps, turns), body="rod", method=method)
    solution, midpoint = solve(elements, strain, steps, turns, start=start)
    table = refine(strain, turns) if refinement else ()
    return Result(solution, midpoint, strain, steps, tuple(table))


GRIDS = ((8, 500), (8, 1000), (8, 2000), (8, 4000), (8, 8000), (2, 4000), (4, 4000), (16, 4000))


def refine(
    strain: Literal["linear", "von_karman"], turns: float, grids: Iterable[tuple[int, int]] = GRIDS
) -> list[dict[str, float]]:
    """Table of the deflections of the rod's midpoint: largest, smallest and root mean square for each of the grids.

    A grid is a pair (elements, steps).
    """
    rows = []
    for elements, steps in grids:
        uy = solve(elements, strain, steps, turns)[1][:, 1]
        rows.append({"elements": elements, "steps": steps, **extremes(uy)})
    return rows


def extremes(uy: Array) -> dict[str, float]:
    """Largest, smallest and root-mean-square value of the deflection ``uy`` (k,), by the names of table columns."""
    return {"uy_max_over_L": uy.max(), "uy_min_over_L": uy.min(), "uy_rms_over_L": math.sqrt(np.mean(uy**2))}


def figures(result: Result | Comparison) -> dict[str, Any]:
    """Summary numbers: extremes of the deflection, with the accuracy of energy and constraints.

    For a general method they are the numbers of its comparison with the exact scheme.
    """
    if isinstance(result, Comparison):
        return result.figures()
    ledger = result.solution.ledger
    numbers: dict[str, Any] = {
        "energy_residual_max_rel": ledger.largest_residual,
        "position_drift_max_m": ledger.position_residual.max(),
        **extremes(result.midpoint[:, 1]),
        "steps": result.steps,
        "newton_iterations_mean": ledger.iterations.mean(),
    }
    return numbers | ({"refinement": list(result.refinement)} if result.refinement else {})


def write(result: Result | Comparison, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables, plots, the moving rod for mesh viewers, and the run itself.

    For a general method, write its run and a table of energy and deflection only. Return the summary numbers.
    """
    if isinstance(result, Comparison):
        middle = result.reference.mechanism.bodies["rod"].ports["middle"].shape
        midpoint = (middle @ result.trajectory["rod.deformation"].T).T / ROD
        return write_comparison(result, folder, _deflection(midpoint))
    write_run(result.solution, folder)
    deflection = _deflection(result.midpoint)
    write_table(folder / "midpoint.csv", {"t_s": result.solution.times, **deflection})
    draw_midpoint(result, folder / "midpoint.png")
    if result.refinement:
        write_rows(folder / "refinement.csv", result.refinement)
    return figures(result)


def _deflection(midpoint: Array) -> dict[str, Array]:
    return dict(zip(("ux_over_L", "uy_over_L"), midpoint.T, strict=True))


WINDOWS = 120
"""Number of intervals for the drawn range of the axial vibration: hundreds of periods would fill the plot."""


def draw_midpoint(result: Result, path: Path) -> None:
    """Draw the midpoint deflection in the manner of [flex] fig. 8."""
    figure, times = new_figure(11.0, 4.6), result.solution.times
    along, across = figure.subplots(1, 2)
    parts = np.array_split(np.arange(len(times)), min(WINDOWS, len(times)))
    values = [1e6 * result.midpoint[part, 0] for part in parts]
    middles = [times[part].mean() for part in parts]
    low, high, mean = (np.array([of(v) for v in values]) for of in (np.min, np.max, np.mean))
    along.fill_between(middles, low, high, alpha=0.3, linewidth=0.0, label="range of the axial vibration")
    along.plot(middles, mean, linewidth=1.2, label="its mean")
    legend_above(along, 2)
    across.plot(times, 1e2 * result.midpoint[:, 1], linewidth=1.2)
    for axes, name, unit in ((along, "x", "10⁻⁶"), (across, "y", "%")):
        axes.set(xlabel="t [s]", ylabel=f"$u_f^{name}(L/2)\\,/\\,L$ [{unit}]")
        axes.grid(alpha=0.3)
    figure.suptitle(f"midpoint of the rod, {STRAINS[result.strain]} strain")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: extremes of the deflection over two turns with 8 elements and 4000 steps.

    Other methods take hundreds of times as long: they are compared over the first hundredth of a turn with 2 elements.
    """
    rows = {
        "linear": ("modal reference, axially rigid", 1.8764e-2, -1.8692e-2, 8.131e-3, 0.002),
        "von_karman": ("16 ANCF elements", 1.5407e-2, -1.5534e-2, 7.146e-3, 0.005),
    }
    for strain, (source, largest, smallest, rms, tolerance) in rows.items():
        solution, midpoint = solve(8, strain, 4000, 2.0)  # type: ignore[arg-type]
        extreme_values = extremes(midpoint[:, 1])
        for name, published in (("max", largest), ("min", smallest), ("rms", rms)):
            computed = float(extreme_values[f"uy_{name}_over_L"])
            yield Check(
                f"uy/L {name}, {strain}", source, published, computed, kind="independent code", tolerance=tolerance
            )
        yield vanishes(f"energy residual of a step, {strain}", solution.ledger.largest_residual, 1e-11)
    mechanism = crank_slider(2, "linear")
    yield from method_checks((mechanism, stretched(mechanism)), instants(40, 0.01), CHECKED, body="rod")


def analysed() -> tuple[PHDAE, dict[str, float]]:
    """Equations of the mechanism with four elements at its start, and the constant speed of the crank as its inputs."""
    mechanism = crank_slider(4, "linear")
    state = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    system = mechanism.phdae(mechanism.consistent_multipliers(state))
    return system, dict.fromkeys(system.ports, SPEED)


case = Case(run, write, checks, needs=("matplotlib",), system=analysed, figures=figures)
