"""Pairs of steps chosen by their error, in which controllers within the steps agree with the mechanism."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.joined import AgreedStep
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ..blocks.block_stepper import BlockStepper
from ..blocks.judged_pairs import JudgedPairs
from ..blocks.pairs import PairBlocks
from ..schemes.start import StepResult, StepStart
from ..times.loop import Run
from ..times.sampled import JoinedResult
from ..times.step_control import ErrorEstimate, Tried
from .agreed_steps import AgreedSteps, joined_as_one


class _Singles:
    """Single steps of a pair, and the step of twice their length; the second continues the controllers of the first.

    ``results`` are the steps taken.
    """

    def __init__(self, blocks: BlockStepper, loops: ControlLoops) -> None:
        self._steps, self.results = AgreedSteps(blocks, loops), list[JoinedResult]()

    def step(self, start: StepStart, time: float) -> StepResult:
        """See :class:`JudgedPairs`."""
        begun = None
        if self.results and self.results[-1].end is start:
            agreed = self.results[-1].agreed
            assert isinstance(agreed, AgreedStep)
            begun = agreed.then
        self.results.append(self._steps.steps(start, time, begun)[0])
        result: StepResult = self.results[-1].result
        return result


class AgreedPairs(NamedTuple):
    """Pairs of steps with an estimate of their error, in both of which controllers agree with the mechanism."""

    blocks: BlockStepper
    loops: ControlLoops
    estimate: ErrorEstimate

    def known(self, start: StepStart) -> Any:
        """See :class:`ErrorEstimate`."""
        return self.estimate.known(start)

    def count(self, known: Any) -> int:
        """See :class:`ErrorEstimate`."""
        return self.estimate.count(known)

    def attempt(self, run: Run, times: Array, known: Any) -> Tried:
        """See :class:`ErrorEstimate`; controllers go on from a pair whose error is allowed."""
        start, end = run.start, float(times[-1])
        run.trying(start.time, end)
        try:
            tried = self._smooth(start, end, known) if isinstance(self.blocks, PairBlocks) else None
            tried = tried or self._judged(run, times, known)
        except StepFailed as failed:
            return Tried([], np.inf, str(failed), known, ended=failed if isinstance(failed, MotionEnded) else None)
        if tried.error <= 1.0:
            assert self.loops.joined is not None
            self.loops.joined.commit(tried.steps[0][1].agreed)
        return tried

    def _smooth(self, start: StepStart, end: float, known: Any) -> Tried:
        """Pair of a mechanism without rigid contacts."""
        assert isinstance(self.blocks, PairBlocks)
        steps = AgreedSteps(self.blocks, self.loops)
        result, (motion, left, energy) = steps.steps(start, end)
        step = start, result, partial(steps.step, start)
        return self.blocks.error.judged(step, (motion, left), known, max(known, float(energy)))

    def _judged(self, run: Run, times: Array, known: Any) -> Tried:
        """Pair of a mechanism with rigid contacts, compared with a step of twice its length."""
        assert isinstance(self.estimate, JudgedPairs)
        singles = _Singles(self.blocks, self.loops)
        tried = self.estimate._replace(single=singles).attempt(run, times, known)
        if not tried.steps:
            return tried
        ((start, pair, _),) = tried.steps
        return tried._replace(steps=[(start, self._pair(start, pair, singles), partial(self._shorter, start))])

    def _shorter(self, start: StepStart, time: float) -> JoinedResult:
        singles = _Singles(self.blocks, self.loops)
        assert isinstance(self.estimate, JudgedPairs)
        pair = self.estimate._replace(single=singles).step(start, time)
        return self._pair(start, pair, singles)

    def _pair(self, start: StepStart, pair: StepResult, singles: _Singles) -> JoinedResult:
        first, second = singles.results[-2:]
        return joined_as_one(self.blocks, start, pair, (first, second))
