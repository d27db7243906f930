"""Blocks of compiled steps of mechanisms with rigid contacts (see integration.loops.rigid_steps)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...contacts.loops.island_space import LawSpace, law_space
from ...mechanisms.model.accounts import Accounts
from ...numerics.loops.threads import allowed_threads
from .memory.codes import CROWDED, KNOWN
from .memory.memory import Memory
from .memory.striking import Striking
from .memory.structures import STRIKES, Calls, Kinds, Parts, no_pair
from .near_pairs import NearPairs
from .stepper import Stepper
from .time_callback import TimeCallback

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...mechanisms.model.model import Model


class StrikeSteps(Stepper):
    """Compiled steps of a mechanism with rigid contacts: gaps close with impacts, and closed gaps stay closed or open.

    ``between`` evaluates prescribed quantities at times within steps; ``tell`` is called if many contacts of a step
    have separate impacts.
    """

    kind = STRIKES
    _law: LawSpace = law_space(0, 0, 2)

    def __init__(
        self,
        mechanism: Model,
        accounts: Accounts,
        between: TimeCallback,
        *,
        by_events: bool,
        least_norm: bool,
        tell: Callable[[], None],
    ) -> None:
        near = mechanism.once(NearPairs)
        redundant = int(least_norm and mechanism.layout.multipliers > 0)
        self.kinds = 2 if redundant else int(near.mixed)
        self._by_events, self._are_apart = int(by_events), not (near.coupled or redundant)
        self._are_apart &= not (by_events and near.stores_responses)
        parts = Parts(np.ones(1), np.ones(1), 2, no_pair(), Kinds(redundant, contact=int(self.kinds > 0)))
        super().__init__(mechanism, accounts, parts)
        self._near, self._between, self._tell = near, between, tell

    def _bind(self, m: Memory) -> None:
        """Make ``m`` the memory of the steps, with work space for the laws of its contacts."""
        super()._bind(m)
        m.strike_apart[0] = self._are_apart
        contacts = m.strike_may_close.size
        if self._law.state.size < contacts:  # and some more, as lists of near pairs differ
            self._law = law_space(contacts + contacts // 4, m.inertia_mass.size, self.dim)
        self._law.made[:] = 0
        self._law.made[4] = allowed_threads()

    def _own(self, calls: Calls) -> Striking:
        self._between.controller_inputs = calls.within.inputs if calls.within.address else None
        return Striking(self._law, self.kinds, self._by_events, self._between.arguments())

    def _taken(self, steps: int) -> None:
        """Set the number of filled rows of history after some steps, and report many separate impacts by ``tell``.

        Steps with impacts or settling friction clear the history.
        """
        super()._taken(steps)
        audit = self.memory.strike_audit
        if steps:
            self.known = int(audit[KNOWN])
        if audit[CROWDED]:
            self._tell()

    def _raise(self, *, is_solved: bool) -> None:
        """Raise the exception of a callback of the loops, also of one within a step; see :meth:`Stepper._raise`."""
        super()._raise(is_solved=is_solved)
        if isinstance(error := self._between.error, Exception):
            self.failure = error
        elif error is not None:
            raise error
