"""The compiled step and the loop over steps (see flexph.integration.exact.newton and flexph.integrate)."""

from __future__ import annotations

from typing import NamedTuple

from ....kernels.tolerances import APART, WILD, WOVEN
from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.data import Index
from ..memory.memory import REAL, WHOLE, Memory, indices, matrix, number, places, span, tensor, vector
from .arrow import solve_border
from .ledger_rows import energies, flows, velocity_defect
from .motion import copy, derive, derive_momenta
from .newton import newton
from .relations import generates
from .rolling import add_squares


class Table(NamedTuple):
    """What time prescribes over n substeps: one row each, or a single row for all."""

    times: Array  # (n + 1,)
    coefficient: Array  # (n + 1 or 1, terms)
    offset: Array  # (n + 1 or 1, g)
    own_coefficient: Array  # (n or 1, terms), rates at the ends of the substeps
    own_offset: Array  # (n or 1, g)
    inputs: Array  # (n or 1, i)


class Rows(NamedTuple):
    """What a run books: a row for every saved step, the last one for the step under way (see single.Step)."""

    state: Array
    energy: Array
    stage: Array
    multipliers: Array
    flow: Array
    audit: Array


class Parts(NamedTuple):
    """Substeps of a step: their shares of its length, the weights of their multipliers, and how many are remembered."""

    shares: Array
    weights: Array
    depth: int


@in_place
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
    row, substeps = 0, parts.shares.size
    steps = (table.times.size - 1) // substeps
    for step in range(steps):
        _begin(m)
        for part in range(substeps):
            k = step * substeps + part
            if not _substep(m, axes, table, k, known, parts.shares[part], parts.weights[part]):
                return
            known = min(known + 1, parts.depth)
        _close(m, axes, rows, row)
        count += 1
        solved[0] += 1
        if count % save_every == 0:
            row += 1


@in_place
def _substep(
    m: Memory,
    axes: tuple[int, ...],
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
    _guess(m, axes, h, known)
    iterations = newton(m, axes, h, before, after, offset, table.inputs[k if table.inputs.shape[0] > 1 else 0])
    if iterations < 0 or generates(m, h):
        return False
    flows(m, axes, h, before, after)
    _finish(m, axes)
    energies(m, axes, vector(m, REAL.carried_new_energy))
    own_coefficient, own_offset = table.own_coefficient[first], table.own_offset[first]
    velocity_defect(m, axes, after, own_coefficient, own_offset)
    _book(m, h, iterations, after, offset, share, weight)
    _remember(m, h, known)
    return True


@in_place
def _begin(m: Memory) -> None:
    """Keep what a step that is not solved is taken again from, and open its books."""
    carried_memory = span(m, REAL.carried_memory, REAL.carried_memory)
    carried_back_memory = span(m, REAL.carried_back_memory, REAL.carried_back_memory)
    carried_energy = vector(m, REAL.carried_energy)
    carried_back_energy = vector(m, REAL.carried_back_energy)
    carried_defect = vector(m, REAL.carried_defect)
    carried_back_defect = vector(m, REAL.carried_back_defect)
    copy(carried_memory, carried_back_memory)
    copy(carried_energy, carried_back_energy)
    copy(carried_defect, carried_back_defect)
    span(m, REAL.carried_step_flow, REAL.carried_step_audit)[:] = 0.0


@in_place
def _close(m: Memory, axes: tuple[int, ...], rows: Rows, row: int) -> None:
    """The end of a step, after all its parts: its books are added to its row."""
    carried_energy = vector(m, REAL.carried_energy)
    carried_defect = vector(m, REAL.carried_defect)
    carried_step_flow = vector(m, REAL.carried_step_flow)
    carried_step_stage = vector(m, REAL.carried_step_stage)
    carried_step_multipliers = vector(m, REAL.carried_step_multipliers)
    carried_step_audit = vector(m, REAL.carried_step_audit)
    for i in range(carried_defect.size):
        carried_step_audit[2] = max(carried_step_audit[2], abs(carried_defect[i]))
    carried_step_audit[5] = 1.0
    for i in range(carried_step_audit.size):
        worst = max(rows.audit[row, i], carried_step_audit[i])
        rows.audit[row, i] = worst if i < 4 else rows.audit[row, i] + carried_step_audit[i]
    for i in range(carried_step_flow.size):
        rows.flow[row, i] += carried_step_flow[i]
    copy(carried_energy, rows.energy[row])
    copy(carried_step_stage, rows.stage[row])
    copy(carried_step_multipliers, rows.multipliers[row])
    _store(m, axes, rows.state[row])


@in_place
def _guess(m: Memory, axes: tuple[int, ...], h: float, known: int) -> None:
    """Mean velocities foreseen from the last steps (see single.foreseen), or the present ones; the last multipliers."""
    memory = matrix(m, REAL.carried_memory)
    velocities, now = span(m, REAL.x_v, REAL.x_du), span(m, REAL.at_v, REAL.at_du)
    x_lam = vector(m, REAL.x_lam)
    if not (known == WOVEN and _foresee_to_and_fro(memory, h, matrix(m, REAL.carried_weave), velocities)):
        near, other, slope = _nearest(memory, h, known)
        for i in range(velocities.size):
            velocities[i] = memory[near, i] + slope * (memory[near, i] - memory[other, i]) if near >= 0 else now[i]
    for i in range(x_lam.size):
        x_lam[i] = memory[WOVEN - 1, velocities.size + i] if known > 0 else 0.0


@in_place
def _foresee_to_and_fro(memory: Array, h: float, basis: Array, velocities: Array) -> bool:
    """See single.foreseen_to_and_fro; False where two rows are too alike."""
    end, turned, sign, last = -0.5, -0.5, 1.0, memory.shape[1] - 1
    for k in range(WOVEN):
        share = memory[WOVEN - 1 - k, last] / h
        turn, sign = 1.0 / share, -sign
        away = end - 0.5 * share
        basis[0, k], basis[1, k], basis[2, k] = 1.0, away, away * away
        basis[3, k], basis[4, k] = sign * turn, sign * turn * (turned - 0.5 * turn)
        end, turned = end - share, turned - turn
    basis[:, WOVEN] = 0.0
    basis[0, WOVEN] = basis[3, WOVEN] = 1.0
    _eliminate(basis)
    for k in range(WOVEN):
        if not abs(basis[k, WOVEN]) <= WILD:
            return False
    velocities[:] = 0.0
    for k in range(WOVEN):
        weight, row = basis[k, WOVEN], memory[WOVEN - 1 - k]
        for i in range(velocities.size):
            velocities[i] += weight * row[i]
    return True


@in_place
def _eliminate(A: Array) -> None:
    """Gauss and Jordan with pivoting: the last column becomes the solution."""
    n = A.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if p != k:
            for j in range(k, n + 1):
                A[k, j], A[p, j] = A[p, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for j in range(k + 1, n + 1):
            A[k, j] *= inverse
        for i in range(n):
            if i != k:
                for j in range(k + 1, n + 1):
                    A[i, j] -= A[i, k] * A[k, j]


@in_place
def _nearest(memory: Array, h: float, known: int) -> tuple[int, int, float]:
    """The two rows of the memory that say where the velocity leads, −1 where there are none, and the slope between."""
    width = memory.shape[1]
    if known < 2:
        return -1, -1, 0.0
    near, other, to_near, to_other, end = -1, -1, 0.0, 0.0, 0.0
    for k in range(WOVEN - 1, WOVEN - known - 1, -1):
        away = end - 0.5 * memory[k, width - 1] - 0.5 * h
        end -= memory[k, width - 1]
        if near < 0 or abs(away) < abs(to_near):
            near, to_near = k, away
    end = 0.0
    for k in range(WOVEN - 1, WOVEN - known - 1, -1):
        away = end - 0.5 * memory[k, width - 1] - 0.5 * h
        end -= memory[k, width - 1]
        if abs(away - to_near) >= APART * abs(h) and (other < 0 or abs(away) < abs(to_other)):
            other, to_other = k, away
    if other < 0:
        return near, near, 0.0
    return near, other, to_near / (to_other - to_near)


@in_place
def settle(m: Memory, axes: tuple[int, ...]) -> None:
    """All that follows from the positions and velocities of ``at``."""
    trial_c = matrix(m, REAL.trial_c)
    carried_energy = vector(m, REAL.carried_energy)
    derive(m, axes, trial_c)
    energies(m, axes, carried_energy)


@in_place
def _finish(m: Memory, axes: tuple[int, ...]) -> None:
    """The end of the step becomes the start of the next."""
    copy(span(m, REAL.end_r, REAL.end_spring), span(m, REAL.at_r, REAL.at_spring))
    copy(span(m, REAL.end_arm, REAL.end_product), span(m, REAL.at_arm, REAL.at_product))
    derive_momenta(m, axes, matrix(m, REAL.trial_c))


@in_place
def _book(
    m: Memory,
    h: float,
    iterations: int,
    after: Array,
    offset: Array,
    share: float,
    weight: float,
) -> None:
    """Energies, flows, residuals and multipliers of a substep."""
    carried_new_energy = vector(m, REAL.carried_new_energy)
    carried_step_flow = vector(m, REAL.carried_step_flow)
    carried_step_stage = vector(m, REAL.carried_step_stage)
    carried_step_multipliers = vector(m, REAL.carried_step_multipliers)
    carried_step_audit = vector(m, REAL.carried_step_audit)
    carried_energy = vector(m, REAL.carried_energy)
    carried_flow = vector(m, REAL.carried_flow)
    carried_defect = vector(m, REAL.carried_defect)
    carried_new_defect = vector(m, REAL.carried_new_defect)
    carried_gap = vector(m, REAL.carried_gap)
    books_earned = number(m, WHOLE.books_earned)
    books_lost = number(m, WHOLE.books_lost)
    joints_term_row = places(m, WHOLE.joints_term_row)
    at_product = vector(m, REAL.at_product)
    joints_term_product = places(m, WHOLE.joints_term_product)
    x_lam = vector(m, REAL.x_lam)
    rolling_free = indices(m, WHOLE.rolling_free)
    defect_lam = vector(m, REAL.defect_lam)
    border_l = indices(m, WHOLE.border_l)
    system_x = vector(m, REAL.system_x)
    balance = 0.0
    for i in range(carried_energy.size):
        balance += carried_new_energy[i] - carried_energy[i]
        carried_energy[i] = carried_new_energy[i]
    for i in range(carried_flow.size):
        carried_step_flow[i] += carried_flow[i]
        if i < books_earned:
            balance -= carried_flow[i]
        elif i >= books_lost:
            balance += carried_flow[i]
    for i in range(offset.size):
        carried_gap[i] = -offset[i]
    for i in range(joints_term_row.size):
        carried_gap[joints_term_row[i]] += after[i] * at_product[joints_term_product[i]]
    add_squares(m, carried_gap)
    carried_step_audit[0] = max(carried_step_audit[0], abs(balance))
    carried_step_audit[4] += iterations
    system_x[:] = 0.0  # what closes a gap of ½h(e₁ − e₀), see advance: the border alone, the others have no defect
    for i in range(offset.size):
        if rolling_free[i]:  # over the step, as the iteration left it
            carried_step_audit[3] = max(carried_step_audit[3], abs(defect_lam[i] / h))
        else:
            carried_step_audit[1] = max(carried_step_audit[1], abs(carried_gap[i]))
        system_x[border_l[i]] = 0.5 * (carried_new_defect[i] - carried_defect[i])
        carried_defect[i] = carried_new_defect[i]
    solve_border(m)
    for i in range(offset.size):
        carried_step_stage[i] += share * x_lam[i]
        carried_step_multipliers[i] += weight * (x_lam[i] - system_x[border_l[i]] / h)


@in_place
def _remember(m: Memory, h: float, known: int) -> None:
    """A row of memory for the step: mean velocities, multipliers, velocity defect, length."""
    carried_memory = matrix(m, REAL.carried_memory)
    carried_defect = vector(m, REAL.carried_defect)
    x = span(m, REAL.x_v, REAL.x_lam)
    rows = span(m, REAL.carried_memory, REAL.carried_memory)
    width = carried_memory.shape[1]
    for i in range(max(WOVEN - known, 1) * width, rows.size):
        rows[i - width] = rows[i]
    row = carried_memory[WOVEN - 1]
    copy(x, row)
    copy(carried_defect, row[x.size :])
    row[width - 1] = h


@in_place
def _store(m: Memory, axes: tuple[int, ...], out: Array) -> None:
    """The flat state in the layout of the mechanism."""
    inertia_mass = vector(m, REAL.inertia_mass)
    at_r = matrix(m, REAL.at_r)
    inertia_turns = indices(m, WHOLE.inertia_turns)
    at_R = tensor(m, REAL.at_R)
    at_u = vector(m, REAL.at_u)
    at_v = matrix(m, REAL.at_v)
    at_w = matrix(m, REAL.at_w)
    at_du = vector(m, REAL.at_du)
    at_sigma = vector(m, REAL.at_sigma)
    at_spring = vector(m, REAL.at_spring)
    d = len(axes)
    s = 1 if d == 2 else 3
    place = 0
    for b in range(inertia_mass.size):
        for i in range(d):
            out[place] = at_r[b, i]
            place += 1
    for b in range(inertia_mass.size):
        if inertia_turns[b]:
            for i in range(d):
                for j in range(1 if d == 2 else 3):
                    out[place] = at_R[b, i, j]
                    place += 1
    for i in range(at_u.size):
        out[place] = at_u[i]
        place += 1
    for b in range(inertia_mass.size):
        for i in range(d):
            out[place] = at_v[b, i]
            place += 1
    for b in range(inertia_mass.size):
        if inertia_turns[b]:
            for i in range(s):
                out[place] = at_w[b, i]
                place += 1
    for i in range(at_du.size):
        out[place] = at_du[i]
        place += 1
    for i in range(at_sigma.size):
        out[place] = at_sigma[i]
        place += 1
    for i in range(at_spring.size):
        out[place] = at_spring[i]
        place += 1
