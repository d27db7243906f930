"""A clamped-free beam reduced by every method, with errors, times and certificates ([flex] sec. 5.3)."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
from flexph import LinearPHDAE, frequency_response, reduce
from flexph.case import Case, Check, Option
from flexph.linear import assess
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

BAND = (1.0, 1e4)
"""Frequency range of the comparison [rad/s], sampled at 600 points on a logarithmic scale."""
POINTS = 600
REPEATS = 3
"""Number of repetitions, of which the best time counts."""


def clamped_beam(elements: int) -> LinearPHDAE:
    """Bending of a clamped-free beam of unit constants with the damping 0.5 M + 2e-4 K.

    The input is the transverse force at the tip, the output the velocity there.
    """
    beam = fem.bending(
        1.0,
        fem.Material(young=1.0, density=1.0),
        fem.Section(area=1.0, second_moment=1.0),
        elements=elements,
        clamped=("root",),
        damping=fem.Damping(mass=0.5, stiffness=2e-4),
    )
    return replace(beam, B=beam.B[:, [0]], ports={"tip": slice(0, 1)})


@dataclass(frozen=True)
class Reduced:
    """System reduced by one method: its order, its relative errors, the time [s] and its response H(iω).

    ``hinf`` and ``h2`` are the relative errors of H in the frequency band, ``energy`` that of the stored energy in a
    step response. ``certificate`` is True if the reduced system preserves the structure.
    """

    name: str
    order: int
    hinf: float
    h2: float
    energy: float
    seconds: float
    certificate: bool
    response: Array


@dataclass(frozen=True)
class Result:
    """Frequency response H(iω) of the full system at ``omega`` (k,) [rad/s], and the systems reduced by all methods."""

    omega: Array
    response: Array
    states: int
    methods: tuple[Reduced, ...]


def reductions_of(order: int) -> dict[str, Callable[[LinearPHDAE], LinearPHDAE]]:
    """Functions that reduce a system to ``order`` states, by the names of their methods.

    The method of pyMOR is included if this package is installed.
    """
    reductions: dict[str, Callable[[LinearPHDAE], LinearPHDAE]] = {
        "Krylov, points sought": lambda system: reduce(system, order, band=BAND),
        "Krylov, moments at 100 rad/s": lambda system: reduce(system, points=[(100.0, order // 2)]),
        "modal": lambda system: reduce(system, order, method="modal"),
        "IRKA": lambda system: reduce(system, order, method="irka", band=BAND),
    }
    if find_spec("pymor") is not None:
        reductions["PHIRKA of pyMOR"] = lambda system: phirka(system, order)
    return reductions


def phirka(system: LinearPHDAE, order: int) -> LinearPHDAE:
    """Reduction by pyMOR's PHIRKA (extra ``bench``) from the same sparse matrices, for comparison."""
    from pymor.core.logger import set_log_levels
    from pymor.reductors.ph.ph_irka import PHIRKAReductor

    from flexph.exchange import from_pymor, to_pymor

    set_log_levels({"pymor": "ERROR"})
    return from_pymor(PHIRKAReductor(to_pymor(system)).reduce(order), ports=system.ports)


def run(
    *,
    elements: Annotated[int, Option("finite elements; four states each")] = 100,
    order: Annotated[int, Option("states of the reduced systems")] = 20,
) -> Result:
    """A clamped-free beam reduced by every method: errors, times and certificates side by side ([flex] sec. 5.3)."""
    system, omega = clamped_beam(elements), np.geomspace(*BAND, POINTS)
    full = frequency_response(system, omega, progress=False).values[:, 0, 0]
    measurements = tuple(measured(name, method, system, omega) for name, method in reductions_of(order).items())
    return Result(omega, full, system.size, measurements)


def measured(name: str, way: Callable[[LinearPHDAE], LinearPHDAE], system: LinearPHDAE, omega: Array) -> Reduced:
    """Reduce a system by the method ``way``; return it with its errors and its computing time.

    Errors are those of :class:`Reduced`, with the frequencies ``omega`` (k,) [rad/s]. The time is the shortest of
    several repetitions.
    """
    seconds = np.inf
    for _ in range(REPEATS):
        clock = time.perf_counter()
        reduced = way(system)
        seconds = min(seconds, time.perf_counter() - clock)
    seen = assess(system, reduced, omega)
    response = frequency_response(reduced, omega, progress=False).values[:, 0, 0]
    return Reduced(name, reduced.size, seen.hinf, seen.h2, seen.energy, seconds, seen.certificate.holds, response)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: the table and the picture; return the summary numbers."""
    rows = [
        {
            "name": m.name,
            "order": m.order,
            "hinf_rel": m.hinf,
            "h2_rel": m.h2,
            "energy_rel": m.energy,
            "seconds": m.seconds,
            "certificate": m.certificate,
        }
        for m in result.methods
    ]
    with open(folder / "methods.csv", "w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    draw(result, folder / "responses.png")
    return {"states": result.states, "methods": rows}


def draw(result: Result, path: Path) -> None:
    """Draw the mobility at the tip, and the error of every method."""
    figure = new_figure(8.0, 6.5)
    above, below = figure.subplots(2, 1, sharex=True)
    above.loglog(result.omega, np.abs(result.response), "k", linewidth=1.5, label=f"full, {result.states} states")
    largest = np.abs(result.response).max()
    for method in result.methods:
        style = "--" if "pyMOR" in method.name else "-"
        label = f"{method.name}, {method.order}"
        below.loglog(
            result.omega, np.abs(method.response - result.response) / largest, style, linewidth=1.0, label=label
        )
    above.set_ylabel("|H| at the tip [m/(N s)]")
    below.set_ylabel("|H − Ĥ| / max |H|")
    below.set_xlabel("ω [rad/s]")
    for axes in (above, below):
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    figure.savefig(path)


PHIRKA = {"hinf": 4.607e-3, "h2": 7.472e-2}
"""Relative errors of pyMOR 2026.1.1's PHIRKA at 20 of 400 states, measured on the same grid."""


def checks() -> Iterable[Check]:
    """Checks: method irka at 20 of 400 states against the structure-preserving IRKA of pyMOR."""
    system = clamped_beam(100)
    seen = assess(system, reduce(system, 20, method="irka", band=BAND), np.geomspace(*BAND, POINTS))
    for name, value in PHIRKA.items():  # both stop when points move by less than 1e-4
        yield Check(
            f"relative error {name}",
            "pyMOR 2026.1.1, PHIRKA",
            value,
            getattr(seen, name),
            kind="independent code",
            tolerance=0.01,
        )


case = Case(run, write, checks, needs=("matplotlib",))
