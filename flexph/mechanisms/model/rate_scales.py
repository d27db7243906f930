"""Scales of constraint rates for tolerances, and the round-off in the rates of drives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.resolution import constraint_sizes, displacement_sizes, lever
from ...kernels.state import Derived, constraint_sums
from ...numerics.arrays import Array
from .prescribed import REACH, ROUND_OFF


def rate_scale(a: Arrays, conditions: tuple[Any, Array], v: Array, sizes: Array) -> float:
    """Largest rate [1/s] of constraints G v = b and displacements, each relative to its size."""
    G, b = conditions
    moves = np.abs(v) / displacement_sizes(a, lever(a))
    rates = np.maximum(abs(G) @ np.abs(v), np.abs(b)) / sizes
    return float(max(rates.max(initial=1e-300), moves.max(initial=0.0)))


def rate_doubt(a: Arrays, d: Derived, doubts: tuple[Array, Array]) -> float:
    """Largest rate [1/s] of a constraint, relative to its size, that may be round-off in the rates of drives.

    If drives start from rest there is no other rate to compare with. ``doubts`` is the result of
    :meth:`flexph.mechanisms.model.time_table.TimeTable.doubts`; round-off inside a drive is estimated by that of a
    value of the size of the constraint.
    """
    coefficient, offset = doubts
    if not (coefficient.any() or offset.any()):
        return 0.0
    of_values = constraint_sums(a, np.abs(d.product), coefficient, -offset)
    return float((of_values / constraint_sizes(a, d.vector)).max()) + ROUND_OFF / REACH
