"""Interfaces of steppers, steps and event detection for the loop over the steps of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ...numerics.arrays import Array
from .recorder import Values


class Watch(Protocol):
    """Event detection: inspects the steps of a run and may end it."""

    @property
    def active(self) -> bool:
        """True if there are events."""

    def look(self, t0: float, t1: float, end: Array, at: Callable[[float], Array]) -> float | None:
        """Time at which a step from t0 to t1 ends the run, or None; ``at`` returns the states between."""

    def occurrences(self) -> dict[str, Any]:
        """Occurrences by name of the event."""


class StepStart(Protocol):
    """Start of a step."""

    @property
    def time(self) -> float:
        """Time [s]."""

    @property
    def x(self) -> Array:
        """Flat state (n,)."""


class StepResult(Protocol):
    """Result of a step."""

    @property
    def end(self) -> Any:
        """Start of the next step."""

    def row(self) -> Values:
        """Recorded values of the step."""


class Stepper(Protocol):
    """One-step method of a system, without memory between steps."""

    def step(self, start: Any, time: float) -> Any:
        """Take a step from a start to a time [s]; raises StepFailed."""


class Memory(Protocol):
    """Memory of an iteration between steps, as a nested value that can be saved and restored."""

    def kept(self) -> Any:
        """Return the memory."""

    def restore(self, kept: Any) -> None:
        """Restore the memory."""


class Finished(Protocol):
    """Run that is complete or was stopped early."""

    @property
    def tried(self) -> tuple[float, float]:
        """Start and end time [s] of the last step that was tried."""

    def observe_last(self) -> None:
        """Call the observer at the last state."""


class Entry(Protocol):
    """One or more accepted steps."""

    @property
    def reached(self) -> int:
        """Number of times of the run that the steps reach."""

    def record(self, run: Any) -> bool:
        """Record the steps; True if they end the run."""
