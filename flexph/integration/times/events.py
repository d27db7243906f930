"""Events of runs, which are zeros of functions of time and state; and observations at saved times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.step_failed import TimedError
from ...results.result import Occurrences
from ...results.state_view import StateView

PRECISION = 1e-13
"""Width of the bracket around a zero at which the search ends, relative to the length of the step."""
AT_REST = 1e-12
"""Value of an event that counts as zero, relative to its largest one at ends of steps: round-off at rest."""
ON_ZERO = 1e-9
"""Value at the start of a run that counts as zero, relative to the value after a step: far above round-off."""


def zero_between(first: tuple[float, float], last: tuple[float, float], value: Callable[[float], float]) -> float:
    """Time of a zero of ``value(time)`` between two points (time, value) with values of different sign.

    Its error is PRECISION times the distance of the points.
    """
    (t0, before), (t1, after) = first, last
    width = max(PRECISION * (t1 - t0), np.spacing(max(abs(t0), abs(t1))))
    known = lambda time: before if time == t0 else after if time == t1 else value(time)  # noqa: E731
    return float(scipy.optimize.brentq(known, t0, t1, xtol=width, rtol=4.0 * np.finfo(float).eps))


@checked
@dataclass(frozen=True)
class Event:
    """Zero of ``function(t, x)``, passed upwards (``direction=1``), downwards (-1) or either way (0).

    A zero at the start of the run does not count. A function that comes to zero and stays there, such as the
    speed of a sticking contact, has its zero where it arrives: values below 1e-12 of the largest one before are zero.

    Parameters
    ----------
    function : callable
        Of the time t [s] and of the state x with its names (:class:`flexph.results.state_view.StateView`): ``x["q"]``
        is a part, of mechanisms ``x.spin("rocker")`` and ``x.position("rod.tip")``; ``x.x`` is the flat array (n,), and
        an index acts on it. Its value is a number or an array of one entry.
    direction : int
        1 upwards, −1 downwards, 0 either way.
    terminal : bool
        True if the first occurrence ends the run.
    """

    function: Callable[[float, Any], Any]
    direction: int = 0
    terminal: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise ValueError(f"the function of an event must be a function of (t, x), got {self.function!r}")
        if self.direction not in (-1, 0, 1):
            raise ValueError(f"direction of an event must be -1, 0 or 1, got {self.direction!r}")
        if not isinstance(self.terminal, bool):
            raise ValueError(f"terminal of an event must be True or False, got {self.terminal!r}")


def _read(events: Any) -> dict[str, Event]:
    """Check events given by name, and return them; each name must be valid as the name of a group in a file."""
    if not isinstance(events, Mapping):
        raise ValueError(f"events must map names to functions of (t, x), got {events!r}")
    read = {}
    for name, given in events.items():
        check.name("an event", name)
        try:
            read[name] = given if isinstance(given, Event) else Event(given)
        except ValueError as error:
            raise ValueError(f"event {name!r}: {error}") from None
    return read


def event_value(name: str, function: Callable[[float, Any], Any], time: float, state: StateView) -> float:
    """Value of the function of an event at a time and state.

    Raises TimedError if the function raises or does not return a finite number.
    """
    try:
        value = function(time, state)
        value = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
    except Exception as error:
        raise TimedError(f"at t = {time:.6g} s: event {name!r} raised {type(error).__name__}: {error}") from error
    try:
        return check.number(f"event {name!r}", value)
    except ValueError as error:
        raise TimedError(f"at t = {time:.6g} s: {error}") from None


class Watch:
    """Detection of the events of a run, with their values at the end of the last step and their occurrences so far."""

    def __init__(
        self,
        events: Mapping[str, Event | Callable[[float, Any], Any]],
        time: float,
        state: Array,
        view: Callable[[Array], StateView],
    ) -> None:
        self.events, self._view = _read(events), view
        self.occurred: dict[str, list[tuple[float, Array]]] = {name: [] for name in self.events}
        self._size = state.size
        self._last = self._values(time, state)
        self._largest = {name: abs(value) for name, value in self._last.items()}

    @property
    def active(self) -> bool:
        """True if there are events."""
        return bool(self.events)

    def locate(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """Record the events that occur in a step from t0 to t1; return the time of one that ends the run, or None.

        ``end`` is the state at t1; ``at`` returns the state at a time between t0 and t1.
        """
        if not self.events:
            return None
        values = self._values(t1, end)
        new = self._settled(values)
        zeros = []
        for name in self._passed(new):
            before, after = self._last[name], values[name]
            rest = math.copysign(AT_REST * self._largest[name], before) if new[name] == 0.0 else 0.0
            value = lambda time, name=name, rest=rest: self._value(name, time, at(time)) - rest  # noqa: E731
            zeros.append((zero_between((t0, before - rest), (t1, after - rest), value), name))
        self._last = new
        for time, name in sorted(zeros):
            self.occurred[name].append((time, end if time == t1 else at(time)))
            if self.events[name].terminal:
                return time
        return None

    def steps_without_events(self, times: Array, states: Array) -> int:
        """Number of steps before the first one in which an event occurs.

        The steps end at the times (k,) in the states (k, n). The values of the events after the last step without one
        are stored. A function that raises ends the count; :meth:`locate` reports it.
        """
        for k, (time, state) in enumerate(zip(times.tolist(), states, strict=True)):
            try:
                new = self._settled(self._values(time, state))
            except ValueError:
                return k
            if self._passed(new):
                return k
            self._last = new
        return len(times)

    def _settled(self, new: Mapping[str, float]) -> dict[str, float]:
        """Values of the events at the end of a step; those that are round-off of earlier values are set to zero."""
        self._largest = {name: max(abs(value), self._largest[name]) for name, value in new.items()}
        return {name: value if abs(value) > AT_REST * self._largest[name] else 0.0 for name, value in new.items()}

    def _passed(self, new: Mapping[str, float]) -> list[str]:
        """Names of the events with a zero between their values at the end of the last step and the values ``new``."""
        passed = []
        for name, event in self.events.items():
            before, after = self._last[name], new[name]
            if before * after <= 0.0 and before != 0.0 and event.direction * (after - before) >= 0.0:
                passed.append(name)
        return passed

    def _values(self, time: float, state: Array) -> dict[str, float]:
        return {name: self._value(name, time, state) for name in self.events}

    def _value(self, name: str, time: float, state: Array) -> float:
        return event_value(name, self.events[name].function, time, self._view(state))

    def memory(self) -> dict[str, Any]:
        """Values of the events at the end of the last step, and their largest absolute values so far."""
        return {"last": dict(self._last), "largest": dict(self._largest)}

    def restore(self, occurred: Mapping[str, Sequence[tuple[float, Array]]], memory: Mapping[str, Any]) -> None:
        """Set the occurrences so far and the ``memory`` of a resumed run."""
        self.occurred = {name: list(passed) for name, passed in occurred.items()}
        self._last, self._largest = dict(memory["last"]), dict(memory["largest"])

    def occurrences(self) -> dict[str, Occurrences]:
        """Times and states of all occurrences of each event, by name."""
        return {
            name: Occurrences(
                np.array([t for t, _ in passed]), np.array([x for _, x in passed]).reshape(len(passed), self._size)
            )
            for name, passed in self.occurred.items()
        }


class ContinuedWatch(Watch):
    """Detection of the events of a run that may continue from an event: a zero at its start is not reported again."""

    fresh = True

    def memory(self) -> dict[str, Any]:
        """Memory of :class:`Watch`, and under "fresh" True before the first step."""
        return {**super().memory(), "fresh": self.fresh}

    def restore(self, occurred: Mapping[str, Sequence[tuple[float, Array]]], memory: Mapping[str, Any]) -> None:
        """Set the occurrences so far and the ``memory`` of a resumed run."""
        super().restore(occurred, memory)
        self.fresh = memory["fresh"]

    def locate(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """Record the events in a step; return the time of one that ends the run, or None, see :meth:`Watch.locate`."""
        self._begin(t1, end)
        return super().locate(t0, t1, end, at)

    def steps_without_events(self, times: Array, states: Array) -> int:
        """Number of steps before the first one in which an event occurs, see :meth:`Watch.steps_without_events`."""
        with suppress(ValueError):  # reported by look
            self._begin(float(times[0]), states[0])
        return super().steps_without_events(times, states)

    def _begin(self, time: float, state: Array) -> None:
        """Set start values of event functions to zero if they are round-off of the values at the end of the first step.

        ``time`` and ``state`` are those at the end of the step. Later steps change nothing.
        """
        if self.fresh and self.events:
            for name, value in self._values(time, state).items():
                if abs(self._last[name]) <= ON_ZERO * abs(value):
                    self._last[name] = 0.0
        self.fresh = False


class Observer:
    """Observer that calls a function at each saved time, once the next step can no longer redefine the state there.

    Without a function it does nothing. If the function raises, or returns no numbers or an array of another shape than
    before, the observer raises ValueError with the time and does not call the function again.
    """

    def __init__(
        self,
        function: Callable[[float, Any], Any] | None,
        view: Callable[[Array], StateView],
        *,
        start: tuple[float, Array],
    ) -> None:
        self._function, self._view = function, view
        self._values: list[Array | None] = []
        self._shape: tuple[int, ...] | None = None
        self._latest: tuple[float, Array] | None = start

    @property
    def active(self) -> bool:
        """True if there is a function to call."""
        return self._function is not None

    def saved(self, time: float, x: Array) -> None:
        """Note a new saved state; call the function at the saved state before it, which is now final."""
        self.settle()
        self._latest = (time, x)

    def redefine(self, x: Array) -> None:
        """Replace the state at the last saved time by ``x``, if the function has not been called there."""
        if self._latest is not None:
            self._latest = (self._latest[0], x)

    def settle(self) -> None:
        """Call the function at the last saved state, which is now final."""
        if self._latest is None or self._function is None:
            return
        (time, x), self._latest = self._latest, None
        function, self._function = self._function, None
        self._values.append(self._value(function, time, x))
        self._function = function

    @property
    def latest(self) -> tuple[float, Array] | None:
        """Last saved time and state if a step may still redefine it, else None."""
        return self._latest

    @property
    def count(self) -> int:
        """Number of calls so far."""
        return len(self._values)

    def since(self, first: int) -> dict[str, Any]:
        """Number ``count`` of calls from number ``first`` on, and their ``values`` (count, …).

        Entries are NaN where the function returned None; the values are None if it never returned any.
        """
        count = self.count - first
        return {"count": count, "values": None if self._shape is None else self._rows(self._values[first:], count)}

    def restore(self, values: Sequence[Array | None], latest: tuple[float, Array] | None) -> None:
        """Set the values returned so far, and the last saved time and state if a step may still redefine it."""
        shapes = [value.shape for value in values if value is not None]
        self._values, self._shape, self._latest = list(values), shapes[0] if shapes else None, latest

    def _value(self, function: Callable[[float, Any], Any], time: float, x: Array) -> Array | None:
        try:
            value = function(time, self._view(x))
        except Exception as error:
            raise TimedError(f"at t = {time:.6g} s: observe raised {type(error).__name__}: {error}") from error
        if value is None:
            return None
        try:
            observed = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise TimedError(
                f"at t = {time:.6g} s: observe must return a number, an array of numbers or None, got {value!r}"
            ) from None
        if self._shape not in (None, observed.shape):
            raise TimedError(f"at t = {time:.6g} s: observe returned the shape {observed.shape}, before {self._shape}")
        self._shape = observed.shape
        return observed

    def observations(self, count: int) -> Array:
        """Values (count, …) of the function at the first ``count`` saved times; NaN where it returned None.

        The array is empty if it never returned a value.
        """
        return np.zeros(0) if self._shape is None else self._rows(self._values, count)

    def _rows(self, values: Sequence[Array | None], count: int) -> Array:
        rows = np.full((count, *(self._shape or ())), np.nan)
        for k, value in enumerate(values[:count]):
            if value is not None:
                rows[k] = value
        return rows
