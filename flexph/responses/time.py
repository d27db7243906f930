"""Step and impulse responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .. import checks as check
from ..linear import LinearPHDAE
from ..space import Array
from .channels import Names, channels
from .frequency import place
from .propagation import exact_response, midpoint_response

DENSE_LIMIT = 600
"""States up to which steps are exact (matrix exponentials); above, implicit midpoint."""


@dataclass(frozen=True)
class TimeResponse:
    """Outputs over time, from rest, to a unit step or impulse of one input after the other.

    times (k,) [s]; values (k, p, m); ``outputs`` (p,) and ``inputs`` (m,) their names; ``method`` how they were made.
    """

    times: Array
    values: Array
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    method: Literal["exact", "midpoint"]

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", check.array("times", self.times, (None,)))
        shape = (self.times.size, len(self.outputs), len(self.inputs))
        object.__setattr__(self, "values", check.array("values", self.values, shape))

    def between(self, output: str | None = None, input: str | None = None) -> Array:
        """The response of one output to one input, (k,); a name may be left out where there is only one."""
        return self.values[:, place("output", output, self.outputs), place("input", input, self.inputs)]


def step_response(
    system: LinearPHDAE,
    times: Any,
    *,
    inputs: Names = None,
    outputs: Names = None,
    method: Literal["auto", "exact", "midpoint"] = "auto",
    substeps: int = 1,
    progress: bool = True,
) -> TimeResponse:
    """``E ẋ = (J − R) x + B eⱼ + Gᵀλ, 0 = G x, x(0) = 0``: y = Bᵀx at times t ≥ 0 [s], for each input j.

    method
        ``exact``: matrix exponentials of the system without constraints, exact to round-off whatever the times, dense;
        ``midpoint``: the implicit midpoint rule on the constrained system, one sparse factorisation for every step
        length, of second order, ΔH = work − losses to round-off; each interval takes ``substeps`` equal steps.
        ``auto`` takes the exact one up to 600 states.

    Raises ValueError for times that are negative or do not ascend, and where an input prescribes a velocity of
    something with inertia.
    """
    return _respond(system, times, inputs, outputs, kind="step", method=method, substeps=substeps, progress=progress)


def impulse_response(
    system: LinearPHDAE,
    times: Any,
    *,
    inputs: Names = None,
    outputs: Names = None,
    method: Literal["auto", "exact", "midpoint"] = "auto",
    substeps: int = 1,
    progress: bool = True,
) -> TimeResponse:
    """``y(t) = Bᵀ x(t)`` after ``x(0+) = E⁻¹(B eⱼ + Gᵀμ), 0 = G x(0+)``: the answer to a unit impulse at t = 0.

    Arguments as of :func:`step_response`. A direct feedthrough D (algebraic states) would add D δ(t), which no sample
    shows. Raises ValueError also where E is singular on more than 600 states.
    """
    return _respond(system, times, inputs, outputs, kind="impulse", method=method, substeps=substeps, progress=progress)


def _respond(
    system: LinearPHDAE,
    times: Any,
    inputs: Names,
    outputs: Names,
    *,
    kind: Literal["step", "impulse"],
    method: str,
    substeps: int,
    progress: bool,
) -> TimeResponse:
    asked, grid = channels(system, outputs, inputs), _ascending(times)
    check.choice("method", method, ("auto", "exact", "midpoint"))
    check.count("substeps", substeps)
    small = system.size - system.G.shape[0] <= DENSE_LIMIT
    if method == "exact" or (method == "auto" and small):
        values = exact_response(system, grid, asked, kind=kind, progress=progress)
        return TimeResponse(grid, values, asked.outputs, asked.inputs, "exact")
    values = midpoint_response(system, grid, asked, kind=kind, substeps=substeps, progress=progress)
    return TimeResponse(grid, values, asked.outputs, asked.inputs, "midpoint")


def _ascending(times: Any) -> Array:
    grid = check.array("times", np.atleast_1d(times), (None,))
    if not grid.size or grid[0] < 0.0 or np.any(np.diff(grid) <= 0.0):
        raise ValueError("times must hold at least one time, begin at t >= 0 s (the input acts from 0 on) and ascend")
    return grid
