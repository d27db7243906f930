"""What impulses of rigid contacts leave in the accounts (see mechanisms.model.accounts)."""

from __future__ import annotations

import math

from ....numerics.compiled.kernel import kernel
from ..loops.ledger_rows import energies, flows, outputs, velocity_defect
from ..loops.motion import copy, derive_momenta
from ..memory.memory import Memory
from ..steps.rows import record_energy
from ..steps.step import close_gaps, record_gaps
from .given import Given

NORMAL, FRICTION, IMPACT, ARRIVAL, RUBBED, SETTLED = range(6)
"""Columns of ``contacts_struck``."""
MISSED, SCALE, BALANCE, KNOWN, FREE, CLOSED, TOLD = range(7)
"""Entries of ``strike_audit``; what gaps miss at the end of a step, and a velocity that positions tell, are apart."""


@kernel
def begin_part(m: Memory) -> None:
    """No flows yet."""
    m.run_flow[:] = 0.0


@kernel
def end_part(m: Memory, axes: tuple[int, ...]) -> None:
    """Energies at other velocities, and the balance of a part of a step."""
    derive_momenta(m, axes, m.trial_c)
    energies(m, axes, m.run_new_energy)
    m.strike_audit[BALANCE] += abs(record_energy(m))


@kernel
def judge(m: Memory, missed: float, scale: float) -> None:
    """Remember how far a complementarity was missed [m/s], and what that is relative to."""
    m.strike_audit[MISSED] = max(m.strike_audit[MISSED], missed)
    m.strike_audit[SCALE] = max(m.strike_audit[SCALE], scale)


@kernel
def missed_of_step(m: Memory) -> float:
    """The worst defect of a complementarity in a step over its scale (see kernels.resolution.rate_of_positions)."""
    scale = max(m.strike_audit[SCALE], 1e-300)
    return max(m.strike_audit[MISSED] / scale, m.strike_audit[CLOSED] / max(scale, m.strike_audit[TOLD]))


@kernel
def rubbed(m: Memory, axes: tuple[int, ...], c: int) -> float:
    """The size of the friction impulse of a contact."""
    square = 0.0
    for t in range(len(axes) - 1):
        square += m.strike_impulse[1 + t, c] * m.strike_impulse[1 + t, c]
    return math.sqrt(square)


@kernel
def record_impulses(m: Memory, c: int, normal: float, friction: float, strikes: bool) -> None:
    """Add impulses of a contact, those that close a gap also to the ones at impacts."""
    m.run_flow[m.contacts_pressed[c]] += normal
    m.run_flow[m.contacts_rubbed[c]] += friction
    if strikes:
        m.run_flow[m.contacts_struck[c, NORMAL]] += normal
        m.run_flow[m.contacts_struck[c, FRICTION]] += friction


@kernel
def record_loss(m: Memory, c: int, kind: int, lost: float) -> None:
    """Add what a contact takes."""
    m.run_flow[m.contacts_struck[c, kind]] += lost


@kernel
def record_step(m: Memory, axes: tuple[int, ...], coupled: tuple[int, ...], given: Given, alone: bool) -> None:
    """Go on to the end of the step, and add what it does to the accounts.

    ``alone`` says whether it is all of the step, and without contacts: its multipliers are then those at its middle.
    """
    flows(m, axes, given.h, given.before, given.after)
    outputs(m, axes)
    _record_contacts(m, axes)
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    derive_momenta(m, axes, m.trial_c)
    energies(m, axes, m.run_new_energy)
    m.strike_audit[BALANCE] += abs(record_energy(m))
    if len(coupled) > 0:
        velocity_defect(m, axes, given.after, given.own_coefficient, given.own_offset)
        record_gaps(m, given.h, given.after, given.offset)
        if alone:
            close_gaps(m, ())
        copy(m.run_new_defect, m.run_defect)
        for i in range(m.x_lam.size):
            m.run_step_stage[i] += m.x_lam[i]
            alternating = m.system_x[m.border_l[i]] / given.h if alone else 0.0
            m.run_step_multipliers[i] += m.x_lam[i] - alternating


@kernel
def _record_contacts(m: Memory, axes: tuple[int, ...]) -> None:
    """Impulses of contacts, and what closing gaps and friction take."""
    m.strike_taken[:] = 0.0
    for c in range(m.contacts_kind.size):
        if m.touch_force[c] != 0.0:
            arrived, lost = m.touch_force[c] * (m.touch_before[c] - m.touch_after[c]), 0.0
            for t in range(len(axes) - 1 if m.contacts_friction[c] > 0.0 else 0):
                lost -= m.touch_friction[c, t] * m.touch_slip[c, t]
            record_impulses(m, c, m.strike_impulse[0, c], rubbed(m, axes, c), m.strike_opens[c] > 0)
            record_loss(m, c, ARRIVAL, arrived)
            record_loss(m, c, RUBBED, lost)
            m.strike_taken[c] = arrived + lost
