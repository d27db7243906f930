"""Single compiled steps with controllers that are solved within the step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...control.agreement import CompiledAgreement
from ...control.control_loops import ControlLoops
from ...control.joined import AgreedStep
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..exact.step import StepStart
from ..loops.memory.structures import Rows
from ..times.sampled import JoinedResult, held_steps
from .block_stepper import BlockStepper
from .pairs import SUMS


class AgreedSteps:
    """Compiled steps that each start from, and afterwards restore, the controllers' state."""

    def __init__(self, blocks: BlockStepper, loops: ControlLoops) -> None:
        assert loops.joined is not None
        self._blocks, self._loops, self._joined = blocks, loops, loops.joined
        self._held, self._begun = loops.held.copy(), loops.joined.kept()

    def step(self, start: StepStart, time: float) -> JoinedResult:
        """See :class:`flexph.integration.times.protocols.Stepper`."""
        return self.steps(start, time)[0]

    def steps(self, start: StepStart, time: float, begun: Any = None) -> tuple[JoinedResult, Array]:
        """Solve a step from controller states ``begun``; return it and the error values of its pair."""
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
                raise _unsolved(start, time)
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


def _unsolved(start: StepStart, time: float) -> StepFailed:
    """Error of a step that the loops did not solve, or in which controllers and mechanism did not agree."""
    error = StepFailed("mechanism and controllers do not come to the same inputs in compiled loops", 0, np.nan)
    error.span = (start.time, time)
    return error


def held_in_loops(blocks: BlockStepper, loops: ControlLoops) -> Any:
    """Stepper in compiled loops under the outputs that controllers hold, with those solved within the step."""
    return AgreedSteps(blocks, loops) if loops.is_compiled else held_steps(blocks, loops)
