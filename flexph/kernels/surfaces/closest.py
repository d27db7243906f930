"""Distance from a point to a surface in the axes of the surface, with its gradient and second derivatives.

The distance to a box, a segment or a mesh is continuously differentiable outside of it, except where two parts are at
the same distance. Where faces meet in a concave edge, at distances d_A and d_B, their minimum is replaced by a blend of
width k, the polynomial

    smin(a, b) = min(a, b) − max(k − |a − b|, 0)²/4k,

so that a ball that touches both faces is carried by both.

Results are written into a vector at the indices ``VALUE`` and following.
"""

from __future__ import annotations

from typing import Any

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs, sqrt

    from ...numerics.loops.views import Mat, bind, fill, larger
    from .surfaces import Surfaces

VALUE = cython.declare(cython.Py_ssize_t, 0)
SIZE = cython.declare(cython.Py_ssize_t, 1)
"""Index of the distance without its sign."""
SIGN = cython.declare(cython.Py_ssize_t, 2)
CODE = cython.declare(cython.Py_ssize_t, 3)
"""Index of the code of the closest feature and its side; below −1 that of a blend of two faces, −1 of more."""
FLAT = cython.declare(cython.Py_ssize_t, 4)
"""Index of the flag 1 for a feature with a constant gradient, a face."""
GRADIENT = cython.declare(cython.Py_ssize_t, 5)
AWAY = cython.declare(cython.Py_ssize_t, 8)
"""First index of the vector from the closest point of a side or corner, times the sign."""
CURVATURE = cython.declare(cython.Py_ssize_t, 11)
PLACE = cython.declare(cython.Py_ssize_t, 20)
"""First index of the closest point."""
WIDTH = cython.declare(cython.Py_ssize_t, 23)
"""Number of entries of the results."""
MEETING = cython.declare(cython.Py_ssize_t, 8)
"""Largest number of faces that a blend takes at once."""
NEAR = cython.declare(cython.double, 1e-8)
"""Displacement, relative to the distances, up to which the discrete gradient is just the mean of those at both ends."""


def nearest(s: Surfaces, k: int, dim: int, x: Array, blend: float, out: Array) -> None:
    """Write the distance of the point x from surface number ``k``, its gradient and second derivatives into ``out``.

    ``dim`` is the number of dimensions, ``blend`` [m] the width of blends of faces in concave edges.
    """
    fill(out, 0.0)
    if s.root[k] < 0:
        _box(s, k, dim, x, out)
    else:
        _mesh(s, k, dim, x, blend, out)


def _box(s: Surfaces, k: int, dim: int, x: Array, out: Array) -> None:
    """Write the distance of x from box number ``k``, with its derivatives, into ``out``.

    Inside the box it is minus the distance to the closest face.
    """
    code = cython.declare(cython.Py_ssize_t)
    active = cython.declare(cython.Py_ssize_t)
    sides = cython.declare(cython.Py_ssize_t)
    code = 0
    sides = 0
    active = 0
    square = 0.0
    for i in range(dim):
        half = s.half[k][i]
        over = fabs(x[i]) - half
        outside = over if x[i] > 0.0 else -over
        away = outside if over > 0.0 else 0.0
        if half == 0.0:
            away = x[i]
        out[AWAY + i] = away
        out[PLACE + i] = x[i] - away
        square += away * away
        code = 3 * code
        sides = 3 * sides
        if half == 0.0 or over > 0.0:
            active += 1
            code += 1 if half == 0.0 or x[i] > 0.0 else 2
            sides += 1 if x[i] > 0.0 else 2
    if active == 1:  # both faces of a plate
        code = sides
    size = sqrt(square)
    out[SIGN] = 1.0
    if size == 0.0:
        _inside(s, k, dim, x, out)
        return
    out[VALUE] = size
    out[SIZE] = size
    out[CODE] = code
    out[FLAT] = 1.0 if active == 1 else 0.0
    for i in range(dim):
        out[GRADIENT + i] = out[AWAY + i] / size
    for i in range(dim):
        acts = 1.0 if s.half[k][i] == 0.0 or fabs(x[i]) > s.half[k][i] else 0.0
        for j in range(dim):
            entry = acts if i == j else 0.0
            bent = entry - out[GRADIENT + i] * out[GRADIENT + j]
            out[CURVATURE + 3 * i + j] = bent / size if active > 1 else 0.0


def _inside(s: Surfaces, k: int, dim: int, x: Array, out: Array) -> None:
    """Write the distance of x from box ``k``, which contains x, into ``out``: minus that to the closest face."""
    code = cython.declare(cython.Py_ssize_t)
    best = cython.declare(cython.Py_ssize_t)
    best = 0
    for i in range(1, dim):
        if fabs(x[i]) - s.half[k][i] > fabs(x[best]) - s.half[k][best]:
            best = i
    value = fabs(x[best]) - s.half[k][best]
    out[VALUE] = value
    out[SIZE] = -value
    out[SIGN] = -1.0
    out[FLAT] = 1.0
    code = 0
    for i in range(dim):
        code = 3 * code
        if i == best:
            code += 1 if s.half[k][i] == 0.0 or x[i] > 0.0 else 2
    out[CODE] = code
    out[GRADIENT + best] = 1.0 if x[best] > 0.0 else -1.0


def _mesh(s: Surfaces, k: int, dim: int, x: Array, blend: float, out: Array) -> None:
    """Write the distance of x from mesh ``k`` into ``out``: that to its closest feature, blended with faces nearby."""
    closest_cell = cython.declare(cython.Py_ssize_t)
    node = cython.declare(cython.Py_ssize_t)
    last = cython.declare(cython.Py_ssize_t)
    closest_cell = -1
    least = 1e300
    node = s.root[k]
    last = s.skip[node]
    while node < last:
        if _away_from_box(s, node, x) >= least:
            node = s.skip[node]
            continue
        for t in range(s.cells[node][0], s.cells[node][1]):
            _closest(s, t, dim, x, out)
            square = _square(x, out)
            if square < least:
                least = square
                closest_cell = t
        node += 1
    region = _closest(s, closest_cell, dim, x, out)
    _feature(s, (k, closest_cell), region, dim, x, out)
    if blend > 0.0 and out[SIGN] > 0.0:
        _blend_faces(s, k, dim, x, blend, out)


def _away_from_box(s: Surfaces, node: int, x: Array) -> float:
    """Squared distance of x from the bounding box of a tree node."""
    total = 0.0
    for i in range(3):
        over = larger(larger(s.low[node][i] - x[i], x[i] - s.high[node][i]), 0.0)
        total += over * over
    return total


def _square(x: Array, out: Array) -> float:
    """Squared distance of x from the closest point that is stored in ``out``."""
    total = 0.0
    for i in range(3):
        total += (x[i] - out[PLACE + i]) ** 2
    return total


def _closest(s: Surfaces, t: int, dim: int, x: Array, out: Array) -> int:
    """Write the point of cell ``t`` that is closest to x into ``out``; return the number of the region where it is.

    0 is the face, 1 to 3 are its sides, 4 to 6 its corners.
    """
    if dim == 2:
        return _on_segment(s, t, x, out)
    return _on_triangle(s, t, x, out)


def _on_segment(s: Surfaces, t: int, x: Array, out: Array) -> int:
    """Write the point of segment ``t`` in the plane that is closest to x into ``out``; return its region.

    0 is the inside, 4 and 5 are the ends.
    """
    a = s.corner[t][0]
    b = s.corner[t][1]
    along = 0.0
    square = 0.0
    for i in range(2):
        along += (x[i] - a[i]) * (b[i] - a[i])
        square += (b[i] - a[i]) ** 2
    share = along / square
    if share <= 0.0:
        return _put_between(a, b, 0.0, 4, out)
    if share >= 1.0:
        return _put_between(a, b, 1.0, 5, out)
    return _put_between(a, b, share, 0, out)


def _put_between(a: Array, b: Array, share: float, region: int, out: Array) -> int:
    """Write the point a + share (b − a) into ``out`` as the closest point; return ``region``."""
    for i in range(2):
        out[PLACE + i] = a[i] + share * (b[i] - a[i])
    return region


def _on_triangle(s: Surfaces, t: int, x: Array, out: Array) -> int:
    """Write the point of triangle ``t`` that is closest to x into ``out``; return its region, see :func:`_closest`.

    See C. Ericson, Real-Time Collision Detection, 2005, sec. 5.1.5.
    """
    a = s.corner[t][0]
    b = s.corner[t][1]
    c = s.corner[t][2]
    d1 = 0.0
    d2 = 0.0
    d3 = 0.0
    d4 = 0.0
    d5 = 0.0
    d6 = 0.0
    for i in range(3):
        ab = b[i] - a[i]
        ac = c[i] - a[i]
        d1 += ab * (x[i] - a[i])
        d2 += ac * (x[i] - a[i])
        d3 += ab * (x[i] - b[i])
        d4 += ac * (x[i] - b[i])
        d5 += ab * (x[i] - c[i])
        d6 += ac * (x[i] - c[i])
    if d1 <= 0.0 and d2 <= 0.0:
        return _put(s, t, 0.0, 0.0, 4, out)
    if d3 >= 0.0 and d4 <= d3:
        return _put(s, t, 1.0, 0.0, 5, out)
    if d6 >= 0.0 and d5 <= d6:
        return _put(s, t, 0.0, 1.0, 6, out)
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return _put(s, t, d1 / (d1 - d3), 0.0, 1, out)
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return _put(s, t, 0.0, d2 / (d2 - d6), 3, out)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / (d4 - d3 + d5 - d6)
        return _put(s, t, 1.0 - w, w, 2, out)
    total = va + vb + vc
    return _put(s, t, vb / total, vc / total, 0, out)


def _put(s: Surfaces, t: int, v: float, w: float, region: int, out: Array) -> int:
    """Write the point a + v (b − a) + w (c − a) of triangle ``t`` into ``out`` as the closest; return ``region``."""
    for i in range(3):
        first = s.corner[t][0][i]
        out[PLACE + i] = first + v * (s.corner[t][1][i] - first) + w * (s.corner[t][2][i] - first)
    return region


def _feature(s: Surfaces, cell: tuple[int, int], region: int, dim: int, x: Array, out: Array) -> None:
    """Write distance, gradient and second derivatives for the closest feature of a cell into ``out``.

    ``cell`` are the numbers of the surface and of its cell. The feature is the face, a side or a corner of the cell, by
    ``region`` as in :func:`_closest`. ``out`` already has the closest point.
    """
    k, t = cell
    number = s.feature[t][region]
    size = sqrt(_square(x, out))
    rises = 0.0
    for i in range(dim):
        rises += s.outward[number][i] * (x[i] - out[PLACE + i])
    side = -1.0 if rises < 0.0 else 1.0
    sign = side if s.signed[k] > 0 else 1.0
    out[SIGN] = sign
    out[SIZE] = size
    out[CODE] = 2.0 * number + (1.0 if side < 0.0 else 0.0)
    if region == 0 or size == 0.0:
        out[VALUE] = sign * side * rises if region == 0 else 0.0
        out[FLAT] = 1.0
        for i in range(dim):
            out[GRADIENT + i] = sign * side * s.outward[number][i]
        return
    out[VALUE] = sign * size
    for i in range(dim):
        out[AWAY + i] = sign * (x[i] - out[PLACE + i])
        out[GRADIENT + i] = out[AWAY + i] / size
    _curvature(s, t, region, dim, sign / size, out)


def _curvature(s: Surfaces, t: int, region: int, dim: int, weight: float, out: Array) -> None:
    """Write the second derivatives of the distance to a side or corner of cell ``t`` into ``out``.

    They are ``weight`` times the projection normal to the gradient and, at a side, normal to the side.
    """
    square = 0.0
    first = s.corner[t][region - 1 if region < 4 else 0]
    second = s.corner[t][region % 3 if region < 4 else 1]
    for i in range(dim):
        square += (second[i] - first[i]) ** 2
    for i in range(dim):
        for j in range(dim):
            part = (1.0 if i == j else 0.0) - out[GRADIENT + i] * out[GRADIENT + j]
            if region < 4:
                part -= (second[i] - first[i]) * (second[j] - first[j]) / square
            out[CURVATURE + 3 * i + j] = weight * part


def _blend_faces(s: Surfaces, k: int, dim: int, x: Array, width: float, out: Array) -> None:
    """Blend the distance in ``out`` with those to all faces that are at most ``width`` farther, in order of cells."""
    node = cython.declare(cython.Py_ssize_t)
    last = cython.declare(cython.Py_ssize_t)
    taken = cython.declare(cython.Py_ssize_t)
    first = cython.declare(cython.double, out[VALUE])
    reach = (first + width) ** 2
    taken = 0
    for i in range(MEETING):
        out[WIDTH + i] = -1.0
    node = s.root[k]
    last = s.skip[node]
    while node < last:
        if _away_from_box(s, node, x) >= reach:
            node = s.skip[node]
            continue
        for t in range(s.cells[node][0], s.cells[node][1]):
            if taken < MEETING and _closest(s, t, dim, x, out) == 0 and _square(x, out) < reach:
                taken += _blend_face(s, (k, t), dim, x, width, out)
        node += 1


def _blend_face(s: Surfaces, cell: tuple[int, int], dim: int, x: Array, width: float, out: Array) -> int:
    """Blend the distance to the face of a cell into that in ``out``; return 1, or 0 if it is left out.

    ``cell`` are the numbers of the surface and of its cell. A face is left out if its plane is already part of the
    blend, or if x is on the inner side of a closed mesh. If the distance in ``out`` is that to a face, the blend begins
    with it.
    """
    taken = cython.declare(cython.Py_ssize_t)
    k, t = cell
    plane = s.feature[t][0]
    taken = 0
    while out[WIDTH + taken] >= 0.0:
        if out[WIDTH + taken] == plane:
            return 0
        taken += 1
    rises = 0.0
    for i in range(dim):
        rises += s.outward[plane][i] * (x[i] - out[PLACE + i])
    if rises < 0.0 and s.signed[k] > 0:
        return 0
    out[WIDTH + taken] = plane
    if taken == 0 and out[FLAT] > 0.0:
        _restart(s, plane, dim, rises, out)
        return 1
    _mix(s, plane, dim, rises, width, out)
    return 1


def _restart(s: Surfaces, plane: int, dim: int, rises: float, out: Array) -> None:
    """Begin a blend: write distance and gradient for one plane, at the signed distance ``rises``, into ``out``."""
    side = -1.0 if rises < 0.0 else 1.0
    out[VALUE] = fabs(rises)
    out[CODE] = 2.0 * plane + (1.0 if side < 0.0 else 0.0)
    out[FLAT] = 1.0
    for i in range(dim):
        out[GRADIENT + i] = side * s.outward[plane][i]


def _mix(s: Surfaces, plane: int, dim: int, rises: float, width: float, out: Array) -> None:
    """Blend the signed distance ``rises`` to a plane over ``width`` [m] into the distance stored in ``out``."""
    side = -1.0 if rises < 0.0 else 1.0
    value = fabs(rises)
    over = out[VALUE] - value
    share = 0.5 + 0.5 * over / width
    if share <= 0.0:
        return
    if share >= 1.0:
        fill_curvature(out)
        _restart(s, plane, dim, rises, out)
        return
    both = width - fabs(over)
    out[VALUE] = (value if over > 0.0 else out[VALUE]) - 0.25 * both * both / width
    both_faces = 2.0 * s.outward.shape[0] * out[CODE] + 2.0 * plane + (1.0 if side < 0.0 else 0.0)
    out[CODE] = -2.0 - both_faces if out[FLAT] > 0.0 else -1.0
    out[FLAT] = 0.0
    for i in range(dim):
        for j in range(dim):
            one = out[GRADIENT + i] - side * s.outward[plane][i]
            other = out[GRADIENT + j] - side * s.outward[plane][j]
            at = CURVATURE + 3 * i + j
            out[at] = (1.0 - share) * out[at] - 0.5 * one * other / width
    for i in range(dim):
        out[GRADIENT + i] = (1.0 - share) * out[GRADIENT + i] + share * side * s.outward[plane][i]


def fill_curvature(out: Array) -> None:
    """Set the second derivatives of the distance in ``out`` to zero."""
    for i in range(9):
        out[CURVATURE + i] = 0.0


def mean_gradient(dim: int, x: Array, y: Array, first: Array, last: Array, out: Array) -> None:
    """Write the discrete gradient n of the distance between points x and y into the first row of ``out``, then ∂n/∂y.

    ``first`` and ``last`` are the results of :func:`nearest` for x and y. If the same side or corner is closest to
    both, n = (V₀ + V₁)/(d₀ + d₁) with the vectors V from it to the points; if it is the same face, n is its normal. In
    the blend of two faces, a quadratic function, n is the mean of the gradients at x and y. Between different features
    it is the discrete gradient of O. Gonzalez with this mean (J. Nonlinear Sci. 6 (1996) 449).
    """
    same = cython.declare(cython.bint)
    same = first[CODE] == last[CODE] and last[CODE] >= 0.0 and first[FLAT] == last[FLAT]
    blended = cython.declare(cython.bint)
    blended = first[CODE] == last[CODE] and last[CODE] < -1.0
    for i in range(dim):
        for j in range(dim + 1):
            out[j][i] = 0.0
    if same and last[FLAT] > 0.0:
        for i in range(dim):
            out[0][i] = last[GRADIENT + i]
    elif same:
        total = first[SIZE] + last[SIZE]
        for i in range(dim):
            out[0][i] = (first[AWAY + i] + last[AWAY + i]) / total
        for i in range(dim):
            for j in range(dim):
                bent = last[SIZE] * last[CURVATURE + 3 * i + j]
                kept = bent + last[SIGN] * last[GRADIENT + i] * last[GRADIENT + j]
                out[1 + i][j] = (kept - last[SIGN] * out[0][i] * last[GRADIENT + j]) / total
    else:
        _mean(dim, first, last, out)
        if not blended:
            _between(dim, x, y, first, last, out)


def _mean(dim: int, first: Array, last: Array, out: Array) -> None:
    """Write the mean of the gradients at two points, and its derivative by the second one, into ``out``."""
    for i in range(dim):
        out[0][i] = 0.5 * (first[GRADIENT + i] + last[GRADIENT + i])
        for j in range(dim):
            out[1 + i][j] = 0.5 * last[CURVATURE + 3 * i + j]


def _between(dim: int, x: Array, y: Array, first: Array, last: Array, out: Array) -> None:
    """Write the discrete gradient n for points x and y with different closest features, and ∂n/∂y, into ``out``.

    ``out`` holds the results of :func:`_mean`.
    """
    square = 0.0
    defect = last[VALUE] - first[VALUE]
    for i in range(dim):
        way = y[i] - x[i]
        square += way * way
        defect -= out[0][i] * way
    if square <= (NEAR * (first[SIZE] + last[SIZE])) ** 2:
        return
    weight = defect / square
    for j in range(dim):
        by = 0.5 * (last[GRADIENT + j] - first[GRADIENT + j]) - 2.0 * weight * (y[j] - x[j])
        for i in range(dim):
            by -= 0.5 * last[CURVATURE + 3 * i + j] * (y[i] - x[i])
        by /= square
        for i in range(dim):
            out[1 + i][j] += (y[i] - x[i]) * by + (weight if i == j else 0.0)
    for i in range(dim):
        out[0][i] += weight * (y[i] - x[i])


def distance(surfaces: Any, number: int, dim: int, points: Any, blend: float, found: tuple[Any, Any]) -> None:
    """Write the results of :func:`nearest` for two points (2, 3), and their discrete gradient, into arrays ``found``.

    ``number`` is the index of the surface. The second array (4, 3) has the rows of :func:`mean_gradient`.
    """
    out, bent = found
    k = cython.declare(cython.Py_ssize_t, number)
    axes = cython.declare(cython.Py_ssize_t, dim)
    width = cython.declare(cython.double, blend)
    if not cython.compiled:
        for i in range(2):
            nearest(surfaces, number, dim, points[i], blend, out[i])
        mean_gradient(dim, points[0], points[1], out[0], out[1], bent)
        return
    s = cython.declare(Surfaces)
    x = cython.declare(Mat)
    near = cython.declare(Mat)
    gradient = cython.declare(Mat)
    bind(s, surfaces)
    bind(x, points)
    bind(near, out)
    bind(gradient, bent)
    for i in range(2):
        nearest(s, k, axes, x[i], width, near[i])
    mean_gradient(axes, x[0], x[1], near[0], near[1], gradient)
