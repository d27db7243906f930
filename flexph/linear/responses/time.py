"""Step and impulse responses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from ...display.labelled import Labelled, Labels, Variable
from ...numerics import checks as check
from ...numerics.arguments import computing
from ...numerics.arrays import Array, Numbers
from ...systems.linear import LinearPHDAE, unknowns
from ..eigenmodes.modes import poles
from ..elimination import independent
from .channels import Channels, Names, channels, same_channels
from .frequency import place
from .propagation import Kind, affordable, exact_response, midpoint_response, reduced_error, settled_response


@dataclass(frozen=True, eq=False, repr=False)
class TimeResponse(Labelled):
    """Outputs over time, from rest, for a unit step or impulse of each input in turn.

    Attributes
    ----------
    times : array
        (k,) [s].
    values : array
        Responses (k, p, m) of the p outputs to the m inputs at k times.
    outputs : tuple of str
        Names of the p outputs.
    inputs : tuple of str
        Names of the m inputs.
    method : {"exact", "midpoint"}
        Method of computation.
    substeps : int, optional
        Substeps of the midpoint rule in each interval.
    error : float, optional
        None for exact responses and given substeps; for the midpoint rule the largest change by the last doubling of
        the substeps, relative to the largest value of each response; with a reduced system the relative difference to
        the full one, weighted with e^{−t/T} (:func:`flexph.linear.responses.propagation.reduced_error`).
    checked : array
        Frequencies at which the error was estimated [rad/s].
    """

    times: Array
    values: Array
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    method: Literal["exact", "midpoint"]
    substeps: int | None = None
    error: float | None = None
    checked: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", check.array("times", self.times, (None,)))
        object.__setattr__(self, "checked", check.array("checked", self.checked, (None,)))
        shape = (self.times.size, len(self.outputs), len(self.inputs))
        object.__setattr__(self, "values", check.array("values", self.values, shape))

    def between(self, output: str | None = None, input: str | None = None) -> Array:
        """Response (k,) of one output to one input; a name may be omitted if there is only one.

        Parameters
        ----------
        output : str, optional
            Component of an output; omit it if there is only one.
        input : str, optional
            Component of an input, likewise.

        Returns
        -------
        array
            Response (k,).
        """
        return self.values[:, place("output", output, self.outputs), place("input", input, self.inputs)]

    def __repr__(self) -> str:
        span = f"{self.times[0]:.4g} to {self.times[-1]:.4g} s" if self.times.size else "none"
        how = self.method + (f", {self.substeps} substeps" if self.substeps else "")
        error_text = self.describe_error()
        return (
            f"TimeResponse({self.times.size} times, {span}, outputs {list(self.outputs)}, inputs {list(self.inputs)}, "
            f"{how}{', ' + error_text if error_text else ''})"
        )

    def _labels(self) -> Labels:
        coordinates = {
            "time": Variable(("time",), self.times, "s", "time"),
            "output": Variable(("output",), np.array(self.outputs, dtype=str), "", "component of an output"),
            "input": Variable(("input",), np.array(self.inputs, dtype=str), "", "component of an input"),
        }
        words = "output to a unit step or impulse of an input"
        values = {"response": Variable(("time", "output", "input"), self.values, "", words)}
        return Labels("time", values, coordinates, {"method": self.method})

    def describe_error(self) -> str:
        """Text on the error of the response; empty for exact steps."""
        if self.error is None:
            return ""
        if self.checked.size:
            return f"reduced: error {self.error:.1e} at {self.checked.size} frequencies"
        return f"last change {self.error:.1e}"


Method = Literal["auto", "exact", "midpoint"]
TOLERANCE = 1e-3
"""Relative change of a response at which substeps are no longer doubled."""


@computing(unknowns)
def step_response(
    system: LinearPHDAE,
    times: Numbers,
    *,
    inputs: Names = None,
    outputs: Names = None,
    through: LinearPHDAE | None = None,
    method: Method = "auto",
    tolerance: float = TOLERANCE,
    substeps: int | None = None,
    progress: bool = True,
) -> TimeResponse:
    """Compute the response y = Bᵀx to a unit step of each input in turn, from rest.

    The equations are ``E ẋ = (J − R) x + B eⱼ + Gᵀλ, 0 = G x, x(0) = 0`` for each input j.

    Parameters
    ----------
    system : LinearPHDAE
        System, with or without constraints.
    times : array_like
        Times t ≥ 0 [s], ascending.
    inputs, outputs : str or sequence of str, optional
        Ports, or components of ports as ``port[i]``; by default all.
    through : LinearPHDAE, optional
        Reduced system with the same ports, used instead of the full one; the result has its ``error``.
    method : {"auto", "exact", "midpoint"}
        ``exact``: matrix exponentials of the system without constraints, exact to round-off for any times, dense.
        ``midpoint``: the implicit midpoint rule on the constrained system, one sparse factorisation per step length, of
        second order. ``auto`` uses the exact one up to 600 states, and up to 2000 if it takes seconds (equal
        intervals).
    tolerance : float
        For the midpoint rule: the substeps of each interval are doubled until no response changes by more, relative to
        its largest value.
    substeps : int, optional
        With ``method="midpoint"`` only: fixed number of equal steps in each interval, with ΔH = work − losses to
        round-off; the error is not checked then.
    progress : bool
        True to show a progress bar for long runs.

    Returns
    -------
    TimeResponse
        Values (k, p, m), with the names of outputs and inputs.

    Raises
    ------
    ValueError
        For negative or non-ascending times, and if an input prescribes a velocity of something with inertia.
    ArithmeticError
        If the midpoint rule does not converge, with the measured change: motions faster than the steps take part in the
        response. A reduced system omits them.

    Examples
    --------
    Force of 1 N on a mass of 2 kg with a damper of 4 N s/m:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.linear import step_response
    >>> one = np.eye(1)
    >>> mass = LinearPHDAE(E=2.0 * one, J=0.0 * one, R=4.0 * one, B=one, ports={"force": slice(0, 1)})
    >>> velocity = step_response(mass, [0.0, 0.5, 10.0]).between()
    >>> velocity.round(4)  # (1 − e^(−2t))/4
    array([0.   , 0.158, 0.25 ])
    """
    how = _Options("step", method, tolerance, substeps, progress)
    return _respond(system, times, inputs, outputs, through=through, how=how)


@computing(unknowns)
def impulse_response(
    system: LinearPHDAE,
    times: Numbers,
    *,
    inputs: Names = None,
    outputs: Names = None,
    through: LinearPHDAE | None = None,
    method: Method = "auto",
    tolerance: float = TOLERANCE,
    substeps: int | None = None,
    progress: bool = True,
) -> TimeResponse:
    """Compute the impulse response ``y(t) = Bᵀ x(t)`` after ``x(0+) = E⁻¹(B eⱼ + Gᵀμ), 0 = G x(0+)``.

    A direct feedthrough D (algebraic states) would add D δ(t), which no sample shows. An impulse excites the fastest
    modes of the mesh as much as any: for large systems give ``through``. Other arguments are those of
    :func:`step_response`.

    Parameters
    ----------
    system : LinearPHDAE
        System.
    times : array_like
        Times t ≥ 0 [s], ascending.
    inputs : str or sequence of str
        Ports, or components of ports as ``port[i]``, that are excited; by default all.
    outputs : str or sequence of str
        Ports, or components of ports, that are observed; by default all.
    through : LinearPHDAE, optional
        Reduced system with the same ports, used instead of the full one.
    method : str
        ``auto``, ``exact`` or ``midpoint``.
    tolerance : float
        For the midpoint rule: largest change of a response on halving the steps, relative to its largest value.
    substeps : int, optional
        With ``method="midpoint"`` only: fixed number of equal steps in each interval; the error is not checked then.
    progress : bool
        True to show a progress bar for long runs.

    Returns
    -------
    TimeResponse
        Response y(t) by input and output.

    Raises
    ------
    ValueError
        As for :func:`step_response`, and if E is singular with the midpoint rule.
    """
    how = _Options("impulse", method, tolerance, substeps, progress)
    return _respond(system, times, inputs, outputs, through=through, how=how)


@dataclass(frozen=True)
class _Options:
    """Options of step and impulse responses, with their checks."""

    kind: Kind
    method: Method
    tolerance: float
    substeps: int | None
    progress: bool

    def __post_init__(self) -> None:
        check.choice("method", self.method, get_args(Method))
        check.positive("tolerance", self.tolerance)
        if self.substeps is None:
            return
        check.count("substeps", self.substeps)
        if self.method != "midpoint":
            raise ValueError(f"substeps are for method='midpoint', got substeps={self.substeps} and {self.method!r}")


def _respond(
    system: LinearPHDAE, times: Any, inputs: Names, outputs: Names, *, through: LinearPHDAE | None, how: _Options
) -> TimeResponse:
    asked, grid = channels(system, outputs, inputs), _ascending(times)
    if through is None:
        return _own(independent(system), grid, asked, how)
    small, through = same_channels(through, asked), independent(through)
    response = _own(through, grid, small, how)
    error, checked = reduced_error(
        independent(system),
        through,
        (asked, small),
        poles(through),
        times=grid,
        kind=how.kind,
        progress=how.progress,
    )
    return replace(response, error=error, checked=checked)


def _own(system: LinearPHDAE, times: Array, asked: Channels, how: _Options) -> TimeResponse:
    kind, progress, named = how.kind, how.progress, (asked.outputs, asked.inputs)
    fits = affordable(system.size - system.G.shape[0], times)
    if how.method == "exact" or (how.method == "auto" and fits):
        values = exact_response(system, times, asked, kind=kind, progress=progress)
        return TimeResponse(times, values, *named, "exact")
    if how.substeps is not None:
        values = midpoint_response(system, times, asked, kind=kind, substeps=how.substeps, progress=progress)
        return TimeResponse(times, values, *named, "midpoint", how.substeps)
    values, substeps, change = settled_response(
        system, times, asked, kind=kind, tolerance=how.tolerance, progress=progress
    )
    return TimeResponse(times, values, *named, "midpoint", substeps, change)


def _ascending(times: Any) -> Array:
    grid = check.array("times", np.atleast_1d(times), (None,))
    if not grid.size or grid[0] < 0.0 or np.any(np.diff(grid) <= 0.0):
        raise ValueError("times must hold at least one time, start at t >= 0 s (the input acts from 0 on) and ascend")
    return grid
