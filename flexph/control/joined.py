"""What acts within the steps of a run: what controllers and mechanism answer each other, and what is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.step_failed import StepFailed
from .continuous import Continuous
from .continuous_loop import ContinuousLoop, check_start
from .laws.meeting import Line
from .loops.tolerances import CLOSED, MOST, SHIFT, SINGULAR, STAGNATED
from .port_outputs import PortOutputs
from .state_feedback import FeedbackLoop, StateFeedback
from .tries import Take, Tried, Tries


class JoinedStep(NamedTuple):
    """A step of all controllers: states and energies at its end, what they answered, what is recorded.

    ``inputs`` are those of their ports, ``forces`` those of their laws, ``held`` (i,) those of all ports of the
    mechanism, ``own_held`` what others hold at those of the controllers. ``flows`` are by controller
    what it dissipates and by its ports the work of what is outside, ``given`` the work that it does on the mechanism by
    port; ``error`` is what they add to the balance of the mechanism [J]. Angles of feedback are next to ``near``.
    """

    states: list[Array]
    energy: Array
    inputs: Array
    forces: Array
    held: Array
    own_held: Array
    flows: Array
    given: Array
    error: float
    near: list[list[float]]

    def row(self) -> dict[str, Array]:
        """What is recorded of the step."""
        energy = {"controller_energy": self.energy, "controller_state": _joint(self.states)}
        flows = {"controller_flows": self.flows, "controller_work": self.given}
        return {**energy, **flows, "controller_held": self.own_held}


class AgreedStep(NamedTuple):
    """A step on which loops made controllers and mechanism agree: its ``row``, and what controllers go on from.

    ``held`` (i,) and ``error`` are as those of :class:`JoinedStep`.
    """

    values: dict[str, Array]
    held: Array
    error: float
    then: Any

    def row(self) -> dict[str, Array]:
        """What is recorded of the step."""
        return self.values


class Joined:
    """What acts within the steps of a run: states of controllers, and inputs on which all and the mechanism agree.

    The inputs u of a step are those that controllers answer to the outputs of the mechanism under them: solved by
    Broyden's method, whose matrix goes on from step to step. A try is a step of the mechanism under inputs that are
    held, so that its balance is closed whatever is left of u. Laws of controllers, such as dry friction, are not in
    this matrix: they and what it tells are met together, exactly, so that friction may turn over.
    """

    def __init__(
        self, mechanism: Model, given: Mapping[str, Continuous | StateFeedback], states: Mapping[str, Any]
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
        for loop in self.feedback:
            loop.go_on(states.get(loop.name))
        self._inputs = sum(part.stop - part.start for part in mechanism.network.input_slices.values())
        entries = [np.arange(into.start, into.stop) for c in self.controllers for _, _, into, _ in c.joined]
        self.entries = np.concatenate([*entries, *(c.entries for c in self.feedback)])
        self.states = [c.start_from(states.get(c.name)) for c in self.controllers]
        self.laws = [law for c in self.controllers for law in c.steps.laws]
        q, m = self.entries.size, len(self.laws)
        self._past, self._scale, self._speed = np.zeros((0, q)), 0.0, 0.0
        self._slope, self._forces, self._h = np.eye(q + m, q), np.zeros(m), 0.0

    def answer_at(self, points: int) -> None:
        """Answer at so many points of each step, of feedback alone."""
        q = points * self.entries.size
        self._past, self._slope = np.zeros((0, q)), np.eye(q)

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
    def held(self) -> Array:
        """What others hold now at the ports of the controllers."""
        return _joint([c.held for c in self.controllers])

    @property
    def outside(self) -> list[tuple[str, str]]:
        """Controllers and ports at which something acts from outside."""
        return [(c.name, port) for c in self.controllers for port in c.outside]

    @property
    def widths(self) -> tuple[int, int, int]:
        """Numbers of energies, of flows, and of works given."""
        each = self.controllers
        return len(each), sum(1 + len(c.outside) for c in each), sum(len(c.joined) for c in each)

    def step(self, x: Array, span: tuple[float, float], take: Take, *, states: Any = None) -> tuple[Any, JoinedStep]:
        """The step from a state, of controllers from ``states``, and what all agree on; raises StepFailed."""
        acting, states = [c.acting(span) for c in self.controllers], self.states if states is None else states
        read = [c.read(x, c.near) for c in self.feedback]
        mechanism = self.outputs, self.at_all_ports, x, span, take
        tries = Tries(self.controllers, self.feedback, *mechanism, acting, states, read)
        around, sizes = (tries.by_forces(self.entries.size), self._rates(tries.states)), (self._scale, self._speed)
        if abs(tries.h - self._h) <= SHIFT * tries.h:
            try:
                return self._settled(tries, *around)
            except StepFailed:
                if not self.laws:  # where friction holds no more, all moves in other ways
                    raise
        self._scale, self._speed = sizes
        self._slope, self._h = tries.slope(self.guess(), self._forces), tries.h
        return self._settled(tries, *around)

    def _settled(self, tries: Tries, by_forces: Array, rates: Array) -> tuple[Any, JoinedStep]:
        """The step by the effects of inputs that are known; raises StepFailed."""
        (inputs, forces), q, before, size = (self.guess(), self._forces), self.entries.size, None, np.inf
        for count in range(1, MOST + 1):
            tried = tries(inputs, forces)
            self._scale = max(self._scale, float(np.abs(tried.answers).max(initial=0.0)))
            if before is not None:
                self._renew(inputs - before[0], tried.off - before[2] - by_forces @ (forces - before[1]))
            line = self._line(tried, forces, by_forces, rates)
            self._speed = max(self._speed, float(np.abs(line.free).max(initial=0.0)))
            last, size = size, max(_over(tried.off[:q], self._scale), _over(line.off, self._speed))
            if size <= CLOSED or (last <= 2.0 * size and size <= STAGNATED):
                return tried.result, self._agreed((inputs, forces), tries, tried, line)
            before = inputs, forces, tried.off
            try:
                inputs, forces = self._following(tried, (inputs, forces), by_forces, line)
            except np.linalg.LinAlgError as error:
                told = "what controllers answer leaves their inputs undetermined, a loop of gain 1 without delay"
                raise StepFailed(told, count, size) from error
        raise StepFailed("mechanism and controllers do not come to the same inputs", MOST, size)

    def _following(self, tried: Tried, given: tuple[Array, Array], by_forces: Array, line: Line) -> tuple[Array, Array]:
        """Inputs and forces that are right where all is as their matrix tells, after a try of given ones."""
        (inputs, forces), q, following = given, self.entries.size, line.met(self.laws, given[1])
        off = tried.off[:q] + by_forces[:q] @ (following - forces)
        return inputs - np.linalg.solve(self._slope[:q], off), following

    def _rates(self, states: list[Array]) -> Array:
        """Rates of the ports that laws close at states, (m,)."""
        each = zip(self.controllers, states, strict=True)
        return np.concatenate([np.zeros(0), *(c.steps.rates(x) for c, x in each if c.steps.laws)])

    def _line(self, tried: Tried, forces: Array, by_forces: Array, before: Array) -> Line:
        """What is around the ports of laws: how their rates go down with forces, all others being settled."""
        q = self.entries.size
        if not self.laws:
            return Line.nothing()
        both = np.linalg.lstsq(self._slope[:q], np.column_stack([tried.off[:q], by_forces[:q]]))[0]
        left = np.column_stack([tried.off[q:], by_forces[q:]]) - self._slope[q:] @ both
        return Line.through(self.laws, (tried.off[q:], forces), left, before)

    def commit(self, step: JoinedStep | AgreedStep) -> None:
        """Go on from the end of a step."""
        if isinstance(step, AgreedStep):
            self.restore(step.then)
            return
        self.states, self._forces = step.states, step.forces
        for c, near in zip(self.feedback, step.near, strict=True):
            c.near = near
        self._past = np.vstack([self._past[-2:], step.inputs[None]])

    def guess(self) -> Array:
        """Inputs as they went in the last three steps, or where friction may turn over as they were in the last."""
        past = self._past
        if len(past) < 3 or self.laws:
            return past[-1] if len(past) else np.zeros(past.shape[1])
        return np.asarray(3.0 * (past[2] - past[1]) + past[0])

    def at_all_ports(self, inputs: Array) -> Array:
        """Inputs (i,) of all ports of the mechanism."""
        held = np.zeros(self._inputs)
        np.add.at(held, self.entries, inputs)
        return held

    def _renew(self, moved: Array, changed: Array) -> None:
        """Broyden's update; where laws hold, not from moves that end in round-off."""
        size, q = float(moved @ moved), self.entries.size
        if size > (SHIFT * self._scale) ** 2 or (size > 0.0 and not self.laws):
            slope = self._slope + np.outer(changed - self._slope @ moved, moved) / size
            least = SINGULAR * abs(np.linalg.det(self._slope[:q]))
            self._slope = slope if abs(np.linalg.det(slope[:q])) > least else self._slope

    def _agreed(self, given: tuple[Array, Array], tries: Tries, tried: Tried, line: Line) -> JoinedStep:
        h, (inputs, forces), work, flows, error, first, law = tries.h, given, [], [], 0.0, 0, 0
        energies, before = np.array([step.energy for step, _ in tried.steps]), self._energies(tries.states)
        for c, (step, u), acting in zip(self.controllers, tried.steps, tries.acting, strict=True):
            own_laws = slice(law, law + len(c.steps.laws))
            lost = step.lost + h * float(line.power[own_laws].sum())
            flows += [lost, *c.worked(step, acting, h)]
            error += lost - h * (float(step.output[: u.size] @ u))
            for _, own, _, seen in c.joined:
                width = own.stop - own.start
                work.append(h * float(inputs[first : first + width] @ tried.output[seen]))
                error += work[-1] + h * float(step.output[own] @ tried.output[seen])
                first += width
            law = own_laws.stop
        error += float((energies - before).sum())
        states, held = [step.state for step, _ in tried.steps], (self.at_all_ports(inputs), self.held)
        return JoinedStep(states, energies, inputs, forces, *held, np.array(flows), np.array(work), error, tried.near)

    @property
    def memory(self) -> tuple[Array, Array, float, float, Array, float]:
        """Inputs of the last steps, their effects on defects, the largest answer, and the step that effects are of.

        And forces of laws, and the largest rate around these.
        """
        return self._past, self._slope, self._scale, self._h, self._forces, self._speed

    @memory.setter
    def memory(self, given: tuple[Array, Array, float, float, Array, float]) -> None:
        self._past, self._slope, self._scale, self._h, self._forces, self._speed = given

    def kept(self) -> Any:
        """What goes on after a checkpoint."""
        states = {c.name: x for c, x in zip(self.controllers, self.states, strict=True)}
        numbers, near = np.array([self._scale, self._speed, self._h]), {c.name: c.near for c in self.feedback}
        inner = {"past": self._past, "slope": self._slope, "forces": self._forces, "numbers": numbers}
        return {"states": states, "near": near, **inner}

    def restore(self, kept: Any) -> None:
        """Set what was kept."""
        self.states = [np.asarray(kept["states"][c.name]) for c in self.controllers]
        self._past, self._slope, self._forces = (np.asarray(kept[name]) for name in ("past", "slope", "forces"))
        self._scale, self._speed, self._h = map(float, kept["numbers"])
        for c in self.feedback:
            c.near = kept["near"][c.name]


def _over(values: Array, scale: float) -> float:
    """The largest of values over their scale."""
    size = float(np.abs(values).max(initial=0.0))
    return size / scale if size > 0.0 < scale else size


def _joint(values: list[Array]) -> Array:
    """Values of all controllers behind each other."""
    return np.concatenate([np.zeros(0), *values])
