"""Positions of points on their curves over a step, and directions of the curves there, in loops.

A place is a position s along a curve. Multipliers act along ``path.direction``: vectors n̄ across the curve, and last,
for a driven place, b = −τ/|τ|² along its tangent τ. See kernels.rates.on_curves.
"""

from __future__ import annotations

import math

import cython

from ....kernels.rates.curves import KINK as _KINK
from ....kernels.rates.curves import OFF as _OFF
from ....numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.loops.views import fill, larger, part
    from ..memory.memory import Memory
    from .pieces import (
        add_chord,
        add_chord_change,
        add_shapes,
        end_used,
        first_used,
        foot,
        foot_from,
        is_beyond,
        sharpest_turn,
    )

LEAST_COSINE = cython.declare(cython.double, math.cos(_KINK))
"""Cosine of the largest angle at a knot that does not count as a kink."""
OFF = cython.declare(cython.double, _OFF)


def place_points(m: Memory) -> None:
    """Compute the places of points on their curves at the present state ``at``."""
    for c in range(m.curves_input.size):
        m.at_place[c] = foot(m, c, m.at_product)


def set_curves_at_rest(m: Memory) -> None:
    """Compute the directions and coefficients of points on curves for a step of zero length.

    They are taken at the present state ``at``.
    """
    for c in range(m.curves_input.size):
        _follow(m, c, m.at_product, m.at_place[c])


def follow_curves(m: Memory) -> None:
    """Compute the places of points on curves at the end of a trial, and their directions and coefficients over it."""
    for c in range(m.curves_input.size):
        m.path_slid[c] = m.path_rub[c]
        m.end_place[c] = foot_from(m, c, m.end_product, m.at_place[c])
        _follow(m, c, m.end_product, m.end_place[c])


def _follow(m: Memory, c: int, end: Array, s1: float) -> None:
    """Compute the directions and coefficients of curve c over a step that ends at place s1.

    ``end`` are the products there.
    """
    s0 = m.at_place[c]
    m.path_used[c][0] = first_used(m, c, s0, s1)
    m.path_used[c][1] = end_used(m, c, s0, s1)
    set_shapes(m, c, s0, 1, m.path_slope)
    sum_products(m, c, m.at_product, m.path_slope, m.path_tangent[c])
    _write_resting_axes(m.path_tangent[c], m.path_resting, c)
    set_shapes(m, c, s0, 0, m.path_mean)
    set_shapes(m, c, s1, 0, m.path_last)
    set_shapes(m, c, s1, 1, m.path_slope)
    set_shapes(m, c, s1, 2, m.path_bend)
    set_shapes(m, c, s1, -1, m.path_chord)
    add_chord(m, c, s0, s1, m.path_chord)
    set_shapes(m, c, s1, -1, m.path_change)
    add_chord_change(m, c, s0, s1)
    for k in range(m.path_used[c][0], m.path_used[c][1]):
        m.path_mean[k] = 0.5 * (m.path_mean[k] + m.path_last[k])
    sum_products(m, c, end, m.path_last, m.path_apart[c])
    sum_products(m, c, end, m.path_slope, m.path_tangent[c])
    sum_products(m, c, end, m.path_bend, m.path_rate[c])
    straight = 0.0
    bent = 0.0
    for j in range(m.path_way.shape[1]):
        straight += m.path_tangent[c][j] * m.path_tangent[c][j]
        bent += m.path_apart[c][j] * m.path_rate[c][j]
        component = 0.0
        by_place = 0.0
        for k in range(m.path_used[c][0], m.path_used[c][1]):
            p = m.curves_product[k][j]
            mean = 0.5 * (m.at_product[p] + end[p])
            component += mean * m.path_chord[k]
            by_place += mean * m.path_change[k]
        m.path_way[c][j] = component
        m.path_by_place[c][j] = by_place
    m.path_curved[c] = straight + bent if straight + bent > 0.0 else straight
    _set_directions(m, c)


def set_shapes(m: Memory, c: int, s: float, order: int, out: Array) -> None:
    """Write the coefficients of the points of curve c at place s into ``out``, or a derivative with respect to s.

    ``order`` is the order of the derivative, 0 for the coefficients themselves; for −1 zeros are written.
    """
    fill(part(out, m.curves_point[c], m.curves_point[c + 1]), 0.0)
    if order >= 0:
        add_shapes(m, c, s, order, 1.0, out)


def sum_products(m: Memory, c: int, product: Array, weight: Array, out: Array) -> None:
    """Write the sums over the points k of curve c of ``weight`` times their products into ``out`` (d,).

    The products of a point are the components of the vector from it to the sliding point.
    """
    for j in range(out.size):
        total = 0.0
        for k in range(m.path_used[c][0], m.path_used[c][1]):
            total += weight[k] * product[m.curves_product[k][j]]
        out[j] = total


def _write_resting_axes(tangent: Array, resting: Array, c: int) -> None:
    """Write unit vectors across the tangent of curve c into ``resting``.

    In space the first is in the plane of the tangent and of the axis to which the tangent is most nearly orthogonal.
    """
    axis = cython.declare(cython.Py_ssize_t)
    normal = resting[c]
    square = 0.0
    for j in range(tangent.size):
        square += tangent[j] * tangent[j]
    size = sqrt(square)
    if tangent.size == 2:
        normal[0][0] = -tangent[1] / size
        normal[0][1] = tangent[0] / size
        return
    axis = 0
    for j in range(1, 3):
        if fabs(tangent[j]) < fabs(tangent[axis]):
            axis = j
    along = tangent[axis] / size
    square = 0.0
    for j in range(3):
        normal[0][j] = (1.0 if j == axis else 0.0) - along * tangent[j] / size
        square += normal[0][j] * normal[0][j]
    across = sqrt(square)
    for j in range(3):
        normal[0][j] /= across
    for j in range(3):
        u = (j + 1) % 3
        v = (j + 2) % 3
        normal[1][j] = (tangent[u] * normal[0][v] - tangent[v] * normal[0][u]) / size


def _set_directions(m: Memory, c: int) -> None:
    """Compute the directions of the multipliers of curve c, and the unit vector along its tangent τ."""
    d = m.path_way.shape[1]
    square = 0.0
    for j in range(d):
        square += m.path_way[c][j] * m.path_way[c][j]
    size = sqrt(square)
    m.path_size[c] = size
    for j in range(d):
        m.path_along[c][j] = m.path_way[c][j] / size
        m.path_direction[c][d - 1][j] = -m.path_way[c][j] / square
    for i in range(d - 1):
        along = 0.0
        for j in range(d):
            along += m.path_resting[c][i][j] * m.path_along[c][j]
        for j in range(d):
            m.path_direction[c][i][j] = m.path_resting[c][i][j] - along * m.path_along[c][j]


def leaves_curves(m: Memory) -> bool:
    """True if a point is off its curve at the end of a step, beyond an end of the curve, or has passed a kink."""
    for c in range(m.curves_input.size):
        square = 0.0
        largest = 0.0
        for j in range(m.path_way.shape[1]):
            square += m.path_apart[c][j] * m.path_apart[c][j]
            for k in range(m.curves_point[c], m.curves_point[c + 1]):
                largest = larger(largest, fabs(m.end_product[m.curves_product[k][j]]))
        s1 = m.end_place[c]
        if is_beyond(m, c, s1) or not sqrt(square) <= OFF * largest:
            return True
        if not sharpest_turn(m, c, m.end_product, m.at_place[c], s1) >= LEAST_COSINE:
            return True
    return False
