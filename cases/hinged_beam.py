"""Spatial beam on a spherical joint under a torque and a tip force ([flex] sec. 6.3).

A torque about the vertical z axis spins the beam up, later a vertical force strikes its tip; between and after the
loads the energy and the angular momentum about z are constant. The axial strain is linear or von Kármán's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.integrate import trapezoid

import fem
from cases.method_comparison import Comparison, Method, compare
from cases.method_comparison import checks as method_checks
from cases.method_comparison import write as write_comparison
from flexph import GROUND, PHDAE, Mechanism, Solution, State, connect, force, integrate, spherical, torque
from flexph.case import Case, Check, Kind, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import not_comparable
from .files import write_run

# [flex] table 2, misprints corrected
LENGTH = 0.14145  # [m]
SIDE = 3e-3  # of the square section [m]: A = 9e-6 m², I = 6.75e-12 m⁴
RUBBER = fem.Material(young=2.1e6, density=7800.0, poisson=0.3)  # ν is not published, torsion stays below 1e-6 rad
TORQUE = ((0.0, 0.2, 10.0, 10.2), (0.0, 2e-7, 2e-7, 0.0))  # about the inertial z axis: times [s], values [N m]
FORCE = ((15.0, 15.2, 15.4), (0.0, 1e-4, 0.0))  # at the tip along the inertial z axis: times [s], values [N]
LOADED = TORQUE[0][-1], FORCE[0][-1]  # ends of the loads [s]
SETTLED = 12.0  # from then until the tip force ω_z is averaged [s]
IMPULSE = 2e-6  # ∫ torque dt [N m s]

# Closed forms of the slender rod on a joint. The loads are chosen here, as those of the paper fit no units: its
# largest spin, "equal to 0.1 rad/s", belongs to other loads.
SPIN = 3.0 * IMPULSE / (RUBBER.density * SIDE**2 * LENGTH**3)  # of the rigid rod, P/J [rad/s]
HINGED_FREE = (3.92660231, 7.06858275, 10.21017612)  # βL with tan βL = tanh βL

CHECKED = {"radau": 1e-5, "ida": 1e-5, "gauss4": 1e-3, "gonzalez": 1e-7, "dirac": 1e-7}
"""Methods of the checks, with the largest deviations of their deformations and energies from the exact scheme, relative
to the maxima: ten tolerances; the error of Gauss' methods for a ramp input held at midpoints, of second order (3.7e-4
in 40 steps); and between schemes of equal steps the effect of H beyond second degree (5e-9)."""

STRAINS = {"linear": "linear", "von_karman": "von Kármán"}


LOADS = {
    "torque": lambda t: (0.0, 0.0, np.interp(t, *TORQUE)),
    "tip force": lambda t: (0.0, 0.0, np.interp(t, *FORCE)),
}


@dataclass(frozen=True)
class Result:
    """A run of the beam, and the spin of its root section in world axes (k, 3) [rad/s]."""

    solution: Solution
    spin: Array
    strain: str


def at_rest(mechanism: Mechanism) -> State:
    """State of the undeformed beam at rest along x."""
    return mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, 0.0)}))


def hinged_beam(elements: int, strain: Literal["linear", "von_karman"]) -> Mechanism:
    """Mechanism of a flexible beam along x on a spherical joint, with a torque at its root and a force at its tip.

    The root section is the floating frame of the beam (cantilever).
    """
    section = fem.Section(width=SIDE, height=SIDE)
    beam = fem.beam(LENGTH, RUBBER, section, elements=elements, dim=3, reference="cantilever", strain=strain)
    return connect(
        {"beam": beam},
        [
            spherical("beam.root", GROUND.at(0.0, 0.0, 0.0)),
            torque("beam.root", name="torque"),
            force("beam.tip", name="tip force"),
        ],
    )


def instants(steps: int, end: float) -> Array:
    """Times [s] of about ``steps`` equal steps up to ``end``, with the kinks of the loads at ends of steps.

    Inputs are evaluated at midpoints of steps, so that between kinks their impulse is exact. All steps are equal if the
    number of steps is a multiple of 5 for every second.
    """
    kinks = [t for t in sorted({0.0, *TORQUE[0], *FORCE[0]}) if t < end]
    pieces = [
        np.linspace(a, b, max(1, round((b - a) * steps / end)), endpoint=False)
        for a, b in zip(kinks, [*kinks[1:], end], strict=True)
    ]
    return np.append(np.concatenate(pieces), end)


def solve(elements: int, strain: Literal["linear", "von_karman"], steps: int, end: float) -> Solution:
    """Run of the beam from rest along x under its loads, up to ``end`` [s]."""
    mechanism = hinged_beam(elements, strain)
    return integrate(mechanism, at_rest(mechanism), instants(steps, end), inputs=LOADS)


def run(
    *,
    strain: Annotated[Literal["linear", "von_karman"], Option("axial strain of the beam")] = "linear",
    elements: Annotated[int, Option("finite elements")] = 6,
    steps: Annotated[int, Option("time steps; all are equal where it is a multiple of 5 per second")] = 3000,
    end: Annotated[float, Option("end of the run, by method exact after the tip force", "s")] = 30.0,
    method: Annotated[Method, Option("exact scheme, or a general method compared with it")] = "exact",
) -> Result | Comparison:
    """Spatial beam on a spherical joint: energy, angular velocity, stresses and ledger ([flex] sec. 6.3).

    Runs by general methods take several times as long, so that they may end before the tip force.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    if not math.isfinite(end) or (method == "exact" and not end > LOADED[1]):
        raise ValueError(f"end must be after the tip force, which ends at {LOADED[1]} s, got {end}")
    if not end > 0.0:
        raise ValueError(f"end must be positive, got {end}")
    if method != "exact":
        mechanism = hinged_beam(elements, strain)
        start = mechanism, at_rest(mechanism)
        return compare(start, instants(steps, end), body="beam", method=method, inputs=LOADS)
    solution = solve(elements, strain, steps, end)
    return Result(solution, solution.spin("beam"), strain)


def plateaus(solution: Solution) -> dict[str, float]:
    """Summary numbers of the motion between and after the loads.

    They are the mean and the relative spread of the energy after the torque and after the force, the mean and the
    largest spin about z before the force, and the relative defect of the angular momentum about z.
    """
    t, energy, spin = solution.times, solution.ledger.total_energy, solution.spin("beam")
    between, after = energy[(t >= LOADED[0]) & (t <= FORCE[0][0])], energy[t >= LOADED[1]]
    momentum = solution.angular_momentum()[t >= LOADED[0], 2]
    window = (t >= SETTLED) & (t <= FORCE[0][0])
    return {
        "energy_after_torque_J": between.mean(),
        "energy_after_torque_spread_rel": np.ptp(between) / between.mean(),
        "omega_z_max_rad_s": np.abs(spin[t <= FORCE[0][0], 2]).max(),
        "omega_z_mean_rad_s": trapezoid(spin[window, 2], t[window]) / np.ptp(t[window]),
        "energy_after_impulse_J": after.mean(),
        "energy_after_impulse_spread_rel": np.ptp(after) / after.mean(),
        "angular_momentum_z_defect_rel": np.abs(momentum / IMPULSE - 1.0).max(),
    }


def stresses(solution: Solution) -> dict[str, Array]:
    """Axial stress (k, cells) [Pa] of the beam's drawn cells at the saved times, by the name of the outer fibre.

    The fibres are at y = ±1.5 mm (z = 0) and z = ±1.5 mm (y = 0).
    """
    view = solution.mechanism.bodies["beam"].view
    assert view is not None
    fields = {
        f"{side}_{end}": view.stresses[f"axial_stress_{side}_{end}"] for side in "yz" for end in ("upper", "lower")
    }
    return {name: solution["beam.stress"] @ field.cells.toarray().T for name, field in fields.items()}


def write(result: Result | Comparison, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables, plots, the moving beam for mesh viewers, and the run itself.

    For a general method, write its run and a table of energy and spin only. Return the summary numbers.
    """
    if isinstance(result, Comparison):
        return write_comparison(result, folder, _spins(result))
    solution, ledger = result.solution, result.solution.ledger
    write_run(solution, folder)
    history = {
        "t_s": solution.times,
        "energy_J": ledger.total_energy,
        "omega_z_world_rad_s": result.spin[:, 2],
        "omega_y_world_rad_s": result.spin[:, 1],
    }
    write_table(folder / "history.csv", history)
    middle = {f"axial_stress_{name}_Pa": values[:, values.shape[1] // 2] for name, values in stresses(solution).items()}
    write_table(folder / "stresses.csv", {"t_s": solution.times, **middle})
    draw_history(result, folder / "history.png")
    draw_stresses(result, folder / "stresses.png")
    rotation = solution.mechanism.bodies["beam"].section_rotation
    turned = np.abs(rotation @ solution.deformation("beam").T).reshape(-1, 3, len(solution.times)).max(axis=(0, 2))
    return {
        "method": "exact",
        **plateaus(solution),
        "energy_residual_max_rel": ledger.largest_residual,
        "energy_drift_max_rel": solution.energy_drift(),
        "position_drift_max_m": ledger.position_residual.max(),
        "orthogonality_defect_max": solution.orthogonality(),
        "tip_deflection_max_m": np.linalg.norm(solution.displacement("beam.tip"), axis=1).max(),
        "bending_rotation_max_rad": turned[1:].max(),
        "twist_max_rad": turned[0],
        "axial_stress_max_Pa": max(np.abs(values).max() for values in stresses(solution).values()),
        "steps": len(solution.times) - 1,
        "newton_iterations_mean": ledger.iterations.mean(),
    }


def _spins(result: Comparison) -> dict[str, Array]:
    """Spin of the root section about the world axes z and y [rad/s], (k,) each, by the names of their table columns."""
    R = result.trajectory["beam.rotation"].reshape(-1, 3, 3)
    spin = np.einsum("tij,tj->ti", R, result.trajectory["beam.spin"])
    return {"omega_z_world_rad_s": spin[:, 2], "omega_y_world_rad_s": spin[:, 1]}


def draw_history(result: Result, path: Path) -> None:
    """Draw the energy and the vertical angular velocity as in [flex] fig. 10, and the horizontal angular velocity."""
    t = result.solution.times
    figure = new_figure(11.0, 4.6)
    grid = figure.add_gridspec(2, 2)
    energy, vertical, horizontal = (figure.add_subplot(grid[place]) for place in ((slice(2), 0), (0, 1), (1, 1)))
    energy.plot(t, 1e9 * result.solution.ledger.total_energy, linewidth=1.4)
    energy.set_ylabel("energy [nJ]")
    vertical.plot(t, result.spin[:, 2], linewidth=1.0)
    vertical.set_ylabel(r"$\omega_z$ [rad/s]")
    vertical.set_title("root section, vertical inertial axis z", fontsize="medium")
    horizontal.plot(t, result.spin[:, 1], linewidth=0.8)
    horizontal.set_ylabel(r"$\omega_y$ [rad/s]")
    horizontal.set_title("root section, horizontal inertial axis y", fontsize="medium")
    for axes in (energy, vertical, horizontal):
        axes.set_xlim(t[0], t[-1])
        axes.grid(alpha=0.3)
        for times, colour in ((TORQUE[0], "C1"), (FORCE[0], "C3")):
            axes.axvspan(times[0], times[-1], color=colour, alpha=0.15, linewidth=0.0)
    energy.set_xlabel("t [s]")
    horizontal.set_xlabel("t [s]")
    energy.text(0.5 * LOADED[0], 0.97, "torque", transform=energy.get_xaxis_transform(), ha="center", va="top")
    energy.text(FORCE[0][0] - 0.2, 0.5, "tip force", transform=energy.get_xaxis_transform(), ha="right", va="center")
    figure.suptitle(f"beam on a spherical joint, {STRAINS[result.strain]} strain")
    figure.savefig(path)


def draw_stresses(result: Result, path: Path) -> None:
    """Draw the axial stress of the outer fibres over time and along the beam."""
    t, fields = result.solution.times, stresses(result.solution)
    figure = new_figure(10.0, 5.6)
    panels = figure.subplots(2, 1, sharex=True)
    names = {
        "y_upper": "bending in the body's x-y plane, fibre y = +1.5 mm",
        "z_upper": "bending out of it, fibre z = +1.5 mm",
    }
    for axes, (side, name) in zip(panels, names.items(), strict=True):
        edges = np.linspace(0.0, 1e3 * LENGTH, fields[side].shape[1] + 1)
        largest = np.abs(fields[side]).max()
        drawn = axes.pcolormesh(
            t, edges, fields[side][1:].T, cmap="RdBu_r", vmin=-largest, vmax=largest, shading="flat"
        )
        axes.set_title(name, fontsize="medium")
        axes.set_ylabel("x [mm]")
        figure.colorbar(drawn, ax=axes, label="axial stress [Pa]")
    panels[-1].set_xlabel("t [s]")
    figure.savefig(path)


def struck() -> float:
    """Energy of the spinning rod after the tip force [J] in closed form, of its rigid motion and its bending modes.

    Before the force the rod, of moment of inertia J, spins with P/J, P = ∫ torque dt. A mode with the tip amplitude φ
    and ∫ρAφ² dx = m absorbs ½ (φF̂(ω))²/m from a force with the spectrum F̂, which for a triangle of the impulse I and
    the duration T is I sinc²(ωT/4); φ²/m is 3/ρAL for the rigid rod, 4/ρAL for the modes.
    """
    line, length = RUBBER.density * SIDE**2, LOADED[1] - FORCE[0][0]
    omega = np.array(HINGED_FREE) ** 2 * math.sqrt(RUBBER.young * SIDE**2 / (12.0 * RUBBER.density)) / LENGTH**2
    impulse = 0.5 * length * max(FORCE[1]) * np.sinc(0.25 * np.append(0.0, omega) * length / math.pi) ** 2
    return 0.5 * SPIN * IMPULSE + float(0.5 * impulse**2 @ [3.0, 4.0, 4.0, 4.0]) / (line * LENGTH)


def checks() -> Iterable[Check]:
    """Checks: energies and spin between and after the loads against closed forms; other methods against the exact one.

    The closed forms are for a rigid rod and, after the tip force, its bending modes; runs have 6 elements, 3000 steps.
    Other methods take tens of times as long: they are compared over the first 0.2 s, in which the torque rises.
    """
    for strain, name in STRAINS.items():
        computed = plateaus(solve(6, strain, 3000, 30.0))  # type: ignore[arg-type]
        rows = (
            (
                "energy after the torque [J]",
                "rigid rod, P²/2J",
                0.5 * SPIN * IMPULSE,
                "energy_after_torque_J",
                0.01,
                True,
            ),
            ("mean ω_z over 12-15 s [rad/s]", "rigid rod, P/J", SPIN, "omega_z_mean_rad_s", 0.01, True),
            ("energy after the impulse [J]", "modes of the rod", struck(), "energy_after_impulse_J", 2e-3, True),
            (
                "relative change of H after the torque",
                "theorem: 0",
                0.0,
                "energy_after_torque_spread_rel",
                1e-11,
                False,
            ),
            ("relative change of H after all", "theorem: 0", 0.0, "energy_after_impulse_spread_rel", 1e-11, False),
            ("L_z over ∫ torque dt, less 1", "theorem: 0", 0.0, "angular_momentum_z_defect_rel", 1e-11, False),
        )
        for quantity, source, wanted, key, tolerance, relative in rows:
            kind: Kind = "theorem" if source.startswith("theorem") else "closed form"
            value = float(computed[key])
            yield Check(f"{quantity}, {name}", source, wanted, value, kind=kind, tolerance=tolerance, relative=relative)
        largest = computed["omega_z_max_rad_s"]
        yield not_comparable(
            f"largest spin about z [rad/s], {name}", 0.1, largest, source="[flex] sec. 6.3, other loads"
        )

    mechanism = hinged_beam(2, "linear")
    start, times = (mechanism, at_rest(mechanism)), np.linspace(0.0, 0.2, 41)
    yield from method_checks(start, times, CHECKED, body="beam", inputs=LOADS)


def analysed() -> PHDAE:
    """System of equations of the beam with one finite element, and its rest state, for the analysis of this case."""
    mechanism = hinged_beam(1, "linear")
    return mechanism.phdae(mechanism.consistent_multipliers(at_rest(mechanism)))


case = Case(run, write, checks, needs=("matplotlib",), system=analysed)
