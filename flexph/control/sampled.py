"""Controllers that are called at times a period apart, and whose outputs are held until the next call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..mechanisms.model.model import Model
from ..mechanisms.model.state import State
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import read_only
from ..sensors.panel import Panel
from ..sensors.quantities import LastStep, Quantity
from .continuous import Continuous
from .joined import Joined
from .state_feedback import FeedbackLoop, StateFeedback, Unusable

FITS = 1e-9
"""Distance of a sample and a time of the run, over the period, up to which they are one."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """A controller that reads sensors every ``period`` [s], from the start of the run on, and holds what it answers.

    Parameters
    ----------
    function : callable
        ``function(time, sensors)`` with readings by name returns inputs by external port: numbers, or arrays of their
        size. With a ``memory`` it is ``function(time, sensors, memory)`` and returns the inputs and its new memory.
    period : float
        Time between two calls [s].
    sensors : dict
        Quantities of :mod:`flexph.sensors` by name.
    memory : optional
        What the controller remembers at the start: numbers, arrays, texts, dicts and lists of them. It is kept in
        checkpoints; the function must not change it, but return another one.

    Raises
    ------
    ValueError
        For a function that is none, a period that is not positive, or sensors that are no quantities.

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


class _Loop:
    """A controller in a run: its sensors, when it is called next, what it remembers and what it holds."""

    def __init__(self, name: str, controller: Sampled, model: Model, start: State) -> None:
        self.name, self.given, self._told = name, controller, f"controller {name!r}"
        of_step = {sensor: getattr(own, "of_step", None) for sensor, own in controller.sensors.items()}
        try:
            self.panel = Panel(model, {k: own for k, own in controller.sensors.items() if of_step[k] is None})
            self.of_step = {sensor: own(model, start.anchors) for sensor, own in of_step.items() if own is not None}
        except ValueError as error:
            raise ValueError(f"controller {name!r}: {error}") from None
        self.ports, self.start = model.network.input_slices, start.time
        self.calls, self.memory = 0, controller.memory
        self.near: list[float] | None = None
        self.outputs: tuple[str, ...] = ()
        self.keys: set[str] = set()
        self._numbers = {port: part.start for port, part in self.ports.items() if part.stop - part.start == 1}

    def due(self) -> float:
        """The time of the next call [s]."""
        return self.start + self.calls * self.given.period

    def call(self, time: float, x: Array, last: LastStep, held: Array) -> bool:
        """Read the sensors, ask the function, set the inputs that it answers in ``held``; whether they are others."""
        readings, self.near = self.panel.read(x, self.near)
        for sensor, read in self.of_step.items():
            readings[sensor] = read(time, x, last)
        answer = self._answer(time, readings)
        for port, value in answer.items():
            entry = self._numbers.get(port)
            if entry is not None and type(value) is float and value - value == 0.0:
                held[entry] = value
            else:
                self._set(held, port, value, time)
        self.calls += 1
        if answer.keys() == self.keys:
            return False
        self.outputs, self.keys = tuple(answer), set(answer)
        return True

    def _answer(self, time: float, readings: dict[str, Any]) -> Mapping[str, Any]:
        told, known = self._told, () if self.memory is None else (self.memory,)
        try:
            answer = self.given.function(time, readings, *known)
        except Unusable:
            raise
        except Exception as error:
            raise ValueError(f"{told} raised {type(error).__name__} at t = {time:.6g} s: {error}") from error
        if known:
            if not (isinstance(answer, tuple) and len(answer) == 2):
                raise ValueError(f"{told} has a memory: it must return (inputs, memory), got {check.shown(answer)}")
            answer, self.memory = answer
        if type(answer) is not dict and not isinstance(answer, Mapping):
            raise ValueError(f"{told} must return a mapping of ports to inputs, got {check.shown(answer)}")
        return answer

    def _set(self, held: Array, port: str, value: Any, time: float) -> None:
        """An input that is no finite float of a port of one number."""
        if port not in self.ports:
            check.lookup("external port", port, self.ports, f"controller {self.name!r} sets it; the mechanism")
        part, name = self.ports[port], f"controller {self.name!r} at t = {time:.6g} s: the input of {port!r}"
        given, size = check.numbers(name, value), part.stop - part.start
        if given.size != size:
            raise ValueError(f"{name} must have {size} numbers, got {given.size}")
        held[part] = given.ravel()


def _is_called(controller: Any) -> bool:
    """Whether a controller is called between steps."""
    return isinstance(controller, Sampled) or (isinstance(controller, StateFeedback) and controller.period is not None)


def _held(c: FeedbackLoop) -> Sampled:
    """A feedback that is called and held, as functions of Python are."""
    assert c.given.period is not None
    return Sampled(function=c.by_port, period=c.given.period, sensors=c.given.sensors)


Controller = Sampled | Continuous | StateFeedback


class ControlLoops:
    """The controllers of a run: the inputs that they hold, and the times at which they are called.

    Two that set the same port are refused. ``joined`` are those within the step, None where there are none, and
    ``last`` is what the last step left: before the first one the multipliers of the start, and no length.
    """

    def __init__(self, model: Model, controllers: Mapping[str, Controller], start: State) -> None:
        for name, controller in controllers.items():
            check.name("a controller", name)
            if not isinstance(controller, Controller):
                kinds = "a Sampled, Continuous or StateFeedback"
                raise ValueError(f"controller {name!r} must be {kinds}, got {check.shown(controller)}")
        within: dict[str, Any] = {name: c for name, c in controllers.items() if not _is_called(c)}
        self.joined = Joined(model, within, start.controllers) if within else None
        self.last = LastStep(start.multipliers, np.zeros(0), 0.0)
        called: dict[str, Any] = {name: c for name, c in controllers.items() if _is_called(c)}
        self.feedback = [FeedbackLoop(n, c, model) for n, c in called.items() if isinstance(c, StateFeedback)]
        held = {c.name: _held(c) for c in self.feedback}
        self._loops = [_Loop(name, held.get(name, c), model, start) for name, c in called.items()]
        self.held = np.zeros(sum(part.stop - part.start for part in model.network.input_slices.values()))
        self._check()

    @cached_property
    def are_called_compiled(self) -> bool:
        """Whether compiled loops have all that are called between steps; needs numba."""
        from .agreement import are_compiled

        return len(self.feedback) == len(self._loops) > 0 and are_compiled(self.feedback)

    def begin_calls(self) -> None:
        """Let feedback in compiled loops go on from where the last calls were."""
        for c, loop in zip(self.feedback, self._loops, strict=True):
            c.near, loop.outputs, loop.keys = loop.near, tuple(c.given.ports), set(c.given.ports)

    def end_calls(self, calls: list[tuple[int, list[float]]]) -> None:
        """Book how often compiled loops have called feedback, and what its angles are next to."""
        for loop, (count, near) in zip(self._loops, calls, strict=True):
            loop.calls, loop.near = loop.calls + count, near if count else loop.near

    @cached_property
    def is_compiled(self) -> bool:
        """Whether compiled loops have what acts within the steps; needs numba."""
        from .agreement import is_compiled

        return self.joined is not None and is_compiled(self.joined)

    @property
    def ports(self) -> dict[str, tuple[str, ...]]:
        """Ports that each controller but the continuous ones sets, the sampled ones as far as they have been called."""
        within = () if self.joined is None else self.joined.feedback
        return {loop.name: loop.outputs for loop in self._loops} | {c.name: tuple(c.given.ports) for c in within}

    def due(self, times: Array) -> np.ndarray:
        """Which of the next times [s] of steps are those of calls, 1 or 0, of each that is called."""
        due = np.zeros((times.size, len(self._loops)), dtype=np.int64)
        for k, loop in enumerate(self._loops):
            period = loop.given.period
            calls = np.arange(loop.calls, int((times[-1] - loop.start) / period + FITS) + 1)
            due[np.searchsorted(times, loop.start + period * (calls - FITS)).clip(max=times.size - 1), k] = 1
        return due

    def call(self, time: float, x: Array, last: LastStep) -> None:
        """Call those whose time has come, at a state to which a step has led."""
        others = False
        for loop in self._loops:
            if loop.due() <= time + FITS * loop.given.period:
                others |= loop.call(time, x, last, self.held)
        if others:
            self._check()

    def follow(self, step: Any, length: float) -> None:
        """Know what a step of a length [s] leaves, where controllers read forces of steps."""
        if any(loop.of_step for loop in self._loops):
            row = step.row()
            self.last = LastStep(row["multipliers"], row["flows"], length)

    def _check(self) -> None:
        """Raise ValueError where two set the same port."""
        setting = [(port, name) for name, ports in self.ports.items() for port in ports]
        if len(setting) > len({port for port, _ in setting}):
            port = next(port for port, _ in setting if sum(port == p for p, _ in setting) > 1)
            names = ", ".join(repr(name) for p, name in setting if p == port)
            raise ValueError(f"the input of {port!r} is set by more than one controller: {names}")

    def grid(self, times: Array) -> tuple[Array, Array]:
        """The times and the calls between them, and which of all are times of the run."""
        calls = []
        for loop in self._loops:
            period = loop.given.period
            count = (times[-1] - loop.start) / period + FITS
            try:
                own = loop.start + period * np.arange(int(count) + 1)
            except (MemoryError, OverflowError, ValueError):
                many = f"a period of {period:g} s is {count:.1e} calls in the run, more than memory holds"
                raise ValueError(f"controller {loop.name!r}: {many}") from None
            after = np.searchsorted(times, own).clip(1, times.size - 1)
            near = np.minimum(abs(own - times[after - 1]), abs(times[after] - own)) <= FITS * period
            calls.append(own[~near])
        union = np.unique(np.concatenate([times, *calls]))
        return union, np.isin(union, times)

    def kept(self) -> Any:
        """What goes on after a checkpoint: inputs, calls, memories and angles."""
        loops = {
            loop.name: {"calls": loop.calls, "memory": loop.memory, "near": loop.near, "outputs": list(loop.outputs)}
            for loop in self._loops
        }
        joined = {} if self.joined is None else {"joined": self.joined.kept()}
        return {"held": self.held.copy(), "last": self.last._asdict(), "loops": loops, **joined}

    def restore(self, kept: Any) -> None:
        """Set what was kept."""
        self.held[:] = kept["held"]
        last = kept["last"]
        self.last = LastStep(np.asarray(last["multipliers"]), np.asarray(last["flows"]), float(last["length"]))
        if self.joined is not None:
            self.joined.restore(kept["joined"])
        for loop in self._loops:
            own = kept["loops"][loop.name]
            loop.calls, loop.memory, loop.near = int(own["calls"]), own["memory"], own["near"]
            loop.outputs = tuple(own["outputs"])
