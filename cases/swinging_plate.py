"""A plate of soft plastic, hinged at one edge, swings under its weight: energy and joint to round-off, stresses.

A plate of polyethylene, 0.6 × 0.4 m and 4 mm thick, hangs on a hinge along its short edge, which is rigid.
It is released from the horizontal without deformation. The scheme conserves

    H = constant,  0 = the five constraints of the hinge,  RᵀR = 1

at any step size (a discrete gradient pair, [dg] eq. (18)). A rigid thin plate of length L, released from the
horizontal, returns after ``4 K(sin 45°) √(2L/3g)``, K the complete elliptic integral.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.special import ellipk

import fem
from flexph import GROUND, Mechanism, Solution, connect, hinge, integrate
from flexph.bodies import peak_von_mises
from flexph.bodies.stresses import LABELS, VON_MISES, largest_in_cells
from flexph.case import Case, Check, Option
from flexph.export.frames import state_at
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import vanishes
from .files import write_run

LENGTH, WIDTH, THICKNESS = 0.6, 0.4, 4e-3  # [m]
YOUNG, DENSITY, POISSON = 0.2e9, 920.0, 0.45  # low-density polyethylene
GRAVITY = 9.81  # [m/s²]
PERIOD = 4.0 * float(ellipk(0.5)) * math.sqrt(2.0 * LENGTH / (3.0 * GRAVITY))
"""Period of a rigid thin plate released from the horizontal [s]."""
STIFF = 1e3
"""Factor of Young's modulus for a nearly rigid plate."""
THEORIES = {"kirchhoff": "Kirchhoff-Love", "reissner_mindlin": "Reissner-Mindlin"}

Theory = Literal["kirchhoff", "reissner_mindlin"]
Strain = Literal["linear", "von_karman"]


@dataclass(frozen=True)
class Result:
    """A run of the plate, and the mean motion of its free edge, the lower one.

    ``tip`` is the mean position in space, ``deflection`` the mean displacement in the frame of the plate, (k, 3) [m].
    """

    solution: Solution
    tip: Array
    deflection: Array
    theory: str


def swing(theory: Theory, strain: Strain, elements: int, young: float = YOUNG) -> Mechanism:
    """Mechanism of a plate along x on a hinge at one edge, with ``elements`` quadrilaterals along it.

    ``young`` is Young's modulus [Pa].
    """
    material = fem.Material(young=young, density=DENSITY, poisson=POISSON)
    across = max(1, round(elements * WIDTH / LENGTH))
    plate = fem.plate(
        fem.box_mesh((LENGTH, WIDTH), (elements, across)),
        material,
        thickness=THICKNESS,
        theory=theory,
        ports={"edge": fem.Tie("left", "rigid"), "tip": fem.Tie("right", "mean")},
        reference="edge",
        strain=strain,
    )
    joint = hinge("plate.edge", GROUND.at(0.0, WIDTH / 2.0, 0.0), axis=(0.0, 1.0, 0.0))
    return connect({"plate": plate}, [joint], gravity=(0.0, 0.0, -GRAVITY))


def solve(mechanism: Mechanism, steps: int, end: float) -> Solution:
    """Run of the plate from the horizontal, undeformed and at rest, in ``steps`` steps up to ``end`` [s]."""
    start = mechanism.consistent_state(mechanism.assemble({"plate": (0.0, 0.0, 0.0)}))
    return integrate(mechanism, start, np.linspace(0.0, end, steps + 1))


def run(
    *,
    theory: Annotated[Theory, Option("theory of plates")] = "kirchhoff",
    strain: Annotated[Strain, Option("strain of the middle surface")] = "von_karman",
    elements: Annotated[int, Option("quadrilaterals along the plate")] = 6,
    steps: Annotated[int, Option("time steps")] = 1500,
    end: Annotated[float, Option("end of the run", "s")] = 3.0,
) -> Result:
    """A plate hinged at one edge swings under its weight: conserved quantities, deflection, stresses, ledger."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    if not (end > 0.0 and math.isfinite(end)):
        raise ValueError(f"end must be positive, got {end} s")
    solution = solve(swing(theory, strain, elements), steps, end)
    return Result(solution, solution.position("plate.tip"), solution.displacement("plate.tip"), theory)


def kept(solution: Solution) -> dict[str, float]:
    """Largest errors of what the scheme conserves, by name: energy and its balance, the hinge, rotations."""
    ledger = solution.ledger
    return {
        "energy_drift_rel": solution.energy_drift(),
        "energy_residual_max_rel": float(ledger.largest_residual),
        "joint_drift_max": float(ledger.position_residual.max()),
        "orthogonality_max": solution.orthogonality(),
    }


def period(solution: Solution) -> float:
    """Time [s] of the first return, at which the free edge comes to rest in the mean; interpolated linearly."""
    height, t = solution.velocity("plate.tip")[:, 2], solution.times
    k = int(np.flatnonzero((height[:-1] > 0.0) & (height[1:] <= 0.0) & (t[:-1] > 0.6 * PERIOD))[0])
    return float(t[k] + (t[k + 1] - t[k]) * height[k] / (height[k] - height[k + 1]))


def stress_peaks(solution: Solution) -> Array:
    """Largest von Mises stress (k,) [Pa] in both faces of the plate at each saved time."""
    state = state_at(solution, "plate", np.arange(len(solution.times)))
    return np.asarray(largest_in_cells(solution.mechanism.bodies["plate"], state).max(axis=1))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and plots of the edge, the ledger, the moving plate with stresses, and the run itself.

    Return the summary numbers.
    """
    solution = result.solution
    write_run(solution, folder, frames=101)
    peaks = stress_peaks(solution)
    columns = {f"tip_{'xyz'[k]}_m": result.tip[:, k] for k in range(3)}
    columns |= {f"deflection_{'xyz'[k]}_m": result.deflection[:, k] for k in range(3)}
    write_table(folder / "tip.csv", {"t_s": solution.times, **columns, "von_mises_max_Pa": peaks})
    draw(result, peaks, folder / "swing.png")
    draw_stress(result, peaks, folder / "stress.png")
    body = solution.mechanism.bodies["plate"]
    turned = np.abs(body.section_rotation @ solution.deformation("plate").T).max()
    return {
        **kept(solution),
        "coordinates": body.size,
        "stresses": body.stress_size,
        "deflection_max_m": np.abs(result.deflection[:, 2]).max(),
        "section_rotation_max_rad": turned,
        "von_mises_max_Pa": peaks.max(),
        "newton_iterations_mean": solution.ledger.iterations.mean(),
    }


def draw(result: Result, peaks: Array, path: Path) -> None:
    """Draw the height and deflection of the lower edge, stress, and the balance of energy, over time."""
    t, ledger = result.solution.times, result.solution.ledger
    figure = new_figure(10.0, 6.4)
    height, bend, stress, balance = figure.subplots(2, 2).ravel()
    height.plot(t, result.tip[:, 2], linewidth=1.0)
    height.set_ylabel("height of the lower edge [m]")
    bend.plot(t, 1e3 * result.deflection[:, 2], linewidth=0.8)
    bend.set_ylabel("deflection of the lower edge [mm]")
    stress.plot(t, 1e-3 * peaks, linewidth=0.8)
    stress.set_ylabel("largest von Mises stress [kPa]")
    scale = np.abs(ledger.total_energy - ledger.total_energy[0]) / ledger.scale
    balance.semilogy(t[1:], np.maximum(scale[1:], 1e-18), linewidth=0.6)
    balance.set_ylabel("|H − H₀| over the largest energy")
    for axes in (height, bend, stress, balance):
        axes.set_xlabel("t [s]")
        axes.set_xlim(t[0], t[-1])
        axes.grid(alpha=0.3)
    figure.suptitle(f"plate hinged at an edge, {THEORIES[result.theory]}")
    figure.savefig(path)


def draw_stress(result: Result, peaks: Array, path: Path) -> None:
    """Draw the largest von Mises stress of each cell at the two faces, at the time of the overall maximum."""
    from matplotlib.collections import PolyCollection

    view = result.solution.mechanism.bodies["plate"].view
    assert view is not None
    k = int(np.argmax(peaks))
    sigma = result.solution["plate.stress"][k]
    figure = new_figure(10.0, 3.9)
    corners = list(view.points[view.cells[:, :4], :2])
    stresses = {name: 1e-3 * peak_von_mises(field, sigma)[field.drawn] for name, field in view.tensors.items()}
    top = max(values.max() for values in stresses.values())
    for axes, (name, values) in zip(figure.subplots(1, 2), stresses.items(), strict=True):
        drawn = PolyCollection(corners, array=values, cmap="viridis", edgecolors="k", linewidths=0.3)
        drawn.set_clim(0.0, top)
        axes.add_collection(drawn)
        axes.set_xlim(-0.01, LENGTH + 0.01)
        axes.set_ylim(-0.01, WIDTH + 0.01)
        axes.set_aspect("equal")
        axes.set_xlabel("x from the hinge [m]")
        axes.set_ylabel("y [m]")
        axes.set_title(name.replace("stress_", "") + " face", fontsize="medium")
    figure.colorbar(drawn, ax=figure.axes, label=f"{LABELS[VON_MISES]} [kPa]")
    figure.suptitle(f"t = {result.solution.times[k]:.3f} s")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: conserved quantities by both plate theories; period of a nearly rigid plate against the closed form."""
    for theory, name in THEORIES.items():
        result = run(theory=theory, elements=3, steps=600, end=1.5)  # type: ignore[arg-type]
        rows = {
            "energy_drift_rel": "change of the energy over its size",
            "energy_residual_max_rel": "balance of a step over the energy",
            "joint_drift_max": "drift of the hinge [m] and its directions",
            "orthogonality_max": "|RᵀR − 1|",
        }
        computed = kept(result.solution)
        for key, words in rows.items():
            yield vanishes(f"{words}, {name}", computed[key], 1e-12, source="theorem: 0")
    stiff = solve(swing("kirchhoff", "linear", 3, STIFF * YOUNG), 3000, 1.6)
    yield Check(
        "period, Young's modulus × 1000 [s]",
        "rigid plate, elliptic integral",
        PERIOD,
        period(stiff),
        kind="closed form",
        tolerance=1e-3,
    )


case = Case(run, write, checks, needs=("matplotlib",))
