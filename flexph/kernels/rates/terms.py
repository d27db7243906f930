"""Gains of velocity terms over a step: w Π̄_by for products, κ w Π̄_by for the two terms of an angle."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ...numerics.arrays import Array

Index = np.ndarray
_SMALL = 1e-3  # |Y/X| below which κ is taken from its series, whose error is then below 1e-17


class Terms(Protocol):
    """Protocol of terms w Π_by Π̇: indices of the products Π and Π_by, weights, and flags of angle terms."""

    @property
    def product(self) -> Index:
        """Indices of the products Π."""
        ...

    @property
    def by(self) -> Index:
        """Indices of the weighting products Π_by."""
        ...

    @property
    def weight(self) -> Array:
        """Weights w."""
        ...

    @property
    def angular(self) -> Index:
        """1 for the two terms of an angle, 0 for others."""
        ...


def kappa(y: Array, x: Array) -> tuple[Array, Array, Array]:
    """Factor κ = atan2(y, x)/y and its derivatives with respect to y and x."""
    near = (np.abs(y) < _SMALL * np.abs(x)) & (x > 0.0)
    q, safe_x, safe_y = y / np.where(x != 0.0, x, 1.0), np.where(near, x, 1.0), np.where(near | (y == 0.0), 1.0, y)
    size = x**2 + y**2
    factor = np.where(near, (1.0 - q**2 / 3.0 + q**4 / 5.0) / safe_x, np.arctan2(y, x) / safe_y)
    by_y = np.where(near, (-2.0 / 3.0 * q + 0.8 * q**3) / safe_x**2, (x / size - factor) / safe_y)
    return factor, by_y, -1.0 / size


def term_gains(t: Terms, before: Array, after: Array) -> Array:
    """Gains w Π̄_by (w,) of all terms, of angles κ w Π̄_by, from the products at both ends."""
    if not t.by.size:
        return t.weight
    gain: Array = 0.5 * t.weight * (before.take(t.by) + after.take(t.by))
    return gain * _by_angle(t, before, after)[0] if t.angular.any() else gain


def term_slopes(t: Terms, before: Array, after: Array) -> tuple[Array, Array]:
    """Derivatives of the gains with respect to Π and to Π_by at the end, (w,) each."""
    none: Any = np.zeros(t.by.size)
    if not t.angular.any():
        return none, 0.5 * t.weight
    factor, by_y, by_x = _by_angle(t, before, after)
    p0, q0 = before.take(t.product), before.take(t.by)
    mean = 0.5 * t.weight * (q0 + after.take(t.by))
    return mean * (by_y * q0 + by_x * p0), 0.5 * t.weight * factor + mean * (by_x * q0 - by_y * p0)


def _by_angle(t: Terms, before: Array, after: Array) -> tuple[Array, Array, Array]:
    """Factors κ of angle terms, and their derivatives with respect to Y and X (see kernels.springs).

    For other terms the derivatives are zero, and the factor is 1.
    """
    own = t.angular > 0
    p0, p1, q0, q1 = before.take(t.product), after.take(t.product), before.take(t.by), after.take(t.by)
    y, x = np.where(own, p1 * q0 - q1 * p0, 0.0), np.where(own, q0 * q1 + p0 * p1, 1.0)
    factor, by_y, by_x = kappa(y, x)
    return factor, np.where(own, by_y, 0.0), np.where(own, by_x, 0.0)
