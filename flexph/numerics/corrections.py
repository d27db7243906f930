"""Newton's method and Gauss-Newton: corrections of a value until they settle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from .arrays import Array

Value = TypeVar("Value")


class Corrected(NamedTuple, Generic[Value]):
    """The last value of an iteration, how large its defect is, and whether it settled."""

    value: Value
    defect: float
    settled: bool


@dataclass(frozen=True)
class Corrections:
    """When corrections end, by their defect: the size of a correction, or of the residual that it leaves.

    They settle where it is at most ``settled``, or at most ``stagnated`` and more than ``slow`` times the one before:
    that is round-off. They are given up after ``most`` of them, beyond ``diverged``, and beyond ``growth`` times the
    one before.
    """

    most: int
    settled: float
    stagnated: float = 0.0
    slow: float = 0.5
    diverged: float = float(np.finfo(float).max)
    growth: float = np.inf

    def settle(self, defect: float, previous: float) -> bool:
        """Whether corrections end with this defect after the one before."""
        return defect <= self.settled or (defect <= self.stagnated and defect > self.slow * previous)

    def run(self, start: Value, correct: Callable[[Value], tuple[Value, float]]) -> Corrected[Value]:
        """The value that ``correct``, a function of a value to the next one and its defect, settles at."""
        value, defect, previous = start, np.inf, np.inf
        for _ in range(self.most):
            value, defect = correct(value)
            if self.settle(defect, previous):
                return Corrected(value, defect, True)
            if not defect <= self.diverged or defect > self.growth * previous:
                break
            previous = defect
        return Corrected(value, defect, False)


def least_norm_step(jacobian: Array, residual: Array, *, rcond: float) -> Array:
    """The δ of least norm with ``Jδ = −r``, as nearly as can be; rows are divided by their largest entries first."""
    largest = np.abs(jacobian).max(axis=1, initial=0.0)
    scale = np.where(largest > 0.0, largest, 1.0)
    return np.linalg.lstsq(jacobian / scale[:, None], -residual / scale, rcond=rcond)[0]
