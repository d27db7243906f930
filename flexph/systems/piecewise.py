"""Inputs that are constant between the times at which they are set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array


@checked
@dataclass(frozen=True, eq=False)
class PiecewiseConstant:
    """Piecewise constant input: u(t) = u_i for t_i ≤ t < t_{i+1}, and u_0 before the first time.

    Steps take their inputs at instants within them, so that a value set at the start of a step acts over all of it.

    Parameters
    ----------
    times : array
        Ascending times (k,) [s].
    values : array
        Values from each time on, (k,) or (k, m).

    Raises
    ------
    ValueError
        For times that do not ascend, values that are not finite, or another number of values.

    Examples
    --------
    >>> from flexph.systems import PiecewiseConstant
    >>> torque = PiecewiseConstant([0.0, 0.5], [1.0, -2.0])
    >>> torque(0.2), torque(0.5)
    (array([1.]), array([-2.]))
    """

    times: Any
    values: Any

    def __post_init__(self) -> None:
        times = check.array("times", self.times, (None,))
        values = check.array("values", self.values, (None,) * max(np.ndim(self.values), 1))
        values = values[:, None] if values.ndim == 1 else values
        if not times.size or np.any(np.diff(times) <= 0.0):
            raise ValueError(f"times must be at least one, ascending, got {check.shown(self.times)}")
        if values.ndim != 2 or len(values) != times.size:
            raise ValueError(f"values must have one row for each of the {times.size} times, got shape {values.shape}")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values)

    def __call__(self, time: float) -> Array:
        """Values at a time [s], (m,)."""
        value: Array = self.at_times(np.array([time]))[0]
        return value

    def before(self, times: Array) -> Array:
        """Values just before many times [s], (times, m)."""
        values: Array = self.values[np.maximum(np.searchsorted(self.times, times) - 1, 0)]
        return values

    def at_times(self, times: Array) -> Array:
        """Values at many times [s], (times, m)."""
        values: Array = self.values[np.maximum(np.searchsorted(self.times, times, side="right") - 1, 0)]
        return values


@dataclass(frozen=True, eq=False)
class Recorded(PiecewiseConstant):
    """Recorded input of a run or file: times (k,) and values (k, m), which are not checked again."""

    times: Array
    values: Array

    def __post_init__(self) -> None:
        """Skip the checks of the base class."""

    def changed_at(self, time: float, values: Array) -> Recorded:
        """Input with other values (m,) from a time [s] on, which must not be before the last time of the record."""
        return self.followed_by(Recorded(np.array([time]), values[None]))

    def followed_by(self, later: Recorded) -> Recorded:
        """Input continued by ``later`` from the first time of ``later`` on."""
        keep = self.times < later.times[0]
        values = np.vstack([self.values[keep], later.values])
        return Recorded(np.append(self.times[keep], later.times), values)


class Adjustable:
    """Input that a slider sets between the steps of a run, with its history as ``record``.

    It is a function of time whose past is fixed, and a constant from ``since`` [s] on, until it is set again.
    """

    def __init__(self, record: Recorded) -> None:
        self.record = record

    @property
    def since(self) -> float:
        """Time [s] at which the input was set last."""
        return float(self.record.times[-1])

    @property
    def values(self) -> Array:
        """Present values (m,)."""
        values: Array = self.record.values[-1]
        return values

    def set(self, time: float, values: Array) -> None:
        """Set the values from a time [s] on."""
        self.record = self.record.changed_at(time, values)

    def __call__(self, time: float) -> Array:
        """Values at a time [s], (m,)."""
        return self.record(time)

    def before(self, times: Array) -> Array:
        """Values just before many times [s], (times, m)."""
        return self.record.before(times)

    def at_times(self, times: Array) -> Array:
        """Values at many times [s], (times, m)."""
        return self.record.at_times(times)
