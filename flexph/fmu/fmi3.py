"""Unit of FMI 3, run by pythonfmu3."""

from __future__ import annotations

from typing import Any

from pythonfmu3 import DefaultExperiment, Float64, Fmi3Causality, Fmi3StepResult, Fmi3Variability

from .slave import MechanismUnit


class Fmi3Mechanism(MechanismUnit):
    """Slave of FMI 3, from which the class of a written unit derives.

    That class also derives from ``Fmi3Slave``, which pythonfmu3 requires.
    """

    register_variable: Any

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        kind, varies = Fmi3Causality.independent, Fmi3Variability.continuous
        time = Float64("time", causality=kind, variability=varies, getter=self._now)
        self.register_variable(time, nested=False)

    def _now(self) -> float:
        """Current time of the co-simulation [s]."""
        return float(self._simulator.time - self._offset)

    def _experiment(self, **times: float) -> Any:
        return DefaultExperiment(**times)

    def _add(self, name: str, causality: str, getter: Any, setter: Any = None) -> None:
        variability = Fmi3Variability.fixed if causality == "parameter" else Fmi3Variability.continuous
        kind = Fmi3Causality[causality]
        variable = Float64(name, causality=kind, variability=variability, getter=getter, setter=setter)
        self.register_variable(variable, nested=False)

    def do_step(self, current_time: float, step_size: float) -> Any:
        """Take one step of the method with the current inputs; return the status of pythonfmu3."""
        self._step(current_time, step_size)
        return Fmi3StepResult()
