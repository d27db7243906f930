"""Scales of the rates of constraints: by what they are compared, and what of them may be round-off of drives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import constraint_sizes, displacement_sizes, lever
from ...kernels.state import Derived, constraint_sums
from ...numerics.arrays import Array
from .prescribed import REACH, ROUND_OFF


def rate_scale(a: Arrays, conditions: tuple[Any, Array], v: Array, sizes: Array) -> float:
    """Largest rate of what constraints G v = b measure, and of displacements, over their sizes [1/s]."""
    G, b = conditions
    moves = np.abs(v) / displacement_sizes(a, lever(a))
    rates = np.maximum(abs(G) @ np.abs(v), np.abs(b)) / sizes
    return float(max(rates.max(initial=1e-300), moves.max(initial=0.0)))


def rate_doubt(a: Arrays, d: Derived, doubts: tuple[Array, Array]) -> float:
    """Largest rate of a constraint over its size that may be round-off of the rates of drives [1/s].

    Where drives start from rest there is no other rate to compare with. ``doubts`` are those of
    :meth:`flexph.mechanisms.model.time_table.TimeTable.doubts`; digits that a drive loses inside count as those of a
    value of the size of the constraint.
    """
    coefficient, offset = doubts
    if not (coefficient.any() or offset.any()):
        return 0.0
    of_values = constraint_sums(a, np.abs(d.product), coefficient, -offset)
    return float((of_values / constraint_sizes(a, d.vector)).max()) + ROUND_OFF / REACH
