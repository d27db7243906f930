"""Energies, works and losses of a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class StepAccount(NamedTuple):
    """Energies at the end of a step, and its works and losses, by the names in the ledger of a run.

    Attributes
    ----------
    energy : mapping
        Energy by part at the end [J].
    work : mapping
        Work by external port and drive in the step [J].
    dissipation : mapping
        Dissipation by element in the step [J].
    residual : float
        Balance residual ΔH − work + dissipation of the step [J], of the size of round-off.
    """

    energy: Mapping[str, float]
    work: Mapping[str, float]
    dissipation: Mapping[str, float]
    residual: float

    @property
    def total(self) -> float:
        """Total energy H at the end [J]."""
        return float(sum(self.energy.values()))

    def then(self, after: StepAccount) -> StepAccount:
        """Account of this step and the following step ``after`` as one step.

        Energies are those at the end of ``after``; works, losses and residuals are added.
        """
        work, lost = (
            {name: value + second[name] for name, value in first.items()}
            for first, second in ((self.work, after.work), (self.dissipation, after.dissipation))
        )
        return StepAccount(after.energy, work, lost, self.residual + after.residual)
