"""How many steps a block of compiled loops takes."""

from __future__ import annotations

from ..times.recorder import LARGEST_PIECE

FIRST, SHORTEST, LONGEST = 16, 0.05, 0.2
"""Least steps of the first block, and durations of a block [s] between which its size is kept: it can be interrupted
only at its end."""
SLOW = 4e-7
"""Duration of a substep for each velocity [s], as measured of chains in the plane; others take half or twice as much.
Of it the first block is made."""
GROWTH = 32
"""By which it grows at most from one to the next: the first steps may be easy."""


def first_size(substeps: int, velocities: int) -> int:
    """Steps of the first block, of so many substeps each."""
    return max(FIRST, int(SHORTEST / (SLOW * substeps * max(velocities, 1))))


def next_size(size: int, elapsed: float) -> int:
    """Steps of a block after one of so many that took so long [s]."""
    return int(size * min(GROWTH, max(SHORTEST / elapsed, 2.0))) if elapsed < SHORTEST else size


def largest_size(numbers: int) -> int:
    """Most steps of a block that keeps so many numbers of each."""
    return max(1, LARGEST_PIECE // numbers)
