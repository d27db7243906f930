"""Contact gaps: exact increments, and discrete gradients with respect to world vectors.

With V, W, U the vectors of a gap, bars the means of both ends and Δ their differences, Δg = f_V·ΔV + f_W·ΔW + f_U·ΔU:

    offset    g = ±V·W − c                   f_V = ±W̄,  f_W = ±V̄
    distance  g = ±|V| − c                   f_V = ±(V₀ + V₁)/(|V₀| + |V₁|), no unit vector
    axial     g = ±√(V·V − q²) − c           f_V = ±2(V̄ − AW̄)/(d₀ + d₁),  f_W = ∓2(AV̄ − CW̄)/(d₀ + d₁)
    angle     g = ±(α − α*)                  f_V = ±κ(c̄W̄ − s̄Ū),  f_W = ±κc̄V̄,  f_U = ∓κs̄V̄ (see kernels.springs)
    rim       g = V·W − r s − c              f_V = W̄,  f_W = V̄ + r k Ū,  f_U = r k W̄,  k = (q₀ + q₁)/(s₀ + s₁)

An offset is the height of V over a plane with the normal W, "axial" the distance from an axis W, both less a constant
c. The angle α of a stop has the sine V·W and the cosine V·U; α* is its limit. A rim is that of a disc of radius r with
the axis U, over a plane with the normal W. Gaps between segments (halves W, U), to faces (sides W, U) and to boxes and
meshes (axes W, U, D) are computed by :mod:`flexph.kernels.surfaces`.

For an axial gap q = V·W/s, s = |W|, A = q̄ (1/s)‾ and C = 2q̄ (V·W)‾/(s₀s₁(s₀ + s₁)): W, a direction of a bent section,
may be longer than 1. For a rim q = W·U and s = √(1 − q²). A force F on a gap acts with F f on the vectors, so that its
work is F Δg at every step. Friction T acts along t̄ ⟂ f_V on the points and with the torques −ρ × T t̄ on their bodies,
ρ₁ + ρ₂ = V̄: then no angular momentum is lost, and its work is T Δs of the slip
Δs = t̄·ΔV − h(ρ₁ × t̄)·Ω₁ − h(ρ₂ × t̄)·Ω₂ over a step h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import moment
from ..surfaces.closest import distance
from ..surfaces.faces import face_squares
from ..surfaces.segments import squares
from ..surfaces.surfaces import GRADIENT, PLACES, VALUE
from .gap_arrays import ANGLE, AXIAL, DISTANCE, FACE, OFFSET, RIM, SEGMENTS, SHAPE, Contacts

TINY = float(np.finfo(float).tiny)
FLAT = 1e-6
"""Sine of the angle between the normal and the axis of a rim, below which it lies flat."""
CLEARLY = 1e-3
"""Difference of the entries of a unit normal up to which they count as equal in the choice of its tangents."""
OF_SEGMENTS = (0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (2, 2)
OF_FACES = (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)
"""Pairs of the vectors V, W, U whose products determine the distances of segments and of faces."""
BASE = 45
"""Index of the base points in the results for squares of distances."""
TOUCHING = 1e-11
"""Gap, relative to the size of the mechanism, below which bodies touch."""


class Gaps(NamedTuple):
    """Gaps of a step: values, gradients with respect to the vectors V, W, U, D, and these vectors.

    ``before`` and ``after`` are the gaps (c,) at the start and at the end. ``mean`` is the discrete gradient over the
    step, ``end`` the gradient at the end, both (4, c, d).
    """

    before: Array
    after: Array
    mean: Array
    end: Array
    vectors: Array  # (2, 4, c, d), at both ends


def vectors_of(c: Contacts, points: Array) -> Array:
    """Vectors V, W, U, D (4, c, d) of all gaps, from the positions of the nodes (k, d)."""
    padded = np.vstack([points, np.zeros((1, points.shape[1]))])
    return padded[c.plus] - padded[c.minus] + c.fixed


def rates_of(c: Contacts, velocities: Array) -> Array:
    """Rates of the vectors V, W, U, D (4, c, d) of all gaps, from the velocities of the nodes (k, d)."""
    padded = np.vstack([velocities, np.zeros((1, velocities.shape[1]))])
    moved: Array = padded[c.plus] - padded[c.minus]
    return moved


def gaps_between(c: Contacts, before: Array, after: Array) -> Gaps:
    """Gaps and their gradients over a step, from the vectors V, W, U, D (4, c, d) at its start and its end."""
    kinds, vectors = set(c.kind.tolist()), np.array([before, after])
    if len(kinds) == 1 and not kinds & {SHAPE, FACE}:
        return Gaps(*_of_kind(kinds.pop(), (before, after), (c.sign, c.offset, c.share[0])), vectors)
    mean, end = np.zeros_like(before), np.zeros_like(before)
    first, last = np.zeros(c.kind.size), np.zeros(c.kind.size)
    for kind in kinds:
        numbers = np.flatnonzero(c.kind == kind)
        if kind == SHAPE:
            for k in numbers.tolist():
                first[k], last[k], mean[:, k], end[:, k] = _shaped(c, k, before[:, k], after[:, k])
            continue
        if kind == FACE:
            of_faces = _faces(c, numbers, before[:, numbers], after[:, numbers])
            first[numbers], last[numbers], mean[:, numbers], end[:, numbers] = of_faces
            continue
        at = (before[:, numbers], after[:, numbers]), (c.sign[numbers], c.offset[numbers], c.share[0, numbers])
        first[numbers], last[numbers], mean[:, numbers], end[:, numbers] = _of_kind(kind, *at)
    return Gaps(first, last, mean, end, vectors)


Measured = tuple[Array, Array, Array, Array]


def _of_kind(kind: int, vectors: tuple[Array, Array], given: tuple[Array, Array, Array]) -> Measured:
    """Gaps of one kind at the start and the end of a step, their discrete gradient and their gradient at the end.

    ``vectors`` are V, W, U, D at the start and at the end of the step, (4, c, d) each, ``given`` the signs, offsets and
    radii of the gaps (c,). Not for gaps to surfaces and faces.
    """
    sign, offset, radius = given
    if kind == RIM:
        return _rims(*vectors, offset, radius)
    if kind == SEGMENTS:
        return _crossing(*vectors, offset)
    measure = {OFFSET: _offsets, DISTANCE: _distances, ANGLE: _angles, AXIAL: _axial}[kind]
    first, last, mean, end = measure(*vectors, sign * offset)
    return sign * first, sign * last, mean * sign[:, None], end * sign[:, None]


def _offsets(before: Array, after: Array, offset: Array) -> Measured:
    mean, end = np.zeros_like(before), np.zeros_like(before)
    mean[0], mean[1] = 0.5 * (before[1] + after[1]), 0.5 * (before[0] + after[0])
    end[0], end[1] = after[1], after[0]
    return np.vecdot(before[0], before[1]) - offset, np.vecdot(after[0], after[1]) - offset, mean, end


def _distances(before: Array, after: Array, offset: Array) -> Measured:
    mean, end = np.zeros_like(before), np.zeros_like(before)
    d0, d1 = (np.maximum(np.linalg.norm(v[0], axis=1), TINY) for v in (before, after))
    mean[0], end[0] = (before[0] + after[0]) / (d0 + d1)[:, None], after[0] / d1[:, None]
    return d0 - offset, d1 - offset, mean, end


def _axial(before: Array, after: Array, offset: Array) -> Measured:
    mean, end = np.zeros_like(before), np.zeros_like(before)
    (p0, p1), (s0, s1) = (
        [measure(v) for v in (before, after)]
        for measure in (lambda v: np.vecdot(v[0], v[1])[:, None], lambda v: np.linalg.norm(v[1], axis=1)[:, None])
    )
    d0, d1 = (
        np.maximum(np.linalg.norm(v[0] - p / s**2 * v[1], axis=1), TINY)
        for v, p, s in ((before, p0, s0), (after, p1, s1))
    )
    q, weight = 0.5 * (p0 / s0 + p1 / s1), 2.0 / (d0 + d1)[:, None]
    v, w = 0.5 * (before[:2] + after[:2])
    across, along = 0.5 * q * (1.0 / s0 + 1.0 / s1), q * (p0 + p1) / (s0 * s1 * (s0 + s1))
    mean[0], mean[1] = weight * (v - across * w), -weight * (across * v - along * w)
    end[0] = (after[0] - p1 / s1**2 * after[1]) / d1[:, None]
    end[1] = -p1 / s1**2 * end[0]
    return d0 - offset, d1 - offset, mean, end


def _angles(before: Array, after: Array, limit: Array) -> Measured:
    mean, end = np.zeros_like(before), np.zeros_like(before)
    (s0, c0), (s1, c1) = ((np.vecdot(v[0], v[1]), np.vecdot(v[0], v[2])) for v in (before, after))
    y, x = s1 * c0 - c1 * s0, c0 * c1 + s0 * s1
    change, small = np.arctan2(y, x), np.abs(y) < 1e-3 * np.abs(x)
    q, safe = y / np.where(x != 0.0, x, 1.0), np.where(y != 0.0, y, 1.0)
    kappa = np.where(small & (x > 0.0), (1.0 - q**2 / 3.0 + q**4 / 5.0) / np.where(x != 0.0, x, 1.0), change / safe)
    s, c, (v, w, u) = 0.5 * (s0 + s1)[:, None], 0.5 * (c0 + c1)[:, None], 0.5 * (before[:3] + after[:3])
    mean[0], mean[1], mean[2] = c * w - s * u, c * v, -s * v
    mean *= kappa[:, None]
    sine, cosine = s1[:, None], c1[:, None]
    end[0], end[1], end[2] = cosine * after[1] - sine * after[2], cosine * after[0], -sine * after[0]
    angle = np.arctan2(s0, c0) - limit
    return angle, angle + change, mean, end


def _rims(before: Array, after: Array, offset: Array, radius: Array) -> Measured:
    mean, end = np.zeros_like(before), np.zeros_like(before)
    (q0, s0), (q1, s1) = (tilts(v) for v in (before, after))
    (v, w, u), r = 0.5 * (before[:3] + after[:3]), radius[:, None]
    k, k1 = ((q0 + q1) / (s0 + s1))[:, None], (q1 / s1)[:, None]
    mean[0], mean[1], mean[2] = w, v + r * k * u, r * k * w
    end[0], end[1], end[2] = after[1], after[0] + r * k1 * after[2], r * k1 * after[1]
    first, last = (np.vecdot(x[0], x[1]) - radius * s - offset for x, s in ((before, s0), (after, s1)))
    return first, last, mean, end


def _shaped(c: Contacts, k: int, before: Array, after: Array) -> tuple[float, float, Array, Array]:
    """Gap ``k``, to a surface, at the start and the end of a step, its discrete gradient and its gradient at the end.

    ``before`` and ``after`` are its vectors (4, d): V from the origin of the surface to the point, then the axes of the
    surface.
    """
    dim = before.shape[1]
    places, near, bent = np.zeros((2, 3)), np.zeros((2, PLACES)), np.zeros((4, 3))
    for place, v in zip(places, (before, after), strict=True):
        place[:dim] = v[1 : 1 + dim] @ v[0]
    distance(c.shape[k], 0, dim, places, float(c.blend[k]), (near, bent))
    n, e = bent[0, :dim], near[1, GRADIENT : GRADIENT + dim]
    mean, end, middle = np.zeros_like(before), np.zeros_like(before), 0.5 * (before + after)
    mean[0], mean[1 : 1 + dim] = n @ middle[1 : 1 + dim], np.outer(n, middle[0])
    end[0], end[1 : 1 + dim] = e @ after[1 : 1 + dim], np.outer(e, after[0])
    return near[0, VALUE] - c.offset[k], near[1, VALUE] - c.offset[k], mean, end


def _faces(c: Contacts, numbers: Array, before: Array, after: Array) -> Measured:
    """Gaps to faces at the start and the end of a step, their discrete gradients and their gradients at the end.

    ``numbers`` are the numbers of these gaps, ``before`` and ``after`` their vectors V, W, U, D (4, c, d). Where a ball
    penetrates several faces of a skin, only the gap to the closest of them is negative; those to the others are set to
    zero.
    """
    near, bent = _near_faces(c, numbers, before, after)
    d0, d1 = np.sqrt(near[:, :, 0]).T
    mean, end = np.zeros_like(before), np.zeros_like(before)
    s, t = near[:, 1, BASE : BASE + 2].T[:, :, None]
    for out, n, (v, w, u, _), total in (
        (mean, bent[:, 0], 0.5 * (before + after), d0 + d1),
        (end, near[:, 1, 3:9], after, 2.0 * d1),
    ):
        n0, n1, n2, n3, n4, n5 = (n / total[:, None]).T[:, :, None]
        v = v - s * w - t * u
        out[0] = 2.0 * n0 * v + n1 * w + n2 * u
        out[1], out[2] = n1 * v + 2.0 * n3 * w + n4 * u - s * out[0], n2 * v + n4 * w + 2.0 * n5 * u - t * out[0]
    gaps = []
    for distance_ in (d0, d1):
        gap = distance_ - c.offset[numbers]
        least = np.full(int(c.skin.max()) + 1, np.inf)
        np.minimum.at(least, c.skin[numbers], gap)
        first = np.zeros(gap.size, dtype=bool)
        closest = np.flatnonzero(gap == least[c.skin[numbers]])
        first[closest[np.unique(c.skin[numbers][closest], return_index=True)[1]]] = True
        gaps.append(np.where(first, gap, np.maximum(gap, 0.0)))
    return gaps[0], gaps[1], mean, end


def _near_faces(c: Contacts, numbers: Array, before: Array, after: Array) -> tuple[Array, Array]:
    """Squared distances to faces with their derivatives, (c, 2, entries), and discrete gradients of these, (c, 7, 6).

    The first result has the entries that :mod:`flexph.kernels.surfaces.faces` writes at the start and at the end of a
    step. The second one has the discrete gradient with respect to the six products of V, W and U, then its derivatives
    with respect to the products at the end.
    """
    count = before.shape[1]
    corners = np.where(c.plus[2, numbers] >= 0, 3.0, 2.0)[:, None]
    near, bent = np.zeros((2 * count, PLACES)), np.zeros((7 * count, 6))
    face_squares(corners, _products(before, before, OF_FACES), near, bent)
    near[:, BASE : BASE + 2] = near[:, 1:3]  # base points at the start of the step
    s, t = near[::2, BASE : BASE + 2].T[:, :, None]
    shifted = [np.array([v[0] - s * v[1] - t * v[2], *v[1:3]]) for v in (before, after)]
    face_squares(corners, _products(shifted[0], shifted[1], OF_FACES), near, bent)
    near[:, 0] = np.maximum(near[:, 0], TINY)
    return near.reshape(count, 2, PLACES), bent.reshape(count, 7, 6)


def moved_at(c: Contacts, gaps: Gaps, moved: Array) -> Array:
    """Increments or rates (c, d) of the relative position of the two bodies at each contact point.

    ``moved`` (4, c, d) are the increments or rates of V, W, U, D. The result is the increment or rate of V. For a face,
    it is that of V − s W − t U, the vector from the contact point, with constant parameters s and t on the face.
    """
    numbers = np.flatnonzero(c.kind == FACE)
    if not numbers.size:
        first: Array = moved[0]
        return first
    before, after = gaps.vectors[:, :, numbers]
    s, t = _near_faces(c, numbers, before, after)[0][:, 0, 1:3].T[:, :, None]
    along = moved[0].copy()
    along[numbers] -= s * moved[1, numbers] + t * moved[2, numbers]
    return along


def _crossing(before: Array, after: Array, offset: Array) -> Measured:
    near, bent = _segments(before, after)
    d0, d1 = np.sqrt(near[:, :, 0]).T
    mean, end = np.zeros_like(before), np.zeros_like(before)
    s, t = near[:, 1, BASE : BASE + 2].T[:, :, None]
    for out, n, (v, w, u, _), total in (
        (mean, bent[:, 0], 0.5 * (before + after), d0 + d1),
        (end, near[:, 1, 3:7], after, 2.0 * d1),
    ):
        n0, n1, n2, n3 = (n / total[:, None]).T[:, :, None]
        v = v + s * w - t * u
        out[0] = 2.0 * n0 * v + n1 * w + n2 * u
        out[1], out[2] = n1 * v + n3 * u + s * out[0], n2 * v + n3 * w - t * out[0]
    return d0 - offset, d1 - offset, mean, end


def _segments(before: Array, after: Array) -> tuple[Array, Array]:
    """Squared distances of segments with derivatives, (c, 2, entries), and their discrete gradients, (c, 5, 4).

    ``before`` and ``after`` are the vectors (4, c, d) at the start and at the end of a step. The first result has the
    entries that :mod:`flexph.kernels.surfaces.segments` writes for both. The second one has the discrete gradient with
    respect to the four products, then its derivatives with respect to the products at the end.
    """
    count = before.shape[1]
    near, bent = np.zeros((2 * count, PLACES)), np.zeros((5 * count, 4))
    squares(_products(before, before, OF_SEGMENTS), near, bent)
    near[:, BASE : BASE + 2] = near[:, 1:3]  # base points at the start of the step
    s, t = near[::2, BASE : BASE + 2].T[:, :, None]
    shifted = [np.array([v[0] + s * v[1] - t * v[2], *v[1:3]]) for v in (before, after)]
    squares(_products(shifted[0], shifted[1], OF_SEGMENTS), near, bent)
    near[:, 0] = np.maximum(near[:, 0], TINY)
    return near.reshape(count, 2, PLACES), bent.reshape(count, 5, 4)


def _products(before: Array, after: Array, pairs: tuple[tuple[int, int], ...]) -> Array:
    """Dot products (2 c, 6) of pairs of V, W, U: for each gap a row at the start of a step, then one at its end.

    ``pairs`` are six pairs of indices of vectors: 0 for V, 1 for W, 2 for U.
    """
    products = np.array([[np.vecdot(v[i], v[j]) for i, j in pairs] for v in (before, after)])
    return np.ascontiguousarray(products.transpose(2, 0, 1).reshape(-1, 6))


def tilts(vector: Array) -> tuple[Array, Array]:
    """Cosine q = W·U between the normal W and the axis U of discs, (c,), and sine √(1 − q²), at least ``FLAT``."""
    q = np.vecdot(vector[1], vector[2])
    return q, np.sqrt(np.maximum(1.0 - q * q, FLAT**2))


def _least_entries(normal: Array) -> Array:
    """Index of the entry of least magnitude of each unit normal (c, 3); if two differ only by round-off, the first."""
    size, rows = np.abs(normal), np.arange(len(normal))
    least = np.zeros(len(normal), dtype=int)
    for i in (1, 2):
        least = np.where(size[:, i] < size[rows, least] - CLEARLY, i, least)
    return least


def tangents(c: Contacts, gaps: Gaps) -> tuple[Array, Array]:
    """Tangents t̄ (t, c, d) of friction over a step, and lever arms ρ₁, ρ₂ (2, c, d) on both bodies.

    Each contact has t = d − 1 tangents. They are orthogonal to f_V, the discrete gradient of the gap with respect to V,
    and as long as f_V; for contacts without friction they are zero.
    """
    normal, middle = gaps.mean[0], 0.5 * (gaps.vectors[0, 0] + gaps.vectors[1, 0])
    if normal.shape[1] == 2:
        tangent = np.stack([normal[:, 1], -normal[:, 0]], axis=1)[None]
    else:
        size = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), TINY)
        unit = normal / size
        first = moment(np.eye(3)[_least_entries(unit)], unit)
        first *= size / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), TINY)
        tangent = np.stack([first, moment(unit, first)])
    flat = np.isin(c.kind, (OFFSET, SHAPE))[:, None]
    arm = c.share[:, :, None] * np.where(flat, normal, middle)
    arm[1] = np.where(flat, middle - arm[0], arm[1])
    numbers = np.flatnonzero(c.kind == RIM)
    if numbers.size:
        _, w, u = 0.5 * (gaps.vectors[0][:3, numbers] + gaps.vectors[1][:3, numbers])
        q, s = (
            0.5 * (one + other)[:, None]
            for one, other in zip(*(tilts(x[:, numbers]) for x in gaps.vectors), strict=True)
        )
        arm[0][numbers] = c.share[0, numbers, None] * (w - q * u) / s + c.share[1, numbers, None] * w
        arm[1][numbers] = middle[numbers] - arm[0][numbers]
    numbers = np.flatnonzero(c.kind == SEGMENTS)
    if numbers.size:
        before, after = gaps.vectors[:, :, numbers]
        place = _segments(before, after)[0][:, :, 1].mean(axis=1)
        arm[0][numbers] = c.share[0, numbers, None] * normal[numbers] - 0.5 * place[:, None] * (before[1] + after[1])
        arm[1][numbers] = middle[numbers] - arm[0][numbers]
    numbers = np.flatnonzero(c.kind == FACE)
    if numbers.size:
        arm[0][numbers] = moved_at(c, gaps, 0.5 * (gaps.vectors[0] + gaps.vectors[1]))[numbers]
        arm[1][numbers] = 0.0
    return tangent * (c.friction > 0.0)[:, None], arm


def carried(c: Contacts, tangent: Array, vectors: Array) -> Array:
    """Velocities (t, c) along the tangents of surfaces that move at constant speed, such as conveyor belts.

    They are zero for all other surfaces, also if their speed is a function of time. ``tangent`` (t, c, d) are the
    tangents, ``vectors`` (4, c, d) are V, W, U, D. A surface moves in the direction U.
    """
    velocities: Array = c.speed * np.vecdot(tangent, vectors[2])
    return velocities


def slips(c: Contacts, tangent: Array, arm: Array, moved: Array, turned: Array) -> Array:
    """Slips Δs (t, c) along the tangents over a step.

    ``tangent`` (t, c, d) and ``arm`` (2, c, d) are the tangents and lever arms by :func:`tangents`, ``moved`` (c, d)
    the increments of V, and ``turned`` (b, s) the rotations hΩ of all bodies in world axes. With velocities in place of
    increments and rotations, the result is the slip velocity.
    """
    slip = np.vecdot(tangent, moved)
    for side in range(2):
        has_body = c.body[side] >= 0
        torque = moment(arm[side], tangent)
        slip = slip - np.where(has_body, np.vecdot(torque, turned[c.body[side]]), 0.0)
    return slip
