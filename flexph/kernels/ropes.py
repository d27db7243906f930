"""Massless ropes over sheaves: lengths, and their derivatives with respect to products of world vectors.

A rope runs from centre to centre along the vectors V_j, with signed radii ρ_j (zero at ends and eyes) and δ_j = ρ_j −
ρ_{j+1}. Tangents and arcs add up to

    L = Σ_j [ℓ_j + δ_j β_j] + Σ_sheaves ρ_j [∠(V_j; B_j) − ∠(V_{j−1}; B_j)],   ℓ² = V·V − δ²,  β = atan2(δ, ℓ)

with ∠(V; B) = atan2(V·d₂, V·d₁) by two directions of the housing B of a sheave. The arc on it is the angle between the
tangents, |ρ|⁻¹ρ (∠(V_j) + β_j − ∠(V_{j−1}) − β_{j−1}), from 0 to 2π. A rope that begins or ends on a turning disc B,
which it grips, has one span there, whose term is the length of rope wound off the disc, ρ (∠ + β) or its negative.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array

Index = np.ndarray
_NONE: Any = np.zeros(0, dtype=int)
FULL = 2.0 * np.pi
"""Full turn [rad]."""
TOUCHING = 1e-9
"""Arc [rad] below zero that counts as zero, as round-off of a rope that just touches its sheave."""


FLEET = 0.1
"""Sine of the fleet angle of a span out of the plane of its sheave up to which its length is that of the projection, to
half a percent; hoists have at most 0.07."""
CLOSE = 1e-6
"""Excess of the least V·V in a step over δ², relative to it, at which a straight span counts as vanished."""


class Ropes(NamedTuple):
    """Constant data of ropes: their spans, the angles of spans about sheaves, and their arcs on sheaves.

    The sizes are r ropes, k spans, w angles, a arcs, and g ends on discs that they grip. An angle has the weight
    ``radius``: the signed radius ρ for the span that leaves a sheave, −ρ for the one that arrives.
    """

    number: int = 0
    span_rope: Index = _NONE
    square: Index = _NONE  # (k,), product V·V
    offset: Array = np.zeros(0)  # (k,), δ [m]
    angle_rope: Index = _NONE
    sine: Index = _NONE  # (w,), products V·d₂ and V·d₁
    cosine: Index = _NONE
    radius: Array = np.zeros(0)  # (w,) [m]
    angle_span: Index = _NONE  # (w,), span of each angle
    arc_rope: Index = _NONE
    arriving: Index = _NONE  # (a,), span that arrives; the next one leaves
    angle: Index = _NONE  # (a,), angle of the span that arrives; the next one is that of the span that leaves
    sheave: Array = np.zeros(0)  # (a,), ρ [m]
    turns: Array = np.zeros(0)  # (a,), full turns in addition to the arc
    grip_rope: Index = _NONE
    gripped: Index = _NONE  # (g,), span that begins or ends on a disc that the rope grips
    grip_angle: Index = _NONE  # (g,), angle of this span about the disc, whose weight is that of the rope wound off


def tangents(ropes: Ropes, product: Array) -> tuple[Array, Array]:
    """Lengths ℓ [m] and angles β [rad] of the straight spans, (k, …); NaN where sheaves touch."""
    offset = ropes.offset.reshape(-1, *(1,) * (product.ndim - 1))
    with np.errstate(invalid="ignore"):
        straight = np.sqrt(product[ropes.square] - offset**2)
    return straight, np.arctan2(np.broadcast_to(offset, straight.shape), straight)


def arcs(ropes: Ropes, product: Array) -> Array:
    """Arcs (a, …) of contact on the sheaves from 0 to 2π [rad], without full turns."""
    _, lean = tangents(ropes, product)
    angle = np.arctan2(product[ropes.sine], product[ropes.cosine])
    first, sheave = ropes.arriving, ropes.sheave.reshape(-1, *(1,) * (product.ndim - 1))
    turned = angle[ropes.angle + 1] - angle[ropes.angle] + lean[first + 1] - lean[first]
    arc = np.mod(np.sign(sheave) * turned, FULL)
    return np.where(arc > FULL - TOUCHING, arc - FULL, arc)


def vanishing(ropes: Ropes, first: Index, before: tuple[Array, Array], after: tuple[Array, Array]) -> Index:
    """Indices of the spans whose straight part has no length at the end of a step, or somewhere within it.

    It vanishes within a step as the ends of the span pass each other. ``before`` and ``after`` are the world vectors
    (v, d) and products (p,) at the start and at the end; ``first`` is the index of the first vector of each product.
    """
    least = after[1][ropes.square].copy()
    start, end = before[0][first[ropes.square]], after[0][first[ropes.square]]
    moved = end - start
    size, along = (moved * moved).sum(axis=1), -(start * moved).sum(axis=1)
    inside = (along > 0.0) & (along < size) & (ropes.offset != 0.0)
    near = (start * start).sum(axis=1)[inside] - along[inside] ** 2 / size[inside]
    least[inside] = np.minimum(least[inside], near - CLOSE * ropes.offset[inside] ** 2)
    gone: Index = np.flatnonzero(~(least > ropes.offset**2))
    return gone


def rope_lengths(ropes: Ropes, product: Array) -> Array:
    """Lengths (r, …) of the ropes [m] at products (p, …).

    At a gripped disc the length counts from the mark of the disc, its direction d₁.
    """
    lengths = wound_off(ropes, product)
    np.add.at(lengths, ropes.span_rope, tangents(ropes, product)[0])
    shape = (-1, *(1,) * (product.ndim - 1))
    wound = arcs(ropes, product) + FULL * ropes.turns.reshape(shape)
    np.add.at(lengths, ropes.arc_rope, np.abs(ropes.sheave).reshape(shape) * wound)
    return lengths


def wound_off(ropes: Ropes, product: Array) -> Array:
    """Lengths (r, …) [m] of rope on gripped discs, from the mark of the disc, its direction d₁, to the tangent point.

    The lengths are signed, and summed over the gripped discs of each rope; zero if a rope grips none. The mark is
    within half a turn of the tangent point.
    """
    lengths = np.zeros((ropes.number, *product.shape[1:]))
    if not ropes.gripped.size:
        return lengths
    gripped = ropes.grip_angle
    angle = np.arctan2(product[ropes.sine[gripped]], product[ropes.cosine[gripped]])
    radius = ropes.radius[gripped].reshape(-1, *(1,) * (product.ndim - 1))
    np.add.at(lengths, ropes.grip_rope, radius * (angle + tangents(ropes, product)[1][ropes.gripped]))
    return lengths


def out_of_plane(ropes: Ropes, product: Array) -> Array:
    """Magnitudes (w, …) [m] of the components of spans along sheave axes; zero if the fleet angle is small.

    The fleet angle is that between the span and the plane of the sheave, and small if its sine is at most ``FLEET``.
    """
    square = product[ropes.square[ropes.angle_span]]
    apart = square - product[ropes.sine] ** 2 - product[ropes.cosine] ** 2
    return np.sqrt(np.where(apart > FLEET**2 * square, apart, 0.0))


class Slopes(NamedTuple):
    """First and second derivatives of the terms of rope lengths with respect to products.

    Spans have derivatives with respect to V·V, weighted angles with respect to V·d₂ (sine) and V·d₁ (cosine).
    """

    span: Array  # (k,)
    by_sine: Array  # (w,)
    by_cosine: Array
    span_2: Array  # (k,)
    sine_2: Array  # (w,), by the sine twice; that by the cosine twice is its negative
    mixed_2: Array  # by both


def slopes_of(ropes: Ropes, product: Array) -> Slopes:
    """First and second derivatives of spans and weighted angles with respect to their products, at products (p,)."""
    square, (straight, _) = product[ropes.square], tangents(ropes, product)
    s, c = product[ropes.sine], product[ropes.cosine]
    size = s * s + c * c
    return Slopes(
        0.5 * straight / square,
        ropes.radius * c / size,
        -ropes.radius * s / size,
        0.25 / (straight * square) - 0.5 * straight / square**2,
        -2.0 * ropes.radius * s * c / size**2,
        ropes.radius * (s * s - c * c) / size**2,
    )


def rope_rows(ropes: Ropes, product: Array, *, absolute: bool = False) -> Any:
    """Derivatives (r, p) of the rope lengths with respect to the products, sparse.

    With ``absolute`` each is the sum of the absolute values of its terms.
    """
    slopes = slopes_of(ropes, product)
    values = np.concatenate([slopes.span, slopes.by_sine, slopes.by_cosine])
    rows = np.concatenate([ropes.span_rope, ropes.angle_rope, ropes.angle_rope])
    columns = np.concatenate([ropes.square, ropes.sine, ropes.cosine])
    entries = np.abs(values) if absolute else values
    return sparse.coo_array((entries, (rows, columns)), shape=(ropes.number, product.size)).tocsr()


def rope_curvature(ropes: Ropes, product: Array, tension: Array, *, absolute: bool = False) -> Any:
    """Second derivatives of Σ T L with respect to the products at constant tensions T (r,), sparse (p, p).

    L are the lengths of the ropes. With ``absolute`` each is the sum of the absolute values of its terms.
    """
    rows, columns, values = second_entries(ropes, product)
    owner = np.concatenate([ropes.span_rope, *(ropes.angle_rope,) * 4])
    entries = tension[owner] * values
    shape = (product.size, product.size)
    return sparse.coo_array((np.abs(entries) if absolute else entries, (rows, columns)), shape=shape).tocsr()


def second_entries(ropes: Ropes, product: Array) -> tuple[Index, Index, Array]:
    """Second derivatives of the rope lengths with respect to products: rows i, columns j and values ∂²L/∂π_i∂π_j.

    The k entries of spans come first, then four times w entries of angles.
    """
    slopes, i, j = slopes_of(ropes, product), ropes.sine, ropes.cosine
    rows, columns = np.concatenate([ropes.square, i, j, i, j]), np.concatenate([ropes.square, i, j, j, i])
    return rows, columns, np.concatenate([slopes.span_2, slopes.sine_2, -slopes.sine_2, slopes.mixed_2, slopes.mixed_2])


def rope_slope_changes(ropes: Ropes, product: Array, rate: Array) -> Any:
    """Derivatives (r, p) of Σ_j ∂L/∂π_j π̇_j with respect to the products at constant rates π̇ (p,), sparse."""
    rows, columns, values = second_entries(ropes, product)
    owner = np.concatenate([ropes.span_rope, *(ropes.angle_rope,) * 4])
    entries = values * rate[columns]
    return sparse.coo_array((entries, (owner, rows)), shape=(ropes.number, product.size)).tocsr()
