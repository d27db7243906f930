"""What the loops of complementarity problems by a dense D are given, and what they overwrite."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.loops.views import padded


class Space(NamedTuple):
    """What the loops overwrite, for m impulses of c contacts; rows of ``matrix`` and ``rates`` fill up a lane."""

    matrix: Array  # (m, padded)
    pivot: Array  # (m,)
    own: Array  # (m,), the impulses that are unknown
    place: Array  # (m,), their places among those, −1 of others
    entries: Array  # (m,)
    x: Array  # (m,)
    change: Array  # (m,)
    best: Array  # (m,)
    kept: Array  # (m,)
    unknown: Array  # (m,)
    rates: Array  # (m,)
    missed: Array  # (m,)
    right: Array  # (m,)
    turning: Array  # (c, 2, 2), of slips by rates
    along: Array  # (c, 2), directions of slips
    state: Array  # (c,), 0 open, 1 without friction, 2 sticks, 3 slips
    pairs: Array  # (15, c), zeros, of the interior point method


def space_of(m: int, c: int) -> Space:
    """Space for so many impulses and contacts."""
    whole = [np.empty(m, dtype=np.int64) for _ in range(4)]
    vectors = [np.empty(padded(m))[:m] for _ in range(8)]
    kinds = [np.empty((c, 2, 2)), np.empty((c, 2)), np.empty(c, dtype=np.int64)]
    return Space._make([np.empty((m, padded(m))), *whole, *vectors, *kinds, np.zeros((15, c))])


class Cone(NamedTuple):
    """D (m, m), b (m,), coefficients of friction and steps of the natural map (c,), and the scale of rates [m/s].

    ``ptr`` (m + 1,), ``col`` (m²,) and ``order`` (c,) are space for the pattern of D (see :mod:`.pattern`).
    """

    D: Array
    b: Array
    friction: Array
    normal_step: Array
    tangent_step: Array
    scale: float
    ptr: Array
    col: Array
    order: Array


class Coupled(NamedTuple):
    """Some contacts c with r rates of d at most, normal ones first, and the bodies they are between.

    Blocks and what is overwritten may be longer than needed.
    """

    side: Array  # (c, 2), places of the bodies, −1 of what does not move
    rate: Array  # (2 c, d, n), R
    answer: Array  # (2 c, d, n), P
    b: Array  # (r c,), y₀
    given: Array  # (r c,), Λ₀
    friction: Array  # (c,)
    normal_step: Array  # (c,)
    tangent_step: Array  # (c,)
    scale: float  # of rates [m/s]
    rows: int  # r


class Chain(NamedTuple):
    """What the loops overwrite, for c contacts with m rates between bodies with N velocities."""

    half: int  # entries beside the diagonal of the band
    band: Array  # (N, width), see numerics.algebra.band
    pivot: Array  # (N,)
    made: Array  # (1,), whether the band is the factor of ``kept_gain``
    kept_gain: Array  # (c, d, d)
    gain: Array  # (c, d, d), J
    pull: Array  # (m,), h
    z: Array  # (N,)
    vectors: Array  # (9, m)
    state: Array  # (c,)
    pairs: Array  # (15, c)


AnyLaws = Cone | Coupled
"""Contacts by a dense D or by the bodies that they share."""
