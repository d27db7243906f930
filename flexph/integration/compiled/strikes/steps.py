"""Steps with rigid contacts: impacts at their beginning, the step, and what settles at its end."""

from __future__ import annotations

from ....contacts.compiled.island_space import LawSpace
from ....kernels.contacts.gaps import TOUCHING
from ....numerics.compiled.kernel import kernel
from ..loops.motion import copy
from ..memory.data import Index
from ..memory.entry import entry
from ..memory.memory import Memory
from ..steps.calls import Calls, hold
from ..steps.history import guess
from ..steps.iterate import coordinate_size
from ..steps.rows import Rows, begin_row, close_row
from ..steps.step import Table
from .by_events import step_by_events
from .closing import close
from .given import Given, given_of
from .impacts import fastest, strike
from .records import BALANCE, CLOSED, KNOWN, MISSED, SCALE
from .settling import end_step
from .trial import fly, look_inside, may_close

REACH, CLOSINGS = 0.1, 20
"""See contact.stepper."""


@entry
def run_strikes(
    m: Memory,
    axes: tuple[int, ...],
    coupled: tuple[int, ...],
    law: LawSpace,
    by_events: int,
    table: Table,
    save_every: int,
    count: int,
    known: int,
    calls: Calls,
    rows: Rows,
    solved: Index,
) -> None:
    """Take the steps of the table and record them, until one is not solved (see steps.run).

    Bodies that are ``coupled``, (1,), have joints or springs, bend, or have impacts ``by_events``; of others, by the
    type of this, the rest is not compiled.
    Rows of history that are filled at its end go to ``m.strike_audit``.
    """
    row = 0
    m.strike_audit[KNOWN] = known
    for step in range(table.times.size - 1):
        begin_row(m)
        if calls.due.size > 0 and not hold(calls, table.inputs, step, 1):
            return
        before = m.strike_audit[KNOWN]
        if not _step(m, axes, coupled, law, by_events, table, step):
            m.strike_audit[KNOWN] = before
            return
        close_row(m, axes, rows, row)
        count += 1
        solved[0] += 1
        if count % save_every == 0:
            row += 1


@kernel
def _step(
    m: Memory, axes: tuple[int, ...], coupled: tuple[int, ...], law: LawSpace, by_events: int, table: Table, k: int
) -> bool:
    """Take one step; False where it is not solved."""
    m.strike_audit[MISSED] = m.strike_audit[SCALE] = m.strike_audit[BALANCE] = m.strike_audit[CLOSED] = 0.0
    copy(table.moved[k if table.moved.shape[0] > 1 else 0], m.trial_moved)
    if len(coupled) > 0 and by_events > 0:
        return step_by_events(m, axes, coupled, law, table, k)
    return _step_at_once(m, axes, coupled, law, given_of(table, k))


@kernel
def _step_at_once(m: Memory, axes: tuple[int, ...], coupled: tuple[int, ...], law: LawSpace, given: Given) -> bool:
    """A step with impacts at its beginning."""
    known = int(m.strike_audit[KNOWN])
    size = coordinate_size(m)
    strikes = strike(m, axes, coupled, law, given, size, known)
    if strikes < 0:
        return False
    known = known if strikes == 0 else 0
    iterations = _close(m, axes, coupled, law, given, size, known)
    return iterations >= 0 and end_step(m, axes, coupled, law, given, known, iterations, strikes == 0)


@kernel
def _close(
    m: Memory, axes: tuple[int, ...], coupled: tuple[int, ...], law: LawSpace, given: Given, size: float, known: int
) -> int:
    """The step with all contacts that may close in it; its iterations, −1 where it is not solved."""
    h = given.h
    guess(m, axes, h, known)
    m.strike_impulse[:] = 0.0
    way = h * fastest(m)
    for c in range(m.contacts_kind.size):
        touches = m.touch_before[c] <= TOUCHING * size
        may = touches or m.touch_before[c] + h * m.strike_rates[0, c] <= REACH * way
        m.strike_may_close[c] = 2 if may else 0
        m.strike_opens[c] = 0 if touches else 1
    for _ in range(CLOSINGS):
        if len(coupled) > 0 and not may_close(m):
            m.touch_force[:] = 0.0
            iterations = fly(m, axes, given)
        else:
            iterations = close(m, axes, coupled, law, given)
        if iterations < 0:
            return -1
        inside = look_inside(m, axes)
        if inside < 0:
            return -1
        if inside == 0:
            return iterations
    return -1
