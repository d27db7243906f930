"""What the loop over the steps of a run asks of steppers, steps and those who look at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...numerics.arrays import Array
from .recorder import Values


class Watch(Protocol):
    """What looks at the steps of a run and may end it."""

    @property
    def active(self) -> bool:
        """Whether there is anything to look for."""

    def look(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """The time at which a step from t0 to t1 ends the run, or None; ``at`` gives states between."""

    def occurrences(self) -> dict[str, Any]:
        """What has occurred, by event."""


class StepStart(Protocol):
    """What a step starts from."""

    @property
    def time(self) -> float:
        """The time [s]."""

    @property
    def x(self) -> Array:
        """The flat state (n,)."""


class StepResult(Protocol):
    """What a step leaves."""

    @property
    def end(self) -> Any:
        """Where the next step starts."""

    def row(self) -> Values:
        """What is recorded of the step."""


class Stepper(Protocol):
    """A one-step method of a system; it keeps nothing from one step to the next."""

    def step(self, start: Any, time: float) -> Any:
        """The step from a start to a time [s]; raises StepFailed."""


class Memory(Protocol):
    """What an iteration keeps from one step to the next, as a nested value, and back."""

    def kept(self) -> Any:
        """What it keeps."""

    def restore(self, kept: Any) -> None:
        """Set what it keeps."""


class Finished(Protocol):
    """A run that has ended, or was ended early."""

    @property
    def tried(self) -> tuple[float, float]:
        """The step that was tried last."""

    def observe_last(self) -> None:
        """Ask the observer at the last state."""


class Entry(Protocol):
    """Accepted steps, of a run of their own kind."""

    @property
    def reached(self) -> int:
        """Times of the run that they reach."""

    def record(self, run: Any) -> bool:
        """Record them, and whether they end the run."""
