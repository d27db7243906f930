"""Velocities of all bodies as arrays of their kinds, and as one vector without the spins of point masses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from .arrays import Arrays
from .gradient import velocity_slices


class Velocities(NamedTuple):
    """Velocities ṙ (b, d), ω (b, s) and u̇ (n,), or displacements."""

    v: Array
    omega: Array
    du: Array


def flatten(a: Arrays, x: Velocities) -> Array:
    """Velocities as one vector (n_v,)."""
    return np.concatenate([x.v.ravel(), x.omega.take(a.turning, axis=0).ravel(), x.du])


def unflatten(a: Arrays, y: Array) -> Velocities:
    """Inverse of :func:`flatten`."""
    omega, u = velocity_slices(a)
    spin = np.zeros(a.columns.omega.shape)
    spin[a.turning] = y[omega].reshape(-1, a.n.shape[0])
    return Velocities(y[: omega.start].reshape(a.weight.shape), spin, y[u])
