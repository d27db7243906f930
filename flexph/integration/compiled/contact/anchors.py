"""Forces of anchors in loops and in states: there those of groups are tables (see kernels.contacts.gap_arrays)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory


@kernel
def store_springs(m: Memory, axes: tuple[int, ...], out: Array, first: int) -> None:
    """Forces of springs and anchors at ``at`` into a state from an entry on, to its end."""
    d, of_pairs = len(axes), 0
    for c in range(m.contacts_pair.size):
        of_pairs += m.contacts_pair[c] > 0
    single = m.at_spring.size - d * of_pairs
    for i in range(single):
        out[first + i] = m.at_spring[i]
    for i in range(first + single, out.size):
        out[i] = 0.0
    table, at = -1, 0
    for c in range(m.contacts_pair.size):
        if m.contacts_pair[c] > 0:
            if m.contacts_table[c] != table:
                table = m.contacts_table[c]
                at = first + table
            if _holds(m, axes, c, m.at_spring):
                out[at] = m.contacts_pair[c]
                for i in range(d):
                    out[at + 1 + i] = m.at_spring[m.contacts_anchor[c] + i]
                at += 1 + d


@kernel
def has_no_row(m: Memory, axes: tuple[int, ...]) -> bool:
    """Whether more pairs of a group hold at the end of a step than its table has rows."""
    table, count = -1, 0
    for c in range(m.contacts_pair.size):
        if m.contacts_pair[c] > 0:
            if m.contacts_table[c] != table:
                table, count = m.contacts_table[c], 0
            count += _holds(m, axes, c, m.end_spring)
            if count > m.contacts_rows[c]:
                return True
    return False


@kernel
def _holds(m: Memory, axes: tuple[int, ...], c: int, springs: Array) -> bool:
    size = 0.0
    for i in range(len(axes)):
        size = max(size, abs(springs[m.contacts_anchor[c] + i]))
    return size > 0.0
