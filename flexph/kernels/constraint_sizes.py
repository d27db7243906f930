"""Sizes of what constraints measure: a length of the mechanism where they hold points, one where they hold directions.

Products of a point and a direction, and lengths, have the unit m; products of two directions have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..numerics.arrays import Array
from .arrays import Arrays


def constraint_measures(parts: Mapping[str, Any], holds_points: Array, reach: float = 0.0) -> dict[str, Any]:
    """The fields of the arrays that say what constraints measure; ``holds_points`` (g,) as of the arrays.

    Lengths are that of the bodies alone, which no turn or shift of the world changes, and with the stated points of the
    ground. Of bodies that are held at their centres of mass it is their radius of gyration, of point masses one: it
    then has only to be above round-off. ``reach`` is the largest distance of a node from the centre of its body.
    """
    joins_points = np.asarray(abs(parts["incidence"]) @ parts["node_moves"] > 0.0, dtype=float)
    fixed = float(np.abs(parts["vector_fixed"] * joins_points[:, None]).max(initial=0.0))
    own = max(reach, _lever(parts["node_position"][parts["node_moves"] > 0.0], parts["J"], parts["mass"]))
    return {
        "joins_points": joins_points,
        "holds_points": np.asarray(holds_points, dtype=float),
        "of_length": np.sqrt(parts["mass"][parts["body_u"]] / parts["stack"].diagonal()[: len(parts["body_u"])]),
        "lengths": np.array([own, max(own, fixed)]),
    }


def constraint_sizes(a: Arrays, vector: Array) -> Array:
    """Size of what each constraint measures, (g,), [m] or one, where the world vectors are (v, d)."""
    reached = np.abs(vector).max(axis=1, initial=0.0) * a.joins_points
    length = max(float(a.lengths[1]), float(reached.max(initial=0.0)))
    return np.where(a.holds_points > 0.0, length, 1.0)


def displacement_sizes(a: Arrays, length: float) -> Array:
    """Displacements (ṙ, ω, u̇) of a length [m], (n_v,): turns by one, flexible coordinates of the same inertia."""
    centres, spins, flexible = a.columns
    sizes = np.ones(centres.size + int((spins >= 0).sum()) + flexible.size)
    sizes[centres], sizes[flexible] = length, length * a.of_length
    return sizes


def lever(a: Arrays) -> float:
    """Largest distance of a joint from a centre of mass [m]: by it displacements count as rotations, forces as torques.

    Where there is none, the largest radius of gyration.
    """
    return float(a.lengths[0])


def _lever(points: Array, J: Array, mass: Array) -> float:
    largest = float(np.linalg.norm(points, axis=1).max(initial=0.0))
    return largest or float(np.sqrt(np.trace(J, axis1=1, axis2=2) / mass).max(initial=0.0)) or 1.0
