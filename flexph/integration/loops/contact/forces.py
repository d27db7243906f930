"""Forces and dissipation of contacts over a step in loops (see kernels.contacts).

A skin consists of faces on the surface of a deformable body; a ball has a contact with each face, and they share its
force.
"""

from __future__ import annotations

import cython

from ....kernels.contacts.gap_arrays import ANGLE as _ANGLE
from ....kernels.contacts.gap_arrays import FACE as _FACE
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.loops.views import fill, larger
    from ..memory.memory import Memory
    from .gaps import differentiate_gap, gap_of, place_vectors, turned_gap
    from .laws import potential, set_normal_force
    from .rubbing import moment, set_contact_slip, set_friction

ANGLE = cython.declare(cython.Py_ssize_t, _ANGLE)
EVEN = cython.declare(cython.double, 1e-14)
"""Round-off of the gap to a face, over the sizes of its vectors and of the position of the ball."""
FACE = cython.declare(cython.Py_ssize_t, _FACE)


def begin_contacts(m: Memory, dim: int) -> None:
    """Compute the gaps of compliant contacts at the start of a step."""
    for c in range(m.contacts_kind.size):
        if not m.contacts_rigid[c]:
            place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
            m.touch_before[c] = gap_of(m, dim, c, m.touch_first)


def evaluate_contacts(m: Memory, dim: int, h: float) -> None:
    """Compute gaps, forces and anchors of all compliant contacts over a step of length h [s].

    Contacts that are open at both ends of the step get zero forces.
    """
    is_angle = cython.declare(cython.bint)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            continue
        if m.contacts_kind[c] == FACE:
            if _begins_skin(m, c):
                _evaluate_skin(m, dim, c, h)
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


def _begins_skin(m: Memory, c: int) -> bool:
    """True if contact c is the first of the contacts of a ball with the faces of a skin."""
    return c == 0 or m.contacts_skin[c] != m.contacts_skin[c - 1]


def _evaluate_skin(m: Memory, dim: int, first: int, h: float) -> None:
    """Compute gaps and forces of a ball at all faces of a skin; ``first`` is the contact with the first face.

    The gap g is the gap of the closest face: face A at the start of the step, face B at its end. Since Δg lies between
    the changes of the gaps of both faces, Δg = θ Δg_A + (1 − θ) Δg_B with 0 ≤ θ ≤ 1, and of the force P of the law the
    part θP acts on A and (1 − θ)P on B.
    """
    one = cython.declare(cython.Py_ssize_t)
    other = cython.declare(cython.Py_ssize_t)
    one = first
    other = first
    even = 0.0
    for c in range(first, m.contacts_kind.size):
        if m.contacts_kind[c] != FACE or m.contacts_skin[c] != m.contacts_skin[first]:
            break
        place_vectors(m, dim, c, m.end_r, m.end_arm, m.touch_last)
        if c == first:
            even = _gap_resolution(m, dim, c)
        m.touch_after[c] = gap_of(m, dim, c, m.touch_last)
        _clear_contact(m, dim, c)
        m.touch_partner[c] = -1
        one = c if m.touch_before[c] < m.touch_before[one] - even else one
        other = c if m.touch_after[c] < m.touch_after[other] - even else other
    deeper = larger(m.touch_before[other] - m.touch_before[one], 0.0)
    both = deeper + larger(m.touch_after[one] - m.touch_after[other], 0.0)
    if both <= even:  # on an edge or corner that both have, where the share would be one of round-off
        other = one
    if m.touch_before[one] >= 0.0 and m.touch_after[other] >= 0.0:
        return
    if one == other:
        _press_face(m, dim, one, (one, one), h, 1.0)
        return
    share = deeper / both
    _press_face(m, dim, one, (one, other), h, share)
    _press_face(m, dim, other, (one, other), h, 1.0 - share)
    turning = m.touch_force[one] / both  # dθ = θ (dg_B − dg_A)/both at the end of the step
    m.touch_partner[one] = other
    m.touch_partner[other] = one
    m.touch_partner_slope[one] = m.touch_slope[one] + turning
    m.touch_slope[one] = -turning
    m.touch_partner_slope[other] = turning
    m.touch_slope[other] -= turning


def _gap_resolution(m: Memory, dim: int, c: int) -> float:
    """Round-off [m] of the gap between a ball and a face, estimated from the size of the vectors in ``touch.last``."""
    size = m.contacts_offset[c]
    for i in range(dim):
        for k in range(3):
            size += fabs(m.touch_last[k][i])
        if m.contacts_node[c][0] >= 0:
            size += fabs(m.end_r[m.nodes_body[m.contacts_node[c][0]]][i])
    return EVEN * size


def _press_face(m: Memory, dim: int, c: int, faces: tuple[int, int], h: float, share: float) -> None:
    """Compute the force between a ball and a face of a skin: ``share`` times the force of the whole skin on the ball.

    The contacts ``faces`` are those with the faces closest to the ball at the start and at the end of the step. Their
    gaps are the gaps of the skin.
    """
    before = m.touch_before[faces[0]]
    after = m.touch_after[faces[1]]
    own_before = m.touch_before[c]
    own_after = m.touch_after[c]
    place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
    place_vectors(m, dim, c, m.end_r, m.end_arm, m.touch_last)
    differentiate_gap(m, dim, c)
    m.touch_before[c] = before
    m.touch_after[c] = after
    set_normal_force(m, c, h)
    m.touch_before[c] = own_before
    m.touch_after[c] = own_after
    m.touch_force[c] *= share
    m.touch_elastic[c] *= share
    m.touch_slope[c] *= share
    if m.contacts_friction[c] > 0.0:
        set_contact_slip(m, dim, c, h)
        set_friction(m, dim, c, h)


def _store_skin(m: Memory, dim: int, first: int) -> None:
    """Add the elastic energy of a ball at the closest face of a skin, whose first contact is ``first``."""
    depth = 0.0
    for c in range(first, m.contacts_kind.size):
        if m.contacts_kind[c] != FACE or m.contacts_skin[c] != m.contacts_skin[first]:
            break
        place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_last)
        depth = larger(depth, -gap_of(m, dim, c, m.touch_last))
    m.touch_stored[m.contacts_stored[first]] += potential(m, first, depth)


def leaves_list(m: Memory, dim: int) -> bool:
    """True if a node has moved so far since near pairs were listed that a pair outside the list may touch."""
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
    """Set the forces of an open contact, and its anchor at the end of the step, to zero."""
    m.touch_force[c] = 0.0
    m.touch_elastic[c] = 0.0
    m.touch_slope[c] = 0.0
    for t in range(dim - 1):
        m.touch_friction[c][t] = 0.0
    if m.contacts_anchor[c] >= 0:
        for i in range(dim):
            m.end_spring[m.contacts_anchor[c] + i] = 0.0


def is_active(m: Memory, c: int) -> bool:
    """True if the force of a contact, or its derivative with respect to the gap, is not zero."""
    return m.touch_force[c] != 0.0 or m.touch_slope[c] != 0.0


def add_contact_forces(m: Memory, dim: int) -> None:
    """Add the forces of contacts to the forces on their nodes."""
    ends = cython.declare(cython.Py_ssize_t)
    for c in range(m.contacts_kind.size):
        if not is_active(m, c):
            continue
        for end in range(m.contacts_node.shape[1]):
            n = m.contacts_node[c][end]
            if n >= 0:
                force = m.touch_force[c] if end % 2 == 0 else -m.touch_force[c]
                for i in range(dim):
                    m.trial_on_node[n][i] += force * m.touch_mean[c][end // 2][i]
        ends = 2
        if m.contacts_kind[c] == FACE:
            ends = 6  # friction acts on the corners, too
        if m.contacts_friction[c] > 0.0:
            for t in range(dim - 1):
                for end in range(ends):
                    n = m.contacts_node[c][end]
                    friction = m.touch_friction[c][t]
                    if m.contacts_kind[c] == FACE:
                        friction = m.touch_part[c][end // 2] * friction
                    if n >= 0:
                        for i in range(dim):
                            on_plus = friction if end % 2 == 0 else -friction
                            m.trial_on_node[n][i] += on_plus * m.touch_tangent[c][t][i]


def add_contact_torques(m: Memory, dim: int) -> None:
    """Add the torques of contact friction to the torques on the bodies."""
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
    """Compute the energies of compliant contacts and anchors at the start of a step, by connection.

    They are written into ``touch.stored``.
    """
    fill(m.touch_stored, 0.0)
    for c in range(m.contacts_kind.size):
        if m.contacts_rigid[c]:
            continue
        if m.contacts_kind[c] == FACE:
            if _begins_skin(m, c):
                _store_skin(m, dim, c)
            continue
        place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_last)
        depth = larger(-gap_of(m, dim, c, m.touch_last), 0.0)
        m.touch_stored[m.contacts_stored[c]] += potential(m, c, depth) + _anchor_energy(m, dim, c, True)


def _anchor_energy(m: Memory, dim: int, c: int, is_start: bool) -> float:
    """Elastic energy [J] of the anchor of contact c at the start or the end of a step; zero without an anchor."""
    if m.contacts_anchor[c] < 0:
        return 0.0
    square = 0.0
    for i in range(dim):
        entry = m.contacts_anchor[c] + i
        square += (m.at_spring[entry] if is_start else m.end_spring[entry]) ** 2
    return 0.5 * square / m.contacts_holding[c]


def add_surface_outputs(m: Memory, dim: int, out: Array) -> None:
    """Add the outputs of moving surfaces whose speed is an input to ``out``: the friction along their motion."""
    for c in range(m.contacts_kind.size):
        if m.contacts_driven[c] >= 0 and is_active(m, c):
            for t in range(dim - 1):
                out[m.contacts_driven[c]] += m.touch_friction[c][t] * m.touch_way[c][t]


def record_contacts(m: Memory, dim: int, h: float) -> None:
    """Add impulses, works of surfaces and losses of compliant contacts to the recorded flows of a step.

    h [s] is the length of the step.
    """
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
