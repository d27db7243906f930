"""Slips and records of bearings, joints with dry friction, which are numbered after the contacts of a step."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ....numerics.loops.views import fill, part
    from ..friction.law import coefficient
    from ..friction.rows import (
        differentiate_slips,
        end_rates,
        measure_slips,
        pressed_size,
        set_friction_forces,
        set_gradients,
        slip_size,
    )
    from ..mechanics.motion import mean_shapes, node_speeds
    from ..memory.memory import Memory
    from ..steps.friction import begins_to_stick, record_friction
    from ..steps.impulse import INSTANT


def mark_bearings(m: Memory, mark: int) -> None:
    """Give all bearings the mark ``mark`` (see .marks)."""
    fill(part(m.strike_may_close, m.contacts_kind.size, m.strike_may_close.shape[0]), mark)


def is_bearing(m: Memory, c: int) -> bool:
    """True if number c is that of a bearing, not of a contact."""
    return c >= m.contacts_kind.size


def friction_of(m: Memory, c: int) -> float:
    """Coefficient of friction of the contact or bearing with number c."""
    return coefficient(m, c - m.contacts_kind.size) if is_bearing(m, c) else m.contacts_friction[c]


def size_slips(m: Memory, dim: int, v: Array, w: Array, du: Array) -> float:
    """Scale of the slip rates of bearings at velocities v, w, du; 0 without bearings.

    It is the largest sum of the absolute values of the terms of a rate, see friction.rows.slip_size.
    """
    if m.rub_slip.size == 0:
        return 0.0
    mean_shapes(m, dim, du, m.trial_c)
    return slip_size(m, dim, v, w, du, m.trial_c)


def slip_of(m: Memory, c: int, r: int) -> int:
    """Number of the slip in row r of the law of bearing c; −1 if the row has none."""
    i = c - m.contacts_kind.size
    t = m.bearings_spring.shape[1]
    return i * t + r - 1 if r > 0 and m.bearings_spring[i][r - 1] >= 0 else -1


def apply_friction(m: Memory, h: float) -> None:
    """Apply the friction of joints to a trial of a step of length h [s]: forces that have the impulses of the step."""
    t = m.bearings_spring.shape[1]
    for q in range(m.rub_force.size):
        m.rub_force[q] = m.strike_impulse[1 + q % t][m.contacts_kind.size + q // t] / h
    set_friction_forces(m)


def evaluate_bearings(m: Memory, h: float) -> None:
    """Compute slip rates and joint impulses at a trial of a step of length h [s], and the rates in bearing laws."""
    measure_slips(m, h)
    m.strike_carried[1] = h
    m.strike_carried[0] = m.strike_carried[1]
    for k in range(m.rub_base.size):
        m.rub_base[k] *= h
    _rate(m)


def _rate(m: Memory) -> None:
    """Compute the rates in the laws of bearings from their slip rates and joint impulses.

    The rate in row 0 is the difference between the normal impulse and the size of the joint impulse, times the response
    ``strike.own`` of the row to a unit impulse, so that it has the unit of a rate.
    """
    t = m.bearings_spring.shape[1]
    for i in range(m.bearings_friction.size):
        c = m.contacts_kind.size + i
        m.strike_rates[0][c] = m.strike_own[0][c] * (m.strike_impulse[0][c] - pressed_size(m, i))
        for j in range(t):
            m.strike_rates[1 + j][c] = m.rub_slip[i * t + j]


def record_bearings(m: Memory, h: float) -> None:
    """Add the losses by friction of joints in a step of length h [s] to the flows, and store them by bearing."""
    before = m.rub_rate
    for i in range(m.bearings_friction.size):
        before[i] = m.run_flow[m.bearings_lost[i]]
    record_friction(m, h)
    for i in range(m.bearings_friction.size):
        m.strike_taken[m.contacts_kind.size + i] = m.run_flow[m.bearings_lost[i]] - before[i]


def begin_slips(m: Memory, dim: int) -> None:
    """Compute the derivatives of slip rates with respect to velocities, at a state whose matrices are factored."""
    set_gradients(m)
    differentiate_slips(m, dim, INSTANT)
    m.strike_carried[0] = 1.0


def write_slips(m: Memory, dim: int, out: Array) -> float:
    """Write the slip rates at the present state ``at`` into ``out``; return their scale.

    The scale is the largest sum of the absolute values of the terms of a rate.
    """
    node_speeds(m, dim)
    return end_rates(m, dim, out)


def bearings_begin_to_stick(m: Memory, dim: int) -> bool:
    """True if a bearing slips at the end of a step, although it stuck or slipped the other way in the step."""
    for i in range(m.bearings_friction.size):
        m.rub_bound[i] = coefficient(m, i) * m.strike_impulse[0][m.contacts_kind.size + i] / m.strike_carried[1]
    node_speeds(m, dim)
    return begins_to_stick(m, dim)


def scale_pressing(m: Memory, share: float) -> None:
    """Set the joint impulses that press bearings to ``share`` times the joint impulses of the step."""
    for k in range(m.rub_base.size):
        m.rub_base[k] = share * m.strike_carried[1] * m.x_lam[m.bearings_row[k]]


def rate_at_end(m: Memory) -> None:
    """Compute the rates in the laws of bearings while velocities settle.

    The joint impulses of settling, ``strike.held``, are added to the joint impulses of the step.
    """
    for k in range(m.rub_base.size):
        m.rub_base[k] += m.strike_held[m.bearings_row[k]]
    _rate(m)
    for k in range(m.rub_base.size):
        m.rub_base[k] -= m.strike_held[m.bearings_row[k]]


def record_struck(m: Memory, dim: int, settles: bool) -> None:
    """Add the friction losses of bearings by the change of their impulses since ``strike.given`` to the flows.

    ``rub.slip`` are the slip rates before the change. ``settles`` is True for settling, False for an impact.
    """
    write_slips(m, dim, m.rub_rate)
    t = m.bearings_spring.shape[1]
    for i in range(m.bearings_friction.size):
        c = m.contacts_kind.size + i
        before = 0.0
        after = 0.0
        lost = 0.0
        for j in range(t):
            q = i * t + j
            given = m.strike_given[1 + j][c]
            impulse = m.strike_impulse[1 + j][c]
            lost -= (impulse - given) * 0.5 * (m.rub_slip[q] + m.rub_rate[q])
            before = before + given * given
            after = after + impulse * impulse
        m.run_flow[m.bearings_lost[i] if settles else m.bearings_struck[i]] += lost
        m.run_flow[m.bearings_rubbed[i]] += sqrt(after) - sqrt(before)
