"""Discrete adjoint of steps that lose energy (see :mod:`.impulse_steps`).

A run stores neither the mean rates of a step nor the velocities before its impulse: each step is solved again from its
start. Transposed systems are solved by iterative refinement with the dense factors of another step, as long as this
converges.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import cython

if not cython.compiled:
    from ....numerics.loops.recorded import (
        begin_record,
        doubt,
        end_record,
        give,
        give_one,
        give_some,
        operations,
        run_new_program,
        run_program,
        want,
    )
    from ....numerics.loops.views import copy
    from ..decay.step import prepare
    from ..mechanics.ledger_rows import velocity_defect
    from ..mechanics.motion import derive_momenta
    from ..memory.given import given_of
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from ..steps.impulse import factor_instant, solve_impulse
    from ..steps.newton import begin as record_begin
    from ..steps.newton import newton
    from ..steps.run import settle
    from ..steps.run import settle as record_settle
    from .decayed import Decayed
    from .impulse_steps import set_defects as record_defects
    from .nodes import RecordedGiven
    from .sweeps import (
        AFTER,
        BEFORE,
        CONSTANTS,
        INPUTS,
        LENGTH,
        OFFSET,
        SPACE,
        add_entries,
        keep_largest,
        largest_absolute,
        row_of,
        set_cells,
        solve_back,
    )

    RecordedMemory: TypeAlias = Any


def go_back_decaying(m: Memory, r: RecordedMemory, dim: int, d: Decayed, first: int, last: int) -> int:
    """Propagate the adjoint ``d.run.carried`` back over the steps from ``last`` (exclusive) to ``first``.

    Returns the number of a step that failed, or −1.
    """
    failed = -1
    for i in range(last - first):
        if failed < 0 and not _step_back(m, r, dim, d, last - 1 - i):
            failed = last - 1 - i
    keep_largest(d.run.audit, 4, doubt())
    return failed


def _step_back(m: Memory, r: RecordedMemory, dim: int, d: Decayed, k: int) -> bool:
    """Propagate the adjoint back over step k; False if the step cannot be repeated or its transposed system solved."""
    b = d.run
    given = given_of(b.table, k)
    if not _set_program(m, r, dim, d, k, given) or not solve_back(m, dim, b, k, given.h):
        return False
    entry = m.at_state.size + b.wanted.size
    entry = add_entries(b.adjoint, entry, row_of(b.by_coefficient, k))
    entry = add_entries(b.adjoint, entry, row_of(b.by_coefficient, k + 1))
    entry = add_entries(b.adjoint, entry, row_of(b.by_offset, k + 1))
    entry = add_entries(b.adjoint, entry, d.by_given[k])
    entry = add_entries(b.adjoint, entry, row_of(b.by_moved, k))
    entry = add_entries(b.adjoint, entry, b.by_constants)
    add_entries(b.adjoint, entry, d.by_matrices)
    return True


def _set_program(m: Memory, r: RecordedMemory, dim: int, d: Decayed, k: int, given: Given) -> bool:
    """Solve step k again, and evaluate a program at its solution; False if it is not solved.

    If no recorded program has the same results of comparisons, a new one is recorded.
    """
    b = d.run
    if not _solve_step(m, dim, d, k, given):
        return False
    if not run_program(b.plain, given.before, given.after, given.offset, d.given[k], b.values, given.h):
        _record(r, dim, d, k, given)
        run_new_program(b.plain, given.before, given.after, given.offset, d.given[k], b.values, given.h)
    return True


def _solve_step(m: Memory, dim: int, d: Decayed, k: int, given: Given) -> bool:
    """Solve step k again from its start, with its impulse; False if this fails."""
    b = d.run
    copy(b.states[k], m.at_state)
    copy(row_of(b.means, k), m.x)
    copy(row_of(b.table.moved, k), m.trial_moved)
    m.trial_time[0] = 0.5 * (b.table.times[k] + b.table.times[k + 1])
    settle(m, dim)
    prepare(m, dim, given.h)
    if newton(m, dim, b.kinds, given, False) < 0:
        return False
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    derive_momenta(m, dim, m.trial_c)
    velocity_defect(m, dim, given.after, given.coefficient_rate, given.offset_rate)
    if not factor_instant(m, dim, 0, given.after):
        return False
    solve_impulse(m, dim, 0, m.run_new_defect, m.decay_mu)
    share = 2.0 * m.decay_share[0] / (1.0 + m.decay_share[0])
    velocities = m.at_velocities.size
    for i in range(velocities):
        m.best[i] = m.at_velocities[i]
        m.at_velocities[i] -= share * m.correction[i]
        m.correction[i] = m.best[i] - m.correction[i]
    for i in range(m.x_lam.size):
        m.best[velocities + i] = m.decay_mu[i]
        m.correction[velocities + i] = 0.0
    size = largest_absolute(b.states[k + 1])
    for i in range(m.at_state.size):
        m.at_state[i] -= b.states[k + 1][i]
    keep_largest(b.audit, 7, largest_absolute(m.at_state) / size)
    copy(b.states[k], m.at_state)
    return True


def _record(r: RecordedMemory, dim: int, d: Decayed, k: int, given: Given) -> None:
    """Record the operations for the residual and the end of step k as a program."""
    b = d.run
    s = r.at_state.size
    n = r.x.size
    set_cells(b.cells.space, b.plain)
    set_cells(b.cells.before, given.before)
    set_cells(b.cells.after, given.after)
    set_cells(b.cells.offset, given.offset)
    set_cells(d.given_cells, d.given[k])
    begin_record()
    give(b.cells.space, SPACE, -1)
    want(r.at_state, 0)
    want(r.x, s)
    want(r.best, s + n)
    want(r.correction, s + 2 * n)
    entry = s + 3 * n
    give(b.cells.before, BEFORE, entry)
    entry += b.cells.before.size
    give(b.cells.after, AFTER, entry)
    entry += b.cells.after.size
    give(b.cells.offset, OFFSET, entry)
    entry += b.cells.offset.size
    give(d.given_cells, INPUTS, entry)
    entry += d.given_cells.size
    want(r.trial_moved, entry)
    entry += r.trial_moved.size
    give_some(b.cells.constants, b.varied, CONSTANTS, entry)
    entry += b.varied.size
    for i in range(d.matrices.size):
        d.matrices.p[i] = give_one(b.values[b.varied.size + i], CONSTANTS, b.varied.size + i, entry + i)
    b.cells.length[0] = give_one(given.h, LENGTH, 0, -1)
    record_settle(r, dim)
    record_begin(r, dim, b.kinds)
    recorded = RecordedGiven(
        b.cells.length[0],
        d.inputs,
        b.cells.before,
        b.cells.after,
        b.cells.offset,
        b.cells.offset,
        d.coefficient_rate,
        d.offset_rate,
        False,
    )
    record_defects(r, dim, recorded, d.matrices, d.defect)
    end_record(r.at_state, d.defect, s, s + 3 * n, b.adjoint.size)
    keep_largest(b.audit, 3, operations())
    b.audit[5] += 1
