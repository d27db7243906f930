"""Coupling of controllers and feedback with a mechanism in compiled loops: arrays, results and recorded rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..numerics.loops.callbacks import Struct
from .continuous import LinearSteps
from .coupling_arrays import LawFunctions, feedback_arrays, law_arrays, linear_arrays
from .laws import DryFriction, Limit
from .loops.coupling import iterate_address
from .loops.data import NEW, Coupling

if TYPE_CHECKING:
    from .continuous_loop import ContinuousLoop
    from .coupled_controllers import CoupledControllers
    from .state_feedback import FeedbackLoop


_KNOWN = DryFriction, Limit
"""Laws that the loops evaluate themselves; all others are evaluated by Python."""


class EvaluationPoints(NamedTuple):
    """Points of a step at which feedback is evaluated: fractions ``nodes`` of the step, with quadrature weights.

    The readings at a point are ``ends`` times the readings at the state of the trial for this point, plus 1 − ``ends``
    times the readings at the start of the step.
    """

    nodes: Array
    weights: Array
    ends: float


AT_MIDDLE = EvaluationPoints(np.array([0.5]), np.ones(1), 0.5)
"""Evaluation at the middle of a step, from the means of the readings at both ends."""


class CompiledCoupling:
    """Controllers that act within the steps between given times, in arrays for compiled loops.

    The loops receive the ``address`` of the iteration and that of its ``data``. They write the ``state`` and mean
    ``output`` of each trial step, and read the ``inputs`` of the next one.
    """

    def __init__(
        self,
        coupled: CoupledControllers,
        times: Array,
        x: Array,
        ports: int,
        *,
        evaluation: EvaluationPoints = AT_MIDDLE,
    ) -> None:
        self.coupled, self.times, steps = coupled, times, len(times) - 1
        self._evaluation, points = evaluation, evaluation.nodes.size
        self.state, self.output, self.inputs = np.zeros((points, x.size)), np.zeros(ports), np.zeros((points, ports))
        feedback_entries = [point * ports + c.entries for c in coupled.feedback for point in range(points)]
        ahead = coupled.entries[: coupled.entries.size - sum(c.entries.size for c in coupled.feedback)]
        self._entries = np.concatenate([ahead, *feedback_entries]).astype(np.int64)
        q = self._entries.size
        self._linear = linear_arrays(coupled.controllers, coupled.states, times)
        self._feedback = [feedback_arrays(c, x, c.near) for c in coupled.feedback]
        self._functions = None if all(isinstance(law, _KNOWN) for law in coupled.laws) else LawFunctions(coupled.laws)
        widths = [points * c.entries.size for c in coupled.feedback]
        first = q - sum(widths) + np.cumsum([0, *widths], dtype=np.int64)[:-1]
        linear, z = self._linear, np.zeros
        past, slope, scale, length, forces, speed = coupled.memory
        m, laws = forces.size, law_arrays(coupled, forces, steps, speed, self._functions)
        self._arrays = Coupling(
            times=np.ascontiguousarray(times),
            nodes=evaluation.nodes,
            ends=np.array([evaluation.ends]),
            state=self.state,
            output=self.output,
            inputs=self.inputs,
            entries=self._entries,
            tried=coupled.guess().copy(),
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
            feedback=np.array([feedback.address for feedback in self._feedback], dtype=np.int64),
            first=first,
            means=z((steps, linear.mean.size)),
            given=z((steps, linear.u.size)),
            port_output=z((steps, linear.own.size)),
            converged=z((steps, q)),
            states=z((steps, linear.x.size)),
        )
        self._open = np.setdiff1d(np.arange(linear.u.size), laws.column)
        self._acting, self._held = linear.acting.copy(), np.zeros((steps, self._open.size))
        self.hold(0)
        np.add.at(self.inputs.ravel(), self._entries, self._arrays.tried)
        self._struct = Struct(self._arrays)
        self.address, self.data = iterate_address(), self._struct.address

    @property
    def error(self) -> BaseException | None:
        """Exception raised by a Python function of a feedback or a law, or None."""
        errors = [feedback.error for feedback in self._feedback]
        if self._functions is not None:
            errors.append(self._functions.error)
        return next((error for error in errors if error is not None), None)

    def check_answers(self, start: float, end: float) -> None:
        """Raise InvalidFeedbackError if a C feedback returns invalid inputs in a step between two times.

        If the last call of a C function was in this step, it is repeated and its result checked.
        """
        for c, arrays in zip(self.coupled.feedback, self._feedback, strict=True):
            time = arrays.call.time.item()
            if arrays.call.in_c and start < time < end:
                c.answer(time, arrays.call.readings.copy())

    @property
    def finished(self) -> int:
        """Number of steps whose coupling converged and that were not withdrawn."""
        return int(self._arrays.finished.sum())

    def hold(self, step: int) -> None:
        """Apply the inputs that other controllers hold now, in the step with number ``step`` and all later ones."""
        self._held[step:] = self.coupled.held
        self._linear.acting[step:, self._open] = self._acting[step:, self._open] + self._held[step:]

    def store_jacobian(self) -> None:
        """Store the Jacobian and the past inputs in ``coupled``, including those of withdrawn steps."""
        a = self._arrays
        (known,), scale, length, speed = (field.tolist() for field in (a.known, a.scale, a.slope_length, a.laws.speed))
        numbers = scale[0], length[0], a.laws.force.copy(), speed[0]
        self.coupled.memory = a.past[3 - known :].copy(), a.slope.copy(), *numbers

    def commit(self, done: int) -> None:
        """Advance the controllers to the end of the first ``done`` steps."""
        if done:
            self.store_jacobian()
            self.coupled.states = _split(self._arrays.states[done - 1].copy(), self.coupled.controllers)
            for c, arrays in zip(self.coupled.feedback, self._feedback, strict=True):
                c.near = arrays.near

    def held(self, done: int) -> Array:
        """Mean inputs (done, i) at all ports of the mechanism in each of the first ``done`` steps."""
        held = np.zeros((done, self.inputs.shape[1]))
        for j, entry in enumerate(self._entries.tolist()):
            point, port = divmod(entry, held.shape[1])
            held[:, port] += self._evaluation.weights[point] * self._arrays.converged[:done, j]
        return held

    def rows(self, start: list[Array], done: int) -> tuple[dict[str, Array], Array]:
        """Values to record for the first ``done`` steps, by name, and the balance errors (done,) of controllers [J].

        ``start`` are the states of the controllers at the start.
        """
        a, h = self._arrays, np.diff(self.times[: done + 1])
        states = np.vstack([np.concatenate([np.zeros(0), *start]), a.states[:done]])
        energies, flows, given = np.zeros((done, len(start))), [], []
        error, first, law = np.zeros(done), _Offsets(), 0
        for k, c in enumerate(self.coupled.controllers):
            assert isinstance(c.steps, LinearSteps)
            N, M = c.steps.B.shape
            n, coupled = c.given.system.size, len(c.entries)
            E, mean = c.steps.E[:n, :n], a.means[:done, first.unknown : first.unknown + N]
            u, acting = (x[:done, first.input : first.input + M] for x in (a.given, self._linear.acting))
            states_of_controller = states[:, first.state : first.state + n]
            every = 0.5 * np.einsum("ki,ij,kj->k", states_of_controller, E, states_of_controller)
            lost, output = h * np.einsum("ki,ij,kj->k", mean, c.steps.R, mean), mean @ c.steps.B
            if c.steps.laws:
                closed = len(c.steps.laws)
                lost += h * a.laws.lost[:done, law : law + closed].sum(axis=1)
                law, output, u = law + closed, output[:, : M - closed], u[:, : M - closed]
            energies[:, k] = every[1:]
            flows += [lost, *(h * (output[:, part] * acting[:, part]).sum(axis=1) for part in c.spans)]
            seen, inputs = (x[:done, first.coupled : first.coupled + coupled] for x in (a.port_output, a.converged))
            error += lost - h * (output * u).sum(axis=1) + np.diff(every)
            end = 0
            for _, part, _, _ in c.coupled:
                ports = slice(end, end + part.stop - part.start)
                given.append(h * (inputs[:, ports] * seen[:, ports]).sum(axis=1))
                error += given[-1] + h * (output[:, part] * seen[:, ports]).sum(axis=1)
                end = ports.stop
            first.advance(N, M, n, coupled)
        rows = {
            "controller_energy": energies,
            "controller_state": states[1:],
            "controller_flows": np.array(flows).reshape(len(flows), done).T,
            "controller_work": np.array(given).reshape(len(given), done).T,
            "controller_held": self._held[:done],
        }
        return rows, error


class _Offsets:
    """Indices at which a controller begins in the unknowns, inputs, states and joined inputs of all controllers."""

    def __init__(self) -> None:
        self.unknown = self.input = self.state = self.coupled = 0

    def advance(self, unknowns: int, inputs: int, states: int, coupled: int) -> None:
        """Advance from one controller, with the given numbers of entries, to the next."""
        self.unknown, self.input = self.unknown + unknowns, self.input + inputs
        self.state, self.coupled = self.state + states, self.coupled + coupled


def is_compiled(coupled: CoupledControllers) -> bool:
    """True if all controllers are linear and compiled loops can read all sensors of the feedback."""
    return all(isinstance(c.steps, LinearSteps) for c in coupled.controllers) and are_read(coupled.feedback)


def are_read(feedback: Sequence[FeedbackLoop]) -> bool:
    """True if compiled loops can read all sensors of the feedback."""
    return all(c.panel.arrays is not None for c in feedback)


def _split(x: Array, controllers: list[ContinuousLoop]) -> list[Array]:
    ends = np.cumsum([0, *(c.given.system.size for c in controllers)]).tolist()
    return [x[first:last] for first, last in itertools.pairwise(ends)]
