"""Choice of the block stepper for a stepper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..exact.composition import ComposedStepper
from ..exact.gauss import GaussStepper
from ..exact.pairs_of_steps import PairStepper
from ..exact.step import ExactStepper, Stepper
from .block_stepper import BlockStepper
from .gauss import GaussBlocks
from .pairs import PairBlocks

if TYPE_CHECKING:
    from ...mechanisms.mechanism import Mechanism


def blocks_of(mechanism: Mechanism, stepper: Stepper) -> BlockStepper:
    """Select the block stepper of a stepper."""
    if isinstance(stepper, GaussStepper):
        return GaussBlocks(mechanism, stepper)
    if isinstance(stepper, PairStepper):
        return PairBlocks(mechanism, stepper)
    assert isinstance(stepper, ExactStepper | ComposedStepper)
    return BlockStepper(mechanism, stepper)
