"""Transitions from one mode to another, and resets of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import read_only
from .triggers import At, Every, Function, Guard, Impasse, Trigger


class SwitchFailed(ArithmeticError):
    """Error if no mode can follow, or a reset gains energy."""


@checked
@dataclass(frozen=True, eq=False)
class Reset:
    """State ``x⁺ = function(t, x)`` after a switch, and quantities ``keeps`` of x, by name, that it preserves.

    At every switch the preserved quantities are checked, and H(x⁺) ≤ H(x): the loss is recorded, a gain is an error.
    Algebraic states of x⁺ are initial guesses for those of the new mode.
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
    state to a consistent one (:func:`flexph.switching.resets.impulsive`); without constraints the state stays.
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
