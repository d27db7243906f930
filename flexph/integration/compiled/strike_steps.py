"""Steps of rigid bodies with rigid contacts in blocks of compiled loops: see integration.compiled.strikes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np

from ...mechanisms.model.accounts import Accounts
from ...numerics.compiled.cache import has_code
from .memory.memory import Memory
from .near import NearPairs
from .stepper import Stepper
from .steps.step import Parts
from .strikes.law import LARGEST, LawSpace
from .strikes.records import KNOWN
from .strikes.steps import run_strikes

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...mechanisms.model.model import Model


class StrikeSteps(Stepper):
    """The steps of a mechanism whose rigid contacts may strike and close in them."""

    entry: ClassVar[Callable[..., None]] = staticmethod(run_strikes)

    def __init__(self, mechanism: Model, accounts: Accounts, *, by_events: bool) -> None:
        near = mechanism.once(NearPairs)
        self.coupled, self._by_events = (1,) * (near.coupled or by_events), int(by_events)
        super().__init__(mechanism, accounts, Parts(np.ones(1), np.ones(1), 2, ()))
        self._near = near

    def _bind(self, m: Memory) -> None:
        """See :meth:`Stepper._bind`, with space for the laws of its contacts."""
        super()._bind(m)
        self._law = _law_space(min(LARGEST, len(self.axes) * m.contacts_kind.size))

    def is_compiled(self) -> bool:
        """See :meth:`Stepper.is_compiled`."""
        return has_code(self.entry, {1: numba.typeof(self.axes), 2: numba.typeof(self.coupled)})

    def _arguments(self, table: Any, save: tuple[int, int], *rest: Any) -> tuple[Any, ...]:
        return self.memory, self.axes, self.coupled, self._law, self._by_events, table, *save, self.known, *rest

    def _taken(self, steps: int) -> None:
        """Count finished steps: those in which bodies strike or settle leave no history."""
        super()._taken(steps)
        if steps:
            self.known = int(self.memory.strike_audit[KNOWN])


def _law_space(m: int) -> LawSpace:
    """Space for so many impulses of an island."""
    z = np.empty
    whole = [np.empty(size, dtype=np.int64) for size in (4 * m, m, m + 1, m * m, m)]
    given: Any = (
        *(z(m * m), *(z(m) for _ in range(5)), z(2 * m), z(m * m), whole[0], z(8 * m)),
        *(z((m, 2, 2)), z((m, 2)), *whole[1:], z(18 * m)),
    )
    return LawSpace(*given)
