"""Histories of contacts over a run: gaps, contact states, and forces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..kernels.contacts.gap_arrays import Contacts
from ..kernels.contacts.gaps import gaps_between, tangents, vectors_of
from ..kernels.state import node_arms, touching_points
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..numerics.arrays import Array
from ..sensors.contacts import gaps_in, gaps_of, is_closed


@dataclass(frozen=True, eq=False)
class ContactHistory:
    """History of a contact or stop with c gaps: ``gap`` and ``touches`` at saved times, mean forces between these.

    Attributes
    ----------
    normal : array
        Sum of the normal forces of all gaps as means between saved times, with impacts, (k,) [N, N m].
    friction : array
        Sum of the magnitudes of the friction forces of all gaps, as means between saved times, (k,) [N, N m].
    read : callable
        Function that computes the gaps and the mask of closed gaps when needed, as a group of n bodies has n(n − 1)/2
        gaps.
    """

    normal: Array
    friction: Array
    read: Callable[[], tuple[Array, Array]] = field(repr=False)

    @property
    def gap(self) -> Array:
        """Gaps at the saved times, (k + 1, c) [m, for stops of angles rad]; negative if bodies penetrate."""
        return self._gaps[0]

    @property
    def touches(self) -> Array:
        """Mask of closed gaps at the saved times, (k + 1, c)."""
        return self._gaps[1]

    @cached_property
    def _gaps(self) -> tuple[Array, Array]:
        return self.read()


def contact_gaps(mechanism: Model, contact: str, states: Array) -> tuple[Array, Array]:
    """Gaps of a contact or stop at states (k, n), and the mask of closed gaps, both (k, c)."""
    contacts = gaps_of(mechanism, contact).all()
    read = (gaps_in(mechanism, contacts, x) for x in states)
    rows = [(gaps.after, is_closed(mechanism, c, gaps.after)) for _, (c, _), gaps in read]
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


class ContactPoints(NamedTuple):
    """Gaps of a contact at k states, the mask of closed gaps, and where they lie: points and normals.

    ``gap`` and ``touches`` are (k, c), ``place`` and ``normal`` (k, c, d). A place is the point of the first shape that
    is nearest to the second; a normal points out of the second shape.
    """

    gap: Array
    touches: Array
    place: Array
    normal: Array


def contact_points(mechanism: Model, contact: str, states: Array) -> ContactPoints:
    """Gaps of a contact at states (k, n), with the points and the normals of the two shapes."""
    contacts = gaps_of(mechanism, contact).all()
    rows = [_at(mechanism, contacts, x) for x in states]
    gap, touches, place, normal = (np.array([row[i] for row in rows]) for i in range(4))
    return ContactPoints(gap, touches, place, normal)


def _at(mechanism: Model, contacts: Contacts, x: Array) -> tuple[Array, Array, Array, Array]:
    """Gaps (c,) of contacts at a state x, mask of closed gaps (c,), points and normals (c, d) as in ContactPoints."""
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    points = touching_points(a, c.r, node_arms(a, c.R, c.u))
    vectors = vectors_of(contacts, points)
    gaps = gaps_between(contacts, vectors, vectors)
    padded = np.vstack([points, np.zeros((1, a.dim))])
    first = np.where(contacts.plus[0, :, None] >= 0, padded[contacts.plus[0]], padded[contacts.minus[0]] + vectors[0])
    return gaps.before, is_closed(mechanism, c, gaps.before), first - tangents(contacts, gaps)[1][0], gaps.mean[0]
