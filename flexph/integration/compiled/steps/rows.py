"""Rows of a run in loops: what steps record, and what a step that is not solved is taken again from."""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import brief, get
from ..contact.anchors import store_springs
from ..loops.motion import copy, copy_field
from ..memory.memory import Memory


class Rows(NamedTuple):
    """What a run records: a row for every saved step, the last for the step under way (see exact.step.StepResult)."""

    state: Array
    energy: Array
    stage: Array
    multipliers: Array
    flow: Array
    audit: Array


@kernel
def begin_row(m: Memory) -> None:
    """Keep what a step that is not solved is taken again from, and its sums at zero."""
    copy_field(m.run_history, m.run_back_history)
    copy(m.run_energy, m.run_back_energy)
    copy(m.run_defect, m.run_back_defect)
    m.run_step[:] = 0.0


@kernel
def close_row(m: Memory, axes: tuple[int, ...], rows: Rows, row: int) -> None:
    """The end of a step, after all its parts: its sums are added to its row."""
    for i in range(m.run_defect.size):
        m.run_step_audit[2] = max(m.run_step_audit[2], abs(m.run_defect[i]))
    m.run_step_audit[5] = 1.0
    for i in range(m.run_step_audit.size):
        worst = max(rows.audit[row, i], m.run_step_audit[i])
        rows.audit[row, i] = worst if i < 4 or i == 7 else rows.audit[row, i] + m.run_step_audit[i]
    for i in range(m.run_step_flow.size):
        rows.flow[row, i] += m.run_step_flow[i]
    copy(m.run_energy, rows.energy[row])
    copy(m.run_step_stage, rows.stage[row])
    copy(m.run_step_multipliers, rows.multipliers[row])
    store(m, axes, rows.state[row])


@kernel
def record_energy(m: Memory) -> float:
    """Add the flows of a substep, and go on to the energies at its end; the power balance that is left [J]."""
    balance = 0.0
    for i in range(m.run_energy.size):
        balance += m.run_new_energy[i] - m.run_energy[i]
        m.run_energy[i] = m.run_new_energy[i]
    for i in range(m.run_flow.size):
        m.run_step_flow[i] += m.run_flow[i]
        if i < m.ledger_earned:
            balance -= m.run_flow[i]
        elif i >= m.ledger_lost:
            balance += m.run_flow[i]
    return balance


@kernel
def store(m: Memory, axes: tuple[int, ...], out: Array) -> None:
    """The flat state in the layout of the mechanism."""
    d = len(axes)
    s = 1 if d == 2 else 3
    end = _append(m.at_r, out, 0)
    for b in range(m.inertia_mass.size):
        if m.inertia_turns[b]:
            for i in range(d):
                for j in range(s):
                    out[end] = m.at_R[b, i, j]
                    end += 1
    end = _append(m.at_v, out, _append(m.at_u, out, end))
    for b in range(m.inertia_mass.size):
        if m.inertia_turns[b]:
            for i in range(s):
                out[end] = m.at_w[b, i]
                end += 1
    store_springs(m, axes, out, _append(m.at_sigma, out, _append(m.at_du, out, end)))


@kernel
def _append(field: Array, out: Array, first: int) -> int:
    """All entries of a field into a vector from an entry on; the next one."""
    brief()
    for i in range(field.size):
        out[first + i] = get(field, i)
    return first + field.size
