"""Resolution of positions in double precision, below which motions are rest, and scales of constraints.

Products of a point and a direction, and lengths, have the unit m; products of two directions have none.
"""

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


def constraint_measures(parts: Mapping[str, Any], holds_points: Array, reach: float = 0.0) -> dict[str, Any]:
    """Fields of the arrays for the scales of constraints, by their names; ``holds_points`` (g,) as in the arrays.

    ``lengths`` are the largest lever of the bodies alone, which is invariant to rotations and translations of the
    world, and the largest one if the given points of the ground are included. For bodies held at their centres of mass
    it is their radius of gyration, for point masses it is one. ``reach`` is a lower bound of both [m].
    """
    fixed = float(np.abs(parts["vector_fixed"] * parts["joins_points"][:, None]).max(initial=0.0))
    own = max(reach, _lever(parts["node_position"][parts["node_moves"] > 0.0], parts["J"], parts["mass"]))
    return {
        "holds_points": np.asarray(holds_points, dtype=float),
        "of_length": np.sqrt(parts["mass"][parts["body_u"]] / parts["stack"].diagonal()[: len(parts["body_u"])]),
        "lengths": np.array([own, max(own, fixed)]),
    }


def constraint_sizes(a: Arrays, vector: Array) -> Array:
    """Scale of each constraint, (g,), a length [m] or one, with world vectors (v, d)."""
    reached = np.abs(vector).max(axis=1, initial=0.0) * a.joins_points
    length = max(float(a.lengths[1]), float(reached.max(initial=0.0)))
    return np.where(a.holds_points > 0.0, length, 1.0)


def displacement_sizes(a: Arrays, length: float) -> Array:
    """Scales of displacements (n_v,): a length [m], 1 for rotations, and of equal inertia for flexible coordinates."""
    centres, spins, flexible = a.columns
    sizes = np.ones(centres.size + int((spins >= 0).sum()) + flexible.size)
    sizes[centres], sizes[flexible] = length, length * a.of_length
    return sizes


def lever(a: Arrays) -> float:
    """Reference lever [m], which relates displacements to rotations: largest distance of a point from a centre of mass.

    If that is zero, it is the largest radius of gyration, or 1 for point masses.
    """
    return float(a.lengths[0])


def _lever(points: Array, J: Array, mass: Array) -> float:
    largest = float(np.linalg.norm(points, axis=1).max(initial=0.0))
    return largest or float(np.sqrt(np.trace(J, axis1=1, axis2=2) / mass).max(initial=0.0)) or 1.0
