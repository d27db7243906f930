"""Functional mock-up units as sampled controllers of a mechanism, stepped by FMPy."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..control.sampled import Sampled
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..sensors.quantities import Quantity


@checked
def fmu_controller(
    path: str | Path,
    *,
    period: float,
    sensors: Mapping[str, Quantity],
    ports: Mapping[str, str | Sequence[str]],
    parameters: Mapping[str, float] | None = None,
) -> Sampled:
    """A functional mock-up unit (FMI 2, co-simulation) as a controller, for ``integrate(controllers={…})``.

    At each call its inputs are what sensors read, its outputs what ports hold; then it takes a step of the period. The
    states of units that can serialise them are in checkpoints.

    Parameters
    ----------
    path : path
        The file, ``NAME.fmu``.
    period : float
        Time between two calls [s], a step of the unit.
    sensors : mapping
        Scalars by name of an input of the unit.
    ports : mapping
        By external port of the mechanism, the name of an output of the unit, or as many as it has components.
    parameters : mapping, optional
        Values by name of a parameter, or of another variable with a start.

    Returns
    -------
    Sampled
        Each run starts the unit anew.

    Raises
    ------
    ValueError
        For a file that is no such unit, and variables that it does not have.
    ImportError
        Without FMPy (extra ``fmi``).
    """
    unit = _Unit.read(Path(path))
    outputs = {port: (names,) if isinstance(names, str) else tuple(names) for port, names in ports.items()}
    own = dict(parameters or {})
    for name in [*sensors, *own, *(name for names in outputs.values() for name in names)]:
        check.lookup("variable", name, unit.references, f"the unit {str(path)!r}")
    vector = [name for name, quantity in sensors.items() if not quantity.scalar]
    if vector:
        raise ValueError(f"sensors of a unit must be scalars, got {vector}")
    law = _Law(unit, period, tuple(sensors), outputs, own)
    return Sampled(function=law, period=period, sensors=sensors, memory={"calls": 0, "state": np.zeros(0, np.uint8)})


class _Unit(NamedTuple):
    """A unit in its file: variables by name, and whether its states can be kept."""

    path: Path
    references: dict[str, int]
    keeps: bool

    @classmethod
    def read(cls, path: Path) -> _Unit:
        """The unit of a file; raises ValueError."""
        fmpy = _fmpy()
        try:
            told = fmpy.read_model_description(str(path))
        except Exception as error:
            raise ValueError(f"{str(path)!r} is no functional mock-up unit: {error}") from error
        if not told.fmiVersion.startswith("2") or told.coSimulation is None:
            raise ValueError(f"{str(path)!r} must be a unit of FMI 2 for co-simulation, got FMI {told.fmiVersion}")
        references = {v.name: v.valueReference for v in told.modelVariables if v.type == "Real"}
        return cls(path, references, bool(told.coSimulation.canSerializeFMUstate))


@dataclass(eq=False)
class _Law:
    """What a unit answers; one instance of it is kept between calls."""

    unit: _Unit
    period: float
    sensors: tuple[str, ...]
    ports: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, float]
    _running: Any = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_running": None}

    def __call__(self, time: float, see: Mapping[str, Any], memory: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        slave, references = self._slave(time, memory), self.unit.references
        slave.setReal([references[name] for name in self.sensors], [float(see[name]) for name in self.sensors])
        answer = {port: slave.getReal([references[name] for name in names]) for port, names in self.ports.items()}
        slave.doStep(currentCommunicationPoint=time, communicationStepSize=self.period)
        calls = memory["calls"] + 1
        self._running = calls, slave
        return answer, {"calls": calls, "state": self._kept(slave)}

    def _slave(self, time: float, memory: Mapping[str, Any]) -> Any:
        """The instance where the memory says it stands: that of the last call, a new one, or one that is restored."""
        calls, slave = self._running or (-1, None)
        if calls == memory["calls"] > 0:
            return slave
        if memory["calls"] and not self.unit.keeps:
            raise ValueError(f"the unit {self.unit.path.name!r} cannot serialise its states: its run cannot go on")
        slave = self._started(time)
        if memory["calls"]:
            slave.setFMUstate(slave.deSerializeFMUstate(np.asarray(memory["state"], np.uint8).tobytes()))
        return slave

    def _started(self, time: float) -> Any:
        fmpy = _fmpy()
        if self._running is not None:
            self._running[1].freeInstance()
            self._running = None
        path = str(self.unit.path)
        folder = fmpy.extract(path, tempfile.mkdtemp(prefix="flexph-fmu-"))
        slave = fmpy.instantiate_fmu(folder, fmpy.read_model_description(path), "CoSimulation")
        weakref.finalize(slave, shutil.rmtree, folder, ignore_errors=True)
        slave.setupExperiment(startTime=time)
        slave.enterInitializationMode()
        if self.parameters:
            slave.setReal([self.unit.references[name] for name in self.parameters], list(self.parameters.values()))
        slave.exitInitializationMode()
        return slave

    def _kept(self, slave: Any) -> Any:
        if not self.unit.keeps:
            return np.zeros(0, np.uint8)
        state = slave.getFMUstate()
        kept = np.frombuffer(slave.serializeFMUstate(state), np.uint8)
        slave.freeFMUstate(state)
        return kept


def _fmpy() -> Any:
    try:
        import fmpy
    except ImportError as error:
        raise ImportError("units as controllers need FMPy: pip install 'flexph[fmi]'") from error
    return fmpy
