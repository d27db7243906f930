"""Detection of the end of a mode, by its guards and validity functions from step to step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..integration.times.events import zero_between
from ..numerics import checks as check
from ..numerics.arrays import Array
from .branch import Branch, round_off_of
from .system import SwitchingPHDAE
from .transition import Function, Guard, Transition

ROUND_OFF = 1e-9
"""Relative change of states whose effect on a guard or validity function counts as round-off when a mode is entered.
States at a switch are accurate to 1e-13, algebraic ones by differences to about 1e-10."""
LOOKS = 8
"""Number of times in a step at which the function of a bound is evaluated to find a negative value, if it is zero at
the start."""


@dataclass(eq=False)
class WatchedBound:
    """Guard or validity function w(t, x) of a mode, with its value at the end of the last step.

    With a direction, w is ≤ 0 while the mode lasts, and the mode may be left when w rises through zero; a guard without
    direction may be left at any change of sign. ``condition`` is then evaluated. If it is false, the mode goes on, and
    a bound with a direction ``waits``: it cannot end the mode until w has been below zero again. ``armed`` is True if w
    was below zero (without direction: away from zero) since the mode was entered, so that a crossing can be located.
    ``noise`` is the round-off of w.
    """

    function: Function
    name: str
    transition: Transition | None
    sign: int
    condition: Function | None = None
    value: float = 0.0
    noise: float = 0.0
    armed: bool = False
    waits: bool = False

    def __call__(self, time: float, x: Array) -> float:
        """Value w(t, x)."""
        try:
            given = check.number(self.name, self.function(time, x))
        except ValueError as error:
            raise ValueError(f"at t = {time:.6g} s: {error}") from None
        return given if self.sign == 0 else self.sign * given

    @property
    def beyond(self) -> bool:
        """True if w is positive beyond its round-off, so that the mode must be left at once."""
        return self.sign != 0 and self.value > self.noise

    def rearm(self, refused: bool) -> None:
        """Update the bound after a step that did not end the mode.

        ``refused`` is True if the bound would have ended it but its condition was false.
        """
        if self.sign == 0:
            self.armed = self.value != 0.0
        elif refused:
            self.armed, self.waits = False, True
        elif self.value < -self.noise:
            self.armed, self.waits = True, False

    def allows(self, time: float, x: Array) -> bool:
        """True if the bound has no condition, or its condition is true."""
        return self.condition is None or bool(self.condition(time, x))


def bounds(system: SwitchingPHDAE, mode: str) -> list[WatchedBound]:
    """Bounds of a mode: its guards and its functions ``valid``."""
    guards = [
        WatchedBound(t.when.function, f"the guard of {t.name!r}", t, t.when.direction, t.condition)
        for t in system.leaving(mode)
        if isinstance(t.when, Guard)
    ]
    valid = system.modes[mode].valid.items()
    return guards + [WatchedBound(f, f"valid[{name!r}] of mode {mode!r}", None, -1) for name, f in valid]


class ModeWatch:
    """Watch over the bounds of a mode from a time and state on; a run uses it in place of its events (events.Watch)."""

    def __init__(self, bounds: Sequence[WatchedBound], branch: Branch, time: float, size: Array) -> None:
        self.bounds, self.branch = list(bounds), branch
        self.active = bool(self.bounds) or branch.careful  # True if steps must be checked
        self.fired: WatchedBound | None = None
        self.stopped = time
        x = branch.state
        for bound in self.bounds:
            bound.value = bound(time, x)
            bound.noise = round_off_of(bound, time, x, size=np.maximum(size, np.abs(x)), relative=ROUND_OFF)
            bound.armed = abs(bound.value) > bound.noise if bound.sign == 0 else bound.value < -bound.noise

    def at_once(self, time: float) -> WatchedBound | None:
        """First bound that the mode violates as it is entered and whose condition is true, or None.

        Other bounds that the mode violates, whose condition is false, are set to wait.
        """
        for bound in self.bounds:
            if bound.beyond and bound.allows(time, self.branch.state):
                return bound
            bound.waits = bound.beyond
        return None

    def locate(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """Find the time at which the mode is left in a step, and store it with its bound; None if the mode lasts.

        The step leads from t0 to t1 and the state ``end``; ``at`` gives interpolated states.
        """
        here = lambda t: self.branch.at(t, end if t == t1 else at(t))  # noqa: E731
        last, new = self.branch.state, here(t1)
        zeros = []
        for bound in self.bounds:
            after = bound(t1, new)
            if self._leaves(bound, after):
                zeros.append((self._zero(bound, t0, t1, after=after, at=here), bound))
        for time, bound in sorted(zeros, key=lambda pair: pair[0]):
            state = last if time == t0 else new if time == t1 else here(time)
            if bound.allows(time, state):
                self.fired, self.stopped = bound, time
                self.branch.keep(time, state)
                return time
        refused = [bound for _, bound in zeros]
        for bound in self.bounds:
            bound.value = bound(t1, new)
            bound.rearm(any(bound is other for other in refused))
        self.branch.keep(t1, new)
        return None

    def _leaves(self, bound: WatchedBound, after: float) -> bool:
        if bound.sign == 0:
            return bound.armed and bound.value * after <= 0.0
        return not bound.waits and ((bound.armed and after >= 0.0) or after > bound.noise)

    def _zero(self, bound: WatchedBound, t0: float, t1: float, *, after: float, at: Callable[[float], Array]) -> float:
        """Time between t0 and t1 at which w of a bound becomes zero; t0 if w was never negative in this step.

        ``after`` is w at t1, ``at`` gives the state at a time.
        """
        inside = t0
        if not bound.armed:  # its value at t0 is round-off
            tried = [t0 + (t1 - t0) * 0.5**k for k in range(1, LOOKS + 1)]
            inside = next((t for t in tried if bound(t, at(t)) < 0.0), t0)
            if inside == t0:
                return t0
        before = bound.value if inside == t0 else bound(inside, at(inside))
        return zero_between((inside, before), (t1, after), lambda t: bound(t, at(t)))

    def occurrences(self) -> dict[str, Any]:
        """Empty mapping, as changes of mode are recorded separately."""
        return {}
