"""A coin that rolls upright on a plane: constrained, reduced and as a mechanism ([survey] examples 2.4 and 4.1).

x, y is the point of contact, θ the rolling angle of the coin, φ its heading. All constants are one:

    ẍ = λ₁,   ÿ = λ₂,   θ̈ = −λ₁ cos φ − λ₂ sin φ + u₁,   φ̈ = u₂,   ẋ = θ̇ cos φ,   ẏ = θ̇ sin φ

With p₁ = p_φ and p₂ = p_θ + p_x cos φ + p_y sin φ the constraints are eliminated, ṗ₁ = u₂, ṗ₂ = u₁,
H_c = ½p₁² + ¼p₂² (4.21), so that under constant torques θ and φ are quadratic in time. The path, ẋ + iẏ = θ̇ e^{iφ},
is then a line or a circle (no torque), a spiral whose radius grows with time (u₁ alone), Cornu's spiral (u₂ alone), or
one whose radius of curvature θ̇/φ̇ tends to a limit (both): all in terms of Fresnel integrals at most.

A second system is a released coin that wobbles on its rim: a euro with the joint ``rolling_disc``, without loss. If its
centre rests, its tilt α from the ground is constant and the point of contact moves round at Ω with Ω² sin α = 4 g/r
(H. K. Moffatt, Euler's disk and its finite-time singularity, Nature 404 (2000) 833).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph.case import Case, Check, Option
from flexph.export import write_series
from flexph.export.tables import write_ledger, write_table
from flexph.numerics import checks as check

from .checks import converges, vanishes
from .rolling_coin_motions import (
    DURATION,
    RATES,
    START,
    TILT,
    Result,
    constrained,
    contacts,
    jacobi_sum,
    move,
    reduced,
    roll_held,
    rounds,
    tilts,
    wobble,
)
from .rolling_coin_pictures import draw_accounts, draw_paths, draw_wobble


def run(
    *,
    steps: Annotated[int, Option("time steps of 12 s")] = 480,
    roll: Annotated[float, Option("torque about the axis of the coin, u₁")] = 0.4,
    turn: Annotated[float, Option("torque about the vertical, u₂")] = -0.25,
) -> Result:
    """A rolling coin: constrained, reduced, as a mechanism, and wobbling when released ([survey] ex. 2.4 and 4.1)."""
    times = np.linspace(0.0, DURATION, check.count("steps", steps) + 1)
    torques = {"none": (0.0, 0.0), "u1": (roll, 0.0), "u2": (0.0, turn), "both": (roll, turn)}
    motions = {name: move(times, *pair) for name, pair in torques.items()}
    return Result(motions, roll_held(times, roll, turn), wobble(4 * steps))


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of the motions, plots, the moving euro, and the runs of the mechanisms themselves.

    Return the summary numbers.
    """
    result.mechanism.save(folder / "held.h5")  # first: whatever fails below, the runs are kept
    result.wobble.save(folder / "wobble.h5")
    columns: dict[str, Any] = {"t_s": result.mechanism.times}
    for name, motion in result.motions.items():
        for model, zeta in (("constrained", motion.constrained["positions"]), ("exact", motion.exact)):
            columns |= {f"{label}_{name}_{model}": zeta[:, k] for k, label in enumerate(("x", "y", "theta", "phi"))}
    write_table(folder / "motions.csv", columns)
    write_ledger(folder / "wobble.csv", result.wobble)
    draw_paths(result, folder / "paths.png")
    draw_accounts(result, folder / "accounts.png")
    draw_wobble(result.wobble, folder / "wobble.png")
    write_series(folder / "euro.vtkhdf", result.wobble)
    system, ledger = reduced(), result.wobble.ledger
    balances = [max(m.constrained.energy_drift(), m.reduced.energy_drift()) for m in result.motions.values()]
    return {
        "errors_max": {name: dict(motion.errors) for name, motion in result.motions.items()},
        "mechanism_error_max": result.mechanism_error,
        "slip_max_m_s": max(motion.slip for motion in result.motions.values()),
        "energy_balance_max_rel": max(*balances, result.mechanism.energy_drift()),
        "jacobi_sum": jacobi_sum(system.phdae().J, np.append(START, RATES)),
        "wobble_tilt_rad": [tilts(result.wobble).min(), tilts(result.wobble).max()],
        "wobble_energy_drift_rel": result.wobble.energy_drift(),
        "wobble_height_drift_m": ledger.position_residual.max(),
        "wobble_slip_m_s": ledger.nonholonomic_residual.max(),
    }


def checks() -> Iterable[Check]:
    """Checks: motions and steady wobble against closed forms, orders of convergence, energy, slip and height.

    The sum of the Jacobi identity ([survey] eq. (7.1)) must not vanish, as the constraints are nonholonomic.
    """
    source = "[survey] ex. 4.1"
    coarse, fine = run(steps=240), run(steps=480)
    for name, motion in fine.motions.items():
        for model, error in motion.errors.items():
            value = math.log2(coarse.motions[name].errors[model] / error)
            yield converges(f"order, torque {name}, {model}", value, 0.1, source="closed form")
            yield vanishes(f"error, torque {name}, {model}", error, 2e-3, source="closed form", kind="closed form")
        angles = float(np.abs(motion.reduced["angles"] - motion.exact[:, 2:]).max())
        yield vanishes(f"error of θ, φ, {name}, reduced", angles, 1e-11, source="ṗ = u", kind="closed form")
        drift = max(motion.constrained.energy_drift(), motion.reduced.energy_drift())
        # the iteration of general systems may end with a correction of 3e-12 (discretisation.iteration, noise)
        yield vanishes(f"(energy − work) / energy, {name}", drift, 1e-11)
        yield vanishes(f"slip in mid-step, {name}", motion.slip, 1e-12)
    value = math.log2(coarse.mechanism_error / fine.mechanism_error)
    yield converges("order, mechanism", value, 0.1, source="closed form")
    x = np.append(START, RATES)
    yield Check("norm of the Jacobi sum (7.1)", f"{source}, not 0", 1.0, jacobi_sum(reduced().phdae(x).J, x),
                kind="closed form", tolerance=1e-9)  # fmt: skip
    steady = wobble(4000, share=1.0)
    path = contacts(steady)
    turned = float(np.unwrap(np.arctan2(path[:, 1], path[:, 0]))[-1])
    yield Check("rate of the point of contact [rad/s]", "Moffatt (2000)", rounds(TILT), turned / steady.times[-1],
                kind="closed form", tolerance=1e-4)  # fmt: skip
    yield Check(
        "tilt of the steady euro [rad]", "Moffatt (2000)", TILT, tilts(steady).min(), kind="closed form", tolerance=1e-6
    )
    for what, run_ in (("held", fine.mechanism), ("wobbling", fine.wobble)):
        ledger = run_.ledger
        for quantity, value in (
            ("relative energy drift", run_.energy_drift()),
            ("slip [m/s]", float(ledger.nonholonomic_residual.max())),
            ("height [m]", float(ledger.position_residual.max())),
        ):
            yield vanishes(f"{quantity}, {what}", value, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: constrained().phdae())
