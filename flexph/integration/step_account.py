"""Energy account of single steps of a simulator."""

from __future__ import annotations

import numpy as np

from ..kernels.state import derive
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.state import configuration
from ..numerics.arrays import Array
from ..results.step_account import StepAccount


class AccountBook:
    """Energies of the steps of a mechanism."""

    def __init__(self, mechanism: Mechanism, *, decaying: bool) -> None:
        self._mechanism = mechanism
        self._rows = Accounts(mechanism, decaying=decaying)

    def energies(self, time: float, x: Array) -> Array:
        """Energies by part at a flat state [J]."""
        c = configuration(self._mechanism, x)
        return self._rows.energies(c, derive(self._mechanism.network.arrays, c), time)

    def account(self, before: Array, after: Array, flows: Array) -> StepAccount:
        """Account of a step from its energies before and after, and its flows."""
        own, first = self._rows, len(self._rows.work)
        flows = flows if flows.size else np.zeros(own.flow_count)
        work = dict(zip(own.work, flows[:first].tolist(), strict=True))
        lost = flows[own.flow_count - len(own.dissipation) :]
        return StepAccount(
            dict(zip(own.energy, after.tolist(), strict=True)),
            work,
            dict(zip(own.dissipation, lost.tolist(), strict=True)),
            own.balance(before, after, flows),
        )
