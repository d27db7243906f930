"""Control of step sizes from error estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...kernels.convergence.rules import blocks_to, factor_of
from ...numerics import checks as check
from ...numerics.arrays import Array


class StepTooSmall(ArithmeticError):
    """Exception for a ``step`` [s] proposed by step size control that is below the smallest one allowed."""

    def __init__(self, step: float, smallest: float) -> None:
        super().__init__(f"step control fell below {smallest:.2g} s")
        self.step, self.smallest = step, smallest


@dataclass(frozen=True)
class Controller:
    """Proportional-integral controller: after a step h with error ε ∝ h^order relative to the tolerance,

        h ← h · safety · ε^(−0.7/order) · ε₋₁^(0.4/order)  (Gustafsson); rejected ones h · safety · ε^(−1/order),

    with the error ε₋₁ of the last accepted step, and at least ``least`` and at most ``most`` times h. If a rejected
    step would have to be repeated below ``smallest`` [s], StepTooSmall is raised; after an accepted step the next one
    is at least that long. The controller has no memory: its caller keeps ε₋₁.
    """

    order: float = 2.0
    safety: float = 0.9
    least: float = 0.2
    most: float = 2.0
    smallest: float = 0.0

    def __post_init__(self) -> None:
        for name in ("order", "safety", "least", "most"):
            check.positive(name, getattr(self, name))
        check.not_negative("smallest", self.smallest, "s")
        if not self.least < 1.0 <= self.most:
            raise ValueError(f"least < 1 <= most must hold, got {self.least} and {self.most}")

    def propose(self, h: float, error: float, last: float = 1.0) -> tuple[float, bool]:
        """Next step [s] after a step h with the given error, and True if the step h is accepted.

        ``last`` is the error of the last accepted step. An error of NaN counts as infinite. Raises StepTooSmall if the
        step is rejected and the next one would be below ``smallest``.
        """
        accepted = error <= 1.0
        proposed = h * factor_of(error, last, self.order, self.safety, self.least, self.most)
        if proposed < self.smallest and not accepted:
            raise StepTooSmall(proposed, self.smallest)
        return max(proposed, self.smallest), accepted


FIRST = 1.0 / 400.0
"""First step relative to the span of a run, unless its saved times are closer."""

SMALLEST = 1e-10
"""Smallest step relative to the span of a run."""

RESOLVED = 1e3
"""Smallest step relative to the spacing of floating-point numbers at the largest time."""


class Tolerance(NamedTuple):
    """Tolerance of the error of a mechanism's motion.

    ``relative`` refers to the largest kinetic energy of the motion, or to ``floor`` [J] if that is larger.
    """

    relative: float
    floor: float


def read_tolerance(given: Any) -> Tolerance:
    """Tolerance of a mechanism from ``rtol`` or ``(rtol, atol)``, atol in J; raises ValueError otherwise."""
    pair = isinstance(given, tuple | list) and len(given) == 2
    if not pair and np.ndim(given) > 0:
        raise ValueError(f"tolerance must be rtol or (rtol, atol), got {check.shown(given)}")
    relative, floor = given if pair else (given, 0.0)
    return Tolerance(check.positive("rtol" if pair else "tolerance", relative), check.not_negative("atol", floor, "J"))


RELATIVE = 1e-6
"""Default relative tolerance of general systems."""

FINEST = 1e-12
"""Least relative tolerance of general systems: below it, round-off of the iterations fails the error tests."""


def read_tolerances(given: Any) -> tuple[float, Array | None]:
    """Relative and absolute tolerance of a general system, from ``rtol`` or ``(rtol, atol)``.

    ``atol`` is a number or (n,); it is returned as an array (), (n,), or as None if it is not given. Raises ValueError
    for values that are no tolerances.
    """
    relative, absolute = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    rtol = RELATIVE if relative is None else check.positive("the relative tolerance", relative)
    if not FINEST <= rtol < 1.0:
        raise ValueError(f"the relative tolerance must be at least {FINEST:.0e} and below 1, got {rtol:.3g}")
    if absolute is None:
        return rtol, None
    atol = check.array("the absolute tolerance", absolute, np.shape(absolute))
    if np.any(atol <= 0.0):
        raise ValueError(f"absolute tolerances must be positive, got {atol.min()}")
    return rtol, atol


def tolerances_of_states(given: Any, size: int) -> tuple[float, Array | None]:
    """Relative tolerance, and absolute ones (n,) of n states or None without atol, from ``rtol`` or (rtol, atol)."""
    rtol, atol = read_tolerances(given)
    return rtol, None if atol is None else np.array(np.broadcast_to(atol, (size,)))


class StepControlFailed(ArithmeticError):
    """Exception for a run whose step size control demands steps below the smallest one at a ``time`` [s]."""

    def __init__(self, reason: str, time: float) -> None:
        super().__init__(reason)
        self.time = time


class StepSize(NamedTuple):
    """Length ``h`` of the next step to try [s], and the ``error`` of the last accepted step."""

    h: float
    error: float = 1.0


@dataclass(frozen=True)
class StepSizeControl:
    """Step size control of a run over a ``span`` [s], whose first step is ``first``.

    An accepted step may have been shorter than proposed, to meet a saved time. If the control ``extrapolates``, the
    error is scaled to the proposed length, and the next step is not longer than the span.
    """

    span: float
    first: StepSize
    controller: Controller
    extrapolates: bool = False

    @classmethod
    def of(cls, grid: Array, most: float = float("inf"), *, extrapolates: bool = False) -> StepSizeControl:
        """Step size control of a second-order method over the times ``grid``.

        The first step is not longer than ``most`` [s].
        """
        span = float(grid[-1] - grid[0])
        smallest = max(SMALLEST * span, RESOLVED * float(np.spacing(np.abs(grid).max())))
        first = StepSize(max(min(FIRST * span, most), smallest))
        return cls(span, first, Controller(order=2.0, smallest=smallest), extrapolates)

    def times(self, size: StepSize, start: float, end: float, count: int) -> Array:
        """Times (count + 1,) of the next block of ``count`` equal steps from ``start``.

        The steps are as long as ``size`` or shorter, such that a whole number of blocks ends at ``end`` [s].
        """
        blocks = blocks_to(start, end, count, size.h)
        times: Array = start + (end - start) / (count * blocks) * np.arange(count + 1)
        if blocks == 1:
            times[-1] = end
        return times

    def accepted(self, size: StepSize, h: float, error: float) -> StepSize:
        """Size of the next step after an accepted step of h [s] with the given error."""
        if self.extrapolates and size.h > h and error * (size.h / h) ** 2 <= 1.0:
            h, error = size.h, error * (size.h / h) ** 2
        proposed, _ = self.controller.propose(h, error, size.error)
        return StepSize(min(proposed, self.span) if self.extrapolates else proposed, error)

    def rejected(self, size: StepSize, h: float, error: float) -> StepSize:
        """Size of the next step after a rejected step of h [s] with the given error; raises StepTooSmall."""
        return size._replace(h=self.controller.propose(h, error, size.error)[0])
