"""Forces of contacts over a step in loops, and what they take (see kernels.contacts.forces)."""

from __future__ import annotations

import math

from ....kernels.contacts.gap_arrays import ANGLE
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory
from .gaps import differentiate_gap, gap_of, place_vectors, turned_gap
from .laws import potential, press
from .rubbing import moment, rub, slide


@kernel
def begin_contacts(m: Memory, axes: tuple[int, ...]) -> None:
    """The gaps of compliant contacts where a step starts."""
    for c in range(m.contacts_kind.size):
        if not m.contacts_rigid[c]:
            place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
            m.touch_before[c] = gap_of(m, axes, c, m.touch_first)


@kernel
def touch(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """All compliant contacts over a step; of those that are open at both ends the gaps alone."""
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            continue
        before, is_angle = m.touch_before[c], m.contacts_kind[c] == ANGLE
        place_vectors(m, axes, c, m.end_r, m.end_arm, m.touch_last)
        if before < 0.0 or is_angle:
            place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
        after = turned_gap(m, axes, c, before) if is_angle else gap_of(m, axes, c, m.touch_last)
        m.touch_after[c] = after
        if before >= 0.0 and after >= 0.0:
            _leave(m, axes, c)
            continue
        if before >= 0.0 and not is_angle:
            place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_first)
        differentiate_gap(m, axes, c)
        press(m, c, h)
        if m.contacts_friction[c] > 0.0:
            slide(m, axes, c, h)
            rub(m, axes, c, h)


@kernel
def leaves_list(m: Memory, axes: tuple[int, ...]) -> bool:
    """Whether a node is at the end of a step so far from where pairs were listed that others may touch."""
    square = m.touch_reach[0] * m.touch_reach[0]
    for k in range(int(m.touch_reach[1])):
        n, away = m.touch_watched[k], 0.0
        for i in range(len(axes)):
            away += (m.nodes_moves[n] * m.end_r[m.nodes_body[n], i] + m.end_arm[n, i] - m.touch_listed[k, i]) ** 2
        if not away <= square:
            m.touch_reach[2] = 1.0
            return True
    return False


@kernel
def _leave(m: Memory, axes: tuple[int, ...], c: int) -> None:
    """A contact that is open: no forces, and nothing that an anchor holds."""
    m.touch_force[c], m.touch_elastic[c], m.touch_slope[c] = 0.0, 0.0, 0.0
    for t in range(len(axes) - 1):
        m.touch_friction[c, t] = 0.0
    if m.contacts_anchor[c] >= 0:
        for i in range(len(axes)):
            m.end_spring[m.contacts_anchor[c] + i] = 0.0


@kernel
def is_active(m: Memory, c: int) -> bool:
    """Whether a contact has a force, or would have one with another gap."""
    return m.touch_force[c] != 0.0 or m.touch_slope[c] != 0.0


@kernel
def push_nodes(m: Memory, axes: tuple[int, ...]) -> None:
    """Add the forces of contacts on nodes."""
    for c in range(m.contacts_kind.size):
        if not is_active(m, c):
            continue
        for end in range(6):
            n = m.contacts_node[c, end]
            if n >= 0:
                force = m.touch_force[c] if end % 2 == 0 else -m.touch_force[c]
                for i in range(len(axes)):
                    m.trial_on_node[n, i] += force * m.touch_mean[c, end // 2, i]
        if m.contacts_friction[c] > 0.0:
            for t in range(len(axes) - 1):
                for side in range(2):
                    n, own = m.contacts_node[c, side], m.touch_friction[c, t]
                    if n >= 0:
                        for i in range(len(axes)):
                            m.trial_on_node[n, i] += (own if side == 0 else -own) * m.touch_tangent[c, t, i]


@kernel
def twist_bodies(m: Memory, axes: tuple[int, ...]) -> None:
    """Add the torques of friction on bodies."""
    for c in range(m.contacts_kind.size):
        if m.contacts_friction[c] > 0.0 and is_active(m, c):
            for side in range(2):
                b = m.contacts_body[c, side]
                if b >= 0:
                    for t in range(len(axes) - 1):
                        own = m.touch_friction[c, t]
                        for i in range(m.trial_torque.shape[1]):
                            turning = moment(axes, m.touch_arm[c, side], m.touch_tangent[c, t], i)
                            m.trial_torque[b, i] -= own * turning


@kernel
def store_contacts(m: Memory, axes: tuple[int, ...]) -> None:
    """Energies of the compliant contacts and their anchors at ``at``, by connection."""
    m.touch_stored[:] = 0.0
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            continue
        place_vectors(m, axes, c, m.at_r, m.at_arm, m.touch_last)
        depth = max(-gap_of(m, axes, c, m.touch_last), 0.0)
        m.touch_stored[m.contacts_stored[c]] += potential(m, c, depth) + _anchored(m, axes, c, True)


@kernel
def _anchored(m: Memory, axes: tuple[int, ...], c: int, is_start: bool) -> float:
    """Energy of an anchor at the start or the end of a step [J]."""
    if m.contacts_anchor[c] < 0:
        return 0.0
    square = 0.0
    for i in range(len(axes)):
        own = m.contacts_anchor[c] + i
        square += (m.at_spring[own] if is_start else m.end_spring[own]) ** 2
    return 0.5 * square / m.contacts_holding[c]


@kernel
def record_contacts(m: Memory, axes: tuple[int, ...], h: float) -> None:
    """Add the impulses of compliant contacts, and what they take, to the flows of a step."""
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            continue
        lost = _anchored(m, axes, c, True) - _anchored(m, axes, c, False)
        lost += (m.touch_elastic[c] - m.touch_force[c]) * (m.touch_after[c] - m.touch_before[c])
        if m.contacts_friction[c] > 0.0:
            square = 0.0
            for t in range(len(axes) - 1):
                lost -= m.touch_friction[c, t] * m.touch_slip[c, t]
                square += m.touch_friction[c, t] ** 2
            m.run_flow[m.contacts_rubbed[c]] += h * math.sqrt(square)
        m.run_flow[m.contacts_pressed[c]] += h * m.touch_force[c]
        m.run_flow[m.contacts_lost[c]] += lost
