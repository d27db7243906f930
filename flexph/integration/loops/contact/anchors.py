"""Forces of anchors, which hold sticking contacts, in the memory of the loops and in flat states.

In a flat state the contacts of a group share a table (see kernels.contacts.gap_arrays)."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import larger
    from ..memory.memory import Memory


def store_springs(m: Memory, dim: int, out: Array, first: int) -> None:
    """Write spring states and anchor forces from the present state (``at``) into a flat state ``out``.

    Their first entry is ``first``. In the table of a group only pairs with nonzero forces have rows.
    """
    at = cython.declare(cython.Py_ssize_t)
    of_pairs = cython.declare(cython.Py_ssize_t)
    d = dim
    of_pairs = 0
    for c in range(m.contacts_pair.size):
        of_pairs += m.contacts_pair[c] > 0
    single = m.at_spring.size - d * of_pairs
    for i in range(single):
        out[first + i] = m.at_spring[i]
    for i in range(first + single, out.size):
        out[i] = 0.0
    table = -1
    at = 0
    for c in range(m.contacts_pair.size):
        if m.contacts_pair[c] > 0:
            if m.contacts_table[c] != table:
                table = m.contacts_table[c]
                at = first + table
            if _holds(m, dim, c, m.at_spring):
                out[at] = m.contacts_pair[c]
                for i in range(d):
                    out[at + 1 + i] = m.at_spring[m.contacts_anchor[c] + i]
                at += 1 + d


def has_no_row(m: Memory, dim: int) -> bool:
    """True if the table of a group has too few rows in a flat state for the anchor forces at the end of a step."""
    count = cython.declare(cython.Py_ssize_t)
    table = -1
    count = 0
    for c in range(m.contacts_pair.size):
        if m.contacts_pair[c] > 0:
            if m.contacts_table[c] != table:
                table = m.contacts_table[c]
                count = 0
            count += _holds(m, dim, c, m.end_spring)
            if count > m.contacts_rows[c]:
                return True
    return False


def _holds(m: Memory, dim: int, c: int, springs: Array) -> bool:
    size = 0.0
    for i in range(dim):
        size = larger(size, fabs(springs[m.contacts_anchor[c] + i]))
    return size > 0.0
