"""The crank-slider of [flex] sec. 6.2 with its connecting rod as a solid: stresses, compared with the beam.

In space the crank turns on a driven revolute joint; a spherical joint at its pin, a universal one at the slider
and a prismatic rail have as many constraints as the driven rigid mechanism needs: none is redundant.

The strains of solids are linear, so the beam for comparison is Euler-Bernoulli's with linear strain: neither stiffens
by its axial force, which at 150 rad/s makes a fifth of the deflection (docs/cases/crank-slider.md). The additional
mass of the eyes is lumped at the pins of the beam.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import rigid
from flexph import (
    GROUND,
    Body,
    Mechanism,
    Solution,
    connect,
    drive,
    integrate,
    prismatic,
    revolute,
    spherical,
    universal,
)
from flexph.bodies import reduce_body
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array

from . import crank_slider as planar
from .checks import vanishes
from .connecting_rod import (
    Peaks,
    Rod,
    Z,
    beam_rod,
    beam_stress,
    bending,
    euler_bernoulli,
    softened,
    solid_rod,
    stress_peaks,
    timoshenko,
)
from .crank_slider import CRANK, CRANK_MASS, ROD, SLIDER, SPEED
from .files import write_run
from .rod_pictures import draw_midpoint, draw_peaks, draw_rod

Kind = Literal["reduced", "full"]
Start = Literal["undeformed", "quasi_static"]


@dataclass(frozen=True)
class Plan:
    """Parameters of a run: speed [rad/s] and turns of the crank, number of steps, initial deformation of the rod.

    Raises ValueError for numbers that are not positive.
    """

    speed: float = SPEED
    steps: int = 1000
    turns: float = 2.0
    start: Start = "quasi_static"

    def __post_init__(self) -> None:
        check.positive("speed", self.speed, "rad/s")
        check.positive("turns", self.turns, "turns")
        check.count("steps", self.steps)

    @property
    def times(self) -> Array:
        """Ends of the steps of the run [s]."""
        return np.linspace(0.0, self.turns * 2.0 * math.pi / self.speed, self.steps + 1)


@dataclass(frozen=True)
class Result:
    """Runs with the solid rod and with the equivalent beam, and the quantities that are compared.

    ``midpoint`` (k,) are deflections of the middle divided by the length, ``peaks`` the largest von Mises stresses of
    the solid, ``frequencies`` (3,) those of bending on hinges [rad/s].
    """

    solution: Solution
    beam: Solution
    midpoint: Array
    beam_midpoint: Array
    peaks: Peaks
    frequencies: Array
    beam_frequencies: Array


def crank_slider(rod: Body, speed: float = SPEED) -> Mechanism:
    """Mechanism in space of a driven crank, a rod, and a slider on the x axis."""
    crank = rigid.cylinder(CRANK, 0.005, density=CRANK_MASS / (math.pi * 0.005**2 * CRANK))
    return connect(
        {"crank": crank, "rod": rod, "slider": rigid.box((0.02, 0.02, 0.02), density=SLIDER / 0.02**3)},
        [
            revolute("crank.root", GROUND.at(0.0, 0.0, 0.0), axis=Z),
            drive("crank.root", GROUND, angle=lambda t: speed * t, axis=Z),
            spherical("rod.crank", "crank.tip"),
            universal("rod.slider", "slider.centre", axis=Z, second_axis=(0.0, 1.0, 0.0)),
            prismatic("slider.centre", GROUND.at(0.0, 0.0, 0.0), direction=(1.0, 0.0, 0.0)),
        ],
    )


def solve(rod: Body, plan: Plan) -> Solution:
    """Run of the crank-slider with a rod from the stretched pose: in space with a solid, in the plane with a beam."""
    if rod.dim == 2:
        mechanism = planar.around(rod, plan.speed)
        pose = mechanism.assemble({"crank": (0.0, 0.0, 0.0)})
    else:
        mechanism = crank_slider(rod, plan.speed)
        straight = {"rod": np.array([CRANK, 0.0, 0.0]) - rod.ports["crank"].position, "slider": (CRANK + ROD, 0.0, 0.0)}
        at = {name: (place, np.eye(3)) for name, place in straight.items()}
        pose = mechanism.assemble({"crank": ((0.0, 0.0, 0.0), np.eye(3))}, guess=at)
    return integrate(mechanism, mechanism.consistent_state(pose, elastic=plan.start), plan.times)


def deflection(solution: Solution) -> Array:
    """Deflection (k,) of the middle of the rod divided by its length, positive at +90° from the chord.

    The chord is the line between the pins.
    """
    ends = ("rod.root", "rod.tip") if solution.mechanism.bodies["rod"].dim == 2 else ("rod.crank", "rod.slider")
    first, last, middle = (solution.position(port)[:, :2] for port in (*ends, "rod.middle"))
    along, lever = last - first, middle - 0.5 * (first + last)
    return (along[:, 0] * lever[:, 1] - along[:, 1] * lever[:, 0]) / np.linalg.norm(along, axis=1) / ROD


def run(
    *,
    rod: Annotated[Rod, Option("with eyes, from the mesh, or a prismatic bar")] = "eyes",
    body: Annotated[Kind, Option("Craig-Bampton basis, or all coordinates: 0.04 s a step")] = "reduced",
    modes: Annotated[int, Option("modes of the reduced rod, in addition to its static responses")] = 6,
    speed: Annotated[float, Option("of the crank", "rad/s")] = SPEED,
    steps: Annotated[int, Option("time steps")] = 1000,
    turns: Annotated[float, Option("turns of the crank")] = 2.0,
    start: Annotated[Start, Option("elastic start of the rod")] = "quasi_static",
) -> Result:
    """Crank-slider with a solid connecting rod: stresses, and its deflection against the beam's ([flex] sec. 6.2)."""
    plan = Plan(speed, steps, turns, start)
    solid = solid_rod(rod)
    return compare(solid, reduced(solid, modes) if body == "reduced" else solid, plan)


def reduced(solid: Body, modes: int) -> Body:
    """Solid rod reduced to its lowest modes with fixed frame and to static responses.

    The responses are those to forces and torques at the ends and to inertia.
    """
    return reduce_body(solid, modes=modes, static=("crank", "slider"), inertia=True)


def compare(solid: Body, moving: Body, plan: Plan) -> Result:
    """Run the crank-slider with the rod ``moving`` and with the beam that is equivalent to the rod ``solid``.

    ``moving`` is ``solid`` or a reduction of it.
    """
    thin = beam_rod(solid)
    solution, beam = solve(moving, plan), solve(thin, plan)
    return Result(
        solution,
        beam,
        midpoint=deflection(solution),
        beam_midpoint=deflection(beam),
        peaks=stress_peaks(solution),
        frequencies=bending(solid),
        beam_frequencies=bending(thin),
    )


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables, pictures, the moving rod with its stresses, and the run itself.

    Return the summary numbers.
    """
    solution, ledger = result.solution, result.solution.ledger
    write_run(solution, folder)
    beam = beam_stress(result.beam, result.peaks.places)
    places = {f"at_{'xyz'[k]}_m": result.peaks.places[:, k] for k in range(3)}
    columns = {
        "uy_over_L": result.midpoint,
        "uy_over_L_beam": result.beam_midpoint,
        "von_mises_max_Pa": result.peaks.stress,
    }
    write_table(folder / "rod.csv", {"t_s": solution.times, **columns, **places, "beam_there_Pa": beam})
    draw_midpoint(solution.times, result.midpoint, result.beam_midpoint, folder / "midpoint.png")
    draw_peaks(solution.times, result.peaks, np.abs(beam), folder / "peaks.png")
    draw_rod(solution, result.peaks.worst, folder / "rod.png")
    worst, body = result.peaks.worst, solution.mechanism.bodies["rod"]
    return {
        "energy_residual_max_rel": ledger.largest_residual,
        "position_drift_max_m": ledger.position_residual.max(),
        "coordinates": body.size,
        "stresses": body.stress_size,
        "uy_max_over_L": result.midpoint.max(),
        "uy_min_over_L": result.midpoint.min(),
        "beam_difference_max_rel": apart(result.midpoint, result.beam_midpoint),
        "von_mises_max_Pa": result.peaks.stress[worst],
        "von_mises_max_at_m": result.peaks.places[worst].tolist(),
        "von_mises_max_time_s": solution.times[worst],
        "bending_hz": (result.frequencies / (2.0 * math.pi)).tolist(),
        "bending_beam_hz": (result.beam_frequencies / (2.0 * math.pi)).tolist(),
        "newton_iterations_mean": ledger.iterations.mean(),
    }


def apart(computed: Array, wanted: Array) -> float:
    """Largest difference of two time series, divided by the largest magnitude of the second one."""
    return float(np.abs(computed - wanted).max() / np.abs(wanted).max())


def checks() -> Iterable[Check]:
    """Checks: bar against beam theory, rod with eyes against its beam, reduced against full rod, balance, joint drift.

    Frequencies, deflections and stresses are compared.
    """
    bar, eyes = solid_rod("bar"), solid_rod("eyes")
    results = {"bar": compare(bar, reduced(bar, 6), Plan()), "eyes": compare(eyes, reduced(eyes, 6), Plan())}
    yield from theory_checks(results["bar"], bar)
    rod = results["eyes"]
    for name, computed, wanted, tolerance in (
        # shear reduces the first frequency by 0.05 %; eyes rigid up to their rims or the necks add 0.04 to 0.14 %
        ("first bending frequency [rad/s], eyes", rod.frequencies[0], rod.beam_frequencies[0], 1e-3),
        *((f"largest von Mises stress [Pa], {kind}", *at_peak(result), 0.01) for kind, result in results.items()),
    ):
        yield Check(
            name, "Euler-Bernoulli beam", float(wanted), float(computed), kind="closed form", tolerance=tolerance
        )
    # shift by a frequency error of 0.05 % in two turns, the difference of the bar and its beam
    yield vanishes(
        "deflection, eyes: off the beam",
        apart(rod.midpoint, rod.beam_midpoint),
        0.01,
        source="Euler-Bernoulli beam",
        kind="independent code",
    )
    yield from reduction_checks(eyes)
    for kind, result in results.items():
        ledger = result.solution.ledger
        yield vanishes(f"energy residual of a step, {kind}", ledger.largest_residual, 1e-12)
        yield vanishes(f"drift of the joints [m], {kind}", ledger.position_residual.max(), 1e-13)


def theory_checks(result: Result, bar: Body) -> Iterable[Check]:
    """Checks: frequencies of the bar against Timoshenko's, to a tenth of their distance from Euler-Bernoulli's.

    Shear and rotary inertia cause that distance; the tenth allows for the error of the mesh. The deflection in the run
    is compared with that of a beam with corrected first frequency.
    """
    rows = zip(result.frequencies, timoshenko(), euler_bernoulli(), strict=True)
    for k, (computed, wanted, thin) in enumerate(rows, 1):
        tolerance = 0.1 * (1.0 - wanted / thin)
        yield Check(
            f"bending {k} [rad/s], bar",
            "Timoshenko",
            float(wanted),
            float(computed),
            kind="closed form",
            tolerance=tolerance,
        )
    soft = deflection(solve(beam_rod(bar, section=softened()), Plan()))
    theories, computed = apart(soft, result.beam_midpoint), apart(result.midpoint, result.beam_midpoint)
    yield Check(
        "deflection, bar: off Euler-Bernoulli's",
        "first frequency corrected",
        theories,
        computed,
        kind="independent code",
        tolerance=0.15,
    )
    yield vanishes(
        "deflection, bar: off the corrected beam",
        apart(result.midpoint, soft),
        0.15 * theories,
        source="corrected beam",
        kind="independent code",
    )


def reduction_checks(rod: Body) -> Iterable[Check]:
    """Checks: deflection and stresses of the reduced rod against the full one, over the first and largest swing."""
    plan = Plan(steps=75, turns=0.15)
    small, full = (solve(body, plan) for body in (reduced(rod, 6), rod))
    yield vanishes(
        "deflection, reduced",
        apart(deflection(small), deflection(full)),
        1e-5,
        source="full body",
        kind="independent code",
    )
    peaks = [stress_peaks(solution).stress for solution in (small, full)]
    yield vanishes("largest stresses, reduced", apart(*peaks), 2e-4, source="full body", kind="independent code")
    yield vanishes("energy residual of a step, full", full.ledger.largest_residual, 1e-12)


def at_peak(result: Result) -> tuple[float, float]:
    """Largest von Mises stress of the solid rod in a run, and stress of the beam at the same time and position [Pa]."""
    k = result.peaks.worst
    return float(result.peaks.stress[k]), float(np.abs(beam_stress(result.beam, result.peaks.places)[k]))


case = Case(run, write, checks, needs=("matplotlib",))
