"""The compiled step of a mechanism, with its substeps and what they record (see flexph.integration.exact.newton)."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ....numerics.loops.views import copy, fewest, fill, larger
    from ..contact.anchors import has_no_row
    from ..contact.flight import closes, touches, turns_away
    from ..contact.forces import leaves_list, record_contacts, store_contacts
    from ..decay.step import prepare
    from ..mechanics.arrow import solve_border
    from ..mechanics.curves import add_curve_gaps
    from ..mechanics.ledger_rows import energies, flows, lost, outputs, velocity_defect
    from ..mechanics.motion import derive_momenta
    from ..mechanics.redundancy import find_dependent, keep_independent, keep_least, solve_least
    from ..mechanics.relations import generates
    from ..mechanics.rolling import add_squares
    from ..memory.memory import Memory
    from ..memory.structures import Pair, Parts, Table
    from ..terms.paths import place_points
    from .friction import obeys, record_friction, sticks
    from .history import guess, remember
    from .impulse import lose_defect
    from .iterate import coordinate_size
    from .newton import factor_step, newton
    from .pairs import begin_pair, estimate, keep_gaps, let_go, reflect, watch_energy
    from .rows import record_energy
    from .search import search
    from .settling import settle


def take_step(m: Memory, dim: int, table: Table, parts: Parts, step: int, known: int, again: bool) -> bool:
    """Take the substeps of a step, the first of them from what the last try came to; False where it is not solved."""
    first = known
    substeps = parts.shares.size
    begin_pair(m, parts.pair)
    m.rub_settles[1] = 0.0
    for i in range(substeps):
        watch_energy(m, parts.pair)
        k = step * substeps + i
        share = parts.shares[i]
        weight = parts.weights[i]
        if not (again and i == 0):
            guess(m, dim, table.times[k + 1] - table.times[k], known)
        if not take_substep(m, dim, parts, table, k, known, share, weight):
            return False
        if i == 0:
            keep_gaps(m, parts.pair)
        elif not _judge(m, dim, parts.pair, parts, table, k, first):
            return False
        if not _lose(m, dim, parts.redundant, parts.decay, table, k, share):
            return False
        if not _settle(m, dim, parts.redundant, parts.friction, table, k):
            return False
        known = fewest(known + 1, parts.depth)
    return _finish_pair(m, dim, parts.pair, parts, table, step)


def _judge(m: Memory, dim: int, pair: Pair, parts: Parts, table: Table, k: int, known: int) -> bool:
    """Estimate the error of two substeps, before which ``known`` rows of history were filled; False if singular."""
    if pair.found.size == 0:
        return True
    h = table.times[k + 1] - table.times[k]
    if parts.contact > 0 and let_go(m, pair):
        first = k if table.coefficient.shape[0] > 1 else 0
        last = k + 1 if table.coefficient.shape[0] > 1 else 0
        before = table.coefficient[first]
        after = table.coefficient[last]
        if not factor_step(m, dim, parts.redundant, parts.decay, parts.contact, h, before, after):
            return False
    estimate(m, dim, parts.redundant, parts.decay, parts.contact, pair, h, known)
    return True


def _finish_pair(m: Memory, dim: int, pair: Pair, parts: Parts, table: Table, step: int) -> bool:
    """Judge the velocity defect of the two substeps of a step; False where the constraints are dependent."""
    if pair.found.size == 0:
        return True
    k = 2 * step + 1
    last = k + 1 if table.coefficient.shape[0] > 1 else 0
    own = k if table.coefficient.shape[0] > 1 else 0
    length = table.times[k + 1] - table.times[k - 1]
    watch_energy(m, pair)
    after = table.coefficient[last]
    return reflect(m, dim, parts.redundant, pair, after, table.own_coefficient[own], table.own_offset[own], length)


def take_substep(
    m: Memory, dim: int, parts: Parts, table: Table, k: int, known: int, share: float, weight: float
) -> bool:
    """Take one substep from its guess and add it to what the step records; False where it is not solved."""
    redundant = parts.redundant
    decay = parts.decay
    contact = parts.contact
    friction = parts.friction
    h = table.times[k + 1] - table.times[k]
    first = k if table.coefficient.shape[0] > 1 else 0
    last = k + 1 if table.coefficient.shape[0] > 1 else 0
    before = table.coefficient[first]
    after = table.coefficient[last]
    offset = table.offset[last]
    extent = coordinate_size(m)
    if m.touch_keeps_open[0] > 0.0 and touches(m, dim, extent):
        return False
    if decay > 0:
        prepare(m, dim, h)
    if redundant > 0:
        if not find_dependent(m, dim, before):
            return False
        keep_least(m, m.x_lam)
    inputs = table.inputs[k if table.inputs.shape[0] > 1 else 0]
    copy(table.moved[k if table.moved.shape[0] > 1 else 0], m.trial_moved)
    last_offset = table.offset[first]
    iterations = newton(m, dim, redundant, decay, contact, friction, h, before, after, offset, last_offset, inputs)
    if (contact > 0 or m.slips_lost.size > 0) and friction == 0 and iterations < 0:
        guess(m, dim, h, known)
        if redundant > 0:
            keep_least(m, m.x_lam)
        iterations = search(m, dim, redundant, decay, contact, h, before, after, offset, inputs)
    if iterations < 0 or generates(m, h):
        return False
    if (closes(m, dim, extent) and m.touch_keeps_open[0] > 0.0) or turns_away(m):
        return False
    if contact > 0 and (leaves_list(m, dim) or has_no_row(m, dim)):
        return False
    if friction > 0 and not obeys(m, h):
        return False
    flows(m, dim, h, before, after)
    if friction > 0:
        record_friction(m, h)
    outputs(m, dim)
    if decay > 0:
        m.run_flow[m.run_flow.size - 1] += lost(m, dim)
    if contact > 0:
        record_contacts(m, dim, h)
    _finish(m, dim)
    if contact > 0:
        store_contacts(m, dim)
    energies(m, dim, m.run_new_energy)
    own_coefficient = table.own_coefficient[first]
    own_offset = table.own_offset[first]
    velocity_defect(m, dim, after, own_coefficient, own_offset)
    if friction > 0:
        m.rub_settles[0] = 1.0 if m.touch_keeps_open[0] > 0.0 and sticks(m, dim) else 0.0
    _record(m, redundant, h, iterations, after, offset, share, weight)
    remember(m, h, known)
    return True


def _lose(m: Memory, dim: int, redundant: int, decay: int, table: Table, k: int, share: float) -> bool:
    """Leave ρ of the velocity defect after a substep that loses energy; False where the constraints are dependent."""
    if decay == 0:
        return True
    last = k + 1 if table.coefficient.shape[0] > 1 else 0
    own = k if table.coefficient.shape[0] > 1 else 0
    length = (table.times[k + 1] - table.times[k]) / share
    after = table.coefficient[last]
    return lose_defect(m, dim, redundant, after, table.own_coefficient[own], table.own_offset[own], length)


def _settle(m: Memory, dim: int, redundant: int, friction: int, table: Table, k: int) -> bool:
    """Settle what slips after a substep though joints hold it by friction; False where that is not solved."""
    if friction == 0:
        return True
    if m.rub_settles[0] == 0.0:
        return True
    last = k + 1 if table.coefficient.shape[0] > 1 else 0
    own = k if table.coefficient.shape[0] > 1 else 0
    h = table.times[k + 1] - table.times[k]
    return settle(m, dim, redundant, h, table.coefficient[last], table.own_coefficient[own], table.own_offset[own])


def _finish(m: Memory, dim: int) -> None:
    """The end of the step becomes the start of the next."""
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    place_points(m)
    derive_momenta(m, dim, m.trial_c)


def _record(
    m: Memory, redundant: int, h: float, iterations: int, after: Array, offset: Array, share: float, weight: float
) -> None:
    """Energies, flows, residuals and multipliers of a substep."""
    audit = m.run_step_audit
    audit[0] = larger(audit[0], fabs(record_energy(m)))
    audit[4] += iterations
    record_gaps(m, h, after, offset)
    close_gaps(m, redundant)
    for i in range(offset.size):
        m.run_step_stage[i] += share * m.x_lam[i]
        m.run_step_multipliers[i] += weight * (m.x_lam[i] - m.system_x[m.border_l[i]] / h)


def record_gaps(m: Memory, h: float, after: Array, offset: Array) -> None:
    """Residuals of the constraints on positions, and of those on velocities over the step as the iteration left it."""
    audit = m.run_step_audit
    for i in range(offset.size):
        m.run_gap[i] = -offset[i]
    for i in range(m.joints_term_row.size):
        m.run_gap[m.joints_term_row[i]] += after[i] * m.at_product[m.joints_term_product[i]]
    add_squares(m, m.run_gap)
    add_curve_gaps(m, m.run_gap, m.at_place)
    for i in range(offset.size):
        if m.rolling_free[i]:
            audit[3] = larger(audit[3], fabs(m.defect_lam[i] / h))
        else:
            audit[1] = larger(audit[1], fabs(m.run_gap[i]))


def close_gaps(m: Memory, redundant: int) -> None:
    """What closes a gap of ½h(e₁ − e₀), see flexph.integration.exact.advance: in the border, where alone it acts."""
    for i in range(m.run_defect.size):
        m.run_gap[i] = m.run_new_defect[i] - m.run_defect[i]
        m.run_defect[i] = m.run_new_defect[i]
    if redundant > 0:
        keep_independent(m, m.run_gap)
    fill(m.system_x, 0.0)
    for i in range(m.border_l.size):
        m.system_x[m.border_l[i]] = 0.5 * m.run_gap[i]
    if redundant > 0:
        solve_least(m)
    else:
        solve_border(m)
