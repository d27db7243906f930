"""Loop over steps with rigid contacts: impacts at the start, the step, and settling of velocities at its end.

The marks of contacts, such as CLOSES, are defined in strikes.marks.
"""

from __future__ import annotations

import cython

from ....kernels.contacts.gaps import TOUCHING as _TOUCHING
from ..memory.codes import BALANCE as _BALANCE
from ..memory.codes import KNOWN as _KNOWN
from ..memory.codes import LAWLESS as _LAWLESS
from ..memory.codes import MISSED as _MISSED
from ..memory.codes import SCALE as _SCALE

if not cython.compiled:
    from math import fabs

    from ..memory.given import given_of
    from ..memory.memory import Memory
    from ..memory.striking import Striking
    from ..memory.structures import Course, Prescribed, Table
    from ..steps.calls import add_held_inputs, begin_within, is_repeated
    from ..steps.iterate import coordinate_size
    from ..steps.rows import begin_row, close_row, refuse
    from ..strikes.impacts import largest_rate, solve_impacts
    from ..strikes.marks import CLOSES, OPEN
    from ..strikes.records import record_part
    from ..strikes.settling import settle_part
    from ..terms.masses import set_changing_values
    from .by_events import step_by_events
    from .part_steps import begin_iterate, close_all_marked

BALANCE = cython.declare(cython.Py_ssize_t, _BALANCE)
KNOWN = cython.declare(cython.Py_ssize_t, _KNOWN)
LAWLESS = cython.declare(cython.Py_ssize_t, _LAWLESS)
MISSED = cython.declare(cython.Py_ssize_t, _MISSED)
SCALE = cython.declare(cython.Py_ssize_t, _SCALE)
TOUCHING = cython.declare(cython.double, _TOUCHING)


UNBALANCED = cython.declare(cython.double, 1e-6)
"""Energy residual of a step, divided by the sum of all energies and flows, above which it is not solved."""
REACH = cython.declare(cython.double, 0.1)
"""Predicted gap, divided by the largest displacement, up to which a contact may close in a step."""


def run_strikes(m: Memory, dim: int, striking: Striking, table: Table, course: Course) -> None:
    """Take and record the steps of a table, until one is not solved (see steps.run).

    The number of filled rows of history at the end is left in ``m.strike_audit``.
    """
    count = cython.declare(cython.Py_ssize_t)
    row = cython.declare(cython.Py_ssize_t)
    calls = course.calls
    count = course.before
    row = 0
    m.strike_audit[KNOWN] = course.known
    for step in range(table.times.size - 1):
        begin_row(m)
        if calls.due.size > 0 and not add_held_inputs(calls, table.inputs, step, 1):
            return
        before = m.strike_audit[KNOWN]
        begin_within(m, calls.within, table.inputs, step)
        set_free_response = 1
        while set_free_response == 1:
            m.strike_audit[KNOWN] = before
            set_free_response = 2
            if _step(m, dim, striking, table, step) and _is_balanced(m):
                set_free_response = is_repeated(m, dim, calls.within, table.inputs, step)
        if set_free_response != 0:
            m.strike_audit[KNOWN] = before
            return
        close_row(m, dim, course.rows, row)
        count += 1
        course.solved[0] += 1
        if count % course.every == 0:
            row += 1


def _step(m: Memory, dim: int, striking: Striking, table: Table, k: int) -> bool:
    """Take step k of a table; False if it is not solved."""
    m.strike_audit[BALANCE] = 0.0
    m.strike_audit[MISSED] = 0.0
    m.strike_audit[SCALE] = 0.0
    prescribed = Prescribed(table, k, striking.between)
    if striking.by_events > 0:
        return step_by_events(m, dim, striking, prescribed)
    set_changing_values(m, table.moved[k if table.moved.shape[0] > 1 else 0])
    m.trial_time[0] = 0.5 * (table.times[k] + table.times[k + 1])
    return _step_at_once(m, dim, striking, prescribed)


def _is_balanced(m: Memory) -> bool:
    """True if the defect of the energy balance of a step is at most the fraction UNBALANCED of its terms.

    A larger defect shows that nearly redundant impulses have grown without bound.
    """
    scale = 0.0
    for i in range(m.run_energy.size):
        scale += fabs(m.run_energy[i]) + fabs(m.run_back_energy[i])
    for i in range(m.run_step_flow.size):
        scale += fabs(m.run_step_flow[i])
    return m.run_step_audit[0] <= UNBALANCED * scale or refuse(m, LAWLESS, 0)


def _step_at_once(m: Memory, dim: int, s: Striking, p: Prescribed) -> bool:
    """Take a step with impacts at its start; False if it is not solved."""
    size = coordinate_size(m)
    given = given_of(p.table, p.k)
    strikes = solve_impacts(m, dim, s, p, size, cython.cast(cython.Py_ssize_t, m.strike_audit[KNOWN]))
    if strikes < 0:
        return False
    if strikes > 0:
        m.strike_audit[KNOWN] = 0.0
    _mark(m, given.h, size)
    begin_iterate(m, dim, given.h)
    iterations = close_all_marked(m, dim, s, given)
    if iterations < 0 or not record_part(m, dim, s.kinds, given, 1.0, strikes == 0):
        return False
    return settle_part(m, dim, s, given, iterations)


def _mark(m: Memory, h: float, size: float) -> None:
    """Mark the rigid contacts that touch or may close in a step of length h [s] as CLOSES, others as OPEN.

    ``size`` [m] is the extent of the mechanism.
    """
    may = cython.declare(cython.bint)
    travel = h * largest_rate(m)
    for c in range(m.contacts_kind.size):
        may = m.touch_before[c] <= TOUCHING * size or m.touch_before[c] + h * m.strike_rates[0][c] <= REACH * travel
        m.strike_may_close[c] = CLOSES if may and m.contacts_rigid[c] else OPEN
