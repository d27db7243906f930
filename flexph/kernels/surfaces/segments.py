"""Squared distance of two segments as a function of products of vectors, with its gradient and second derivatives.

With V from the centre of the second segment to that of the first, and half segments W and U,

    D = min over |s|, |t| ≤ 1 of |V + s W − t U|² + ε (s² |W|² + t² |U|²),   π = (V·V, V·W, V·U, W·U)

is a function of the products π with the gradient (1, 2s, −2t, −2st) at the minimum. Without ε the closest points of
parallel segments would not be unique, and the gradient would jump as they pass each other. Results are written into a
vector by the places ``SQUARE`` and the following.
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
"""Places s and t of the closest points."""
SLOPE = cython.declare(cython.Py_ssize_t, 3)
BEND = cython.declare(cython.Py_ssize_t, 7)
"""Gradient (4,) and second derivatives (4, 4) by the products."""
EVEN = cython.declare(cython.double, 1e-6)
"""The number ε: closest points of segments within 1e-3 rad of parallel pass from end to end."""
SAME = cython.declare(cython.double, 1e-8)
"""Change of the products, relative to them, up to which gradients at both ends of a step are averaged only."""
NOISE = cython.declare(cython.double, 1e-15)
"""Round-off of D relative to the sum of its terms, which the gradients do not correct."""


def closest_points(first: float, second: float, x: Array, out: Array) -> None:
    """Write D of two segments with the squares |W|² and |U|², and its derivatives at the products x, into ``out``."""
    fill(out, 0.0)
    a = (1.0 + EVEN) * first
    b = (1.0 + EVEN) * second
    out[SQUARE] = 1e300
    s = _inner(a, b, x)
    t = (x[3] * s + x[2]) / b
    if fabs(s) <= 1.0 and fabs(t) <= 1.0:
        _take_points(a, b, x, s, t, out)
    else:
        for k in range(2):
            end = 1.0 - 2.0 * k
            _take_points(a, b, x, end, _within((x[3] * end + x[2]) / b), out)
            _take_points(a, b, x, _within((x[3] * end - x[1]) / a), end, out)
    s = out[FIRST]
    t = out[SECOND]
    out[SLOPE] = 1.0
    out[SLOPE + 1] = 2.0 * s
    out[SLOPE + 2] = -2.0 * t
    out[SLOPE + 3] = -2.0 * s * t
    _bend(a, b, x, s, t, out)


def _inner(a: float, b: float, x: Array) -> float:
    """Place s at which the derivatives by s and t vanish."""
    return (x[3] * x[2] - b * x[1]) / (a * b - x[3] * x[3])


def _within(s: float) -> float:
    if s < -1.0:
        return -1.0
    if s > 1.0:
        return 1.0
    return s


def _take_points(a: float, b: float, x: Array, s: float, t: float, out: Array) -> None:
    """Take the places s and t if they are closer than those in ``out``."""
    square = x[0] + 2.0 * s * x[1] - 2.0 * t * x[2] - 2.0 * s * t * x[3] + s * s * a + t * t * b
    if square < out[SQUARE]:
        out[SQUARE] = square
        out[FIRST] = s
        out[SECOND] = t


def _bend(a: float, b: float, x: Array, s: float, t: float, out: Array) -> None:
    """Write the second derivatives at the places s and t; places at ends do not move."""
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
        if fabs(s) < 1.0 and fabs(t) < 1.0:
            both = a * b - x[3] * x[3]
            along = (b * on_first + x[3] * on_second) / both
            across = (x[3] * on_first + a * on_second) / both
        elif fabs(s) < 1.0:
            along = on_first / a
        elif fabs(t) < 1.0:
            across = on_second / b
        out[BEND + 4 + j] = 2.0 * along
        out[BEND + 8 + j] = -2.0 * across
        out[BEND + 12 + j] = -2.0 * (along * t + s * across)


def mean_slopes(x: Array, y: Array, first: Array, last: Array, out: Array) -> None:
    """Write the discrete gradient of D from the products x to y into the first row of ``out`` (5, 4), then ∂/∂y.

    It is that of O. Gonzalez with the mean of the gradients at both ends (J. Nonlinear Sci. 6 (1996) 449).
    """
    defect = last[SQUARE] - first[SQUARE]
    noise = NOISE * (_terms(x, first) + _terms(y, last))
    square = 0.0
    size = 0.0
    for i in range(4):
        way = y[i] - x[i]
        out[0][i] = 0.5 * (first[SLOPE + i] + last[SLOPE + i])
        defect -= out[0][i] * way
        square += way * way
        size = larger(size, larger(fabs(x[i]), fabs(y[i])))
        for j in range(4):
            out[1 + i][j] = 0.5 * last[BEND + 4 * i + j]
    if fabs(defect) <= noise or square <= (SAME * size) ** 2:
        return
    weight = defect / square
    for j in range(4):
        by = 0.5 * (last[SLOPE + j] - first[SLOPE + j]) - 2.0 * weight * (y[j] - x[j])
        for i in range(4):
            by -= 0.5 * last[BEND + 4 * i + j] * (y[i] - x[i])
        by /= square
        for i in range(4):
            out[1 + i][j] += (y[i] - x[i]) * by + (weight if i == j else 0.0)
    for i in range(4):
        out[0][i] += weight * (y[i] - x[i])


def _terms(x: Array, near: Array) -> float:
    """Sum of the terms of D without their signs."""
    s = fabs(near[FIRST])
    t = fabs(near[SECOND])
    return x[0] + 2.0 * s * fabs(x[1]) + 2.0 * t * fabs(x[2]) + 2.0 * s * t * fabs(x[3])


def squares(sizes: Any, products: Any, out: Any, bent: Any) -> None:
    """Write D at products (2 k, 4) of segments with squares (2 k, 2) and derivatives, and mean slopes (5 k, 4).

    Two rows of the products are those of a pair at both ends of a step.
    """
    pairs = cython.declare(cython.Py_ssize_t, len(products) // 2)
    if not cython.compiled:
        for i in range(2 * pairs):
            closest_points(sizes[i][0], sizes[i][1], products[i], out[i])
        for k in range(pairs):
            both = products[2 * k : 2 * k + 2], out[2 * k : 2 * k + 2]
            mean_slopes(both[0][0], both[0][1], both[1][0], both[1][1], bent[5 * k : 5 * k + 5])
        return
    size = cython.declare(Mat)
    x = cython.declare(Mat)
    near = cython.declare(Mat)
    gradient = cython.declare(Mat)
    bind(size, sizes)
    bind(x, products)
    bind(near, out)
    bind(gradient, bent)
    for i in range(2 * pairs):
        closest_points(size[i][0], size[i][1], x[i], near[i])
    for k in range(pairs):
        mean_slopes(x[2 * k], x[2 * k + 1], near[2 * k], near[2 * k + 1], part(gradient, 5 * k, 5 * k + 5))
