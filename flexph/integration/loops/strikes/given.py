"""What time prescribes over a step with rigid contacts, and over parts of it."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import call_one, copy
    from ..memory.memory import Memory
    from ..memory.structures import Given, Prescribed, Table


def given_of(table: Table, k: int) -> Given:
    """What a table has of a step."""
    return _given(table, k, table.times[k + 1] - table.times[k])


def _given(table: Table, k: int, h: float) -> Given:
    """The same for a part of a length."""
    moves = cython.declare(cython.bint)
    moves = table.coefficient.shape[0] > 1
    first = k if moves else 0
    last = k + 1 if moves else 0
    own = k if moves else 0
    return Given(
        h,
        table.inputs[k if table.inputs.shape[0] > 1 else 0],
        table.coefficient[first],
        table.coefficient[last],
        table.offset[last],
        table.offset[first],
        table.own_coefficient[own],
        table.own_offset[own],
        moves,
    )


def is_whole(p: Prescribed, begin: float, end: float) -> bool:
    """Whether a part is all of the step."""
    return begin == p.table.times[p.k] and end == p.table.times[p.k + 1]


def ask(m: Memory, p: Prescribed, begin: float, end: float, kind: int) -> bool:
    """Ask for what changes over a part of a step, which :func:`given_between` has then; False where that fails."""
    if p.between.address == 0 or is_whole(p, begin, end):
        copy(p.table.moved[p.k if p.table.moved.shape[0] > 1 else 0], m.trial_moved)
        return True
    p.between.times[0] = begin
    p.between.times[1] = end
    if call_one(p.between.address, kind) != 0:
        return False
    copy(p.between.table.moved[0], m.trial_moved)
    return True


def given_between(p: Prescribed, begin: float, end: float) -> Given:
    """What was asked for over a part of a step, or at a time of it."""
    if p.between.address != 0 and not is_whole(p, begin, end):
        return _given(p.between.table, 0, end - begin)
    return _given(p.table, p.k, end - begin)
