"""Choice of the block stepper of a scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .block_stepper import BlockStepper
from .gauss import GaussBlocks
from .pairs import PairBlocks
from .strikes import StrikeBlocks

if TYPE_CHECKING:
    from ..schemes.scheme import Scheme


def blocks_of(scheme: Scheme) -> BlockStepper:
    """Block stepper of a scheme."""
    if scheme.tableau is not None:
        return GaussBlocks(scheme)
    if scheme.arrays.contacts.laws.rigid.any():
        return StrikeBlocks(scheme)
    return BlockStepper(scheme) if scheme.tolerance is None else PairBlocks(scheme)
