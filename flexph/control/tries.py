"""Tries of a step: the mechanism under inputs of controllers, and what these answer to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from .continuous import ControllerStep
from .continuous_loop import ContinuousLoop
from .loops.tolerances import SHIFT
from .port_outputs import PortOutputs
from .state_feedback import FeedbackLoop

Take = Callable[[Array], tuple[Any, Array, Array | None]]
"""The step of the mechanism under inputs (i,): its result, the state at its end, and its mean outputs (i,) if known."""


class Tried(NamedTuple):
    """A try of a step: that of the mechanism, its outputs, steps and inputs of the controllers.

    ``off`` (q + m,) are inputs minus answers, and the mean rates of the ports that laws close.
    """

    result: Any
    output: Array
    steps: list[tuple[ControllerStep, Array]]
    answers: Array
    off: Array
    near: list[list[float]]


class Tries(NamedTuple):
    """Tries of a step from a state of the mechanism, with what acts on controllers from outside.

    ``widened`` makes inputs of the mechanism of those of controllers, ``read`` is what feedback reads at its start.
    """

    controllers: Sequence[ContinuousLoop]
    feedback: Sequence[FeedbackLoop]
    outputs: PortOutputs | None
    widened: Callable[[Array], Array]
    x: Array
    span: tuple[float, float]
    take: Take
    acting: list[Array]
    states: list[Array]
    read: list[tuple[Array, list[float]]]

    @property
    def h(self) -> float:
        """Length of the step [s]."""
        return self.span[1] - self.span[0]

    def __call__(self, inputs: Array, forces: Array) -> Tried:
        """The step under inputs at the ports of the controllers (q,) and forces of their laws (m,)."""
        result, end, every = self.take(self.widened(inputs))
        if self.outputs is None:
            return self._answered(inputs, forces, result, end, np.zeros(0))
        output = self.outputs.over(self.x, end, self.h) if every is None else every[self.outputs.among]
        return self._answered(inputs, forces, result, end, output)

    def _answered(self, inputs: Array, forces: Array, result: Any, end: Array, output: Array) -> Tried:
        steps, parts, rates, first = [], [], [], 0
        for c, own, acting in zip(self.controllers, self.states, self.acting, strict=True):
            last, u = first + len(c.steps.laws), c.whole_input(acting, output)
            step = c.steps.step(own, self.h, u, forces[first:last])
            parts += [-step.output[part] for _, part, *_ in c.joined]
            steps.append((step, u))
            rates.append(step.rates)
            first = last
        ends, middle = [], 0.5 * (self.span[0] + self.span[1])
        for own_loop, (start, near) in zip(self.feedback, self.read, strict=True):
            readings, near = own_loop.read(end, near)
            parts.append(own_loop.answer(middle, 0.5 * (start + readings)))
            ends.append(near)
        answers = np.concatenate(parts)
        return Tried(result, output, steps, answers, np.concatenate([inputs - answers, *rates]), ends)

    def slope(self, inputs: Array, forces: Array) -> Array:
        """How what is off changes with the inputs, measured, (q + m, q)."""
        base, q = self(inputs, forces).off, inputs.size
        shift = SHIFT * max(1.0, float(np.abs(base[:q]).max(initial=0.0)))
        moved = [inputs + shift * one for one in np.eye(q)]
        return np.array([(self(given, forces).off - base) / shift for given in moved]).T

    def by_forces(self, q: int) -> Array:
        """How it changes with the forces of the laws where the mechanism moves as it does, (q + m, m)."""
        count = sum(len(c.steps.laws) for c in self.controllers)
        change, into, first = np.zeros((q + count, count)), 0, 0
        for c in self.controllers:
            outputs, rates = c.steps.by_forces(self.h)
            last = first + len(c.steps.laws)
            for _, part, _, _ in c.joined:
                width = part.stop - part.start
                change[into : into + width, first:last] = outputs[part]
                into += width
            change[q + first : q + last, first:last] = rates
            first = last
        return change
