"""Broad phase of collision detection: search for near pairs of spheres (k-d tree) and for nodes near fixed planes.

Sides of contacts, the two bodies of each, are found here, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..kernels.arrays import Arrays
from ..kernels.contacts.gap_arrays import AXIAL, DISTANCE, OFFSET, VECTORS, Contacts
from ..numerics.arrays import Array

DEEP, ACROSS = 0.01, 0.1
"""Accepted penetration along straight paths, relative to the sum of the radii, for open and for sliding pairs."""


class BroadPhase(NamedTuple):
    """Pairs of moving spheres and gaps over fixed planes for the search; all other gaps are always included.

    ``keys``: sorted keys of the node pairs of single gaps, ``pair``: the gap of each; ``walls``: gaps between a node
    and a fixed plane. ``nodes``: nodes of all pairs, including groups, and of walls; ``total``: number of nodes of the
    mechanism; ``widest``: largest sum of two radii [m].
    """

    contacts: Contacts
    others: Array
    walls: Array
    pair: Array
    keys: Array
    nodes: Array
    total: int
    widest: float

    @property
    def pairs(self) -> int:
        """Number of pairs, of single gaps and of groups."""
        return self.pair.size + sum(group.number for group in self.contacts.groups)

    def near(self, points: Array, reach: float) -> Array:
        """Indices of gaps that may be below ``reach`` [m], at least all that are, with ``nodes`` at points (n, d)."""
        whole = np.zeros((self.total, points.shape[1]))
        whole[self.nodes] = points
        of_groups = self.contacts.near(whole, reach)[self.contacts.kind.size :]
        always = np.concatenate([self.others, self._near_walls(whole, reach)])
        if not self.pair.size:
            return np.concatenate([np.sort(always), of_groups])
        pairs = self.nodes[scipy.spatial.cKDTree(points).query_pairs(self.widest + reach, output_type="ndarray")]
        keys = _keys(pairs[:, 0], pairs[:, 1], self.total)
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        near = np.concatenate([always, self.pair[place[self.keys[place] == keys]]])
        return np.concatenate([np.sort(near), of_groups])

    def _near_walls(self, points: Array, reach: float) -> Array:
        """Gaps of at most ``reach`` [m] over fixed planes, with the nodes of the mechanism at points (k, d)."""
        c, walls = self.contacts, self.walls
        apart = points[c.plus[0, walls]] + c.fixed[0, walls]
        near: Array = walls[c.sign[walls] * np.vecdot(apart, c.fixed[1, walls]) - c.offset[walls] <= reach]
        return near


def broad_phase(c: Contacts, nodes: int, *, of: Array | None = None, walls: Array | None = None) -> BroadPhase:
    """Broad phase of contacts, which searches among the pairs of spheres with rigid laws, or in the mask ``of`` (c,).

    Two nodes have at most one single pair; groups with any contact law are included. Gaps over fixed planes are
    searched for in the mask ``walls`` (c,). All other gaps are always included in the result of a search.
    """
    none = np.zeros(0, dtype=int)
    if not c.number:
        return BroadPhase(c, none, none, none, none, none, nodes, 0.0)
    known = c.rigid if of is None else of
    free = known & (c.kind == DISTANCE) & (c.sign > 0.0) & (c.plus[0] >= 0) & (c.minus[0] >= 0)
    pair = np.flatnonzero(free & ~c.fixed[0].any(axis=1))
    keys = _keys(c.plus[0, pair], c.minus[0, pair], nodes)
    keys, first = np.unique(keys, return_index=True)
    pair = pair[first]
    over = none if walls is None else np.flatnonzero(walls & _over_fixed_planes(c))
    ends = c.plus[0, pair], c.minus[0, pair], c.plus[0, over]
    moving = np.unique(np.concatenate([*ends, *(group.node for group in c.groups)]))
    others = np.setdiff1d(np.arange(c.kind.size), np.concatenate([pair, over]))
    widest = max([float(c.offset[pair].max(initial=0.0)), *(2.0 * float(group.radius.max()) for group in c.groups)])
    return BroadPhase(c, others, over, pair, keys, moving, nodes, widest)


def _over_fixed_planes(c: Contacts) -> Array:
    """Mask (c,) of gaps over planes fixed to the ground, which change by at most the displacement of their node."""
    fixed = (c.plus[0] >= 0) & (c.minus == -1).all(axis=0) & (c.plus[1:] == -1).all(axis=0)
    over: Array = fixed & (c.kind == OFFSET) & (np.linalg.norm(c.fixed[1], axis=-1) <= 1.0 + 1e-12)
    return over


def _keys(first: Array, second: Array, nodes: int) -> Array:
    numbers: Array = np.minimum(first, second).astype(np.int64) * nodes + np.maximum(first, second)
    return numbers


def shares_of_contact(c: Contacts, first: Array, last: Array) -> tuple[float, float] | None:
    """Fractions of a step at the first contact of balls or cylinders that pass through each other, and just after it.

    The vectors V, W, U (3, c, d) of the contacts change linearly from ``first`` to ``last``. Only rigid contacts count
    that penetrate deeper than ``DEEP`` times the sum of their radii; None if there are none.
    """
    round_pairs = np.flatnonzero(c.rigid & np.isin(c.kind, (DISTANCE, AXIAL)) & (c.sign > 0.0))
    across = (c.kind[round_pairs] == AXIAL)[:, None]
    first, last = (v[0, round_pairs] - np.where(across, _along(v[:, round_pairs]), 0.0) for v in (first, last))
    way, radius = last - first, c.offset[round_pairs]
    length = np.maximum(np.linalg.norm(way, axis=1), 1e-150)
    middle = -np.vecdot(first, way) / length**2
    nearest = np.linalg.norm(first + middle[:, None] * way, axis=1)
    passes = np.flatnonzero((middle > 0.0) & (middle < 1.0) & (radius - nearest > DEEP * radius))
    if not passes.size:
        return None
    half = np.sqrt(radius[passes] ** 2 - nearest[passes] ** 2) / length[passes]
    at = int(np.argmin(middle[passes] - half))
    entry = float(middle[passes[at]] - half[at])
    return entry, entry + 0.1 * float(half[at])


def _along(v: Array) -> Array:
    """Projection of V on W."""
    square = np.vecdot(v[1], v[1])
    part: Array = (np.vecdot(v[0], v[1]) / np.where(square > 0.0, square, 1.0))[:, None] * v[1]
    return part


class Sides(NamedTuple):
    """The two bodies of each contact, and the body on which each node of its vectors lies.

    ``body`` (2, c) are the indices of the bodies, −1 for the ground. Each of the vectors V, W, U and D of a contact
    leads from one node to another: ``nodes`` (4, 2, c) are the indices of these, ``on`` (4, 2, c) is 0 or 1 for a node
    of the first or second body, −1 for the ground.
    """

    body: Array
    on: Array
    nodes: Array


def contact_sides(a: Arrays) -> Sides | None:
    """Sides of contacts at the frames of bodies, which may deform; None if a contact has more than two bodies."""
    if a.node_means is not None:
        return None
    nodes = np.stack([a.contacts.plus, a.contacts.minus], axis=1)
    body = np.append(a.node_body, -1)[nodes]
    flat = body.reshape(2 * VECTORS, -1)
    first = flat.max(axis=0, initial=-1)
    second = np.where(flat != first, flat, -1).max(axis=0, initial=-1)
    on = np.where(body == -1, -1, np.where(body == first, 0, np.where(body == second, 1, 2)))
    return None if (on == 2).any() else Sides(np.stack([first, second]), on, nodes)


def are_apart(a: Arrays) -> bool:
    """True if there are only rigid bodies with no connections other than contacts."""
    return not (a.body_u.size or a.first.size or a.follow_input.size)
