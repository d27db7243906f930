"""Events of general systems and mechanisms: zeros of functions of time and state."""

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
"""Width of the bracket around a zero over the length of the step, at which it counts as found."""
AT_REST = 1e-12
"""Value of an event over the largest one at ends of steps that is zero: what comes to zero and stays is round-off."""
ON_ZERO = 1e-9
"""Value of an event at the start of a run, over that after a step, up to which it starts there: far above round-off."""


def zero_between(first: tuple[float, float], last: tuple[float, float], value: Callable[[float], float]) -> float:
    """The time of a zero of a function between two (time, value) of different sign, to PRECISION of the distance."""
    (t0, before), (t1, after) = first, last
    width = max(PRECISION * (t1 - t0), np.spacing(max(abs(t0), abs(t1))))
    known = lambda time: before if time == t0 else after if time == t1 else value(time)  # noqa: E731
    return float(scipy.optimize.brentq(known, t0, t1, xtol=width, rtol=4.0 * np.finfo(float).eps))


@checked
@dataclass(frozen=True)
class Event:
    """A zero of ``function(t, x)``, passed upwards (``direction=1``), downwards (-1) or either way (0).

    A function that is zero at the start has not passed it. One that comes to zero and stays there, as what sticks, has
    a zero where it comes there: values below a millionth of a millionth of the largest one before are zero.

    Parameters
    ----------
    function : callable
        Of the time t [s] and of the state x with its names (:class:`flexph.results.state_view.StateView`): ``x["q"]``
        is a part, of mechanisms ``x.spin("rocker")`` and ``x.position("rod.tip")``; ``x.x`` is the flat array (n,), and
        an index acts on it. Its value is a number or an array of one entry.
    direction : int
        1 upwards, −1 downwards, 0 either way.
    terminal : bool
        Whether the first occurrence ends the run.
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
    """Events by name; names are also those of groups in files."""
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


class Watch:
    """Events under way: their values at the end of the last step, and what has occurred."""

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
        """Whether there are any."""
        return bool(self.events)

    def look(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """Record what occurred in a step; the time at which a terminal event ends the run, or None.

        ``end`` is the state at t1, ``at`` gives states between.
        """
        if not self.events:
            return None
        found = self._values(t1, end)
        new = self._settled(found)
        zeros = []
        for name in self._passed(new):
            before, after = self._last[name], found[name]
            rest = math.copysign(AT_REST * self._largest[name], before) if new[name] == 0.0 else 0.0
            value = lambda time, name=name, rest=rest: self._value(name, time, at(time)) - rest  # noqa: E731
            zeros.append((zero_between((t0, before - rest), (t1, after - rest), value), name))
        self._last = new
        for time, name in sorted(zeros):
            self.occurred[name].append((time, end if time == t1 else at(time)))
            if self.events[name].terminal:
                return time
        return None

    def quiet(self, times: Array, states: Array) -> int:
        """How many of the steps that end at these times (k,) and states (k, n), from the first on, pass no zero.

        The last of them is remembered. A function that raises ends them too: :meth:`look` says where.
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
        """Values at the end of a step, zero where they are round-off of those before."""
        self._largest = {name: max(abs(value), self._largest[name]) for name, value in new.items()}
        return {name: value if abs(value) > AT_REST * self._largest[name] else 0.0 for name, value in new.items()}

    def _passed(self, new: Mapping[str, float]) -> list[str]:
        """The events whose zeros lie between the last values and these."""
        passed = []
        for name, event in self.events.items():
            before, after = self._last[name], new[name]
            if before * after <= 0.0 and before != 0.0 and event.direction * (after - before) >= 0.0:
                passed.append(name)
        return passed

    def _values(self, time: float, state: Array) -> dict[str, float]:
        return {name: self._value(name, time, state) for name in self.events}

    def _value(self, name: str, time: float, state: Array) -> float:
        try:
            value = self.events[name].function(time, self._view(state))
            value = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
        except Exception as error:
            told = f"event {name!r} raised {type(error).__name__}: {error}"
            raise TimedError(f"at t = {time:.6g} s: {told}") from error
        try:
            return check.number(f"event {name!r}", value)
        except ValueError as error:
            raise TimedError(f"at t = {time:.6g} s: {error}") from None

    def memory(self) -> dict[str, Any]:
        """What it remembers of the last step."""
        return {"last": dict(self._last), "largest": dict(self._largest)}

    def restore(self, occurred: Mapping[str, Sequence[tuple[float, Array]]], memory: Mapping[str, Any]) -> None:
        """Set what has occurred, and what it remembers."""
        self.occurred = {name: list(passed) for name, passed in occurred.items()}
        self._last, self._largest = dict(memory["last"]), dict(memory["largest"])

    def occurrences(self) -> dict[str, Occurrences]:
        """What has occurred, by event."""
        return {
            name: Occurrences(
                np.array([t for t, _ in passed]), np.array([x for _, x in passed]).reshape(len(passed), self._size)
            )
            for name, passed in self.occurred.items()
        }


class ContinuedWatch(Watch):
    """Events of a run that may go on where one of them ended the last: a zero up to round-off has been passed there."""

    fresh = True

    def memory(self) -> dict[str, Any]:
        """See :meth:`Watch.memory`."""
        return {**super().memory(), "fresh": self.fresh}

    def restore(self, occurred: Mapping[str, Sequence[tuple[float, Array]]], memory: Mapping[str, Any]) -> None:
        """See :meth:`Watch.restore`."""
        super().restore(occurred, memory)
        self.fresh = memory["fresh"]

    def look(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """See :meth:`Watch.look`."""
        self._begin(t1, end)
        return super().look(t0, t1, end, at)

    def quiet(self, times: Array, states: Array) -> int:
        """See :meth:`Watch.quiet`."""
        with suppress(ValueError):  # said where the step is looked at
            self._begin(float(times[0]), states[0])
        return super().quiet(times, states)

    def _begin(self, time: float, state: Array) -> None:
        """Set values at the start that are zero up to round-off to zero, from those after the first step."""
        if self.fresh and self.events:
            for name, value in self._values(time, state).items():
                if abs(self._last[name]) <= ON_ZERO * abs(value):
                    self._last[name] = 0.0
        self.fresh = False
