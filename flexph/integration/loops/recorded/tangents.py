"""Derivatives of the states of a run with respect to parameters, propagated along its steps.

A step solves r(x₀, y; p) = 0 for its unknowns y and ends at x₁ = X(x₀, y; p). So

    r_y δy = −(r_x δx₀ + r_p δp),   δx₁ = X_x δx₀ + X_y δy + X_p δp,

with products that are sweeps forward through the program of residual and end (numerics/loops/program.hpp).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.algebra.dense import factor as factor_dense
    from ....numerics.algebra.dense import solve as solve_dense
    from ....numerics.loops.recorded import doubt, forget_programs, push, push_sizes
    from ....numerics.loops.views import copy, fill
    from ..memory.given import given_of
    from ..memory.memory import Memory
    from ..steps.newton import solve_step
    from .forward import Forward
    from .sweeps import keep_largest, largest_absolute, row_of, set_program

    RecordedMemory: TypeAlias = Any

CORRECTIONS = cython.declare(cython.Py_ssize_t, 20)
"""Largest number of corrections of a system."""
ROUNDED = cython.declare(cython.double, 1e-9)
"""Largest relative defect where corrections no longer halve it, and after a dense solution."""
DIVERGED = cython.declare(cython.double, 1e6)
"""Relative defect above which corrections are given up."""
SETTLED = cython.declare(cython.double, 1e-13)
"""Defect of a system, relative to its largest right-hand side, at which it is solved."""
UNRELIABLE = cython.declare(cython.double, 1e-14)
"""Defect, relative to the largest sum of sizes of the terms of a defect, that is round-off."""


def go_forward(m: Memory, r: RecordedMemory, dim: int, f: Forward, first: int, last: int) -> int:
    """Compute the derivatives of the states from ``first`` to ``last`` with respect to all parameters, step by step.

    The derivatives of state ``first`` are given. Returns the number of the step that failed, or −1.
    """
    failed = -1
    forget_programs()
    for k in range(first, last):
        if failed < 0 and not _step_forward(m, r, dim, f, k):
            failed = k
    keep_largest(f.run.audit, 4, doubt())
    forget_programs()
    return failed


def _step_forward(m: Memory, r: RecordedMemory, dim: int, f: Forward, k: int) -> bool:
    """Compute the derivatives of the state after step k with respect to all parameters.

    Returns False if the system of the step is singular.
    """
    b = f.run
    given = given_of(b.table, k)
    set_program(m, r, dim, b, k, given)
    for j in range(f.states.shape[1]):
        _set_inputs(f, k, j)
        push(b.adjoint, f.states[k + 1][j], b.wanted)
        copy(b.wanted, b.missed)
        if not _correct(m, dim, f, given.h, f.states[k + 1][j]) and not _solve(m, f, f.states[k + 1][j]):
            return False
    return True


def _set_inputs(f: Forward, k: int, j: int) -> None:
    """Set the derivatives of all inputs of the program of step k with respect to parameter j.

    The derivatives of the unknowns are set to zero.
    """
    b = f.run
    fill(f.unknowns, 0.0)
    entry = _set(b.adjoint, 0, f.states[k][j])
    entry = _set(b.adjoint, entry, f.unknowns)
    entry = _set(b.adjoint, entry, row_of(f.by_coefficient[j], k))
    entry = _set(b.adjoint, entry, row_of(f.by_coefficient[j], k + 1))
    entry = _set(b.adjoint, entry, row_of(f.by_offset[j], k + 1))
    entry = _set(b.adjoint, entry, row_of(f.by_inputs[j], k))
    entry = _set(b.adjoint, entry, row_of(f.by_moved[j], k))
    entry = _set(b.adjoint, entry, f.by_constants[j])
    if f.by_times.shape[1] > 0:
        b.adjoint[entry] = f.by_times[j][k + 1] - f.by_times[j][k]
        b.adjoint[entry + 1] = 0.5 * (f.by_times[j][k] + f.by_times[j][k + 1])


def _set(out: Array, first: int, row: Array) -> int:
    """Copy ``row`` into the vector ``out`` from entry ``first`` on; return the index after it."""
    for i in range(row.size):
        out[first + i] = row[i]
    return first + row.size


def _advance(m: Memory, f: Forward, end: Array) -> float:
    """Compute the derivatives of the end and of the residual from the present derivatives of the unknowns.

    The derivatives of the residual are written into ``missed``; returns the largest of them.
    """
    b = f.run
    _set(b.adjoint, m.at_state.size, f.unknowns)
    push(b.adjoint, end, b.missed)
    return largest_absolute(b.missed)


def _is_round_off(m: Memory, f: Forward, left: float) -> bool:
    """True if the defect ``left`` of a system is round-off of its terms, which cancel for instance in translations."""
    b = f.run
    push_sizes(b.adjoint, b.carried, m.defect)
    return left <= UNRELIABLE * largest_absolute(m.defect)


def _correct(m: Memory, dim: int, f: Forward, h: float, end: Array) -> bool:
    """Solve for the derivatives of the unknowns with the factored Jacobian and iterative refinement, for one parameter.

    Returns False if that does not converge. The derivatives of the end are written into ``end``.
    """
    b = f.run
    size = largest_absolute(b.wanted)
    left = size
    used = 0
    while not left <= SETTLED * size:
        before = left
        copy(b.missed, m.defect)
        solve_step(m, dim, b.kinds, h)
        for i in range(f.unknowns.size):
            f.unknowns[i] -= m.correction[i]
        left = _advance(m, f, end)
        used += 1
        if left > 0.5 * before and (left <= ROUNDED * size or _is_round_off(m, f, left)):
            break
        if used > CORRECTIONS or not left < DIVERGED * size:
            return False
    keep_largest(f.audit, 0, left / size if size > 0.0 else 0.0)
    return True


def _solve(m: Memory, f: Forward, end: Array) -> bool:
    """Solve for the derivatives of the unknowns with the dense matrix r_y, formed column by column, for one parameter.

    Returns False if the matrix is singular or too large.
    """
    b = f.run
    n = b.wanted.size
    if b.dense.shape[0] != n:
        return False
    fill(f.unknowns, 0.0)
    for i in range(n):
        f.unknowns[i] = 1.0
        _advance(m, f, end)
        count = 0
        for j in range(n):
            b.dense[j][i] = b.missed[j] - b.wanted[j]
            if b.dense[j][i] != 0.0:
                count += 1
        if count == 0 and b.wanted[i] == 0.0:  # of a frame that does not turn
            b.dense[i][i] = 1.0
        f.unknowns[i] = 0.0
    factor_dense(b.dense, b.pivot)
    for i in range(n):
        f.unknowns[i] = -b.wanted[i]
    solve_dense(b.dense, b.pivot, f.unknowns)
    left = _advance(m, f, end)
    size = largest_absolute(b.wanted)
    keep_largest(f.audit, 0, left / size)
    return left <= ROUNDED * size or _is_round_off(m, f, left)
