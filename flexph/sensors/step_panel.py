"""Readings of sensors during a run: of the present state, and of the last step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..mechanisms.model.model import Model
from ..mechanisms.model.time_table import Anchors
from ..numerics.arrays import Array
from .panel import Panel
from .quantities import LastStep, Quantity


class StepPanel:
    """Sensors of a mechanism by name: ``panel`` evaluates sensors of states, ``of_step`` those of steps.

    ``anchors`` are those of the start of the run.
    """

    def __init__(self, mechanism: Model, sensors: Mapping[str, Quantity], anchors: Anchors) -> None:
        of_step = {name: getattr(own, "of_step", None) for name, own in sensors.items()}
        self.panel = Panel(mechanism, {name: own for name, own in sensors.items() if of_step[name] is None})
        self.of_step = {name: own(mechanism, anchors) for name, own in of_step.items() if own is not None}

    def read(
        self, time: float, x: Array, last: LastStep, near: Sequence[float] | None
    ) -> tuple[dict[str, Any], list[float]]:
        """Readings by name at a time [s] and flat state, and all measures, with angles unwrapped next to ``near``."""
        readings, measured = self.panel.read(x, near)
        for name, read in self.of_step.items():
            readings[name] = read(time, x, last)
        return readings, measured
