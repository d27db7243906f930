"""What a system says along a run about the limits of its coordinates and its model."""

from __future__ import annotations

import warnings

from ...numerics.arrays import Array
from ...systems.nonlinear import PHDAE
from ...systems.validity import ValidityWarning


class Cautions:
    """The cautions of a system that a run asks along its way; each warns the first time that it speaks."""

    def __init__(self, system: PHDAE) -> None:
        self._waiting = list(system.cautions)
        self._said: list[str] = []

    def look(self, time: float, x: Array) -> None:
        """Ask those that have not spoken yet, at a state that the run has reached."""
        for text in self._ask(time, x):
            warnings.warn(text, ValidityWarning, stacklevel=2)

    def told(self, time: float, x: Array) -> str:
        """What to add to the message of a run that failed: what was said before, or is to say at its last state."""
        self._ask(time, x)
        return "".join(f". Before: {text}" for text in self._said)

    def _ask(self, time: float, x: Array) -> list[str]:
        fresh = []
        for caution in list(self._waiting):
            text = caution(x)
            if text is not None:
                self._waiting.remove(caution)
                fresh.append(f"at t = {time:.6g} s, {text}")
        self._said += fresh
        return fresh
