"""The account of energy that goes with a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from ..results.ledger import Ledger

POINTS = 300
"""Times of an account that is drawn."""
SERIES = ("times", "stored", "work", "dissipated")
"""Its numbers over time."""


@dataclass(frozen=True, eq=False)
class Account:
    """Energies at k times [J], summed from the start.

    Attributes
    ----------
    times : array
        (k,) [s].
    stored : array
        Change of the stored energy, (k,).
    work : array
        Work of ports and drives, (k,).
    dissipated : array
        Dissipated energy, (k,).
    residual : float
        Largest residual of the balance over the energy, :attr:`flexph.results.Ledger.largest_residual`.
    """

    times: Array
    stored: Array
    work: Array
    dissipated: Array
    residual: float

    def thinned(self, most: int = POINTS) -> Account:
        """The account at ``most`` of its times, evenly spread."""
        rows = np.unique(np.linspace(0, len(self.times) - 1, most).round().astype(int))
        return replace(self, **{name: getattr(self, name)[rows] for name in SERIES})

    def as_lists(self) -> dict[str, Any]:
        """The account as JSON holds it, with five digits."""
        series = {name: [float(f"{value:.5g}") for value in getattr(self, name)] for name in SERIES}
        return series | {"residual": self.residual}


def account_from(told: Mapping[str, Any]) -> Account:
    """The account of lists that :meth:`Account.as_lists` gave."""
    return Account(residual=float(told["residual"]), **{name: np.array(told[name], dtype=float) for name in SERIES})


def account_of(ledger: Ledger, times: Array) -> Account:
    """The account of a ledger."""
    energy = ledger.total_energy
    work, dissipated = (np.append(0.0, np.cumsum(flow)) for flow in (ledger.total_work, ledger.total_dissipation))
    return Account(np.asarray(times), energy - energy[0], work, dissipated, ledger.largest_residual)
