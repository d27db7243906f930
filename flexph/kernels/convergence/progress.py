"""Progress of an iteration."""

from __future__ import annotations

import math
from typing import NamedTuple

from .rules import is_slow, settles, stagnates
from .tolerances import NEWTON, Tolerances


class Progress(NamedTuple):
    """Sizes of the last two corrections of an iteration, and number of corrections by the present Jacobian."""

    size: float = math.inf
    previous: float = math.inf
    used: int = 0

    def corrected(self, size: float) -> Progress:
        """Progress after a further correction of this size."""
        return Progress(size, self.size, self.used + 1)

    @property
    def stagnates(self) -> bool:
        """True if the iteration no longer improves."""
        return stagnates(self.size, self.previous)

    def settles(self, settled: float) -> bool:
        """True if the next correction is expected to be round-off."""
        return settles(self.size, self.previous, self.used, settled)

    def is_slow(self, limits: Tolerances = NEWTON) -> bool:
        """True if a new Jacobian pays."""
        return is_slow(self.size, self.previous, self.used, limits.slow, limits.many)
