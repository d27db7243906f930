"""Sliders with which a display sets entries of external inputs, and dials, during a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics import checks as check
from ...numerics.arrays import Array
from ...systems.inputs import Forcing
from ...systems.piecewise import Adjustable, Recorded
from .dials import Dial

Bounds = tuple[float, float]
"""Smallest and largest value."""


@dataclass(frozen=True)
class Slider:
    """Slider of an entry of an external input, or of a dial (with an empty ``port``), with its bounds."""

    name: str
    port: str
    entry: int
    low: float
    high: float

    def value(self, given: Any) -> float:
        """Checked value as a float; raises ValueError outside of the bounds of the slider."""
        value = check.number(f"value of slider {self.name!r}", given)
        if not self.low <= value <= self.high:
            raise ValueError(f"value of slider {self.name!r} must be {self.low:g} to {self.high:g}, got {value:g}")
        return value


class Sliders:
    """All sliders of a run, of external inputs and of dials, with the inputs that they set and values queued for them.

    Raises ValueError for an unknown or ambiguous name, and for an initial value outside of the bounds.
    """

    def __init__(
        self,
        bounds: Mapping[str, Bounds],
        slices: Mapping[str, slice],
        dim: int,
        inputs: Mapping[str, Any],
        time: float,
        dials: Mapping[str, Dial] | None = None,
    ) -> None:
        known = _entries(slices)
        for name in bounds:
            port = name if name in slices else None
            if port is not None and port not in known:
                entry_names = ", ".join(repr(entry) for entry, (of, _) in known.items() if of == port)
                raise ValueError(f"slider {name!r} must name one entry of the input: {entry_names}")
            check.lookup("slider", name, known)
        self.dials = dict(dials or {})
        of_inputs = tuple(Slider(name, *known[name], *_bounds(name, interval)) for name, interval in bounds.items())
        self.all = of_inputs + tuple(Slider(name, "", 0, dial.low, dial.high) for name, dial in self.dials.items())
        self.inputs = {slider.port: _begun(slider.port, slices, dim, inputs, time) for slider in of_inputs}
        for name, dial in self.dials.items():
            if name in bounds:
                raise ValueError(f"the name of dial {name!r} must differ from those of the sliders")
            dial.forget(time)
        for slider, value in zip(of_inputs, self.values, strict=False):
            if not slider.low <= value <= slider.high:
                raise ValueError(
                    f"slider {slider.name!r} from {slider.low:g} to {slider.high:g} must include the value that its "
                    f"input begins with, {value:g}: see inputs"
                )
        self._waiting: dict[str, float] = {}

    @property
    def values(self) -> list[float]:
        """Current values of all sliders."""
        return [
            float(self.inputs[slider.port].values[slider.entry]) if slider.port else self.dials[slider.name].value
            for slider in self.all
        ]

    def order(self, name: Any, value: Any) -> None:
        """Queue a slider's value for the next block of the run; raises ValueError for a wrong name or value."""
        known = {slider.name: slider for slider in self.all}
        self._waiting[name] = check.lookup("slider", name, known).value(value)

    def take_over(self, time: float) -> None:
        """Apply the queued values from a time [s] on."""
        waiting, self._waiting = self._waiting, {}
        changed = {port: given.values.copy() for port, given in self.inputs.items()}
        for slider in self.all:
            if slider.name in waiting and slider.port:
                changed[slider.port][slider.entry] = waiting[slider.name]
            elif slider.name in waiting and waiting[slider.name] != self.dials[slider.name].value:
                self.dials[slider.name].set(time, waiting[slider.name])
        for port, values in changed.items():
            if not np.array_equal(values, self.inputs[port].values):
                self.inputs[port].set(time, values)

    @property
    def record(self) -> dict[str, Recorded]:
        """Recorded inputs since the start of the run, by port."""
        return {port: given.record for port, given in self.inputs.items()}


def _entries(slices: Mapping[str, slice]) -> dict[str, tuple[str, int]]:
    """Port and index of each entry of the inputs, by the name of its slider: ``motor``, or ``force[1]``."""
    known: dict[str, tuple[str, int]] = {}
    for port, part in slices.items():
        size = part.stop - part.start
        known |= {(port if size == 1 else f"{port}[{k}]"): (port, k) for k in range(size)}
    return known


def _bounds(name: str, given: Any) -> Bounds:
    low, high = check.array(f"bounds of slider {name!r}", given, (2,)).tolist()
    if not low < high:
        raise ValueError(f"bounds of slider {name!r} must ascend, got {given}")
    return low, high


def _begun(port: str, slices: Mapping[str, slice], dim: int, inputs: Mapping[str, Any], time: float) -> Adjustable:
    """Input of a port that a slider can change, with its constant initial value at a time [s].

    The value is that of the port in ``inputs``, or zero. Raises ValueError for an input that is not constant.
    """
    given = inputs.get(port, 0.0)
    if callable(given) or (isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1):
        raise ValueError(f"the input {port!r} of a slider must be constant at the start, got {check.shown(given)}")
    values: Array = Forcing(slices, {port: given} if port in inputs else {}, dim).at(time)[slices[port]]
    return Adjustable(Recorded(np.array([time]), values[None]))
