"""Discrete adjoint of steps of Gauss collocation.

The unknowns of a step are those of all its stages (gauss/unknowns.py), its residual has the defects of all stages
(gauss/momenta.py). A run does not store the unknowns: each step is solved again from its start. Transposed systems are
solved by iterative refinement with the dense factors of another step, as long as this converges.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.recorded import (
        begin_record,
        doubt,
        end_record,
        flat,
        give,
        give_one,
        give_some,
        operations,
        run_new_program,
        run_program,
        want,
    )
    from ....numerics.loops.views import copy
    from ..gauss.momenta import balance as record_balance
    from ..gauss.positions import set_positions as record_positions
    from ..gauss.steps import advance, solve_nodes
    from ..gauss.steps import advance as record_advance
    from ..gauss.steps import begin_step as record_begin
    from ..mechanics.motion import derive
    from ..mechanics.motion import derive as record_derive
    from ..memory.memory import Memory
    from ..memory.memory import stage as recorded
    from .nodes import Collocated, RecordedScheme
    from .sweeps import (
        AFTER,
        BEFORE,
        CONSTANTS,
        LENGTH,
        SPACE,
        add_entries,
        keep_largest,
        largest_absolute,
        set_cells,
        solve_back,
    )

    RecordedMemory: TypeAlias = Any


def go_back_by_nodes(m: Memory, r: RecordedMemory, dim: int, c: Collocated, first: int, last: int) -> int:
    """Propagate the adjoint ``c.run.carried`` back over the steps from ``last`` (exclusive) to ``first``.

    Returns the number of a step that failed, or −1.
    """
    failed = -1
    for i in range(last - first):
        if failed < 0 and not _step_back(m, r, dim, c, last - 1 - i):
            failed = last - 1 - i
    keep_largest(c.run.audit, 4, doubt())
    return failed


def _step_back(m: Memory, r: RecordedMemory, dim: int, c: Collocated, k: int) -> bool:
    """Propagate the adjoint back over step k; False if the step cannot be repeated or its transposed system solved."""
    h = c.table.times[k + 1] - c.table.times[k]
    if not _set_program(m, r, dim, c, k, h) or not solve_back(m, dim, c.run, k, h):
        return False
    entry = m.at_state.size + c.run.wanted.size
    entry = add_entries(c.run.adjoint, entry, c.by_given[k])
    entry = add_entries(c.run.adjoint, entry, c.run.by_constants)
    if c.run.by_times.size > 0:
        _add_by_times(c, k, entry)
    return True


def _add_by_times(c: Collocated, k: int, entry: int) -> None:
    """Add the derivatives with respect to the start and end time of step k, from entries of the adjoint.

    Entry ``entry`` of the adjoint is the derivative with respect to the length of the step; the next ones are those
    with respect to the times of its nodes.
    """
    c.run.by_times[k] -= c.run.adjoint[entry]
    c.run.by_times[k + 1] += c.run.adjoint[entry]
    for i in range(c.scheme.nodes.size):
        by_time = c.run.adjoint[entry + 1 + i]
        c.run.by_times[k] += (1.0 - c.scheme.nodes[i]) * by_time
        c.run.by_times[k + 1] += c.scheme.nodes[i] * by_time


def _set_program(m: Memory, r: RecordedMemory, dim: int, c: Collocated, k: int, h: float) -> bool:
    """Solve step k again from its start, and evaluate a program at its solution; False if it is not solved.

    If no recorded program has the same results of comparisons, a new one is recorded.
    """
    none = c.run.none
    copy(c.run.states[k], m.at_state)
    derive(m, dim, m.trial_c)
    if solve_nodes(m, dim, c.scheme, c.table, k, 0) < 0:
        return False
    advance(m, dim, c.scheme, h)
    size = largest_absolute(c.run.states[k + 1])
    for i in range(m.at_state.size):
        m.at_state[i] -= c.run.states[k + 1][i]
    keep_largest(c.run.audit, 7, largest_absolute(m.at_state) / size)
    copy(c.run.states[k], m.at_state)
    if not run_program(c.run.plain, c.given[k], c.spaces, none, none, c.run.values, h):
        _record(r, dim, c, c.given[k], h)
        run_new_program(c.run.plain, c.given[k], c.spaces, none, none, c.run.values, h)
    return True


def _record(r: RecordedMemory, dim: int, c: Collocated, given: Array, h: float) -> None:
    """Record the operations for the residual and the end of a step of length h [s] as a program.

    Its inputs are in groups named after those of the exact scheme: here BEFORE has the prescribed quantities
    ``given`` of the step, AFTER the work spaces of the stages.
    """
    set_cells(c.run.cells.space, c.run.plain)
    set_cells(c.space_cells, c.spaces)
    set_cells(c.given_cells, given)
    begin_record()
    give(c.run.cells.space, SPACE, -1)
    give(c.space_cells, AFTER, -1)
    want(r.at_state, 0)
    entry = _mark_unknowns(c.recorded, r.at_state.size)
    give(c.given_cells, BEFORE, entry)
    entry += given.size
    give_some(c.run.cells.constants, c.run.varied, CONSTANTS, entry)
    entry += c.run.varied.size
    if c.run.by_times.size > 0:
        c.run.cells.length[0] = give_one(h, LENGTH, 0, entry)
        for i in range(c.recorded.stages.size):
            want(recorded(c.recorded.stages, i).trial_time, entry + 1 + i)
    else:
        c.run.cells.length[0] = give_one(h, LENGTH, 0, -1)
    record_derive(r, dim, r.trial_c)
    record_begin(r, dim, c.recorded, c.coefficient, c.offset, c.nodes)
    record_positions(r, dim, c.recorded, c.run.cells.length[0], c.nodes, True)
    record_balance(r, dim, c.recorded, c.run.cells.length[0], c.nodes)
    _collect_defects(c.recorded, c.defect)
    record_advance(r, dim, c.recorded, c.run.cells.length[0])
    s = r.at_state.size
    end_record(r.at_state, c.defect, s, s + c.defect.size, c.run.adjoint.size)
    keep_largest(c.run.audit, 3, operations())
    c.run.audit[5] += 1


def _mark_unknowns(g: RecordedScheme, first: int) -> int:
    """Mark the unknowns of all stages as variables of the record, from index ``first`` on; return the next index."""
    entry = cython.declare(cython.Py_ssize_t)
    entry = first
    for i in range(g.stages.size):
        s = recorded(g.stages, i)
        want(flat(s.x_v), entry)
        entry += flat(s.x_v).size
        want(flat(s.stage_spin), entry)
        entry += flat(s.stage_spin).size
        want(s.x_du, entry)
        entry += s.x_du.size
        want(s.x_lam, entry)
        entry += s.x_lam.size
    return entry


def _collect_defects(g: RecordedScheme, out: Any) -> None:
    """Copy the defects of all stages to ``out``."""
    entry = cython.declare(cython.Py_ssize_t)
    entry = 0
    for i in range(g.stages.size):
        s = recorded(g.stages, i)
        for j in range(s.defect.size):
            out.p[entry] = s.defect.p[j]
            entry += 1
