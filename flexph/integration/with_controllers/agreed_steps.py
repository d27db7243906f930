"""Compiled steps, single and in pairs chosen by their error, with controllers that are solved within the step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...control.agreement import CompiledAgreement
from ...control.control_loops import ControlLoops
from ...control.joined import AgreedStep
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ..blocks.block_stepper import BlockStepper
from ..blocks.pairs import SUMS, PairBlocks
from ..blocks.single_steps import as_one as steps_as_one
from ..blocks.strikes import JudgedPairs
from ..loops.memory.structures import Rows
from ..schemes.scheme import StepResult, StepStart
from ..times.controlled_runs import JoinedResult, held_steps
from ..times.loop import Run
from ..times.step_control import ErrorEstimate, Tried


class DividedSteps(ABC):
    """Steps with controllers that may be divided; each step starts from the controllers' state and restores it."""

    def __init__(self, blocks: BlockStepper, loops: ControlLoops) -> None:
        assert loops.joined is not None
        self._blocks, self._loops, self._joined = blocks, loops, loops.joined
        self._held, self._begun = loops.held.copy(), loops.joined.kept()

    def step(self, start: StepStart, time: float) -> JoinedResult:
        """See :class:`flexph.integration.times.loop.Stepper`."""
        return self.steps(start, time)[0]

    def steps(self, start: StepStart, time: float, begun: Any = None, divisions: int = 0) -> tuple[JoinedResult, Array]:
        """Solve a step from controller states ``begun``; return it and the error values of its pair.

        With impacts and dry friction a step that is not solved is divided as one without controllers.
        """
        try:
            return self._whole(start, time, begun)
        except MotionEnded:
            raise
        except StepFailed as error:
            middle = self._blocks.division(start, time, divisions)
            if middle is None:
                raise
            try:
                first, _ = self.steps(start, middle, begun, divisions + 1)
                assert isinstance(first.agreed, AgreedStep)
                second, found = self.steps(first.end, time, first.agreed.then, divisions + 1)
            except MotionEnded:
                raise
            except StepFailed as part:
                raise error from part
            whole = steps_as_one(start, (first.result, second.result), error.iterations)
            return joined_as_one(self._blocks, start, whole, (first, second)), found

    @abstractmethod
    def _whole(self, start: StepStart, time: float, begun: Any) -> tuple[JoinedResult, Array]:
        """Solve a step without dividing it; raises StepFailed."""


class TriedSteps(DividedSteps):
    """Compiled steps with controllers in Python, repeated under their answers until both agree."""

    def _whole(self, start: StepStart, time: float, begun: Any) -> tuple[JoinedResult, Array]:
        blocks, joined, loops = self._blocks, self._joined, self._loops
        now = joined.kept()

        def take(answers: Array) -> tuple[StepResult, Array, Array]:
            loops.held[:] = self._held + answers
            try:
                result = blocks.whole(start, time)
            finally:
                loops.held[:] = self._held
            return result, result.end.x, result.output

        joined.restore(self._begun if begun is None else begun)
        try:
            result, step = joined.step(start.x, (start.time, time), take)
            joined.commit(step)
            agreed = AgreedStep(step.row(), step.held, step.error, joined.kept())
        finally:
            joined.restore(now)
        balance = abs(blocks.accounts.balance(start.energy, result.end.energy, result.flows) + step.error)
        return JoinedResult(result, self._held + step.held, agreed, balance), np.zeros(0)


class AgreedSteps(DividedSteps):
    """Compiled steps with controllers in compiled loops."""

    def _whole(self, start: StepStart, time: float, begun: Any) -> tuple[JoinedResult, Array]:
        blocks, joined, now = self._blocks, self._joined, self._joined.kept()
        times, ports = np.array([start.time, time]), self._held.size
        table = blocks.table(times)
        if len(table.inputs) == 1:
            table = table._replace(inputs=np.repeat(table.inputs, blocks.points, axis=0))
        given = table.inputs.copy()
        joined.restore(self._begun if begun is None else begun)
        try:
            while True:
                table.inputs[:] = given
                agreement = CompiledAgreement(joined, table.times, start.x, ports, answered=blocks.answered)
                rows, solved = blocks.agreed(start, table, agreement)
                if solved or not blocks.compiled.leaves_list or agreement.error is not None:
                    break
            if agreement.error is not None:
                raise agreement.error
            if not solved:
                agreement.check_answers(start.time, time)
                raise blocks.failed(start, time) if blocks.compiled.memory.run_failure[0] else _apart(start, time)
            return self._result(start, times, rows, agreement), blocks.compiled.parts.pair.found.copy()
        finally:
            joined.restore(now)

    def _result(self, start: StepStart, times: Array, rows: Rows, agreement: CompiledAgreement) -> JoinedResult:
        blocks, joined, substeps = self._blocks, self._joined, len(agreement.times) - 1
        result, begun = blocks.result(start, times, rows), joined.states
        agreement.commit(substeps)
        values, errors = agreement.rows(begun, substeps)
        held, error = agreement.held(substeps).mean(axis=0), float(errors.sum())
        agreed = AgreedStep(as_one(values), held, error, joined.kept())
        balance = abs(blocks.accounts.balance(start.energy, result.end.energy, result.flows) + error)
        return JoinedResult(result, self._held + held, agreed, balance)


def as_one(rows: dict[str, Array]) -> dict[str, Array]:
    """Merge the records of steps into one row: sums of flows and work, last values of the other columns."""
    return {name: values.sum(axis=0) if name in SUMS else values[-1] for name, values in rows.items()}


def joined_as_one(
    blocks: BlockStepper, start: StepStart, whole: StepResult, parts: tuple[JoinedResult, JoinedResult]
) -> JoinedResult:
    """Two successive steps of mechanism and controllers as one, with that of the mechanism as a whole."""
    first, last = (part.agreed for part in parts)
    assert isinstance(first, AgreedStep) and isinstance(last, AgreedStep)
    rows = {name: np.array([first.values[name], last.values[name]]) for name in last.values}
    lengths = np.array([part.end.time - part.result.middle for part in parts])
    shares, error = lengths / lengths.sum(), first.error + last.error
    agreed = AgreedStep(as_one(rows), shares @ [first.held, last.held], error, last.then)
    balance = abs(blocks.accounts.balance(start.energy, whole.end.energy, whole.flows) + error)
    return JoinedResult(whole, shares @ [part.inputs for part in parts], agreed, balance)


def _apart(start: StepStart, time: float) -> StepFailed:
    """StepFailed for a step in which controllers and mechanism do not agree."""
    error = StepFailed("mechanism and controllers do not come to the same inputs", 0, np.nan)
    error.span = (start.time, time)
    return error


def held_in_loops(blocks: BlockStepper, loops: ControlLoops) -> Any:
    """Stepper in compiled loops under the outputs that controllers hold, with those solved within the step."""
    if loops.is_compiled:
        return AgreedSteps(blocks, loops)
    return held_steps(blocks, loops) if loops.joined is None else TriedSteps(blocks, loops)


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
        """Try a pair of steps of a mechanism without rigid contacts."""
        assert isinstance(self.blocks, PairBlocks)
        steps = AgreedSteps(self.blocks, self.loops)
        result, (motion, left, energy) = steps.steps(start, end)
        step = start, result, partial(steps.step, start)
        return self.blocks.error.judged(step, (motion, left), known, max(known, float(energy)))

    def _judged(self, run: Run, times: Array, known: Any) -> Tried:
        """Try a pair of steps of a mechanism with rigid contacts, and compare it with a step of twice its length."""
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
