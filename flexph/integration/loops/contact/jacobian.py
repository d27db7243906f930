"""Terms of compliant contacts in the Jacobian of a step, one contact after the other.

A gap is a function of vectors k, with the discrete gradient f̄_k and the end gradient f_k with respect to each. B_k
and W_k are the discrete gradient and the end derivative of vector k with respect to the unknowns x. The
discrete gradient of the gap is n = Σ B_k f̄_k, its end derivative e = Σ W_k f_k, and its force F adds

    −h ∂(F n)/∂x = −h F' n eᵀ − h F Σ B_k (∂f̄_k/∂x)ᵀ

to the Jacobian. For distances ∂f̄ = (W − f̄ eᵀ)/(d₀ + d₁): the term with eᵀ reduces the slope F', the term B_V W_Vᵀ is
the change of the direction of the force.
"""

from __future__ import annotations

import cython

from ....kernels.contacts.gap_arrays import ANGLE as _ANGLE
from ....kernels.contacts.gap_arrays import AXIAL as _AXIAL
from ....kernels.contacts.gap_arrays import FACE as _FACE
from ....kernels.contacts.gap_arrays import OFFSET as _OFFSET
from ....kernels.contacts.gap_arrays import RIM as _RIM
from ....kernels.contacts.gap_arrays import SEGMENTS as _SEGMENTS
from ....kernels.contacts.gap_arrays import SHAPE as _SHAPE
from ....kernels.contacts.gaps import TINY as _TINY
from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ....kernels.surfaces.segments import BASE, SLOPE, SQUARE
    from ....numerics.loops.views import fill, larger, part
    from ..memory.memory import Memory
    from ..terms.border import add
    from ..terms.nodes import differentiate_node
    from .forces import is_active
    from .gaps import axial_weights, differentiate_gap, distance_along, dot, place_vectors, rim_weights
    from .rubbing import moment

ANGLE = cython.declare(cython.Py_ssize_t, _ANGLE)
AXIAL = cython.declare(cython.Py_ssize_t, _AXIAL)
FACE = cython.declare(cython.Py_ssize_t, _FACE)
OFFSET = cython.declare(cython.Py_ssize_t, _OFFSET)
RIM = cython.declare(cython.Py_ssize_t, _RIM)
SEGMENTS = cython.declare(cython.Py_ssize_t, _SEGMENTS)
SHAPE = cython.declare(cython.Py_ssize_t, _SHAPE)
TINY = cython.declare(cython.double, _TINY)


def add_contacts(m: Memory, dim: int, contact: int, h: float) -> None:
    """Add the derivatives of the forces of compliant contacts to the border of the Jacobian.

    In a pile, where ``contact`` is above 1, the derivatives that couple two bodies are stored in blocks of pairs
    instead.
    """
    for c in range(m.contacts_kind.size):
        if is_active(m, c) and not m.contacts_rigid[c]:
            if contact > 1:
                fill(part(m.touch_apart, 2 * c, 2 * c + 2), 0.0)
            if m.contacts_kind[c] == FACE and m.touch_partner[c] >= 0:
                _store_rate(m, dim, m.touch_partner[c], h)
            differentiate_contact(m, dim, c, h)
            slope = m.touch_slope[c] - _add_turning(m, dim, contact, c, h)
            if m.contacts_friction[c] > 0.0:
                _add_friction(m, dim, contact, c, h)
            _add_outer(m, contact, c, -h * slope, m.touch_normal, m.touch_rate)
            if m.contacts_kind[c] == FACE and m.touch_partner[c] >= 0:
                _add_partner(m, dim, contact, c, h)


def _store_rate(m: Memory, dim: int, c: int, h: float) -> None:
    """Store the gradient of the gap of contact c with respect to its unknowns, at the end of the step.

    The columns of these unknowns are stored with it.
    """
    differentiate_contact(m, dim, c, h)
    count = m.touch_begin[5]
    m.touch_begin[6] = count
    for i in range(count):
        m.touch_partner_column[i] = m.touch_column[i]
        m.touch_partner_rate[i] = m.touch_rate[i]


def _add_partner(m: Memory, dim: int, contact: int, c: int, h: float) -> None:
    """Add the derivative of the force at face c with respect to the gap of its partner.

    The partner is the other face of the skin that shares the force of the ball with face c.
    """
    change = m.touch_along[0]
    for i in range(m.touch_begin[5]):
        change[i] = m.touch_normal[i]
        if m.contacts_friction[c] > 0.0:
            for t in range(dim - 1):
                change[i] += m.touch_by_normal[c][t] * m.touch_slide[t][i]
    for i in range(m.touch_begin[5]):
        value = -h * m.touch_partner_slope[c] * change[i]
        if value != 0.0 and m.touch_column[i] >= 0:
            for j in range(m.touch_begin[6]):
                if m.touch_partner_rate[j] != 0.0 and m.touch_partner_column[j] >= 0:
                    column = m.touch_partner_column[j]
                    _add_coupling(m, contact, c, m.touch_column[i], column, value * m.touch_partner_rate[j])


def _add_coupling(m: Memory, contact: int, c: int, i: int, j: int, value: float) -> None:
    """Add ``value`` to the border of the Jacobian, in row and column of the unknowns i and j of contact c.

    In a pile it is added to the block that couples the two bodies of the contact, if i and j belong to different
    ones.
    """
    is_first = cython.declare(cython.bint)
    if contact < 2:
        add(m, i, j, value)
    else:
        if i < 0 or j < 0:
            return
        width = m.border_size[1] + 1
        one = m.contacts_node[c][0]
        other = m.contacts_node[c][1]
        first = m.nodes_body[one] * width if one >= 0 else -width
        second = m.nodes_body[other] * width if other >= 0 else -width
        is_first = first <= i < first + width
        if is_first == (first <= j < first + width):
            add(m, i, j, value)
        elif is_first:
            m.touch_apart[2 * c][i - first][j - second] += value
        else:
            m.touch_apart[2 * c + 1][i - second][j - first] += value


def _first_row(m: Memory) -> int:
    """First row of the matrices B and W that belongs to the vectors of a contact; rows of joints precede it."""
    return m.border_vector_col.size


def differentiate_contact(m: Memory, dim: int, c: int, h: float) -> None:
    """Compute the vectors V, W, U of contact c, and the derivatives of vectors and gap with respect to the unknowns.

    For the vectors these are rows of the matrices B (discrete gradient over the step) and W (derivative at its end),
    for the gap the gradients n (discrete) and e (at the end).
    """
    d = dim
    place_vectors(m, dim, c, m.at_r, m.at_arm, m.touch_first)
    place_vectors(m, dim, c, m.end_r, m.end_arm, m.touch_last)
    first = _first_row(m)
    entry = 0
    for k in range(m.touch_first.shape[0]):
        m.touch_begin[k] = entry
        for side in range(2):
            n = m.contacts_node[c][2 * k + side]
            if n >= 0:
                differentiate_node(m, dim, h, n, 1.0 if side == 0 else -1.0, first + entry)
                entry = _columns(m, d, n, entry)
        for i in range(m.touch_begin[k], entry):
            m.touch_normal[i] = dot(dim, m.system_B[first + i], m.touch_mean[c][k])
            m.touch_rate[i] = dot(dim, m.system_W[first + i], m.touch_end[c][k])
    m.touch_begin[5] = entry
    m.touch_begin[4] = m.touch_begin[5]


def _columns(m: Memory, d: int, n: int, entry: int) -> int:
    """List the numbers of the unknowns on which node n depends, from entry ``entry`` on; return the next entry."""
    b = m.nodes_body[n]
    for i in range(d):
        m.touch_column[entry + i] = m.border_v[b][i]
    entry += d
    for i in range(m.border_w.shape[1]):
        m.touch_column[entry + i] = m.border_w[b][i]
    entry += m.border_w.shape[1]
    for i in range(d):
        m.touch_column[entry + i] = m.border_c[b][i]
    entry += d
    for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
        m.touch_column[entry] = m.border_m[m.nodes_col[e]]
        entry += 1
    for e in range(m.nodes_others_ptr[n], m.nodes_others_ptr[n + 1]):
        for i in range(d):
            m.touch_column[entry + i] = m.border_v[m.nodes_others[e]][i]
        entry += d
    return entry


def _add_outer(m: Memory, contact: int, c: int, gain: float, left: Array, right: Array) -> None:
    """Add the matrix gain·left·rightᵀ over the unknowns of contact c to the Jacobian."""
    count = m.touch_begin[5]
    for i in range(count):
        value = gain * left[i]
        if value != 0.0 and m.touch_column[i] >= 0:
            for j in range(count):
                if right[j] != 0.0 and m.touch_column[j] >= 0:
                    _add_coupling(m, contact, c, m.touch_column[i], m.touch_column[j], value * right[j])


def _add_block(m: Memory, dim: int, contact: int, c: int, gain: float, pair: tuple[int, int]) -> None:
    """Add the matrix gain·B_v W_wᵀ to the Jacobian, for the vectors numbered v and w among V, W, U of contact c."""
    v, w = pair
    first = _first_row(m)
    for i in range(m.touch_begin[v], m.touch_begin[v + 1]):
        if m.touch_column[i] >= 0:
            for j in range(m.touch_begin[w], m.touch_begin[w + 1]):
                if m.touch_column[j] >= 0:
                    value = gain * dot(dim, m.system_B[first + i], m.system_W[first + j])
                    if value != 0.0:
                        _add_coupling(m, contact, c, m.touch_column[i], m.touch_column[j], value)


def _add_turning(m: Memory, dim: int, contact: int, c: int, h: float) -> float:
    """Add the derivative of the force of contact c, as the direction of the force changes, to the Jacobian.

    Returns by how much this reduces the slope F' of the force.
    """
    kind = m.contacts_kind[c]
    force = m.contacts_sign[c] * m.touch_force[c]
    if kind == OFFSET:
        _add_block(m, dim, contact, c, -0.5 * h * force, (0, 1))
        _add_block(m, dim, contact, c, -0.5 * h * force, (1, 0))
    if kind == RIM:
        _add_rim_direction(m, dim, contact, c, h * force)
    if kind == SHAPE:
        _add_surface_direction(m, dim, contact, c, h)
    if kind in (SEGMENTS, FACE):
        _add_segment_direction(m, dim, contact, c, h * m.touch_force[c])
    if kind in (OFFSET, ANGLE, RIM, SHAPE, SEGMENTS, FACE):
        return 0.0
    p0 = 0.0
    p1 = 0.0
    if kind == AXIAL:
        p0 = dot(dim, m.touch_first[0], m.touch_first[1]) / dot(dim, m.touch_first[1], m.touch_first[1])
        p1 = dot(dim, m.touch_last[0], m.touch_last[1]) / dot(dim, m.touch_last[1], m.touch_last[1])
    gain = force / (distance_along(dim, m.touch_first, p0) + distance_along(dim, m.touch_last, p1))
    _add_block(m, dim, contact, c, -h * gain, (0, 0))
    if kind == AXIAL:
        across, along = axial_weights(dim, m.touch_first, m.touch_last)
        _add_block(m, dim, contact, c, h * gain * across, (0, 1))
        _add_block(m, dim, contact, c, h * gain * across, (1, 0))
        _add_block(m, dim, contact, c, -h * gain * along, (1, 1))
        _differentiate_weights(m, dim)
        _add_outer(m, contact, c, 2.0 * h * gain, m.touch_along[0], m.touch_along[1])
        _add_outer(m, contact, c, -2.0 * h * gain, m.touch_along[2], m.touch_along[3])
    return gain


def _add_surface_direction(m: Memory, dim: int, contact: int, c: int, h: float) -> None:
    """Add to the Jacobian the derivative of the force between a ball and a surface due to the change of its direction.

    The direction changes with the coordinates V·Wᵢ of the ball, where V leads from the surface to the ball and Wᵢ are
    the axes of the surface; ``touch.bent`` has the derivatives of the discrete gradient n of the distance with respect
    to these coordinates.
    """
    first = _first_row(m)
    v0 = m.touch_first
    v1 = m.touch_last
    force = m.touch_force[c]
    differentiate_gap(m, dim, c)
    for k in range(dim):
        _add_block(m, dim, contact, c, -0.5 * h * force * m.touch_bent[0][k], (0, 1 + k))
        _add_block(m, dim, contact, c, -0.5 * h * force * m.touch_bent[0][k], (1 + k, 0))
        for i in range(m.touch_begin[4]):
            acting = 0.0
            moved = 0.0
            for j in range(dim):
                if i < m.touch_begin[1]:
                    acting += 0.5 * m.system_B[first + i][j] * (v0[1 + k][j] + v1[1 + k][j])
                    for l in range(dim):
                        moved += m.touch_bent[1 + k][l] * m.system_W[first + i][j] * v1[1 + l][j]
                else:
                    vector = 0
                    while vector < dim - 1 and i >= m.touch_begin[2 + vector]:
                        vector += 1
                    moved += m.touch_bent[1 + k][vector] * m.system_W[first + i][j] * v1[0][j]
                    if vector == k:
                        acting += 0.5 * m.system_B[first + i][j] * (v0[0][j] + v1[0][j])
            m.touch_along[0][i] = acting
            m.touch_along[1][i] = moved
        _add_outer(m, contact, c, -h * force, m.touch_along[0], m.touch_along[1])


def _add_segment_direction(m: Memory, dim: int, contact: int, c: int, push: float) -> None:
    """Add the derivative of the direction of the force on two segments, or at a face, to the Jacobian.

    ``push`` is the force times h. The discrete gradient n of d² with respect to the products of V′ = V ± s₀ W − t₀ U, W
    and U has the derivatives ``touch.bent``; s₀ and t₀ are the coordinates of the base points. The discrete gradient of
    the distance d is n/(d₀ + d₁).
    """
    count = cython.declare(cython.Py_ssize_t, 6 if m.contacts_kind[c] == FACE else 4)
    first = _first_row(m)
    v0 = m.touch_first
    v1 = m.touch_last
    differentiate_gap(m, dim, c)
    for j in range(dim):  # V′ in place of D, which they do not have
        v0[3][j] = 0.0
        v1[3][j] = 0.0
        for vector in range(3):
            v0[3][j] += _part_of_base(m, c, vector) * v0[vector][j]
            v1[3][j] += _part_of_base(m, c, vector) * v1[vector][j]
    d1 = sqrt(larger(m.touch_near[1][SQUARE], TINY))
    total = sqrt(larger(m.touch_near[0][SQUARE], TINY)) + d1
    n = m.touch_bent[0]
    gain = push / total
    for k in range(3):
        for l in range(3):
            turned = 0.0
            for p in range(count):
                one = _first_of(p)
                other = _second_of(p, count)
                turned += 0.5 * n[p] * _part_of(m, c, k, one) * _part_of(m, c, l, other)
                turned += 0.5 * n[p] * _part_of(m, c, k, other) * _part_of(m, c, l, one)
            _add_block(m, dim, contact, c, -gain * turned, (k, l))
    for k in range(count):
        one = _first_of(k)
        other = _second_of(k, count)
        for i in range(m.touch_begin[4]):
            vector = 0 if i < m.touch_begin[1] else 1 if i < m.touch_begin[2] else 2
            acting = 0.0
            moved = 0.0
            for j in range(dim):
                B = 0.5 * m.system_B[first + i][j]
                acting += B * _part_of(m, c, vector, one) * (v0[other][j] + v1[other][j])
                acting += B * _part_of(m, c, vector, other) * (v0[one][j] + v1[one][j])
            for l in range(count):
                slope = m.touch_bent[1 + k][l] - 0.5 * n[k] * m.touch_near[1][SLOPE + l] / (total * d1)
                left = _first_of(l)
                right = _second_of(l, count)
                for j in range(dim):
                    W = slope * m.system_W[first + i][j]
                    moved += W * _part_of(m, c, vector, left) * v1[right][j]
                    moved += W * _part_of(m, c, vector, right) * v1[left][j]
            m.touch_along[0][i] = acting
            m.touch_along[1][i] = moved
        _add_outer(m, contact, c, -gain, m.touch_along[0], m.touch_along[1])


def _first_of(k: int) -> int:
    """Number of the first vector in product k of segments or of a face: 3 for V′, 1 for W, 2 for U."""
    if k < 3:
        return 3
    return 1 if k < 5 else 2


def _second_of(k: int, count: int) -> int:
    """Number of the second vector in product k: 3 for V′, 1 for W, 2 for U.

    ``count`` is the number of products: 4 for segments, more for a face.
    """
    if k == 0:
        return 3
    if k < 3:
        return k
    return 1 if k == 3 and count > 4 else 2


def _part_of_base(m: Memory, c: int, vector: int) -> float:
    """Coefficient of V, W or U (``vector`` 0 to 2) in the vector V′ = V ± s₀ W − t₀ U between base points.

    The sign is − for a face.
    """
    if vector == 0:
        return 1.0
    if vector == 1 and m.contacts_kind[c] != FACE:
        return m.touch_near[1][BASE]
    return -m.touch_near[1][BASE + vector - 1]


def _part_of(m: Memory, c: int, vector: int, other: int) -> float:
    """Coefficient of the vector V, W or U in the vector ``other``: 1 for W, 2 for U, 3 for V′."""
    if other == 3:
        return _part_of_base(m, c, vector)
    return 1.0 if vector == other else 0.0


def _add_rim_direction(m: Memory, dim: int, contact: int, c: int, push: float) -> None:
    """Add the derivative of the force on the rim of a disc, as the direction of the force changes, to the Jacobian.

    ``push`` is the force times h.
    """
    first = _first_row(m)
    v0 = m.touch_first
    v1 = m.touch_last
    k, _, bent = rim_weights(dim, v0, v1)
    r = m.contacts_share[c][0]
    _add_block(m, dim, contact, c, -0.5 * push, (0, 1))
    _add_block(m, dim, contact, c, -0.5 * push, (1, 0))
    _add_block(m, dim, contact, c, -0.5 * push * r * k, (1, 2))
    _add_block(m, dim, contact, c, -0.5 * push * r * k, (2, 1))
    for i in range(m.touch_begin[5]):
        vector = 2 if i >= m.touch_begin[2] else 1
        acting = 0.0
        moved = 0.0
        if i >= m.touch_begin[1]:
            for j in range(dim):
                acting += 0.5 * m.system_B[first + i][j] * (v0[3 - vector][j] + v1[3 - vector][j])
                moved += m.system_W[first + i][j] * v1[3 - vector][j]
        m.touch_along[0][i] = acting
        m.touch_along[1][i] = moved
    _add_outer(m, contact, c, -push * r * bent, m.touch_along[0], m.touch_along[1])


def _differentiate_weights(m: Memory, dim: int) -> None:
    """Compute the derivatives of the weights A and C of gaps.axial_weights with respect to the unknowns.

    The rows of ``touch.along`` are the discrete gradient of Π = V·W, the derivative of A, the discrete gradient of
    ½W·W, and the derivative of C.
    """
    is_first = cython.declare(cython.bint)
    first = _first_row(m)
    v0 = m.touch_first
    v1 = m.touch_last
    p0 = dot(dim, v0[0], v0[1])
    p1 = dot(dim, v1[0], v1[1])
    s0 = sqrt(dot(dim, v0[1], v0[1]))
    s1 = sqrt(dot(dim, v1[1], v1[1]))
    q = 0.5 * (p0 / s0 + p1 / s1)
    inverse = 0.5 * (1.0 / s0 + 1.0 / s1)
    slope = 2.0 / (s0 * s1 * (s0 + s1))  # −Δm/Δ½n
    bent = -slope * (s0 + 2.0 * s1) / (s1 * s1 * (s0 + s1))  # its derivative by s₁, over s₁
    for i in range(m.touch_begin[5]):
        is_first = i < m.touch_begin[1]
        of_product = 0.0
        of_square = 0.0
        by_product = 0.0
        by_square = 0.0
        for k in range(dim):
            B = m.system_B[first + i][k]
            W = m.system_W[first + i][k]
            if is_first:
                of_product += 0.5 * B * (v0[1][k] + v1[1][k])
                by_product += W * v1[1][k]
            else:
                of_product += 0.5 * B * (v0[0][k] + v1[0][k])
                by_product += W * v1[0][k]
                of_square += 0.5 * B * (v0[1][k] + v1[1][k])
                by_square += W * v1[1][k]
        of_q = by_product / s1 - p1 * by_square / s1**3
        m.touch_along[0][i] = of_product
        m.touch_along[1][i] = 0.5 * (of_q * inverse - q * by_square / s1**3)
        m.touch_along[2][i] = of_square
        m.touch_along[3][i] = (
            0.5 * slope * (0.5 * of_q * (p0 + p1) + q * by_product) + 0.5 * q * (p0 + p1) * bent * by_square
        )


def _add_friction(m: Memory, dim: int, contact: int, c: int, h: float) -> None:
    """Add the derivatives of the friction of contact c to the Jacobian, with respect to slip and normal force.

    The normal force changes with the gap.
    """
    _differentiate_slips(m, dim, c)
    change = m.touch_along[0]
    for t in range(dim - 1):
        pressing = m.touch_slope[c] * m.touch_by_normal[c][t]
        for i in range(m.touch_begin[5]):
            change[i] = -pressing * m.touch_rate[i]
            for u in range(dim - 1):
                change[i] += h * m.touch_by_slip[c][t][u] * m.touch_slide[u][i]
        _add_outer(m, contact, c, h, m.touch_slide[t], change)


def _differentiate_slips(m: Memory, dim: int, c: int) -> None:
    """Compute the gradients of the slips of contact c with respect to its vectors and the spins of the bodies.

    The spins are appended to the list of unknowns.
    """
    entry = cython.declare(cython.Py_ssize_t)
    first = _first_row(m)
    entry = m.touch_begin[4]
    for side in range(2):
        b = m.contacts_body[c][side]
        if b >= 0 and m.inertia_turns[b]:
            for a in range(m.border_w.shape[1]):
                m.touch_column[entry] = m.border_w[b][a]
                m.touch_rate[entry] = 0.0
                m.touch_normal[entry] = 0.0
                for t in range(dim - 1):
                    m.touch_slide[t][entry] = -_turned_arm(m, dim, b, a, m.touch_arm[c][side], m.touch_tangent[c][t])
                entry += 1
    m.touch_begin[5] = entry
    for i in range(m.touch_begin[4]):
        for t in range(dim - 1):
            moved = dot(dim, m.system_B[first + i], m.touch_tangent[c][t]) if i < m.touch_begin[1] else 0.0
            if m.contacts_kind[c] == FACE:
                vector = 0 if i < m.touch_begin[1] else 1 if i < m.touch_begin[2] else 2
                moved = m.touch_part[c][vector] * dot(dim, m.system_B[first + i], m.touch_tangent[c][t])
            m.touch_slide[t][i] = moved


def _turned_arm(m: Memory, dim: int, b: int, a: int, arm: Array, force: Array) -> float:
    """Component a of R̄⁻¹(arm × force), with the mean rotation R̄ of body b."""
    if dim == 2:
        return moment(dim, arm, force, 0)
    total = 0.0
    for i in range(3):
        total += m.trial_inverse[b][a][i] * moment(dim, arm, force, i)
    return total
