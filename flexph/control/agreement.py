"""Controllers and feedback in compiled loops: the arrays of their agreement with a mechanism, and what it leaves.

Needs numba.
"""

from __future__ import annotations

import itertools
import logging
import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import block_diag

from ..numerics.arrays import Array
from ..numerics.compiled.announcing import announced
from ..numerics.compiled.by_address import Laid, address_of
from ..numerics.compiled.functions import function_at
from .compiled.data import KNOWN, NEW, SCALE, SLOPE_LENGTH, Agreement, Asked, Feedback, Linear, no_linear
from .compiled.loops import CALLED, agree, ask
from .continuous import LinearSteps

if TYPE_CHECKING:
    from .continuous_loop import ContinuousLoop
    from .joined import Joined
    from .state_feedback import FeedbackLoop


log = logging.getLogger("flexph")


class CompiledAgreement:
    """What acts within the steps between some times, as compiled loops ask it by its ``address``.

    The loops write the ``state`` and mean ``output`` of each try, and take the ``inputs`` of the next one.
    """

    def __init__(self, joined: Joined, times: Array, x: Array, ports: int) -> None:
        self.joined, self.times, steps = joined, times, len(times) - 1
        self.state, self.output, self.inputs = np.zeros(x.size), np.zeros(ports), np.zeros(ports)
        q = joined.entries.size
        self._linear = _linear(joined.controllers, joined.states, times)
        self._feedback = [_Laid(c, x, float(times[0])) for c in joined.feedback]
        widths = [c.entries.size for c in joined.feedback]
        first = q - sum(widths) + np.cumsum([0, *widths], dtype=np.int64)[:-1]
        linear, z = self._linear, np.zeros
        past, slope, scale, length = joined.memory
        rows = np.vstack([z((3 - len(past), q)), past])
        given: Any = (
            *(np.ascontiguousarray(times), self.state, self.output, self.inputs, joined.entries.astype(np.int64)),
            *(z(q), z(q), z(q), z((2, q)), rows, slope.copy(), z((q, q + 1)), z((q, q))),
            *(np.array([scale, length, 0.0, math.inf, 0.0]), np.array([0, NEW, len(past)], dtype=np.int64)),
            *(linear, np.array([own.address for own in self._feedback], dtype=np.int64), first),
            *(z((steps, linear.mean.size)), z((steps, linear.u.size)), z((steps, linear.own.size))),
            *(z((steps, q)), z((steps, linear.x.size))),
        )
        self._arrays = Agreement(*given)
        self._arrays.tried[:] = joined.guess()
        self._acting, self._held = linear.acting.copy(), np.zeros_like(linear.acting)
        self.hold(0)
        np.add.at(self.inputs, joined.entries, self._arrays.tried)
        self._laid = Laid(self._arrays)
        with announced():
            self.address = address_of(agree, (0, 0))
        self.data = self._laid.address

    def hold(self, step: int) -> None:
        """Let what others hold now act on the controllers from a step on."""
        self._held[step:] = self.joined.held
        self._linear.acting[step:] = self._acting[step:] + self._held[step:]

    def commit(self, done: int) -> None:
        """Let the controllers go on from the last of so many steps."""
        a = self._arrays
        if done:
            known = int(a.counts[KNOWN])
            scale, length = a.numbers[[SCALE, SLOPE_LENGTH]].tolist()
            self.joined.memory = a.past[3 - known :].copy(), a.slope.copy(), scale, length
            self.joined.states = _split(a.states[done - 1].copy(), self.joined.controllers)
            for c, own in zip(self.joined.feedback, self._feedback, strict=True):
                c.near = own.near

    def held(self, done: int) -> Array:
        """What they gave at all ports in so many steps."""
        held = np.zeros((done, self.inputs.size))
        for j, entry in enumerate(self.joined.entries.tolist()):
            held[:, entry] += self._arrays.agreed[:done, j]
        return held

    def rows(self, start: list[Array], done: int) -> tuple[dict[str, Array], Array]:
        """What is recorded of the steps from states of the controllers, and what they add to the balance [J]."""
        a, h = self._arrays, np.diff(self.times[: done + 1])
        states = np.vstack([np.concatenate([np.zeros(0), *start]), a.states[:done]])
        energies, flows, given = np.zeros((done, len(start))), [], []
        error, first = np.zeros(done), _Places()
        for k, c in enumerate(self.joined.controllers):
            assert isinstance(c.steps, LinearSteps)
            N, M = c.steps.B.shape
            n, joined = c.given.system.size, len(c.entries)
            E, mean = c.steps.E[:n, :n], a.means[:done, first.unknown : first.unknown + N]
            u, acting = (x[:done, first.input : first.input + M] for x in (a.given, self._linear.acting))
            own = states[:, first.state : first.state + n]
            every = 0.5 * np.einsum("ki,ij,kj->k", own, E, own)
            lost, output = h * np.einsum("ki,ij,kj->k", mean, c.steps.R, mean), mean @ c.steps.B
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


class CompiledCalls:
    """Feedback that compiled loops call before steps between some times, and hold: ``address`` and ``data`` of it."""

    def __init__(self, feedback: list[FeedbackLoop], times: Array, states: tuple[Array, Array], held: Array) -> None:
        self.feedback, (x, rows) = feedback, states
        self._laid = [_Laid(c, x, float(times[0])) for c in feedback]
        addresses = np.array([own.address for own in self._laid], dtype=np.int64)
        self.due = np.zeros((len(times) - 1, len(feedback)), dtype=np.int64)
        self._asked = Laid(Asked(np.ascontiguousarray(times), x.copy(), rows, held, self.due, addresses))
        self.data = self._asked.address
        with announced():
            self.address = address_of(ask, (0, 0))

    def calls(self) -> list[tuple[int, list[float]]]:
        """How often each was called, and what its angles are next to."""
        return [(int((due == CALLED).sum()), own.near) for due, own in zip(self.due.T, self._laid, strict=True)]


class _Laid(Laid):
    """A feedback in compiled code, with the tuple that its function is called with."""

    def __init__(self, c: FeedbackLoop, x: Array, time: float) -> None:
        c.answer(time, c.read(x, c.near)[0])  # compiled code does not look where it reads: Python says what is wrong
        self._call = Laid((np.zeros(1), np.zeros(c.size), np.zeros(c.entries.size)))
        super().__init__(_feedback(c, x, self._call))

    @property
    def near(self) -> list[float]:
        """What angles are next to."""
        near: list[float] = self.value[Feedback._fields.index("near")].tolist()
        return near


class _Places:
    """Where a controller begins among the unknowns, inputs, states and joined inputs of all."""

    def __init__(self) -> None:
        self.unknown = self.input = self.state = self.joined = 0

    def go_on(self, unknowns: int, inputs: int, states: int, joined: int) -> None:
        """To the next one."""
        self.unknown, self.input = self.unknown + unknowns, self.input + inputs
        self.state, self.joined = self.state + states, self.joined + joined


def is_compiled(joined: Joined) -> bool:
    """Whether compiled loops have all controllers: they are linear, and the functions such that numba compiles them."""
    return all(isinstance(c.steps, LinearSteps) and not c.steps.laws for c in joined.controllers) and are_compiled(
        joined.feedback
    )


def are_compiled(feedback: list[FeedbackLoop]) -> bool:
    """Whether compiled loops have the sensors and functions of all feedback; else a sentence says why not."""
    if any(c.panel.seen is None for c in feedback):
        return False
    try:
        return all([_address(c) for c in feedback])
    except ValueError as error:
        _say_slow(str(error))
        return False


@cache
def _say_slow(reason: str) -> None:
    log.warning("flexph: compiled loops ask Python, since %s", reason)


def _address(c: FeedbackLoop) -> int:
    with announced():
        return function_at(f"controller {c.name!r}", c.given.function)


def _split(x: Array, controllers: list[ContinuousLoop]) -> list[Array]:
    ends = np.cumsum([0, *(c.given.system.size for c in controllers)]).tolist()
    return [x[first:last] for first, last in itertools.pairwise(ends)]


def _linear(controllers: list[ContinuousLoop], states: list[Array], times: Array) -> Linear:
    """All linear controllers side by side."""
    if not controllers:
        return no_linear(len(times) - 1)
    steps: list[Any] = [c.steps for c in controllers]
    sizes = np.array([s.B.shape for s in steps])
    firsts = np.cumsum(np.vstack([[0, 0], sizes]), axis=0)[:-1].tolist()
    whole = list(zip(controllers, steps, firsts, strict=True))
    state = np.concatenate([first + np.arange(c.given.system.size) for c, _, (first, _) in whole])
    stored = np.concatenate([s.moving[: c.given.system.size] for c, s, _ in whole])
    own = [first + i for c, _, (_, first) in whole for _, part, _, _ in c.joined for i in range(part.start, part.stop)]
    (N, M), n = sizes.sum(axis=0).tolist(), state.size
    return Linear(
        E=block_diag(*(s.E for s in steps)),
        flow=block_diag(*(s.flow for s in steps)),
        B=block_diag(*(s.B for s in steps)),
        state=state.astype(np.int64),
        stored=stored.astype(np.int64),
        x=np.concatenate(states),
        end=np.zeros(n),
        acting=np.hstack([c.acting_over(times) for c in controllers]),
        own=np.array(own, dtype=np.int64),
        seen=np.concatenate([c.entries for c in controllers]).astype(np.int64),
        u=np.zeros(M),
        mean=np.zeros(N),
        solved=np.zeros((N, N + n + M)),
    )


def _feedback(c: FeedbackLoop, x: Array, call: Laid) -> Feedback:
    """A feedback with what it reads at a state."""
    panel, (start, near) = c.panel, c.read(x, c.near)
    which = [i for name in c.given.sensors for i in panel.places[name]]
    return Feedback(
        seen=panel.seen,
        entries=panel.entries.astype(np.int64),
        part=np.zeros(panel.entries.size),
        out=np.zeros((2, panel.size)),
        angles=np.array([panel.angles]),
        which=np.array(which, dtype=np.int64),
        near=np.array(near),
        start=start,
        end=start.copy(),
        call=call.value,
        addresses=np.array([_address(c), call.address]),
        ports=c.entries.astype(np.int64),
    )
