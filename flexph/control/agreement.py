"""Coupling of controllers and feedback with a mechanism in compiled loops: arrays, results and recorded rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..numerics.loops.callbacks import Struct
from .agreement_arrays import LawFunctions, laid_feedback, law_arrays, linear_arrays
from .continuous import LinearSteps
from .laws import DryFriction, Limit
from .loops.agreement import agree_address
from .loops.data import NEW, Agreement

if TYPE_CHECKING:
    from .continuous_loop import ContinuousLoop
    from .joined import Joined
    from .state_feedback import FeedbackLoop


_KNOWN = DryFriction, Limit
"""Laws that the loops evaluate themselves; all others are evaluated by Python."""


class Answered(NamedTuple):
    """Points of a step at which feedback is evaluated, as shares of its length, with their quadrature weights.

    ``ends`` is the weight of a trial's state in the readings at a point; the state at the start has the rest.
    """

    nodes: Array
    weights: Array
    ends: float


IN_THE_MIDDLE = Answered(np.array([0.5]), np.ones(1), 0.5)
"""Evaluation at the middle of a step, from the means of the readings at both ends."""


class CompiledAgreement:
    """Controllers and feedback that act within steps between given times, coupled to compiled loops by ``address``.

    The loops write the ``state`` and mean ``output`` of each trial step, and read the ``inputs`` of the next one.
    """

    def __init__(
        self, joined: Joined, times: Array, x: Array, ports: int, *, answered: Answered = IN_THE_MIDDLE
    ) -> None:
        self.joined, self.times, steps = joined, times, len(times) - 1
        self._answered, points = answered, answered.nodes.size
        self.state, self.output, self.inputs = np.zeros((points, x.size)), np.zeros(ports), np.zeros((points, ports))
        own = [point * ports + c.entries for c in joined.feedback for point in range(points)]
        ahead = joined.entries[: joined.entries.size - sum(c.entries.size for c in joined.feedback)]
        self._entries = np.concatenate([ahead, *own]).astype(np.int64)
        q = self._entries.size
        self._linear = linear_arrays(joined.controllers, joined.states, times)
        self._feedback = [laid_feedback(c, x, c.near) for c in joined.feedback]
        self._functions = None if all(isinstance(law, _KNOWN) for law in joined.laws) else LawFunctions(joined.laws)
        widths = [points * c.entries.size for c in joined.feedback]
        first = q - sum(widths) + np.cumsum([0, *widths], dtype=np.int64)[:-1]
        linear, z = self._linear, np.zeros
        past, slope, scale, length, forces, speed = joined.memory
        m, laws = forces.size, law_arrays(joined, forces, steps, speed, self._functions)
        self._arrays = Agreement(
            times=np.ascontiguousarray(times),
            nodes=answered.nodes,
            ends=np.array([answered.ends]),
            state=self.state,
            output=self.output,
            inputs=self.inputs,
            entries=self._entries,
            tried=joined.guess().copy(),
            answers=z(q),
            defect=z(q + m),
            before=z((2, q + m)),
            past=np.vstack([z((3 - len(past), q)), past]),
            known=np.array([len(past)], dtype=np.int64),
            begun_past=z((3, q)),
            begun_known=np.zeros(1, dtype=np.int64),
            finished=np.zeros(2, dtype=np.int64),
            slope=np.ascontiguousarray(slope).copy(),
            slope_length=np.array([length]),
            space=z((q, q + 1 + m)),
            other=z((q + m, q)),
            scale=np.array([scale]),
            size=np.array([math.inf]),
            shift=z(1),
            probe=np.array([NEW], dtype=np.int64),
            trials=np.zeros(1, dtype=np.int64),
            linear=linear,
            laws=laws,
            feedback=np.array([own.address for own in self._feedback], dtype=np.int64),
            first=first,
            means=z((steps, linear.mean.size)),
            given=z((steps, linear.u.size)),
            seen=z((steps, linear.own.size)),
            agreed=z((steps, q)),
            states=z((steps, linear.x.size)),
        )
        self._open = np.setdiff1d(np.arange(linear.u.size), laws.column)
        self._acting, self._held = linear.acting.copy(), np.zeros((steps, self._open.size))
        self.hold(0)
        np.add.at(self.inputs.ravel(), self._entries, self._arrays.tried)
        self._struct = Struct(self._arrays)
        self.address, self.data = agree_address(), self._struct.address

    @property
    def error(self) -> BaseException | None:
        """Exception raised by a Python function of a feedback or a law, or None."""
        errors = [own.error for own in self._feedback]
        if self._functions is not None:
            errors.append(self._functions.error)
        return next((error for error in errors if error is not None), None)

    def check_answers(self, start: float, end: float) -> None:
        """Repeat the last calls of feedback in C within a step; raises Unusable for an answer that cannot be used."""
        for c, own in zip(self.joined.feedback, self._feedback, strict=True):
            time = own.call.time.item()
            if own.call.in_c and start < time < end:
                c.answer(time, own.call.readings.copy())

    @property
    def finished(self) -> int:
        """Number of steps whose coupling converged and that were not withdrawn."""
        return int(self._arrays.finished.sum())

    def hold(self, step: int) -> None:
        """Apply the inputs that other controllers hold now, from the given step on."""
        self._held[step:] = self.joined.held
        self._linear.acting[step:, self._open] = self._acting[step:, self._open] + self._held[step:]

    def learn(self) -> None:
        """Store the present Jacobian and past inputs, those of withdrawn steps included, in ``joined``."""
        a = self._arrays
        (known,), scale, length, speed = (own.tolist() for own in (a.known, a.scale, a.slope_length, a.laws.speed))
        numbers = scale[0], length[0], a.laws.force.copy(), speed[0]
        self.joined.memory = a.past[3 - known :].copy(), a.slope.copy(), *numbers

    def commit(self, done: int) -> None:
        """Advance the controllers to the end of the last of ``done`` steps."""
        if done:
            self.learn()
            self.joined.states = _split(self._arrays.states[done - 1].copy(), self.joined.controllers)
            for c, own in zip(self.joined.feedback, self._feedback, strict=True):
                c.near = own.near

    def held(self, done: int) -> Array:
        """Mean inputs at all ports of the mechanism in each of ``done`` steps, (done, i)."""
        held = np.zeros((done, self.inputs.shape[1]))
        for j, entry in enumerate(self._entries.tolist()):
            point, port = divmod(entry, held.shape[1])
            held[:, port] += self._answered.weights[point] * self._arrays.agreed[:done, j]
        return held

    def rows(self, start: list[Array], done: int) -> tuple[dict[str, Array], Array]:
        """Rows to record for ``done`` steps from the start states, and the controllers' balance error [J]."""
        a, h = self._arrays, np.diff(self.times[: done + 1])
        states = np.vstack([np.concatenate([np.zeros(0), *start]), a.states[:done]])
        energies, flows, given = np.zeros((done, len(start))), [], []
        error, first, law = np.zeros(done), _Places(), 0
        for k, c in enumerate(self.joined.controllers):
            assert isinstance(c.steps, LinearSteps)
            N, M = c.steps.B.shape
            n, joined = c.given.system.size, len(c.entries)
            E, mean = c.steps.E[:n, :n], a.means[:done, first.unknown : first.unknown + N]
            u, acting = (x[:done, first.input : first.input + M] for x in (a.given, self._linear.acting))
            own = states[:, first.state : first.state + n]
            every = 0.5 * np.einsum("ki,ij,kj->k", own, E, own)
            lost, output = h * np.einsum("ki,ij,kj->k", mean, c.steps.R, mean), mean @ c.steps.B
            if c.steps.laws:
                closed = len(c.steps.laws)
                lost += h * a.laws.lost[:done, law : law + closed].sum(axis=1)
                law, output, u = law + closed, output[:, : M - closed], u[:, : M - closed]
            energies[:, k] = every[1:]
            flows += [lost, *(h * (output[:, part] * acting[:, part]).sum(axis=1) for part in c.spans)]
            seen, inputs = (x[:done, first.joined : first.joined + joined] for x in (a.seen, a.agreed))
            error += lost - h * (output * u).sum(axis=1) + np.diff(every)
            end = 0
            for _, part, _, _ in c.joined:
                ports = slice(end, end + part.stop - part.start)
                given.append(h * (inputs[:, ports] * seen[:, ports]).sum(axis=1))
                error += given[-1] + h * (output[:, part] * seen[:, ports]).sum(axis=1)
                end = ports.stop
            first.go_on(N, M, n, joined)
        rows = {
            "controller_energy": energies,
            "controller_state": states[1:],
            "controller_flows": np.array(flows).reshape(len(flows), done).T,
            "controller_work": np.array(given).reshape(len(given), done).T,
            "controller_held": self._held[:done],
        }
        return rows, error


class _Places:
    """Offsets of a controller in the stacked unknowns, inputs, states and joined inputs of all."""

    def __init__(self) -> None:
        self.unknown = self.input = self.state = self.joined = 0

    def go_on(self, unknowns: int, inputs: int, states: int, joined: int) -> None:
        """Advance the offsets to the next controller."""
        self.unknown, self.input = self.unknown + unknowns, self.input + inputs
        self.state, self.joined = self.state + states, self.joined + joined


def is_compiled(joined: Joined) -> bool:
    """True if all controllers are linear and compiled loops can read all sensors of the feedback."""
    return all(isinstance(c.steps, LinearSteps) for c in joined.controllers) and are_read(joined.feedback)


def are_read(feedback: Sequence[FeedbackLoop]) -> bool:
    """True if compiled loops can read all sensors of the feedback."""
    return all(c.panel.seen is not None for c in feedback)


def _split(x: Array, controllers: list[ContinuousLoop]) -> list[Array]:
    ends = np.cumsum([0, *(c.given.system.size for c in controllers)]).tolist()
    return [x[first:last] for first, last in itertools.pairwise(ends)]
