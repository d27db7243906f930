"""Work space of accelerated iterations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array

DEPTH = 5
"""Pairs that are kept."""


class Acceleration(NamedTuple):
    """Work space for n unknowns."""

    weight: Array  # (n,) of their squares
    x: Array  # (n,) the iterate before a correction
    correction: Array  # (n,) of it, then the accelerated one
    last: Array  # (n,) correction before
    moves: Array  # (DEPTH + 1, n): the last one, and those of the pairs
    changes: Array  # (DEPTH, n)


def acceleration_of(unknowns: int) -> Acceleration:
    """Work space, all zeros."""
    z = np.zeros
    of_pairs = z((DEPTH + 1, unknowns)), z((DEPTH, unknowns))
    return Acceleration(z(unknowns), z(unknowns), z(unknowns), z(unknowns), *of_pairs)
