"""What acts within the steps of a run: what controllers and mechanism answer each other, and what is booked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from .compiled.tolerances import CLOSED, MOST, SHIFT, SINGULAR, STAGNATED
from .continuous import Continuous, ControllerStep
from .continuous_loop import ContinuousLoop
from .controller_start import check_start
from .port_outputs import PortOutputs
from .state_feedback import FeedbackLoop, StateFeedback

Take = Callable[[Array], tuple[Any, Array]]
"""The step of the mechanism under inputs (i,): its result, and the state at its end."""


class JoinedStep(NamedTuple):
    """A step of all controllers: states and energies at its end, what they answered, what is booked.

    ``inputs`` are those of their ports, ``held`` (i,) those of all ports of the mechanism. ``booked`` are by controller
    what it dissipates and by its ports the work of what is outside, ``given`` the work that it does on the mechanism by
    port; ``error`` is what they add to the balance of the mechanism [J]. Angles of feedback are next to ``near``.
    """

    states: list[Array]
    energy: Array
    inputs: Array
    held: Array
    booked: Array
    given: Array
    error: float
    near: list[list[float]]

    def row(self) -> dict[str, Array]:
        """What is recorded of the step."""
        energy = {"controller_energy": self.energy, "controller_state": _joint(self.states)}
        return {**energy, "controller_flows": self.booked, "controller_work": self.given}


class Joined:
    """What acts within the steps of a run: states of controllers, and inputs on which all and the mechanism agree.

    The inputs u of a step are those that controllers answer to the outputs of the mechanism under them: solved by
    Broyden's method, whose matrix goes on from step to step. A try is a step of the mechanism under inputs that are
    held, so that its balance is closed whatever is left of u.
    """

    def __init__(
        self, mechanism: Model, given: Mapping[str, Continuous | StateFeedback], states: Mapping[str, Array]
    ) -> None:
        controllers = {name: c for name, c in given.items() if isinstance(c, Continuous)}
        for name, own in controllers.items():
            for port in own.ports.values():
                known = mechanism.network.input_slices
                check.lookup("external port", port, known, f"controller {name!r} is joined to it; the mechanism")
        joined = {port for c in controllers.values() for port in c.ports.values()}
        self.outputs = PortOutputs(mechanism, joined) if joined else None
        slices = self.outputs.slices if self.outputs else {}
        self.controllers = [ContinuousLoop(name, c, mechanism, slices) for name, c in controllers.items()]
        feedback = {name: c for name, c in given.items() if isinstance(c, StateFeedback)}
        self.feedback = [FeedbackLoop(name, c, mechanism) for name, c in feedback.items()]
        self._inputs = sum(part.stop - part.start for part in mechanism.network.input_slices.values())
        entries = [np.arange(into.start, into.stop) for c in self.controllers for _, _, into, _ in c.joined]
        self.entries = np.concatenate([*entries, *(c.entries for c in self.feedback)])
        self.states = [c.start_from(states.get(c.name)) for c in self.controllers]
        self._past, self._scale = np.zeros((0, self.entries.size)), 0.0
        self._slope, self._h = np.eye(self.entries.size), 0.0

    def check_starts(self, x: Array, time: float, fastest: float) -> None:
        """Raise ValueError for controllers that do not start as their ports move; see :func:`check_start`."""
        output = self.seen(x, x, 0.0)
        for c, state in zip(self.controllers, self.states, strict=True):
            if not c.given.references:  # whose rates at the start are not known
                u = c.whole_input(c.acting((time, time)), output)
                check_start(c.name, c.given.system, state, u, fastest=fastest)

    def seen(self, x0: Array, x1: Array, h: float) -> Array:
        """Mean outputs of the ports that controllers are joined to over a step, or of none."""
        return np.zeros(0) if self.outputs is None else self.outputs.over(x0, x1, h)

    @property
    def energy(self) -> Array:
        """Energies of the controllers where the next step starts [J]."""
        return self._energies(self.states)

    def _energies(self, states: list[Array]) -> Array:
        return np.array([c.steps.energy(x) for c, x in zip(self.controllers, states, strict=True)])

    @property
    def outside(self) -> list[tuple[str, str]]:
        """Controllers and ports at which something acts from outside."""
        return [(c.name, port) for c in self.controllers for port in c.outside]

    @property
    def widths(self) -> tuple[int, int, int]:
        """Numbers of energies, of what is booked, and of works given."""
        each = self.controllers
        return len(each), sum(1 + len(c.outside) for c in each), sum(len(c.joined) for c in each)

    def step(self, x: Array, span: tuple[float, float], take: Take, *, states: Any = None) -> tuple[Any, JoinedStep]:
        """The step from a state, of controllers from ``states``, and what all agree on; raises StepFailed."""
        h, inputs = span[1] - span[0], self.guess()
        acting = [c.acting(span) for c in self.controllers]
        read = [c.read(x, c.near) for c in self.feedback]
        tries = _Tries(self, x, span, acting, take, self.states if states is None else states, read)
        if abs(h - self._h) > SHIFT * h:
            self._slope, self._h = tries.slope(inputs), h
        before, size = None, np.inf
        for count in range(1, MOST + 1):
            tried = tries(inputs)
            defect = inputs - tried.answers
            self._scale = max(self._scale, float(np.abs(tried.answers).max(initial=0.0)))
            if before is not None:
                self._renew(inputs - before[0], defect - before[1])
            last, size = size, float(np.abs(defect).max(initial=0.0))
            if size <= CLOSED * self._scale or (last <= 2.0 * size and size <= STAGNATED * self._scale):
                return tried.result, self._agreed(inputs, tries, tried)
            before = inputs, defect
            try:
                inputs = inputs - np.linalg.solve(self._slope, defect)
            except np.linalg.LinAlgError as error:
                told = "what controllers answer leaves their inputs undetermined, a loop of gain 1 without delay"
                raise StepFailed(told, count, size / self._scale) from error
        raise StepFailed("mechanism and controllers do not come to the same inputs", MOST, size / self._scale)

    def commit(self, step: JoinedStep) -> None:
        """Go on from the end of a step."""
        self.states = step.states
        for c, near in zip(self.feedback, step.near, strict=True):
            c.near = near
        self._past = np.vstack([self._past[-2:], step.inputs[None]])

    def guess(self) -> Array:
        """Inputs as they went in the last three steps."""
        past = self._past
        if len(past) < 3:
            return past[-1] if len(past) else np.zeros(self.entries.size)
        return np.asarray(3.0 * (past[2] - past[1]) + past[0])

    def at_all_ports(self, inputs: Array) -> Array:
        """Inputs (i,) of all ports of the mechanism."""
        held = np.zeros(self._inputs)
        np.add.at(held, self.entries, inputs)
        return held

    def _renew(self, moved: Array, changed: Array) -> None:
        """Broyden's update."""
        size = float(moved @ moved)
        if size > 0.0:
            slope = self._slope + np.outer(changed - self._slope @ moved, moved) / size
            least = SINGULAR * abs(np.linalg.det(self._slope))
            self._slope = slope if abs(np.linalg.det(slope)) > least else self._slope

    def _agreed(self, inputs: Array, tries: _Tries, tried: _Tried) -> JoinedStep:
        h, given, booked, error, first = tries.h, [], [], 0.0, 0
        energies, before = np.array([step.energy for step, _ in tried.steps]), self._energies(tries.states)
        for c, (step, u), acting in zip(self.controllers, tried.steps, tries.acting, strict=True):
            booked += c.booked(step, acting, h)
            error += step.lost - h * float(step.output @ u)
            for _, own, _, seen in c.joined:
                width = own.stop - own.start
                given.append(h * float(inputs[first : first + width] @ tried.output[seen]))
                error += given[-1] + h * float(step.output[own] @ tried.output[seen])
                first += width
        error += float((energies - before).sum())
        states, held = [step.state for step, _ in tried.steps], self.at_all_ports(inputs)
        return JoinedStep(states, energies, inputs, held, np.array(booked), np.array(given), error, tried.near)

    @property
    def memory(self) -> tuple[Array, Array, float, float]:
        """Inputs of the last steps, their effects on defects, the largest answer, and the step that effects are of."""
        return self._past, self._slope, self._scale, self._h

    @memory.setter
    def memory(self, given: tuple[Array, Array, float, float]) -> None:
        self._past, self._slope, self._scale, self._h = given

    def kept(self) -> Any:
        """What goes on after a checkpoint."""
        states = {c.name: x for c, x in zip(self.controllers, self.states, strict=True)}
        numbers, near = np.array([self._scale, self._h]), {c.name: c.near for c in self.feedback}
        return {"states": states, "past": self._past, "slope": self._slope, "numbers": numbers, "near": near}

    def restore(self, kept: Any) -> None:
        """Set what was kept."""
        self.states = [np.asarray(kept["states"][c.name]) for c in self.controllers]
        self._past, self._slope = np.asarray(kept["past"]), np.asarray(kept["slope"])
        self._scale, self._h = map(float, kept["numbers"])
        for c in self.feedback:
            c.near = kept["near"][c.name]


class _Tried(NamedTuple):
    """A try of a step: that of the mechanism, its outputs, steps and inputs of the controllers, and all answers."""

    result: Any
    output: Array
    steps: list[tuple[ControllerStep, Array]]
    answers: Array
    near: list[list[float]]


class _Tries(NamedTuple):
    """Tries of a step from a state of the mechanism, with what acts on controllers from outside.

    ``read`` is what feedback reads at its start.
    """

    joined: Joined
    x: Array
    span: tuple[float, float]
    acting: list[Array]
    take: Take
    states: list[Array]
    read: list[tuple[Array, list[float]]]

    @property
    def h(self) -> float:
        """Length of the step [s]."""
        return self.span[1] - self.span[0]

    def __call__(self, inputs: Array) -> _Tried:
        """The step under inputs at the ports of the controllers."""
        joined = self.joined
        result, end = self.take(joined.at_all_ports(inputs))
        output = joined.seen(self.x, end, self.h)
        every = list(zip(joined.controllers, self.states, self.acting, strict=True))
        steps = [c.step(own, self.h, acting, output) for c, own, acting in every]
        parts = [-step.output[own] for (c, *_), (step, _) in zip(every, steps, strict=True) for _, own, *_ in c.joined]
        ends, middle = [], 0.5 * (self.span[0] + self.span[1])
        for own_loop, (start, near) in zip(joined.feedback, self.read, strict=True):
            readings, near = own_loop.read(end, near)
            parts.append(own_loop.answer(middle, 0.5 * (start + readings)))
            ends.append(near)
        return _Tried(result, output, steps, np.concatenate(parts), ends)

    def slope(self, inputs: Array) -> Array:
        """How the defects of inputs change with these, measured."""
        base = inputs - self(inputs).answers
        shift = SHIFT * max(1.0, float(np.abs(base).max(initial=0.0)))
        moved = [inputs + shift * one for one in np.eye(inputs.size)]
        return np.array([(given - self(given).answers - base) / shift for given in moved]).T


def _joint(states: list[Array]) -> Array:
    """States of all controllers behind each other."""
    return np.concatenate([np.zeros(0), *states])
