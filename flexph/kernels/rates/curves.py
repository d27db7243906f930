"""Curves through moving points, piecewise polynomial in a parameter s: shape functions, and the foot of a point.

The foot is the point of the curve nearest to a given point (:mod:`.on_curves` has the formulas).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array

Index = np.ndarray
STEPS = 12
"""Largest number of Newton steps to a foot; six are usually enough from the middle of a piece."""
BEYOND = 0.5
"""Fraction of a piece by which an iterate may lie beyond the ends of the curve."""
APART = 0.1
"""Distance from the curve, relative to the length of a piece, up to which the foot is searched only near the last."""
SETTLED = 1e-9
"""Newton step to the foot, relative to a piece, at which the iteration ends; the error is of second order in it."""
END = 1e-9
"""Fraction of the curve by which a point may be beyond an end."""
OFF = 1e-9
"""Distance of a point from its curve, relative to its largest distance from points of it, above which it is off."""
KINK = 0.1
"""Largest kink of a curve [rad] that a point may pass; beyond, a velocity across the curve would remain."""
NEAR = 1e-5
"""Δs, relative to the length of a piece, below which ∂C/∂s₁ is approximated by its limit (in the Jacobian only)."""


class Curve(NamedTuple):
    """Constant data of a point on a curve: its constraint rows, its products Π, and the polynomial pieces of the curve.

    The products Π, V and T are defined in :mod:`.on_curves`. ``rows`` has d − 1 constraint rows, and if ``driven`` one
    more that prescribes the position s. ``products`` (d, K) are the indices of Π. Piece e goes from ``knots[e]`` to the
    next knot through the points ``first[e]``, ``first[e]`` + 1 and so on; ``powers[e]`` (degree + 1, degree + 1) has a
    row for each of these, the coefficients of the powers of s − knots[e] in its shape function. ``input`` is the number
    of the input that pushes along the curve, or −1.
    """

    rows: Index
    products: Index
    knots: Array
    first: Index
    powers: Array
    driven: bool = False
    input: int = -1

    @property
    def points(self) -> int:
        """Number K of points of the curve."""
        return int(self.products.shape[1])

    def shapes(self, s: float, order: int = 0) -> Array:
        """Shape functions c at s, or their derivative of given order, (K,)."""
        return self._of_piece(*self._local(s), order)

    def derivatives(self, s: float) -> Array:
        """Shape functions c and their first two derivatives at s, (3, K)."""
        e, t = self._local(s)
        values = self._weights(t) @ self.powers[e].T
        placed = np.zeros((3, self.points))
        placed[:, self.first[e] : self.first[e] + values.shape[1]] = values
        return placed

    def mean_slope(self, s0: float, s1: float) -> Array:
        """Difference quotient C = Δc/Δs of the shape functions between s₀ and s₁, (K,).

        It is computed piece by piece without cancellation.
        """
        (e0, t0), (e1, t1) = self._local(s0), self._local(s1)
        if e0 == e1:
            return self._divided(e0, t0, t1)
        low, high = sorted(((e0, t0), (e1, t1)))
        ends = [self.knots[e + 1] - self.knots[e] for e in range(low[0], high[0])]
        parts = [
            (e, low[1] if e == low[0] else 0.0, high[1] if e == high[0] else ends[e - low[0]])
            for e in range(low[0], high[0] + 1)
        ]
        return sum((self._divided(e, a, b) * (b - a) for e, a, b in parts), np.zeros(self.points)) / abs(s1 - s0)

    def mean_slope_change(self, s0: float, s1: float) -> Array:
        """Derivative (K,) of the difference quotient of :meth:`mean_slope` with respect to s₁."""
        if abs(s1 - s0) < NEAR * float(np.diff(self.knots).min()):
            return 0.5 * self.shapes(s1, 2)
        return (self.shapes(s1, 1) - self.mean_slope(s0, s1)) / (s1 - s0)

    def foot(self, products: Array) -> float:
        """Position s on the curve nearest to the point, from the products Π (d, K).

        There the vector V from the curve to the point is normal to the tangent T.
        """
        # all pieces at once, each from its middle and limited to it, as a curve of many pieces can have many feet
        length = np.diff(self.knots)
        of_pieces = products[:, self.first[:, None] + np.arange(self.powers.shape[1])]  # (d, E, points)
        V = np.einsum("jem,emq->jeq", of_pieces, self.powers)
        low, high = np.zeros(length.size), length.copy()
        low[0], high[-1] = -BEYOND * length[0], (1.0 + BEYOND) * length[-1]
        t = 0.5 * length
        for _ in range(STEPS):
            v, slope, bend = (_polynomial(V, t, order) for order in range(3))
            straight = np.sum(slope * slope, axis=0)
            curved = straight + np.sum(v * bend, axis=0)
            before, t = t, np.clip(t - np.sum(v * slope, axis=0) / np.where(curved > 0.0, curved, straight), low, high)
            if np.all(np.abs(t - before) <= SETTLED * length):
                break
        apart = np.linalg.norm(_polynomial(V, t, 0), axis=0)
        e = int(np.argmin(apart))
        return float(self.knots[e] + t[e])

    def foot_from(self, products: Array, s: float) -> float:
        """Position s of the foot of the point, found from a nearby position ``s``; if that fails, by :meth:`foot`.

        ``products`` are the products Π (d, K).
        """
        for _ in range(STEPS):
            e, t = self._local(s)
            length = float(self.knots[e + 1] - self.knots[e])
            if not -BEYOND * length <= t <= (1.0 + BEYOND) * length:
                break
            first = self.first[e]
            of_piece = products[:, first : first + self.powers.shape[1]] @ self.powers[e]
            v, slope, bend = self._weights(t) @ of_piece.T
            straight = float(slope @ slope)
            curved = straight + float(v @ bend)
            if not (curved > 0.0 and float(v @ v) <= (APART * length) ** 2 * straight):
                break
            moved = float(v @ slope) / curved
            s -= moved
            if abs(moved) <= SETTLED * length:
                return s
        return self.foot(products)

    def is_beyond(self, s: float) -> bool:
        """True if a position is beyond an end of the curve by more than round-off."""
        margin = END * float(self.knots[-1] - self.knots[0])
        return not self.knots[0] - margin <= s <= self.knots[-1] + margin

    def kink(self, products: Array, s0: float, s1: float) -> float:
        """Largest angle [rad] between the tangents on both sides of a knot, among the knots that a step passes.

        The step leads from s₀ to s₁; a knot at s₁ counts, one at s₀ does not. 0 if there is none.
        """
        inner = self.knots[1:-1]
        angles = [0.0]
        passed = (inner > min(s0, s1)) & (inner < max(s0, s1)) | (inner == s1)
        for e in np.flatnonzero(passed).tolist():
            into = products @ self._of_piece(e, float(self.knots[e + 1] - self.knots[e]), 1)
            out = products @ self._of_piece(e + 1, 0.0, 1)
            cosine = into @ out / (np.linalg.norm(into) * np.linalg.norm(out))
            angles.append(float(np.arccos(np.clip(cosine, -1.0, 1.0))))
        return max(angles)

    def _local(self, s: float) -> tuple[int, float]:
        e = min(max(bisect_right(self.knots, s) - 1, 0), len(self.first) - 1)
        return e, float(s - self.knots[e])

    def _of_piece(self, e: int, t: float, order: int) -> Array:
        return self._placed(e, self.powers[e] @ self._weights(t)[order])

    def _weights(self, t: float) -> Array:
        """Powers t^q and their first two derivatives with respect to t, (3, degree + 1)."""
        count = self.powers.shape[2]
        return np.array([[math.perm(q, k) * t ** (q - k) if q >= k else 0.0 for q in range(count)] for k in range(3)])

    def _divided(self, e: int, a: float, b: float) -> Array:
        """Difference quotient (c(b) − c(a))/(b − a) of the shape functions on piece e, (K,).

        a and b are measured from the knot at which the piece begins. For a power t^q it is Σ_i a^i b^(q−1−i), i = 0 … q
        − 1.
        """
        count = self.powers.shape[2]
        sums = np.array([sum(a**i * b ** (q - 1 - i) for i in range(q)) for q in range(count)])
        return self._placed(e, self.powers[e] @ sums)

    def _placed(self, e: int, values: Array) -> Array:
        placed = np.zeros(self.points)
        placed[self.first[e] : self.first[e] + values.size] = values
        return placed


def _polynomial(powers: Array, t: Array | float, order: int) -> Array:
    """Derivatives of the given order of E polynomials, (…, E), at one t or at t (E,).

    ``powers`` (…, E, degree + 1) are their coefficients, of ascending powers.
    """
    last = powers.shape[-1] - 1
    if order > last:
        return np.zeros(powers.shape[:-1])
    total: Array = math.perm(last, order) * powers[..., last]
    for q in range(last - 1, order - 1, -1):
        total = total * t + math.perm(q, order) * powers[..., q]
    return total


def pieces(at: Array, degree: int) -> tuple[Array, Index, Array]:
    """Knots, indices of first points, and coefficients of the pieces of a curve with points at given positions s.

    ``at`` are the positions. Each piece passes through degree + 1 points; the last point of a piece is the first of the
    next. The coefficients are as in :class:`Curve`.
    """
    first = np.arange(0, at.size - 1, degree)
    local = at[first[:, None] + np.arange(degree + 1)] - at[first, None]
    powers = np.linalg.inv(local[:, :, None] ** np.arange(degree + 1)).transpose(0, 2, 1)
    return at[::degree], first, powers
