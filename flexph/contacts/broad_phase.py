"""Broad phase of collision detection: search for near pairs of spheres by a k-d tree of their centres."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..kernels.contacts.gap_arrays import AXIAL, DISTANCE, Contacts
from ..numerics.arrays import Array

MANY = 30
"""Number of pairs of moving spheres above which the tree is used."""
DEEP, ACROSS = 0.01, 0.1
"""Accepted penetration along straight paths, relative to the sum of the radii, for open and for sliding pairs."""
BEFORE, NEXT = 1e-9, 1e-6
"""Distance before the contact, as a fraction of the path, and the fraction below which contact is imminent."""


class BroadPhase(NamedTuple):
    """Pairs of moving spheres for the search, and all other gaps, which are always included.

    ``keys``: sorted keys of the node pairs of single gaps, ``pair``: the gap of each. ``nodes``: nodes of all pairs,
    including groups; ``total``: number of nodes of the mechanism; ``widest``: largest sum of two radii [m].
    """

    contacts: Contacts
    others: Array
    pair: Array
    keys: Array
    nodes: Array
    total: int
    widest: float

    @property
    def pairs(self) -> int:
        """Number of pairs, of single gaps and of groups."""
        return self.pair.size + sum(group.number for group in self.contacts.groups)

    @property
    def leaves_out(self) -> bool:
        """True if there are so many pairs that only near ones are searched for."""
        return self.pairs > MANY

    def near(self, points: Array, reach: float) -> Array:
        """Gaps that may be below ``reach`` [m] with ``nodes`` at points (n, d); includes all that are."""
        whole = np.zeros((self.total, points.shape[1]))
        whole[self.nodes] = points
        of_groups = self.contacts.near(whole, reach)[self.contacts.kind.size :]
        if not self.pair.size:
            return np.concatenate([self.others, of_groups])
        found = self.nodes[scipy.spatial.cKDTree(points).query_pairs(self.widest + reach, output_type="ndarray")]
        keys = _keys(found[:, 0], found[:, 1], self.total)
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        own = np.concatenate([self.others, self.pair[place[self.keys[place] == keys]]])
        return np.concatenate([np.sort(own), of_groups])


def broad_phase(c: Contacts, nodes: int, *, of: Array | None = None) -> BroadPhase:
    """The broad phase of contacts: pairs of spheres among the rigid ones, or those in the mask ``of``, and the others.

    Two nodes have at most one single pair; groups with any contact law are included.
    """
    none = np.zeros(0, dtype=int)
    if not c.number:
        return BroadPhase(c, none, none, none, none, nodes, 0.0)
    known = c.rigid if of is None else of
    free = known & (c.kind == DISTANCE) & (c.sign > 0.0) & (c.plus[0] >= 0) & (c.minus[0] >= 0)
    pair = np.flatnonzero(free & ~c.fixed[0].any(axis=1))
    keys = _keys(c.plus[0, pair], c.minus[0, pair], nodes)
    keys, first = np.unique(keys, return_index=True)
    pair = pair[first]
    own = np.unique(np.concatenate([c.plus[0, pair], c.minus[0, pair], *(group.node for group in c.groups)]))
    others = np.setdiff1d(np.arange(c.kind.size), pair)
    widest = max([float(c.offset[pair].max(initial=0.0)), *(2.0 * float(group.radius.max()) for group in c.groups)])
    return BroadPhase(c, others, pair, keys, own, nodes, widest)


def _keys(first: Array, second: Array, nodes: int) -> Array:
    numbers: Array = np.minimum(first, second).astype(np.int64) * nodes + np.maximum(first, second)
    return numbers


def passing(c: Contacts, ends: tuple[Array, Array], closed: Array) -> tuple[float, float] | None:
    """Fractions of a straight path between vectors V, W, U (3, c, d) before the deepest contact, and within it.

    For contacts of balls or cylinders that could have passed through each other. None if no penetration exceeds
    ``DEEP`` (``ACROSS`` for the ``closed`` contacts) times the sum of the radii.
    """
    own = np.flatnonzero(c.rigid & can_be_passed(c))
    if not own.size:
        return None
    first, last = (v[0, own] - np.where((c.kind[own] == AXIAL)[:, None], _along(v[:, own]), 0.0) for v in ends)
    way = last - first
    length = np.maximum(np.linalg.norm(way, axis=1), 1e-150)
    share, radius = np.clip(-np.vecdot(first, way) / length**2, 0.0, 1.0), c.offset[own]
    nearest = np.linalg.norm(first + share[:, None] * way, axis=1)
    limit = np.where(np.isin(own, closed), ACROSS, DEEP) * radius
    over = np.where((share > 0.0) & (share < 1.0), radius - nearest - limit, -np.inf)
    worst = int(np.argmax(over))
    if over[worst] <= 0.0:
        return None
    way = float(np.sqrt(radius[worst] ** 2 - nearest[worst] ** 2) / length[worst])
    entry, inside = float(share[worst]) - way, float(share[worst]) - 0.9 * way  # their centres may meet
    return (inside if entry <= NEXT else entry - BEFORE), inside


def can_be_passed(c: Contacts) -> Array:
    """Mask of contacts with two sides: of a point or ball with a ball or cylinder, outside of it."""
    two_sides: Array = np.isin(c.kind, (DISTANCE, AXIAL)) & (c.sign > 0.0)
    return two_sides


def _along(v: Array) -> Array:
    """Projection of V on W."""
    square = np.vecdot(v[1], v[1])
    part: Array = (np.vecdot(v[0], v[1]) / np.where(square > 0.0, square, 1.0))[:, None] * v[1]
    return part
