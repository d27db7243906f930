"""Access to the entries of the border of the Jacobian, which remains after inner coordinates are eliminated.

See integration.loops.mechanics.arrow."""

from __future__ import annotations

import cython

if not cython.compiled:
    from math import nan as NAN

    from ....numerics.loops.views import get, put
    from ..memory.memory import Memory


def add(m: Memory, i: int, j: int, value: float) -> None:
    """Add ``value`` to the border of the Jacobian at row i and column j.

    It does nothing if one of them is −1, which is no unknown.
    """
    if i >= 0 and j >= 0:
        entry = entry_of(m, i, j)
        if entry >= 0:
            put(m.system_border, entry, get(m.system_border, entry) + value)
        elif value != 0.0:
            put(m.system_border, 0, NAN)  # a wrong pattern must not be factored


def entry_of(m: Memory, i: int, j: int) -> int:
    """Position of row i and column j in the storage of the border of the Jacobian.

    It is −1 if a sparse border does not have that entry.
    """
    first = cython.declare(cython.Py_ssize_t)
    last = cython.declare(cython.Py_ssize_t)
    if m.border_size[1] >= 0:
        return i * m.system_border.shape[1] + j - i + m.border_size[1]
    first = m.border_column_ptr[j]
    last = m.border_column_ptr[j + 1]
    while last - first > 1:
        middle = (first + last) // 2
        if m.border_row[middle] <= i:
            first = middle
        else:
            last = middle
    return first if m.border_row[first] == i else -1
