"""The loop over compiled steps (see flexph.integrate)."""

from __future__ import annotations

import cython

from ..memory.data import Index

if not cython.compiled:
    from ....numerics.loops.views import fewest
    from ..contact.forces import store_contacts
    from ..mechanics.ledger_rows import energies
    from ..mechanics.motion import derive
    from ..memory.memory import Memory
    from ..memory.structures import Calls, Parts, Rows, Table
    from ..terms.paths import place_points
    from .calls import begin_within, hold, is_to_be_tried
    from .controlled import is_controlled
    from .rows import begin_row, close_row
    from .step import take_step


def run(
    m: Memory,
    dim: int,
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
    again = cython.declare(cython.bint)
    row = cython.declare(cython.Py_ssize_t)
    if is_controlled(m, dim, parts.pair, table, parts, save_every, count, known, rows, solved):
        return
    row = 0
    substeps = parts.shares.size
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
            if not take_step(m, dim, table, parts, step, known, again):
                return
            answer = 0
            if calls.within.address != 0:
                answer = is_to_be_tried(m, dim, calls.within, table.inputs, step)
            again = True
        if answer != 0:
            return
        known = fewest(known + substeps, parts.depth)
        close_row(m, dim, rows, row)
        if parts.pair.found.size > 0:
            rows.audit[row][5] += 1.0  # of two steps
        count += 1
        solved[0] += 1
        if count % save_every == 0:
            row += 1


def settle(m: Memory, dim: int) -> None:
    """All that follows from the positions and velocities of ``at``."""
    derive(m, dim, m.trial_c)
    place_points(m)
    energies(m, dim, m.run_energy)


def settle_contacts(m: Memory, dim: int) -> None:
    """The energies of contacts at ``at``, after :func:`settle`."""
    store_contacts(m, dim)
    for i in range(m.touch_stored.size):
        m.run_energy[m.ledger_contact[0] + i] = m.touch_stored[i]
