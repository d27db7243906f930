"""Step and impulse responses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import computing
from ...numerics.arrays import Array, Numbers
from ...systems.linear import LinearPHDAE, unknowns
from ..eigenmodes.modes import poles
from ..elimination import independent
from .channels import Channels, Names, channels, same_channels
from .propagation import Kind, exact_response, midpoint_response
from .refinement import affordable, reduced_error, settled_response
from .time_response import TimeResponse

Method = Literal["auto", "exact", "midpoint"]
TOLERANCE = 1e-3
"""Change of a response, over its largest value, at which substeps are not doubled any more."""


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
    """The response y = Bᵀx to a unit step of each input in turn, from rest.

    ``E ẋ = (J − R) x + B eⱼ + Gᵀλ, 0 = G x, x(0) = 0`` for each input j.

    Parameters
    ----------
    system : LinearPHDAE
        The system, with or without constraints.
    times : array_like
        Times t ≥ 0 [s], ascending.
    inputs, outputs : str or sequence of str, optional
        Ports, or components of ports as ``port[i]``; all by default.
    through : LinearPHDAE, optional
        A reduced system with the same ports: it answers in place of the full one, and the result carries the ``error``.
    method : {"auto", "exact", "midpoint"}
        ``exact``: matrix exponentials of the system without constraints, exact to round-off whatever the times, dense.
        ``midpoint``: the implicit midpoint rule on the constrained system, one sparse factorisation for every step
        length, of second order. ``auto`` takes the exact one up to 600 states, and up to 2000 where it takes seconds
        (equal intervals).
    tolerance : float
        Of the midpoint rule: the substeps of each interval are doubled until no response changes by more, over its
        largest value.
    substeps : int, optional
        Only with ``method="midpoint"``: so many equal steps in each interval, with ΔH = work − losses to round-off;
        nothing is checked then.
    progress : bool
        Whether long runs show a bar.

    Returns
    -------
    TimeResponse
        Values (k, p, m), with the names of outputs and inputs.

    Raises
    ------
    ValueError
        For times that are negative or do not ascend, and where an input prescribes a velocity of something with
        inertia.
    ArithmeticError
        With the measured change, where the midpoint rule does not settle: motions faster than the steps take part in
        the response. A reduced system leaves them out.

    Examples
    --------
    A force of 1 N on a mass of 2 kg with a damper of 4 N s/m:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.linear import step_response
    >>> one = np.eye(1)
    >>> mass = LinearPHDAE(E=2.0 * one, J=0.0 * one, R=4.0 * one, B=one, ports={"force": slice(0, 1)})
    >>> velocity = step_response(mass, [0.0, 0.5, 10.0]).between()
    >>> velocity.round(4)  # (1 − e^(−2t))/4
    array([0.   , 0.158, 0.25 ])
    """
    how = _How("step", method, tolerance, substeps, progress)
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
    """``y(t) = Bᵀ x(t)`` after ``x(0+) = E⁻¹(B eⱼ + Gᵀμ), 0 = G x(0+)``: the answer to a unit impulse at t = 0.

    A direct feedthrough D (algebraic states) would add D δ(t), which no sample shows. An impulse moves the fastest
    modes of the mesh as much as any: on large systems give ``through``. The other arguments are as of
    :func:`step_response`.

    Parameters
    ----------
    system : LinearPHDAE
        The system.
    times : array_like
        Times t ≥ 0 [s], ascending.
    inputs : str or sequence of str
        Ports, or components of ports as ``port[i]``, that are pushed; all by default.
    outputs : str or sequence of str
        Those that are looked at; all by default.
    through : LinearPHDAE, optional
        A reduced system with the same ports, which answers in place of the full one.
    method : str
        ``auto``, ``exact`` or ``midpoint``.
    tolerance : float
        Of the midpoint rule: largest change of a response by half the steps, over its largest value.
    substeps : int, optional
        Only with ``method="midpoint"``: so many equal steps in each interval; nothing is checked then.
    progress : bool
        Whether long runs show a bar.

    Returns
    -------
    TimeResponse
        y(t) by input and output.

    Raises
    ------
    ValueError
        As for :func:`step_response`, and where E is singular and the midpoint rule is taken.
    """
    how = _How("impulse", method, tolerance, substeps, progress)
    return _respond(system, times, inputs, outputs, through=through, how=how)


@dataclass(frozen=True)
class _How:
    """Options of step and impulse responses."""

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
    system: LinearPHDAE, times: Any, inputs: Names, outputs: Names, *, through: LinearPHDAE | None, how: _How
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


def _own(system: LinearPHDAE, times: Array, asked: Channels, how: _How) -> TimeResponse:
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
        raise ValueError("times must hold at least one time, begin at t >= 0 s (the input acts from 0 on) and ascend")
    return grid
