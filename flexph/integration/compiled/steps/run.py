"""The loop over compiled steps (see flexph.integrate)."""

from __future__ import annotations

from ....numerics.compiled.lanes import brief
from ..contact.forces import store_contacts
from ..loops.ledger_rows import energies
from ..loops.motion import derive
from ..memory.data import Index
from ..memory.entry import entry
from ..memory.memory import Memory
from .calls import Calls, begin_within, hold, is_to_be_tried
from .controlled import is_controlled
from .rows import Rows, begin_row, close_row
from .step import Parts, Table, take_step


@entry
def run(
    m: Memory,
    axes: tuple[int, ...],
    table: Table,
    parts: Parts,
    save_every: int,
    count: int,
    known: int,
    calls: Calls,
    rows: Rows,
    solved: Index,
) -> None:
    """Take the steps of the table and record them, until one is not solved; their number goes to ``solved``.

    ``count`` steps were taken before; ``known`` rows of the memory are filled, the last ones. Where there are ``calls``
    the table has inputs for every substep, to which those that are held are added. Where pairs of steps are chosen by
    their error, the times of the table are those that are saved (see :mod:`.controlled`).
    """
    brief()
    if is_controlled(m, axes, parts.pair, table, parts, save_every, count, known, rows, solved):
        return
    row, substeps = 0, parts.shares.size
    steps = (table.times.size - 1) // substeps
    for step in range(steps):
        begin_row(m)
        if calls.due.size > 0 and not hold(calls, table.inputs, step, substeps):
            return
        if calls.within.address != 0:
            begin_within(m, calls.within, table.inputs, step)
        answer = 1
        again = False
        while answer == 1:
            if not take_step(m, axes, table, parts, step, known, again):
                return
            answer = 0
            if calls.within.address != 0:
                answer = is_to_be_tried(m, axes, calls.within, table.inputs, step)
            again = True
        if answer != 0:
            return
        known = min(known + substeps, parts.depth)
        close_row(m, axes, rows, row)
        rows.audit[row, 5] += len(parts.pair)  # of two steps
        count += 1
        solved[0] += 1
        if count % save_every == 0:
            row += 1


@entry
def settle(m: Memory, axes: tuple[int, ...]) -> None:
    """All that follows from the positions and velocities of ``at``."""
    derive(m, axes, m.trial_c)
    energies(m, axes, m.run_energy)


@entry
def settle_contacts(m: Memory, axes: tuple[int, ...]) -> None:
    """The energies of contacts at ``at``, after :func:`settle`."""
    store_contacts(m, axes)
    for i in range(m.touch_stored.size):
        m.run_energy[m.ledger_contact + i] = m.touch_stored[i]
