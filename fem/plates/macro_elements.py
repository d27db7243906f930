"""C¹ deflections on triangles and quadrilaterals: cubic macro elements.

A triangle is divided at its centroid into three pieces (R. W. Clough, J. L. Tocher, 1965), a convex quadrilateral by
its diagonals into four (G. Sander, 1964; B. Fraeijs de Veubeke, 1968). The deflection is cubic on each piece and C¹
across all of them; its coordinates are the deflection and slopes at the corners and the normal slope at the middle of
each edge. Both contain all cubics, and the same functions along an edge, so that they can be mixed. Pieces are stored
by their Bernstein-Bézier coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexph.numerics.arrays import Array

CUBIC = ((3, 0, 0), (2, 1, 0), (1, 2, 0), (0, 3, 0), (2, 0, 1), (1, 1, 1), (0, 2, 1), (1, 0, 2), (0, 1, 2), (0, 0, 3))
QUADRATIC = ((2, 0, 0), (0, 2, 0), (0, 0, 2), (1, 1, 0), (1, 0, 1), (0, 1, 1))
LINEAR = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
HESSIAN = ((0, 0), (1, 1), (0, 1))
"""Order of second derivatives: xx, yy, xy."""


@dataclass(frozen=True, eq=False)
class Macro:
    """Macro elements of k cells with c corners, each of c triangular pieces.

    ``pieces`` (k, c, 3, 2) are the corners of the pieces: piece i has the corners i, i + 1 of the cell and its centre.
    ``coefficients`` (k, c, 10, 4c) map the 4c coordinates of a cell to the Bernstein-Bézier coefficients of its pieces.
    The coordinates are (w, ∂_x w, ∂_y w) corner by corner, then ∂_n w edge by edge, with the given normals n.
    """

    pieces: Array
    coefficients: Array

    def values(self, points: Array, order: int) -> Array:
        """Shape functions of the deflection at points, or their gradients or second derivatives.

        ``order`` 0, 1 or 2 selects which. At q points ``points`` (k, q, 2) of each of the k cells with c corners they
        are (k, q, 4c), (k, q, 2, 4c) or (k, q, 3, 4c), the last one over xx, yy, xy.
        """
        piece, weights, slopes = self._containing_pieces(points)
        of_piece = np.take_along_axis(self.coefficients, piece[:, :, None, None], axis=1)
        polynomials = (_value, _gradient, _hessian)[order](weights, slopes)
        return np.einsum("kq...c,kqcn->kq...n", polynomials, of_piece, optimize=True)

    def _containing_pieces(self, points: Array) -> tuple[Array, Array, Array]:
        """Piece of a macro element that contains each point, (k, q), with the point's barycentric coordinates in it.

        ``points`` (k, q, 2) are q positions in each of the k cells. The coordinates (k, q, 3) come with their gradients
        (k, q, 3, 2) with respect to position.
        """
        slopes = barycentric_slopes(self.pieces)
        lever = points[:, None] - self.pieces[:, :, None, 2]
        weights = np.einsum("kcai,kcqi->kcqa", slopes, lever)
        weights[..., 2] += 1.0
        piece = weights.min(axis=3).argmax(axis=1)
        barycentric = np.take_along_axis(weights, piece[:, None, :, None], axis=1)[:, 0]
        return piece, barycentric, slopes[np.arange(len(slopes))[:, None], piece]

    def rule(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Points (k, cq, 2) and weights (k, cq) [m²] of a quadrature rule on all pieces of k cells.

        ``points`` (2, q) and ``weights`` (q,) are the rule for the unit triangle, which is mapped to each piece.
        """
        shares = np.vstack([1.0 - points.sum(axis=0), points])
        positions = np.einsum("kcai,aq->kcqi", self.pieces, shares)
        measures = 2.0 * areas(self.pieces)[..., None] * weights
        k = len(self.pieces)
        return positions.reshape(k, -1, 2), measures.reshape(k, -1)


def areas(triangles: Array) -> Array:
    """Areas of triangles (..., 3, 2), positive counterclockwise."""
    a, b = triangles[..., 1, :] - triangles[..., 0, :], triangles[..., 2, :] - triangles[..., 0, :]
    return 0.5 * (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def barycentric_slopes(triangles: Array) -> Array:
    """Gradients (..., 3, 2) of the three barycentric coordinates of triangles (..., 3, 2) with respect to position."""
    opposite = np.roll(triangles, -2, axis=-2) - np.roll(triangles, -1, axis=-2)
    turned = np.stack([-opposite[..., 1], opposite[..., 0]], axis=-1)
    return turned / (2.0 * areas(triangles)[..., None, None])


def macro(corners: Array, normals: Array) -> Macro:
    """Macro elements of cells with counterclockwise corners (k, c, 2) and unit normals of their edges (k, c, 2)."""
    k, c, _ = corners.shape
    centre = np.broadcast_to(_centre(corners)[:, None], corners.shape)
    ends = np.roll(corners, -1, axis=1)
    pieces = np.stack([corners, ends, centre], axis=2)
    unit = np.eye(4 * c)
    coefficients = np.empty((k, c, 10, 4 * c))
    for i in range(c):
        j, d = (i + 1) % c, np.einsum("kai,ki->ka", barycentric_slopes(pieces[:, i]), normals[:, i])
        first = [_edge_coefficient(unit, i, corners[:, i], to) for to in (ends[:, i], centre[:, i])]
        second = [_edge_coefficient(unit, j, ends[:, i], to) for to in (corners[:, i], centre[:, i])]
        by_index = {(3, 0, 0): unit[3 * i], (0, 3, 0): unit[3 * j]}
        by_index |= dict(zip([(2, 1, 0), (2, 0, 1), (1, 2, 0), (0, 2, 1)], first + second, strict=True))
        by_index[1, 1, 1] = _middle(by_index, unit[3 * c + i], d)
        for place, key in enumerate(CUBIC[:7]):
            coefficients[:, i, place] = by_index[key]
    _join(coefficients, corners, centre[:, 0])
    return Macro(pieces, coefficients)


def _centre(corners: Array) -> Array:
    """Centres (k, 2) of cells from their corners (k, c, 2), at which the pieces of a macro element meet.

    The centre of a triangle is its centroid, that of a quadrilateral the intersection of its diagonals.
    """
    if corners.shape[1] == 3:
        return corners.mean(axis=1)
    a, b = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    lever = corners[:, 1] - corners[:, 0]
    share = (lever[:, 0] * b[:, 1] - lever[:, 1] * b[:, 0]) / (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    return corners[:, 0] + share[:, None] * a


def _edge_coefficient(unit: Array, corner: int, start: Array, to: Array) -> Array:
    """Bernstein coefficient (k, 4c) next to the corner x_i of a piece, on the edge to the point x: w + ∇w·(x − x_i)/3.

    It is given as a linear form of the coordinates of the cell, whose unit vectors are the rows of ``unit``. ``corner``
    is i, ``start`` is x_i and ``to`` is x.
    """
    lever = (to - start) / 3.0
    return unit[3 * corner] + lever @ unit[3 * corner + 1 : 3 * corner + 3]


def _middle(own: dict[tuple[int, int, int], Array], slope: Array, d: Array) -> Array:
    """Bernstein coefficient c_111 of a piece from the normal slope ``slope`` at the middle of its outer edge.

    ``d`` (k, 3) are the derivatives of the barycentric coordinates λ along the normal, n·∇ = Σ d_a ∂/∂λ_a. ``own`` has
    the known coefficients of the piece by their exponents.
    """
    towards = lambda a, b, c: 0.25 * own[a] + 0.5 * own[b] + 0.25 * own[c]  # noqa: E731
    rest = slope / 3.0 - d[:, :1] * towards((3, 0, 0), (2, 1, 0), (1, 2, 0))
    rest = rest - d[:, 1:2] * towards((2, 1, 0), (1, 2, 0), (0, 3, 0))
    return 2.0 * (rest / d[:, 2:] - 0.25 * own[2, 0, 1] - 0.25 * own[0, 2, 1])


def _join(coefficients: Array, corners: Array, centre: Array) -> None:
    """Set the Bernstein coefficients next to the centre of macro elements from C¹ continuity across their inner edges.

    The condition at corner V_i has the barycentric coordinates a, b and e of the next corner in the triangle of
    V_{i−1}, V_i and the centre C: V_{i+1} = a V_{i−1} + b V_i + e C. ``coefficients`` (k, c, 10, 4c) are changed in
    place.
    """
    c = corners.shape[1]
    inner = []
    for i in range(c):
        p, n = (i - 1) % c, (i + 1) % c
        a, b, e = _weights(np.stack([corners[:, p], corners[:, i], centre], axis=1), corners[:, n])
        before: Array = a * coefficients[:, p, 5]
        bend: Array = b * coefficients[:, i, 4]
        inner.append((coefficients[:, i, 5] - before - bend) / e)
        if i == 1:
            turn = a, b, e
    a, b, e = turn
    top = (inner[2] - a * inner[0] - b * inner[1]) / e
    for i in range(c):
        coefficients[:, i, 7], coefficients[:, i, 8], coefficients[:, i, 9] = inner[i], inner[(i + 1) % c], top


def _weights(triangles: Array, points: Array) -> tuple[Array, ...]:
    """Barycentric coordinates of points (k, 2) in triangles (k, 3, 2): three arrays (k, 1)."""
    weights = np.einsum("kai,ki->ka", barycentric_slopes(triangles), points - triangles[:, 2])
    weights[:, 2] += 1.0
    return tuple(weights[:, a : a + 1] for a in range(3))


def _power(weights: Array, exponents: tuple[tuple[int, int, int], ...]) -> Array:
    """Bernstein polynomials at barycentric coordinates ``weights`` (..., 3), one for each triple of exponents."""
    factorial = (1.0, 1.0, 2.0, 6.0)
    columns = []
    for i, j, k in exponents:
        factor = factorial[i + j + k] / (factorial[i] * factorial[j] * factorial[k])
        columns.append(factor * weights[..., 0] ** i * weights[..., 1] ** j * weights[..., 2] ** k)
    return np.stack(columns, axis=-1)


def _value(weights: Array, slopes: Array) -> Array:
    return _power(weights, CUBIC)


def _gradient(weights: Array, slopes: Array) -> Array:
    gradient = np.zeros((*weights.shape[:2], 2, 10))
    lower = _power(weights, QUADRATIC)
    for place, exponent in enumerate(QUADRATIC):
        for a in range(3):
            gradient[..., CUBIC.index(_raised(exponent, a))] += 3.0 * lower[..., place, None] * slopes[..., a, :]
    return gradient


def _hessian(weights: Array, slopes: Array) -> Array:
    hessian = np.zeros((*weights.shape[:2], 3, 10))
    for place, exponent in enumerate(LINEAR):
        for a in range(3):
            for b in range(3):
                column = CUBIC.index(_raised(_raised(exponent, a), b))
                for row, (i, j) in enumerate(HESSIAN):
                    hessian[..., row, column] += 6.0 * weights[..., place] * slopes[..., a, i] * slopes[..., b, j]
    return hessian


def _raised(exponent: tuple[int, ...], at: int) -> tuple[int, int, int]:
    i, j, k = (e + (place == at) for place, e in enumerate(exponent))
    return i, j, k
