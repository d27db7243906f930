"""Triggers that end a mode: guards, instants, and impasse points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array

Function = Callable[[float, Array], Any]


@checked
@dataclass(frozen=True)
class Guard:
    """A mode is left as soon as ``function(t, x)`` becomes positive (``direction=1``) or negative (-1), x (n,).

    A mode that is entered with such a value is left at once; one that is entered at zero waits. With direction 0 it is
    left where the function passes zero either way. Algebraic states in x solve the equations at t.
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
    """Given times [s], at each of which a step ends; the start of a run does not count."""

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
    """Periodic times ``first + k period`` for k = 0, 1, … [s], at each of which a step ends; the start does not count.

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
    """Impasse point, at which the algebraic equations end a mode ([survey] sec. 4.5).

    There ``∂g/∂x₂`` becomes singular, with g the algebraic equations and x₂ the algebraic states of index 1. Steps
    follow their branch; the last one ends at the end of the branch, to round-off of time.
    """


Trigger = Guard | At | Every | Impasse
