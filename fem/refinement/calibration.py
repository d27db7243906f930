"""Conservative errors, from estimates and the values on successive meshes.

The error of a value V on mesh k is e_k. The gain by refinement from mesh j, e_j − e_k = |V_k − V_j|, is known. If
the estimates have the same index η/e on both meshes, e_k = η_k |V_k − V_j| / (η_j − η_k): Richardson's extrapolation,
with the order of convergence of the estimates. Near re-entrant corners, where the smooth stresses are as wrong as
those of the mesh, this replaces the index of 1 that smooth solutions have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexph.numerics.arrays import Array

from .criteria import Round

SPREAD, RECENT = 3.0, 2
"""Least ratio of the estimates on two meshes for a comparison, and number of latest earlier meshes that are used.

Estimates alternate by some 20 % with the pattern of bisected cells, which smaller ratios would amplify.
"""
MARGIN = 1.25
"""Factor of extrapolated errors; without it the largest one was as low as 0.84 of the largest true error."""
UNMEASURED = 4.0
"""Factor of estimates without an earlier mesh; their lowest ratio to true errors was 0.31 (degree 1, errors 15 %)."""


def safe_errors(earlier: Sequence[Round], names: Sequence[str], values: Array, estimates: Array) -> Array:
    """Conservative relative errors (k,) of the values of criteria on a mesh: the estimates times safety factors.

    ``names`` and ``values`` are those of the criteria. The factors are from the values and estimates of the ``earlier``
    rounds.
    """
    criteria = zip(names, values, estimates, strict=True)
    return np.array([estimate * _factor(earlier, name, value, estimate) for name, value, estimate in criteria])


def _factor(earlier: Sequence[Round], name: str, value: float, estimate: float) -> float:
    """Safety factor from the estimate to the error of one criterion, 4 if no earlier mesh was much coarser.

    It is the change of the value over the decrease of the estimate since recent earlier meshes, at least 1, times a
    margin.
    """
    ratios = []
    for past in earlier:
        if name in past.names:
            k = past.names.index(name)
            if estimate < SPREAD * estimate <= past.estimates[k] < np.inf:
                ratios.append(abs(1.0 - past.values[k] / value) / (past.estimates[k] - estimate))
    return MARGIN * max(1.0, *ratios[-RECENT:]) if ratios else UNMEASURED
