"""Energy account of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from ..results.ledger import Ledger

POINTS = 300
"""Number of times of a drawn account."""
SERIES = ("times", "stored", "work", "dissipated")
"""Names of the series of an account."""


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
        Largest residual of the balance divided by the energy, :attr:`flexph.results.Ledger.largest_residual`.
    """

    times: Array
    stored: Array
    work: Array
    dissipated: Array
    residual: float

    def thinned(self, most: int = POINTS) -> Account:
        """Account at no more than ``most`` of its times, evenly spread."""
        rows = np.unique(np.linspace(0, len(self.times) - 1, most).round().astype(int))
        return replace(self, **{name: getattr(self, name)[rows] for name in SERIES})

    def as_lists(self) -> dict[str, Any]:
        """Account as lists for JSON, with five digits."""
        series = {name: [float(f"{value:.5g}") for value in getattr(self, name)] for name in SERIES}
        return series | {"residual": self.residual}


def account_from(told: Mapping[str, Any]) -> Account:
    """Account from the lists of :meth:`Account.as_lists`."""
    return Account(residual=float(told["residual"]), **{name: np.array(told[name], dtype=float) for name in SERIES})


def account_of(ledger: Ledger, times: Array) -> Account:
    """Energy account of a run, from its ledger and its saved times: energies summed up from the start."""
    energy = ledger.total_energy
    work, dissipated = (np.append(0.0, np.cumsum(flow)) for flow in (ledger.total_work, ledger.total_dissipation))
    return Account(np.asarray(times), energy - energy[0], work, dissipated, ledger.largest_residual)
