"""Rows of contacts, which relate rates of gaps and slips to the velocities of the bodies on both sides.

A gap depends on vectors V, W and U between nodes of the two sides (see contact.gaps).

For each row, ``act`` is the generalised impulse on a side by a unit impulse, ``rate`` the change of the rate by unit
velocities of the side, and ``answer`` the velocities of the side by a unit impulse (see contacts.levels). A side is a
body or a mean of points.
"""

from __future__ import annotations

import cython

from ....kernels.contacts.gap_arrays import ANGLE as _ANGLE
from ....kernels.contacts.gap_arrays import FACE as _FACE
from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ....numerics.loops.views import copy, fill, part
    from ..contact.gaps import differentiate_gap, dot, gap_of, place_vectors, turned_gap
    from ..contact.rubbing import moment, set_contact_slip
    from ..memory.memory import Memory
    from ..terms.nodes import differentiate_node
    from .bearings import slip_of

ANGLE = cython.declare(cython.Py_ssize_t, _ANGLE)
FACE = cython.declare(cython.Py_ssize_t, _FACE)
ALIKE = cython.declare(cython.double, 0.75)
"""Cosine between a tangent before and after, below which the tangents have jumped."""


def set_levers(m: Memory, dim: int) -> None:
    """Set the levers of nodes and the inverse rotations of bodies from the present state ``at``.

    They are written into ``trial.lever`` and ``trial.inverse``.
    """
    copy(m.at_arm, m.trial_lever)
    for b in range(m.inertia_mass.size):
        for i in range(dim):
            for j in range(dim):
                m.trial_inverse[b][i][j] = m.at_R[b][j][i]


def set_rows(m: Memory, dim: int, c: int) -> None:
    """Compute the rows of contact c at the present state ``at``."""
    place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
    place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_last)
    differentiate_gap(m, dim, c)
    if m.contacts_friction[c] > 0.0:
        set_contact_slip(m, dim, c, 0.0)
    fill_rows(m, dim, c, 0.0)


def set_rows_at_end(m: Memory, dim: int, c: int) -> None:
    """Compute the rows of contact c at the end of a step; the friction impulse of the step keeps its direction.

    The tangents jump by 60° or more where another entry of the normal becomes the least one. The components of the
    impulse are then converted to the new tangents.
    """
    if dim == 2 or m.contacts_friction[c] == 0.0:
        set_rows(m, dim, c)
        return
    tangent = m.touch_tangent[c]
    first = m.strike_impulse[1][c]
    second = m.strike_impulse[2][c]
    before_x = tangent[0][0]
    before_y = tangent[0][1]
    before_z = tangent[0][2]
    x = first * before_x + second * tangent[1][0]
    y = first * before_y + second * tangent[1][1]
    z = first * before_z + second * tangent[1][2]
    set_rows(m, dim, c)
    common = before_x * tangent[0][0] + before_y * tangent[0][1] + before_z * tangent[0][2]
    lengths = sqrt(before_x * before_x + before_y * before_y + before_z * before_z) * sqrt(
        dot(3, tangent[0], tangent[0])
    )
    if common < ALIKE * lengths:
        along = x * tangent[0][0] + y * tangent[0][1] + z * tangent[0][2]
        across = x * tangent[1][0] + y * tangent[1][1] + z * tangent[1][2]
        length = sqrt(along * along + across * across)
        if length > 0.0:
            share = sqrt(first * first + second * second) / length
            m.strike_impulse[1][c] = share * along
            m.strike_impulse[2][c] = share * across


def evaluate_contact(m: Memory, dim: int, c: int, h: float) -> None:
    """Compute the gap of contact c at the end of a step, its gradients and its slip, and its impulses as forces.

    A force here is an impulse divided by h; gap and slip are divided by h, too, and stored as rates.
    """
    is_angle = cython.declare(cython.bint)
    place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
    place_vectors(m, dim, c, m.end_r, m.end_arm, m.touch_last)
    is_angle = m.contacts_kind[c] == ANGLE
    after = turned_gap(m, dim, c, m.touch_before[c]) if is_angle else gap_of(m, dim, c, m.touch_last)
    m.touch_after[c] = after
    differentiate_gap(m, dim, c)
    m.touch_force[c] = m.strike_impulse[0][c] / h
    m.strike_rates[0][c] = after / h
    if m.contacts_friction[c] > 0.0:
        set_contact_slip(m, dim, c, h)
        for t in range(dim - 1):
            m.touch_friction[c][t] = m.strike_impulse[1 + t][c] / h
            m.strike_rates[1 + t][c] = m.touch_slip[c][t] / h


def fill_rows(m: Memory, dim: int, c: int, h: float) -> None:
    """Compute the rows of contact c over a step of length h [s]; for h = 0 at its start."""
    fill(part(m.strike_act, 2 * c, 2 * c + 2), 0.0)
    fill(part(m.strike_rate, 2 * c, 2 * c + 2), 0.0)
    if m.strike_bend.size > 0:
        fill(part(m.strike_bend_act, c * dim, (c + 1) * dim), 0.0)
        fill(part(m.strike_bend_rate, c * dim, (c + 1) * dim), 0.0)
    for k in range(m.contacts_fixed.shape[1]):
        for end in range(2):
            n = m.contacts_node[c][2 * k + end]
            if n >= 0:
                by = differentiate_side(m, dim, h, n, 1.0 if end == 0 else -1.0)
                _add_node(m, dim, (c, k), m.nodes_side[n], by, h)
                if m.strike_bend.size > 0:
                    _add_bending(m, dim, c, k, end, h)
    if m.contacts_friction[c] > 0.0:
        for side in range(2):
            if m.contacts_body[c][side] >= 0 and m.inertia_turns[m.contacts_body[c][side]]:
                _add_spins(m, dim, c, side)


def differentiate_side(m: Memory, dim: int, h: float, n: int, sign: float) -> int:
    """Write the rows of B and W of node n for the velocities of its side; return their number.

    B is the discrete gradient over a step of length h [s], W the derivative at its end.
    """
    if m.nodes_side[n] < m.inertia_mass.size:
        differentiate_node(m, dim, h, n, sign, 0)
        return m.strike_act.shape[2]
    for i in range(dim):
        for j in range(dim):
            m.system_B[i][j] = sign if i == j else 0.0
            m.system_W[i][j] = h * sign if i == j else 0.0
    return dim


def _side(m: Memory, c: int, b: int) -> int:
    """Index of the rows of contact c for the velocities of side b, one of the two sides of the contact."""
    return 2 * c if m.contacts_sides[c][0] == b else 2 * c + 1


def _add_node(m: Memory, dim: int, vector: tuple[int, int], b: int, by: int, h: float) -> None:
    """Add the entries of a node to the rows of a contact, for the first ``by`` velocities of the node's side b.

    ``vector`` has the number of the contact and that of the vector to which the node belongs: 0 to 2 for V, W, U.
    """
    c, k = vector
    act = m.strike_act[_side(m, c, b)]
    rate = m.strike_rate[_side(m, c, b)]
    weight = _part_of_slip(m, c, k)
    for i in range(by):
        entry = dot(dim, m.system_B[i], m.touch_mean[c][k])
        act[0][i] += entry
        rate[0][i] += entry if h == 0.0 else dot(dim, m.system_W[i], m.touch_end[c][k]) / h
        if weight != 0.0 and m.contacts_friction[c] > 0.0:
            for t in range(dim - 1):
                along = weight * dot(dim, m.system_B[i], m.touch_tangent[c][t])
                act[1 + t][i] += along
                rate[1 + t][i] += along


def _part_of_slip(m: Memory, c: int, k: int) -> float:
    """Coefficient of vector k (V, W or U) of contact c in the vector along which it slips."""
    if m.contacts_kind[c] == FACE:
        return m.touch_part[c][k]
    return 1.0 if k == 0 else 0.0


def _add_bending(m: Memory, dim: int, c: int, k: int, end: int, h: float) -> None:
    """Add the entries of the flexible coordinates to the rows of contact c, for a node of its vector k (V, W or U).

    ``end`` is 0 for the node at the tip of the vector, 1 for the node at its foot.
    """
    n = m.contacts_node[c][2 * k + end]
    first = c * dim
    sign = 1.0 if end == 0 else -1.0
    _add_shapes(m, dim, (n, 0), sign, m.touch_mean[c][k], m.strike_bend_act[first])
    if h == 0.0:
        _add_shapes(m, dim, (n, 0), sign, m.touch_mean[c][k], m.strike_bend_rate[first])
    else:
        _add_shapes(m, dim, (n, 1), sign, m.touch_end[c][k], m.strike_bend_rate[first])
    sign *= _part_of_slip(m, c, k)
    if sign != 0.0 and m.contacts_friction[c] > 0.0:
        for t in range(dim - 1):
            _add_shapes(m, dim, (n, 0), sign, m.touch_tangent[c][t], m.strike_bend_act[first + 1 + t])
            _add_shapes(m, dim, (n, 0), sign, m.touch_tangent[c][t], m.strike_bend_rate[first + 1 + t])


def _add_shapes(m: Memory, dim: int, node: tuple[int, int], sign: float, along: Array, out: Array) -> None:
    """Add the shapes at a node, relative to the centre of mass, along a direction in world axes to ``out``.

    ``node`` is its number, and 1 if the direction ``along`` is rotated to body axes by R₁⁻¹, 0 for R̄⁻¹.
    """
    n, at_end = node
    b = m.nodes_body[n]
    for j in range(dim):
        local = 0.0
        for i in range(dim):
            local += sign * (m.end_R[b][i][j] if at_end > 0 else m.trial_inverse[b][j][i]) * along[i]
        for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
            out[m.nodes_col[e]] += m.nodes_val[e][j] * local
        for e in range(m.inertia_first[b], m.inertia_first[b + 1]):
            out[e] -= m.nodes_moves[n] * m.inertia_mean[e][j] * local


def bending(m: Memory, c: int, r: int, rates: Array) -> float:
    """Part of rate r of contact c that the ``rates`` of the flexible coordinates cause."""
    total = 0.0
    for i in range(m.strike_bend.size):
        total += m.strike_bend_rate[c * m.strike_impulse.shape[0] + r][i] * rates[i]
    return total


def _add_spins(m: Memory, dim: int, c: int, side: int) -> None:
    """Add the entries of the spin of the body at ``side`` to the rows of slips of contact c."""
    b = m.contacts_body[c][side]
    d = dim
    act = m.strike_act[_side(m, c, b)]
    rate = m.strike_rate[_side(m, c, b)]
    for t in range(d - 1):
        for a in range(act.shape[1] - d):
            turned = 0.0
            if d == 2:
                turned = moment(dim, m.touch_arm[c][side], m.touch_tangent[c][t], 0)
            else:
                for i in range(3):
                    turned += m.trial_inverse[b][a][i] * moment(dim, m.touch_arm[c][side], m.touch_tangent[c][t], i)
            act[1 + t][d + a] -= turned
            rate[1 + t][d + a] -= turned


def set_free_response(m: Memory, dim: int, c: int) -> None:
    """Compute the velocities of free bodies by unit impulses in the rows of contact c."""
    for side in range(2):
        b = m.contacts_sides[c][side]
        p = 2 * c + side
        if b >= 0:
            for r in range(dim):
                for i in range(m.strike_act.shape[2]):
                    total = 0.0
                    for j in range(m.strike_act.shape[2]):
                        total += m.strike_inverse[b][i][j] * m.strike_act[p][r][j]
                    m.strike_answer[p][r][i] = total


def side_velocity(m: Memory, b: int, a: int, v: Array, w: Array) -> float:
    """Component a of the velocity of side b, for velocities v and spins w: of a body, or of a mean of points.

    A mean of points does not turn.
    """
    d = v.shape[1]
    k = b - m.inertia_mass.size
    if k < 0:
        return v[b][a] if a < d else w[b][a - d]
    total = 0.0
    for e in range(m.points_node_ptr[k], m.points_node_ptr[k + 1]):
        total += m.points_node_weight[e] * v[m.points_node_frame[e]][a] if a < d else 0.0
    return total


def surface_rate(m: Memory, c: int, r: int) -> float:
    """Part of rate r of contact c that a moving surface causes."""
    return m.touch_carried[c][r - 1] if r > 0 and m.contacts_surface[c] >= 0 else 0.0


def rate_after(m: Memory, c: int, r: int) -> float:
    """Rate r of contact c after the changes of velocities by impulses."""
    total = bending(m, c, r, m.at_du) + bending(m, c, r, m.strike_bend) - surface_rate(m, c, r)
    for side in range(2):
        b = m.contacts_sides[c][side]
        if b >= 0:
            for a in range(m.strike_rate.shape[2]):
                now = side_velocity(m, b, a, m.at_v, m.at_w)
                total += m.strike_rate[2 * c + side][r][a] * (now + m.strike_change[b][a])
    return total


def rate(m: Memory, c: int, r: int) -> float:
    """Rate r of contact or bearing c at the present state ``at``; that of a bearing is read from ``rub.slip``."""
    if c >= m.contacts_kind.size:
        return m.rub_slip[slip_of(m, c, r)] if slip_of(m, c, r) >= 0 else 0.0
    total = bending(m, c, r, m.at_du) - surface_rate(m, c, r)
    for side in range(2):
        b = m.contacts_sides[c][side]
        if b >= 0:
            for a in range(m.strike_rate.shape[2]):
                total += m.strike_rate[2 * c + side][r][a] * side_velocity(m, b, a, m.at_v, m.at_w)
    return total
