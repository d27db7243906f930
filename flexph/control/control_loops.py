"""Controllers of a run: their held inputs, call times and restart data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..mechanisms.model.model import Model
from ..mechanisms.model.state import State
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.factors.memory_cost import available_memory
from ..numerics.step_failed import TimedError
from ..sensors.quantities import LastStep
from .continuous import Continuous
from .coupled_controllers import CoupledControllers
from .sampled import FITS, CalledLoop, Sampled
from .state_feedback import FeedbackLoop, StateFeedback

MANY = 1e6
"""Number of calls in a run above which the available memory is checked."""
ROOM = 10
"""Least number of values stored for each call: times of calls and steps, and their rows."""


def _is_called(controller: Any) -> bool:
    """True if a controller is called between steps, False if it acts within them."""
    return isinstance(controller, Sampled) or (isinstance(controller, StateFeedback) and controller.period is not None)


def _as_sampled(c: FeedbackLoop) -> Sampled:
    """Sampled controller that is equivalent to a feedback with a period."""
    assert c.given.period is not None
    return Sampled(function=c.by_port, period=c.given.period, sensors=c.given.sensors)


Controller = Sampled | Continuous | StateFeedback


def check_known(start: State, controllers: Mapping[str, Controller]) -> None:
    """Raise ValueError if the start carries the memory of a controller that this run does not have."""
    for name in start.controllers:
        if name not in controllers:
            names = ", ".join(map(repr, controllers)) or "none"
            raise ValueError(
                f"the start carries the memory of controller {name!r}, which no controller of this run has: there are "
                f"{names}; to start without it use dataclasses.replace(start, controllers={{}})"
            )


class ControlLoops:
    """All controllers of a run: the inputs that they hold at ports of the mechanism, and the times of their calls.

    ``coupled`` are the controllers that act within steps, or None. If ``read_steps`` is True, sensors of controllers
    read the result of the last step, which is stored as ``last``. Raises ValueError if two controllers set the same
    port.
    """

    def __init__(self, model: Model, controllers: Mapping[str, Controller], start: State) -> None:
        for name, controller in controllers.items():
            check.name("a controller", name)
            if not isinstance(controller, Controller):
                kinds = "a Sampled, Continuous or StateFeedback"
                raise ValueError(f"controller {name!r} must be {kinds}, got {check.shown(controller)}")
        within: dict[str, Any] = {name: c for name, c in controllers.items() if not _is_called(c)}
        self.coupled = CoupledControllers(model, within, start.controllers) if within else None
        self.last = LastStep.none(start.multipliers, start.x)
        called: dict[str, Any] = {name: c for name, c in controllers.items() if _is_called(c)}
        feedback = {n: FeedbackLoop(n, c, model) for n, c in called.items() if isinstance(c, StateFeedback)}
        held, ports = {name: _as_sampled(c) for name, c in feedback.items()}, self._ports(model, called)
        self.called = [CalledLoop(name, held.get(name, c), model, start, ports) for name, c in called.items()]
        self._feedback = [feedback.get(name) for name in called]
        self.read_steps = any(loop.reads_steps for loop in self.called)
        for loop in self.called:
            if loop.name in start.controllers:
                loop.resume(start.controllers[loop.name], start.time, self._held)
                self.last = loop.last or self.last
        self._check()

    def _ports(self, model: Model, called: Mapping[str, Any]) -> dict[str, slice]:
        """Slices, by name, of the ports that called controllers may set, in the vector of held inputs.

        They are the ports of the mechanism and the free ports of continuous controllers. The vector is created, too.
        """
        ports = dict(model.network.input_slices)
        end = count = sum(part.stop - part.start for part in ports.values())
        within = [] if self.coupled is None or not called else self.coupled.controllers
        self._held = np.zeros(count + sum(c.size for c in within))
        for c in within:
            c.hold(self._held[end : end + c.size])
            for port in c.free:
                part = c.given.system.ports[port]
                ports[f"{c.name}: {port}"] = slice(end + part.start, end + part.stop)
            end += c.size
        self.held = self._held[:count]
        self._before = -np.inf, self.held.copy()  # time of the last call, and the inputs held before it
        return ports

    def memories(self) -> dict[str, Any]:
        """Restart data, by name, of all controllers except continuous ones."""
        within = {} if self.coupled is None else {c.name: {"near": c.near} for c in self.coupled.feedback}
        return {loop.name: loop.left(self._held, self.last) for loop in self.called} | within

    @cached_property
    def are_read_compiled(self) -> bool:
        """True if compiled loops can read the sensors of all called controllers; the loops then also call feedback.

        As a side effect, feedback is prepared for such calls.
        """
        if not (self.called and all(loop.is_read_compiled for loop in self.called)):
            return False
        for loop, feedback_loop in zip(self.called, self._feedback, strict=True):
            if feedback_loop is not None:
                loop.feedback, loop.outputs, loop.keys = (
                    feedback_loop,
                    tuple(feedback_loop.given.ports),
                    set(feedback_loop.given.ports),
                )
        self._check()
        return True

    def answer(self, k: int, seen: list[float]) -> None:
        """Call the controller with the index ``k``; ``seen`` are the time [s] and the readings of its sensors."""
        if self.called[k].call_feedback(seen, self._held):
            self._check(f" at t = {seen[0]:.6g} s")

    def end_calls(self, calls: list[tuple[int, list[float]]]) -> None:
        """Register the calls of controllers that compiled loops made.

        ``calls`` has for each called controller the number of calls, and the last sensor values, from which angle
        unwrapping continues.
        """
        for loop, (count, near) in zip(self.called, calls, strict=False):  # empty where Python reads the sensors
            loop.calls += 0 if loop.feedback is None else count
            loop.near = near if count else loop.near

    @cached_property
    def is_compiled(self) -> bool:
        """True if compiled loops can evaluate all controllers that act within the steps."""
        from .coupling import is_compiled

        return self.coupled is not None and is_compiled(self.coupled)

    @property
    def is_driven(self) -> bool:
        """True if a continuous controller has external inputs."""
        return self.coupled is not None and any(c.outside for c in self.coupled.controllers)

    @property
    def ports(self) -> dict[str, tuple[str, ...]]:
        """Ports set by each controller except continuous ones; for a sampled one, the ports of its calls so far."""
        within = () if self.coupled is None else self.coupled.feedback
        return {loop.name: loop.outputs for loop in self.called} | {c.name: tuple(c.given.ports) for c in within}

    def due(self, times: Array) -> np.ndarray:
        """Mask (times, controllers) with 1 where a called controller is due at a step time [s], else 0."""
        due = np.zeros((times.size, len(self.called)), dtype=np.int64)
        for k, loop in enumerate(self.called):
            period = loop.given.period
            calls = np.arange(loop.calls, int((times[-1] - loop.start) / period + FITS) + 1)
            due[np.searchsorted(times, loop.start + period * (calls - FITS)).clip(max=times.size - 1), k] = 1
        return due

    def call(self, time: float, x: Array, last: LastStep) -> None:
        """Call the controllers that are due at a time [s].

        x is the flat state at this time, ``last`` the result of the step that ends at this time.
        """
        self._before = time, self.held.copy()
        others = False
        for loop in self.called:
            if loop.due() <= time + FITS * loop.given.period:
                others |= loop.call(time, x, last, self._held)
        if others:
            self._check(f" at t = {time:.6g} s")

    def held_before(self, time: float) -> Array:
        """Inputs (i,) in the step that ends at a time [s], without the changes by controllers called at this time."""
        return self._before[1] if self._before[0] == time else self.held

    def follow(self, step: Any, time: float, start: Any) -> None:
        """Keep the multipliers and flows of a step that ends at ``time`` [s], if sensors of controllers read them.

        ``start`` is the state at the start of the step.
        """
        if self.read_steps:
            row = step.row()
            self.last = LastStep(row["multipliers"], row["flows"], time - start.time, start.x)

    def _check(self, when: str = "") -> None:
        """Raise ValueError if two controllers set the same port."""
        setting = [(port, name) for name, ports in self.ports.items() for port in ports]
        if len(setting) > len({port for port, _ in setting}):
            port = next(port for port, _ in setting if sum(port == p for p, _ in setting) > 1)
            names = ", ".join(repr(name) for p, name in setting if p == port)
            raise TimedError(f"the input of {port!r} is set by more than one controller{when}: {names}")

    def grid(self, times: Array) -> tuple[Array, Array]:
        """Times of the run together with all times of calls, and a mask of those that are times of the run."""
        calls = []
        for loop in self.called:
            period = loop.given.period
            count = (float(times[-1]) - loop.start) / period + FITS
            if not (count < MANY or 8.0 * ROOM * count < available_memory()):
                many = f"a period of {period:g} s is {count:.1e} calls in the run, more than memory holds"
                raise TimedError(f"controller {loop.name!r}: {many}")
            calls_of_loop = loop.start + period * np.arange(int(count) + 1)
            calls_of_loop = calls_of_loop[calls_of_loop >= times[0]]
            after = np.searchsorted(times, calls_of_loop).clip(1, times.size - 1)
            near = np.minimum(abs(calls_of_loop - times[after - 1]), abs(times[after] - calls_of_loop)) <= FITS * period
            calls.append(calls_of_loop[~near])
        union = np.unique(np.concatenate([times, *calls]))
        return union, np.isin(union, times)

    def snapshot(self) -> Any:
        """Checkpoint of the controllers: inputs, call counts, memories and unwrapped angles."""
        loops = {
            loop.name: {"calls": loop.calls, "memory": loop.memory, "near": loop.near, "outputs": list(loop.outputs)}
            for loop in self.called
        }
        coupled = {} if self.coupled is None else {"coupled": self.coupled.snapshot()}
        return {"held": self._held.copy(), "last": self.last._asdict(), "loops": loops, **coupled}

    def restore(self, saved: Any) -> None:
        """Restore the controllers from a checkpoint."""
        self._held[:] = saved["held"]
        last = saved["last"]
        multipliers, flows, before = (np.asarray(last[name]) for name in ("multipliers", "flows", "before"))
        self.last = LastStep(multipliers, flows, float(last["length"]), before)
        if self.coupled is not None:
            self.coupled.restore(saved["coupled"])
        for loop in self.called:
            state = saved["loops"][loop.name]
            loop.calls, loop.memory, loop.near = int(state["calls"]), state["memory"], state["near"]
            loop.outputs = tuple(state["outputs"])
            loop.keys = set(loop.outputs)
