"""Loads followed from nothing to all of them: bodies of nodes bend far, and have many equilibria."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...kernels.state import Configuration
from ...numerics.corrections import Corrected

FIRST = 0.25
"""Share of the loads in the first step,"""
LEAST = 1e-4
"""and in the shortest one: below, the path has come to a limit point."""
TURN = 1.2
"""Turn of any frame in a step [rad] beyond which it may have come to another path."""
GROWTH = 1.5


def follow_loads(
    start: Configuration, under: Callable[[float, Configuration], Corrected[Configuration]]
) -> Corrected[Configuration]:
    """The equilibrium under all loads, by steps of them, each from the one before.

    ``under`` is the equilibrium under a share of the loads near a configuration. Steps are halved where it is not
    found or a frame turns by much.
    """
    at, share, step = start, 0.0, FIRST
    while step >= LEAST:
        wanted = min(1.0, share + step)
        end = under(wanted, at)
        if not end.settled or _turn(at.R, end.value.R) > TURN:
            step *= 0.5
            continue
        at, share, step = end.value, wanted, GROWTH * step
        if share == 1.0:
            return end
    return Corrected(at, np.inf, False)


def _turn(before: np.ndarray, after: np.ndarray) -> float:
    """The largest turn of a frame [rad]."""
    trace = np.einsum("bij,bij->b", before, after)
    cosine = 0.5 * (trace - 1.0) if before.shape[-1] == 3 else 0.5 * trace
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)).max(initial=0.0))
