"""Contacts over a run: gaps, whether they touch, and their forces."""

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
    """A contact or stop with c gaps over a run: ``gap`` and ``touches`` at its times, forces between them.

    Attributes
    ----------
    normal : array
        Sum of the normal forces of all gaps in the mean between saved times, (k,) [N, N m], with those of impacts.
    friction : array
        The same of the sizes of their friction forces.
    read : callable
        Gives gaps and whether they are closed, which are computed when they are asked for: of a group of n bodies there
        are n(n − 1)/2.
    """

    normal: Array
    friction: Array
    read: Callable[[], tuple[Array, Array]] = field(repr=False)

    @property
    def gap(self) -> Array:
        """Gaps at the saved times, (k + 1, c) [m, of stops for angles rad]; negative where bodies are in each other."""
        return self._gaps[0]

    @property
    def touches(self) -> Array:
        """Whether they are closed, (k + 1, c)."""
        return self._gaps[1]

    @cached_property
    def _gaps(self) -> tuple[Array, Array]:
        return self.read()


def contact_gaps(mechanism: Model, contact: str, states: Array) -> tuple[Array, Array]:
    """Gaps of a contact at states (k, n), and whether they are closed, (k, c)."""
    own = gaps_of(mechanism, contact).all()
    read = (gaps_in(mechanism, own, x) for x in states)
    rows = [(gaps.after, is_closed(mechanism, c, gaps.after)) for _, (c, _), gaps in read]
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


class ContactPoints(NamedTuple):
    """Gaps of a contact at k states: values and whether closed (k, c), places and normals out of the second shape.

    Places are those of the first shape that are nearest to the second, (k, c, d).
    """

    gap: Array
    touches: Array
    place: Array
    normal: Array


def contact_points(mechanism: Model, contact: str, states: Array) -> ContactPoints:
    """Gaps of a contact at states (k, n)."""
    own = gaps_of(mechanism, contact).all()
    rows = [_at(mechanism, own, x) for x in states]
    gap, touches, place, normal = (np.array([row[i] for row in rows]) for i in range(4))
    return ContactPoints(gap, touches, place, normal)


def _at(mechanism: Model, own: Contacts, x: Array) -> tuple[Array, Array, Array, Array]:
    """Gaps at a state, whether they are closed, places and normals."""
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    points = touching_points(a, c.r, node_arms(a, c.R, c.u))
    vectors = vectors_of(own, points)
    gaps = gaps_between(own, vectors, vectors)
    padded = np.vstack([points, np.zeros((1, a.dim))])
    first = np.where(own.plus[0, :, None] >= 0, padded[own.plus[0]], padded[own.minus[0]] + vectors[0])
    return gaps.before, is_closed(mechanism, c, gaps.before), first - tangents(own, gaps)[1][0], gaps.mean[0]
