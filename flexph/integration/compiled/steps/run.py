"""The compiled step and the loop over steps (see flexph.integration.exact.newton and flexph.integrate)."""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.arrays import Array
from ..loops.arrow import solve_border
from ..loops.ledger_rows import energies, flows, velocity_defect
from ..loops.motion import copy, copy_field, derive, derive_momenta
from ..loops.redundancy import find_dependent, keep_independent, keep_least, solve_least
from ..loops.relations import generates
from ..loops.rolling import add_squares
from ..memory.data import Index
from ..memory.kernel import entry, kernel
from ..memory.memory import Memory
from ..memory.simd import brief, get
from .history import guess, remember
from .newton import newton


class Table(NamedTuple):
    """What time prescribes over n substeps: one row each, or a single row for all."""

    times: Array  # (n + 1,)
    coefficient: Array  # (n + 1 or 1, terms)
    offset: Array  # (n + 1 or 1, g)
    own_coefficient: Array  # (n or 1, terms), rates at the ends of the substeps
    own_offset: Array  # (n or 1, g)
    inputs: Array  # (n or 1, i)
    moved: Array  # (n or 1, springs), how far free measures move


class Rows(NamedTuple):
    """What a run books: a row for every saved step, the last one for the step under way (see exact.step.StepResult)."""

    state: Array
    energy: Array
    stage: Array
    multipliers: Array
    flow: Array
    audit: Array


class Parts(NamedTuple):
    """Substeps of a step: their shares of its length, the weights of their multipliers, and how many are remembered.

    ``redundant`` is (1,) where multipliers are of least norm, else empty: by its type the rest is not compiled.
    """

    shares: Array
    weights: Array
    depth: int
    redundant: tuple[int, ...] = ()


@entry
def run(
    m: Memory,
    axes: tuple[int, ...],
    table: Table,
    parts: Parts,
    save_every: int,
    count: int,
    known: int,
    rows: Rows,
    solved: Index,
) -> None:
    """Take the steps of the table and book them, until one is not solved; their number goes to ``solved``.

    ``count`` steps were taken before; ``known`` rows of the memory are filled, the last ones.
    """
    brief()
    row, substeps = 0, parts.shares.size
    steps = (table.times.size - 1) // substeps
    for step in range(steps):
        begin_row(m)
        for i in range(substeps):
            k = step * substeps + i
            if not _substep(m, axes, parts.redundant, table, k, known, parts.shares[i], parts.weights[i]):
                return
            known = min(known + 1, parts.depth)
        close_row(m, axes, rows, row)
        count += 1
        solved[0] += 1
        if count % save_every == 0:
            row += 1


@kernel
def _substep(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    table: Table,
    k: int,
    known: int,
    share: float,
    weight: float,
) -> bool:
    """Take one substep and add it to what the step books; False where it is not solved."""
    h = table.times[k + 1] - table.times[k]
    first, last = (k, k + 1) if table.coefficient.shape[0] > 1 else (0, 0)
    before, after, offset = table.coefficient[first], table.coefficient[last], table.offset[last]
    guess(m, axes, h, known)
    if len(redundant) > 0:
        if not find_dependent(m, axes, before):
            return False
        keep_least(m, m.x_lam)
    inputs = table.inputs[k if table.inputs.shape[0] > 1 else 0]
    copy(table.moved[k if table.moved.shape[0] > 1 else 0], m.trial_moved)
    iterations = newton(m, axes, redundant, h, before, after, offset, table.offset[first], inputs)
    if iterations < 0 or generates(m, h):
        return False
    flows(m, axes, h, before, after)
    _finish(m, axes)
    energies(m, axes, m.run_new_energy)
    own_coefficient, own_offset = table.own_coefficient[first], table.own_offset[first]
    velocity_defect(m, axes, after, own_coefficient, own_offset)
    _book(m, redundant, h, iterations, after, offset, share, weight)
    remember(m, h, known)
    return True


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
        rows.audit[row, i] = worst if i < 4 else rows.audit[row, i] + m.run_step_audit[i]
    for i in range(m.run_step_flow.size):
        rows.flow[row, i] += m.run_step_flow[i]
    copy(m.run_energy, rows.energy[row])
    copy(m.run_step_stage, rows.stage[row])
    copy(m.run_step_multipliers, rows.multipliers[row])
    _store(m, axes, rows.state[row])


@entry
def settle(m: Memory, axes: tuple[int, ...]) -> None:
    """All that follows from the positions and velocities of ``at``."""
    derive(m, axes, m.trial_c)
    energies(m, axes, m.run_energy)


@kernel
def _finish(m: Memory, axes: tuple[int, ...]) -> None:
    """The end of the step becomes the start of the next."""
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    derive_momenta(m, axes, m.trial_c)


@kernel
def _book(
    m: Memory,
    redundant: tuple[int, ...],
    h: float,
    iterations: int,
    after: Array,
    offset: Array,
    share: float,
    weight: float,
) -> None:
    """Energies, flows, residuals and multipliers of a substep."""
    audit = m.run_step_audit
    audit[0] = max(audit[0], abs(book_energy(m)))
    audit[4] += iterations
    _book_gaps(m, h, after, offset)
    _close_gaps(m, redundant)
    for i in range(offset.size):
        m.run_step_stage[i] += share * m.x_lam[i]
        m.run_step_multipliers[i] += weight * (m.x_lam[i] - m.system_x[m.border_l[i]] / h)


@kernel
def book_energy(m: Memory) -> float:
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
def _book_gaps(m: Memory, h: float, after: Array, offset: Array) -> None:
    """Residuals of the constraints on positions, and of those on velocities over the step as the iteration left it."""
    audit = m.run_step_audit
    for i in range(offset.size):
        m.run_gap[i] = -offset[i]
    for i in range(m.joints_term_row.size):
        m.run_gap[m.joints_term_row[i]] += after[i] * m.at_product[m.joints_term_product[i]]
    add_squares(m, m.run_gap)
    for i in range(offset.size):
        if m.rolling_free[i]:
            audit[3] = max(audit[3], abs(m.defect_lam[i] / h))
        else:
            audit[1] = max(audit[1], abs(m.run_gap[i]))


@kernel
def _close_gaps(m: Memory, redundant: tuple[int, ...]) -> None:
    """What closes a gap of ½h(e₁ − e₀), see flexph.integration.exact.advance: in the border, where alone it acts."""
    for i in range(m.run_defect.size):
        m.run_gap[i] = m.run_new_defect[i] - m.run_defect[i]
        m.run_defect[i] = m.run_new_defect[i]
    if len(redundant) > 0:
        keep_independent(m, m.run_gap)
    m.system_x[:] = 0.0
    for i in range(m.border_l.size):
        m.system_x[m.border_l[i]] = 0.5 * m.run_gap[i]
    if len(redundant) > 0:
        solve_least(m)
    else:
        solve_border(m)


@kernel
def _store(m: Memory, axes: tuple[int, ...], out: Array) -> None:
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
    _append(m.at_spring, out, _append(m.at_sigma, out, _append(m.at_du, out, end)))


@kernel
def _append(field: Array, out: Array, first: int) -> int:
    """All entries of a field into a vector from an entry on; the next one."""
    brief()
    for i in range(field.size):
        out[first + i] = get(field, i)
    return first + field.size
