"""Discrete gradients of angles (see kernels.springs), and gains of the terms of velocity constraints.

The gain of a term is the factor of the change ΔΠ of a product in its increment over a step."""

from __future__ import annotations

import cython

if not cython.compiled:
    from math import atan2, fabs


def kappa(y: float, x: float) -> tuple[float, float, float]:
    """Factor κ = atan2(y, x)/y and its derivatives with respect to y and x."""
    if x > 0.0 and fabs(y) < 1e-3 * x:
        q = y / x
        square = q * q
        by_y = (-2.0 / 3.0 + 0.8 * square) * q / (x * x)
        return (1.0 - square / 3.0 + square * square / 5.0) / x, by_y, -1.0 / (x * x + y * y)
    size = x * x + y * y
    value = atan2(y, x) / (y if y != 0.0 else 1.0)
    return value, (x / size - value) / (y if y != 0.0 else 1.0), -1.0 / size


def term_gain(weight: float, angular: int, p0: float, p1: float, q0: float, q1: float) -> float:
    """Factor of ΔΠ in the increment over a step of a velocity term w Π_by Π̇, w = ``weight``: w Π̄_by.

    The factor is κ w Π̄_by for an ``angular`` term w Π_by Π̇/(Π² + Π_by²), one of the two of the rate of an angle.
    ``p0`` and ``p1`` are the product Π at both ends of the step, ``q0`` and ``q1`` the product Π_by.
    """
    mean = weight * 0.5 * (q0 + q1)
    if angular:
        mean *= kappa(p1 * q0 - q1 * p0, q0 * q1 + p0 * p1)[0]
    return mean


def term_slopes(weight: float, angular: int, p0: float, p1: float, q0: float, q1: float) -> tuple[float, float]:
    """Derivatives of :func:`term_gain` with respect to Π and to Π_by at the end, p1 and q1."""
    half = 0.5 * weight
    if not angular:
        return 0.0, half
    factor, by_y, by_x = kappa(p1 * q0 - q1 * p0, q0 * q1 + p0 * p1)
    mean = half * (q0 + q1)
    return mean * (by_y * q0 + by_x * p0), half * factor + mean * (by_x * q0 - by_y * p0)
