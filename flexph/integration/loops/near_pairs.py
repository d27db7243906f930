"""Lists of near pairs: the gaps between spheres, and to planes and surfaces, that may soon close; loops skip others.

A list with a margin s has every pair with a gap up to s. While no node has moved by more than ½s, a gap has changed by
at most s, so that pairs outside the list are open. Forces of a step depend only on the gaps at its ends: if both ends
are within ½s, which loops check before they record a step, the omitted pairs have no forces, and the step equals that
with all pairs. A step in which a node moves further is not recorded, but repeated with a new list. Intermediate
iterates may move nodes further: only the last one, which solves the step, counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...contacts.broad_phase import BroadPhase, are_apart, broad_phase
from ...kernels.arrays import Arrays
from ...kernels.contacts.laws import held_in
from ...numerics.arrays import Array
from .memory.data import Index
from .points import node_sides

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model

LISTED = 300
"""Number of pairs above which a list of near pairs takes less time than tests of all pairs."""
MARGIN, WIDER = 0.5, 2.0
"""Margin of a list, divided by the largest sum of two radii, and its growth factor if a single step leaves the list."""


class NearPairs:
    """Search for the pairs of a mechanism that may soon touch: two spheres, or a sphere or edge and a surface.

    ``lists`` is True if there are so many pairs that listing the near ones pays; then the broad phase ``phase`` finds
    them. ``of_balls`` is True if the pairs of two spheres alone are so many.

    A pile (``is_pile``) consists of free rigid bodies: its linear systems are solved by iteration, also at linear cost.
    With rigid contacts (``strikes``) loops take steps with impacts (see integration.loops.rigid_steps). Bodies are
    ``coupled`` if they have joints or springs, are flexible, or do not turn, or if rigid contacts are ``mixed`` with
    compliant ones or with dry friction of joints. The order of unknowns depends on listed compliant pairs of spheres
    (``orders``). It takes all gaps to surfaces into account, listed or not, so that their lists do not change the
    order.
    """

    def __init__(self, mechanism: Model) -> None:
        a = mechanism.network.arrays
        rigid, nodes = sum(group.number for group in a.contacts.groups if group.law.rigid[0]), a.node_body.size
        are_rigid = a.contacts.laws.rigid
        self.mixed = bool(are_rigid.any() and (a.bearings.number or not are_rigid.all()))
        self.strikes = bool(are_rigid.any())
        self.coupled = self.strikes and (self.mixed or a.turning.size < len(a.mass) or not are_apart(a))
        lists_rigid = self.strikes and rigid > LISTED
        self.contacts = a.contacts if lists_rigid else a.contacts.with_single_rigid()
        soft = ~self.contacts.rigid
        self.lists = self.of_balls = False
        if self.contacts.number > LISTED:
            walls = soft | lists_rigid
            self.phase: BroadPhase = broad_phase(self.contacts, nodes, of=soft, walls=walls, surfaces=a.node_position)
            self.of_balls = self.phase.pairs > LISTED
            self.lists = self.of_balls or self.phase.bounded.size > LISTED
        self.is_pile = self.of_balls and not self.strikes and _is_pile(mechanism)
        compliant = self.lists and (self.phase.pair.size or not all(g.law.rigid[0] for g in self.contacts.groups))
        self.orders = bool(compliant and not self.is_pile)

    @property
    def stores_responses(self) -> bool:
        """True if responses of all bodies to impulses may be stored, as bodies are coupled or contacts are few."""
        return self.coupled or self.contacts.number <= LISTED

    @property
    def in_order(self) -> Index:
        """Numbers of the contacts by which the unknowns are ordered at first, before any list of near pairs.

        Pairs of spheres are left out if there are so many that loops use lists of near pairs.
        """
        if not self.lists:
            return np.arange(self.contacts.number)
        return np.union1d(self.phase.others, self.phase.bounded)

    def near(self, points: Array, margin: float, springs: Array) -> Index:
        """Numbers of the contacts that have a gap of at most ``margin`` [m] or an anchor force.

        ``points`` (k, d) are the positions of the nodes, ``springs`` the spring states and anchor forces.
        """
        near = self.phase.near(points[self.phase.nodes], margin)
        single = self.phase.searched
        held = [self._held(single, self.contacts.anchor[single], springs)]
        firsts = np.cumsum([self.contacts.kind.size, *(group.number for group in self.contacts.groups)])
        for first, group in zip(firsts, self.contacts.groups, strict=False):
            if group.rows:
                table = int(group.law.anchor[0]), group.rows
                held.append(first + held_in(springs, table, points.shape[1])[0] - 1)
        return np.union1d(near, np.concatenate(held))

    def _held(self, pair: Index, anchor: Index, springs: Array) -> Index:
        """Numbers of the contacts in ``pair`` that have anchor forces.

        ``anchor`` are the indices of their forces in ``springs``.
        """
        has_anchor = anchor >= 0
        components = anchor[has_anchor, None] + np.arange(self.contacts.fixed.shape[2])
        return pair[has_anchor][(springs[components] != 0.0).any(axis=1)]


def on_sides(mechanism: Model) -> Arrays:
    """Arrays of the mechanism, with the body of each node replaced by the side to which it belongs in contacts.

    A side is a body or a mean of points.
    """
    return mechanism.network.arrays._replace(node_body=node_sides(mechanism), node_means=None)


def _is_pile(mechanism: Model) -> bool:
    """True if all bodies are free and rigid, so that only contacts couple them."""
    a, layout = mechanism.network.arrays, mechanism.layout
    coupled = sum(not c.touches for c in mechanism.connections) + a.follow_input.size
    return not (layout.multipliers or coupled or a.body_u.size) and a.turning.size == len(a.mass)
