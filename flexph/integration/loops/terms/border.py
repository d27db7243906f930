"""Entries of the border (see integration.loops.mechanics.arrow)."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import get, put
    from ..memory.memory import Memory


def add(m: Memory, i: int, j: int, value: float) -> None:
    """Add to an entry of the border; unknowns that do not exist are −1."""
    if i >= 0 and j >= 0:
        entry = i * m.system_border.shape[1] + j - i + m.border_size[1]
        put(m.system_border, entry, get(m.system_border, entry) + value)
