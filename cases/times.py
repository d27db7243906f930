"""Equally spaced times of a run."""

from __future__ import annotations

import math

import numpy as np

from flexph.numerics.arrays import Array


def equal_steps(step: float, end: float, *, filling: bool = False) -> Array:
    """Times [s] of equal steps from 0 to ``end``, of a length near ``step``.

    Raises ValueError for a step that is not positive, an end before the first step, or, with ``filling``, an end that
    is not a whole number of steps.
    """
    if not (math.isfinite(step) and step > 0.0):
        raise ValueError(f"step must be positive, got {step}")
    if not (math.isfinite(end) and end >= step):
        raise ValueError(f"end must be at least one step of {step:g} s, got {end}")
    count = round(end / step)
    if filling and abs(count * step - end) > 1e-9 * end:
        raise ValueError(f"end must be a whole number of steps: {end:g} s are {end / step:.6g} steps of {step:g} s")
    return np.linspace(0.0, end, count + 1)
