"""Resolution of positions in double precision: motions below it cannot be distinguished from rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from .arrays import Arrays, Springs


def coordinate_size(a: Arrays, r: Array) -> float:
    """Largest coordinate in the sums of positions [m]: of centres of mass r (b, d), and of nodes relative to them."""
    return larger_coordinate(r, node_size(a))


def node_size(a: Arrays) -> float:
    """Largest coordinate of a node relative to the centre of mass of its body [m]."""
    points = a.node_position * a.node_moves[:, None]  # directions have no length
    return float(np.abs(points).max(initial=0.0))


def larger_coordinate(r: Array, size: float) -> float:
    """Largest coordinate of centres of mass r, at least ``size`` [m]."""
    return max(float(r.max(initial=size)), -float(r.min(initial=-size)))


def resolution_terms(parts: Mapping[str, Any], springs: Springs) -> Array:
    """Sums over the mechanism (4,): Σ m [kg], Σ tr J [kg m²], stiffness to displacements [N/m] and to rotations [N m].

    A body has the stiffness m max ω², with ω² = K_ii/M_ii of its flexible coordinates, in 1/s² for any units of these.
    """
    flexible = len(parts["body_u"])
    mass, elastic = parts["stack"].diagonal()[:flexible], (parts["strain"] * parts["rise"]).sum(axis=0)
    squares = np.zeros(len(parts["mass"]))
    np.maximum.at(squares, parts["body_u"], elastic / mass)
    moving, turning = springs.scales
    return np.array(
        [
            parts["mass"].sum(),
            np.trace(parts["J"], axis1=1, axis2=2).sum(),
            parts["mass"] @ squares + moving,
            turning,
        ]
    )
