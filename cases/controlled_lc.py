"""A controlled circuit of two inductors and a capacitor, and its Casimir φ₁ + φ₂ ([survey] examples 2.5 and 4.2).

The source is on for a while and then zero: φ₁ + φ₂ is ∫u dt as long as it is on, and constant afterwards, whatever the
energies of the elements are. Values are chosen here; [survey] states none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import Trajectory, eigenfrequencies, integrate
from flexph.case import Case, Check, Option
from flexph.circuits import Circuit, Energy, capacitor, circuit, inductor, voltage_source
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import vanishes

C, L1, L2 = 1e-6, 1e-3, 4e-3  # [F], [H], [H]
OMEGA = math.sqrt((1.0 / L1 + 1.0 / L2) / C)  # [rad/s]
PERIOD = 2.0 * math.pi / OMEGA  # [s]
CURRENT = 0.1  # at which inductors saturate [A]
J = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])  # of (Q, φ₁, φ₂), [survey] example 2.5
B = np.array([[0.0], [1.0], [0.0]])


def saturating(inductance: float) -> Energy:
    """Energy of a saturating inductor: ``H = L I₀² (cosh(φ/LI₀) − 1)``, i = I₀ sinh(φ/LI₀).

    The current grows faster than the flux above I₀.
    """
    at, i0 = inductance * CURRENT, CURRENT
    return Energy(
        lambda phi: at * i0 * (math.cosh(phi / at) - 1.0),
        lambda phi: i0 * math.sinh(phi / at),
        lambda phi: i0 * math.cosh(phi / at) / at,
        scale=at,
    )


def graph(inductors: str = "linear") -> Circuit:
    """Circuit of the source u in series with L₁, then C and L₂ in parallel ([survey] fig. 3).

    ``inductors`` are "linear" or "saturating".
    """
    first, second = (saturating(L1), saturating(L2)) if inductors == "saturating" else (L1, L2)
    return circuit(
        {
            "V": voltage_source("in", "gnd"),
            "C": capacitor("a", "gnd", C),
            "L1": inductor("in", "a", first),
            "L2": inductor("a", "gnd", second),
        }
    )


def source(voltage: float, end: float) -> Any:
    """Function of time that gives the voltage [V] of the source, zero from the time ``end`` on.

    Until then it is a constant ``voltage`` plus a sine of this amplitude at 0.4 of the resonance.
    """
    return lambda t: voltage * (1.0 + math.sin(0.4 * OMEGA * t)) if t < end else 0.0


@dataclass(frozen=True)
class Result:
    """Runs with linear and with saturating inductors; the source is on during the first ``driven`` steps of each."""

    linear: Trajectory
    saturating: Trajectory
    driven: int

    @property
    def runs(self) -> dict[str, Trajectory]:
        """Both runs, by the names "linear" and "saturating" of their inductors."""
        return {"linear": self.linear, "saturating": self.saturating}


def casimir(trajectory: Trajectory) -> Array:
    """Casimir φ₁ + φ₂, the total flux of both inductors, at the saved times (k,) [V s]."""
    return (trajectory["L1"] + trajectory["L2"])[:, 0]


def solve(inductors: str, periods: float, steps: int, *, voltage: float, driven: int) -> Trajectory:
    """Run of the circuit from rest over some periods of the linear circuit, with ``steps`` steps each.

    The source is on for the first ``driven`` steps.
    """
    built = graph(inductors)
    times = np.linspace(0.0, periods * PERIOD, round(periods * steps) + 1)
    inputs = {"V": source(voltage, float(times[driven]))}
    return integrate(built.phdae(), np.zeros(3), times, inputs=inputs)


def run(
    *,
    periods: Annotated[float, Option("length of the run in periods of the linear circuit")] = 8.0,
    steps: Annotated[int, Option("steps per period")] = 64,
    voltage: Annotated[float, Option("voltage of the source while it is on", "V")] = 2.0,
) -> Result:
    """A controlled LC circuit whose total flux is a Casimir without its source ([survey] examples 2.5, 4.2)."""
    if steps < 8:
        raise ValueError(f"steps must be at least 8 a period, got {steps}")
    if not (math.isfinite(periods) and periods >= 1.0):
        raise ValueError(f"periods must be at least 1, got {periods}")
    if not math.isfinite(voltage):
        raise ValueError(f"voltage must be finite, got {voltage}")
    driven = round(periods * steps) // 2
    linear, bent = (solve(kind, periods, steps, voltage=voltage, driven=driven) for kind in ("linear", "saturating"))
    return Result(linear, bent, driven)


def drift(trajectory: Trajectory, driven: int) -> float:
    """Largest change of φ₁ + φ₂ after the source is off, divided by the largest flux.

    ``driven`` is the number of steps in which it is on.
    """
    total = casimir(trajectory)
    return float(np.abs(total[driven:] - total[driven]).max() / np.abs(trajectory.states[:, 1:]).max())


def off_input(trajectory: Trajectory, voltage: float, driven: int) -> float:
    """Largest |φ₁ + φ₂ − Σ h u| divided by the largest flux, with the steps h and the voltage u of the source.

    The scheme takes u in the middle of a step as the mean over the step.
    """
    u = np.array([source(voltage, float(trajectory.times[driven]))(t) for t in trajectory.output_times])
    given = np.append(0.0, np.cumsum(u * np.diff(trajectory.times)))
    return float(np.abs(casimir(trajectory) - given).max() / np.abs(trajectory.states[:, 1:]).max())


def structure_defect() -> float:
    """Largest difference between the matrices J and B of the circuit and the published ones."""
    system = graph().phdae()
    order = [system.parts[name].start for name in ("C", "L1", "L2")]
    x = system.sample
    return float(max(np.abs(system.J(x)[np.ix_(order, order)] - J).max(), np.abs(system.B(x)[order] - B).max()))


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: defect of the structure, drift of the Casimir, balance and final flux of both runs."""
    return {
        "structure_off_example_2_5": structure_defect(),
        "casimir_drift_max_rel": {name: drift(trajectory, result.driven) for name, trajectory in result.runs.items()},
        "balance_residual_max_rel": {
            name: trajectory.ledger.largest_residual for name, trajectory in result.runs.items()
        },
        "flux_left_Vs": {name: float(casimir(trajectory)[-1]) for name, trajectory in result.runs.items()},
        "omega_linear_rad_s": OMEGA,
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of both runs, and a picture; return the summary numbers."""
    columns: dict[str, Array] = {"t_s": result.linear.times}
    for name, trajectory in result.runs.items():
        columns |= {f"{label}_{name}": trajectory[part][:, 0] for part, label in
                    (("C", "Q_C"), ("L1", "phi1_Vs"), ("L2", "phi2_Vs"))}  # fmt: skip
        columns |= {f"casimir_{name}_Vs": casimir(trajectory), f"H_{name}_J": trajectory.ledger.total_energy}
    write_table(folder / "motion.csv", columns)
    draw(result, folder / "casimir.png")
    return figures(result)


def draw(result: Result, path: Path) -> None:
    """Draw the fluxes and their sum, with linear and with saturating inductors."""
    figure = new_figure(12.0, 4.4)
    for axes, (name, trajectory) in zip(figure.subplots(1, 2, sharey=True), result.runs.items(), strict=True):
        times = 1e3 * trajectory.times
        for part, label in (("L1", r"$\varphi_1$"), ("L2", r"$\varphi_2$")):
            axes.plot(times, 1e3 * trajectory[part][:, 0], linewidth=0.9, label=label)
        axes.plot(times, 1e3 * casimir(trajectory), "k", linewidth=1.4, label=r"$\varphi_1 + \varphi_2$")
        axes.axvspan(times[0], times[result.driven], color="0.93", label="source on")
        axes.set_title(f"{name} inductors", fontsize="medium")
        axes.set_xlabel("t [ms]")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("flux [mV s]")
    figure.axes[0].legend(fontsize="small", loc="upper left")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: the published structure, the Casimir φ₁ + φ₂ with both kinds of inductors, and the resonance."""
    yield vanishes("J and B of the graph", structure_defect(), 1e-15, source="[survey] example 2.5")
    result = run()
    for name, trajectory in result.runs.items():
        yield vanishes(
            f"drift of φ₁ + φ₂ at u = 0, {name}", drift(trajectory, result.driven), 1e-13, source="[survey] example 4.2"
        )
        yield vanishes(
            f"φ₁ + φ₂ and ∫u dt, {name}", off_input(trajectory, 2.0, result.driven), 1e-12, source="its equation"
        )
        yield vanishes(f"balance / energy, {name}", trajectory.ledger.largest_residual, 1e-13)
    resonance = eigenfrequencies(graph().linear())
    yield Check("ω [rad/s]", "√((1/L₁ + 1/L₂)/C)", OMEGA, float(resonance[-1]), kind="closed form", tolerance=1e-12)


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: graph().phdae())
