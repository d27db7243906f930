"""Gaps of contacts and their gradients in loops (formulas of kernels.contacts.gaps).

A gap is a function of up to four vectors: V leads from the second side of the contact to the first; W, U and D are
normals, axes, segments or edges of the sides, by the kind of the gap.
"""

from __future__ import annotations

import cython

from ....kernels.contacts.gap_arrays import AXIAL as _AXIAL
from ....kernels.contacts.gap_arrays import DISTANCE as _DISTANCE
from ....kernels.contacts.gap_arrays import FACE as _FACE
from ....kernels.contacts.gap_arrays import OFFSET as _OFFSET
from ....kernels.contacts.gap_arrays import RIM as _RIM
from ....kernels.contacts.gap_arrays import SEGMENTS as _SEGMENTS
from ....kernels.contacts.gap_arrays import SHAPE as _SHAPE
from ....kernels.contacts.gaps import FLAT as _FLAT
from ....kernels.contacts.gaps import TINY as _TINY
from ....numerics.arrays import Array

if not cython.compiled:
    from math import atan2, sqrt

    from ....kernels.surfaces.closest import GRADIENT, VALUE, mean_gradient, nearest
    from ....kernels.surfaces.faces import PRODUCTS, closest_on_face
    from ....kernels.surfaces.segments import BASE, FIRST, SECOND, SLOPE, SQUARE, closest_points, mean_slopes
    from ....kernels.surfaces.surfaces import Surfaces
    from ....numerics.loops.views import fill, larger
    from ..memory.memory import Memory
    from ..terms.angles import kappa

AXIAL = cython.declare(cython.Py_ssize_t, _AXIAL)
DISTANCE = cython.declare(cython.Py_ssize_t, _DISTANCE)
FACE = cython.declare(cython.Py_ssize_t, _FACE)
FLAT = cython.declare(cython.double, _FLAT)
OFFSET = cython.declare(cython.Py_ssize_t, _OFFSET)
RIM = cython.declare(cython.Py_ssize_t, _RIM)
SEGMENTS = cython.declare(cython.Py_ssize_t, _SEGMENTS)
SHAPE = cython.declare(cython.Py_ssize_t, _SHAPE)
TINY = cython.declare(cython.double, _TINY)


def dot(dim: int, a: Array, b: Array) -> float:
    """Scalar product of two vectors."""
    total = 0.0
    for i in range(dim):
        total += a[i] * b[i]
    return total


def place_vectors(m: Memory, dim: int, c: int, r: Array, arm: Array, out: Array) -> None:
    """Write the vectors V, W, U, D of the gap of contact c into ``out``; only V if the gap is a distance of points.

    ``r`` are the centres of the bodies, ``arm`` the vectors from there to the nodes.
    """
    for k in range(1 if m.contacts_kind[c] == DISTANCE else out.shape[0]):
        for i in range(dim):
            out[k][i] = m.contacts_fixed[c][k][i]
        for side in range(2):
            n = m.contacts_node[c][2 * k + side]
            if n >= 0:
                for i in range(dim):
                    place = m.nodes_moves[n] * r[m.nodes_body[n]][i] + arm[n][i]
                    out[k][i] += place if side == 0 else -place


def gap_of(m: Memory, dim: int, c: int, vector: Array) -> float:
    """Gap of contact c [m], of a stop [rad], at the rows V, W, U of ``vector``."""
    kind = m.contacts_kind[c]
    sign = m.contacts_sign[c]
    offset = m.contacts_offset[c]
    v = vector[0]
    if kind == DISTANCE:
        return sign * larger(sqrt(dot(dim, v, v)), TINY) - offset
    if kind == SHAPE:
        return find_surface(m, dim, c, vector, 1) - offset
    if kind == SEGMENTS:
        find_segments(m, dim, vector, 1, 0.0, 0.0)
        return find_segments(m, dim, vector, 1, m.touch_near[1][FIRST], m.touch_near[1][SECOND]) - offset
    if kind == FACE:
        find_face(m, dim, (c, 1), vector, 0.0, 0.0)
        return find_face(m, dim, (c, 1), vector, m.touch_near[1][FIRST], m.touch_near[1][SECOND]) - offset
    along = dot(dim, v, vector[1])
    if kind == OFFSET:
        return sign * along - offset
    if kind == AXIAL:
        return sign * distance_along(dim, vector, along / dot(dim, vector[1], vector[1])) - offset
    if kind == RIM:
        return along - m.contacts_share[c][0] * sine_of_tilt(dot(dim, vector[1], vector[2])) - offset
    return sign * atan2(along, dot(dim, v, vector[2])) - offset


def find_surface(m: Memory, dim: int, c: int, vector: Array, end: int) -> float:
    """Distance of a point to the surface of contact c, at the vectors V, W, U, D of its gap.

    ``end`` is 0 or 1 for the start or end of the step: the coordinates of the point in the axes of the surface are
    stored in ``touch.place``, the distance with its derivatives in ``touch.near``.
    """
    for i in range(dim):
        m.touch_place[end][i] = dot(dim, vector[0], vector[1 + i])
    surfaces = Surfaces(
        m.surfaces_half,
        m.surfaces_root,
        m.surfaces_signed,
        m.surfaces_low,
        m.surfaces_high,
        m.surfaces_skip,
        m.surfaces_cells,
        m.surfaces_corner,
        m.surfaces_feature,
        m.surfaces_outward,
    )
    nearest(surfaces, m.contacts_shape[c], dim, m.touch_place[end], m.contacts_blend[c], m.touch_near[end])
    return m.touch_near[end][VALUE]


def find_segments(m: Memory, dim: int, vector: Array, end: int, first: float, second: float) -> float:
    """Distance of two segments, at the vectors V, W, U of their gap.

    Base points are at the coordinates ``first`` and ``second`` along the segments. ``end`` is 0 or 1 for the start or
    end of the step: products of W, U and the vector between the base points are stored in ``touch.place``, the
    squared distance with its derivatives and the closest points in ``touch.near``.
    """
    place = m.touch_place[end]
    fill(place, 0.0)
    for i in range(dim):
        w = vector[1][i]
        u = vector[2][i]
        v = vector[0][i] + first * w - second * u
        place[0] += v * v
        place[1] += v * w
        place[2] += v * u
        place[3] += w * u
        place[4] += w * w
        place[5] += u * u
    m.touch_near[end][BASE] = first
    m.touch_near[end][BASE + 1] = second
    closest_points(place, m.touch_near[end])
    return sqrt(larger(m.touch_near[end][SQUARE], TINY))


def find_face(m: Memory, dim: int, at: tuple[int, int], vector: Array, first: float, second: float) -> float:
    """Distance of a point to a face whose corners move, at the vectors V, W, U of their gap.

    ``at`` is the number of the contact, and 0 or 1 for the start or end of the step. The base point has the coordinates
    ``first`` and ``second`` on the face. Products of W, U and the vector from the base point are stored in
    ``touch.place``, the squared distance with its derivatives and the closest point in ``touch.near``.
    """
    c, end = at
    c, end = at
    place = m.touch_place[end]
    fill(place, 0.0)
    for i in range(dim):
        w = vector[1][i]
        u = vector[2][i]
        v = vector[0][i] - first * w - second * u
        place[0] += v * v
        place[1] += v * w
        place[2] += v * u
        place[3] += w * w
        place[4] += w * u
        place[5] += u * u
    m.touch_near[end][BASE] = first
    m.touch_near[end][BASE + 1] = second
    closest_on_face(3 if m.contacts_node[c][4] >= 0 else 2, place, m.touch_near[end])
    return sqrt(larger(m.touch_near[end][SQUARE], TINY))


def _differentiate_face(m: Memory, dim: int, c: int) -> None:
    """Compute the gradients of the distance d to a face: the discrete gradient over the step, and that at its end.

    The discrete gradient is computed as that of d², divided by d₀ + d₁. The base point is the closest point at the
    start of the step. ``touch.part`` are the coefficients of V, W and U in the vector from it to the point, along which
    the slip is measured.
    """
    v0 = m.touch_first
    v1 = m.touch_last
    mean = m.touch_mean[c]
    end = m.touch_end[c]
    find_face(m, dim, (c, 0), v0, 0.0, 0.0)
    s = m.touch_near[0][FIRST]
    t = m.touch_near[0][SECOND]
    d0 = find_face(m, dim, (c, 0), v0, s, t)
    d1 = find_face(m, dim, (c, 1), v1, s, t)
    mean_slopes(PRODUCTS, m.touch_place[0], m.touch_place[1], m.touch_near[0], m.touch_near[1], m.touch_bent)
    m.touch_part[c][0] = 1.0
    m.touch_part[c][1] = -s
    m.touch_part[c][2] = -t
    n = m.touch_bent[0]
    e = m.touch_near[1]
    for i in range(dim):
        w = 0.5 * (v0[1][i] + v1[1][i])
        u = 0.5 * (v0[2][i] + v1[2][i])
        v = 0.5 * (v0[0][i] + v1[0][i]) - s * w - t * u
        mean[0][i] = (2.0 * n[0] * v + n[1] * w + n[2] * u) / (d0 + d1)
        mean[1][i] = (n[1] * v + 2.0 * n[3] * w + n[4] * u) / (d0 + d1) - s * mean[0][i]
        mean[2][i] = (n[2] * v + n[4] * w + 2.0 * n[5] * u) / (d0 + d1) - t * mean[0][i]
        w = v1[1][i]
        u = v1[2][i]
        v = v1[0][i] - s * w - t * u
        end[0][i] = (2.0 * e[SLOPE] * v + e[SLOPE + 1] * w + e[SLOPE + 2] * u) / (2.0 * d1)
        end[1][i] = (e[SLOPE + 1] * v + 2.0 * e[SLOPE + 3] * w + e[SLOPE + 4] * u) / (2.0 * d1) - s * end[0][i]
        end[2][i] = (e[SLOPE + 2] * v + e[SLOPE + 4] * w + 2.0 * e[SLOPE + 5] * u) / (2.0 * d1) - t * end[0][i]


def _differentiate_segments(m: Memory, dim: int, c: int) -> None:
    """Compute the gradients of the distance d of two segments: the discrete one over the step, and that at its end.

    The discrete gradient is computed as that of d², divided by d₀ + d₁. Base points are the closest points at the start
    of the step.
    """
    v0 = m.touch_first
    v1 = m.touch_last
    mean = m.touch_mean[c]
    end = m.touch_end[c]
    find_segments(m, dim, v0, 0, 0.0, 0.0)
    s = m.touch_near[0][FIRST]
    t = m.touch_near[0][SECOND]
    d0 = find_segments(m, dim, v0, 0, s, t)
    d1 = find_segments(m, dim, v1, 1, s, t)
    mean_slopes(4, m.touch_place[0], m.touch_place[1], m.touch_near[0], m.touch_near[1], m.touch_bent)
    n = m.touch_bent[0]
    e = m.touch_near[1]
    for i in range(dim):
        w = 0.5 * (v0[1][i] + v1[1][i])
        u = 0.5 * (v0[2][i] + v1[2][i])
        v = 0.5 * (v0[0][i] + v1[0][i]) + s * w - t * u
        mean[0][i] = (2.0 * n[0] * v + n[1] * w + n[2] * u) / (d0 + d1)
        mean[1][i] = (n[1] * v + n[3] * u) / (d0 + d1) + s * mean[0][i]
        mean[2][i] = (n[2] * v + n[3] * w) / (d0 + d1) - t * mean[0][i]
        w = v1[1][i]
        u = v1[2][i]
        v = v1[0][i] + s * w - t * u
        end[0][i] = (2.0 * e[SLOPE] * v + e[SLOPE + 1] * w + e[SLOPE + 2] * u) / (2.0 * d1)
        end[1][i] = (e[SLOPE + 1] * v + e[SLOPE + 3] * u) / (2.0 * d1) + s * end[0][i]
        end[2][i] = (e[SLOPE + 2] * v + e[SLOPE + 3] * w) / (2.0 * d1) - t * end[0][i]


def _differentiate_shape(m: Memory, dim: int, c: int) -> None:
    """Compute the gradients of the distance of a point to a surface, over a step and at its end.

    They are with respect to V, W, U and D; V·W, V·U and V·D are the coordinates of the point in the axes of the
    surface.
    """
    v0 = m.touch_first
    v1 = m.touch_last
    mean = m.touch_mean[c]
    end = m.touch_end[c]
    find_surface(m, dim, c, v0, 0)
    find_surface(m, dim, c, v1, 1)
    mean_gradient(dim, m.touch_place[0], m.touch_place[1], m.touch_near[0], m.touch_near[1], m.touch_bent)
    for i in range(dim):
        mean[0][i] = 0.0
        end[0][i] = 0.0
    for k in range(dim):
        n = m.touch_bent[0][k]
        e = m.touch_near[1][GRADIENT + k]
        for i in range(dim):
            mean[0][i] += 0.5 * n * (v0[1 + k][i] + v1[1 + k][i])
            end[0][i] += e * v1[1 + k][i]
            mean[1 + k][i] = 0.5 * n * (v0[0][i] + v1[0][i])
            end[1 + k][i] = e * v1[0][i]


def distance_along(dim: int, vector: Array, along: float) -> float:
    """Length of V − ``along``·W, for V and W the first rows of ``vector``."""
    square = 0.0
    for i in range(dim):
        square += (vector[0][i] - along * vector[1][i]) ** 2
    return larger(sqrt(square), TINY)


def sine_of_tilt(q: float) -> float:
    """Sine s = √(1 − q²) of the angle between the normal of a plane and the axis of a disc, at least ``FLAT``.

    q is its cosine.
    """
    return sqrt(larger(1.0 - q * q, FLAT * FLAT))


def turned_gap(m: Memory, dim: int, c: int, before: float) -> float:
    """Unwrapped gap of an angle at the end of a step, within half a turn of the gap ``before`` at the start."""
    s0 = dot(dim, m.touch_first[0], m.touch_first[1])
    c0 = dot(dim, m.touch_first[0], m.touch_first[2])
    s1 = dot(dim, m.touch_last[0], m.touch_last[1])
    c1 = dot(dim, m.touch_last[0], m.touch_last[2])
    return before + m.contacts_sign[c] * atan2(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)


def differentiate_gap(m: Memory, dim: int, c: int) -> None:
    """Compute the gradients of a gap with respect to its vectors: the discrete one over the step, and that at its end.

    The vectors are ``touch.first`` at the start and ``touch.last`` at the end.
    """
    kind = m.contacts_kind[c]
    sign = m.contacts_sign[c]
    v0 = m.touch_first
    v1 = m.touch_last
    mean = m.touch_mean[c]
    end = m.touch_end[c]
    if kind == DISTANCE:
        d0 = larger(sqrt(dot(dim, v0[0], v0[0])), TINY)
        d1 = larger(sqrt(dot(dim, v1[0], v1[0])), TINY)
        for i in range(dim):
            mean[0][i] = sign * (v0[0][i] + v1[0][i]) / (d0 + d1)
            end[0][i] = sign * v1[0][i] / d1
    elif kind == OFFSET:
        for i in range(dim):
            mean[0][i] = 0.5 * sign * (v0[1][i] + v1[1][i])
            mean[1][i] = 0.5 * sign * (v0[0][i] + v1[0][i])
            end[0][i] = sign * v1[1][i]
            end[1][i] = sign * v1[0][i]
    elif kind == AXIAL:
        _differentiate_axial(m, dim, c)
    elif kind == RIM:
        _differentiate_rim(m, dim, c)
    elif kind == SHAPE:
        _differentiate_shape(m, dim, c)
    elif kind == SEGMENTS:
        _differentiate_segments(m, dim, c)
    elif kind == FACE:
        _differentiate_face(m, dim, c)
    else:
        _differentiate_angle(m, dim, c)


def rim_weights(dim: int, first: Array, last: Array) -> tuple[float, float, float]:
    """Weights (q₀ + q₁)/(s₀ + s₁) and q₁/s₁ of a rim, and the derivative of the first with respect to q₁.

    q is the cosine of the angle between normal and axis, s its sine, at the start (0) and the end (1) of the step,
    where the vectors are ``first`` and ``last``.
    """
    q0 = dot(dim, first[1], first[2])
    q1 = dot(dim, last[1], last[2])
    s0 = sine_of_tilt(q0)
    s1 = sine_of_tilt(q1)
    k = (q0 + q1) / (s0 + s1)
    return k, q1 / s1, (1.0 + k * q1 / s1) / (s0 + s1)


def _differentiate_rim(m: Memory, dim: int, c: int) -> None:
    """Compute the gradients of the gap between a plane and the rim of a disc with respect to V, W and U.

    They are the discrete gradient over the step, and the gradient at its end.
    """
    v0 = m.touch_first
    v1 = m.touch_last
    mean = m.touch_mean[c]
    end = m.touch_end[c]
    k, k1, _ = rim_weights(dim, v0, v1)
    r = m.contacts_share[c][0]
    for i in range(dim):
        v = 0.5 * (v0[0][i] + v1[0][i])
        w = 0.5 * (v0[1][i] + v1[1][i])
        u = 0.5 * (v0[2][i] + v1[2][i])
        mean[0][i] = w
        mean[1][i] = v + r * k * u
        mean[2][i] = r * k * w
        end[0][i] = v1[1][i]
        end[1][i] = v1[0][i] + r * k1 * v1[2][i]
        end[2][i] = r * k1 * v1[1][i]


def _differentiate_axial(m: Memory, dim: int, c: int) -> None:
    """Compute the gradients of the distance from an axis with respect to V and W, over a step and at its end.

    The direction of the axis is no unit vector if its section bends.
    """
    sign = m.contacts_sign[c]
    v0 = m.touch_first
    v1 = m.touch_last
    mean = m.touch_mean[c]
    end = m.touch_end[c]
    across, along = axial_weights(dim, v0, v1)
    p0 = dot(dim, v0[0], v0[1]) / dot(dim, v0[1], v0[1])
    p1 = dot(dim, v1[0], v1[1]) / dot(dim, v1[1], v1[1])
    d0 = distance_along(dim, v0, p0)
    d1 = distance_along(dim, v1, p1)
    for i in range(dim):
        v = 0.5 * (v0[0][i] + v1[0][i])
        w = 0.5 * (v0[1][i] + v1[1][i])
        mean[0][i] = 2.0 * sign * (v - across * w) / (d0 + d1)
        mean[1][i] = -2.0 * sign * (across * v - along * w) / (d0 + d1)
        end[0][i] = sign * (v1[0][i] - p1 * v1[1][i]) / d1
        end[1][i] = -p1 * end[0][i]


def axial_weights(dim: int, first: Array, last: Array) -> tuple[float, float]:
    """Weights A = q̄ m̄ and C = 2 q̄ Π̄/(s₀s₁(s₀ + s₁)) in the gradient of the distance from an axis.

    Π = V·W, s = |W|, m = 1/s and q = mΠ are taken at the start (0) and end (1) of a step, with the vectors ``first``
    and ``last``; bars are means of both.
    """
    p0 = dot(dim, first[0], first[1])
    p1 = dot(dim, last[0], last[1])
    s0 = sqrt(dot(dim, first[1], first[1]))
    s1 = sqrt(dot(dim, last[1], last[1]))
    q = 0.5 * (p0 / s0 + p1 / s1)
    return 0.5 * q * (1.0 / s0 + 1.0 / s1), q * (p0 + p1) / (s0 * s1 * (s0 + s1))


def _differentiate_angle(m: Memory, dim: int, c: int) -> None:
    sign = m.contacts_sign[c]
    v0 = m.touch_first
    v1 = m.touch_last
    mean = m.touch_mean[c]
    end = m.touch_end[c]
    s0 = dot(dim, v0[0], v0[1])
    c0 = dot(dim, v0[0], v0[2])
    s1 = dot(dim, v1[0], v1[1])
    c1 = dot(dim, v1[0], v1[2])
    ratio = sign * kappa(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)[0]
    sine = 0.5 * ratio * (s0 + s1)
    cosine = 0.5 * ratio * (c0 + c1)
    for i in range(dim):
        v = 0.5 * (v0[0][i] + v1[0][i])
        w = 0.5 * (v0[1][i] + v1[1][i])
        u = 0.5 * (v0[2][i] + v1[2][i])
        mean[0][i] = cosine * w - sine * u
        mean[1][i] = cosine * v
        mean[2][i] = -sine * v
        end[0][i] = sign * (c1 * v1[1][i] - s1 * v1[2][i])
        end[1][i] = sign * c1 * v1[0][i]
        end[2][i] = -sign * s1 * v1[0][i]
