"""Result of a step or impulse response, with the method and its error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ...display.labelled import Labelled, Labels, Variable
from ...numerics import checks as check
from ...numerics.arrays import Array
from .frequency import place


@dataclass(frozen=True, eq=False, repr=False)
class TimeResponse(Labelled):
    """Outputs over time, from rest, for a unit step or impulse of each input in turn.

    Attributes
    ----------
    times : array
        (k,) [s].
    values : array
        (k, p, m).
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
        the full one, weighted with e^{−t/T} (:func:`flexph.linear.responses.refinement.reduced_error`).
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
        """Response of one output to one input, (k,); omit a name if there is only one.

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
        told = self.describe_error()
        return (
            f"TimeResponse({self.times.size} times, {span}, outputs {list(self.outputs)}, inputs {list(self.inputs)}, "
            f"{how}{', ' + told if told else ''})"
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
        """Error in words; empty for exact steps."""
        if self.error is None:
            return ""
        if self.checked.size:
            return f"reduced: error {self.error:.1e} at {self.checked.size} frequencies"
        return f"last change {self.error:.1e}"
