"""Contacts over a run: gaps, whether they touch, and their forces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.contacts.gaps import gaps_between, vectors_of
from ..kernels.resolution import coordinate_size
from ..kernels.state import node_arms, node_points
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..numerics import checks as check
from ..numerics.arrays import Array

TOUCHING = 1e-11
"""Gap over the size of the mechanism up to which bodies touch."""


@dataclass(frozen=True, eq=False)
class ContactHistory:
    """A contact or stop with c gaps over a run.

    Attributes
    ----------
    gap : array
        Gaps at the saved times, (k + 1, c) [m, of stops for angles rad]; negative where bodies are in each other.
    touches : array
        Whether they are closed, (k + 1, c).
    normal : array
        Sum of the normal forces of all gaps in the mean between saved times, (k,) [N, N m], with those of impacts.
    friction : array
        The same of the sizes of their friction forces.
    """

    gap: Array
    touches: Array
    normal: Array
    friction: Array


def gaps_of(mechanism: Model, contact: str, states: Array) -> tuple[Array, Array]:
    """Gaps of a contact at states (k, n), (k, c), and whether they are closed."""
    names = [c.name for c in mechanism.connections if c.form.gaps]
    owner = names.index(check.choice("contact", contact, names))
    a = mechanism.network.arrays
    own = a.contacts.take(np.flatnonzero(a.contacts.owner == owner))
    rows, near = [], []
    for x in states:
        c = configuration(mechanism, x)
        vectors = vectors_of(own, node_points(a, c.r, node_arms(a, c.R, c.u)))
        rows.append(gaps_between(own, vectors, vectors).before)
        near.append(TOUCHING * max(coordinate_size(a, c.r), 1e-300))
    gaps = np.array(rows).reshape(-1, own.kind.size)
    return gaps, gaps <= np.array(near).reshape(-1, 1)
