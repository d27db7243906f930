"""Transitions of switching systems: guards and times that trigger them, resets, and their failure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import read_only

Function = Callable[[float, Array], Any]


@checked
@dataclass(frozen=True)
class Guard:
    """Trigger as soon as ``function(t, x)``, with x (n,), becomes positive (``direction=1``) or negative (-1).

    A mode that is entered with a value of this sign is left at once; if the value is zero, the mode lasts until the
    function changes. With direction 0 the mode is left where the function passes zero in either direction. Algebraic
    states in x solve the equations at t.
    """

    function: Function
    direction: int = 1

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise ValueError(f"the function of a guard must be a function of (t, x), got {check.shown(self.function)}")
        if self.direction not in (-1, 0, 1) or isinstance(self.direction, bool):
            raise ValueError(f"direction of a guard must be -1, 0 or 1, got {check.shown(self.direction)}")


@checked
@dataclass(frozen=True)
class At:
    """Trigger at given times [s], at each of which a step ends; a time at the start of the run is ignored."""

    times: float | Sequence[float] | Array

    def __post_init__(self) -> None:
        times = check.array("times of At", np.atleast_1d(np.asarray(self.times, dtype=float)), (None,))
        if np.any(np.diff(times) <= 0.0):
            raise ValueError(f"times of At must ascend, got {check.shown(self.times)}")
        object.__setattr__(self, "times", times)

    def after(self, time: float) -> float:
        """First of the times after a given one, infinite if there is none."""
        later = np.asarray(self.times)[np.asarray(self.times) > time]
        return float(later[0]) if later.size else math.inf


@checked
@dataclass(frozen=True)
class Every:
    """Trigger at the times ``first + k period`` for k = 0, 1, … [s], at each of which a step ends.

    A time at the start of the run is ignored.

    For a pulse of width D, ``Every(T)`` switches on and ``Every(T, first=D * T)`` off.
    """

    period: float
    first: float = 0.0

    def __post_init__(self) -> None:
        check.positive("period", self.period, "s")
        check.number("first", self.first)

    def after(self, time: float) -> float:
        """First of the times after a given one."""
        k = max(math.floor((time - self.first) / self.period), 0)
        while self.first + k * self.period <= time:
            k += 1
        return self.first + k * self.period


@dataclass(frozen=True)
class Impasse:
    """Trigger at an impasse point, at which the algebraic equations end a mode ([survey] sec. 4.5).

    There ``∂g/∂x₂`` becomes singular, with g the algebraic equations and x₂ the algebraic states of index 1. Steps
    follow their branch; the last one ends at the end of the branch, to round-off of time.
    """


Trigger = Guard | At | Every | Impasse


class SwitchFailed(ArithmeticError):
    """Error if no mode can follow, or a reset gains energy."""


@checked
@dataclass(frozen=True, eq=False)
class Reset:
    """State ``x⁺ = function(t, x)`` after a switch, and quantities ``keeps`` of x, by name, that it preserves.

    At every switch the preserved quantities are checked, and H(x⁺) ≤ H(x): the loss is recorded, a gain is an error.
    Algebraic states of x⁺ are initial guesses for the algebraic states of the new mode.
    """

    function: Callable[[float, Array], Any]
    keeps: Mapping[str, Callable[[Array], Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"a reset must be a function of (t, x), got {self.function!r}")
        object.__setattr__(self, "keeps", read_only(self.keeps))


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Transition:
    """Transition from the modes ``source`` (one name or several) to ``target``, released by a trigger.

    ``when`` is a :class:`Guard`, :class:`At`, :class:`Every` or :class:`Impasse`; a function is a guard that is crossed
    upwards. Several targets are candidates; :meth:`SwitchingPHDAE` describes the choice. A ``condition`` is a function
    of (t, x) evaluated at that instant: if it is false nothing happens, and a guard waits until its function has been
    negative again.

    ``reset`` is a :class:`Reset` or a function of (t, x); without one, impulses of the new mode's constraints take the
    state to a consistent one (:func:`flexph.switching.arrival.impulsive`); without constraints the state stays.
    """

    source: str | Sequence[str]
    target: str | Sequence[str]
    when: Trigger | Function
    reset: Reset | Callable[[float, Array], Any] | None = None
    condition: Function | None = None
    name: str = ""

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            given = getattr(self, side)
            names = (given,) if isinstance(given, str) else tuple(given)
            if not names or not all(isinstance(name, str) for name in names):
                raise ValueError(f"{side} of a transition must be one or several names of modes, got {given!r}")
            object.__setattr__(self, side, names)
        if not isinstance(self.when, Guard | At | Every | Impasse):
            object.__setattr__(self, "when", Guard(self.when))
        if self.reset is not None and not isinstance(self.reset, Reset):
            object.__setattr__(self, "reset", Reset(self.reset))
        if self.condition is not None and not callable(self.condition):
            raise ValueError(f"the condition of a transition must be a function of (t, x), got {self.condition!r}")
        if not self.name:
            object.__setattr__(self, "name", f"{' or '.join(self.source)} to {' or '.join(self.target)}")
