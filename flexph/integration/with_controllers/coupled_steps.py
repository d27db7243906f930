"""Compiled steps, single and in pairs chosen by their error, with controllers that are solved within the step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.coupled_controllers import CompiledStep
from ...control.coupling import CompiledCoupling
from ...numerics.arrays import Array
from ...numerics.step_failed import MotionEnded, StepFailed
from ..blocks.block_stepper import BlockStepper
from ..blocks.pairs import SUMS, PairBlocks
from ..blocks.single_steps import as_one
from ..blocks.strikes import ComparedPairs
from ..loops.memory.structures import Rows
from ..schemes.scheme import StepResult, StepStart
from ..times.controlled_runs import CoupledResult, held_steps
from ..times.loop import Run
from ..times.step_control import ErrorEstimate, Tried


class DividedSteps(ABC):
    """Stepper with controllers solved within steps, which may divide a step that fails.

    Each step starts from the states that the controllers had when this object was created, and leaves the controllers
    unchanged.
    """

    def __init__(self, blocks: BlockStepper, loops: ControlLoops) -> None:
        assert loops.coupled is not None
        self._blocks, self._loops, self._coupled = blocks, loops, loops.coupled
        self._held, self._begun = loops.held.copy(), loops.coupled.snapshot()

    def step(self, start: StepStart, time: float) -> CoupledResult:
        """Take a step of mechanism and controllers from a start to a time [s]; raises StepFailed."""
        return self.steps(start, time)[0]

    def steps(
        self, start: StepStart, time: float, begun: Any = None, divisions: int = 0
    ) -> tuple[CoupledResult, Array]:
        """Take a step from a start to a time [s]; return it and the error values ``found`` of a compiled pair of steps.

        The error values (see ``memory.structures.Pair``) are empty if Python evaluates the controllers. ``begun`` are
        the states of the controllers at the start, by default those at the creation of this object. With impacts and
        dry friction a step that fails is divided, as one without controllers; ``divisions`` counts how often it is
        divided already.
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
                assert isinstance(first.controllers, CompiledStep)
                second, errors = self.steps(first.end, time, first.controllers.restart, divisions + 1)
            except MotionEnded:
                raise
            except StepFailed as part:
                raise error from part
            whole = as_one(start, (first.result, second.result), error.iterations)
            return coupled_as_one(self._blocks, start, whole, (first, second)), errors

    @abstractmethod
    def _whole(self, start: StepStart, time: float, begun: Any) -> tuple[CoupledResult, Array]:
        """Take a step without dividing it, with the controller states ``begun``; raises StepFailed."""


class PythonCoupledSteps(DividedSteps):
    """Stepper with controllers that Python evaluates: repeats a compiled step until their outputs have converged."""

    def _whole(self, start: StepStart, time: float, begun: Any) -> tuple[CoupledResult, Array]:
        blocks, coupled, loops = self._blocks, self._coupled, self._loops
        now = coupled.snapshot()

        def take(answers: Array) -> tuple[StepResult, Array, Array]:
            loops.held[:] = self._held + answers
            try:
                result = blocks.whole(start, time)
            finally:
                loops.held[:] = self._held
            return result, result.end.x, result.output

        coupled.restore(self._begun if begun is None else begun)
        try:
            result, step = coupled.step(start.x, (start.time, time), take)
            coupled.commit(step)
            controllers = CompiledStep(step.row(), step.held, step.error, coupled.snapshot())
        finally:
            coupled.restore(now)
        balance = abs(blocks.accounts.balance(start.energy, result.end.energy, result.flows) + step.error)
        return CoupledResult(result, self._held + step.held, controllers, balance), np.zeros(0)


class CompiledCoupledSteps(DividedSteps):
    """Stepper with controllers that the compiled loops evaluate within the steps."""

    def _whole(self, start: StepStart, time: float, begun: Any) -> tuple[CoupledResult, Array]:
        blocks, coupled, now = self._blocks, self._coupled, self._coupled.snapshot()
        times, ports = np.array([start.time, time]), self._held.size
        table = blocks.table(times)
        if len(table.inputs) == 1:
            table = table._replace(inputs=np.repeat(table.inputs, blocks.points, axis=0))
        given = table.inputs.copy()
        coupled.restore(self._begun if begun is None else begun)
        try:
            while True:
                table.inputs[:] = given
                coupling = CompiledCoupling(coupled, table.times, start.x, ports, evaluation=blocks.evaluation)
                rows, solved = blocks.coupled_rows(start, table, coupling)
                if solved or not blocks.compiled.leaves_list or coupling.error is not None:
                    break
            if coupling.error is not None:
                raise coupling.error
            if not solved:
                coupling.check_answers(start.time, time)
                raise (blocks.failed(start, time) if blocks.compiled.memory.run_failure[0] else _diverged(start, time))
            return self._result(start, times, rows, coupling), blocks.compiled.parts.pair.found.copy()
        finally:
            coupled.restore(now)

    def _result(self, start: StepStart, times: Array, rows: Rows, coupling: CompiledCoupling) -> CoupledResult:
        blocks, coupled, substeps = self._blocks, self._coupled, len(coupling.times) - 1
        result, begun = blocks.result(start, times, rows), coupled.states
        coupling.commit(substeps)
        values, errors = coupling.rows(begun, substeps)
        held, error = coupling.held(substeps).mean(axis=0), float(errors.sum())
        controllers = CompiledStep(merged_rows(values), held, error, coupled.snapshot())
        balance = abs(blocks.accounts.balance(start.energy, result.end.energy, result.flows) + error)
        return CoupledResult(result, self._held + held, controllers, balance)


def merged_rows(rows: dict[str, Array]) -> dict[str, Array]:
    """Merge the recorded values of controllers in several steps: sums of flows and works, else last values."""
    return {name: values.sum(axis=0) if name in SUMS else values[-1] for name, values in rows.items()}


def coupled_as_one(
    blocks: BlockStepper, start: StepStart, whole: StepResult, parts: tuple[CoupledResult, CoupledResult]
) -> CoupledResult:
    """Merge two successive steps of mechanism and controllers; ``whole`` is the merged step of the mechanism."""
    first, last = (part.controllers for part in parts)
    assert isinstance(first, CompiledStep) and isinstance(last, CompiledStep)
    rows = {name: np.array([first.values[name], last.values[name]]) for name in last.values}
    lengths = np.array([part.end.time - part.result.middle for part in parts])
    shares, error = lengths / lengths.sum(), first.error + last.error
    controllers = CompiledStep(merged_rows(rows), shares @ [first.held, last.held], error, last.restart)
    balance = abs(blocks.accounts.balance(start.energy, whole.end.energy, whole.flows) + error)
    return CoupledResult(whole, shares @ [part.inputs for part in parts], controllers, balance)


def _diverged(start: StepStart, time: float) -> StepFailed:
    """Error for a step to a time [s] in which the iteration of mechanism and controllers did not converge."""
    error = StepFailed("the coupling of mechanism and controllers did not converge", 0, np.nan)
    error.span = (start.time, time)
    return error


def stepper_with_controllers(blocks: BlockStepper, loops: ControlLoops) -> Any:
    """Stepper of compiled steps under the outputs that sampled controllers hold now.

    Controllers that are solved within the step are included, evaluated by the loops or by Python.
    """
    if loops.is_compiled:
        return CompiledCoupledSteps(blocks, loops)
    return held_steps(blocks, loops) if loops.coupled is None else PythonCoupledSteps(blocks, loops)


class _Singles:
    """Single steps of mechanism and controllers, from which the error of a pair is estimated.

    There are both steps of the pair, and one step of twice the length. A step that starts at the end of the last one
    continues with the controller states there; any other step begins with the present states of the controllers.
    ``results`` are the results of all steps.
    """

    def __init__(self, blocks: BlockStepper, loops: ControlLoops) -> None:
        self._steps, self.results = CompiledCoupledSteps(blocks, loops), list[CoupledResult]()

    def step(self, start: StepStart, time: float) -> StepResult:
        """Take a step of mechanism and controllers from a start to a time [s], and append it to ``results``."""
        begun = None
        if self.results and self.results[-1].end is start:
            controllers = self.results[-1].controllers
            assert isinstance(controllers, CompiledStep)
            begun = controllers.restart
        self.results.append(self._steps.steps(start, time, begun)[0])
        result: StepResult = self.results[-1].result
        return result


class CoupledPairs(NamedTuple):
    """Error estimate of pairs of steps in which controllers are solved together with the mechanism."""

    blocks: BlockStepper
    loops: ControlLoops
    estimate: ErrorEstimate

    def initial(self, start: StepStart) -> Any:
        """State of the estimate at the start of a run."""
        return self.estimate.initial(start)

    def count(self, history: Any) -> int:
        """Even number of steps in the next block."""
        return self.estimate.count(history)

    def attempt(self, run: Run, times: Array, history: Any) -> Tried:
        """Try the pair of steps through ``times``; if its error is allowed, advance the controllers to its end."""
        start, end = run.start, float(times[-1])
        run.begin_trial(start.time, end)
        try:
            tried = self._smooth(start, end, history) if isinstance(self.blocks, PairBlocks) else None
            tried = tried or self._judged(run, times, history)
        except StepFailed as failed:
            return Tried([], np.inf, str(failed), history, ended=failed if isinstance(failed, MotionEnded) else None)
        if tried.error <= 1.0:
            assert self.loops.coupled is not None
            self.loops.coupled.commit(tried.steps[0][1].controllers)
        return tried

    def _smooth(self, start: StepStart, end: float, history: Any) -> Tried:
        """Try a pair of steps up to ``end`` [s] of a mechanism without rigid contacts, with its error."""
        assert isinstance(self.blocks, PairBlocks)
        steps = CompiledCoupledSteps(self.blocks, self.loops)
        result, (motion, left, energy) = steps.steps(start, end)
        step = start, result, partial(steps.step, start)
        return self.blocks.error.judged(step, (motion, left), history, max(history, float(energy)))

    def _judged(self, run: Run, times: Array, history: Any) -> Tried:
        """Try a pair of steps of a mechanism with rigid contacts.

        Its error is estimated by comparison with one step of twice the length.
        """
        assert isinstance(self.estimate, ComparedPairs)
        singles = _Singles(self.blocks, self.loops)
        tried = self.estimate._replace(single=singles).attempt(run, times, history)
        if not tried.steps:
            return tried
        ((start, pair, _),) = tried.steps
        return tried._replace(steps=[(start, self._pair(start, pair, singles), partial(self._shorter, start))])

    def _shorter(self, start: StepStart, time: float) -> CoupledResult:
        singles = _Singles(self.blocks, self.loops)
        assert isinstance(self.estimate, ComparedPairs)
        pair = self.estimate._replace(single=singles).step(start, time)
        return self._pair(start, pair, singles)

    def _pair(self, start: StepStart, pair: StepResult, singles: _Singles) -> CoupledResult:
        first, second = singles.results[-2:]
        return coupled_as_one(self.blocks, start, pair, (first, second))
