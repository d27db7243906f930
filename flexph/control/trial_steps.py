"""Trial steps: the mechanism under given inputs, its outputs at ports, and the controllers' responses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kernels.continuous import input_matrix
from ..kernels.state import derive, places
from ..mechanisms.model.constraints import velocities_of
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..numerics.arrays import Array
from .continuous import ControllerStep
from .continuous_loop import ContinuousLoop
from .loops.tolerances import SHIFT
from .state_feedback import FeedbackLoop


def outputs_at(mechanism: Model, x: Array) -> Array:
    """Outputs (i,) of all external ports at a flat state, in their axes."""
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    d = derive(a, c)
    y: Array = input_matrix(a, c.R, d.arm, places(a, c, d)).T @ velocities_of(mechanism, c)
    return y


class PortOutputs(NamedTuple):
    """Outputs of some external ports: slices of their vector (m,), and its indices ``among`` those of all ports."""

    slices: dict[str, slice]
    among: Array

    @classmethod
    def of(cls, mechanism: Model, ports: Collection[str]) -> PortOutputs:
        """Outputs of some ports of a mechanism."""
        own = {name: part for name, part in mechanism.network.input_slices.items() if name in ports}
        ends = np.cumsum([0, *(part.stop - part.start for part in own.values())]).tolist()
        slices = {name: slice(first, last) for name, first, last in zip(own, ends[:-1], ends[1:], strict=True)}
        return cls(
            slices, np.concatenate([np.zeros(0, dtype=int), *(np.arange(p.start, p.stop) for p in own.values())])
        )


Take = Callable[[Array], tuple[Any, Array, Array]]
"""Step of the mechanism under inputs (i,): its result, its end state, and its mean outputs (i,)."""


class TrialStep(NamedTuple):
    """Trial step: result of the mechanism, its outputs, and steps and responses (``answers``) of the controllers.

    ``off`` (q + m,) are inputs minus responses, then the mean rates of the ports closed by laws.
    """

    result: Any
    output: Array
    steps: list[tuple[ControllerStep, Array]]
    answers: Array
    off: Array
    near: list[list[float]]


class TrialSteps(NamedTuple):
    """Trial steps from a state of the mechanism, with external inputs of the controllers.

    ``widened`` maps the controllers' inputs to all ports; ``read`` are the readings of feedback at the start.
    """

    controllers: Sequence[ContinuousLoop]
    feedback: Sequence[FeedbackLoop]
    outputs: PortOutputs
    widened: Callable[[Array], Array]
    span: tuple[float, float]
    take: Take
    acting: list[Array]
    states: list[Array]
    read: list[tuple[Array, list[float]]]

    @property
    def h(self) -> float:
        """Length of the step [s]."""
        return self.span[1] - self.span[0]

    def __call__(self, inputs: Array, forces: Array) -> TrialStep:
        """Try the step with inputs (q,) at the ports of the controllers and forces (m,) of their laws."""
        result, end, every = self.take(self.widened(inputs))
        return self._trial_result(inputs, forces, result, end, every[self.outputs.among])

    def _trial_result(self, inputs: Array, forces: Array, result: Any, end: Array, output: Array) -> TrialStep:
        steps, parts, rates, first = [], [], [], 0
        for c, own, acting in zip(self.controllers, self.states, self.acting, strict=True):
            last, u = first + len(c.steps.laws), c.total_input(acting, output)
            step = c.steps.step(own, self.h, u, forces[first:last])
            parts += [-step.output[part] for _, part, *_ in c.coupled]
            steps.append((step, u))
            rates.append(step.rates)
            first = last
        ends, middle = [], 0.5 * (self.span[0] + self.span[1])
        for own_loop, (start, near) in zip(self.feedback, self.read, strict=True):
            readings, near = own_loop.read(end, near)
            parts.append(own_loop.answer(middle, 0.5 * (start + readings)))
            ends.append(near)
        answers = np.concatenate(parts)
        return TrialStep(result, output, steps, answers, np.concatenate([inputs - answers, *rates]), ends)

    def slope(self, inputs: Array, forces: Array) -> Array:
        """Finite-difference Jacobian of ``off`` with respect to the inputs, (q + m, q)."""
        base, q = self(inputs, forces).off, inputs.size
        shift = SHIFT * max(1.0, float(np.abs(base[:q]).max(initial=0.0)))
        moved = [inputs + shift * one for one in np.eye(q)]
        return np.array([(self(given, forces).off - base) / shift for given in moved]).T

    def by_forces(self, q: int) -> Array:
        """Jacobian of ``off`` with respect to the forces of the laws with the mechanism's motion fixed, (q + m, m)."""
        count = sum(len(c.steps.laws) for c in self.controllers)
        change, into, first = np.zeros((q + count, count)), 0, 0
        for c in self.controllers:
            outputs, rates = c.steps.by_forces(self.h)
            last = first + len(c.steps.laws)
            for _, part, _, _ in c.coupled:
                width = part.stop - part.start
                change[into : into + width, first:last] = outputs[part]
                into += width
            change[q + first : q + last, first:last] = rates
            first = last
        return change
