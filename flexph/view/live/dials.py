"""Parameters that a display changes during a run: functions of time that follow the value of a slider."""

from __future__ import annotations

import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...units.arguments import quantities


@quantities(ramp="s")
@checked
class Dial:
    """Parameter of a mechanism with a slider of a live view, as a function of time.

    A dial can be used wherever a mechanism accepts a function of time: a factor of friction, the speed of a belt, the
    free length of a spring, a scheduled law. ``Live(dials={"friction": dial})`` shows its slider. The function moves
    linearly to a new value within ``ramp``, and so is continuous. Its rate jumps, so that a drive with this function
    would cause impacts. After the run the dial remains the function of time of this run, with which ``integrate``
    repeats it. A new live run first deletes the values of the dial after the start of the run.

    Parameters
    ----------
    value : float
        Initial value.
    low, high : float
        Bounds of the slider, which include the value.
    ramp : float
        Duration of the motion to a new value [s].

    Raises
    ------
    ValueError
        For bounds that do not ascend or do not include the value, and for a ramp that is not positive.

    Examples
    --------
    >>> from flexph import GROUND
    >>> from flexph.contacts import KelvinVoigt, Plane, contact
    >>> from flexph.view import Dial, Live
    >>> grip = Dial(1.0, low=0.0, high=2.0)
    >>> law = KelvinVoigt(1e5, friction=0.3, friction_factor=grip)
    >>> floor = contact("block.foot", Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), law)
    >>> live = Live(dials={"grip": grip}, pace=1.0)
    """

    def __init__(self, value: float, *, low: float, high: float, ramp: float = 0.05) -> None:
        self.low, self.high = check.number("low", low), check.number("high", high)
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got {low} and {high}")
        if not self.low <= check.number("value", value) <= self.high:
            raise ValueError(f"value must be {low:g} to {high:g}, the bounds of the dial, got {value:g}")
        self.ramp = check.positive("ramp", ramp, "s")
        self._times, self._values = np.zeros(1), np.array([float(value)])

    def __repr__(self) -> str:
        return f"Dial({self.value:g}, low={self.low:g}, high={self.high:g}, ramp={self.ramp:g})"

    @property
    def value(self) -> float:
        """Value of the dial at the end of its last ramp."""
        return float(self._values[-1])

    @property
    def corners(self) -> Array:
        """Times [s] and values (k, 2) of the corners of the piecewise linear function."""
        return np.column_stack([self._times, self._values])

    def __call__(self, time: float) -> float:
        """Value at a time [s]."""
        return float(np.interp(time, self._times, self._values))

    def set(self, time: float, value: float) -> None:
        """Move linearly to a value within ``ramp``, beginning at a time [s]."""
        self.forget(time)
        self._times = np.append(self._times, (time, time + self.ramp))
        self._values = np.append(self._values, (self._values[-1], value))

    def forget(self, time: float) -> None:
        """Delete the values after a time [s]: the function is constant from then on."""
        now, past = self(time), self._times < time
        if past.all():
            return
        self._times = np.append(self._times[past], time)
        self._values = np.append(self._values[past], now)
