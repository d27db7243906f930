"""Error of pairs of equal steps of general systems (see flexph.integration.times.step_control)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ...consistency.equations import sizes
from ...discretisation.descriptor_split import differential_states
from ...kernels.convergence.tolerances import LEFT
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..times.loop import Run
from ..times.step_control import Tried
from ..times.step_size import tolerances_of_states
from .stepper import StepStart, SystemStepper

START = 3
"""Number of pairs in the first block: their ends and the start give the third difference of the estimate."""

Ends = list[tuple[float, Array]]
"""Times and states at the ends of pairs."""


class PairError:
    """Error of pairs of steps of length h, ε = rms(e/size)^⅔ / rtol ≤ 1 with e = h³ x[t₋₂, t₋₁, t₀, t₁] of a pair.

    The divided difference x‴/6 is that of the differential states at the ends of the last three pairs and the new one;
    e is h³x‴/12 for each of both steps. A state with size/τ³ = x‴ changes on the time scale τ, and h is proportional to
    τ √rtol: the error of a state over one of its time scales is proportional to rtol times its size, for any h.
    If it is larger, ε is rms(a/size)/(10 rtol), a half the amplitude by which a state alternates from step to step, as
    velocities do that a constraint does not allow: the ends of pairs do not show it.
    The size is |x| + atol/rtol; without an atol it is |x| plus that of
    :func:`flexph.consistency.equations.sizes`. The first three pairs, and those after a rejection, are of equal
    length and accepted or rejected together.
    """

    def __init__(self, stepper: SystemStepper, x0: Array, tolerance: Any) -> None:
        self.stepper = stepper
        self.rtol, atol = tolerances_of_states(tolerance, x0.size)
        self._floor = sizes(stepper.system, x0) if atol is None else atol / self.rtol
        self._own = differential_states(stepper.system)[0]

    def known(self, start: StepStart) -> Ends:
        """History of the estimate at the start, which counts as the end of a pair."""
        return [(start.time, start.x)]

    def count(self, known: Ends) -> int:
        """Number of steps of the next block: one pair, or those of the first estimate."""
        return 2 if len(known) == START else 2 * START

    def attempt(self, run: Run, times: Array, known: Ends) -> Tried:
        """Try steps from the current start through the times, with the error of their last pair.

        A rejection drops the ends of earlier pairs: over long steps, they hide a kink in a short one by (h/H)².
        """
        start, steps, sizes = run.start, [], run.start.sizes
        usual = max(float(times[-1] - times[0]) / (times.size - 1), run.longest)
        try:
            for end in times[1:].tolist():
                run.trying(start.time, end)
                first = start._replace(sizes=sizes)  # sizes of accepted states
                result = self.stepper.step(first, end, max(end - start.time, run.longest))
                result = result.with_sizes(start.sizes)
                steps.append((start, result, partial(self.stepper.step, start, usual=usual)))
                start = result.end
        except StepFailed as failed:
            return Tried([], math.inf, str(failed), known[-1:])
        ends = known + [(result.end.time, result.end.x) for _, result, _ in steps[1::2]]
        error = self._error(ends[-START - 1 :], steps[-1][0].x)
        cause = f"the error is still {error:.1f} times the tolerance"
        return Tried(steps, error, cause, ends[-START:] if error <= 1.0 else known[-1:])

    def _error(self, ends: list[tuple[float, Array]], middle: Array) -> float:
        """Error of the last pair, from the last four ends of pairs and the state in its middle."""
        times, states = (np.array(values) for values in zip(*ends, strict=True))
        h, size = 0.5 * (times[-1] - times[-2]), np.abs(states[-2:]).max(axis=0) + self._floor
        missing = h**3 * divided_difference(times, states)
        bend = 0.5 * h**2 * divided_difference(times[1:], states[1:])
        turning = 0.25 * (states[-2] - 2.0 * middle + states[-1]) - bend
        errors = self._mean(missing, size) ** (2.0 / 3.0), self._mean(turning, size) / LEFT
        return max(errors) / self.rtol

    def _mean(self, x: Array, size: Array) -> float:
        """Root mean square of the differential part of x, divided by the sizes."""
        own = self._own @ (self._own.T @ x)
        return float(np.linalg.norm(own / size)) / math.sqrt(max(self._own.shape[1], 1))


def divided_difference(times: Array, values: Array) -> Array:
    """Newton's divided difference of values (k, n) at times (k,): the derivative of order k − 1 divided by (k − 1)!."""
    differences: Array = values
    for k in range(1, len(times)):
        differences = np.diff(differences, axis=0) / (times[k:] - times[:-k])[:, None]
    return differences[0]
