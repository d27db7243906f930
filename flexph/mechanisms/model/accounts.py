"""Energy accounts of a mechanism by part, port, joint and dissipating element."""

from __future__ import annotations

import numpy as np

from ...contacts.levels import gaps_at, near_at
from ...kernels.arrays import total
from ...kernels.contacts.laws import anchored, stored
from ...kernels.state import (
    Configuration,
    Derived,
    energies,
)
from ...numerics.arrays import Array
from .account_rows import AccountRows


class Accounts(AccountRows):
    """Energy accounts of a mechanism, computed from states and steps."""

    def energies(self, c: Configuration, d: Derived, time: float) -> Array:
        """Energy by part at a time [s], on which laws by a schedule depend."""
        e = energies(self.arrays, c, d, time)
        kinetic, elastic, potential = (self._by_body(e[name]) for name in ("kinetic", "elastic", "potential"))
        parts = [kinetic, elastic.take(self.elastic), potential.take(self.heavy), e["spring"]]
        if self.compliant.size:
            parts.append(self._stored(c, d))
        if self.flowing.size:
            parts.append(e["flow"])
        return np.concatenate(parts)

    def _stored(self, c: Configuration, d: Derived) -> Array:
        """Energy of the compliant contacts by connection."""
        a = near_at(self.arrays, (c, d))
        contacts = a.contacts
        values = stored(contacts, gaps_at(a, c, d).before) + anchored(contacts, c.spring)
        return total(contacts.owner, values, self.touching)[self.compliant]

    def _by_body(self, by_frame: Array) -> Array:
        """Sums over the nodes of each body."""
        bodies = len(self.mechanism.bodies)
        return by_frame if bodies == by_frame.size else total(self._owner, by_frame, bodies)
