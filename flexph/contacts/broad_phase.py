"""Which of many pairs of spheres are near each other: a tree of their centres in place of all distances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..kernels.contacts.gap_arrays import AXIAL, DISTANCE, Contacts
from ..numerics.arrays import Array

MANY = 30
"""Pairs of spheres that move from which on a tree is worth its while."""
DEEP, ACROSS = 0.01, 0.1
"""How deep straight ways may cut, over the sum of the radii: of pairs that are open, and of those that slide."""
BEFORE, NEXT = 1e-9, 1e-6
"""Share of a way before bodies meet, and up to which they are about to."""


class BroadPhase(NamedTuple):
    """Pairs of spheres that move, by their nodes, and all other gaps, of which none is left out.

    Of single gaps ``keys`` are the pairs of nodes as numbers, sorted, and ``pair`` the gap of each; of all pairs, those
    of groups too, ``nodes`` are the nodes, ``total`` is how many the mechanism has, and ``widest`` the largest sum of
    two radii [m].
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
        """Number of all pairs, of single gaps and of groups."""
        return self.pair.size + sum(group.number for group in self.contacts.groups)

    @property
    def leaves_out(self) -> bool:
        """Whether there are so many pairs that it looks for those that are near."""
        return self.pairs > MANY

    def near(self, points: Array, reach: float) -> Array:
        """Gaps that may be up to a reach [m] with its ``nodes`` at points (n, d): no pair that is nearer is missing."""
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
    """The pairs of spheres among some contacts, the rigid ones unless others are named, and all other contacts.

    Of the single pairs each two nodes have one at most; groups are looked at whatever their law.
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
    """Shares of a straight way between vectors V, W, U (3, c, d) before balls or cylinders meet, and after.

    Of those that get deepest. None where none gets deeper than ``DEEP``, of the ``closed`` ones than ``ACROSS``, of the
    sum of the radii: then nothing passed through anything.
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
    """Contacts of a point or ball with a ball or cylinder, which have two sides."""
    two_sides: Array = np.isin(c.kind, (DISTANCE, AXIAL)) & (c.sign > 0.0)
    return two_sides


def _along(v: Array) -> Array:
    """The part of V along W."""
    square = np.vecdot(v[1], v[1])
    part: Array = (np.vecdot(v[0], v[1]) / np.where(square > 0.0, square, 1.0))[:, None] * v[1]
    return part
