"""Controllers that are called periodically, with outputs held until the next call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..files.trees import deep_copy
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import State
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import read_only
from ..numerics.step_failed import TimedError
from ..sensors.panel import Panel, StepPanel
from ..sensors.quantities import LastStep, Quantity
from .state_feedback import FeedbackLoop, InvalidFeedbackError

FITS = 1e-9
"""Distance of a sample from a time of the run, relative to the period, up to which they coincide."""
GOES_ON = {"memory", "near", "inputs", "since", "period", "calls"}
"""Keys of a controller's restart data."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """Controller that reads its sensors every ``period`` [s] from the run's start and holds its outputs between calls.

    Parameters
    ----------
    function : callable
        ``function(time, sensors)`` receives readings by name and returns inputs by external port: numbers, or arrays of
        the port's size. Free ports of a :class:`Continuous` can be set, too, by the name ``controller: port``. With a
        ``memory`` it is ``function(time, sensors, memory)`` and returns the inputs and the new memory.
    period : float
        Time between two calls [s].
    sensors : dict
        Quantities of :mod:`flexph.sensors` by name.
    memory : optional
        Memory of the controller at the start: numbers, arrays, texts, None, and dicts, lists and tuples of them, the
        types that checkpoints and files support. The function receives a copy, which it may change in place and return;
        read-only arrays are not copied.

    Raises
    ------
    ValueError
        If ``function`` is not callable, the period is not positive, a sensor is no quantity, or the memory has a type
        that cannot be stored.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate, torque
    >>> from flexph.control import Sampled
    >>> from flexph.sensors import joint_angle, joint_rate
    >>> arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND), torque("arm.root", name="motor")])
    >>> start = arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.0)}))
    >>> hold = Sampled(
    ...     function=lambda time, see: {"motor": 40.0 * (0.5 - see["angle"]) - 8.0 * see["rate"]},
    ...     period=1e-3,
    ...     sensors={"angle": joint_angle("arm.root"), "rate": joint_rate("arm.root")},
    ... )
    >>> run = integrate(arm, start, np.linspace(0.0, 3.0, 3001), controllers={"hold": hold})
    >>> round(float(run.measured(joint_angle("arm.root"))[-1]), 3)
    0.5
    """

    function: Callable[..., Any]
    period: float
    sensors: Mapping[str, Quantity]
    memory: Any = field(default=None)

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            raise ValueError(f"function must be a function of (time, sensors), got {check.shown(self.function)}")
        check.positive("period", self.period, "s")
        if not isinstance(self.sensors, Mapping):
            raise ValueError(f"sensors must be a mapping of names to quantities, got {check.shown(self.sensors)}")
        object.__setattr__(self, "sensors", read_only(self.sensors))
        object.__setattr__(self, "memory", _copied_memory("memory", self.memory))


def _copied_memory(name: str, memory: Any) -> Any:
    """Copy of the memory of a controller; raises ValueError if checkpoints and files cannot store it."""
    try:
        return deep_copy(memory)
    except ValueError as error:
        raise TimedError(f"{name} cannot be stored: {error}") from None


class InvalidOutputError(ValueError):
    """Error for an invalid return value of a controller; callers put the controller's name and the time in front."""


def parts_of(answer: Any, *, remembers: bool) -> tuple[Mapping[str, Any], Any]:
    """Inputs by port, and memory, in the return value of a controller function; InvalidOutputError if it is invalid.

    With ``remembers`` the function must return both, else the inputs only.
    """
    memory = None
    if remembers:
        if not (isinstance(answer, tuple) and len(answer) == 2):
            raise InvalidOutputError(f" must return (inputs, memory), since it has a memory, got {check.shown(answer)}")
        answer, memory = answer
    if type(answer) is not dict and not isinstance(answer, Mapping):
        raise InvalidOutputError(f" must return a mapping of ports to inputs, got {check.shown(answer)}")
    return answer, memory


class CalledLoop:
    """Run-time wrapper of a controller that is called between steps: its sensors, calls, memory and outputs.

    ``feedback`` is a feedback that is held between calls and that compiled loops call directly, else None.
    """

    def __init__(self, name: str, controller: Sampled, model: Model, start: State, ports: Mapping[str, slice]) -> None:
        self.name, self.given, self._label = name, controller, f"controller {name!r}"
        try:
            self._sensors = StepPanel(model, controller.sensors, start.anchors)
        except ValueError as error:
            raise ValueError(f"controller {name!r}: {error}") from None
        self.ports, self.start = ports, start.time
        self.calls, self.memory = 0, controller.memory
        self.remembers = controller.memory is not None
        self.near: list[float] | None = None
        self.outputs: tuple[str, ...] = ()
        self.keys: set[str] = set()
        self.last: LastStep | None = None
        self.feedback: FeedbackLoop | None = None
        self._numbers = {port: part.start for port, part in self.ports.items() if part.stop - part.start == 1}
        self._names, self._spans = self.panel.spans()

    @property
    def panel(self) -> Panel:
        """Evaluation of those sensors that read the flat state."""
        return self._sensors.panel

    @property
    def reads_steps(self) -> bool:
        """True if a sensor reads forces or accelerations, which are results of the last step."""
        return bool(self._sensors.of_step)

    @property
    def is_read_compiled(self) -> bool:
        """True if compiled loops can read all sensors of the controller."""
        return not self.reads_steps and self.panel.arrays is not None

    def due(self) -> float:
        """Time of the next call [s]."""
        return self.start + self.calls * self.given.period

    def resume(self, known: Mapping[str, Any], time: float, held: Array) -> None:
        """Continue at a time [s] from the data ``known`` that a controller of this name had at the end of another run.

        The outputs that it held are written into ``held``. Raises ValueError if the data are those of another kind of
        controller.
        """
        if not (isinstance(known, Mapping) and known.keys() >= GOES_ON):
            raise ValueError(f"state of {self._label} must come from a run in which it was called between steps, too")
        period, given_period = float(known["period"]), self.given.period
        due = known["since"] + known["calls"] * period
        if time - FITS * period <= due <= time + (1.0 + FITS) * period:
            same = period == given_period  # exact comparison: continuing a run must give the same bits
            self.start, self.calls = (known["since"], int(known["calls"])) if same else (due, 0)
        self.memory, self.near = known["memory"], known["near"]
        self.remembers |= self.memory is not None
        for port, value in known["inputs"].items():
            self._set_input(held, port, value, time)
        self.outputs, self.keys = tuple(known["inputs"]), set(known["inputs"])
        if known.get("last"):
            self.last = LastStep(*known["last"])

    def left(self, held: Array, last: LastStep) -> dict[str, Any]:
        """Data for :meth:`resume` in a further run, from the held inputs and the result of the last step."""
        calls = {
            "memory": self.memory,
            "inputs": {port: held[self.ports[port]].copy() for port in self.outputs},
            "since": self.start,
            "period": self.given.period,
            "calls": self.calls,
            "near": self.near,
        }
        return {**calls, "last": tuple(last)} if self.reads_steps else calls

    def call(self, time: float, x: Array, last: LastStep, held: Array) -> bool:
        """Read the sensors, call the controller and hold its outputs; True if it sets other ports than before.

        x is the flat state at the time [s], ``last`` the result of the step that ends there; outputs are written into
        ``held``.
        """
        readings, self.near = self._sensors.read(time, x, last, self.near)
        return self._ask(time, readings, held)

    def call_feedback(self, seen: list[float], held: Array) -> bool:
        """Call the controller with readings that compiled loops took; True if it sets other ports than before.

        ``seen`` are the time [s] and all readings; outputs are written into ``held``.
        """
        time, *numbers = seen
        if self._spans is None:
            readings: dict[str, Any] = dict(zip(self._names, numbers, strict=True))
        else:
            parts = zip(self._names, self._spans, strict=True)
            readings = {name: numbers[i] if j is None else np.array(numbers[i:j]) for name, (i, j) in parts}
        return self._ask(time, readings, held)

    def _ask(self, time: float, readings: dict[str, Any], held: Array) -> bool:
        outputs = self._outputs(time, readings)
        for port, value in outputs.items():
            entry = self._numbers.get(port)
            if entry is not None and type(value) is float and value - value == 0.0:
                held[entry] = value
            else:
                self._set_input(held, port, value, time)
        self.calls += 1
        if outputs.keys() == self.keys:
            return False
        self.outputs, self.keys = tuple(outputs), set(outputs)
        return True

    def _outputs(self, time: float, readings: dict[str, Any]) -> Mapping[str, Any]:
        known = (deep_copy(self.memory),) if self.remembers else ()
        try:
            inputs, memory = parts_of(self.given.function(time, readings, *known), remembers=self.remembers)
        except InvalidFeedbackError:
            raise
        except InvalidOutputError as error:
            raise TimedError(f"{self._label} at t = {time:.6g} s{error}") from None
        except Exception as error:
            names = ", ".join(map(repr, readings)) or "none"
            known_names = f"; its readings are {names}" if isinstance(error, KeyError) else ""
            message = f"{self._label} raised {type(error).__name__} at t = {time:.6g} s: {error}{known_names}"
            raise TimedError(message) from error
        if known:
            self.memory = _copied_memory(f"the memory of {self._label} at t = {time:.6g} s", memory)
        return inputs

    def _set_input(self, held: Array, port: str, value: Any, time: float) -> None:
        """Write the input of a port, a number or array, into ``held``; raises TimedError if it does not fit."""
        message = f"{self._label} at t = {time:.6g} s: "
        try:
            part = check.lookup("external port", port, self.ports, "the mechanism")
            message += f"the input of {port!r} "
            given, size = check.numbers("", value), part.stop - part.start
        except ValueError as error:
            raise TimedError(message + str(error).lstrip()) from None
        if given.size != size:
            raise TimedError(f"{message}must have {size} number{'s' * (size > 1)}, got {given.size}")
        held[part] = given.ravel()
