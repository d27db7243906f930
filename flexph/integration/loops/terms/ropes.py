"""Massless ropes over sheaves in loops (see kernels.ropes): exact increments of their lengths, and forces on products.

Products are scalar products of vectors between nodes, such as Π below.

A straight span of length ℓ = √(Π − δ²), between centres at the squared distance Π, adds
Δℓ (1 − δ² κ(δ(ℓ₀ − ℓ₁), ℓ₀ℓ₁ + δ²)) to the length of the rope, with Δℓ = ΔΠ/(ℓ₀ + ℓ₁); δ is an offset by the radii. An
angle about a sheave of radius ρ, with sine s and cosine c, adds ±ρκ(c̄Δs − s̄Δc).
"""

from __future__ import annotations

import cython

from ....kernels.ropes import CLOSE as _CLOSE
from ....kernels.ropes import TOUCHING as _TOUCHING
from ....numerics.arrays import Array

if not cython.compiled:
    from math import atan2, fabs, floor, pi, sqrt

    from ..memory.memory import Memory
    from .angles import kappa

TOUCHING = cython.declare(cython.double, _TOUCHING)
CLOSE = cython.declare(cython.double, _CLOSE)


def rope_change(m: Memory, r: int, before: Array, after: Array) -> float:
    """Change of the length of rope r over a step, between the products ``before`` and ``after``.

    The discrete gradient of the length with respect to the products is written into the fields ``string``.
    """
    total = 0.0
    for k in range(m.ropes_span[r], m.ropes_span[r + 1]):
        p = m.ropes_square[k]
        offset = m.ropes_offset[k]
        l0 = sqrt(before[p] - offset * offset)
        l1 = sqrt(after[p] - offset * offset)
        m.string_by_square[k] = span_slope(offset, l0, l1)
        total += (after[p] - before[p]) * m.string_by_square[k]
    for w in range(m.ropes_angle[r], m.ropes_angle[r + 1]):
        p = m.ropes_sine[w]
        q = m.ropes_cosine[w]
        y = after[p] * before[q] - after[q] * before[p]
        x = before[q] * after[q] + before[p] * after[p]
        half = 0.5 * m.ropes_radius[w] * kappa(y, x)[0]
        m.string_by_sine[w] = half * (before[q] + after[q])
        m.string_by_cosine[w] = -half * (before[p] + after[p])
        total += m.ropes_radius[w] * atan2(y, x)
    return total


def add_rope_forces(m: Memory, r: int, tension: float) -> None:
    """Add the forces that the tension of rope r exerts to the forces on its products."""
    for k in range(m.ropes_span[r], m.ropes_span[r + 1]):
        m.trial_force[m.ropes_square[k]] -= tension * m.string_by_square[k]
    for w in range(m.ropes_angle[r], m.ropes_angle[r + 1]):
        m.trial_force[m.ropes_sine[w]] -= tension * m.string_by_sine[w]
        m.trial_force[m.ropes_cosine[w]] -= tension * m.string_by_cosine[w]


def leaves_sheaves(m: Memory, before: Array, after: Array, first: Array, last: Array) -> bool:
    """True if a rope has left a sheave at the end of a step, wound round it fully, or lost a straight span.

    ``before`` and ``after`` are the products at the start and end of the step, ``first`` and ``last`` the vectors.
    """
    for k in range(m.ropes_square.size):
        if not after[m.ropes_square[k]] > m.ropes_offset[k] * m.ropes_offset[k] or _passes(m, k, first, last):
            return True
    for a in range(m.ropes_arriving.size):
        if m.ropes_wound[a] == 0:
            begun = _arc(m, a, before)
            turned = _arc(m, a, after) - begun
            arc = begun + turned - 2.0 * pi * floor(turned / (2.0 * pi) + 0.5)
            if not (arc >= -TOUCHING and arc <= 2.0 * pi):
                return True
    return False


def _passes(m: Memory, k: int, first: Array, last: Array) -> bool:
    """True if span k vanishes within the step, as its two sheaves or ports come too near to each other."""
    square = m.ropes_offset[k] * m.ropes_offset[k]
    if square == 0.0:
        return False
    v = m.joints_first[m.ropes_square[k]]
    start, size, along = 0.0, 0.0, 0.0
    for i in range(first.shape[1]):
        moved = last[v][i] - first[v][i]
        start += first[v][i] * first[v][i]
        size += moved * moved
        along -= first[v][i] * moved
    if not 0.0 < along < size:
        return False
    return start - along * along / size <= (1.0 + CLOSE) * square


def _arc(m: Memory, a: int, product: Array) -> float:
    """Angle of contact [rad] between rope and sheave on arc a, from 0 to 2π."""
    k = m.ropes_arriving[a]
    w = m.ropes_turn[a]
    turned = atan2(product[m.ropes_sine[w + 1]], product[m.ropes_cosine[w + 1]])
    turned -= atan2(product[m.ropes_sine[w]], product[m.ropes_cosine[w]])
    turned += _tangent_angle(m, k + 1, product) - _tangent_angle(m, k, product)
    if m.ropes_sheave[a] < 0.0:
        turned = -turned
    turned -= 2.0 * pi * floor(turned / (2.0 * pi))
    return turned - 2.0 * pi if turned > 2.0 * pi - TOUCHING else turned


def _tangent_angle(m: Memory, k: int, product: Array) -> float:
    """Angle β [rad] between span k and the line through the centres of its sheaves."""
    offset = m.ropes_offset[k]
    return atan2(offset, sqrt(fabs(product[m.ropes_square[k]] - offset * offset)))


def span_slope(offset: float, l0: float, l1: float) -> float:
    """Change of the length of a rope by one of its spans, divided by the change of the product Π of the span.

    ``l0`` and ``l1`` are the lengths of the span at both ends of the step, ``offset`` is δ.
    """
    square = offset * offset
    return (1.0 - square * kappa(offset * (l0 - l1), l0 * l1 + square)[0]) / (l0 + l1)


def span_curvature(offset: float, l0: float, l1: float) -> float:
    """Derivative of :func:`span_slope` with respect to the product Π at the end of the step."""
    square = offset * offset
    ratio, by_y, by_x = kappa(offset * (l0 - l1), l0 * l1 + square)
    change = -square * (by_x * l0 - by_y * offset) - (1.0 - square * ratio) / (l0 + l1)
    return change / ((l0 + l1) * 2.0 * l1)
