"""Resolution of positions in double precision: motions below it cannot be distinguished from rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from .arrays import Arrays, Springs


def coordinate_size(a: Arrays, r: Array) -> float:
    """Largest absolute coordinate [m] of centres of mass r (b, d), and of nodes relative to them."""
    own = max(r.max(initial=0.0), -r.min(initial=0.0))
    points = a.node_position * a.node_moves[:, None]  # directions have no length
    return float(max(own, np.abs(points).max(initial=0.0)) if points.size else own)


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
