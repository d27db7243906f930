"""Closed rigid contacts: the rates of their gaps and slips, by whose transposes their impulses act.

Over a step an impulse Λ_N acts with the gradient of the gap and Λ_T with that of the slip, and obeys

    0 ≤ g₁ ⟂ Λ_N ≥ 0,    |Λ_T| ≤ μΛ_N,    Λ_T = −μΛ_N Δs/|Δs| where Δs ≠ 0.

At a state, a step of no length, the law is the same with the rates of gaps and slips.
"""

from typing import Any, NamedTuple

import numpy as np

from .contacts import _difference, _slip_rates, _touching, _vectors, gap


class Closed(NamedTuple):
    """Closed rigid contacts over a step: rates of gaps and slips as maps of the velocities, and μ."""

    number: Any  # (k,) among all contacts
    normal: Any  # (k, n_v)
    tangent: Any  # (k, d − 1, n_v), 0 without friction
    friction: Any  # (k,)
    along: Any  # (k, d − 1, d) tangents in the world, 0 without friction


def closed_contacts(system, way, reach):
    """The rigid contacts whose gaps are at most ``reach`` [m] at the end of a step."""
    c, number, normal, tangent, along = system.contacts, [], [], [], []
    places, rate = _touching(system, way)
    for k in np.flatnonzero(c.rigid):
        vector = _vectors(c, k, places)
        own = gap(c, k, vector)
        if own.value.after <= reach:
            vector_rate = _difference(c, k, rate)
            number.append(k)
            normal.append(np.einsum("vi,vin->n", own.gradient, vector_rate))
            slip = np.zeros((system.dim - 1, system.velocities)), np.zeros((system.dim - 1, system.dim))
            if c.friction[k] > 0.0:
                slip = _slip_rates(system, way, (k, own, vector), vector_rate[0])
            tangent.append(slip[0])
            along.append(slip[1])
    sizes = len(number), system.dim - 1, system.velocities
    return Closed(
        np.array(number, dtype=int),
        np.reshape(normal, sizes[::2]),
        np.reshape(tangent, sizes),
        c.friction[number],
        np.reshape(along, (*sizes[:2], system.dim)),
    )
