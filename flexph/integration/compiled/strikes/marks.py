"""Marks of contacts that may act in a step, and those whose bodies are in each other at its end."""

from __future__ import annotations

from ....contacts.broad_phase import ACROSS, DEEP
from ....kernels.contacts.gap_arrays import ANGLE
from ....kernels.contacts.gaps import TOUCHING
from ....numerics.compiled.kernel import kernel
from ..contact.flight import passes
from ..contact.gaps import gap_of, place_vectors, turned_gap
from ..memory.memory import Memory
from ..steps.iterate import coordinate_size

ENTERS, OPEN, TOUCHES, CLOSES = -1, 0, 1, 2
"""Of ``strike_may_close``: bodies are in each other at the end of a way, nothing acts, it may act beside others that
close, it may close."""


@kernel
def look_inside(m: Memory, axes: tuple[int, ...], mark: int) -> int:
    """How many more rigid contacts have bodies in each other at the end, and get a mark; −1 where some passed."""
    size, found = _size_at_end(m), 0
    for c in range(m.contacts_kind.size):
        if not m.contacts_rigid[c]:
            continue
        place_vectors(m, axes, c, m.end_r, m.end_arm, m.touch_last)
        if passes(m, axes, c, ACROSS if m.strike_may_close[c] > OPEN else DEEP):
            return -1
        if m.strike_may_close[c] <= OPEN:
            m.touch_after[c] = gap_at_end(m, axes, c)
            if m.touch_after[c] < -1e-2 * TOUCHING * size:
                found += m.strike_may_close[c] != mark
                m.strike_may_close[c] = mark
    return found


@kernel
def gap_at_end(m: Memory, axes: tuple[int, ...], c: int) -> float:
    """The gap of a contact at the end of a way, along which an angle may have gone beyond half a turn."""
    place_vectors(m, axes, c, m.end_r, m.end_arm, m.touch_last)
    if m.contacts_kind[c] == ANGLE:
        place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
        return turned_gap(m, axes, c, m.touch_before[c])
    return gap_of(m, axes, c, m.touch_last)


@kernel
def _size_at_end(m: Memory) -> float:
    """Largest coordinate at the end of the step."""
    size = coordinate_size(m)
    for b in range(m.end_r.shape[0]):
        for i in range(m.end_r.shape[1]):
            size = max(size, abs(m.end_r[b, i]))
    return size


@kernel
def may_close(m: Memory) -> bool:
    """Whether some contact may."""
    may = False
    for c in range(m.contacts_kind.size):
        may = may or m.strike_may_close[c] > OPEN
    return may
