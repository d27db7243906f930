"""Steps of general systems chosen by their error: pairs of equal steps, accepted or rejected as one, to given times.

A step of an index-2 system reflects the defect of its velocity constraints and a pair of equal ones returns it
(:mod:`flexph.integration.exact.composition`), so that h may change after each pair; what the pairs end at is smooth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...consistency.equations import sizes
from ...discretisation.broyden import StepFailed
from ...discretisation.descriptor_split import Split, differential_split
from ...discretisation.discrete_gradient_pairs import Advance
from ...numerics.arrays import Array
from ...systems.nonlinear import PHDAE
from ..times.step_size import FIRST, FITS, LEFT, RESOLVED, SMALLEST, Controller, NoPace, tolerances_of_states

START = 3
"""Pairs of the first block: their ends and the start make the third difference of the estimate."""


Attempt = Callable[[float, float, Array], tuple[Array, Advance]]
"""One step between two times from a state: its inputs, and what the method says of it; raises StepFailed."""


class Taken(NamedTuple):
    """A step that is not booked yet: its times, the state before, its inputs, and what the method says of it.

    ``memory`` is that of the method before the step.
    """

    start: float
    end: float
    before: Array
    inputs: Array
    made: Advance
    memory: Any


class Pace:
    """Pairs of steps of h whose error is ε = rms(e/size)^⅔ / rtol ≤ 1, with e = h³ x[t₋₂, t₋₁, t₀, t₁] of a pair.

    The divided difference is that of the differential states at the ends of the last three pairs and the new one,
    x‴/6, and e its h³x‴/12 for each of both steps. A state with size/τ³ = x‴ changes on the time scale τ, and h goes
    with τ √rtol: errors of a state over one of its time scales go with rtol times its size, whatever h.
    Where it is larger, ε is rms(a/size)/(10 rtol), a the half of what a state changes by to and fro from step to step,
    as velocities do that a constraint does not allow: the ends of pairs do not see it.
    The size is |x| + atol/rtol; without an atol it is |x| and that of
    :func:`flexph.consistency.equations.sizes`. The first three pairs, and those after a rejection, are of equal
    length and accepted or rejected as one.
    """

    def __init__(self, system: PHDAE, x0: Array, grid: Array, tolerance: Any) -> None:
        self.rtol, atol = tolerances_of_states(tolerance, x0.size)
        self._floor = sizes(system, x0) if atol is None else atol / self.rtol
        self._split = _split(system)
        self._span = span = float(grid[-1] - grid[0])
        smallest = max(SMALLEST * span, RESOLVED * float(np.spacing(np.abs(grid).max())))
        self.controller = Controller(order=2.0, smallest=smallest)
        self.h, self.last, self.longest = max(FIRST * span, smallest), 1.0, 0.0
        self._ends = [(float(grid[0]), x0)]  # of pairs

    def until(self, time: float, stepper: Any, step: Attempt) -> Iterator[tuple[list[Taken], int]]:
        """Accepted steps of a stepper up to a time, and how many were rejected before them; raises NoPace."""
        rejected, memory = 0, stepper.memory
        while self._ends[-1][0] < time:
            times = self._proposed(time)
            h = float(times[-1] - times[0]) / (len(times) - 1)
            stepper.memory = memory
            taken, error, cause = self._attempt(times, stepper, step)
            if not error <= 1.0:
                self._shorten(h, error, cause)
                rejected += len(times) - 1
                continue
            self._go_on(h, error)
            memory, self._ends = stepper.memory, self._with(taken)[-START:]
            yield taken, rejected
            rejected = 0

    def _shorten(self, h: float, error: float, cause: str) -> None:
        """After a rejection, which also leaves the states before behind: over long steps, they hide a kink in a short
        one by (h/H)²."""
        self._ends = self._ends[-1:]
        try:
            self.h, _ = self.controller.propose(h, error, self.last)
        except ArithmeticError as small:
            raise NoPace(f"{small}: {cause}", self._ends[0][0]) from None

    def _go_on(self, h: float, error: float) -> None:
        """After an accepted step, which may have been shorter than proposed to meet a saved time."""
        self.longest = max(self.longest, h)
        if self.h > h and error * (self.h / h) ** 2 <= 1.0:
            h, error = self.h, error * (self.h / h) ** 2
        proposed, _ = self.controller.propose(h, error, self.last)
        self.h, self.last = min(proposed, self._span), error

    def _proposed(self, time: float) -> Array:
        """The times of the next steps, which meet the one asked for."""
        start, steps = self._ends[-1][0], 2 if len(self._ends) == START else 2 * START
        count = max(1, math.ceil((time - start) / (steps * self.h * (1.0 + FITS))))
        h = (time - start) / (steps * count)
        times: Array = start + h * np.arange(steps + 1)
        if count == 1:
            times[-1] = time
        return times

    def _attempt(self, times: Array, stepper: Any, step: Attempt) -> tuple[list[Taken], float, str]:
        """Steps between the times, the error of their last pair, and what to say if it is too large."""
        taken: list[Taken] = []
        x = self._ends[-1][1]
        try:
            for start, end in zip(times[:-1].tolist(), times[1:].tolist(), strict=True):
                memory = stepper.memory
                taken.append(Taken(start, end, x, *step(start, end, x), memory))
                x = taken[-1].made.state
        except StepFailed as failed:
            return taken, math.inf, str(failed)
        error = self._error(self._with(taken)[-START - 1 :], taken[-1].before)
        return taken, error, f"the error is still {error:.1f} times the tolerance"

    def _with(self, taken: list[Taken]) -> list[tuple[float, Array]]:
        """Times and states at the ends of pairs, those of further steps included."""
        return self._ends + [(t.end, t.made.state) for t in taken[1::2]]

    def _error(self, ends: list[tuple[float, Array]], middle: Array) -> float:
        """That of the last pair, from the last four ends of pairs and the state in its middle."""
        times, states = (np.array(values) for values in zip(*ends, strict=True))
        h, size = 0.5 * (times[-1] - times[-2]), np.abs(states[-2:]).max(axis=0) + self._floor
        missing = h**3 * divided_difference(times, states)
        bend = 0.5 * h**2 * divided_difference(times[1:], states[1:])
        turning = 0.25 * (states[-2] - 2.0 * middle + states[-1]) - bend
        found = self._mean(missing, size) ** (2.0 / 3.0), self._mean(turning, size) / LEFT
        return max(found) / self.rtol

    def _mean(self, x: Array, size: Array) -> float:
        """Root of the mean square of the differential states over their sizes."""
        if self._split is None:
            return float(np.sqrt(np.mean((x / size) ** 2)))
        count = max(self._split.V1.shape[1], 1)
        return float(np.linalg.norm(self._split.differential(x) / size)) / math.sqrt(count)


def divided_difference(times: Array, values: Array) -> Array:
    """Newton's divided difference of values (k, n) over all their times (k,): the derivative of order k − 1 over its
    factorial."""
    made: Array = values
    for k in range(1, len(times)):
        made = np.diff(made, axis=0) / (times[k:] - times[:-k])[:, None]
    return made[0]


def _split(system: PHDAE) -> Split | None:
    """The differential states, or None where they are not known beforehand."""
    try:
        return differential_split(system)
    except ValueError:
        return None
