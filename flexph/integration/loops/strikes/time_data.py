"""Prescribed quantities over a step with rigid contacts, and over parts of it."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import call_one
    from ..memory.given import given_over
    from ..memory.memory import Memory
    from ..memory.structures import Given, Prescribed
    from ..terms.masses import set_changing_values


def is_whole(p: Prescribed, begin: float, end: float) -> bool:
    """True if the part from ``begin`` to ``end`` [s] is the whole step."""
    return begin == p.table.times[p.k] and end == p.table.times[p.k + 1]


def request_data(m: Memory, p: Prescribed, begin: float, end: float, kind: int) -> bool:
    """Evaluate the prescribed quantities of a part of a step, for :func:`data_between`; False if that fails.

    ``kind`` is OVER_PART, RATES_AT_END or AT_TIME.
    """
    m.trial_time[0] = 0.5 * (begin + end)
    if p.between.address == 0 or is_whole(p, begin, end):
        set_changing_values(m, p.table.moved[p.k if p.table.moved.shape[0] > 1 else 0])
        return True
    p.between.times[0] = begin
    p.between.times[1] = end
    if call_one(p.between.address, kind) != 0:
        return False
    set_changing_values(m, p.between.table.moved[0])
    return True


def data_between(p: Prescribed, begin: float, end: float) -> Given:
    """Prescribed quantities that :func:`request_data` evaluated, over a part of a step or at one time of it."""
    if p.between.address != 0 and not is_whole(p, begin, end):
        return given_over(p.between.table, 0, end - begin)
    return given_over(p.table, p.k, end - begin)
