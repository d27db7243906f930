"""Discrete gradients of angles (see kernels.springs)."""

from __future__ import annotations

import cython

if not cython.compiled:
    from math import atan2, fabs


def kappa(y: float, x: float) -> tuple[float, float, float]:
    """κ = atan2(y, x)/y and its derivatives by y and x."""
    if x > 0.0 and fabs(y) < 1e-3 * x:
        q = y / x
        by_y = (-2.0 / 3.0 * q + 0.8 * q**3) / x**2
        return (1.0 - q**2 / 3.0 + q**4 / 5.0) / x, by_y, -1.0 / (x * x + y * y)
    size = x * x + y * y
    value = atan2(y, x) / (y if y != 0.0 else 1.0)
    return value, (x / size - value) / (y if y != 0.0 else 1.0), -1.0 / size
