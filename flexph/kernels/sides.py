"""Bodies on both sides of contacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from .arrays import Arrays


class Sides(NamedTuple):
    """The two bodies of each contact, and the body on which each node of its vectors lies.

    ``body`` (2, c) are the indices of the bodies, −1 for the ground. Each of the vectors V, W and U of a contact leads
    from one node to another: ``nodes`` (3, 2, c) are the indices of these, ``on`` (3, 2, c) is 0 or 1 for a node of the
    first or second body, −1 for the ground.
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
    flat = body.reshape(6, -1)
    first = flat.max(axis=0, initial=-1)
    second = np.where(flat != first, flat, -1).max(axis=0, initial=-1)
    on = np.where(body == -1, -1, np.where(body == first, 0, np.where(body == second, 1, 2)))
    return None if (on == 2).any() else Sides(np.stack([first, second]), on, nodes)


def are_apart(a: Arrays) -> bool:
    """True if there are only rigid bodies with no connections other than contacts."""
    return not (a.body_u.size or a.first.size or a.follow_input.size)
