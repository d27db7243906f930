"""Squared distance of two segments as a function of products of vectors, with its gradient and second derivatives.

With V from the centre of the second segment to that of the first, and half segments W and U,

    D = min over |s|, |t| ≤ 1 of |V + s W − t U|² + ε (s² |W|² + t² |U|²),   π = (V·V, V·W, V·U, W·U)

is a function of the products π with the gradient (1, 2s, −2t, −2st) at the minimum. Without ε the closest points of
parallel segments would not be unique, and the gradient would jump as they pass each other.

For thin segments, whose distance is much less than their lengths, round-off of these products would turn the gradient.
V therefore leads from one base point to another, at places s₀ and t₀ on the segments that are fixed during a step: the
closest ones at its start. With s and t measured from the centres as before,

    D = min |V + (s − s₀) W − (t − t₀) U|² + ε (s² |W|² + t² |U|²).

Results are written into a vector at the indices ``SQUARE`` and following.
"""

from __future__ import annotations

from typing import Any

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs

    from ...numerics.loops.views import Mat, bind, fill, larger, part

SQUARE = cython.declare(cython.Py_ssize_t, 0)
FIRST = cython.declare(cython.Py_ssize_t, 1)
SECOND = cython.declare(cython.Py_ssize_t, 2)
"""Indices of the parameters s and t of the closest points."""
FIRST_SQUARE = cython.declare(cython.Py_ssize_t, 4)
SECOND_SQUARE = cython.declare(cython.Py_ssize_t, 5)
"""Indices of |W|² and |U|² after the products π."""
SLOPE = cython.declare(cython.Py_ssize_t, 3)
BASE = cython.declare(cython.Py_ssize_t, 45)
"""First index of the parameters s₀ and t₀ of the base points, on the segments."""
BEND = cython.declare(cython.Py_ssize_t, 7)
"""First index of the gradient (4,) and the second derivatives (4, 4) with respect to the products."""
EVEN = cython.declare(cython.double, 1e-6)
"""The number ε: closest points of segments within 1e-3 rad of parallel pass from end to end."""
SAME = cython.declare(cython.double, 1e-8)
"""Relative change of the products up to which the discrete gradient is just the mean of those at both ends."""
NOISE = cython.declare(cython.double, 1e-15)
"""Round-off of D relative to the sum of its terms, which the gradients do not correct."""


def closest_points(x: Array, out: Array) -> None:
    """Write the squared distance D of two segments and its derivatives into ``out``.

    ``x`` are the products π, |W|² and |U|². ``out`` must have the parameters s₀ and t₀ of the base points.
    """
    fill(part(out, 0, BASE), 0.0)
    a = (1.0 + EVEN) * x[FIRST_SQUARE]
    b = (1.0 + EVEN) * x[SECOND_SQUARE]
    out[SQUARE] = 1e300
    along = x[1] + EVEN * x[FIRST_SQUARE] * out[BASE]
    across = x[2] - EVEN * x[SECOND_SQUARE] * out[BASE + 1]
    s = (x[3] * across - b * along) / (a * b - x[3] * x[3])
    t = (x[3] * s + across) / b
    if _is_inside(s, out[BASE]) and _is_inside(t, out[BASE + 1]):
        _take_points(x, s, t, out)
    else:
        for k in range(2):
            end = 1.0 - 2.0 * k
            s = end - out[BASE]
            _take_points(x, s, _within((x[3] * s + across) / b, out[BASE + 1]), out)
            t = end - out[BASE + 1]
            _take_points(x, _within((x[3] * t - along) / a, out[BASE]), t, out)
    s = out[FIRST]
    t = out[SECOND]
    out[SLOPE] = 1.0
    out[SLOPE + 1] = 2.0 * s
    out[SLOPE + 2] = -2.0 * t
    out[SLOPE + 3] = -2.0 * s * t
    _second_derivatives(a, b, x, out)
    out[FIRST] += out[BASE]
    out[SECOND] += out[BASE + 1]


def _is_inside(s: float, base: float) -> bool:
    """True if a point of a segment is not at one of the ends of the segment.

    ``s`` is the parameter of the point minus that of the base point, ``base``.
    """
    return -1.0 - base < s < 1.0 - base


def _within(s: float, base: float) -> float:
    if s < -1.0 - base:
        return -1.0 - base
    if s > 1.0 - base:
        return 1.0 - base
    return s


def _take_points(x: Array, s: float, t: float, out: Array) -> None:
    """Store two points of the segments as the closest ones in ``out`` if they are closer than those stored there.

    s and t are their parameters, measured from the base points.
    """
    first = s * s + EVEN * (s + out[BASE]) ** 2
    second = t * t + EVEN * (t + out[BASE + 1]) ** 2
    square = x[0] + 2.0 * s * x[1] - 2.0 * t * x[2] - 2.0 * s * t * x[3]
    square += first * x[FIRST_SQUARE] + second * x[SECOND_SQUARE]
    if square < out[SQUARE]:
        out[SQUARE] = square
        out[FIRST] = s
        out[SECOND] = t


def _second_derivatives(a: float, b: float, x: Array, out: Array) -> None:
    """Write the second derivatives of D with respect to the products into ``out``; closest points at ends do not move.

    a and b are (1 + ε)|W|² and (1 + ε)|U|².
    """
    first = cython.declare(cython.bint)
    second = cython.declare(cython.bint)
    s = out[FIRST]
    t = out[SECOND]
    first = _is_inside(s, out[BASE])
    second = _is_inside(t, out[BASE + 1])
    for j in range(1, 4):
        on_first = 0.0
        on_second = 0.0
        if j == 1:
            on_first = -1.0
        elif j == 2:
            on_second = 1.0
        else:
            on_first = t
            on_second = s
        along = 0.0
        across = 0.0
        if first and second:
            both = a * b - x[3] * x[3]
            along = (b * on_first + x[3] * on_second) / both
            across = (x[3] * on_first + a * on_second) / both
        elif first:
            along = on_first / a
        elif second:
            across = on_second / b
        out[BEND + 4 + j] = 2.0 * along
        out[BEND + 8 + j] = -2.0 * across
        out[BEND + 12 + j] = -2.0 * (along * t + s * across)


def mean_slopes(count: int, x: Array, y: Array, first: Array, last: Array, out: Array) -> None:
    """Write the discrete gradient of D between products x and y into the first row of ``out``, then its derivatives.

    There are ``count`` products; the derivatives are with respect to y. ``first`` and ``last`` are the results for x
    and y. The discrete gradient is that of O. Gonzalez with the mean of the gradients at x and y (J. Nonlinear Sci. 6
    (1996) 449).
    """
    defect = last[SQUARE] - first[SQUARE]
    bend = SLOPE + count
    noise = NOISE * (_terms(count, x, first) + _terms(count, y, last))
    square = 0.0
    size = 0.0
    for i in range(count):
        way = y[i] - x[i]
        out[0][i] = 0.5 * (first[SLOPE + i] + last[SLOPE + i])
        defect -= out[0][i] * way
        square += way * way
        size = larger(size, larger(fabs(x[i]), fabs(y[i])))
        for j in range(count):
            out[1 + i][j] = 0.5 * last[bend + count * i + j]
    if fabs(defect) <= noise or square <= (SAME * size) ** 2:
        return
    weight = defect / square
    for j in range(count):
        by = 0.5 * (last[SLOPE + j] - first[SLOPE + j]) - 2.0 * weight * (y[j] - x[j])
        for i in range(count):
            by -= 0.5 * last[bend + count * i + j] * (y[i] - x[i])
        by /= square
        for i in range(count):
            out[1 + i][j] += (y[i] - x[i]) * by + (weight if i == j else 0.0)
    for i in range(count):
        out[0][i] += weight * (y[i] - x[i])


def _terms(count: int, x: Array, near: Array) -> float:
    """Sum of the absolute values of the terms of D, each a product of x times the derivative of D by it in ``near``."""
    total = 0.0
    for i in range(count):
        total += fabs(near[SLOPE + i] * x[i])
    return total


def squares(products: Any, out: Any, bent: Any) -> None:
    """Write squared distances D and derivatives for k pairs of segments into ``out``, discrete gradients into ``bent``.

    ``products`` (2 k, 6) has for each pair π, |W|² and |U|² at the start and at the end of a step. The rows of ``out``
    must have the base points. ``bent`` (5 k, 4) has for each pair the discrete gradient with respect to π, then its
    derivatives with respect to π at the end.
    """
    pairs = cython.declare(cython.Py_ssize_t, len(products) // 2)
    if not cython.compiled:
        for i in range(2 * pairs):
            closest_points(products[i], out[i])
        for k in range(pairs):
            both = products[2 * k : 2 * k + 2], out[2 * k : 2 * k + 2]
            mean_slopes(4, both[0][0], both[0][1], both[1][0], both[1][1], bent[5 * k : 5 * k + 5])
        return
    x = cython.declare(Mat)
    near = cython.declare(Mat)
    gradient = cython.declare(Mat)
    bind(x, products)
    bind(near, out)
    bind(gradient, bent)
    for i in range(2 * pairs):
        closest_points(x[i], near[i])
    for k in range(pairs):
        mean_slopes(4, x[2 * k], x[2 * k + 1], near[2 * k], near[2 * k + 1], part(gradient, 5 * k, 5 * k + 5))
