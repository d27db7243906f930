"""Squared distance of a point to a face of moving corners as a function of products of vectors, with its derivatives.

With V from the first corner to the point, and the sides W and U from there to the other corners of a triangle,

    D = min over s, t ≥ 0, s + t ≤ 1 of |V − s W − t U|²,   π = (V·V, V·W, V·U, W·W, W·U, U·U)

is a continuously differentiable function of the products π with the gradient (1, −2s, −2t, s², 2st, t²) at the minimum,
over the inside, edges and corners alike. A face of two corners is a segment, with t = 0.

As for segments (:mod:`.segments`), V leads from a base point of the face, at the places s₀ and t₀ of the closest point
at the start of a step; s and t are then measured from there. Results have the indices of :mod:`.segments`, with six
products instead of four.
"""

from __future__ import annotations

from typing import Any

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from ...numerics.loops.views import Mat, bind, fill, part
    from .segments import BASE, FIRST, SECOND, SLOPE, SQUARE, mean_slopes

PRODUCTS = cython.declare(cython.Py_ssize_t, 6)
BENT = cython.declare(cython.Py_ssize_t, 9)
"""Number of products, and first index of the second derivatives (6, 6) in the results."""
FEATURE = cython.declare(cython.Py_ssize_t, 47)
"""Index of the kind of the closest part: inside, on the edges along W, along U and between their ends, or a corner."""
INSIDE = cython.declare(cython.Py_ssize_t, 0)
ALONG_FIRST = cython.declare(cython.Py_ssize_t, 1)
ALONG_SECOND = cython.declare(cython.Py_ssize_t, 2)
ACROSS = cython.declare(cython.Py_ssize_t, 3)
CORNER = cython.declare(cython.Py_ssize_t, 4)
FLAT = cython.declare(cython.double, 1e-12)
"""Square of the sine of the angle between the sides, below which a triangle has edges only."""


def closest_on_face(corners: int, x: Array, out: Array) -> None:
    """Write the squared distance D from a face with 2 or 3 corners, and its derivatives, into ``out``.

    ``x`` are the six products π. ``out`` must have the parameters s₀ and t₀ of the base point.
    """
    fill(part(out, 0, BASE), 0.0)
    out[SQUARE] = 1e300
    out[FEATURE] = CORNER
    if corners < 3:
        _try_first_edge(x, out)
    elif not _try_inside(x, out):
        _try_first_edge(x, out)
        _try_second_edge(x, out)
        _try_third_edge(x, out)
    s = out[FIRST]
    t = out[SECOND]
    out[SLOPE] = 1.0
    out[SLOPE + 1] = -2.0 * s
    out[SLOPE + 2] = -2.0 * t
    out[SLOPE + 3] = s * s
    out[SLOPE + 4] = 2.0 * s * t
    out[SLOPE + 5] = t * t
    _second_derivatives(x, out)
    out[FIRST] += out[BASE]
    out[SECOND] += out[BASE + 1]


def _keep_if_closer(x: Array, s: float, t: float, feature: int, out: Array) -> None:
    """Store a point of the face as the closest one in ``out`` if it is closer than the point stored there.

    s and t are its parameters measured from the base point, ``feature`` the part of the face where it lies.
    """
    square = x[0] - 2.0 * s * x[1] - 2.0 * t * x[2] + s * s * x[3] + 2.0 * s * t * x[4] + t * t * x[5]
    if square < out[SQUARE]:
        out[SQUARE] = square
        out[FIRST] = s
        out[SECOND] = t
        out[FEATURE] = feature


def _try_inside(x: Array, out: Array) -> bool:
    """Store the foot of the perpendicular in the triangle as the closest point; return False if it is outside."""
    area = x[3] * x[5] - x[4] * x[4]
    if not area > FLAT * x[3] * x[5]:
        return False
    s = (x[1] * x[5] - x[2] * x[4]) / area
    t = (x[2] * x[3] - x[1] * x[4]) / area
    if s > -out[BASE] and t > -out[BASE + 1] and s + t < 1.0 - out[BASE] - out[BASE + 1]:
        _keep_if_closer(x, s, t, INSIDE, out)
        return True
    return False


def _try_first_edge(x: Array, out: Array) -> None:
    """Store the closest point of the edge along W in ``out`` if it is closer than the point stored there."""
    t = -out[BASE + 1]
    _take_on_edge(x, (x[1] - t * x[4]) / x[3], ALONG_FIRST, out)


def _try_second_edge(x: Array, out: Array) -> None:
    """Store the closest point of the edge along U in ``out`` if it is closer than the point stored there."""
    s = -out[BASE]
    _take_on_edge(x, (x[2] - s * x[4]) / x[5], ALONG_SECOND, out)


def _try_third_edge(x: Array, out: Array) -> None:
    """Store the closest point of the edge between the ends of W and U if it is closer than the stored one."""
    rest = 1.0 - out[BASE] - out[BASE + 1]
    place = (x[1] - x[2] + rest * (x[5] - x[4])) / (x[3] - 2.0 * x[4] + x[5])
    _take_on_edge(x, place, ACROSS, out)


def _take_on_edge(x: Array, place: float, edge: int, out: Array) -> None:
    """Store a point of an edge as the closest one in ``out`` if it is closer than the point stored there.

    ``place`` is the parameter of the point: t on the edge along U, s on other edges. The point is first limited to the
    ends of the edge.
    """
    feature = cython.declare(cython.Py_ssize_t)
    least = -out[BASE + 1] if edge == ALONG_SECOND else -out[BASE]
    feature = edge
    if not place > least:
        place = least
        feature = CORNER
    elif not place < least + 1.0:
        place = least + 1.0
        feature = CORNER
    if edge == ALONG_SECOND:
        _keep_if_closer(x, -out[BASE], place, feature, out)
    elif edge == ALONG_FIRST:
        _keep_if_closer(x, place, -out[BASE + 1], feature, out)
    else:
        _keep_if_closer(x, place, 1.0 - out[BASE] - out[BASE + 1] - place, feature, out)


def _second_derivatives(x: Array, out: Array) -> None:
    """Write the second derivatives of D with respect to the products into ``out``.

    If the closest point is a corner, its parameters do not change with the products, and the derivatives are zero.
    """
    s = out[FIRST]
    t = out[SECOND]
    area = x[3] * x[5] - x[4] * x[4]
    across = x[3] - 2.0 * x[4] + x[5]
    for j in range(1, PRODUCTS):
        one = (1.0 if j == 1 else 0.0) - (s if j == 3 else 0.0) - (t if j == 4 else 0.0)
        other = (1.0 if j == 2 else 0.0) - (s if j == 4 else 0.0) - (t if j == 5 else 0.0)
        by_s = 0.0
        by_t = 0.0
        if out[FEATURE] == INSIDE:
            by_s = (x[5] * one - x[4] * other) / area
            by_t = (x[3] * other - x[4] * one) / area
        elif out[FEATURE] == ALONG_FIRST:
            by_s = one / x[3]
        elif out[FEATURE] == ALONG_SECOND:
            by_t = other / x[5]
        elif out[FEATURE] == ACROSS:
            by_s = (one - other) / across
            by_t = -by_s
        out[BENT + PRODUCTS + j] = -2.0 * by_s
        out[BENT + 2 * PRODUCTS + j] = -2.0 * by_t
        out[BENT + 3 * PRODUCTS + j] = 2.0 * s * by_s
        out[BENT + 4 * PRODUCTS + j] = 2.0 * (t * by_s + s * by_t)
        out[BENT + 5 * PRODUCTS + j] = 2.0 * t * by_t


def face_squares(corners: Any, products: Any, out: Any, bent: Any) -> None:
    """Write squared distances D and derivatives for k faces into ``out``, and discrete gradients into ``bent``.

    ``products`` (2 k, 6) has for each face the products π at the start and at the end of the step, ``corners`` (k, 1)
    the numbers of corners. The rows of ``out`` must have the base points. ``bent`` (7 k, 6) has for each face the
    discrete gradient, then its derivatives with respect to the products at the end.
    """
    faces = cython.declare(cython.Py_ssize_t, len(products) // 2)
    if not cython.compiled:
        for i in range(2 * faces):
            closest_on_face(int(corners[i // 2][0]), products[i], out[i])
        for k in range(faces):
            x, near = products[2 * k : 2 * k + 2], out[2 * k : 2 * k + 2]
            mean_slopes(PRODUCTS, x[0], x[1], near[0], near[1], bent[7 * k : 7 * k + 7])
        return
    count = cython.declare(Mat)
    x = cython.declare(Mat)
    near = cython.declare(Mat)
    gradient = cython.declare(Mat)
    bind(count, corners)
    bind(x, products)
    bind(near, out)
    bind(gradient, bent)
    for i in range(2 * faces):
        closest_on_face(3 if count[i // 2][0] > 2.0 else 2, x[i], near[i])
    for k in range(faces):
        mean_slopes(PRODUCTS, x[2 * k], x[2 * k + 1], near[2 * k], near[2 * k + 1], part(gradient, 7 * k, 7 * k + 7))
