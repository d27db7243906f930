"""Arrays of contact gaps: of single pairs, and of groups of balls in mutual contact.

The n(n − 1)/2 gaps of a group, except those within a rigid body, are numbered row by row (i < j), and computed from its
n members on demand, in a step only for near pairs. The forces of anchors, the springs of sticking friction, are states.
For a group they are a table with a row for each sticking pair, in order: the number of the pair (from 1) and d force
components. The remaining rows are zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy

from ...numerics.arrays import Array

Index = np.ndarray
OFFSET, DISTANCE, ANGLE, AXIAL, RIM, SHAPE, SEGMENTS, FACE = range(8)
VECTORS = 4
"""Number of world vectors of a gap: V, W, U, D."""


class BallGroup(NamedTuple):
    """A group of n moving balls or discs, with gaps |V| − r₁ − r₂ between all pairs.

    ``law`` is a single gap with the contact law of all pairs, ``body`` for each ball the body on which friction exerts
    a moment, or −1, ``rows`` the number of rows of the table of anchors, and ``left_out`` the sorted indices, among
    all pairs, of those on the same rigid body.
    """

    node: Index  # (n,)
    radius: Array
    body: Index
    law: Contacts
    rows: int
    left_out: Index

    @property
    def number(self) -> int:
        """Number of pairs, without those on the same rigid body."""
        n = self.node.size
        return n * (n - 1) // 2 - self.left_out.size

    def _first(self, i: Index) -> Index:
        """Index, among all pairs (i, j) with i < j, of the first pair of member ``i``."""
        return i * (2 * self.node.size - i - 1) // 2

    def places(self, one: Index, other: Index) -> Index:
        """Indices, among all pairs of the group, of the pairs of members ``one`` and ``other``, in either order."""
        i, j = np.minimum(one, other).astype(np.int64), np.maximum(one, other)
        return self._first(i) + j - i - 1

    def numbers(self, one: Index, other: Index) -> Index:
        """Gap numbers of the pairs of members ``one`` and ``other``.

        The numbers count from 0 over all pairs of the group except those on the same rigid body, which have no gap.
        """
        place = self.places(one, other)
        return place - np.searchsorted(self.left_out, place)

    def members(self, number: Index) -> tuple[Index, Index]:
        """Members i and j, with i < j, of the pairs with the given gap numbers."""
        taken = self.left_out - np.arange(self.left_out.size)  # count of numbered pairs before each left out one
        place = number + np.searchsorted(taken, number, side="right")
        b = 2 * self.node.size - 1
        i = ((b - np.sqrt(b * b - 8.0 * place)) // 2).astype(np.int64)
        i -= self._first(i) > place  # round-off of the root
        i += self._first(i + 1) <= place
        return i, place - self._first(i) + i + 1

    def pairs(self, number: Index) -> Contacts:
        """Contact arrays in which the pairs with the given gap numbers are single gaps."""
        i, j = self.members(number)
        offset, none = self.radius[i] + self.radius[j], np.full(number.size, -1)
        return self.law.take(np.zeros(number.size, dtype=int))._replace(
            offset=offset,
            plus=np.stack([self.node[i], none, none, none]),
            minus=np.stack([self.node[j], none, none, none]),
            body=np.stack([self.body[i], self.body[j]]),
            share=np.stack([self.radius[i], self.radius[j]]) / offset,
            pair=number + 1 if self.rows else np.zeros_like(number),
            rows=np.full(number.size, self.rows),
        )

    def near(self, points: Array, reach: float) -> Index:
        """Sorted gap numbers of the pairs with gaps of at most ``reach`` [m], with the members at points (n, d)."""
        widest = float(np.sort(self.radius)[-2:].sum())
        one, other = scipy.spatial.cKDTree(points).query_pairs(widest + reach, output_type="ndarray").T
        apart = np.linalg.norm(points[one] - points[other], axis=1) - self.radius[one] - self.radius[other]
        is_near = apart <= reach
        if self.left_out.size:
            is_near &= ~np.isin(self.places(one, other), self.left_out)
        return np.sort(self.numbers(one[is_near], other[is_near]))


class Contacts(NamedTuple):
    """Constant data of c single gaps in d dimensions, and of groups of balls with gaps between all pairs.

    ``plus`` and ``minus`` are indices of nodes of the mechanism's arrays, −1 for none: the vectors V, W, U and D of a
    gap lead from the ``minus`` to the ``plus`` node, plus the constant vector ``fixed``. V leads from the second shape
    to the first, the others are axes, sides or directions, by the kind of gap (see :mod:`.gaps`). The gaps of groups
    are numbered after the c single ones, one group after the other.
    """

    kind: Index  # (c,)
    sign: Array
    offset: Array
    plus: Index  # (4, c): nodes of V, W, U, D
    minus: Index
    fixed: Array  # (4, c, d)
    body: Index  # (2, c): bodies that friction turns
    share: Array  # (2, c): ρ₁ and ρ₂ over V̄, or over f_V if the gap is an offset; radii r and r_c of a rim
    owner: Index  # (c,): connection
    rigid: Array  # (c,) bool
    stiffness: Array  # K
    exponent: Array  # n of K δⁿ
    loss: Array  # of K δⁿ(1 + loss δ̇) [s/m]
    damping: Array  # [N s/m]
    friction: Array  # μ
    slipping: Array  # slip velocity above which friction is full [m/s]
    restitution: Array  # e
    holding: Array  # stiffness of the anchor of friction [N/m]
    anchor: Index  # (c,): index of the first of d force components among the spring forces of a state, or in a table
    pair: Index  # (c,): number, from 1, in the table of a group; 0 for single anchors
    rows: Index  # (c,): number of rows of that table
    speed: Array  # (c,): speed of a moving surface along U [m/s], 0 if it is a function of time
    timed: Index  # (c,): number of that function of time, −1 for none
    driven: Index  # (c,): number of the input that drives the surface, −1 for none
    rubbing: Index  # (c,): number of the factor of time of the friction, −1 for none
    shape: np.ndarray  # (c,) of Surfaces: the one whose distance is the gap, None for others
    blend: Array  # (c,): width of the blends between its faces [m]
    skin: Index  # (c,): number of the ball and skin whose closest face the gap is, −1 for others
    groups: tuple[BallGroup, ...] = ()

    @property
    def number(self) -> int:
        """Number of all gaps, including those of groups."""
        return int(self.kind.size) + sum(group.number for group in self.groups)

    @property
    def laws(self) -> Contacts:
        """Copy with one gap for each contact law: all single gaps, then one gap that represents each group."""
        if not self.groups:
            return self
        return joined([self._replace(groups=()), *(group.law for group in self.groups)])

    def take(self, index: Index) -> Contacts:
        """Contact arrays in which the gaps with the given numbers are single gaps.

        The numbers may include gaps of groups; if there are groups, the numbers must be ascending.
        """
        if not self.groups:
            return self.take_single(index)
        cuts = np.searchsorted(index, self._firsts)
        parts = [self.take_single(index[: cuts[0]])]
        for k, group in enumerate(self.groups):
            parts.append(group.pairs(index[cuts[k] : cuts[k + 1]] - self._firsts[k]))
        return joined(parts)

    def take_single(self, index: Index) -> Contacts:
        """Contact arrays of the single gaps with the given numbers, without groups."""
        *fields, _ = self
        taken: Any = [part[..., index, :] if part.ndim == 3 else part[..., index] for part in fields]
        return Contacts(*taken)

    def all(self) -> Contacts:
        """Contact arrays in which all gaps, also those of groups, are single gaps."""
        return self.take(np.arange(self.number)) if self.groups else self

    def with_single_rigid(self) -> Contacts:
        """Copy in which the gaps of groups with rigid contact are single gaps; compliant groups are kept."""
        rigid = [group for group in self.groups if group.law.rigid[0]]
        if not rigid:
            return self
        single = joined([self._replace(groups=()), *(group.pairs(np.arange(group.number)) for group in rigid)])
        return single._replace(groups=tuple(group for group in self.groups if not group.law.rigid[0]))

    def of(self, owner: int) -> Contacts:
        """Contact arrays of the connection number ``owner`` of those with contacts: its single gaps and its groups."""
        groups = tuple(group for group in self.groups if group.law.owner[0] == owner)
        return self._replace(groups=()).take(np.flatnonzero(self.owner == owner))._replace(groups=groups)

    def near(self, points: Array, reach: float) -> Index:
        """Numbers of all single gaps, and of those gaps of groups that are at most ``reach`` [m] wide.

        ``points`` (k, d) are the positions of the nodes. All single gaps are included, whatever their width.
        """
        firsts = self._firsts
        of_groups = [group.near(points[group.node], reach) + firsts[k] for k, group in enumerate(self.groups)]
        return np.concatenate([np.arange(self.kind.size), *of_groups])

    def closed(self, *places: Array) -> Contacts:
        """Contact arrays of all single gaps and the closed gaps of groups, all as single gaps.

        A gap of a group is closed if it is at most 0 for at least one of ``places``, each of which has positions (k, d)
        of all nodes. Without groups the arrays themselves are returned.
        """
        if not self.groups:
            return self
        return self.take(np.unique(np.concatenate([self.near(points, 0.0) for points in places])))

    @property
    def _firsts(self) -> Index:
        """Gap number of the first gap of each group, and last the number of all gaps."""
        return np.cumsum([self.kind.size, *(group.number for group in self.groups)])


def joined(parts: list[Contacts]) -> Contacts:
    """Contact arrays with the single gaps of all ``parts``, one after the other.

    Groups of the parts are left out, unless there is only one part: it is returned unchanged.
    """
    if len(parts) == 1:
        return parts[0]
    fields = zip(*(part[:-1] for part in parts), strict=True)
    whole: Any = [
        np.concatenate(parts_of_field, axis=1 if parts_of_field[0].ndim > 1 else 0) for parts_of_field in fields
    ]
    return Contacts(*whole)


def no_contacts(dim: int) -> Contacts:
    """Empty contact arrays."""
    pair, ends, none, nowhere = np.zeros((2, 0)), np.zeros((VECTORS, 0), dtype=int), np.zeros(0), np.zeros(0, dtype=int)
    return Contacts(
        nowhere, none, none, ends, ends, np.zeros((VECTORS, 0, dim)), ends[:2], pair, nowhere,
        np.zeros(0, dtype=bool), none, none, none, none, none, none, none, none, nowhere, nowhere, nowhere, none,
        nowhere, nowhere, nowhere, none.astype(object), none, nowhere,
    )  # fmt: skip
