"""Duration of a run as an unknown of an optimal control."""

from __future__ import annotations

from dataclasses import dataclass

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array

DURATION = "the duration"
"""Name of the duration among the unknowns; no parameter of a Python function can have this name."""


@checked
@dataclass(frozen=True)
class Duration:
    """Duration T of an optimal manoeuvre as an unknown, with the cost ``weight`` T.

    The times of the run and the nodes of its tables are scaled about the start. Functions of time that the mechanism
    prescribes are not scaled.

    Attributes
    ----------
    shortest, longest : float
        Bounds of the duration [s].
    weight : float
        Cost of a second; with zero the duration has no cost.

    Examples
    --------
    >>> from flexph.gradients import Duration
    >>> Duration(0.5, 2.0).weight
    1.0
    """

    shortest: float
    longest: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Check the bounds and the weight."""
        check.positive("shortest", self.shortest)
        check.not_negative("weight", self.weight)
        if not self.shortest < self.longest:
            raise ValueError(f"longest must be above shortest, got {self.shortest:g} and {self.longest:g} s")

    def check_guess(self, times: Array) -> None:
        """Raise ValueError if the times of a first guess last less than ``shortest`` or more than ``longest``."""
        guess = float(times[-1] - times[0])
        if not self.shortest <= guess <= self.longest:
            raise ValueError(
                f"times must last from {self.shortest:g} to {self.longest:g} s, the bounds of duration, got {guess:g} s"
            )
