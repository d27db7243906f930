"""Controllers and feedback in compiled loops: the arrays of their agreement with a mechanism, and what it leaves.

Needs numba.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.arrays import Array
from ..numerics.compiled.announcing import announced
from ..numerics.compiled.by_address import Laid, address_of
from .agreement_arrays import function_of, laid_feedback, law_arrays, linear_arrays
from .compiled.data import KNOWN, NEW, SCALE, SLOPE_LENGTH, SPEED, Agreement
from .compiled.loops import agree
from .continuous import LinearSteps
from .laws.laws import DryFriction, Limit

if TYPE_CHECKING:
    from .continuous_loop import ContinuousLoop
    from .joined import Joined
    from .state_feedback import FeedbackLoop


log = logging.getLogger("flexph")
_KNOWN = DryFriction, Limit
"""Laws that compiled loops meet."""


class CompiledAgreement:
    """What acts within the steps between some times, as compiled loops ask it by its ``address``.

    The loops write the ``state`` and mean ``output`` of each try, and take the ``inputs`` of the next one.
    """

    def __init__(self, joined: Joined, times: Array, x: Array, ports: int) -> None:
        self.joined, self.times, steps = joined, times, len(times) - 1
        self.state, self.output, self.inputs = np.zeros(x.size), np.zeros(ports), np.zeros(ports)
        q = joined.entries.size
        self._linear = linear_arrays(joined.controllers, joined.states, times)
        self._feedback = [laid_feedback(c, x, float(times[0]), c.near) for c in joined.feedback]
        widths = [c.entries.size for c in joined.feedback]
        first = q - sum(widths) + np.cumsum([0, *widths], dtype=np.int64)[:-1]
        linear, z = self._linear, np.zeros
        past, slope, scale, length, forces, speed = joined.memory
        m, laws = forces.size, law_arrays(joined, forces, q, steps)
        rows = np.vstack([z((3 - len(past), q)), past])
        given: Any = (
            *(np.ascontiguousarray(times), self.state, self.output, self.inputs, joined.entries.astype(np.int64)),
            *(z(q), z(q), z(q + m), z((2, q + m)), rows, slope.copy(), z((q, q + 1 + m)), z((q + m, q))),
            *(np.array([scale, length, 0.0, math.inf, 0.0, speed, 0.0]), np.array([0, NEW, len(past)], dtype=np.int64)),
            *(linear, laws, np.array([own.address for own in self._feedback], dtype=np.int64), first),
            *(z((steps, linear.mean.size)), z((steps, linear.u.size)), z((steps, linear.own.size))),
            *(z((steps, q)), z((steps, linear.x.size))),
        )
        self._arrays = Agreement(*given)
        self._arrays.tried[:] = joined.guess()
        self._open = np.setdiff1d(np.arange(linear.u.size), laws.column)
        self._acting, self._held = linear.acting.copy(), np.zeros((steps, self._open.size))
        self.hold(0)
        np.add.at(self.inputs, joined.entries, self._arrays.tried)
        self._laid = Laid(self._arrays)
        with announced():
            self.address = address_of(agree, (0, 0))
        self.data = self._laid.address

    def hold(self, step: int) -> None:
        """Let what others hold now act on the controllers from a step on."""
        self._held[step:] = self.joined.held
        self._linear.acting[step:, self._open] = self._acting[step:, self._open] + self._held[step:]

    def commit(self, done: int) -> None:
        """Let the controllers go on from the last of so many steps."""
        a = self._arrays
        if done:
            known = int(a.counts[KNOWN])
            scale, length, speed = a.numbers[[SCALE, SLOPE_LENGTH, SPEED]].tolist()
            self.joined.memory = a.past[3 - known :].copy(), a.slope.copy(), scale, length, a.laws.force.copy(), speed
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
    """Where a controller begins among the unknowns, inputs, states and joined inputs of all."""

    def __init__(self) -> None:
        self.unknown = self.input = self.state = self.joined = 0

    def go_on(self, unknowns: int, inputs: int, states: int, joined: int) -> None:
        """To the next one."""
        self.unknown, self.input = self.unknown + unknowns, self.input + inputs
        self.state, self.joined = self.state + states, self.joined + joined


def is_compiled(joined: Joined) -> bool:
    """Whether compiled loops have all controllers: they are linear, and the functions such that numba compiles them."""
    linear = all(isinstance(c.steps, LinearSteps) for c in joined.controllers)
    return linear and all(isinstance(law, _KNOWN) for law in joined.laws) and are_compiled(joined.feedback)


def are_compiled(feedback: Sequence[FeedbackLoop]) -> bool:
    """Whether compiled loops have the sensors and functions of all feedback; else a sentence says why not."""
    if any(c.panel.seen is None for c in feedback):
        return False
    try:
        return all([function_of(c) for c in feedback])
    except ValueError as error:
        _say_slow(str(error))
        return False


@cache
def _say_slow(reason: str) -> None:
    log.warning("flexph: compiled loops ask Python, since %s", reason)


def _split(x: Array, controllers: list[ContinuousLoop]) -> list[Array]:
    ends = np.cumsum([0, *(c.given.system.size for c in controllers)]).tolist()
    return [x[first:last] for first, last in itertools.pairwise(ends)]
