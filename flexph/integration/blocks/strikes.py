"""Blocks of steps of mechanisms with rigid contacts, which strike and close in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...numerics.arguments import warn
from ...systems.nonlinear import ValidityWarning
from ..loops.between import AskedBetween
from ..loops.strike_steps import StrikeSteps
from ..times.step_control import ErrorEstimate
from .block_stepper import BlockStepper
from .judged_pairs import JudgedPairs
from .pair_error import PairError

if TYPE_CHECKING:
    from ..loops.stepper import Stepper
    from ..schemes.scheme import Scheme


class StrikeBlocks(BlockStepper):
    """Block stepper with rigid contacts; with a tolerance, pairs of steps are chosen by their error."""

    def __init__(self, scheme: Scheme) -> None:
        self._told = False
        super().__init__(scheme)

    def _loops(self) -> Stepper:
        own = self.scheme
        between = AskedBetween(own.mechanism, own.table, own.forcing)
        kinds = {"by_events": own.by_events, "least_norm": own.least_norm}
        return StrikeSteps(own.mechanism, own.accounts, between, **kinds, tell=self._tell_of_many)

    @property
    def estimate(self) -> ErrorEstimate | None:
        """See :attr:`BlockStepper.estimate`."""
        tolerance = self.scheme.tolerance
        return None if tolerance is None else JudgedPairs(self.scheme, PairError(tolerance), self)

    @property
    def _divides(self) -> bool:
        return True

    def _tell_of_many(self) -> None:
        """Warn once in a run that impacts of a group, each solved by itself, take long."""
        if not self._told:
            self._told = True
            text = (
                "more than 20 impacts of 10 or more contacts within a step: each is found in time and solved by "
                "itself, which takes long; Exact(contact='steps') is for groups, it strikes at the beginning of steps"
            )
            warn(text, ValidityWarning)
