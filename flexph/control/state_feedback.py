"""Feedback as a function of time and sensor readings, solved within each step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import LowLevelCallable

from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.loops.callbacks import c_function
from ..numerics.memo import read_only
from ..numerics.step_failed import TimedError
from ..sensors.panel import Panel
from ..sensors.quantities import Quantity
from .loops.functions import SIGNATURE, python_function


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class StateFeedback:
    """Feedback u = f(t, y) of readings y, solved within each step from the means of time and readings over it.

    The mechanism moves under the constant inputs u = f(½(t₀ + t₁), ½(y₀ + y₁)), so that the energy balance closes for
    any f; the ledger shows the work at its ports. The error is of second order in the step; a function that is called
    and held, :class:`Sampled`, has an error of first order in its period.
    With :class:`flexph.methods.ExactGauss` u is evaluated at each Gauss point of the step, by the readings there.

    If the sensors are measures between ports and their rates, compiled loops call the function directly; otherwise
    each step passes through Python. The results agree up to round-off.

    Parameters
    ----------
    function : callable
        ``function(time, readings)`` receives all readings (p,) in the order of the sensors and returns the inputs in
        the order of the ports: an array, a tuple of numbers, or a number. It must depend on these two arguments alone.
        Or a ``scipy.LowLevelCallable`` of a C function ``int (double, double *, double *, void *)``, which loops call
        without Python: its arguments are time, readings, the inputs to write, and its user data; it returns 1.
    sensors : dict
        Quantities of :mod:`flexph.sensors` by name.
    ports : sequence of str
        External ports of the mechanism that it sets.
    period : float, optional
        Time between two calls [s], for feedback that is held in between, as :class:`Sampled`. By default it acts within
        the steps.

    Raises
    ------
    ValueError
        If ``function`` is not callable or a C function of another signature, a sensor is no quantity, or the ports are
        no distinct names.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate, torque
    >>> from flexph.control import StateFeedback
    >>> from flexph.sensors import joint_angle, joint_rate
    >>> arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    >>> start = arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.0)}))
    >>> hold = StateFeedback(
    ...     function=lambda time, y: 40.0 * np.tanh(0.5 - y[0]) - 8.0 * y[1],
    ...     sensors={"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")},
    ...     ports=["motor"],
    ... )
    >>> run = integrate(arm, start, np.linspace(0.0, 3.0, 151), controllers={"hold": hold})
    >>> round(float(run.measured(joint_angle("arm.root"))[-1]), 3), bool(run.ledger.largest_residual < 1e-12)
    (0.5, True)
    """

    function: Callable[[float, Array], Any] | LowLevelCallable
    sensors: Mapping[str, Quantity]
    ports: Sequence[str]
    period: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.function, LowLevelCallable):
            c_function(self.function, SIGNATURE)
        elif not callable(self.function) or isinstance(self.function, type):
            raise ValueError(f"function must be a function of (time, readings), got {check.shown(self.function)}")
        if not isinstance(self.sensors, Mapping):
            raise ValueError(f"sensors must be a mapping of names to quantities, got {check.shown(self.sensors)}")
        if isinstance(self.ports, str) or not self.ports:
            raise ValueError(f"ports must be a list of at least one external port, got {check.shown(self.ports)}")
        if len(set(self.ports)) < len(self.ports):
            raise ValueError(f"ports must be different from each other, got {check.shown(self.ports)}")
        if self.period is not None:
            check.positive("period", self.period, "s")
        object.__setattr__(self, "sensors", read_only(self.sensors))
        object.__setattr__(self, "ports", tuple(self.ports))


class InvalidFeedbackError(TimedError):
    """Error for a feedback that returned a value which cannot be used as input."""


class FeedbackLoop:
    """Run-time wrapper of a state feedback: its sensors, the inputs that it sets, and its unwrapped angles."""

    def __init__(self, name: str, given: StateFeedback, model: Model) -> None:
        self.name, self.given = name, given
        for port in given.ports:
            known = model.network.input_slices
            check.lookup("external port", port, known, f"controller {name!r} sets it; the mechanism")
        try:
            self.panel = Panel(model, given.sensors)
        except ValueError as error:
            raise ValueError(f"controller {name!r}: {error}") from None
        parts = [model.network.input_slices[port] for port in given.ports]
        self.entries = np.concatenate([np.arange(part.start, part.stop) for part in parts])
        function, size = given.function, self.entries.size
        self._function = python_function(function, size) if isinstance(function, LowLevelCallable) else function
        self._ends = np.cumsum([part.stop - part.start for part in parts])[:-1]
        self.near: list[float] | None = None

    def resume(self, known: Mapping[str, Any] | None) -> None:
        """Continue the unwrapping of angles from data ``known`` at the end of another run; if None, start a new one."""
        if known is not None:
            if not (isinstance(known, Mapping) and "near" in known):
                message = "must be the data of a StateFeedback in the final state of a run"
                raise ValueError(f"state of controller {self.name!r} {message}")
            self.near = known["near"]

    @property
    def size(self) -> int:
        """Number of scalar readings of all sensors."""
        return sum(map(len, self.panel.places.values()))

    def read(self, x: Array, near: list[float] | None) -> tuple[Array, list[float]]:
        """All readings (p,) at the flat state x, and the values of measures from which unwrapping continues.

        ``near`` are these values at the reading before, or None.
        """
        readings, near = self.panel.read(x, near)
        return np.concatenate([np.zeros(0), *(np.ravel(readings[name]) for name in self.given.sensors)]), near

    def by_port(self, time: float, see: Mapping[str, Any]) -> dict[str, Array]:
        """Inputs of the feedback by port name, at a time [s] and for readings by sensor name."""
        every = [np.ravel(see[name]) for name in self.given.sensors]
        answer = self.answer(time, np.concatenate([np.zeros(0), *every]))
        return dict(zip(self.given.ports, np.split(answer, self._ends), strict=True))

    def answer(self, time: float, readings: Array) -> Array:
        """Inputs of the feedback at a time [s] and readings (p,), as one array; InvalidFeedbackError if invalid."""
        try:
            answer = self._function(time, readings)
        except Exception as error:
            message = f"controller {self.name!r} raised {type(error).__name__} at t = {time:.6g} s: {error}"
            raise InvalidFeedbackError(message) from error
        size = self.entries.size
        if size == 1 and isinstance(answer, float) and math.isfinite(answer):  # fast path
            return np.array([answer])
        if type(answer) is np.ndarray and answer.dtype.char == "d" and answer.size == size:
            flat: Array = answer.ravel()
            if all(map(math.isfinite, flat.tolist())):
                return flat
        return self._checked(time, answer)

    def _checked(self, time: float, answer: Any) -> Array:
        message = f"controller {self.name!r} at t = {time:.6g} s"
        try:
            numbers = check.numbers(f"{message}: the inputs of its ports", answer).ravel()
        except ValueError as error:
            raise InvalidFeedbackError(str(error)) from None
        if numbers.size != self.entries.size:
            raise InvalidFeedbackError(f"{message} must return {self.entries.size} inputs, got {numbers.size}")
        return numbers
