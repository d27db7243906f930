"""Cubic Hermite curves, from positions and slopes at the borders of elements, and equivalent mass points.

The mass matrix of such a curve couples its positions and slopes. Any positive mass matrix M = BᵀB belongs to points
z = S⁻¹Bq with masses s², S = diag(s), s = B1̂, where 1̂ is a translation of the whole curve. The points have the
kinetic energy of the curve, and are translated with it, so that momenta, weight and inertia are also those of the
curve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss

from flexph.numerics.arrays import Array

SHAPES = tuple(map(Polynomial, ((1, 0, -3, 2), (0, 1, -2, 1), (0, 0, 3, -2), (0, 0, -1, 1))))
"""Shape functions over 0 ≤ ξ ≤ 1: position and slope at the start, then at the end, with slopes in ξ."""
SMALL = 1e-18
"""Relative weight of a row below which it is dropped."""


class HermiteLine(NamedTuple):
    """Cubic Hermite curve of E elements with borders (E + 1,) [m] and N = 2E + 2 equivalent mass points.

    Its coordinates q (2E + 2,) are the position and the slope at each border in turn. The matrix ``points`` (2E + 2, N)
    gives q from the positions of the mass points, whose masses are ``mass`` (N,) [kg].
    """

    borders: Array
    points: Array
    mass: Array

    def at(self, s: Array, derivative: int = 0) -> Array:
        """Weights (k, N) by which the positions of the mass points give r(s) at ``s`` (k,), or r'(s) or r''(s)."""
        rows: Array = hermite_rows(self.borders, s, derivative) @ self.points
        rows[np.abs(rows) < SMALL * np.abs(rows).max(initial=0.0)] = 0.0
        return rows


def hermite_rows(borders: Array, s: Array, derivative: int = 0) -> Array:
    """Matrix (k, 2E + 2) from the positions and slopes at the borders to r(s) at ``s`` (k,), or to a derivative of r.

    ``derivative`` is the order of the derivative with respect to s.
    """
    element = np.clip(np.searchsorted(borders, s, side="right") - 1, 0, borders.size - 2)
    length = np.diff(borders)[element]
    xi = (s - borders[element]) / length
    rows = np.zeros((np.size(s), 2 * borders.size))
    for k, shape in enumerate(SHAPES):
        value = (shape.deriv(derivative) if derivative else shape)(xi)
        rows[np.arange(len(rows)), 2 * element + k] = value * length ** (k % 2 - derivative)
    return rows


def hermite_line(borders: Array, mass_per_length: float) -> HermiteLine:
    """Hermite curve of the elements between ``borders`` (E + 1,) [m], with mass points of the same kinetic energy."""
    count = 2 * borders.size
    xi, weights = leggauss(4)  # exact for products of cubic shapes
    lengths = np.diff(borders)
    s = (borders[:-1, None] + 0.5 * lengths[:, None] * (1.0 + xi)).ravel()
    rows = hermite_rows(borders, s)
    line = 0.5 * mass_per_length * (lengths[:, None] * weights).ravel()
    factor = np.linalg.cholesky(rows.T @ (line[:, None] * rows)).T
    moved = factor @ np.tile([1.0, 0.0], count // 2)
    for i in range(0, count, 2):  # the two points of a border have equal masses
        angle = 0.25 * np.pi - np.arctan2(moved[i + 1], moved[i])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        factor[i : i + 2], moved[i : i + 2] = turn @ factor[i : i + 2], turn @ moved[i : i + 2]
    return HermiteLine(borders, np.linalg.solve(factor, np.diag(moved)), moved**2)
