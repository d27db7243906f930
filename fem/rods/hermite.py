"""Cubic curves by positions and slopes at the borders of elements (Hermite), and points that have their mass.

The mass matrix of such a curve couples its positions and slopes. Any positive mass matrix M = BᵀB is that of points
z = S⁻¹Bq with masses s², s = B1̂ where 1̂ is a displacement of the whole curve: their kinetic energy is that of the
curve, a displacement of the curve is one of them, and so their momenta, weight and inertia are those of the curve too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss

from flexph.numerics.arrays import Array

SHAPES = tuple(map(Polynomial, ((1, 0, -3, 2), (0, 1, -2, 1), (0, 0, 3, -2), (0, 0, -1, 1))))
"""Position and slope at the start, then at the end, over 0 ≤ ξ ≤ 1; slopes are by ξ."""
SMALL = 1e-18
"""Weight over the largest of a row that changes nothing."""


class HermiteLine(NamedTuple):
    """E elements on the borders (E + 1,) [m]: position and slope of each border, one after the other, are q (2E + 2,).

    ``points`` (2E + 2, N) are the weights of N points in q, of which each has ``mass`` (N,) [kg].
    """

    borders: Array
    points: Array
    mass: Array

    def at(self, s: Array, derivative: int = 0) -> Array:
        """Weights of the points in r(s), r'(s) or r''(s), (k, N)."""
        rows: Array = hermite_rows(self.borders, s, derivative) @ self.points
        rows[np.abs(rows) < SMALL * np.abs(rows).max(initial=0.0)] = 0.0
        return rows


def hermite_rows(borders: Array, s: Array, derivative: int = 0) -> Array:
    """r(s) or a derivative of it by the positions and slopes at the borders, (k, 2E + 2)."""
    element = np.clip(np.searchsorted(borders, s, side="right") - 1, 0, borders.size - 2)
    length = np.diff(borders)[element]
    xi = (s - borders[element]) / length
    rows = np.zeros((np.size(s), 2 * borders.size))
    for k, shape in enumerate(SHAPES):
        value = (shape.deriv(derivative) if derivative else shape)(xi)
        rows[np.arange(len(rows)), 2 * element + k] = value * length ** (k % 2 - derivative)
    return rows


def hermite_line(borders: Array, mass_per_length: float) -> HermiteLine:
    """The line with points that have the mass of all of its elements."""
    count = 2 * borders.size
    xi, weights = leggauss(4)  # exact for products of cubic shapes
    lengths = np.diff(borders)
    s = (borders[:-1, None] + 0.5 * lengths[:, None] * (1.0 + xi)).ravel()
    rows = hermite_rows(borders, s)
    line = 0.5 * mass_per_length * (lengths[:, None] * weights).ravel()
    factor = np.linalg.cholesky(rows.T @ (line[:, None] * rows)).T
    moved = factor @ np.tile([1.0, 0.0], count // 2)
    for i in range(0, count, 2):  # the two points of a border get equal masses
        angle = 0.25 * np.pi - np.arctan2(moved[i + 1], moved[i])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        factor[i : i + 2], moved[i : i + 2] = turn @ factor[i : i + 2], turn @ moved[i : i + 2]
    return HermiteLine(borders, np.linalg.solve(factor, np.diag(moved)), moved**2)
