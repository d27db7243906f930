"""Broad phase of collision detection: search for pairs of spheres, fixed planes and surfaces that may touch.

Spheres are searched for by a k-d tree. Surfaces, edges and faces of skins are near if balls that contain them are near.
The two bodies of each contact, its sides, are also found here.

A gap is computed from vectors (see :class:`flexph.kernels.contacts.gap_arrays.Contacts`): V leads from the second shape
to the first, W, U and D are axes, sides or directions of the shapes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..kernels.arrays import Arrays
from ..kernels.contacts.gap_arrays import AXIAL, DISTANCE, FACE, OFFSET, SEGMENTS, SHAPE, VECTORS, Contacts
from ..kernels.contacts.gaps import vectors_of
from ..kernels.surfaces.closest import distance
from ..kernels.surfaces.surfaces import PLACES, VALUE, Surfaces
from ..numerics.arrays import Array

DEEP, ACROSS = 0.01, 0.1
"""Accepted penetration along straight paths, relative to the sum of the radii, for open and for sliding pairs."""
FURTHER = 3.0
"""Margin of faces of a skin over that of the closest one.

A step needs the closest faces at its start and its end. If the one at the end touches, and both ends are within half a
margin s of the list, its gap was at most s there, and is at most 2s at the start, as is that of the closest face there.
This one had a gap of at most 3s in the list.
"""


class BroadPhase(NamedTuple):
    """Gaps among which near ones are searched for, and gaps that are always included (``others``).

    ``pair`` are gaps between two moving spheres, and ``keys`` their sorted keys, one number for each pair of nodes.
    ``walls`` are gaps between a node and a fixed plane. ``bounded`` are gaps to surfaces, edges and faces. Such a gap
    is at least the length of its vector V between both shapes less its radius ``around`` [m], for faces also less the
    length of the longer side. ``nodes`` are the nodes of all these gaps and of groups, ``total`` is the number of nodes
    of the mechanism. ``widest`` is the largest sum of two radii, or the median size of surfaces if that is larger [m].
    """

    contacts: Contacts
    others: Array
    walls: Array
    bounded: Array
    around: Array
    pair: Array
    keys: Array
    nodes: Array
    total: int
    widest: float

    @property
    def searched(self) -> Array:
        """Indices of the single gaps among which a search selects; all other single gaps are in every result."""
        return np.concatenate([self.pair, self.walls, self.bounded])

    @property
    def pairs(self) -> int:
        """Number of pairs of spheres: of single gaps and of all groups."""
        return self.pair.size + sum(group.number for group in self.contacts.groups)

    def near(self, points: Array, reach: float) -> Array:
        """Indices of gaps that include all gaps narrower than ``reach`` [m], and may include wider ones.

        ``points`` (n, d) are the positions of ``nodes``.
        """
        whole = np.zeros((self.total, points.shape[1]))
        whole[self.nodes] = points
        of_groups = self.contacts.near(whole, reach)[self.contacts.kind.size :]
        always = np.concatenate([self.others, self._near_walls(whole, reach), self._near_surfaces(whole, reach)])
        if not self.pair.size:
            return np.concatenate([np.sort(always), of_groups])
        pairs = self.nodes[scipy.spatial.cKDTree(points).query_pairs(self.widest + reach, output_type="ndarray")]
        keys = _keys(pairs[:, 0], pairs[:, 1], self.total)
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        near = np.concatenate([always, self.pair[place[self.keys[place] == keys]]])
        return np.concatenate([np.sort(near), of_groups])

    def _near_walls(self, points: Array, reach: float) -> Array:
        """Indices of the gaps over fixed planes that are at most ``reach`` [m], with all nodes at ``points`` (k, d)."""
        c, walls = self.contacts, self.walls
        apart = points[c.plus[0, walls]] + c.fixed[0, walls]
        near: Array = walls[c.sign[walls] * np.vecdot(apart, c.fixed[1, walls]) - c.offset[walls] <= reach]
        return near

    def _near_surfaces(self, points: Array, reach: float) -> Array:
        """Indices of gaps to surfaces, edges and faces that may be at most ``reach`` [m]; nodes at points (k, d).

        If one face of a skin is among them, so are all faces of the skin whose gaps may be at most ``FURTHER`` times
        the reach.
        """
        if not self.bounded.size:
            return self.bounded
        contacts = self.contacts.take_single(self.bounded)
        apart, *sides = np.linalg.norm(vectors_of(contacts, points)[:3], axis=-1)
        least = apart - self.around - np.where(contacts.kind == FACE, np.maximum(*sides), 0.0)
        is_near = least <= reach
        skins = contacts.skin[is_near & (contacts.skin >= 0)]
        is_near |= (least <= FURTHER * reach) & np.isin(contacts.skin, skins)
        near: Array = self.bounded[is_near]
        return near


def broad_phase(
    c: Contacts, nodes: int, *, of: Array | None = None, walls: Array | None = None, surfaces: Array | None = None
) -> BroadPhase:
    """Broad phase of given contacts.

    It searches among all groups, and among pairs of moving spheres: those with rigid laws, or those in the mask ``of``
    (c,) if it is given. It also searches among gaps over fixed planes in the mask ``walls`` (c,), and among gaps to
    surfaces, edges and faces if ``surfaces`` is given, the positions (k, d) of the nodes in their bodies. All other
    gaps are included in every result. ``nodes`` is the number of nodes of the mechanism. If two nodes have several gaps
    between spheres, all but the first of them are included in every result.
    """
    none = np.zeros(0, dtype=int)
    if not c.number:
        return BroadPhase(c, none, none, none, np.zeros(0), none, none, none, nodes, 0.0)
    known = c.rigid if of is None else of
    free = known & (c.kind == DISTANCE) & (c.sign > 0.0) & (c.plus[0] >= 0) & (c.minus[0] >= 0)
    pair = np.flatnonzero(free & ~c.fixed[0].any(axis=1))
    keys = _keys(c.plus[0, pair], c.minus[0, pair], nodes)
    keys, first = np.unique(keys, return_index=True)
    pair = pair[first]
    over = none if walls is None else np.flatnonzero(walls & _over_fixed_planes(c))
    bounded, around, usual = _bounded(c, surfaces) if surfaces is not None else (none, np.zeros(0), 0.0)
    ends = c.plus[0, pair], c.minus[0, pair], c.plus[0, over], _watched(c.take_single(bounded))
    moving = np.unique(np.concatenate([*ends, *(group.node for group in c.groups)]))
    others = np.setdiff1d(np.arange(c.kind.size), np.concatenate([pair, over, bounded]))
    widest = [float(c.offset[pair].max(initial=0.0)), *(2.0 * float(group.radius.max()) for group in c.groups)]
    return BroadPhase(c, others, over, bounded, around, pair, keys, moving, nodes, max(*widest, usual))


def _bounded(c: Contacts, positions: Array) -> tuple[Array, Array, float]:
    """Indices of gaps to surfaces, edges and faces, their radii ``around`` [m], and the median size [m] of the shapes.

    The radii are the field ``around`` of :class:`BroadPhase`. ``positions`` (k, d) are those of the nodes in their
    bodies. Cavities, outside of which distances are negative, have no such radius and are left out.
    """
    gaps = np.flatnonzero(np.isin(c.kind, (SHAPE, SEGMENTS, FACE)))
    contacts = c.take_single(gaps)
    surfaces = {id(surface): surface for surface in contacts.shape if surface is not None}
    extents = {key: _extent(surface, c.fixed.shape[2]) for key, surface in surfaces.items()}
    one, other = np.linalg.norm(vectors_of(contacts, positions)[1:3], axis=-1)
    around = contacts.offset + contacts.blend + np.array([extents.get(id(surface), 0.0) for surface in contacts.shape])
    around += np.where(contacts.kind == SEGMENTS, one + other, 0.0)
    usual = around + np.where(contacts.kind == FACE, np.maximum(one, other), 0.0)
    finite = np.isfinite(around)
    return gaps[finite], around[finite], float(np.median(usual[finite])) if finite.any() else 0.0


def _watched(c: Contacts) -> Array:
    """Indices of the nodes whose displacements bound the changes of gaps to surfaces, edges and faces.

    These are the nodes of the vectors V between the shapes, and for faces also the nodes of their sides W and U.
    """
    sides = np.where(c.kind == FACE, c.plus[1:3], -1)
    nodes = np.concatenate([c.plus[0], c.minus[0], sides.ravel()])
    watched: Array = nodes[nodes >= 0]
    return watched


def _extent(surface: Surfaces, dim: int) -> float:
    """Radius [m] of a ball about the origin of a surface that contains it; infinite for a cavity.

    A cavity is a closed mesh whose distance is negative outside.
    """
    corners = surface.corner.reshape(-1, 3)
    radius = float(max(np.linalg.norm(surface.half, axis=1).max(), np.linalg.norm(corners, axis=1).max(initial=0.0)))
    far, near, bent = np.zeros((2, 3)), np.zeros((2, PLACES)), np.zeros((4, 3))
    far[:, 0] = 2.0 * radius
    distance(surface, 0, dim, far, 0.0, (near, bent))
    return radius if near[0, VALUE] > 0.0 else np.inf


def _over_fixed_planes(c: Contacts) -> Array:
    """Mask (c,) of gaps over planes fixed to the ground: such a gap changes by at most the displacement of its node."""
    fixed = (c.plus[0] >= 0) & (c.minus == -1).all(axis=0) & (c.plus[1:] == -1).all(axis=0)
    over: Array = fixed & (c.kind == OFFSET) & (np.linalg.norm(c.fixed[1], axis=-1) <= 1.0 + 1e-12)
    return over


def _keys(first: Array, second: Array, nodes: int) -> Array:
    numbers: Array = np.minimum(first, second).astype(np.int64) * nodes + np.maximum(first, second)
    return numbers


def shares_of_contact(c: Contacts, first: Array, last: Array) -> tuple[float, float] | None:
    """Fractions of a step at which bodies that pass through each other first touch, and then overlap slightly.

    These are balls or cylinders in rigid contact whose depth exceeds ``DEEP`` times the sum of their radii within the
    step; None if there are none. The vectors V, W, U (3, c, d) of the contacts change linearly from ``first`` to
    ``last``. Of the contact that closes first, the fractions are those at its closing, and at a tenth of the way from
    there to its largest depth.
    """
    round_pairs = np.flatnonzero(c.rigid & np.isin(c.kind, (DISTANCE, AXIAL)) & (c.sign > 0.0))
    across = (c.kind[round_pairs] == AXIAL)[:, None]
    first, last = (v[0, round_pairs] - np.where(across, _projection(v[:, round_pairs]), 0.0) for v in (first, last))
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


def _projection(v: Array) -> Array:
    """Projection (c, d) of the first of the vectors ``v`` (2 or more, c, d) on the second, for each contact."""
    square = np.vecdot(v[1], v[1])
    part: Array = (np.vecdot(v[0], v[1]) / np.where(square > 0.0, square, 1.0))[:, None] * v[1]
    return part


class Sides(NamedTuple):
    """The two bodies of each contact, and on which of them each node of its vectors lies.

    ``body`` (2, c) are the indices of the bodies, −1 for the ground. ``nodes`` (4, 2, c) are the indices of the last
    and first node of each of the vectors V, W, U and D of a contact, and ``on`` (4, 2, c) is 0 or 1 for a node of the
    first or second body, −1 for the ground.
    """

    body: Array
    on: Array
    nodes: Array


def contact_sides(a: Arrays) -> Sides | None:
    """The two bodies of each contact; None if one has nodes on more than two, or if nodes are means of other nodes."""
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
    """True if all bodies are rigid and free: without joints, springs, or loads whose directions turn with a body."""
    return not (a.body_u.size or a.first.size or a.follow_input.size)
