"""Forces and dissipation of contacts over a step in loops (see kernels.contacts)."""

from __future__ import annotations

import cython

from ....kernels.contacts.gap_arrays import ANGLE as _ANGLE
from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ....numerics.loops.views import fill, larger
    from ..memory.memory import Memory
    from .gaps import differentiate_gap, gap_of, place_vectors, turned_gap
    from .laws import potential, set_normal_force
    from .rubbing import moment, set_contact_slip, set_friction

ANGLE = cython.declare(cython.Py_ssize_t, _ANGLE)


def begin_contacts(m: Memory, dim: int) -> None:
    """Set the gaps of compliant contacts at the start of a step."""
    for c in range(m.contacts_kind.size):
        if not m.contacts_rigid[c]:
            place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
            m.touch_before[c] = gap_of(m, dim, c, m.touch_first)


def evaluate_contacts(m: Memory, dim: int, h: float) -> None:
    """Set gaps, forces and anchors of all compliant contacts over a step; zero forces for those open at both ends."""
    is_angle = cython.declare(cython.bint)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            continue
        before = m.touch_before[c]
        is_angle = m.contacts_kind[c] == ANGLE
        place_vectors(m, dim, c, m.end_r, m.end_arm, m.touch_last)
        if before < 0.0 or is_angle:
            place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
        after = turned_gap(m, dim, c, before) if is_angle else gap_of(m, dim, c, m.touch_last)
        m.touch_after[c] = after
        if before >= 0.0 and after >= 0.0:
            _clear_contact(m, dim, c)
            continue
        if before >= 0.0 and not is_angle:
            place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
        differentiate_gap(m, dim, c)
        set_normal_force(m, c, h)
        if m.contacts_friction[c] > 0.0:
            set_contact_slip(m, dim, c, h)
            set_friction(m, dim, c, h)


def leaves_list(m: Memory, dim: int) -> bool:
    """True if a node has moved so far since pairs were listed that others may touch at the end of the step."""
    square = m.touch_reach[0] * m.touch_reach[0]
    for k in range(cython.cast(cython.Py_ssize_t, m.touch_reach[1])):
        n = m.touch_watched[k]
        away = 0.0
        for i in range(dim):
            away += (m.nodes_moves[n] * m.end_r[m.nodes_body[n]][i] + m.end_arm[n][i] - m.touch_listed[k][i]) ** 2
        if not away <= square:
            m.touch_reach[2] = 1.0
            return True
    return False


def _clear_contact(m: Memory, dim: int, c: int) -> None:
    """Clear the forces of an open contact, and its anchor at the end of the step."""
    m.touch_force[c] = 0.0
    m.touch_elastic[c] = 0.0
    m.touch_slope[c] = 0.0
    for t in range(dim - 1):
        m.touch_friction[c][t] = 0.0
    if m.contacts_anchor[c] >= 0:
        for i in range(dim):
            m.end_spring[m.contacts_anchor[c] + i] = 0.0


def is_active(m: Memory, c: int) -> bool:
    """True if a contact has a force, or would have one at another gap."""
    return m.touch_force[c] != 0.0 or m.touch_slope[c] != 0.0


def add_contact_forces(m: Memory, dim: int) -> None:
    """Add the forces of contacts to those on nodes."""
    for c in range(m.contacts_kind.size):
        if not is_active(m, c):
            continue
        for end in range(m.contacts_node.shape[1]):
            n = m.contacts_node[c][end]
            if n >= 0:
                force = m.touch_force[c] if end % 2 == 0 else -m.touch_force[c]
                for i in range(dim):
                    m.trial_on_node[n][i] += force * m.touch_mean[c][end // 2][i]
        if m.contacts_friction[c] > 0.0:
            for t in range(dim - 1):
                for side in range(2):
                    n = m.contacts_node[c][side]
                    friction = m.touch_friction[c][t]
                    if n >= 0:
                        for i in range(dim):
                            m.trial_on_node[n][i] += (friction if side == 0 else -friction) * m.touch_tangent[c][t][i]


def add_contact_torques(m: Memory, dim: int) -> None:
    """Add the torques of contact friction to those on bodies."""
    for c in range(m.contacts_kind.size):
        if m.contacts_friction[c] > 0.0 and is_active(m, c):
            for side in range(2):
                b = m.contacts_body[c][side]
                if b >= 0:
                    for t in range(dim - 1):
                        friction = m.touch_friction[c][t]
                        for i in range(m.trial_torque.shape[1]):
                            turning = moment(dim, m.touch_arm[c][side], m.touch_tangent[c][t], i)
                            m.trial_torque[b][i] -= friction * turning


def store_contacts(m: Memory, dim: int) -> None:
    """Write the energies of compliant contacts and their anchors at ``at`` into ``touch.stored``, by connection."""
    fill(m.touch_stored, 0.0)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            continue
        place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_last)
        depth = larger(-gap_of(m, dim, c, m.touch_last), 0.0)
        m.touch_stored[m.contacts_stored[c]] += potential(m, c, depth) + _anchor_energy(m, dim, c, True)


def _anchor_energy(m: Memory, dim: int, c: int, is_start: bool) -> float:
    """Energy of an anchor at the start or the end of a step [J]."""
    if m.contacts_anchor[c] < 0:
        return 0.0
    square = 0.0
    for i in range(dim):
        entry = m.contacts_anchor[c] + i
        square += (m.at_spring[entry] if is_start else m.end_spring[entry]) ** 2
    return 0.5 * square / m.contacts_holding[c]


def add_surface_outputs(m: Memory, dim: int, out: Array) -> None:
    """Add the friction along driven surfaces, the outputs of their speeds, to ``out``."""
    for c in range(m.contacts_kind.size):
        if m.contacts_driven[c] >= 0 and is_active(m, c):
            for t in range(dim - 1):
                out[m.contacts_driven[c]] += m.touch_friction[c][t] * m.touch_way[c][t]


def record_contacts(m: Memory, dim: int, h: float) -> None:
    """Add the impulses and dissipation of compliant contacts to the flows of a step."""
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            continue
        lost = _anchor_energy(m, dim, c, True) - _anchor_energy(m, dim, c, False)
        lost += (m.touch_elastic[c] - m.touch_force[c]) * (m.touch_after[c] - m.touch_before[c])
        if m.contacts_friction[c] > 0.0:
            square = 0.0
            for t in range(dim - 1):
                lost -= m.touch_friction[c][t] * m.touch_slip[c][t]
                square += m.touch_friction[c][t] ** 2
                if m.contacts_surface[c] >= 0:
                    carried = m.touch_carried[c][t]
                    if m.contacts_driven[c] >= 0:
                        carried -= m.touch_way[c][t] * m.trial_given[m.contacts_driven[c]]
                    m.run_flow[m.contacts_surface[c]] += h * m.touch_friction[c][t] * carried
                if m.contacts_driven[c] >= 0:
                    done = h * m.touch_friction[c][t] * m.touch_way[c][t] * m.trial_given[m.contacts_driven[c]]
                    m.run_flow[m.ledger_input[m.contacts_driven[c]]] += done
            m.run_flow[m.contacts_rubbed[c]] += h * sqrt(square)
        m.run_flow[m.contacts_pressed[c]] += h * m.touch_force[c]
        m.run_flow[m.contacts_lost[c]] += lost
