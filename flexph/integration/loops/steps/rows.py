"""Results of steps in loops, the state to which a failed step returns, and the reason of a failure."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, fill, flat, get, larger
    from ..contact.anchors import store_springs
    from ..memory.memory import Memory
    from ..memory.structures import Rows


def begin_row(m: Memory) -> None:
    """Store the state to which the next step returns if it fails, and set the sums of the step to zero."""
    copy(m.run_now, m.run_back)
    fill(m.run_step, 0.0)
    fill(m.run_failure, 0.0)


def close_row(m: Memory, dim: int, rows: Rows, row: int) -> None:
    """Finish a step: add its sums to row ``row`` of the results, and write the state at its end into this row."""
    for i in range(m.run_defect.size):
        m.run_step_audit[2] = larger(m.run_step_audit[2], fabs(m.run_defect[i]))
    m.run_step_audit[5] = 1.0
    for i in range(m.run_step_audit.size):
        worst = larger(rows.audit[row][i], m.run_step_audit[i])
        rows.audit[row][i] = worst if i < 4 or i == 7 else rows.audit[row][i] + m.run_step_audit[i]
    for i in range(m.run_step_flow.size):
        rows.flow[row][i] += m.run_step_flow[i]
    copy(m.run_energy, rows.energy[row])
    copy(m.run_step_stage, rows.stage[row])
    copy(m.run_step_multipliers, rows.multipliers[row])
    store(m, dim, rows.state[row])


def record_energy(m: Memory) -> float:
    """Add the flows of a substep to the flows of the step, and store the energies at its end; return the residual [J].

    The residual is the defect of the energy balance of the substep.
    """
    balance = 0.0
    for i in range(m.run_energy.size):
        balance += m.run_new_energy[i] - m.run_energy[i]
        m.run_energy[i] = m.run_new_energy[i]
    for i in range(m.run_flow.size):
        m.run_step_flow[i] += m.run_flow[i]
        if i < m.ledger_earned[0]:
            balance -= m.run_flow[i]
        elif i >= m.ledger_lost[0]:
            balance += m.run_flow[i]
    return balance


def store(m: Memory, dim: int, out: Array) -> None:
    """Write the present state ``at`` into the vector ``out``, in the layout of flat states of the mechanism."""
    end = cython.declare(cython.Py_ssize_t)
    d = dim
    s = 1 if d == 2 else 3
    end = _append(flat(m.at_r), out, 0)
    for b in range(m.inertia_mass.size):
        if m.inertia_turns[b]:
            for i in range(d):
                for j in range(s):
                    out[end] = m.at_R[b][i][j]
                    end += 1
    end = _append(flat(m.at_v), out, _append(m.at_u, out, end))
    for b in range(m.inertia_mass.size):
        if m.inertia_turns[b]:
            for i in range(s):
                out[end] = m.at_w[b][i]
                end += 1
    store_springs(m, dim, out, _append(m.at_sigma, out, _append(m.at_du, out, end)))


def _append(field: Array, out: Array, first: int) -> int:
    """Copy all entries of a field into a vector from entry ``first`` on; return the index after them."""
    for i in range(field.size):
        out[first + i] = get(field, i)
    return first + field.size


def fail(m: Memory, reason: int, iterations: int, size: float) -> int:
    """Store the reason why a step is not solved, its iterations and the size of its last correction; return −1."""
    m.run_failure[0] = reason
    m.run_failure[1] = iterations
    m.run_failure[2] = size
    return -1


def refuse(m: Memory, reason: int, iterations: int) -> bool:
    """Store the reason why a step is not accepted, and its iterations; return False."""
    fail(m, reason, iterations, 0.0)
    return False
