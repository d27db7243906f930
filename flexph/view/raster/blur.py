"""Gaussian blur of pictures."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array

PASSES = 3
"""Number of successive means over a box, which together are as good as a Gaussian."""


def blurred(values: Array, sigma: float) -> Array:
    """Picture of numbers (height, width) blurred by a Gaussian of σ = ``sigma`` pixels.

    Edge values continue outside.
    """
    radius = round(0.5 * (np.sqrt(12.0 * sigma**2 / PASSES + 1.0) - 1.0))  # Σ ((2r + 1)² − 1)/12 = σ²
    if radius < 1:
        return values
    for _ in range(PASSES):
        values = _means(_means(values, radius).T, radius).T
    return values


def _means(values: Array, radius: int) -> Array:
    """Moving means over 2 ``radius`` + 1 rows."""
    width = 2 * radius + 1
    sums = np.cumsum(np.pad(values, ((radius + 1, radius), (0, 0)), mode="edge"), axis=0, dtype=float)
    return np.asarray((sums[width:] - sums[:-width]) / width, dtype=np.float32)
