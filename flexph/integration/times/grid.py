"""Checks of the times of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...numerics import checks as check
from ...numerics.arrays import Array

SPACINGS = 4.0
"""Least length of a step, relative to the spacing of floating-point numbers at its times."""
SAME_TIME = 1e-9
"""Difference up to which two times are equal, relative to the step that begins there."""


def ascending(times: Sequence[float] | Array) -> Array:
    """Check for two or more ascending times with steps that double precision resolves."""
    grid = check.array("times", times, (None,))
    if grid.size < 2:
        raise ValueError(f"times must have at least two entries, got {grid.size}")
    lengths = grid[1:] - grid[:-1]
    if not lengths.min() > 0.0:
        k = int(np.argmax(lengths <= 0.0))
        raise ValueError(
            f"times must ascend: step {k} from {grid[k]} s to {grid[k + 1]} s is {grid[k + 1] - grid[k]:.3g} s"
        )
    refuse_short(grid)
    return grid


def refuse_short(grid: Array, shortest: float = 0.0, what: str = "positions") -> None:
    """Raise ValueError for a step below the resolution of its times, or below the ``shortest`` step [s] of ``what``."""
    lengths, latest = grid[1:] - grid[:-1], max(abs(grid[0]), abs(grid[-1]))
    if lengths.min() >= max(SPACINGS * np.spacing(latest), shortest):
        return
    known = SPACINGS * np.spacing(np.maximum(np.abs(grid[:-1]), np.abs(grid[1:])))
    short = lengths < np.maximum(known, shortest)
    if short.any():
        k = int(np.argmax(short))
        resolved, least = (what, shortest) if shortest > known[k] else ("times", known[k])
        raise ValueError(
            f"times must be at least {least:.2g} s apart, which {resolved} in double precision resolve: step {k} from "
            f"{grid[k]} s is {grid[k + 1] - grid[k]:.3g} s"
        )


def ascending_from(start: float, times: Sequence[float] | Array) -> Array:
    """Check for ascending times from a start [s], equal to the first one up to round-off, which it then replaces."""
    grid = ascending(times)
    if abs(grid[0] - start) > max(SAME_TIME * (grid[1] - grid[0]), 4.0 * np.spacing(abs(start))):
        raise ValueError(f"times must begin at the time of the start, {start} s, got {grid[0]} s")
    return grid if grid[0] == start else ascending(np.append(start, grid[1:]))


def saved_times(grid: Array, save_every: int) -> Array:
    """Every ``save_every``-th time, and the last one."""
    return grid[sorted({*range(0, grid.size, save_every), grid.size - 1})]
