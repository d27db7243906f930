"""Work space for the laws of islands, which are contacts coupled by their bodies, and the data of an island."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.loops.views import padded, stored

LARGEST, BAND = 1000, 37_500_000
"""Largest number of impulses of an island for a dense D, and of entries of the band matrix for other islands."""


class LawSpace(NamedTuple):
    """Work space to solve the contact laws of islands, with up to m impulses of c contacts and N body velocities.

    It serves islands with a dense D of up to :data:`LARGEST` impulses, and larger ones in body velocities.
    """

    D: Array  # (m²,)
    b: Array  # (m,), rates with the given impulses
    given: Array  # (m,), impulses at which b is taken
    x: Array  # (m,), impulses of the solution
    y: Array  # (m,), rates before
    kept: Array  # (m,), other impulses
    moved: Array  # (m,), changes of the rates by impulses
    point: Array  # (2 m,)
    matrix: Array  # (m²,)
    whole: Array  # (4 m,)
    vectors: Array  # (8 m,)
    turning: Array  # (c, 2, 2)
    along: Array  # (c, 2)
    state: Array  # (c,)
    ptr: Array  # (m + 1,)
    col: Array  # (m²,)
    order: Array  # (c,)
    by_contact: Array  # (18 c,), friction coefficients, step lengths of the natural map, and pairs of interior points
    place: Array  # (2, bodies), positions of bodies in the order of an island, and the bodies in this order
    side: Array  # (c, 2)
    rate: Array  # (2 c, d, n)
    answer: Array  # (2 c, d, n)
    band: Array  # (N width,), band matrix of the bodies
    pivot: Array  # (2 N,)
    made: Array  # (5,): 1 if the band is factored, 1 + first contact of its island, number of its bodies, their reach,
    # and the number of threads that the run may have
    steps: Array  # (3 c,), friction coefficients and step lengths of the natural map of that island
    kept_gain: Array  # (c, d, d)
    gain: Array  # (c, d, d)
    pull: Array  # (m,)
    z: Array  # (2 N,)
    of_bodies: Array  # (9, m)
    pairs: Array  # (15, c)


class Island(NamedTuple):
    """Data of an island: first contact, number of contacts, number of rates of each contact, scale of rates [m/s].

    ``bodies`` is the number of its bodies, ``reach`` the largest difference of the numbers of two bodies in contact.
    Both are zero if the bodies are not ordered.
    """

    first: int
    contacts: int
    rows: int
    scale: float
    bodies: int
    reach: int


def law_space(c: int, bodies: int, dim: int) -> LawSpace:
    """Work space for c contacts between bodies in the plane or in space."""
    z, whole, n = np.zeros, np.int64, 3 if dim == 2 else 6
    dense, m, N = padded(min(LARGEST, dim * c)), dim * c, n * bodies
    entries = min(N * stored(N), BAND)
    given: Any = (
        *(z(dense * dense), *(z(m) for _ in range(6)), z(2 * dense), z(dense * dense)),
        *(z(4 * dense, whole), z(8 * dense)),
        *(z((c, 2, 2)), z((c, 2)), z(c, whole), z(dense + 1, whole), z(dense * dense, whole)),
        *(z(c, whole), z(18 * c), z((2, bodies), whole), z((c, 2), whole)),
        *(z((2 * c, dim, n)), z((2 * c, dim, n))),
        *(z(entries), z(2 * N, whole), z(5, whole), z(3 * c)),
        *(z((c, dim, dim)), z((c, dim, dim)), z(m), z(2 * N), z((9, m)), z((15, c))),
    )
    return LawSpace(*given)
