"""Slave of a functional mock-up unit, run by pythonfmu: variables, steps and saved states."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import SubElement

import numpy as np
from pythonfmu import DefaultExperiment, Fmi2Causality, Fmi2Slave, Fmi2Variability, Real

from ..files.trees import from_bytes, to_bytes
from ..mechanisms.model.state import State
from ..mechanisms.model.time_table import Anchors
from .co_simulation import CoSimulation

FILE = "co_simulation.pkl"
"""Resource file with the co-simulation and the function that makes it from its parameters; it contains code."""
ARRAYS = ("time", "x", "multipliers", "memory")
"""Arrays of a saved state."""


class MechanismSlave(Fmi2Slave):
    """FMI 2 slave of a mechanism; the written units derive a class of it and set its name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        with (Path(self.resources) / FILE).open("rb") as file:
            self._make, self._parameters, self._plan = pickle.load(file)
        self._own = dict(self._parameters)
        self._offset = 0.0
        self._begin(self._plan)
        self.default_experiment = DefaultExperiment(
            start_time=self._plan.start.time, stop_time=self._plan.end, step_size=self._plan.step
        )
        self._register()

    def _begin(self, plan: CoSimulation) -> None:
        self._plan, self._simulator = plan, plan.simulator()
        slices = plan.mechanism.network.input_slices
        self._inputs = {port: np.zeros(slices[port].stop - slices[port].start) for port in plan.inputs or ()}
        self._readings: Any = None

    def _register(self) -> None:
        for name in self._parameters:
            self._add(name, "parameter", partial(self._own.get, name), partial(self._own.__setitem__, name))
        for name, entry in self._plan.input_variables.items():
            self._add(name, "input", partial(self._input, entry), partial(self._set_input, entry))
        for name, entry in self._plan.output_variables.items():
            self._add(name, "output", partial(self._output, entry))

    def _add(self, name: str, causality: str, getter: Any, setter: Any = None) -> None:
        variability = Fmi2Variability.fixed if causality == "parameter" else Fmi2Variability.continuous
        kind = Fmi2Causality[causality]
        variable = Real(name, causality=kind, variability=variability, getter=getter, setter=setter)
        self.register_variable(variable, nested=False)

    def _input(self, entry: tuple[str, int]) -> float:
        return float(self._inputs[entry[0]][entry[1]])

    def _set_input(self, entry: tuple[str, int], value: float) -> None:
        self._inputs[entry[0]][entry[1]] = value

    def _output(self, entry: tuple[str, int]) -> float:
        if self._readings is None:
            self._readings = self._simulator.readings
        return float(np.ravel(self._readings[entry[0]])[entry[1]])

    def to_xml(self, *options: Any) -> Any:
        """XML description of the unit, with the outputs among the initial unknowns, as FMI 2 requires."""
        root = super().to_xml(*options)
        outputs = root.find("ModelStructure/Outputs")
        if outputs is not None:
            known = SubElement(root.find("ModelStructure"), "InitialUnknowns")
            for unknown in outputs:
                SubElement(known, "Unknown", attrib=dict(unknown.attrib))
        return root

    def setup_experiment(self, start_time: float, stop_time: float | None, tolerance: float | None) -> None:
        """Store the offset between the start time of the simulator and that of the mechanism."""
        self._offset = self._plan.start.time - start_time

    def exit_initialization_mode(self) -> None:
        """Rebuild the mechanism if parameters have changed."""
        if self._own != self._parameters:
            inputs = self._inputs
            self._begin(self._make(**self._own))
            self._inputs = inputs

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Take one step of the method with the present inputs."""
        self._simulator.advance_to(current_time + step_size + self._offset, self._inputs)
        self._readings = None
        return True

    def _get_fmu_state(self) -> dict[str, Any]:
        _ = self._simulator.readings  # updates the turn counters
        inputs = {port: values.copy() for port, values in self._inputs.items()}
        return {"state": self._simulator.state, "inputs": inputs, "offset": self._offset, "own": dict(self._own)}

    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        if state["own"].keys() != self._own.keys():
            raise ValueError(f"the state of another unit has the parameters {', '.join(state['own']) or 'none'}")
        if state["own"] != self._own:
            self._own.update(state["own"])
            self._begin(self._make(**self._own))
        self._simulator.restore(state["state"])
        self._inputs = {port: values.copy() for port, values in state["inputs"].items()}
        self._offset, self._readings = state["offset"], None

    @staticmethod
    def _fmu_state_to_bytes(state: dict[str, Any]) -> bytes:
        own = state["state"]
        told = {name: getattr(own, name) for name in ARRAYS}
        told |= {"anchors": tuple(vars(own.anchors).values()), "controllers": dict(own.controllers)}
        told |= {"bodies": own.bodies}
        return to_bytes({**state, "state": told})

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> Any:
        """State from bytes of numbers and text only, since saved states may come from untrusted files."""
        told = from_bytes(state)
        own = told["state"]
        return {**told, "state": State(**own | {"anchors": Anchors(*own["anchors"])})}
