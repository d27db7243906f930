"""What time prescribes over a step with rigid contacts, and over parts of it."""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.arrays import Array
from ....numerics.compiled.by_address import call_at
from ....numerics.compiled.kernel import kernel
from ..loops.motion import copy
from ..memory.memory import Memory
from ..steps.step import Table


class Given(NamedTuple):
    """The length of a step, its inputs, and coefficients and offsets of the joints (see steps.step.Table).

    ``before`` and ``after`` are the coefficients at both ends, ``offset``, ``own_coefficient`` and ``own_offset`` those
    at its end, ``last_offset`` at its start; ``moves`` says whether they change.
    """

    h: float
    inputs: Array
    before: Array
    after: Array
    offset: Array
    last_offset: Array
    own_coefficient: Array
    own_offset: Array
    moves: bool


OVER_PART, RATES_AT_END, AT_TIME = range(3)
"""What is asked for: all but rates over a part of a step, its rates at the end, or all at a time."""


class Between(NamedTuple):
    """What is asked for between the times of a table; of an ``address`` 0 all that time prescribes is constant there.

    The function at the address fills the ``table`` of one step from the first of the ``times`` to the second one, or of
    both at the first one, with rates to the right of it.
    """

    address: int
    times: Array  # (2,)
    table: Table


class Prescribed(NamedTuple):
    """What time prescribes over step ``k`` of a table, and over its parts."""

    table: Table
    k: int
    between: Between


@kernel
def given_of(table: Table, k: int) -> Given:
    """What a table has of a step."""
    return _given(table, k, table.times[k + 1] - table.times[k])


@kernel
def _given(table: Table, k: int, h: float) -> Given:
    """The same for a part of a length."""
    moves = table.coefficient.shape[0] > 1
    first, last, own = (k, k + 1, k) if moves else (0, 0, 0)
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


@kernel
def is_whole(p: Prescribed, begin: float, end: float) -> bool:
    """Whether a part is all of the step."""
    return begin == p.table.times[p.k] and end == p.table.times[p.k + 1]


@kernel
def ask(m: Memory, p: Prescribed, begin: float, end: float, kind: int) -> bool:
    """Ask for what changes over a part of a step, which :func:`given_between` has then; False where that fails."""
    if p.between.address == 0 or is_whole(p, begin, end):
        copy(p.table.moved[p.k if p.table.moved.shape[0] > 1 else 0], m.trial_moved)
        return True
    p.between.times[0], p.between.times[1] = begin, end
    if call_at(p.between.address, (kind,)) != 0:
        return False
    copy(p.between.table.moved[0], m.trial_moved)
    return True


@kernel
def given_between(p: Prescribed, begin: float, end: float) -> Given:
    """What was asked for over a part of a step, or at a time of it."""
    if p.between.address != 0 and not is_whole(p, begin, end):
        return _given(p.between.table, 0, end - begin)
    return _given(p.table, p.k, end - begin)
