"""Functional mock-up units of mechanisms in FMI 2 and 3: variables, steps and saved states.

They are run by pythonfmu and pythonfmu3, whose classes have common methods for the common part of the standards.
"""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..files.trees import from_bytes, to_bytes
from ..mechanisms.model.state import State
from ..mechanisms.model.time_table import Anchors
from .co_simulation import CoSimulation

FILE = "co_simulation.pkl"
"""Resource file with the co-simulation and the function that makes it from its parameters; it contains code."""
ARRAYS = ("time", "x", "multipliers", "memory")
"""Arrays of a saved state."""


class MechanismUnit:
    """Part of a unit that does not depend on the version of FMI.

    The class of a unit also derives from a slave class of pythonfmu or pythonfmu3.
    """

    resources: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        with (Path(self.resources) / FILE).open("rb") as file:
            self._make, self._parameters, self._plan = pickle.load(file)
        self._own = dict(self._parameters)
        self._offset = 0.0
        self._begin(self._plan)
        self.default_experiment = self._experiment(
            start_time=self._plan.start.time, stop_time=self._plan.end, step_size=self._plan.step
        )
        for name in self._parameters:
            self._add(name, "parameter", partial(self._own.get, name), partial(self._own.__setitem__, name))
        for name, entry in self._plan.input_variables.items():
            self._add(name, "input", partial(self._input, entry), partial(self._set_input, entry))
        for name, entry in self._plan.output_variables.items():
            self._add(name, "output", partial(self._output, entry))

    def _experiment(self, **times: float) -> Any:
        """Default experiment (start, stop and step times) as an object of the FMI version."""
        raise NotImplementedError

    def _add(self, name: str, causality: str, getter: Any, setter: Any = None) -> None:
        """Register a real variable of the unit with its getter and setter.

        ``causality`` is input, output or parameter; parameters cannot change after initialisation.
        """
        raise NotImplementedError

    def _begin(self, plan: CoSimulation) -> None:
        self._plan, self._simulator = plan, plan.simulator()
        slices = plan.mechanism.network.input_slices
        self._inputs = {port: np.zeros(slices[port].stop - slices[port].start) for port in plan.inputs or ()}
        self._readings: Any = None

    def _input(self, entry: tuple[str, int]) -> float:
        return float(self._inputs[entry[0]][entry[1]])

    def _set_input(self, entry: tuple[str, int], value: float) -> None:
        self._inputs[entry[0]][entry[1]] = value

    def _output(self, entry: tuple[str, int]) -> float:
        if self._readings is None:
            self._readings = self._simulator.readings
        return float(np.ravel(self._readings[entry[0]])[entry[1]])

    def setup_experiment(self, start_time: float, *_: Any) -> None:
        """Store the offset from the time of the co-simulation to the time of the mechanism.

        The co-simulation begins at its time ``start_time`` [s], the mechanism at the time of its initial state.
        """
        self._offset = self._plan.start.time - start_time

    def exit_initialization_mode(self) -> None:
        """Build the mechanism again if parameters of the unit were changed before its first step."""
        if self._own != self._parameters:
            inputs = self._inputs
            self._begin(self._make(**self._own))
            self._inputs = inputs

    def _step(self, current_time: float, step_size: float) -> None:
        """Take one step of the method with the current inputs, from ``current_time`` to ``step_size`` later."""
        self._simulator.advance_to(current_time + step_size + self._offset, self._inputs)
        self._readings = None

    def _get_fmu_state(self) -> dict[str, Any]:
        _ = self._simulator.readings  # updates the turn counters
        inputs = {port: values.copy() for port, values in self._inputs.items()}
        return {"state": self._simulator.state, "inputs": inputs, "offset": self._offset, "own": dict(self._own)}

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        if state["own"].keys() != self._own.keys():
            raise ValueError(
                f"state must be saved by a unit with the parameters {', '.join(self._own) or 'none'}, "
                f"got {', '.join(state['own']) or 'none'}"
            )
        if state["own"] != self._own:
            self._own.update(state["own"])
            self._begin(self._make(**self._own))
        self._simulator.restore(state["state"])
        self._inputs = {port: values.copy() for port, values in state["inputs"].items()}
        self._offset, self._readings = state["offset"], None

    @staticmethod
    def _fmu_state_to_bytes(state: dict[str, Any]) -> bytes:
        mechanism_state = state["state"]
        values = {name: getattr(mechanism_state, name) for name in ARRAYS}
        values |= {
            "anchors": tuple(vars(mechanism_state.anchors).values()),
            "controllers": dict(mechanism_state.controllers),
        }
        values |= {"bodies": mechanism_state.bodies}
        return to_bytes({**state, "state": values})

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> Any:
        """State from bytes that contain only numbers and texts, as saved states can come from untrusted files."""
        values = from_bytes(state)
        fields = values["state"]
        return {**values, "state": State(**fields | {"anchors": Anchors(*fields["anchors"])})}
