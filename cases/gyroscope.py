"""A gyroscope in a gimbal, driven by a torque on its second axis ([rigid] sec. 7.2), in three kinds of coordinates.

A disc (mass m, radius r, width w) spins about its x' axis in a massless gimbal of the angles α (spin), β and γ (outer
axis, z), ``R = R_z(γ) R_y(β) R_x(α)``; its centre rests, and I_O is that of eq. (15). A constant torque M acts on the
axis of β, and the axle precesses: it turns about z. α and γ do not appear in the energy, so that with A = I_x',
C = I_y' = I_z' p = A ω_x' is constant, P = C γ̇ cos²β − p sin β too, and one equation is left for β:

    C β̈ = M − p γ̇ cos β − C γ̇² sin β cos β,    steady precession  M = Ω cos β (p + C Ω sin β),

at β = 0 just Ω = M/(Aω). Released at rest there, P = 0 and C β̈ = M − (p²/C) tan β / cos²β: the axle nutates between
β = 0 and nearly 2ε, ε = Ω/ν, ν = p/C. Averaged over a nutation, with β = ε(1 − cos νt) in the small terms, γ turns by
Ω(1 − 5/4 ε²) and the frequency of nutation is ν(1 + 5/2 ε²): the law M/(Iω) errs at second order in precession/spin.

The orientation has three kinds of coordinates: three angles (by Gauss collocation, ``gauss6``), the nine entries of
R, or a unit quaternion (both by the discrete gradient pair, with RᵀR = 1 and |q| = 1 to round-off). At β = π/2 the axle
and the outer axis coincide, and the rates of the angles are undefined; rotation matrix and quaternion are regular. A
torque on the second axis is undefined there in any coordinates, as the gimbal itself locks. The behaviour of the
coordinates near this pose is shown without a torque (`pass_lock`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import Trajectory
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics import checks as check

from .checks import converges, vanishes
from .files import write_rows
from .gyroscope_motions import (
    AXIAL,
    COARSER,
    DISTANCES,
    KEPT,
    Result,
    Start,
    Which,
    apart,
    defects,
    gyroscope,
    lock_table,
    mean_rates,
    mesh,
    pass_lock,
    rate_table,
    reference,
    slope,
    solve,
    steady,
    suspension,
)
from .gyroscope_pictures import draw_kept, draw_motion, draw_rates


def run(
    *,
    torque: Annotated[float, Option("on the second axis of the gimbal", "N m")] = 2.0,
    spin: Annotated[float, Option("of the disc about its axle", "rad/s")] = 60.0,
    tilt: Annotated[float, Option("β at the start, of the axle out of the level plane", "deg")] = 0.0,
    start: Annotated[Start, Option("released at rest, or in steady precession")] = "rest",
    orientation: Annotated[Which, Option("coordinates of the orientation")] = "all",
    step: Annotated[
        float, Option("largest step of the discrete gradient pair, a quarter of that of gauss6", "s")
    ] = 5e-4,
    duration: Annotated[float, Option("length of the run", "s")] = 1.0,
) -> Result:
    """Gyroscope in a gimbal by angles, rotation matrix and quaternion: precession, nutation, and gimbal lock."""
    if check.number("spin", spin) == 0.0 or check.number("torque", torque) == 0.0:
        raise ValueError(f"spin and torque must not be zero, got {spin:g} rad/s and {torque:g} N m")
    if not abs(tilt) < 90.0:
        raise ValueError(f"tilt must be between -90 and 90 degrees, where the gimbal locks, got {tilt:g}")
    grid = mesh(step, duration)
    level = math.radians(tilt)
    runs = {
        kept: solve(kept, grid[:: COARSER if kept == "angles" else 1], torque, spin, tilt=level, start=start)
        for kept in (KEPT if orientation == "all" else [orientation])
    }
    tables = tuple(rate_table(torque, spin)), tuple(lock_table(spin))
    return Result(runs, torque, spin, level, start, *tables)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of the axle's motion, of rates by torque, of errors near the lock, and pictures.

    Return the summary numbers.
    """
    for kept, trajectory in result.runs.items():
        trajectory.save(folder / f"{kept}.h5")
        beta, gamma = suspension(trajectory, kept).T
        columns = {
            "t_s": trajectory.times,
            "beta_rad": beta,
            "gamma_rad": gamma,
            "energy_J": trajectory.ledger.total_energy,
        }
        write_table(folder / f"{kept}.csv", columns)
    for name, rows in (("rates", result.rates), ("lock", result.lock)):
        write_rows(folder / f"{name}.csv", rows)
    draw_motion(result, folder / "motion.png")
    draw_rates(result, folder / "rates.png")
    draw_kept(result, folder / "kept.png")
    law = result.torque / (AXIAL * result.spin * math.cos(result.tilt))
    pairs = [kept for kept in result.runs if kept != "angles"]
    motions = {kept: of_motion(trajectory, kept, result.start) for kept, trajectory in result.runs.items()}
    return {
        "law_rad_s": law,
        "steady_precession_rad_s": steady(result.torque, result.spin, result.tilt),
        "motion": motions,
        "apart_max": {kept: apart(result.runs, "angles", kept).max() for kept in pairs if "angles" in result.runs},
        "energy_residual_max_rel": max(max(m.ledger.largest_residual, m.energy_drift()) for m in result.runs.values()),
        "defect_max": {kept: defects(result.runs[kept], kept).max() for kept in pairs},
        "order_of_the_law": slope([row["epsilon"] for row in result.rates], result.rates, "precession_short"),
    }


def of_motion(run: Trajectory, kept: str, start: Start) -> dict[str, float]:
    """Mean precession and mean nutation [rad/s] of a run, and the range of β [deg], by the names of table columns.

    If the motion is steady or shorter than one nutation, the precession is the mean over the whole run and the nutation
    is left out. ``kept`` is the kind of coordinates.
    """
    beta, gamma = suspension(run, kept).T
    range_of_beta = {"beta_min_deg": math.degrees(beta.min()), "beta_max_deg": math.degrees(beta.max())}
    try:
        rates = mean_rates(run, kept) if start == "rest" else None
    except IndexError:  # no nutation is complete
        rates = None
    if rates is None:
        return {"precession_rad_s": gamma[-1] / run.times[-1], **range_of_beta}
    return {"precession_rad_s": rates[0], "nutation_rad_s": rates[1], **range_of_beta}


def checks() -> Iterable[Check]:
    """Checks: rates of the fast gyroscope, equation of β, steady precession, pass of the lock, conserved quantities."""
    torque, spin = 1.0, 60.0
    rates = rate_table(torque, spin)
    for name, theory, what in (("precession_short", "theory_short", "precession below M/(Iω)"),
                               ("nutation_beyond", "theory_beyond", "nutation above Iω/C")):  # fmt: skip
        order = slope([row["epsilon"] for row in rates], rates, name)
        yield converges(f"{what}: order in ε", order, 0.02, source="averaging")
        yield Check(f"{what}, ε = {rates[1]['epsilon']:.3f}", "averaging", rates[1][theory], rates[1][name],
                    kind="closed form", tolerance=5e-3)  # fmt: skip
    runs = {n: {kept: solve(kept, np.linspace(0.0, 0.2, n + 1), torque, spin) for kept in KEPT} for n in (400, 800)}
    for kept, fine in runs[800].items():
        both = [by_orientation[kept] for by_orientation in runs.values()]
        errors = [float(np.abs(suspension(r, kept) - reference(r.times, torque, spin)).max()) for r in both]
        bound = 1e-9 if kept == "angles" else 2e-4
        yield vanishes(f"β, γ apart [rad], {kept}", errors[1], bound, source="equation of β", kind="independent code")
        if kept != "angles":
            order = math.log2(errors[0] / errors[1])
            yield converges(f"order of β, γ, {kept}", order, 0.05)
            defect = float(defects(fine, kept).max())
            yield vanishes(f"defect of the rotation, {kept}", defect, 1e-13)
        worst = max(fine.ledger.largest_residual, fine.energy_drift())
        yield vanishes(f"energy − work, {kept}", worst, 1e-12)
    for kept, bound in (("angles", 1e-10), ("matrix", 2e-4), ("quaternion", 2e-4)):
        tilt = math.radians(30.0)
        trajectory = solve(kept, np.linspace(0.0, 0.1, 201), torque, spin, tilt=tilt, start="steady")
        computed = float(suspension(trajectory, kept)[-1, 1]) / 0.1
        yield Check(f"steady precession [rad/s], β = 30°, {kept}", "M = Ω cos β (p + C Ω sin β)",
                    steady(torque, spin, tilt), computed, kind="closed form", tolerance=bound)  # fmt: skip
    for kept in ("matrix", "quaternion"):
        far, near = (pass_lock(kept, distance, spin)[0] for distance in (DISTANCES[0], 0.0))
        yield Check(f"error through the lock, {kept}", "that far from it", far, near, kind="theorem", tolerance=1e-6)


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: gyroscope(KEPT["matrix"]).phdae())
