"""A capacitor whose voltage is held at zero: one solution for a finite C, many for C = ∞ ([survey] example 4.5).

``Q̇ = φ/L + λ, φ̇ = −Q/C, 0 = Q/C``: λ is the current of a port whose voltage is zero. It is determined unless
bᵀ∂²H b = 1/C is zero. [survey] prints φ̇ = Q/C, with which J would not be skew, and states no values; they are chosen
here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import PHDAE, integrate
from flexph.case import Case, Check, Option
from flexph.circuits import Circuit, Energy, capacitor, circuit, inductor, voltage_source
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import vanishes

INDUCTANCE = 1e-3  # [H]
CAPACITANCES = (1e-9, 1e-6, 1e-3, 1.0, math.inf)  # [F]
END = 1e-3  # [s]


def graph(capacitance: float) -> Circuit:
    """Circuit of a capacitor, a coil and a port of zero voltage in parallel.

    The coil is reversed to match the signs of eq. (4.46).
    """
    nothing = Energy(lambda q: 0.0, lambda q: 0.0, lambda q: 0.0)
    return circuit(
        {
            "C": capacitor("a", "gnd", nothing if math.isinf(capacitance) else capacitance),
            "L": inductor("gnd", "a", INDUCTANCE),
            "P": voltage_source("a", "gnd", 0.0),
        }
    )


@dataclass(frozen=True)
class Row:
    """Results for one capacitance.

    ``decides`` is bᵀ∂²H b, which decides whether the motion is unique. ``current`` is the port current λ over −φ₀/L,
    ``flux_change`` the largest relative change of φ and ``charge`` the largest |Q|, all NaN without a unique motion.
    ``report`` is "one solution", or the reason why there is not one.
    """

    capacitance: float
    decides: float
    current: float = math.nan
    flux_change: float = math.nan
    charge: float = math.nan
    report: str = "one solution"


@dataclass(frozen=True)
class Result:
    """Results for all capacitances, and two motions for C = ∞ from the same start.

    ``charges`` are Q(t) of both motions by name at ``times``, ``residual`` is the largest residual of the
    equations in both. ``infeasible`` is the message that refuses a start with charge on the capacitor.
    """

    rows: tuple[Row, ...]
    times: Array
    charges: dict[str, Array]
    residual: float
    infeasible: str


def try_one(capacitance: float, current: float) -> Row:
    """Results for one capacitance [F], from a run that starts at φ₀ = L·current, Q = 0."""
    built = graph(capacitance)
    system = built.phdae()
    costate = system.derivatives.costate(system.sample) if system.derivatives else np.eye(system.size)
    decides = float(costate[system.parts["C"], system.parts["C"]][0, 0])
    try:
        start = built.state(currents={"L": current})
    except ArithmeticError as error:
        return Row(capacitance, decides, report=f"undetermined: {error}")
    trajectory = integrate(system, start, np.linspace(0.0, END, 11), inputs=built.inputs)
    flux = trajectory["L"][:, 0]
    return Row(
        capacitance,
        decides,
        current=float(trajectory.outputs["P"][-1, 0] / -current),
        flux_change=float(np.abs(flux / (INDUCTANCE * current) - 1.0).max()),
        charge=float(np.abs(trajectory["C"]).max()),
    )


def solutions(current: float, times: Array) -> dict[str, tuple[Array, Array]]:
    """Charges Q and rates Q̇, (k,) each, of two motions by name, which start equally.

    For C = ∞ any Q(t) is a solution.
    """
    q, w = INDUCTANCE * current, 2.0 * math.pi / END
    rest = (np.zeros_like(times), np.zeros_like(times))
    return {"at rest": rest, "swinging": (q * (1.0 - np.cos(w * times)), q * w * np.sin(w * times))}


def residual(system: PHDAE, current: float, times: Array) -> float:
    """Largest residual |E ẋ − (J − R)z| of the two motions of :func:`solutions`, divided by the current.

    In both, i(C) = Q̇ and φ = φ₀.
    """
    worst = 0.0
    for charge, rate in solutions(current, times).values():
        for q, i in zip(charge, rate, strict=True):
            x, speed = np.zeros(system.size), np.zeros(system.size)
            x[system.parts["C"]], x[system.parts["L"]], x[system.parts["i(C)"]] = q, INDUCTANCE * current, i
            speed[system.parts["C"]] = i
            off = system.E(x) @ speed - (system.J(x) - system.R(x)) @ system.z(x)
            worst = max(worst, float(np.abs(off).max()))
    return worst / current


def infeasible(voltage: float) -> str:
    """Message of the error for a start with ``voltage`` [V] on the capacitor."""
    try:
        graph(1e-6).state({"C": voltage})
    except ValueError as error:
        return str(error)
    return ""


def run(*, current: Annotated[float, Option("current of the inductor at the start", "A")] = 0.5) -> Result:
    """A capacitor clamped to zero voltage: unique for finite C, undetermined for C = ∞ ([survey] example 4.5)."""
    if not (math.isfinite(current) and current > 0.0):
        raise ValueError(f"current must be positive, got {current}")
    times = np.linspace(0.0, END, 101)
    return Result(
        tuple(try_one(c, current) for c in CAPACITANCES),
        times,
        {name: charge for name, (charge, _) in solutions(current, times).items()},
        residual(graph(math.inf).phdae(), current, times),
        infeasible(1.0),
    )


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: port current of each capacitance, residual of both motions with C = ∞, and the refused start."""
    return {
        "solutions": {f"C = {row.capacitance:g} F": row.report for row in result.rows},
        "lambda_over_minus_phi_over_L": {f"C = {row.capacitance:g} F": row.current for row in result.rows[:-1]},
        "residual_of_both_motions_at_C_inf": result.residual,
        "infeasible_start": result.infeasible,
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of the capacitances, the two motions with C = ∞, and a picture.

    Return the summary numbers.
    """
    names = ("capacitance", "decides", "current", "flux_change", "charge")
    write_table(folder / "capacitances.csv", {name: [getattr(row, name) for row in result.rows] for name in names})
    motions = {f"Q_{name.replace(' ', '_')}_C": q for name, q in result.charges.items()}
    write_table(folder / "undetermined.csv", {"t_s": result.times, **motions})
    draw(result, folder / "clamped.png")
    return figures(result)


def draw(result: Result, path: Path) -> None:
    """Draw bᵀ∂²H b against C, and two charges that the equations allow if bᵀ∂²H b is zero."""
    figure = new_figure(11.0, 4.0)
    decides, many = figure.subplots(1, 2)
    finite = result.rows[:-1]
    decides.loglog([row.capacitance for row in finite], [row.decides for row in finite], "o-")
    decides.set_xlabel("C [F]")
    decides.set_ylabel(r"$b^T \partial^2 H\, b = 1/C$ [1/F]")
    for name, charge in result.charges.items():
        many.plot(1e3 * result.times, 1e3 * charge, label=f"C = ∞, {name}")
    many.plot(1e3 * result.times, 0.0 * result.times, "k--", linewidth=0.8, label="finite C, the only one")
    many.set_xlabel("t [ms]")
    many.set_ylabel("Q [mC]")
    many.legend(fontsize="small")
    for axes in (decides, many):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: for every finite C the current λ = −φ/L and no motion; for C = ∞ no unique motion."""
    result = run()
    for row in result.rows[:-1]:
        name = f"C = {row.capacitance:g} F"
        yield Check(f"λ over −φ/L, {name}", "[survey] example 4.5", 1.0, row.current, kind="theorem", tolerance=1e-12)
        yield vanishes(f"change of φ, {name}", row.flux_change, 1e-14, source="[survey] example 4.5")
        yield vanishes(f"Q [C], {name}", row.charge, 1e-18, source="[survey] example 4.5")
    last = result.rows[-1]
    yield vanishes(
        "solutions called unique, C = ∞", "undetermined" not in last.report, 0.5, source="[survey] example 4.5"
    )
    yield vanishes(
        "residual of two motions from one start, C = ∞", result.residual, 1e-15, source="[survey] example 4.5"
    )
    current = 0.5  # the charge 2Lφ₀ of the swing is a voltage 2LI/C where C is finite: there it is no motion
    yield Check("residual of the same motions, C = 1 F", "2L/C", 2.0 * INDUCTANCE,
                residual(graph(1.0).phdae(), current, result.times), kind="closed form", tolerance=1e-3)  # fmt: skip
    yield vanishes(
        "starts with Q ≠ 0 let through", "'C', 'P'" not in result.infeasible, 0.5, source="[survey] example 4.5"
    )


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: graph(1.0).phdae())
