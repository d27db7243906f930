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
    """Outputs (i,) of all external ports at the flat state x, each in the axes of its input."""
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    d = derive(a, c)
    y: Array = input_matrix(a, c.R, d.arm, places(a, c, d)).T @ velocities_of(mechanism, c)
    return y


class PortOutputs(NamedTuple):
    """Selection of some external ports of a mechanism.

    ``slices`` are the slices of the selected ports in the vector (m,) of selected outputs, ``among`` (m,) the indices
    of the selected outputs among those of all ports.
    """

    slices: dict[str, slice]
    among: Array

    @classmethod
    def of(cls, mechanism: Model, ports: Collection[str]) -> PortOutputs:
        """Selection of the ports with the given names, in the order of the mechanism."""
        inputs = {name: part for name, part in mechanism.network.input_slices.items() if name in ports}
        ends = np.cumsum([0, *(part.stop - part.start for part in inputs.values())]).tolist()
        slices = {name: slice(first, last) for name, first, last in zip(inputs, ends[:-1], ends[1:], strict=True)}
        return cls(
            slices, np.concatenate([np.zeros(0, dtype=int), *(np.arange(p.start, p.stop) for p in inputs.values())])
        )


Take = Callable[[Array], tuple[Any, Array, Array]]
"""Step of the mechanism under inputs (i,): its result, its end state, and its mean outputs (i,)."""


class TrialStep(NamedTuple):
    """Result of a trial step.

    ``result`` is that of the mechanism, ``output`` are its outputs at the selected ports. ``steps`` are the steps of
    the continuous controllers with their inputs, ``answers`` (q,) the responses of all controllers. ``off`` (q + m,)
    are inputs minus responses, then the mean rates of the ports that laws close. ``near`` are the last values of
    feedback sensors.
    """

    result: Any
    output: Array
    steps: list[tuple[ControllerStep, Array]]
    answers: Array
    off: Array
    near: list[list[float]]


class TrialSteps(NamedTuple):
    """Function that takes trial steps from one state of mechanism and controllers.

    ``widened`` maps the controllers' inputs (q,) to all ports (i,). ``take`` is the function that solves a step of the
    mechanism. ``acting`` are the external inputs of the controllers, ``states`` their states, and ``read`` the readings
    of feedback at the start.
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
        """Take the step with given inputs (q,) of controllers to the mechanism, and forces (m,) of laws."""
        result, end, every = self.take(self.widened(inputs))
        return self._trial_result(inputs, forces, result, end, every[self.outputs.among])

    def _trial_result(self, inputs: Array, forces: Array, result: Any, end: Array, output: Array) -> TrialStep:
        steps, parts, rates, first = [], [], [], 0
        for c, state, acting in zip(self.controllers, self.states, self.acting, strict=True):
            last, u = first + len(c.steps.laws), c.total_input(acting, output)
            step = c.steps.step(state, self.h, u, forces[first:last])
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
        """Derivatives (q + m, q) of ``off`` with respect to the inputs, by finite differences."""
        base, q = self(inputs, forces).off, inputs.size
        shift = SHIFT * max(1.0, float(np.abs(base[:q]).max(initial=0.0)))
        moved = [inputs + shift * one for one in np.eye(q)]
        return np.array([(self(given, forces).off - base) / shift for given in moved]).T

    def by_forces(self, q: int) -> Array:
        """Derivatives (q + m, m) of ``off`` with respect to forces of laws, with the mechanism's step unchanged."""
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
