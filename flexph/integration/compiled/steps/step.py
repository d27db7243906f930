"""The compiled step of a mechanism, with its substeps and what they record (see flexph.integration.exact.newton)."""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..contact.anchors import has_no_row
from ..contact.flight import closes, touches, turns_away
from ..contact.forces import leaves_list, record_contacts, store_contacts
from ..decay.step import prepare
from ..loops.arrow import solve_border
from ..loops.ledger_rows import energies, flows, lost, outputs, velocity_defect
from ..loops.motion import copy, derive_momenta
from ..loops.redundancy import find_dependent, keep_independent, keep_least, solve_least
from ..loops.relations import generates
from ..loops.rolling import add_squares
from ..memory.memory import Memory
from .friction import obeys, record_friction, sticks
from .history import guess, remember
from .impulse import lose_defect
from .iterate import coordinate_size
from .newton import factor_step, newton
from .pairs import Pair, begin_pair, estimate, keep_gaps, let_go, reflect, watch_energy
from .rows import record_energy
from .search import search
from .settling import settle


class Table(NamedTuple):
    """What time prescribes over n substeps: one row each, or a single row for all."""

    times: Array  # (n + 1,)
    coefficient: Array  # (n + 1 or 1, terms)
    offset: Array  # (n + 1 or 1, g)
    own_coefficient: Array  # (n or 1, terms), rates at the ends of the substeps
    own_offset: Array  # (n or 1, g)
    inputs: Array  # (n or 1, i)
    moved: Array  # (n or 1, springs), how far free measures move


class Parts(NamedTuple):
    """Substeps of a step: their shares of its length, the weights of their multipliers, and how many are remembered.

    ``pair`` has one where steps are judged in pairs, ``redundant`` is (1,) where multipliers are of least norm,
    ``decay`` where steps lose energy, ``contact`` where contacts are compliant, (1, 1) of a pile (see compiled.near),
    ``friction`` where joints have dry friction under their force, else empty: by its type the rest is not compiled.
    """

    shares: Array
    weights: Array
    depth: int
    pair: tuple[Pair, ...]
    redundant: tuple[int, ...] = ()
    decay: tuple[int, ...] = ()
    contact: tuple[int, ...] = ()
    friction: tuple[int, ...] = ()


@kernel
def take_step(m: Memory, axes: tuple[int, ...], table: Table, parts: Parts, step: int, known: int, again: bool) -> bool:
    """Take the substeps of a step, the first of them from what the last try came to; False where it is not solved."""
    first, substeps = known, parts.shares.size
    begin_pair(m, parts.pair)
    m.rub_settles[1] = 0.0
    for i in range(substeps):
        watch_energy(m, parts.pair)
        k = step * substeps + i
        share, weight = parts.shares[i], parts.weights[i]
        if not (again and i == 0):
            guess(m, axes, table.times[k + 1] - table.times[k], known)
        kinds = parts.redundant, parts.decay, parts.contact, parts.friction
        if not take_substep(m, axes, kinds[0], kinds[1], kinds[2], kinds[3], table, k, known, share, weight):
            return False
        if i == 0:
            keep_gaps(m, parts.pair)
        elif not _judge(m, axes, parts.pair, parts, table, k, first):
            return False
        if not _lose(m, axes, parts.redundant, parts.decay, table, k, share):
            return False
        if not _settle(m, axes, parts.redundant, parts.friction, table, k):
            return False
        known = min(known + 1, parts.depth)
    return _finish_pair(m, axes, parts.pair, parts, table, step)


@kernel
def _judge(
    m: Memory, axes: tuple[int, ...], pair: tuple[Pair, ...], parts: Parts, table: Table, k: int, known: int
) -> bool:
    """Estimate the error of two substeps, before which ``known`` rows of history were filled; False if singular."""
    if len(pair) == 0:
        return True
    else:
        h = table.times[k + 1] - table.times[k]
        if len(parts.contact) > 0 and let_go(m, pair[0]):
            first, last = (k, k + 1) if table.coefficient.shape[0] > 1 else (0, 0)
            given, kinds = (table.coefficient[first], table.coefficient[last]), (parts.redundant, parts.decay)
            if not factor_step(m, axes, kinds[0], kinds[1], parts.contact, h, given[0], given[1]):
                return False
        estimate(m, axes, parts.redundant, parts.decay, parts.contact, pair[0], h, known)
        return True


@kernel
def _finish_pair(
    m: Memory, axes: tuple[int, ...], pair: tuple[Pair, ...], parts: Parts, table: Table, step: int
) -> bool:
    """Judge the velocity defect of the two substeps of a step; False where the constraints are dependent."""
    if len(pair) == 0:
        return True
    else:
        k = 2 * step + 1
        last, own = (k + 1, k) if table.coefficient.shape[0] > 1 else (0, 0)
        length = table.times[k + 1] - table.times[k - 1]
        watch_energy(m, pair)
        given = table.coefficient[last], table.own_coefficient[own], table.own_offset[own]
        return reflect(m, axes, parts.redundant, pair[0], given[0], given[1], given[2], length)


@kernel
def take_substep(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    decay: tuple[int, ...],
    contact: tuple[int, ...],
    friction: tuple[int, ...],
    table: Table,
    k: int,
    known: int,
    share: float,
    weight: float,
) -> bool:
    """Take one substep from its guess and add it to what the step records; False where it is not solved."""
    h = table.times[k + 1] - table.times[k]
    first, last = (k, k + 1) if table.coefficient.shape[0] > 1 else (0, 0)
    before, after, offset = table.coefficient[first], table.coefficient[last], table.offset[last]
    extent = coordinate_size(m)
    if m.touch_keeps_open[0] > 0.0 and touches(m, axes, extent):
        return False
    if len(decay) > 0:
        prepare(m, axes, h)
    if len(redundant) > 0:
        if not find_dependent(m, axes, before):
            return False
        keep_least(m, m.x_lam)
    inputs = table.inputs[k if table.inputs.shape[0] > 1 else 0]
    copy(table.moved[k if table.moved.shape[0] > 1 else 0], m.trial_moved)
    last_offset = table.offset[first]
    iterations = newton(m, axes, redundant, decay, contact, friction, h, before, after, offset, last_offset, inputs)
    if len(contact) > 0 and len(friction) == 0 and iterations < 0:
        guess(m, axes, h, known)
        if len(redundant) > 0:
            keep_least(m, m.x_lam)
        iterations = search(m, axes, redundant, decay, contact, h, before, after, offset, inputs)
    if iterations < 0 or generates(m, h):
        return False
    if (closes(m, axes, extent) and m.touch_keeps_open[0] > 0.0) or turns_away(m):
        return False
    if len(contact) > 0 and (leaves_list(m, axes) or has_no_row(m, axes)):
        return False
    if len(friction) > 0 and not obeys(m, h):
        return False
    flows(m, axes, h, before, after)
    if len(friction) > 0:
        record_friction(m, h)
    outputs(m, axes)
    if len(decay) > 0:
        m.run_flow[m.run_flow.size - 1] += lost(m, axes)
    if len(contact) > 0:
        record_contacts(m, axes, h)
    _finish(m, axes)
    if len(contact) > 0:
        store_contacts(m, axes)
    energies(m, axes, m.run_new_energy)
    own_coefficient, own_offset = table.own_coefficient[first], table.own_offset[first]
    velocity_defect(m, axes, after, own_coefficient, own_offset)
    if len(friction) > 0:
        m.rub_settles[0] = 1.0 if m.touch_keeps_open[0] > 0.0 and sticks(m, axes) else 0.0
    _record(m, redundant, h, iterations, after, offset, share, weight)
    remember(m, h, known)
    return True


@kernel
def _lose(
    m: Memory,
    axes: tuple[int, ...],
    redundant: tuple[int, ...],
    decay: tuple[int, ...],
    table: Table,
    k: int,
    share: float,
) -> bool:
    """Leave ρ of the velocity defect after a substep that loses energy; False where the constraints are dependent."""
    if len(decay) == 0:
        return True
    else:
        last, own = (k + 1, k) if table.coefficient.shape[0] > 1 else (0, 0)
        given = table.coefficient[last], table.own_coefficient[own], table.own_offset[own]
        length = (table.times[k + 1] - table.times[k]) / share
        return lose_defect(m, axes, redundant, given[0], given[1], given[2], length)


@kernel
def _settle(
    m: Memory, axes: tuple[int, ...], redundant: tuple[int, ...], friction: tuple[int, ...], table: Table, k: int
) -> bool:
    """Settle what slips after a substep though joints hold it by friction; False where that is not solved."""
    if len(friction) == 0:
        return True
    else:
        if m.rub_settles[0] == 0.0:
            return True
        last, own = (k + 1, k) if table.coefficient.shape[0] > 1 else (0, 0)
        given = table.coefficient[last], table.own_coefficient[own], table.own_offset[own]
        return settle(m, axes, redundant, table.times[k + 1] - table.times[k], given[0], given[1], given[2])


@kernel
def _finish(m: Memory, axes: tuple[int, ...]) -> None:
    """The end of the step becomes the start of the next."""
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    derive_momenta(m, axes, m.trial_c)


@kernel
def _record(
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
    audit[0] = max(audit[0], abs(record_energy(m)))
    audit[4] += iterations
    record_gaps(m, h, after, offset)
    close_gaps(m, redundant)
    for i in range(offset.size):
        m.run_step_stage[i] += share * m.x_lam[i]
        m.run_step_multipliers[i] += weight * (m.x_lam[i] - m.system_x[m.border_l[i]] / h)


@kernel
def record_gaps(m: Memory, h: float, after: Array, offset: Array) -> None:
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
def close_gaps(m: Memory, redundant: tuple[int, ...]) -> None:
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
