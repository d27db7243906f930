"""Discrete adjoint of the steps of a run.

A step solves r(x₀, y; p) = 0 for y = (v̄, ω̄, u̇̄, λ) and ends at x₁ = X(x₀, y; p). For a functional Φ with the partial
derivatives φ_x by states and φ_y by unknowns, the adjoint a₁ = dΦ/dx₁ is propagated back over the steps:

    r_yᵀ μ = X_yᵀ a₁ + φ_y,   a₀ = X_xᵀ a₁ − r_xᵀ μ + φ_x,   dΦ/dp += X_pᵀ a₁ − r_pᵀ μ.

The transposed system is solved by the factors of the Jacobian at the solution. Products with transposed matrices are
reverse sweeps through a program of residual and end of a step (numerics/loops/program.hpp). A program is recorded at
one step and evaluated at all steps with the same results of comparisons; for other results another one is recorded.
Such a sweep also yields the residual X_yᵀ a₁ − r_yᵀ μ of the transposed system, by which μ is corrected until it
vanishes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.algebra.dense import factor as factor_dense
    from ....numerics.algebra.dense import solve as solve_dense
    from ....numerics.loops.recorded import (
        begin_record,
        doubt,
        end_record,
        give,
        give_one,
        give_some,
        operations,
        pull,
        run_new_program,
        run_program,
        want,
    )
    from ....numerics.loops.views import copy, fill
    from ..friction.sliding import slide
    from ..friction.sliding import slide as record_slide
    from ..mechanics.residual import residual as record_residual
    from ..memory.given import given_of
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from ..steps.newton import begin, evaluate, factor_step, solve_step
    from ..steps.newton import begin as record_begin
    from ..steps.run import settle
    from ..steps.run import settle as record_settle
    from ..terms.masses import set_changing_masses
    from ..terms.masses import set_changing_masses as record_changing_masses
    from .backward import Backward
    from .nodes import RecordedGiven
    from .transposed import solve_transposed

    RecordedMemory: TypeAlias = Any

CORRECTIONS = cython.declare(cython.Py_ssize_t, 20)
"""Largest number of corrections of a transposed system."""
STALE = cython.declare(cython.Py_ssize_t, 8)
"""Number of corrections by the dense factors of another step after which those of this step are computed."""
ROUNDED = cython.declare(cython.double, 1e-9)
"""Largest relative defect where corrections no longer halve it, and after a dense solution."""
RENEWED = cython.declare(cython.double, 1e-12)
"""Likewise with the dense factors of another step, above which those of this step are computed."""
DIVERGED = cython.declare(cython.double, 1e6)
"""Relative defect above which corrections are given up."""
SETTLED = cython.declare(cython.double, 1e-13)
"""Defect of a transposed system, relative to its largest right-hand side, at which it is solved."""
ENDS = cython.declare(cython.Py_ssize_t, 0)
"""Sweep from the end to the unknowns; the next ones are from the defects to these, and from both to all numbers."""
DEFECTS = cython.declare(cython.Py_ssize_t, 1)
ALL = cython.declare(cython.Py_ssize_t, 2)
ARROW = cython.declare(cython.Py_ssize_t, 0)
"""Factors by which transposed systems are solved: those of the step; none yet; dense ones of some step before."""
NOTHING = cython.declare(cython.Py_ssize_t, 1)
DENSE = cython.declare(cython.Py_ssize_t, 2)
SPACE = cython.declare(cython.Py_ssize_t, 0)
"""Group of given numbers: the work space; the next ones are terms before and after, offsets, inputs, constants, h."""
BEFORE = cython.declare(cython.Py_ssize_t, 1)
AFTER = cython.declare(cython.Py_ssize_t, 2)
OFFSET = cython.declare(cython.Py_ssize_t, 3)
INPUTS = cython.declare(cython.Py_ssize_t, 4)
CONSTANTS = cython.declare(cython.Py_ssize_t, 5)
LENGTH = cython.declare(cython.Py_ssize_t, 6)


def go_back(m: Memory, r: RecordedMemory, dim: int, b: Backward, first: int, last: int) -> int:
    """Propagate the adjoint ``b.carried`` back over the steps from ``last`` (exclusive) to ``first``.

    Returns the number of a step that failed, or −1.
    """
    failed = -1
    for i in range(last - first):
        if failed < 0 and _step_back(m, r, dim, b, last - 1 - i) != 0:
            failed = last - 1 - i
    keep_largest(b.audit, 4, doubt())
    return failed


def _step_back(m: Memory, r: RecordedMemory, dim: int, b: Backward, k: int) -> int:
    """Propagate the adjoint back over step k; return 0, or 1 if its transposed system is singular."""
    given = given_of(b.table, k)
    set_program(m, r, dim, b, k, given)
    if not solve_back(m, dim, b, k, given.h):
        return 1
    entry = m.at_state.size + b.wanted.size
    entry = add_entries(b.adjoint, entry, row_of(b.by_coefficient, k))
    entry = add_entries(b.adjoint, entry, row_of(b.by_coefficient, k + 1))
    entry = add_entries(b.adjoint, entry, row_of(b.by_offset, k + 1))
    entry = add_entries(b.adjoint, entry, row_of(b.by_inputs, k))
    entry = add_entries(b.adjoint, entry, row_of(b.by_moved, k))
    entry = add_entries(b.adjoint, entry, b.by_constants)
    if b.by_times.size > 0:
        by_length = b.adjoint[entry]
        by_middle = b.adjoint[entry + 1]
        b.by_times[k] += 0.5 * by_middle - by_length
        b.by_times[k + 1] += 0.5 * by_middle + by_length
    return 0


def solve_back(m: Memory, dim: int, b: Backward, k: int, h: float) -> bool:
    """Solve the transposed system of step k, and compute the adjoint at its start; False if the system is singular."""
    fill(b.covector, 0.0)
    pull(ENDS, b.carried, b.none, b.wanted)
    add_entries(row_of(b.by_unknown, k), 0, b.wanted)
    copy(b.wanted, b.missed)
    if not _correct(m, dim, b, k, h) and not _solve(m, b, k):
        return False
    for i in range(m.at_state.size):
        b.carried[i] = b.adjoint[i] + row_of(b.by_state, k)[i]
    return True


def set_program(m: Memory, r: RecordedMemory, dim: int, b: Backward, k: int, given: Given) -> None:
    """Set the memory to the solution of step k, factor its Jacobian, and evaluate a program there.

    If no recorded program has the same results of comparisons, a new one is recorded.
    """
    _factor_at_solution(m, dim, b, k, given)
    if not run_program(b.plain, given.before, given.after, given.offset, given.inputs, b.values, given.h):
        _record(r, dim, b, given)
        run_new_program(b.plain, given.before, given.after, given.offset, given.inputs, b.values, given.h)


def _factor_at_solution(m: Memory, dim: int, b: Backward, k: int, given: Given) -> None:
    """Set the memory to the solution of step k, and factor its Jacobian there."""
    copy(b.states[k], m.at_state)
    copy(b.means[k], m.x)
    copy(row_of(b.table.moved, k), m.trial_moved)
    m.trial_time[0] = 0.5 * (b.table.times[k] + b.table.times[k + 1])
    settle(m, dim)
    set_changing_masses(m, 0.5)
    begin(m, dim, b.kinds)
    if b.kinds.friction > 0:
        slide(m, dim, b.kinds.contact, given)
    evaluate(m, dim, b.kinds, given)
    for i in range(m.nodal_ahead.size):  # stresses that run ahead of an iterate are those at the solution
        m.nodal_ahead[i] = m.end_sigma[m.strains_stress[i]]
    for i in range(m.solids_stress.shape[0]):
        for j in range(m.solids_stress.shape[1]):
            m.solid_ahead[i][j] = m.end_sigma[m.solids_stress[i][j]]
    factor_step(m, dim, b.kinds, given)
    if b.kinds.contact > 0:
        solve_step(m, dim, b.kinds, given.h)
        size = largest_absolute(m.x)
        keep_largest(b.audit, 6, largest_absolute(m.correction) / size if size > 0.0 else 0.0)


def _correct(m: Memory, dim: int, b: Backward, k: int, h: float) -> bool:
    """Solve the transposed system of step k by iterative refinement, and compute the adjoint.

    Returns False if this does not converge.
    """
    size = largest_absolute(b.wanted)
    left = size
    used = 0
    if b.factored[0] == NOTHING:
        return False
    rounded = RENEWED if b.factored[0] == DENSE else ROUNDED
    while used == 0 or not left <= SETTLED * size:
        before = left
        if b.factored[0] == DENSE:
            solve_dense(b.dense, b.pivot, b.missed)
            add_entries(b.missed, 0, b.covector)
        else:
            solve_transposed(m, dim, h, b.missed, b.covector)
        left = _set_residual(m, b, k)
        used += 1
        if left > 0.5 * before and left <= rounded * size:
            break
        if b.factored[0] == DENSE and (left > 0.5 * before or (used >= STALE and left > SETTLED * size)):
            return False
        if used > CORRECTIONS or not left < DIVERGED * size:
            return size == 0.0
    keep_largest(b.audit, 0, left / size if size > 0.0 else 0.0)
    keep_largest(b.audit, 1, used)
    b.audit[2] += used
    return True


def _set_residual(m: Memory, b: Backward, k: int) -> float:
    """Compute the adjoint and the residual of the transposed system for the covector μ; return the largest residual."""
    for i in range(b.covector.size):
        b.opposite[i] = -b.covector[i]
    pull(ALL, b.carried, b.opposite, b.adjoint)
    for i in range(b.missed.size):
        b.missed[i] = b.adjoint[m.at_state.size + i] + row_of(b.by_unknown, k)[i]
    return largest_absolute(b.missed)


def _solve(m: Memory, b: Backward, k: int) -> bool:
    """Solve the transposed system by its dense matrix, one sweep for each row.

    Returns False if the matrix is singular or too large.
    """
    n = b.wanted.size
    if b.dense.shape[0] != n:
        return False
    size = largest_absolute(b.wanted)
    for i in range(n):
        fill(b.covector, 0.0)
        b.covector[i] = 1.0
        pull(DEFECTS, b.none, b.covector, b.missed)
        count = 0
        for j in range(n):
            b.dense[j][i] = b.missed[j]
            if b.missed[j] != 0.0:
                count += 1
        if count == 0 and b.wanted[i] == 0.0:  # of a frame that does not turn
            b.dense[i][i] = 1.0
    factor_dense(b.dense, b.pivot)
    if b.factored[0] != ARROW:
        b.factored[0] = DENSE
    copy(b.wanted, b.covector)
    solve_dense(b.dense, b.pivot, b.covector)
    left = _set_residual(m, b, k)
    b.audit[2] += n
    if b.factored[0] == DENSE and left > SETTLED * size:  # once more
        solve_dense(b.dense, b.pivot, b.missed)
        add_entries(b.missed, 0, b.covector)
        left = _set_residual(m, b, k)
    keep_largest(b.audit, 0, left / size)
    return left <= ROUNDED * size


def row_of(rows: Array, k: int) -> Array:
    """Row k of a table, or its only row if the quantities are constant."""
    return rows[k if rows.shape[0] > 1 else 0]


def add_entries(adjoint: Array, first: int, out: Array) -> int:
    """Add the entries of the adjoint from ``first`` on to ``out``; return the index after the last of them."""
    for i in range(out.size):
        out[i] += adjoint[first + i]
    return first + out.size


def _record(r: RecordedMemory, dim: int, b: Backward, given: Given) -> None:
    """Record the operations for the residual and the end of a step as a program."""
    s = r.at_state.size
    n = r.x.size
    set_cells(b.cells.space, b.plain)
    set_cells(b.cells.before, given.before)
    set_cells(b.cells.after, given.after)
    set_cells(b.cells.offset, given.offset)
    set_cells(b.cells.inputs, given.inputs)
    begin_record()
    give(b.cells.space, SPACE, -1)
    want(r.at_state, 0)
    want(r.x, s)
    entry = s + n
    give(b.cells.before, BEFORE, entry)
    entry += b.cells.before.size
    give(b.cells.after, AFTER, entry)
    entry += b.cells.after.size
    give(b.cells.offset, OFFSET, entry)
    entry += b.cells.offset.size
    give(b.cells.inputs, INPUTS, entry)
    entry += b.cells.inputs.size
    want(r.trial_moved, entry)
    entry += r.trial_moved.size
    give_some(b.cells.constants, b.varied, CONSTANTS, entry)
    entry += b.varied.size
    if b.by_times.size > 0:
        b.cells.length[0] = give_one(given.h, LENGTH, 0, entry)
        want(r.trial_time, entry + 1)
    else:
        b.cells.length[0] = give_one(given.h, LENGTH, 0, -1)
    cells = b.cells
    recorded = RecordedGiven(
        cells.length[0],
        cells.inputs,
        cells.before,
        cells.after,
        cells.offset,
        cells.offset,
        cells.before,
        cells.offset,
        False,
    )
    record_settle(r, dim)
    record_changing_masses(r, 0.5)
    record_begin(r, dim, b.kinds)
    if b.kinds.friction > 0:
        record_slide(r, dim, b.kinds.contact, recorded)
    record_residual(r, dim, b.kinds.decay, b.kinds.contact, recorded)
    end_record(r.end_state, r.defect, s, s + n, b.adjoint.size)
    keep_largest(b.audit, 3, operations())
    b.audit[5] += 1


def set_cells(cells: Any, row: Array) -> None:
    """Set the recorded numbers ``cells`` to the values ``row``, as constants."""
    for i in range(row.size):
        cells.p[i] = row[i]


def largest_absolute(values: Array) -> float:
    """Largest absolute value of the entries."""
    maximum = 0.0
    for i in range(values.size):
        size = values[i] if values[i] > 0.0 else -values[i]
        if not size <= maximum:  # nor NaN
            maximum = size
    return maximum


def keep_largest(audit: Array, i: int, value: float) -> None:
    """Replace entry i of ``audit`` by ``value`` if that is larger."""
    if value > audit[i]:
        audit[i] = value
