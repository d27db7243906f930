"""Entries of the border (see integration.compiled.loops.arrow)."""

from __future__ import annotations

from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import get, put
from ..memory.memory import Memory


@kernel
def add(m: Memory, i: int, j: int, value: float) -> None:
    """Add to an entry of the border; unknowns that do not exist are −1."""
    if i >= 0 and j >= 0:
        entry = i * m.system_border.shape[1] + j - i + m.border_size[1]
        put(m.system_border, entry, get(m.system_border, entry) + value)
