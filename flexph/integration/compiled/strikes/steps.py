"""Steps of free rigid bodies with rigid contacts: impacts at their beginning, the step, and what settles at its end."""

from __future__ import annotations

from ....contacts.broad_phase import ACROSS, DEEP
from ....kernels.contacts.gap_arrays import ANGLE
from ....kernels.contacts.gaps import TOUCHING
from ....numerics.arrays import Array
from ..contact.flight import passes, turns_away
from ..contact.forces import leaves_list
from ..contact.gaps import gap_of, place_vectors, turned_gap
from ..loops.ledger_rows import energies, flows, outputs
from ..loops.motion import copy, derive_momenta
from ..memory.data import Index
from ..memory.kernel import entry, kernel
from ..memory.memory import Memory
from ..steps.calls import Calls, hold
from ..steps.history import guess, remember
from ..steps.iterate import coordinate_size
from ..steps.rows import Rows, begin_row, close_row, record_energy
from ..steps.step import Table
from .closing import close
from .impacts import fastest, strike
from .islands import LawSpace
from .records import (
    ARRIVAL,
    BALANCE,
    CLOSED,
    KNOWN,
    MISSED,
    RUBBED,
    SCALE,
    missed_of_step,
    record_impulses,
    record_loss,
    rubbed,
)
from .settling import settle

REACH, CLOSINGS = 0.1, 20
"""See contact.stepper."""


@entry
def run_strikes(
    m: Memory,
    axes: tuple[int, ...],
    law: LawSpace,
    table: Table,
    save_every: int,
    count: int,
    known: int,
    calls: Calls,
    rows: Rows,
    solved: Index,
) -> None:
    """Take the steps of the table and record them, until one is not solved (see steps.run).

    Rows of history that are filled at its end go to ``m.strike_audit``.
    """
    row = 0
    m.strike_audit[KNOWN] = known
    for step in range(table.times.size - 1):
        begin_row(m)
        if calls.due.size > 0 and not hold(calls, table.inputs, step, 1):
            return
        if not _step(m, axes, law, table, step, int(m.strike_audit[KNOWN])):
            return
        close_row(m, axes, rows, row)
        count += 1
        solved[0] += 1
        if count % save_every == 0:
            row += 1


@kernel
def _step(m: Memory, axes: tuple[int, ...], law: LawSpace, table: Table, k: int, known: int) -> bool:
    """Take one step; False where it is not solved."""
    h, inputs = table.times[k + 1] - table.times[k], table.inputs[k if table.inputs.shape[0] > 1 else 0]
    size = coordinate_size(m)
    m.strike_audit[MISSED] = m.strike_audit[SCALE] = m.strike_audit[BALANCE] = m.strike_audit[CLOSED] = 0.0
    strikes = strike(m, axes, law, h, inputs, size)
    if strikes < 0:
        return False
    known = known if strikes == 0 else 0
    iterations = _close(m, axes, law, h, inputs, size, known)
    if iterations < 0 or turns_away(m) or leaves_list(m, axes):
        return False
    _record(m, axes, h, table)
    settled = settle(m, axes, law, h)
    if settled < 0:
        return False
    m.run_step_audit[0] = m.strike_audit[BALANCE]
    m.run_step_audit[4] = iterations
    m.run_step_audit[7] = missed_of_step(m)
    remember(m, h, known)
    m.strike_audit[KNOWN] = 0 if settled > 0 else min(known + 1, 2)
    return True


@kernel
def _close(m: Memory, axes: tuple[int, ...], law: LawSpace, h: float, inputs: Array, size: float, known: int) -> int:
    """The step with all contacts that may close in it; its iterations, −1 where it is not solved."""
    guess(m, axes, h, known)
    m.strike_impulse[:] = 0.0
    way = h * fastest(m)
    for c in range(m.contacts_kind.size):
        touches = m.touch_before[c] <= TOUCHING * size
        may = touches or m.touch_before[c] + h * m.strike_rates[0, c] <= REACH * way
        m.strike_may_close[c] = 2 if may else 0
        m.strike_opens[c] = 0 if touches else 1
    for _ in range(CLOSINGS):
        iterations = close(m, axes, law, h, inputs)
        if iterations < 0:
            return -1
        inside = _look_inside(m, axes)
        if inside < 0:
            return -1
        if inside == 0:
            return iterations
    return -1


@kernel
def _look_inside(m: Memory, axes: tuple[int, ...]) -> int:
    """How many more contacts may close, as bodies are in each other at the end; −1 where some passed each other."""
    size, found = _size_at_end(m), 0
    for c in range(m.contacts_kind.size):
        place_vectors(m, axes, c, m.end_r, m.end_arm, m.touch_last)
        if passes(m, axes, c, ACROSS if m.strike_may_close[c] > 0 else DEEP):
            return -1
        if m.strike_may_close[c] == 0:
            after = gap_of(m, axes, c, m.touch_last)
            if m.contacts_kind[c] == ANGLE:
                place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
                after = turned_gap(m, axes, c, m.touch_before[c])
            m.touch_after[c] = after
            if after < -1e-2 * TOUCHING * size:
                m.strike_may_close[c] = 2
                found += 1
    return found


@kernel
def _size_at_end(m: Memory) -> float:
    """Largest coordinate at the end of the step."""
    size = coordinate_size(m)
    for b in range(m.end_r.shape[0]):
        for i in range(m.end_r.shape[1]):
            size = max(size, abs(m.end_r[b, i]))
    return size


@kernel
def _record(m: Memory, axes: tuple[int, ...], h: float, table: Table) -> None:
    """Go on to the end of the step, and add what it does to the accounts."""
    flows(m, axes, h, table.coefficient[0], table.coefficient[0])
    outputs(m, axes)
    m.strike_taken[:] = 0.0
    for c in range(m.contacts_kind.size):
        if m.touch_force[c] != 0.0:
            arrived, lost = m.touch_force[c] * (m.touch_before[c] - m.touch_after[c]), 0.0
            for t in range(len(axes) - 1 if m.contacts_friction[c] > 0.0 else 0):
                lost -= m.touch_friction[c, t] * m.touch_slip[c, t]
            record_impulses(m, c, m.strike_impulse[0, c], rubbed(m, axes, c), m.strike_opens[c] > 0)
            record_loss(m, c, ARRIVAL, arrived)
            record_loss(m, c, RUBBED, lost)
            m.strike_taken[c] = arrived + lost
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    derive_momenta(m, axes, m.trial_c)
    energies(m, axes, m.run_new_energy)
    m.strike_audit[BALANCE] += abs(record_energy(m))
