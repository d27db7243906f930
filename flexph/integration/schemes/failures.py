"""Messages for a step of a mechanism that fails: they name the step, the reason, and a remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arguments import HUGE
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ..times.loop import Run
from ..times.step_size import StepControlFailed

if TYPE_CHECKING:
    pass


GENERAL = (
    "try a smaller step, check the drives, loads and inputs of controllers at this time, and look for a singular pose "
    "or redundant joints"
)
"""Remedy for a step that fails for an unknown reason."""
ONE_STEP = (
    "times are the ends of all steps, of which two make one; give np.linspace(start, end, 1001), or a method with a "
    "tolerance, such as Exact(tolerance=1e-6)"
)
"""Remedy if ``times`` may have been taken for a time span."""


def explain_step(error: StepFailed, span: tuple[float, float], acting: str = "", *, cure: str = GENERAL) -> str:
    """Message for a step over the times ``span`` that is not solved, or in which the motion ends.

    ``acting`` is a text on likely reasons, ``cure`` the advice at the end.
    """
    t0, t1 = span
    if isinstance(error, MotionEnded):
        return f"{error} at about t = {t0 + error.share * (t1 - t0):.6g} s: {error.advice}"
    return (
        f"the step from t = {t0:.6g} s to {t1:.6g} s (h = {t1 - t0:.3g} s) could not be solved: {error} after "
        f"{error.iterations} iterations, last correction {error.defect:.1e} of the motion{acting}; {cure}"
    )


def explain(run: Run, error: StepFailed, span: tuple[float, float], acting: str = "", *, cure: str = GENERAL) -> str:
    """Message for a run that ends as its step over the times ``span`` is not solved, with the number of finished steps.

    ``acting`` is a text on likely reasons, ``cure`` the advice at the end.
    """
    reason = explain_step(error, span, acting, cure=cure)
    return f"{reason}. The {run.count} finished steps are in .solution"


def huge_inputs(ports: Mapping[str, slice], values: Array, setters: Mapping[str, Sequence[str]]) -> str:
    """Text that names the ports with inputs so large that a step may overflow; empty if there are none.

    ``ports`` are the parts of the input ``values`` by port, ``setters`` the ports that each controller sets.
    """
    names = []
    for port, part in ports.items():
        if (largest := np.abs(values[part]).max(initial=0.0)) > HUGE:
            by = [f" of controller {name!r}" for name, set_ports in setters.items() if port in set_ports]
            names.append(f"; the input{''.join(by)} at {port!r} is of size {largest:.3g} there")
    return "".join(names)


def explain_control(run: Run, error: StepControlFailed) -> str:
    """Message for a run that ends as step size control made its steps too short."""
    return (
        f"{error} at t = {error.time:.6g} s; where a drive, load or event lets velocities jump, end the run and begin "
        "another, else look for a singular pose or raise the tolerance. "
        f"The {run.count} finished steps are in .solution"
    )
