"""Piecewise polynomial curves through moving points, in loops (formulas of kernels.rates.curves).

Piece e of curve c lies between knots e and e + 1 of the curve; its points begin at number degree · e.
"""

from __future__ import annotations

import cython

from ....kernels.rates.curves import APART as _APART
from ....kernels.rates.curves import BEYOND as _BEYOND
from ....kernels.rates.curves import END as _END
from ....kernels.rates.curves import NEAR as _NEAR
from ....kernels.rates.curves import SETTLED as _SETTLED
from ....kernels.rates.curves import STEPS as _STEPS
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt
    from math import inf as INFINITY

    from ....numerics.loops.views import larger, larger_int, smaller, smaller_int
    from ..memory.memory import Memory

APART = cython.declare(cython.double, _APART)
BEYOND = cython.declare(cython.double, _BEYOND)
END = cython.declare(cython.double, _END)
NEAR = cython.declare(cython.double, _NEAR)
SETTLED = cython.declare(cython.double, _SETTLED)
STEPS = cython.declare(cython.Py_ssize_t, _STEPS)


def count_pieces(m: Memory, c: int) -> int:
    """Number of pieces of curve c."""
    return m.curves_knot[c + 1] - m.curves_knot[c] - 1


def piece_at(m: Memory, c: int, s: float) -> int:
    """Number of the piece of curve c at place s; beyond an end of the curve, of the piece at that end."""
    low = cython.declare(cython.Py_ssize_t)
    high = cython.declare(cython.Py_ssize_t)
    low = 0
    high = count_pieces(m, c)
    while high - low > 1:
        middle = (low + high) // 2
        if m.curves_knots[m.curves_knot[c] + middle] <= s:
            low = middle
        else:
            high = middle
    return low


def local_place(m: Memory, c: int, e: int, s: float) -> float:
    """Distance of place s from the first knot of piece e of curve c, in units of s."""
    return s - m.curves_knots[m.curves_knot[c] + e]


def length_of(m: Memory, c: int, e: int) -> float:
    """Length of piece e of curve c, in units of s."""
    return m.curves_knots[m.curves_knot[c] + e + 1] - m.curves_knots[m.curves_knot[c] + e]


def add_shapes(m: Memory, c: int, s: float, order: int, share: float, out: Array) -> None:
    """Add ``share`` times the coefficients of all points of curve c at place s to ``out``, or their derivative.

    ``order`` is the order of the derivative with respect to s, from 0 (the coefficients themselves) to 2.
    """
    e = piece_at(m, c, s)
    t = local_place(m, c, e, s)
    w = m.path_weight
    power = 1.0
    for q in range(w.size):
        if q < order:
            w[q] = 0.0
        else:
            w[q] = power if order == 0 else q * power if order == 1 else q * (q - 1) * power
            power = power * t
    _add_coefficients(m, c, e, share, out)


def _add_coefficients(m: Memory, c: int, e: int, share: float, out: Array) -> None:
    """Add ``share`` times the coefficients of the points of piece e of curve c to ``out``.

    The powers of the place are read from ``path.weight``.
    """
    powers = m.curves_power[m.curves_knot[c] - c + e]
    first = m.curves_point[c] + m.curves_degree[c] * e
    for i in range(m.curves_degree[c] + 1):
        total = 0.0
        for q in range(m.curves_degree[c] + 1):
            total += powers[i][q] * m.path_weight[q]
        out[first + i] += share * total


def add_chord(m: Memory, c: int, s0: float, s1: float, out: Array) -> None:
    """Add the difference quotient Δc/Δs of the coefficients between two places to ``out``, without cancellation."""
    low = smaller(s0, s1)
    high = larger(s0, s1)
    first = piece_at(m, c, low)
    last = piece_at(m, c, high)
    for e in range(first, last + 1):
        a = local_place(m, c, e, low) if e == first else 0.0
        b = local_place(m, c, e, high) if e == last else length_of(m, c, e)
        w = m.path_weight
        w[0] = 0.0
        power = 1.0
        for q in range(1, w.size):  # for t^q: Σ a^i b^(q−1−i)
            w[q] = a * w[q - 1] + power
            power = power * b
        _add_coefficients(m, c, e, 1.0 if first == last else (b - a) / (high - low), out)


def add_chord_change(m: Memory, c: int, s0: float, s1: float) -> None:
    """Add the derivative of the difference quotient Δc/Δs with respect to s₁ to ``path.change``.

    ``path.chord`` is Δc/Δs, ``path.slope`` the derivative of the coefficients at s₁.
    """
    least = length_of(m, c, 0)
    for e in range(1, count_pieces(m, c)):
        least = smaller(least, length_of(m, c, e))
    if fabs(s1 - s0) < NEAR * least:
        add_shapes(m, c, s1, 2, 0.5, m.path_change)
        return
    for k in range(m.curves_point[c], m.curves_point[c + 1]):
        m.path_change[k] += (m.path_slope[k] - m.path_chord[k]) / (s1 - s0)


def _take_piece(m: Memory, c: int, e: int, product: Array) -> None:
    """Compute the coefficients of V(s) on piece e of curve c into ``path.piece``, from the products of its points.

    V leads from the curve to the point that slides.
    """
    powers = m.curves_power[m.curves_knot[c] - c + e]
    first = m.curves_point[c] + m.curves_degree[c] * e
    for j in range(m.curves_product.shape[1]):
        for q in range(m.curves_degree[c] + 1):
            total = 0.0
            for i in range(m.curves_degree[c] + 1):
                total += product[m.curves_product[first + i][j]] * powers[i][q]
            m.path_piece[j][q] = total


def _evaluate_at(m: Memory, c: int, t: float) -> tuple[float, float, float, float]:
    """Products V·T, T·T, V·dT/ds and V·V at local place t of the piece in ``path.piece``.

    V leads from the curve to the point that slides, T is the slope of V with respect to the place s.
    """
    along = 0.0
    straight = 0.0
    bent = 0.0
    apart = 0.0
    for j in range(m.curves_product.shape[1]):
        powers = m.path_piece[j]
        value = 0.0
        slope = 0.0
        half = 0.0
        for k in range(m.curves_degree[c] + 1):
            half = half * t + slope
            slope = slope * t + value
            value = value * t + powers[m.curves_degree[c] - k]
        along += value * slope
        straight += slope * slope
        bent += 2.0 * value * half
        apart += value * value
    return along, straight, bent, apart


def foot(m: Memory, c: int, product: Array) -> float:
    """Place on curve c that is nearest to the sliding point, where V·T = 0.

    T is the slope of the curve there, V the vector from the curve to the point. Each piece is searched from its middle,
    within its ends.
    """
    last = count_pieces(m, c) - 1
    place = 0.0
    nearest = INFINITY
    for e in range(last + 1):
        length = length_of(m, c, e)
        _take_piece(m, c, e, product)
        low = -BEYOND * length if e == 0 else 0.0
        high = (1.0 + BEYOND) * length if e == last else length
        t = 0.5 * length
        for _ in range(STEPS):
            along, straight, bent, apart = _evaluate_at(m, c, t)
            before = t
            t = t - along / (straight + bent if straight + bent > 0.0 else straight)
            t = smaller(larger(t, low), high)
            if fabs(t - before) <= SETTLED * length:
                break
        along, straight, bent, apart = _evaluate_at(m, c, t)
        if apart < nearest:
            nearest = apart
            place = m.curves_knots[m.curves_knot[c] + e] + t
    return place


def foot_from(m: Memory, c: int, product: Array, s: float) -> float:
    """Place of the foot on curve c near place s, if the point is close to the curve there; else by :func:`foot`.

    The foot is the place where the slope of the curve is orthogonal to the vector to the point.
    """
    taken = cython.declare(cython.Py_ssize_t)
    place = cython.declare(cython.double)
    place = s
    taken = -1
    for _ in range(STEPS):
        e = piece_at(m, c, place)
        t = local_place(m, c, e, place)
        length = length_of(m, c, e)
        if not (-BEYOND * length <= t and t <= (1.0 + BEYOND) * length):
            break
        if e != taken:
            _take_piece(m, c, e, product)
            taken = e
        along, straight, bent, apart = _evaluate_at(m, c, t)
        if not (straight + bent > 0.0 and apart <= (APART * length) ** 2 * straight):
            break
        moved = along / (straight + bent)
        place = place - moved
        if fabs(moved) <= SETTLED * length:
            return place
    return foot(m, c, product)


def is_beyond(m: Memory, c: int, s: float) -> bool:
    """True if place s is beyond an end of curve c by more than round-off."""
    first = m.curves_knots[m.curves_knot[c]]
    last = m.curves_knots[m.curves_knot[c + 1] - 1]
    margin = END * (last - first)
    return not (first - margin <= s and s <= last + margin)


def sharpest_turn(m: Memory, c: int, product: Array, s0: float, s1: float) -> float:
    """Smallest cosine of the angles at the kinks of curve c between places s0 and s1, or at s1; 1 without kinks.

    A kink is a knot, and the angle is that between the tangents of the two pieces that meet there.
    """
    least = 1.0
    first = m.curves_knot[c]
    for e in range(count_pieces(m, c) - 1):
        knot = m.curves_knots[first + e + 1]
        if (knot > smaller(s0, s1) and knot < larger(s0, s1)) or knot == s1:
            _take_piece(m, c, e, product)
            length = length_of(m, c, e)
            into = m.path_into
            size = _slope_of_piece(m, c, length, into)
            _take_piece(m, c, e + 1, product)
            other = _slope_of_piece(m, c, 0.0, m.path_out)
            total = 0.0
            for j in range(into.size):
                total += into[j] * m.path_out[j]
            least = smaller(least, total / sqrt(size * other))
    return least


def _slope_of_piece(m: Memory, c: int, t: float, out: Array) -> float:
    """Write the slope T of the piece in ``path.piece`` at local place t into ``out``; return its square T·T."""
    square = 0.0
    for j in range(out.size):
        slope = 0.0
        value = 0.0
        for k in range(m.curves_degree[c] + 1):
            slope = slope * t + value
            value = value * t + m.path_piece[j][m.curves_degree[c] - k]
        out[j] = slope
        square += slope * slope
    return square


def first_used(m: Memory, c: int, s0: float, s1: float) -> int:
    """Number of the first point on which curve c depends between two places."""
    e = smaller_int(piece_at(m, c, s0), piece_at(m, c, s1))
    return m.curves_point[c] + m.curves_degree[c] * e


def end_used(m: Memory, c: int, s0: float, s1: float) -> int:
    """One more than the number of the last point on which curve c depends between two places."""
    e = larger_int(piece_at(m, c, s0), piece_at(m, c, s1))
    return m.curves_point[c] + m.curves_degree[c] * (e + 1) + 1
