"""Work space of accelerated iterations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array

DEPTH = 5
"""Number of pairs that are kept."""


class Acceleration(NamedTuple):
    """Work space for n unknowns."""

    weight: Array  # (n,) weights of the squares
    x: Array  # (n,) the iterate before a correction
    correction: Array  # (n,) plain correction, then the accelerated one
    last: Array  # (n,) previous correction
    moves: Array  # (DEPTH + 1, n): moves of the pairs, then the last one
    changes: Array  # (DEPTH, n), changes of the corrections


def acceleration_of(unknowns: int) -> Acceleration:
    """Work space, all zeros."""
    z = np.zeros
    of_pairs = z((DEPTH + 1, unknowns)), z((DEPTH, unknowns))
    return Acceleration(z(unknowns), z(unknowns), z(unknowns), z(unknowns), *of_pairs)
