"""The step of the exact scheme with dry friction of joints and without rigid contacts, for control by its error."""

from __future__ import annotations

from ...numerics.step_failed import StepFailed
from ..exact.step import StepDetails, StepResult, StepStart, check_end
from .part_stepper import NONE
from .parts import joined
from .stepper import RigidStepper


class FrictionStepper(RigidStepper):
    """The step with dry friction of joints: one that is not solved fails, as control takes shorter ones."""

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s]; raises StepFailed."""
        return self.details(start, time).result

    def details(self, start: StepStart, time: float) -> StepDetails:
        """The step with its solution, before what settles at its end."""
        try:
            part = self._part(start, time, NONE)
            check_end(self.mechanism, start.state, part.end.state, part.iterations)
            parts = self._settled(part, NONE)
        except StepFailed as error:
            error.span = (start.time, time)
            raise
        assert part.solved is not None and part.schedule is not None
        result, rates = joined(start, parts, self._size(start)), self.table.rates(time, time - start.time)
        return StepDetails(result, part.solved, part.schedule, rates, settled=len(parts) > 1)
