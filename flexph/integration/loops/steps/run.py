"""Loop over compiled steps (see flexph.integrate)."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import smaller_int
    from ..contact.forces import store_contacts
    from ..mechanics.ledger_rows import energies
    from ..mechanics.motion import derive
    from ..memory.memory import Memory
    from ..memory.structures import Course, Table
    from ..terms.masses import set_changing_masses
    from ..terms.paths import place_points
    from .calls import add_held_inputs
    from .controlled import is_controlled
    from .rows import begin_row, close_row
    from .step import take_step


def run(m: Memory, dim: int, table: Table, course: Course) -> None:
    """Take and record the steps of a table, until one is not solved.

    With controllers the table has inputs for every substep, and held inputs are added to these. Under step size
    control the times of the table are the saved ones (see :mod:`.controlled`).
    """
    count = cython.declare(cython.Py_ssize_t)
    known = cython.declare(cython.Py_ssize_t)
    row = cython.declare(cython.Py_ssize_t)
    if is_controlled(m, dim, table, course):
        return
    calls = course.calls
    count = course.before
    known = course.known
    row = 0
    substeps = course.parts.shares.size
    steps = (table.times.size - 1) // substeps
    for step in range(steps):
        begin_row(m)
        if calls.due.size > 0 and not add_held_inputs(calls, table.inputs, step, substeps):
            return
        if not take_step(m, dim, table, course, step, known):
            return
        known = smaller_int(known + substeps, course.parts.depth)
        close_row(m, dim, course.rows, row)
        if course.parts.pair.found.size > 0:
            course.rows.audit[row][5] += 1.0  # a pair has two steps
        count += 1
        course.solved[0] += 1
        if count % course.every == 0:
            row += 1


def settle(m: Memory, dim: int) -> None:
    """Compute momenta, vectors and energies from the positions and velocities of the present state ``at``."""
    set_changing_masses(m, 1.0)
    derive(m, dim, m.trial_c)
    place_points(m)
    energies(m, dim, m.run_energy)


def settle_contacts(m: Memory, dim: int) -> None:
    """Compute the energies of contacts in the present state ``at``; to be called after :func:`settle`."""
    store_contacts(m, dim)
    for i in range(m.touch_stored.size):
        m.run_energy[m.ledger_contact[0] + i] = m.touch_stored[i]
