"""Friction of contacts in loops (formulas of kernels.contacts.laws)."""

from __future__ import annotations

import cython

from ....kernels.arrays import FRICTIONS as _FRICTIONS
from ....kernels.arrays import SURFACES as _SURFACES
from ....kernels.contacts.gap_arrays import FACE as _FACE
from ....kernels.contacts.gap_arrays import OFFSET as _OFFSET
from ....kernels.contacts.gap_arrays import RIM as _RIM
from ....kernels.contacts.gap_arrays import SEGMENTS as _SEGMENTS
from ....kernels.contacts.gap_arrays import SHAPE as _SHAPE
from ....kernels.contacts.gaps import CLEARLY as _CLEARLY
from ....kernels.contacts.gaps import TINY as _TINY
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt

    from ....kernels.surfaces.segments import FIRST
    from ....numerics.loops.views import larger
    from ..memory.memory import Memory
    from ..terms.spring_laws import factor_at
    from .gaps import dot, sine_of_tilt

CLEARLY = cython.declare(cython.double, _CLEARLY)
FACE = cython.declare(cython.Py_ssize_t, _FACE)
FRICTIONS = cython.declare(cython.Py_ssize_t, _FRICTIONS)
OFFSET = cython.declare(cython.Py_ssize_t, _OFFSET)
RIM = cython.declare(cython.Py_ssize_t, _RIM)
SEGMENTS = cython.declare(cython.Py_ssize_t, _SEGMENTS)
SHAPE = cython.declare(cython.Py_ssize_t, _SHAPE)
SURFACES = cython.declare(cython.Py_ssize_t, _SURFACES)
TINY = cython.declare(cython.double, _TINY)


def set_contact_slip(m: Memory, dim: int, c: int, h: float) -> None:
    """Compute the tangents of contact c, its arms ρ₁ and ρ₂, and its slip over a step of length h [s].

    V is the vector of the gap from a node of the second body to one of the first, V̄ its mean over the step. ρ₁ leads
    from the point of contact to the tip of V, ρ₂ from the foot of V to the point of contact: ρ₁ + ρ₂ = V̄ (see
    kernels.contacts.gaps).
    """
    flat = cython.declare(cython.bint)
    normal = m.touch_mean[c][0]
    tangent = m.touch_tangent[c]
    arm = m.touch_arm[c]
    if dim == 2:
        tangent[0][0] = normal[1]
        tangent[0][1] = -normal[0]
    else:
        _tangents(normal, tangent)
    flat = m.contacts_kind[c] == OFFSET or m.contacts_kind[c] == SHAPE
    for i in range(dim):
        middle = 0.5 * (m.touch_first[0][i] + m.touch_last[0][i])
        arm[0][i] = m.contacts_share[c][0] * (normal[i] if flat else middle)
        arm[1][i] = middle - arm[0][i] if flat else m.contacts_share[c][1] * middle
    if m.contacts_kind[c] == RIM:
        _set_rim_arms(m, dim, c)
    elif m.contacts_kind[c] == SEGMENTS:
        _set_segment_arms(m, dim, c)
    elif m.contacts_kind[c] == FACE:
        _set_face_arms(m, dim, c)
    for side in range(2):
        if m.contacts_body[c][side] >= 0:
            _set_rotation(m, dim, m.contacts_body[c][side], h, m.touch_turn[side])
    if m.contacts_surface[c] >= 0 or m.contacts_driven[c] >= 0:
        _set_surface_velocity(m, dim, c)
    for t in range(dim - 1):
        slip = 0.0
        for i in range(dim):
            slip += tangent[t][i] * (m.touch_last[0][i] - m.touch_first[0][i])
            if m.contacts_kind[c] == FACE:
                for k in range(1, 3):
                    slip += m.touch_part[c][k] * tangent[t][i] * (m.touch_last[k][i] - m.touch_first[k][i])
        for side in range(2):
            if m.contacts_body[c][side] >= 0:
                for i in range(m.trial_torque.shape[1]):
                    slip -= moment(dim, arm[side], tangent[t], i) * m.touch_turn[side][i]
        m.touch_slip[c][t] = slip - h * m.touch_carried[c][t]


def _set_surface_velocity(m: Memory, dim: int, c: int) -> None:
    """Compute the mean velocity of the moving surface of contact c along the tangents."""
    speed = m.contacts_speed[c]
    if m.contacts_timed[c] >= 0:
        speed = 0.5 * (factor_at(m, SURFACES, m.contacts_timed[c], 0) + factor_at(m, SURFACES, m.contacts_timed[c], 1))
    if m.contacts_driven[c] >= 0:
        speed += m.trial_given[m.contacts_driven[c]]
    for t in range(dim - 1):
        along = 0.0
        for i in range(dim):
            along += m.touch_tangent[c][t][i] * 0.5 * (m.touch_first[2][i] + m.touch_last[2][i])
        m.touch_way[c][t] = along
        m.touch_carried[c][t] = speed * along


def _set_rim_arms(m: Memory, dim: int, c: int) -> None:
    """Compute the arms of the contact of a disc's rim with a plane, from the means of both ends of the step.

    The lowest point of the rim is at −r (n − q e)/s − r_c n from the centre, with normal n, axis e, q = n·e, s = √(1
    − q²), and the radii r of the rim and r_c of its rounding.
    """
    v0 = m.touch_first
    v1 = m.touch_last
    q0 = dot(dim, v0[1], v0[2])
    q1 = dot(dim, v1[1], v1[2])
    q = 0.5 * (q0 + q1)
    s = 0.5 * (sine_of_tilt(q0) + sine_of_tilt(q1))
    for i in range(dim):
        w = 0.5 * (v0[1][i] + v1[1][i])
        u = 0.5 * (v0[2][i] + v1[2][i])
        m.touch_arm[c][0][i] = m.contacts_share[c][0] * (w - q * u) / s + m.contacts_share[c][1] * w
        m.touch_arm[c][1][i] = 0.5 * (v0[0][i] + v1[0][i]) - m.touch_arm[c][0][i]


def _set_segment_arms(m: Memory, dim: int, c: int) -> None:
    """Compute the arms of the contact of two segments.

    The point of contact is at s W − r₁ n from the base point of the first segment, which has the radius r₁. W is the
    vector along this segment and s the coordinate of the closest point on it, both means over the step; n is the
    normal.
    """
    along = 0.5 * (m.touch_near[0][FIRST] + m.touch_near[1][FIRST])
    for i in range(dim):
        offset = along * 0.5 * (m.touch_first[1][i] + m.touch_last[1][i])
        m.touch_arm[c][0][i] = m.contacts_share[c][0] * m.touch_mean[c][0][i] - offset
        m.touch_arm[c][1][i] = 0.5 * (m.touch_first[0][i] + m.touch_last[0][i]) - m.touch_arm[c][0][i]


def _set_face_arms(m: Memory, dim: int, c: int) -> None:
    """Compute the arms of the contact of a ball with a face.

    The ball takes the whole moment of friction, while the corners of the face share its force.
    """
    for i in range(dim):
        arm = 0.0
        for k in range(3):
            arm += m.touch_part[c][k] * 0.5 * (m.touch_first[k][i] + m.touch_last[k][i])
        m.touch_arm[c][0][i] = arm
        m.touch_arm[c][1][i] = 0.0


def _tangents(normal: Array, tangent: Array) -> None:
    """Write two vectors orthogonal to the normal and to each other, and as long as the normal, into ``tangent``."""
    least = 0
    size = larger(sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]), TINY)
    for i in range(1, 3):
        least = i if fabs(normal[i]) < fabs(normal[least]) - CLEARLY * size else least
    j = (least + 1) % 3
    k = (least + 2) % 3
    x = -normal[k] / size
    y = normal[j] / size
    length = size / larger(sqrt(x * x + y * y), TINY)
    tangent[0][least] = 0.0
    tangent[0][j] = length * x
    tangent[0][k] = length * y
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        tangent[1][i] = (normal[j] * tangent[0][k] - normal[k] * tangent[0][j]) / size


def _set_rotation(m: Memory, dim: int, b: int, h: float, out: Array) -> None:
    """Write the rotation vector h R₀ω̄ of body b over a step, in world axes, into ``out``."""
    if dim == 2:
        out[0] = h * m.x_w[b][0]
    else:
        for i in range(3):
            out[i] = h * (m.at_R[b][i][0] * m.x_w[b][0] + m.at_R[b][i][1] * m.x_w[b][1] + m.at_R[b][i][2] * m.x_w[b][2])


def moment(dim: int, arm: Array, force: Array, i: int) -> float:
    """Component i of the cross product arm × force; in the plane there is one component."""
    if dim == 2:
        return arm[0] * force[1] - arm[1] * force[0]
    j = (i + 1) % 3
    k = (i + 2) % 3
    return arm[j] * force[k] - arm[k] * force[j]


def friction_coefficient(m: Memory, c: int) -> float:
    """Coefficient of friction of contact c; the mean over a step if it changes with time."""
    k = m.contacts_rubbing[c]
    if k < 0:
        return m.contacts_friction[c]
    return 0.5 * m.contacts_friction[c] * (factor_at(m, FRICTIONS, k, 0) + factor_at(m, FRICTIONS, k, 1))


def set_friction(m: Memory, dim: int, c: int, h: float) -> None:
    """Compute the friction of contact c along its tangents, and its derivatives with respect to slip and normal force.

    If the contact has an anchor, compute the anchor at the end of the step, too.
    """
    if m.contacts_anchor[c] >= 0:
        _set_anchored_friction(m, dim, c)
        return
    square = (h * m.contacts_slipping[c]) ** 2
    for t in range(dim - 1):
        square += m.touch_slip[c][t] ** 2
    size = sqrt(square)
    for t in range(dim - 1):
        m.touch_by_normal[c][t] = -friction_coefficient(m, c) * m.touch_slip[c][t] / size
        m.touch_friction[c][t] = m.touch_force[c] * m.touch_by_normal[c][t]
        for u in range(dim - 1):
            across = (1.0 if t == u else 0.0) - m.touch_slip[c][t] * m.touch_slip[c][u] / (size * size)
            m.touch_by_slip[c][t][u] = friction_coefficient(m, c) * m.touch_force[c] / size * across


def _set_anchored_friction(m: Memory, dim: int, c: int) -> None:
    """Compute the friction of a contact that sticks by an anchor, and the anchor at the end of the step.

    Compute also the derivatives of the friction with respect to slip and normal force.
    """
    slips = cython.declare(cython.bint)
    k = m.contacts_holding[c]
    bound = friction_coefficient(m, c) * m.touch_force[c]
    held = m.touch_held
    _turn_anchor(m, dim, c)
    square = 0.0
    for t in range(dim - 1):
        m.touch_trial[t] = held[t] + 0.5 * k * m.touch_slip[c][t]
        square += m.touch_trial[t] ** 2
    size = sqrt(square)
    slips = size > bound
    square = 0.0
    for t in range(dim - 1):
        along = m.touch_trial[t] / size if slips else 0.0
        force = bound * along if slips else m.touch_trial[t]
        m.touch_friction[c][t] = -force
        m.touch_by_normal[c][t] = -friction_coefficient(m, c) * along
        for u in range(dim - 1):
            turning = (1.0 if t == u else 0.0) - (along * m.touch_trial[u] / size if slips else 0.0)
            m.touch_by_slip[c][t][u] = 0.5 * k * turning * (bound / size if slips else 1.0)
        held[t] = 2.0 * force - held[t] if slips else held[t] + k * m.touch_slip[c][t]
        square += held[t] ** 2
    length = sqrt(square)
    share = bound / length if slips and length > bound else 1.0
    if m.touch_after[c] >= 0.0:
        share = 0.0
    for i in range(dim):
        total = 0.0
        for t in range(dim - 1):
            total += share * held[t] * m.touch_tangent[c][t][i] / _length(dim, m.touch_tangent[c][t])
        m.end_spring[m.contacts_anchor[c] + i] = total


def _length(dim: int, a: Array) -> float:
    return larger(sqrt(dot(dim, a, a)), TINY)


def _turn_anchor(m: Memory, dim: int, c: int) -> None:
    """Rotate the anchor force at the start of the step into the plane of the contact's tangents; its size stays."""
    first = m.contacts_anchor[c]
    size = 0.0
    length = 0.0
    held = m.touch_held
    for i in range(dim):
        size += m.at_spring[first + i] ** 2
    for t in range(dim - 1):
        total = 0.0
        for i in range(dim):
            total += m.touch_tangent[c][t][i] * m.at_spring[first + i]
        held[t] = total / _length(dim, m.touch_tangent[c][t])
        length += held[t] ** 2
    size = sqrt(size)
    length = sqrt(length)
    if length > 0.0:
        for t in range(dim - 1):
            held[t] *= size / length
    else:
        held[0] = size
