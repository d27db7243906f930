"""Number of steps of a block of compiled loops."""

from __future__ import annotations

from ..times.recorder import LARGEST_PIECE

FIRST, SHORTEST, LONGEST = 16, 0.05, 0.2
"""Least number of steps of the first block; durations [s] between which the size of blocks is kept, as a run can be
interrupted only at the end of a block."""
SLOW = 4e-7
"""Duration of a substep per velocity [s], measured with planar chains; others take half or twice as long. It sets the
size of the first block."""
GROWTH = 32
"""Largest growth factor from one block to the next: the first steps may be easy."""


def first_size(substeps: int, velocities: int) -> int:
    """Number of steps of the first block, with ``substeps`` each."""
    return max(FIRST, int(SHORTEST / (SLOW * substeps * max(velocities, 1))))


def next_size(size: int, elapsed: float) -> int:
    """Number of steps of the block after one of ``size`` steps that took ``elapsed`` [s]."""
    return int(size * min(GROWTH, max(SHORTEST / elapsed, 2.0))) if elapsed < SHORTEST else size


def largest_size(numbers: int) -> int:
    """Largest number of steps of a block that keeps ``numbers`` values for each step."""
    return max(1, LARGEST_PIECE // numbers)
