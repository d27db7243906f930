"""Pairs of equal steps with rigid contacts, with an estimate of their error by a step of twice their length.

Where a gap closes in a step, velocities jump, and differences of mean velocities say nothing. But where steps are split
at impacts, positions at the end of a step have an error that falls with its length as without impacts: a step of 2h
makes four times the error of a pair of h.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from ...kernels.state import momenta
from ...numerics.arrays import Array
from ...numerics.rotations import cross
from ...numerics.step_failed import MotionEnded, StepFailed
from ..schemes.scheme import Scheme
from ..schemes.start import StepResult, StepStart
from ..times.loop import Run
from ..times.step_control import Tried
from .divided_steps import as_one
from .impulse import answer, reflected
from .pair_error import PairError

REMEMBERED = 2
"""Number of steps in the history of a motion that has not jumped in them."""


class Single(Protocol):
    """Stepper of single steps."""

    def step(self, start: StepStart, time: float) -> StepResult:
        """Take the step from a start to a time [s]; raises StepFailed."""


class JudgedPairs(NamedTuple):
    """Pairs of equal ``single`` steps.

    With q at the end of a pair of h and q₂ at that of one step of 2h, the error of its mean velocity is
    δ = (q₂ − q)/(6h), and that of the pair ε = √(δᵀMδ / (2 E)) / rtol (see :class:`PairError`). Modes that h does not
    resolve end anywhere within their amplitude a, and count by a/(3h) in place of their velocity ω a.
    """

    scheme: Scheme
    error: PairError
    single: Single

    def known(self, start: StepStart) -> float:
        """See :meth:`PairError.known`."""
        return self.error.known(start)

    def count(self, known: float) -> int:
        """See :meth:`PairError.count`."""
        return self.error.count(known)

    def step(self, start: StepStart, time: float) -> StepResult:
        """Take the pair from a start to a time [s]; raises StepFailed."""
        return self._pair(start, 0.5 * (start.time + time), time)[0]

    def attempt(self, run: Run, times: Array, known: float) -> Tried:
        """Try the pair of steps through the times; ``known`` is the largest kinetic energy so far [J]."""
        start, (_, middle, end) = run.start, times.tolist()
        run.trying(start.time, end)
        try:
            once = self.single.step(start, end)
            pair, left = self._pair(start, middle, end)
        except StepFailed as failed:
            return Tried([], math.inf, str(failed), known, ended=failed if isinstance(failed, MotionEnded) else None)
        kinetic = [name.startswith("kinetic ") for name in self.scheme.accounts.energy]
        energy = max(known, *(float(at.energy[kinetic].sum()) for at in (start, pair.end)))
        motion = self._apart(once.end, pair.end, middle - start.time)
        return self.error.judged((start, pair, partial(self.step, start)), (motion, left), known, energy)

    def _pair(self, start: StepStart, middle: float, end: float) -> tuple[StepResult, float]:
        """Both steps as one, and the kinetic energy of the velocity defect that they leave [J].

        The defect is reflected where the next pair would add to it: a pair adds about h³c′ to the c h² that a single
        step leaves, which over many pairs would add up.
        """
        first = self.single.step(start, middle)
        second = self.single.step(first.end, end)
        pair, left = as_one(start, (first, second), 2), second.end.state.defect
        if not left.size:
            return pair, 0.0
        jumped = len(second.end.history) < REMEMBERED  # after an impact velocities keep the joints
        added = left if jumped else left - start.state.defect
        coefficient, rates = self.scheme.table.at(end)[0], self.scheme.table.rates(end, end - middle)
        impulses = answer(self.scheme, pair, coefficient, np.column_stack([left, added]))
        if impulses.mu[:, 0] @ added > 0.0:
            pair = reflected(self.scheme, pair, (coefficient, rates), impulses)
        return pair, 0.5 * float(impulses.mu[:, 1] @ added)

    def _apart(self, once: StepStart, pair: StepStart, h: float) -> float:
        """Kinetic energy ½ δᵀMδ [J] of the velocity error δ, from the ends of one step of 2h and of a pair of h."""
        a, c, other = self.scheme.arrays, pair.state.c, once.state.c
        turn = np.einsum("bji,bjk->bik", c.R, other.R)
        spin = 0.5 * np.einsum("aij,bij->ba", cross(c.R.shape[-1]), turn)
        delta = [part / (6.0 * h) for part in (other.r - c.r, spin, other.u - c.u)]
        momentum = a.mass[:, None] * delta[0], *momenta(a, delta[1], c.u, delta[2])
        return 0.5 * sum(float(np.vdot(p, q)) for p, q in zip(momentum, delta, strict=True))
