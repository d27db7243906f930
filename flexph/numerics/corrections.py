"""Iterations of Newton and Gauss-Newton methods, with their limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from .arrays import Array

Value = TypeVar("Value")


class IterationResult(NamedTuple, Generic[Value]):
    """Result of an iteration: the last value, its defect, and in ``settled`` True if it converged."""

    value: Value
    defect: float
    settled: bool


@dataclass(frozen=True)
class IterationLimits:
    """Limits of an iteration that makes a defect small.

    The defect is the size of a correction, or of the residual after the correction. The iteration converges if the
    defect is at most ``settled``, or at most ``stagnated`` and more than ``slow`` times the previous defect
    (round-off). It fails after ``most`` corrections, or if the defect exceeds ``diverged`` or ``growth`` times the
    previous one.
    """

    most: int
    settled: float
    stagnated: float = 0.0
    slow: float = 0.5
    diverged: float = float(np.finfo(float).max)
    growth: float = np.inf

    def settle(self, defect: float, previous: float) -> bool:
        """True if the iteration counts as converged with this ``defect`` after the ``previous`` one."""
        return defect <= self.settled or (defect <= self.stagnated and defect > self.slow * previous)

    def run(self, start: Value, correct: Callable[[Value], tuple[Value, float]]) -> IterationResult[Value]:
        """Iterate from ``start`` until the limits end it; ``correct`` maps a value to the next one and its defect."""
        value, defect, previous = start, np.inf, np.inf
        for _ in range(self.most):
            value, defect = correct(value)
            if self.settle(defect, previous):
                return IterationResult(value, defect, True)
            if not defect <= self.diverged or defect > self.growth * previous:
                break
            previous = defect
        return IterationResult(value, defect, False)


def least_norm_step(jacobian: Array, residual: Array, *, rcond: float) -> Array:
    """Correction δ of least norm that minimises |J δ + r|, with each row of J scaled to a largest entry of one.

    Singular values of J up to ``rcond`` times the largest one count as zero.
    """
    largest = np.abs(jacobian).max(axis=1, initial=0.0)
    scale = np.where(largest > 0.0, largest, 1.0)
    return np.linalg.lstsq(jacobian / scale[:, None], -residual / scale, rcond=rcond)[0]
