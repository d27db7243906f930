"""Marks of contacts that may act in a step, and search for contacts whose bodies overlap at its end."""

from __future__ import annotations

import cython

from ....contacts.broad_phase import ACROSS as _ACROSS
from ....contacts.broad_phase import DEEP as _DEEP
from ....kernels.contacts.gap_arrays import ANGLE as _ANGLE
from ....kernels.contacts.gaps import TOUCHING as _TOUCHING
from ..memory.codes import PASSED as _PASSED

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import larger
    from ..contact.flight import passes_through
    from ..contact.gaps import gap_of, place_vectors, turned_gap
    from ..memory.memory import Memory
    from ..steps.iterate import coordinate_size
    from ..steps.rows import fail

PASSED = cython.declare(cython.Py_ssize_t, _PASSED)
ACROSS = cython.declare(cython.double, _ACROSS)
ANGLE = cython.declare(cython.Py_ssize_t, _ANGLE)
DEEP = cython.declare(cython.double, _DEEP)
TOUCHING = cython.declare(cython.double, _TOUCHING)


ENTERS = cython.declare(cython.Py_ssize_t, -1)
OPEN = cython.declare(cython.Py_ssize_t, 0)
TOUCHES = cython.declare(cython.Py_ssize_t, 1)
CLOSES = cython.declare(cython.Py_ssize_t, 2)
"""Entries of ``strike_may_close``: the bodies overlap at the end of a part of a step; the contact is inactive; it
touches, and may act if others close; it may close."""


def mark_overlaps(m: Memory, dim: int, mark: int) -> int:
    """Give rigid contacts whose bodies overlap at the end of a step the mark ``mark``; return how many are new.

    Returns −1 if bodies have passed through each other.
    """
    count = cython.declare(cython.Py_ssize_t)
    size = _size_at_end(m)
    count = 0
    for c in range(m.contacts_kind.size):
        if not m.contacts_rigid[c]:
            continue
        place_vectors(m, dim, c, m.end_r, m.end_arm, m.touch_last)
        if passes_through(m, dim, c, ACROSS if m.strike_may_close[c] > OPEN else DEEP):
            return fail(m, PASSED, 0, 0.0)
        if m.strike_may_close[c] <= OPEN:
            m.touch_after[c] = gap_at_end(m, dim, c)
            if m.touch_after[c] < -1e-2 * TOUCHING * size:
                count += m.strike_may_close[c] != mark
                m.strike_may_close[c] = mark
    return count


def gap_at_end(m: Memory, dim: int, c: int) -> float:
    """Gap of contact c at the end of a part of a step [m]; an angle [rad] may exceed half a turn in it."""
    place_vectors(m, dim, c, m.end_r, m.end_arm, m.touch_last)
    if m.contacts_kind[c] == ANGLE:
        place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
        return turned_gap(m, dim, c, m.touch_before[c])
    return gap_of(m, dim, c, m.touch_last)


def _size_at_end(m: Memory) -> float:
    """Largest absolute coordinate of the mechanism at the start and at the end of the step [m]."""
    size = coordinate_size(m)
    for b in range(m.end_r.shape[0]):
        for i in range(m.end_r.shape[1]):
            size = larger(size, fabs(m.end_r[b][i]))
    return size


def may_close(m: Memory) -> bool:
    """True if any rigid contact has a mark with which it may act in the step."""
    may = cython.declare(cython.bint)
    may = False
    for c in range(m.contacts_kind.size):
        may = may or m.strike_may_close[c] > OPEN
    return may
