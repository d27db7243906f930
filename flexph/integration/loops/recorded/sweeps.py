"""Discrete adjoint of the steps of a run.

A step solves r(x₀, y; p) = 0 for y = (v̄, ω̄, u̇̄, λ) and ends at x₁ = X(x₀, y; p). For a functional Φ with the partial
derivatives φ_x by states, the steps are taken back from a₁ = dΦ/dx₁:

    r_yᵀ μ = X_yᵀ a₁,   a₀ = X_xᵀ a₁ − r_xᵀ μ + φ_x,   dΦ/dp += X_pᵀ a₁ − r_pᵀ μ.

All products with transposes are sweeps back through one record of residual and end at the solution. The transposed
system is solved by corrections with the factors of the Jacobian: it is D K D, D = diag(1, −1), up to gyroscopic terms.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.algebra.dense import factor as factor_dense
    from ....numerics.algebra.dense import solve as solve_dense
    from ....numerics.loops.recorded import (
        add_adjoints,
        adjoints,
        begin_record,
        choose,
        doubt,
        operations,
        place,
        place_some,
        set_adjoints,
        sweep,
        sweep_chosen,
        weigh,
        weigh_chosen,
    )
    from ....numerics.loops.views import bind, copy, fill
    from ..mechanics.residual import residual as record_residual
    from ..memory.given import given_of
    from ..memory.memory import Memory
    from ..memory.structures import Kinds
    from ..steps.newton import begin, evaluate, factor_step, solve_step
    from ..steps.newton import begin as record_begin
    from ..steps.run import settle
    from ..steps.run import settle as record_settle
    from .backward import Backward

    RecordedMemory: TypeAlias = Any

CORRECTIONS = cython.declare(cython.Py_ssize_t, 60)
"""Largest number of corrections of a transposed system."""
ROUNDED = cython.declare(cython.double, 1e-9)
"""Largest relative defect where corrections no longer halve it, and after a dense solution."""
DIVERGED = cython.declare(cython.double, 1e6)
"""Relative defect above which corrections are given up."""
SETTLED = cython.declare(cython.double, 1e-13)
"""Defect of a transposed system, relative to its largest right-hand side, at which it is solved."""


def back(memory: int, recorded: int, dim: int, backward: Any, first: int, last: int) -> int:
    """Go back over the steps from ``last`` (exclusive) to ``first``; return the step that failed, or −1."""
    m = cython.declare(cython.pointer(Memory))
    r = cython.declare(cython.pointer(RecordedMemory))
    own = cython.declare(Backward)
    begin_at = cython.declare(cython.Py_ssize_t, first)
    end_at = cython.declare(cython.Py_ssize_t, last)
    axes = cython.declare(cython.Py_ssize_t, dim)
    failed = cython.declare(cython.Py_ssize_t)
    m = cython.cast(cython.pointer(Memory), cython.cast(cython.Py_ssize_t, memory))
    r = cython.cast(cython.pointer(RecordedMemory), cython.cast(cython.Py_ssize_t, recorded))
    bind(own, backward)
    with cython.nogil:
        failed = go_back(m, r, axes, own, begin_at, end_at)
    return failed


def go_back(m: Memory, r: RecordedMemory, dim: int, b: Backward, first: int, last: int) -> int:
    """Take the adjoint ``b.carried`` from the state after the last step to the one before the first."""
    for i in range(last - first):
        if _step_back(m, r, dim, b, last - 1 - i) != 0:
            return last - 1 - i
    return -1


def _step_back(m: Memory, r: RecordedMemory, dim: int, b: Backward, k: int) -> int:
    """Adjoint of step k; 0, or 1 if its transposed system is singular."""
    _record(m, r, dim, b, k)
    given = given_of(b.table, k)
    fill(b.covector, 0.0)
    n = b.wanted.size
    s = m.at_state.size
    choose(s, s + n)
    _pull_unknowns(r, b.carried, b.none, b.by_unknowns)
    for i in range(n):
        b.wanted[i] = b.by_unknowns[i]
        b.missed[i] = b.wanted[i]
    if not _correct(m, r, dim, b, given.h) and not _solve(r, b):
        return 1
    for i in range(n):
        b.covector[i] = -b.covector[i]
    _pull(r, b.carried, b.covector, b.adjoint)
    for i in range(s):
        b.carried[i] = b.adjoint[i] + row_of(b.by_state, k)[i]
    own = s + n
    own = _add(b.adjoint, own, row_of(b.by_coefficient, k))
    own = _add(b.adjoint, own, row_of(b.by_coefficient, k + 1))
    own = _add(b.adjoint, own, row_of(b.by_offset, k + 1))
    own = _add(b.adjoint, own, row_of(b.by_inputs, k))
    own = _add(b.adjoint, own, row_of(b.by_moved, k))
    add_adjoints(own, b.by_constants)
    return 0


def _correct(m: Memory, r: RecordedMemory, dim: int, b: Backward, h: float) -> bool:
    """Solve the transposed system by corrections; False if they do not come to its solution."""
    n = b.wanted.size
    size = _largest(b.wanted)
    left = size
    used = 0
    while not left <= SETTLED * size:
        before = left
        _precondition(m, dim, b.kinds, h, b.missed)
        for i in range(n):
            b.covector[i] += m.correction[i]
        left = _miss(r, b)
        used += 1
        if left > 0.5 * before and left <= ROUNDED * size:
            break
        if used > CORRECTIONS or not left < DIVERGED * size:
            return False
    _watch(b.audit, 0, left / size if size > 0.0 else 0.0)
    _watch(b.audit, 1, used)
    b.audit[2] += used
    return True


def _solve(r: RecordedMemory, b: Backward) -> bool:
    """Solve the transposed system by its dense matrix, a row a sweep; False if that is singular or too large."""
    n = b.wanted.size
    if b.dense.shape[0] != n:
        return False
    size = _largest(b.wanted)
    for i in range(n):
        fill(b.covector, 0.0)
        b.covector[i] = 1.0
        _pull_unknowns(r, b.none, b.covector, b.by_unknowns)
        count = 0
        for j in range(n):
            b.dense[j][i] = b.by_unknowns[j]
            if b.by_unknowns[j] != 0.0:
                count += 1
        if count == 0 and b.wanted[i] == 0.0:  # of a frame that does not turn
            b.dense[i][i] = 1.0
    factor_dense(b.dense, b.pivot)
    copy(b.wanted, b.covector)
    solve_dense(b.dense, b.pivot, b.covector)
    left = _miss(r, b)
    _watch(b.audit, 0, left / size)
    b.audit[2] += n
    return left <= ROUNDED * size


def _miss(r: RecordedMemory, b: Backward) -> float:
    """Set what the covector misses in the transposed system; return its largest value."""
    _pull_unknowns(r, b.none, b.covector, b.by_unknowns)
    for i in range(b.wanted.size):
        b.missed[i] = b.wanted[i] - b.by_unknowns[i]
    return _largest(b.missed)


def row_of(rows: Array, k: int) -> Array:
    """Row k, or the only row."""
    return rows[k if rows.shape[0] > 1 else 0]


def _add(adjoint: Array, first: int, out: Array) -> int:
    """Add entries of the adjoint from ``first`` on; return the index behind them."""
    for i in range(out.size):
        out[i] += adjoint[first + i]
    return first + out.size


def _record(m: Memory, r: RecordedMemory, dim: int, b: Backward, k: int) -> None:
    """Put a step at its solution, factor its Jacobian there, and record its residual and its end."""
    given = given_of(b.table, k)
    copy(b.states[k], m.at_state)
    copy(b.means[k], m.x)
    copy(row_of(b.table.moved, k), m.trial_moved)
    m.trial_time[0] = 0.5 * (b.table.times[k] + b.table.times[k + 1])
    settle(m, dim)
    begin(m, dim, b.kinds)
    evaluate(m, dim, b.kinds, given)
    factor_step(m, dim, b.kinds, given)
    _set(b.cells.space, b.plain)
    _set(b.cells.before, given.before)
    _set(b.cells.after, given.after)
    _set(b.cells.offset, given.offset)
    _set(b.cells.inputs, given.inputs)
    begin_record(b.adjoint.size + b.by_constants.size)
    first = _place(r.at_state, 0)
    first = _place(r.x, first)
    first = _place(b.cells.before, first)
    first = _place(b.cells.after, first)
    first = _place(b.cells.offset, first)
    first = _place(b.cells.inputs, first)
    first = _place(r.trial_moved, first)
    place_some(b.cells.constants, b.varied, first)
    record_settle(r, dim)
    record_begin(r, dim, b.kinds)
    record_residual(
        r, dim, b.kinds.decay, b.kinds.contact, given.h, b.cells.before, b.cells.after, b.cells.offset, b.cells.inputs
    )
    _watch(b.audit, 3, operations())
    _watch(b.audit, 4, doubt())


def _place(numbers: Array, first: int) -> int:
    """Take numbers as places of the record from ``first`` on; return the place behind them."""
    place(numbers, first)
    return first + numbers.size


def _set(cells: Any, row: Array) -> None:
    """Set recorded numbers to constants."""
    for i in range(row.size):
        cells.p[i] = row[i]


def _pull(r: RecordedMemory, by_end: Array, by_defect: Array, out: Array) -> None:
    """Write the product of covectors of the end and of the defects with the derivatives of the step to ``out``."""
    set_adjoints()
    weigh(r.end_state, by_end)
    weigh(r.defect, by_defect)
    sweep()
    adjoints(0, out)


def _pull_unknowns(r: RecordedMemory, by_end: Array, by_defect: Array, out: Array) -> None:
    """Write the part of such a product by the unknowns of the step to ``out``, after their choice."""
    weigh_chosen(r.end_state, by_end)
    weigh_chosen(r.defect, by_defect)
    sweep_chosen(r.at_state.size, out)


def _precondition(m: Memory, dim: int, kinds: Kinds, h: float, given: Array) -> None:
    """Solve D K D x = given by the factored Jacobian, D = diag(1, −1); the solution is in ``correction``."""
    copy(given, m.defect)
    for i in range(m.defect_lam.size):
        m.defect_lam[i] = -m.defect_lam[i]
    solve_step(m, dim, kinds, h)
    for i in range(m.correction_lam.size):
        m.correction_lam[i] = -m.correction_lam[i]


def _largest(own: Array) -> float:
    """Largest absolute value."""
    largest = 0.0
    for i in range(own.size):
        size = own[i] if own[i] > 0.0 else -own[i]
        if not size <= largest:  # nor NaN
            largest = size
    return largest


def _watch(audit: Array, i: int, value: float) -> None:
    """Keep the largest of the values of an entry."""
    if value > audit[i]:
        audit[i] = value
