"""Gaps of contacts and their gradients in loops (see kernels.contacts.gaps, whose formulas these are)."""

from __future__ import annotations

import math

from ....kernels.contacts.gap_arrays import AXIAL, DISTANCE, OFFSET
from ....kernels.contacts.gaps import TINY
from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..memory.memory import Memory
from ..terms.angles import kappa


@kernel
def dot(axes: tuple[int, ...], a: Array, b: Array) -> float:
    """A product of two vectors."""
    total = 0.0
    for i in range(len(axes)):
        total += a[i] * b[i]
    return total


@kernel
def place_vectors(m: Memory, axes: tuple[int, ...], c: int, r: Array, arm: Array, out: Array) -> None:
    """V, W, U of a gap, from the centres of mass and the arms of the nodes."""
    for k in range(3):
        for i in range(len(axes)):
            out[k, i] = m.contacts_fixed[c, k, i]
        for side in range(2):
            n = m.contacts_node[c, 2 * k + side]
            if n >= 0:
                for i in range(len(axes)):
                    place = m.nodes_moves[n] * r[m.nodes_body[n], i] + arm[n, i]
                    out[k, i] += place if side == 0 else -place


@kernel
def gap_of(m: Memory, axes: tuple[int, ...], c: int, vector: Array) -> float:
    """The gap between vectors V, W, U."""
    kind, sign, offset, v = m.contacts_kind[c], m.contacts_sign[c], m.contacts_offset[c], vector[0]
    if kind == DISTANCE:
        return sign * max(math.sqrt(dot(axes, v, v)), TINY) - offset
    along = dot(axes, v, vector[1])
    if kind == OFFSET:
        return sign * along - offset
    if kind == AXIAL:
        return sign * _away(axes, vector, along) - offset
    return sign * math.atan2(along, dot(axes, v, vector[2])) - offset


@kernel
def _away(axes: tuple[int, ...], vector: Array, along: float) -> float:
    """|V − (V·W) W|."""
    square = 0.0
    for i in range(len(axes)):
        square += (vector[0, i] - along * vector[1, i]) ** 2
    return max(math.sqrt(square), TINY)


@kernel
def turned_gap(m: Memory, axes: tuple[int, ...], c: int, before: float) -> float:
    """The gap of an angle at the end of a step, from that at its start: it may go beyond half a turn."""
    s0, c0 = dot(axes, m.touch_first[0], m.touch_first[1]), dot(axes, m.touch_first[0], m.touch_first[2])
    s1, c1 = dot(axes, m.touch_last[0], m.touch_last[1]), dot(axes, m.touch_last[0], m.touch_last[2])
    return before + m.contacts_sign[c] * math.atan2(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)


@kernel
def differentiate_gap(m: Memory, axes: tuple[int, ...], c: int) -> None:
    """The gradients of a gap between the vectors ``first`` and ``last``: exact over the step, and at its end."""
    kind, sign, v0, v1 = m.contacts_kind[c], m.contacts_sign[c], m.touch_first, m.touch_last
    mean, end = m.touch_mean[c], m.touch_end[c]
    if kind == DISTANCE:
        d0, d1 = max(math.sqrt(dot(axes, v0[0], v0[0])), TINY), max(math.sqrt(dot(axes, v1[0], v1[0])), TINY)
        for i in range(len(axes)):
            mean[0, i] = sign * (v0[0, i] + v1[0, i]) / (d0 + d1)
            end[0, i] = sign * v1[0, i] / d1
    elif kind == OFFSET:
        for i in range(len(axes)):
            mean[0, i], mean[1, i] = 0.5 * sign * (v0[1, i] + v1[1, i]), 0.5 * sign * (v0[0, i] + v1[0, i])
            end[0, i], end[1, i] = sign * v1[1, i], sign * v1[0, i]
    elif kind == AXIAL:
        p0, p1 = dot(axes, v0[0], v0[1]), dot(axes, v1[0], v1[1])
        d0, d1, middle = _away(axes, v0, p0), _away(axes, v1, p1), 0.5 * (p0 + p1)
        for i in range(len(axes)):
            v, w = 0.5 * (v0[0, i] + v1[0, i]), 0.5 * (v0[1, i] + v1[1, i])
            mean[0, i], mean[1, i] = 2.0 * sign * (v - middle * w) / (d0 + d1), -2.0 * sign * middle * v / (d0 + d1)
            end[0, i], end[1, i] = sign * (v1[0, i] - p1 * v1[1, i]) / d1, -sign * p1 * v1[0, i] / d1
    else:
        _differentiate_angle(m, axes, c)


@kernel
def _differentiate_angle(m: Memory, axes: tuple[int, ...], c: int) -> None:
    sign, v0, v1 = m.contacts_sign[c], m.touch_first, m.touch_last
    mean, end = m.touch_mean[c], m.touch_end[c]
    s0, c0 = dot(axes, v0[0], v0[1]), dot(axes, v0[0], v0[2])
    s1, c1 = dot(axes, v1[0], v1[1]), dot(axes, v1[0], v1[2])
    ratio = sign * kappa(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)[0]
    sine, cosine = 0.5 * ratio * (s0 + s1), 0.5 * ratio * (c0 + c1)
    for i in range(len(axes)):
        v, w, u = 0.5 * (v0[0, i] + v1[0, i]), 0.5 * (v0[1, i] + v1[1, i]), 0.5 * (v0[2, i] + v1[2, i])
        mean[0, i], mean[1, i], mean[2, i] = cosine * w - sine * u, cosine * v, -sine * v
        end[0, i] = sign * (c1 * v1[1, i] - s1 * v1[2, i])
        end[1, i], end[2, i] = sign * c1 * v1[0, i], -sign * s1 * v1[0, i]
