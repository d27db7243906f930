"""What impulses of rigid contacts leave in the accounts (see mechanisms.model.accounts)."""

from __future__ import annotations

import math

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..contact.anchors import has_no_row
from ..contact.flight import turns_away
from ..contact.forces import leaves_list, record_contacts, store_contacts
from ..loops.ledger_rows import energies, flows, outputs, velocity_defect
from ..loops.motion import copy, derive_momenta
from ..loops.relations import generates
from ..memory.memory import Memory
from ..steps.history import remember
from ..steps.rows import record_energy
from ..steps.step import close_gaps, record_gaps
from .bearings import record_bearings
from .bodies import are_apart
from .given import Given
from .marks import may_close

NORMAL, FRICTION, IMPACT, ARRIVAL, RUBBED, SETTLED = range(6)
"""Columns of ``contacts_struck``."""
MISSED, SCALE, BALANCE, KNOWN, FREE, CLOSED, TOLD, CROWDED = range(8)
"""Entries of ``strike_audit``; what gaps miss at the end of a way, and a velocity that positions tell, are apart.

``CROWDED`` is set where many impacts of a group are found in a step.
"""


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
def see_defect(m: Memory, axes: tuple[int, ...], coefficient: Array, given: Given) -> None:
    """What velocities have against joints and drives."""
    velocity_defect(m, axes, coefficient, given.own_coefficient, given.own_offset)
    copy(m.run_new_defect, m.run_defect)


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
def record_way(
    m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given, share: float, alone: bool
) -> bool:
    """Go on to the end of a way, a share of the step; False where it does not count.

    ``alone`` says whether there is nothing else in the step, which is without contacts if none may close: its
    multipliers are then those at its middle.
    """
    if turns_away(m) or leaves_list(m, axes) or generates(m, given.h):
        return False
    if len(kinds) > 0 and has_no_row(m, axes):
        return False
    known = int(m.strike_audit[KNOWN])
    _record(m, axes, kinds, given, share, alone and not may_close(m))
    remember(m, given.h, known)
    m.strike_audit[KNOWN] = min(known + 1, 2)
    return True


@kernel
def _record(m: Memory, axes: tuple[int, ...], kinds: tuple[int, ...], given: Given, share: float, alone: bool) -> None:
    """Go on to the end of a way, and add what it does to the accounts."""
    flows(m, axes, given.h, given.before, given.after)
    outputs(m, axes)
    _record_contacts(m, axes)
    if len(kinds) > 0:
        record_contacts(m, axes, given.h)
        record_bearings(m, given.h)
    copy(m.end_state, m.at_state)
    copy(m.end_vectors, m.at_vectors)
    if len(kinds) > 0:
        store_contacts(m, axes)
    end_part(m, axes)
    if not are_apart(m):
        velocity_defect(m, axes, given.after, given.own_coefficient, given.own_offset)
        record_gaps(m, given.h, given.after, given.offset)
        if alone:
            close_gaps(m, kinds[1:])
        copy(m.run_new_defect, m.run_defect)
        for i in range(m.x_lam.size):
            m.run_step_stage[i] += share * m.x_lam[i]
            alternating = m.system_x[m.border_l[i]] / given.h if alone else 0.0
            m.run_step_multipliers[i] += share * m.x_lam[i] - alternating


@kernel
def _record_contacts(m: Memory, axes: tuple[int, ...]) -> None:
    """Impulses of rigid contacts, and what closing gaps and friction take."""
    m.strike_taken[:] = 0.0
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c] and m.touch_force[c] != 0.0:
            arrived, lost = m.touch_force[c] * (m.touch_before[c] - m.touch_after[c]), 0.0
            for t in range(len(axes) - 1 if m.contacts_friction[c] > 0.0 else 0):
                lost -= m.touch_friction[c, t] * m.touch_slip[c, t]
            record_impulses(m, c, m.strike_impulse[0, c], rubbed(m, axes, c), m.strike_opens[c] > 0)
            record_loss(m, c, ARRIVAL, arrived)
            record_loss(m, c, RUBBED, lost)
            m.strike_taken[c] = arrived + lost
