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
from ..files.reading import refuse_missing
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
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

    At each call the inputs of the unit are set to the readings of sensors, its outputs become the inputs at the ports
    for one period, and the unit takes a step of this period. A unit is code that runs in this process: use units from
    trusted sources only.

    The memory of a run is the history of inputs, not a state of the unit, so that no bytes of a checkpoint or a saved
    run are passed to the unit. To resume a run, a new instance repeats all steps with the history of inputs, which is
    exact unless the unit depends on a clock or on random numbers.

    Parameters
    ----------
    path : path
        Path of the file, ``NAME.fmu``.
    period : float
        Time between two calls [s], which is the step of the unit.
    sensors : mapping
        Scalar sensors, by the name of an input of the unit.
    ports : mapping
        Outputs of the unit by external port of the mechanism: a name, or a sequence of names with one for each
        component.
    parameters : mapping, optional
        Values of parameters, or of other variables with a start value, by name.

    Returns
    -------
    Sampled
        Sampled controller; each run starts a new instance of the unit.

    Raises
    ------
    ValueError
        For a file that is not such a unit, and for variables that it does not have.
    OSError
        For a file that is missing.
    ImportError
        If FMPy (extra ``fmi``) is missing.
    """
    unit = _Unit.read(Path(path))
    outputs = {port: (names,) if isinstance(names, str) else tuple(names) for port, names in ports.items()}
    values = dict(parameters or {})
    for name in [*sensors, *values, *(name for names in outputs.values() for name in names)]:
        check.lookup("variable", name, unit.references, f"the unit {str(path)!r}")
    vector = [name for name, quantity in sensors.items() if not quantity.scalar]
    if vector:
        raise ValueError(f"sensors of a unit must be scalars, got {vector}")
    law = _Law(unit, period, tuple(sensors), outputs, values)
    return Sampled(function=law, period=period, sensors=sensors, memory={"history": ()})


class _Unit(NamedTuple):
    """Functional mock-up unit: its file, and the value references of its variables by name."""

    path: Path
    references: dict[str, int]

    @classmethod
    def read(cls, path: Path) -> _Unit:
        """Read a unit; raises ValueError unless it is a unit of FMI 2 for co-simulation."""
        fmpy = _fmpy()
        refuse_missing("functional mock-up unit", path)
        try:
            description = fmpy.read_model_description(str(path))
        except Exception as error:
            raise ValueError(f"{str(path)!r} is not a functional mock-up unit: {error}") from error
        if not description.fmiVersion.startswith("2") or description.coSimulation is None:
            raise ValueError(
                f"{str(path)!r} must be a unit of FMI 2 for co-simulation, got FMI {description.fmiVersion}"
            )
        references = {v.name: v.valueReference for v in description.modelVariables if v.type == "Real"}
        return cls(path, references)


History = tuple[Array, ...]
"""Times and inputs of all calls in read-only blocks (k, 1 + inputs), each longer than the next."""


@dataclass(eq=False)
class _Law:
    """Control law that takes a step of a functional mock-up unit at each call.

    The running instance of the unit is kept between calls, as long as the history of inputs is that of this instance.
    """

    unit: _Unit
    period: float
    sensors: tuple[str, ...]
    ports: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, float]
    _running: tuple[History, Any] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_running": None}

    def __call__(self, time: float, see: Mapping[str, Any], memory: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        row, history = np.array([time, *(float(see[name]) for name in self.sensors)]), memory["history"]
        slave = self._slave(history, time)
        self._running = None  # if the step fails, the state of the instance is unknown
        answer = self._step(slave, row)
        history = _with_row(history, row)
        self._running = history, slave
        return answer, {"history": history}

    def _step(self, slave: Any, row: Array) -> dict[str, Any]:
        """Set the inputs of an instance, read its outputs, and take a step; return the outputs by port.

        ``row`` has the time and the inputs.
        """
        time, *inputs = row.tolist()
        references = self.unit.references
        slave.setReal([references[name] for name in self.sensors], inputs)
        answer = {port: slave.getReal([references[name] for name in names]) for port, names in self.ports.items()}
        slave.doStep(currentCommunicationPoint=time, communicationStepSize=self.period)
        return answer

    def _slave(self, history: History, time: float) -> Any:
        """Instance of the unit in the state after the inputs of a history, at the given time.

        It is the running instance if its history is the same, otherwise a new one that repeats the steps.
        """
        if self._running is not None and history and _same(self._running[0], history):
            return self._running[1]
        rows = self._rows(history)
        slave = self._started(rows[0, 0] if len(rows) else time)
        for row in rows:
            self._step(slave, row)
        return slave

    def _rows(self, history: Any) -> Array:
        """Time and inputs of each call in a history, (k, 1 + inputs); raises ValueError if the history is invalid."""
        width = 1 + len(self.sensors)
        blocks = [block for block in history if isinstance(block, np.ndarray)] if isinstance(history, tuple) else []
        if not isinstance(history, tuple) or len(blocks) < len(history) or any(b.shape[1:] != (width,) for b in blocks):
            raise ValueError(f"the input history of the unit {self.unit.path.name!r} must be rows of {width} numbers")
        rows = np.concatenate([np.zeros((0, width)), *blocks])
        if not (np.isfinite(rows).all() and np.all(np.diff(rows[:, 0]) > 0.0)):
            raise ValueError(
                f"the input history of the unit {self.unit.path.name!r} must be finite, with ascending times"
            )
        return rows

    def _started(self, time: float) -> Any:
        fmpy = _fmpy()
        if self._running is not None:
            self._running[1].freeInstance()
            self._running = None
        path = str(self.unit.path)
        folder = fmpy.extract(path, tempfile.mkdtemp(prefix="flexph-fmu-"))
        slave = fmpy.instantiate_fmu(folder, fmpy.read_model_description(path), "CoSimulation")
        weakref.finalize(slave, shutil.rmtree, folder, ignore_errors=True)
        slave.setupExperiment(startTime=float(time))
        slave.enterInitializationMode()
        if self.parameters:
            slave.setReal([self.unit.references[name] for name in self.parameters], list(self.parameters.values()))
        slave.exitInitializationMode()
        return slave


def _with_row(history: History, row: Array) -> History:
    """History with the time and inputs of one more call, ``row``.

    A history is a sequence of blocks of rows. Blocks are merged if the later one is not shorter, so that their number
    remains small.
    """
    blocks = [*history, row[None].copy()]
    while len(blocks) > 1 and len(blocks[-2]) <= len(blocks[-1]):
        blocks[-2:] = [np.concatenate(blocks[-2:])]
    for block in blocks:
        block.setflags(write=False)
    return tuple(blocks)


def _same(a: History, b: History) -> bool:
    return len(a) == len(b) and all(one is other or np.array_equal(one, other) for one, other in zip(a, b, strict=True))


def _fmpy() -> Any:
    try:
        import fmpy
    except ImportError as error:
        raise ImportError("units as controllers need FMPy: pip install 'flexph[fmi]'") from error
    return fmpy
