"""Data and work space of the compiled solvers of contact laws, with a dense D or in velocities of the bodies.

D maps impulses of the contacts to changes of their rates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.loops.views import padded


class Space(NamedTuple):
    """Work space for a problem with m impulses of c contacts and a dense D.

    Rows of ``matrix`` and ``rates`` are padded to full vector registers.
    """

    matrix: Array  # (m, padded)
    pivot: Array  # (m,)
    own: Array  # (m,), indices of the unknown impulses
    place: Array  # (m,), positions of impulses among the unknown ones, −1 for others
    entries: Array  # (m,)
    x: Array  # (m,)
    change: Array  # (m,)
    best: Array  # (m,)
    kept: Array  # (m,)
    unknown: Array  # (m,)
    rates: Array  # (padded,)
    missed: Array  # (m,)
    right: Array  # (m,)
    turning: Array  # (c, 2, 2), derivatives of the conditions along the tangents by the rates along them
    along: Array  # (c, 2), directions of slips
    state: Array  # (c,), 0 open, 1 without friction, 2 sticks, 3 slips
    pairs: Array  # (15, c), zeros, of the interior point method


def space_of(m: int, c: int) -> Space:
    """Work space for m impulses of c contacts and a dense D."""
    whole = [np.empty(m, dtype=np.int64) for _ in range(4)]
    vectors = [np.empty(padded(m) if name == "rates" else m) for name in Space._fields[5:13]]
    kinds = [np.empty((c, 2, 2)), np.empty((c, 2)), np.empty(c, dtype=np.int64)]
    return Space._make([np.empty((m, padded(m))), *whole, *vectors, *kinds, np.zeros((15, c))])


class Cone(NamedTuple):
    """Problem with a dense D (m, m), rates b (m,) at zero impulses, and friction coefficients (c,).

    ``normal_step`` and ``tangent_step`` (c,) are the step lengths of the natural map (see .newton), ``scale`` is that
    of the rates [m/s]. ``ptr`` (m + 1,), ``col`` (m²,) and ``order`` (c,) are work space for the pattern of D (see
    :mod:`.pattern`).
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
    """Problem in body velocities: c contacts with r rates each (at most d), of which the normal one is the first.

    The blocks P and R, the rates y₀ and the impulses Λ₀ are defined in :mod:`.coupled`. Blocks and work space may be
    longer than needed.
    """

    side: Array  # (c, 2), indices of the bodies, −1 for the ground
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
    """Work space to solve a problem in body velocities: c contacts with m rates in all, and N velocities of bodies."""

    half: int  # half band width: entries on each side of the diagonal
    band: Array  # (rows, width), see numerics.algebra.band, or with more rows than N numerics.algebra.halves
    pivot: Array  # (rows,)
    made: Array  # first entry 1 if the band is the factor for ``kept_gain``, last one the number of threads
    kept_gain: Array  # (c, d, d)
    gain: Array  # (c, d, d), J
    pull: Array  # (m,), h
    z: Array  # (N,)
    other: Array  # (N,), work space
    vectors: Array  # (9, m)
    state: Array  # (c,)
    pairs: Array  # (15, c)


class Side(NamedTuple):
    """Half of a band matrix that one thread assembles.

    It has the rows from the first one on (``second`` is 0), or those from the last one backwards (``second`` is 1).
    """

    problem: Coupled
    space: Chain
    second: int


AnyLaws = Cone | Coupled
"""Problem with a dense D, or in body velocities."""
