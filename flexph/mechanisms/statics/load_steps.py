"""Equilibrium by increasing the loads in steps, as nodal bodies bend far and have many equilibria."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...kernels.state import Configuration
from ...numerics.corrections import Corrected

FIRST = 0.25
"""Share of the loads in the first step."""
LEAST = 1e-4
"""Share of the loads in the shortest step; below, the path has reached a limit point."""
TURN = 1.2
"""Rotation of a frame in a step [rad] above which the step may have changed to another branch."""
GROWTH = 1.5
MOST = 40
"""Largest number of halved steps: near a limit point each advances by less than the one before."""


def follow_loads(
    start: Configuration,
    under: Callable[[float, Configuration], Corrected[Configuration]],
    refuse: Callable[[float, Configuration], None],
) -> tuple[Corrected[Configuration], float]:
    """Equilibrium under all loads by load steps, and the share of the loads reached.

    ``under`` finds the equilibrium under a share of the loads near a configuration. A step is halved if it is not found
    or a frame turns by more than ``TURN``. ``refuse`` raises ArithmeticError if an equilibrium is outside the model.
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
    """Largest rotation of a frame [rad]."""
    trace = np.einsum("bij,bij->b", before, after)
    cosine = 0.5 * (trace - 1.0) if before.shape[-1] == 3 else 0.5 * trace
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)).max(initial=0.0))
