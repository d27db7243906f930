"""Messages of a run of a mechanism whose step fails: the step, the reason, and the remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...joints.rows.laws import Alignment, Angle, Law
from ...mechanisms.model.time_table import Anchors, TimeTable, law_values, laws, table_of
from ...numerics.arguments import HUGE
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ..times.loop import Run
from ..times.step_size import StepControlFailed

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism


GENERAL = (
    "try a smaller step, check the drives, loads and inputs of controllers at this time, and look for a singular pose "
    "or redundant joints"
)
"""Remedy for a step that fails for an unknown reason."""
LOOKED_AT = 20
"""Number of steps of a run whose drives are checked."""
ONE_STEP = (
    "times are the ends of all steps, of which two make one; give np.linspace(start, end, 1001), or a method with a "
    "tolerance, such as Exact(tolerance=1e-6)"
)
"""Remedy if ``times`` may have been taken for a time span."""


def explain_step(error: StepFailed, span: tuple[float, float], acting: str = "", *, cure: str = GENERAL) -> str:
    """Message for a step that is not solved, or at which the motion ends; ``acting`` tells likely reasons."""
    t0, t1 = span
    if isinstance(error, MotionEnded):
        return f"{error} at about t = {t0 + error.share * (t1 - t0):.6g} s: {error.advice}"
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved: {error} after "
        f"{error.iterations} iterations, last correction {error.defect:.1e} of the motion{acting}; {cure}"
    )


def explain(run: Run, error: StepFailed, span: tuple[float, float], acting: str = "", *, cure: str = GENERAL) -> str:
    """Message for a run that ends at a step which is not solved."""
    told = explain_step(error, span, acting, cure=cure)
    return f"{told}. {run.count} steps before it are finished and kept in .solution"


def huge_inputs(ports: Mapping[str, slice], values: Array, setters: Mapping[str, Sequence[str]]) -> str:
    """Text on inputs so large that a step overflows, with their ports and controllers; empty if there are none."""
    told = []
    for port, part in ports.items():
        if (largest := np.abs(values[part]).max(initial=0.0)) > HUGE:
            by = [f" of controller {name!r}" for name, own in setters.items() if port in own]
            told.append(f"; the input{''.join(by)} at {port!r} is of size {largest:.3g} there")
    return "".join(told)


def explain_control(run: Run, error: StepControlFailed) -> str:
    """Message for a run whose steps became too small."""
    return (
        f"{error} at t = {error.time:.6g} s; where a drive, load or event lets velocities jump, end the run and begin "
        "another, else look for a singular pose or raise the tolerance. "
        f"{run.count} steps before it are finished and kept in .solution"
    )


def of_long_drives(mechanism: Mechanism, table: TimeTable, span: tuple[float, float], *, solved: bool = False) -> str:
    """Text on a drive that moves further than a step can follow, with a step that can; empty if there is none.

    Of an angle a step sees sine and cosine: it cannot tell more than half a turn from less the other way, and may fail
    beyond a quarter. Displacements are unlimited in steps that are solved.
    """
    try:
        before, after = (table.values(t) for t in span)
    except ValueError:
        return ""
    for k, (law, own) in enumerate(zip(laws(mechanism), law_values(mechanism), strict=True)):
        moved, most, unit = _moved(mechanism, law, before[own], after[own], solved=solved)
        if callable(law.value) and moved > most and not (solved and unit == "m"):
            name, moves = mechanism.constraint_names[k], "turns" if unit == "rad" else "moves"
            return (
                f"{name} {moves} by {moved:.3g} {unit} from t = {span[0]:.6g} s to {span[1]:.6g} s, and a step follows "
                f"less than {most:.3g} {unit}: take steps shorter than {abs(span[1] - span[0]) * most / moved:.2g} s"
            )
    return ""


def long_drives(mechanism: Mechanism, anchors: Anchors, grid: Array) -> str:
    """Text of :func:`of_long_drives` for some of the solved steps between the times of a grid."""
    table, steps = table_of(mechanism, anchors), len(grid) - 1
    if not table.varies or steps < 1:
        return ""
    some = np.unique(np.linspace(0, steps - 1, LOOKED_AT).astype(int)).tolist()
    spans = ((float(grid[k]), float(grid[k + 1])) for k in some)
    return next((told for span in spans if (told := of_long_drives(mechanism, table, span, solved=True))), "")


def _moved(mechanism: Mechanism, law: Law, before: Array, after: Array, *, solved: bool) -> tuple[float, float, str]:
    """Distance by which a drive moves in a step, the largest one allowed, and their unit."""
    if isinstance(law, Alignment):
        cosine = 0.5 * (np.sum(before * after) - 1.0)
        return float(np.arccos(np.clip(cosine, -1.0, 1.0))), 0.5 * np.pi, "rad"
    moved = float(np.abs(after - before).max(initial=0.0))
    if isinstance(law, Angle):
        return moved, np.pi if solved else 0.5 * np.pi, "rad"
    return moved, _size(mechanism), "m"


def _size(mechanism: Mechanism) -> float:
    """Reference length of the mechanism [m]."""
    return float(mechanism.network.arrays.lengths[1])
