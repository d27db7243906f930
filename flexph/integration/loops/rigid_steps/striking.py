"""What steps with rigid contacts are taken with."""

from __future__ import annotations

from typing import NamedTuple

from ....contacts.loops.island_space import LawSpace
from ..memory.structures import Between


class Striking(NamedTuple):
    """The space for the laws of islands, kinds of what is beside rigid contacts, and when steps are split.

    ``kinds`` is 1 where contacts are compliant, too, or joints have dry friction, 2 with multipliers of least norm,
    else zero. What time prescribes ``between`` the times of a table is asked for.
    """

    law: LawSpace
    kinds: int
    by_events: int
    between: Between
