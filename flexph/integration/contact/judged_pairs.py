"""Pairs of equal steps with rigid contacts, with an estimate of their error by a step of twice their length.

Where a gap closes in a step, velocities jump, and differences of mean velocities say nothing. But where steps are split
at impacts, positions at the end of a step have an error that falls with its length as without impacts: a step of 2h
makes four times the error of a pair of h.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Protocol

import numpy as np

from ...kernels.values import Schedule
from ...numerics.arrays import Array
from ...numerics.rotations import cross
from ...numerics.step_failed import MotionEnded, StepFailed
from ..exact.advance import Rates
from ..exact.pairs_of_steps import PairStepper
from ..exact.step import StepResult, StepStart
from ..times.loop import Run
from ..times.step_control import Tried
from ..times.step_size import Tolerance
from .stepper import RigidStepper

REMEMBERED = 2
"""Steps that a motion remembers which has not jumped in them."""


class Single(Protocol):
    """What takes single steps."""

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s]; raises StepFailed."""


class JudgedPairs(PairStepper):
    """Pairs of equal steps, which anything takes that takes ``single`` ones.

    With q where a pair of h leads to and q₂ where one step of 2h does, the error of its mean velocity is
    δ = (q₂ − q)/(6h), and that of the pair ε = √(δᵀMδ / (2 E)) / rtol (see :class:`PairStepper`). Modes that h does
    not resolve end anywhere within their amplitude a, and count by a/(3h) in place of their velocity ω a.
    """

    inner: RigidStepper

    def __init__(self, inner: RigidStepper, tolerance: Tolerance, single: Single | None = None) -> None:
        super().__init__(inner, tolerance)
        self.single: Single = single or inner

    def step(self, start: StepStart, time: float) -> StepResult:
        """The pair from a start to a time [s]; raises StepFailed."""
        return self._pair(start, 0.5 * (start.time + time), time)[0]

    def attempt(self, run: Run, times: Array, known: float) -> Tried:
        """The pair of steps through the times, and its error; ``known`` is the largest kinetic energy so far [J]."""
        start, (_, middle, end) = run.start, times.tolist()
        run.trying(start.time, end)
        try:
            once = self.single.step(start, end)
            pair, left = self._pair(start, middle, end)
        except StepFailed as failed:
            return Tried([], math.inf, str(failed), known, ended=failed if isinstance(failed, MotionEnded) else None)
        energy = max(known, *(float(at.energy[self._kinetic].sum()) for at in (start, pair.end)))
        motion = self._apart(once.end, pair.end, middle - start.time)
        return self.judged((start, pair, partial(self.step, start)), (motion, left), known, energy)

    def _pair(self, start: StepStart, middle: float, end: float) -> tuple[StepResult, float]:
        """Both steps as one, and the kinetic energy of the velocity defect that they leave [J]."""
        first = self.single.step(start, middle)
        second = self.single.step(first.end, end)
        jumped = len(second.end.history) < REMEMBERED

        def at_end() -> tuple[Schedule, Rates]:
            between = first.end, end
            inputs = self.inner.forcing.at(0.5 * (middle + end))
            return self.inner.prescribed(*between, inputs), self.inner.table.rates(end, end - middle)

        return self.reflected(start, [first, second], at_end, jumped)

    def _apart(self, once: StepStart, pair: StepStart, h: float) -> float:
        """½ δᵀMδ [J]."""
        c, other = pair.state.c, once.state.c
        turn = np.einsum("bji,bjk->bik", c.R, other.R)
        spin = 0.5 * np.einsum("aij,bij->ba", cross(c.R.shape[-1]), turn)
        delta = [part / (6.0 * h) for part in (other.r - c.r, spin, other.u - c.u)]
        return 0.5 * sum(float(np.vdot(p, q)) for p, q in zip(self.momentum(c, *delta), delta, strict=True))
