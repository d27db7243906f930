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
MOST = 40
"""Steps that may be halved in all: near a limit point each advances by less than the one before."""


def follow_loads(
    start: Configuration,
    under: Callable[[float, Configuration], Corrected[Configuration]],
    refuse: Callable[[float, Configuration], None],
) -> tuple[Corrected[Configuration], float]:
    """The equilibrium under all loads, by steps of them, each from the one before, and the share that was reached.

    ``under`` is the equilibrium under a share of the loads near a configuration. Steps are halved where it is not
    found or a frame turns by much. ``refuse`` raises ArithmeticError where one under a share is none of the model.
    """
    at, share, step, halved = start, 0.0, FIRST, 0
    while step >= LEAST and halved < MOST:
        wanted = min(1.0, share + step)
        end = under(wanted, at)
        if not end.settled or _turn(at.R, end.value.R) > TURN:
            step, halved = 0.5 * step, halved + 1
            continue
        refuse(wanted, end.value)
        at, share, step = end.value, wanted, GROWTH * step
        if share == 1.0:
            return end, share
    return Corrected(at, np.inf, False), share


def _turn(before: np.ndarray, after: np.ndarray) -> float:
    """The largest turn of a frame [rad]."""
    trace = np.einsum("bij,bij->b", before, after)
    cosine = 0.5 * (trace - 1.0) if before.shape[-1] == 3 else 0.5 * trace
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)).max(initial=0.0))
