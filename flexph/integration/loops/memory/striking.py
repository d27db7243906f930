"""Options and work space of steps with rigid contacts."""

from __future__ import annotations

from typing import NamedTuple

from ....contacts.loops.island_space import LawSpace
from .structures import Between


class Striking(NamedTuple):
    """Options and work space of steps with rigid contacts.

    ``law`` is the work space for contact laws. ``kinds`` is 1 if there are also compliant contacts or dry friction of
    joints, 2 with multipliers of least norm, else zero. ``by_events`` is 1 if steps are split at events. ``between``
    evaluates prescribed quantities between the times of a table.
    """

    law: LawSpace
    kinds: int
    by_events: int
    between: Between
