"""Solution of a step with rigid contacts or of a part of it, in which only marked contacts may close or stay closed."""

from __future__ import annotations

import cython

from ....kernels.contacts.gaps import TOUCHING as _TOUCHING
from ..memory.codes import CLOSED as _CLOSED
from ..memory.codes import CLOSING as _CLOSING
from ..memory.codes import KNOWN as _KNOWN
from ..memory.structures import OVER_PART as _OVER_PART

if not cython.compiled:
    from ....numerics.loops.views import fill
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from ..memory.structures import Given, Prescribed
    from ..steps.history import guess
    from ..steps.iterate import coordinate_size
    from ..steps.rows import fail
    from ..strikes.bearings import mark_bearings
    from ..strikes.bodies import are_apart
    from ..strikes.closing import solve_closing
    from ..strikes.marks import CLOSES, mark_overlaps, may_close
    from ..strikes.time_data import data_between, request_data
    from ..strikes.trial import solve_without_contacts

CLOSING = cython.declare(cython.Py_ssize_t, _CLOSING)
CLOSED = cython.declare(cython.Py_ssize_t, _CLOSED)
KNOWN = cython.declare(cython.Py_ssize_t, _KNOWN)
OVER_PART = cython.declare(cython.Py_ssize_t, _OVER_PART)
TOUCHING = cython.declare(cython.double, _TOUCHING)


CLOSINGS = cython.declare(cython.Py_ssize_t, 20)
"""Limit of repetitions of a step with further closing contacts."""


def begin_iterate(m: Memory, dim: int, h: float) -> None:
    """Set the first iterate of a part of a step of length h [s], without impulses.

    Contacts that are open at its start are flagged in ``strike.opens``, and all bearings get the mark CLOSES.
    """
    size = coordinate_size(m)
    guess(m, dim, h, cython.cast(cython.Py_ssize_t, m.strike_audit[KNOWN]))
    fill(m.strike_impulse, 0.0)
    m.strike_audit[CLOSED] = 0.0
    mark_bearings(m, CLOSES)
    for c in range(m.contacts_kind.size):
        m.strike_opens[c] = 0
        if m.touch_before[c] > TOUCHING * size:
            m.strike_opens[c] = 1


def solve_part(m: Memory, dim: int, s: Striking, given: Given) -> int:
    """Solve a part of a step in which only marked contacts may close; return the iterations, −1 if it is not solved.

    The iteration starts from the present iterate.
    """
    if not are_apart(m) and not may_close(m) and m.bearings_friction.size == 0:
        return solve_without_contacts(m, dim, s.kinds, given)
    return solve_closing(m, dim, s, given)


def close_all_marked(m: Memory, dim: int, s: Striking, given: Given) -> int:
    """Solve a part of a step, mark the contacts that close in it, and repeat until there are no more.

    Returns the iterations, −1 if it is not solved.
    """
    for _ in range(CLOSINGS):
        iterations = solve_part(m, dim, s, given)
        if iterations < 0:
            return -1
        inside = mark_overlaps(m, dim, CLOSES)
        if inside < 0:
            return -1
        if inside == 0:
            return iterations
    return fail(m, CLOSING, CLOSINGS, 0.0)


def solve_between(m: Memory, dim: int, s: Striking, p: Prescribed, ends: tuple[float, float], closes: bool) -> int:
    """Solve the part of a step between two times [s], from a predicted iterate; return iterations, −1 if that fails.

    If ``closes``, contacts that close in it are marked, too, and the solution is repeated.
    """
    begin, end = ends
    if not request_data(m, p, begin, end, OVER_PART):
        return -1
    given = data_between(p, begin, end)
    begin_iterate(m, dim, given.h)
    if closes:
        return close_all_marked(m, dim, s, given)
    return solve_part(m, dim, s, given)
