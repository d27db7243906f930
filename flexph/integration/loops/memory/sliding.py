"""Arrays of points on curves, of slips and of ropes for the loops, and their work space.

All three depend on products, the scalar products of vectors between nodes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ....kernels.arrays import Arrays
from .connection_data import Curves, Ropes, Slips
from .data import Index
from .step_space import PathSpace, RopeSpace, RowSpace, SlideSpace


def curves_of(a: Arrays) -> Curves:
    """Arrays of the curves of a mechanism on which points slide."""
    curves, d = a.curves, a.dim
    highest = max([curve.powers.shape[1] for curve in curves], default=0)
    pieces = [curve.powers for curve in curves]
    power = np.zeros((sum(map(len, pieces)), highest, highest))
    for piece, values in zip(power, (e for powers in pieces for e in powers), strict=True):
        piece[: len(values), : len(values)] = values
    row = np.full((len(curves), d), -1)
    for rows, curve in zip(row, curves, strict=True):
        rows[: curve.rows.size] = curve.rows
    return Curves(
        row=row,
        input=_whole([curve.input for curve in curves]),
        degree=_whole([curve.powers.shape[1] - 1 for curve in curves]),
        knot=_ends([curve.knots.size for curve in curves]),
        knots=np.concatenate([np.zeros(0), *(curve.knots for curve in curves)]),
        power=power,
        point=_ends([curve.points for curve in curves]),
        product=np.concatenate([np.zeros((0, d), dtype=int), *(curve.products.T for curve in curves)]),
    )


def slips_of(a: Arrays, first_lost: int) -> Slips:
    """Arrays of the slips of a mechanism; their losses have columns of the flows from ``first_lost`` on."""
    t = a.slips
    count = len(t.relations)
    slip_of_term = t.slip[t.row] if t.row.size else _whole([])
    return Slips(
        product=t.product,
        by=t.by,
        weight=t.weight,
        angular=t.angular,
        also=t.also,
        row=t.row,
        slip=t.slip,
        curve=t.curve,
        first=np.searchsorted(t.slip, np.arange(count + 1)),
        term=np.searchsorted(slip_of_term, np.arange(count + 1)),
        load=t.load,
        pressed=(t.contact >= 0).astype(np.int64),
        lost=first_lost + np.arange(count),
    )


def ropes_of(a: Arrays) -> Ropes:
    """Arrays of the ropes of a mechanism."""
    ropes = a.springs.ropes
    each = np.arange(ropes.number + 1)
    return Ropes(
        span=np.searchsorted(ropes.span_rope, each),
        square=ropes.square,
        offset=ropes.offset,
        angle=np.searchsorted(ropes.angle_rope, each),
        sine=ropes.sine,
        cosine=ropes.cosine,
        radius=ropes.radius,
        arriving=ropes.arriving,
        turn=ropes.angle,
        sheave=ropes.sheave,
        wound=(ropes.turns > 0.0).astype(np.int64),
    )


class CurvePoints(NamedTuple):
    """Numbers of the constraint rows of a curve, of the products of each of its points (k, d), and its degree."""

    rows: Index
    products: Index
    degree: int


def curve_points(curves: Curves) -> list[CurvePoints]:
    """For each curve: its constraint rows, the products of its points, and its degree."""
    ends = zip(curves.row, pairwise(curves.point), curves.degree.tolist(), strict=True)
    return [CurvePoints(row[row >= 0], curves.product[first:last], degree) for row, (first, last), degree in ends]


def products_of_rows(curves: Curves) -> tuple[Index, Index]:
    """Constraint rows of curves, each with every product that it depends on, as two arrays of equal length."""
    rows, products = [_whole([])], [_whole([])]
    for curve in curve_points(curves):
        rows.append(np.repeat(curve.rows, curve.products.size))
        products.append(np.tile(curve.products.ravel(), curve.rows.size))
    return np.concatenate(rows), np.concatenate(products)


def slip_products(slips: Slips) -> list[Index]:
    """Numbers of the products on which the rate of each slip depends; slips without terms are left out."""
    return [products_of_slip(slips, k) for k in np.flatnonzero(np.diff(slips.term)).tolist()]


def products_of_slip(slips: Slips, k: int) -> Index:
    """Numbers of the products on which the rate of slip k depends."""
    terms = slice(slips.term[k], slips.term[k + 1])
    products: Index = np.concatenate([slips.product[terms], slips.by[terms], slips.also[terms]])
    return products[products >= 0]


def slip_loads(slips: Slips) -> list[Index]:
    """For each slip of :func:`slip_products`: the number of the constraint whose multiplier is the wheel load.

    Each number is in an array of one entry, which is empty for slips without a wheel load.
    """
    used = np.diff(slips.term) > 0
    return [row[row >= 0] for row in slips.load[used, None]]


def rope_products(ropes: Ropes) -> list[Index]:
    """Numbers of the products on which the length of each rope depends."""
    pieces = zip(pairwise(ropes.span), pairwise(ropes.angle), strict=True)
    return [np.concatenate([ropes.square[i:j], ropes.sine[k:l], ropes.cosine[k:l]]) for (i, j), (k, l) in pieces]


def rope_space(ropes: Ropes) -> RopeSpace:
    """Work space of ropes, all zeros."""
    return RopeSpace(np.zeros(ropes.square.size), np.zeros(ropes.sine.size), np.zeros(ropes.sine.size))


def path_space(curves: Curves) -> PathSpace:
    """Work space of points on curves, all zeros."""
    (c, d), z, points, powers = curves.row.shape, np.zeros, len(curves.product), curves.power.shape[1]
    shapes: Any = (
        z((c, 2), dtype=np.int64),
        *(z(points) for _ in range(6)),
        *(z((c, d - 1, d)), z((c, d, d))),
        *(z((c, d)) for _ in range(7)),
        *(z(c) for _ in range(4)),
        *(z(powers), z((d, powers)), z(d), z(d), z(d), z((d, d))),
    )
    return PathSpace(*shapes)


def slide_space(slips: Slips) -> SlideSpace:
    """Work space of slips, all zeros."""
    sizes = slips.slip.size, slips.slip.size, slips.row.size, slips.lost.size
    return SlideSpace(*map(np.zeros, sizes))


def row_space(curves: Curves, slips: Slips, ropes: Ropes, unknowns: int) -> RowSpace:
    """Work space for derivatives of products with respect to ``unknowns``, all zeros.

    It is empty without curves, slips and ropes.
    """
    z, d = np.zeros, curves.row.shape[1]
    size = unknowns if len(curves.row) or slips.slip.size or ropes.square.size else 0
    whole: Any = (z(size, dtype=np.int64), z(size, dtype=np.int64), z(1, dtype=np.int64))
    return RowSpace(z((d + 1, size)), z((2 * d, size)), z(d + 1), z(2 * d), *whole)


def _ends(counts: list[int]) -> Index:
    return np.concatenate([_whole([0]), np.cumsum(_whole(counts))])


def _whole(values: list[int]) -> Index:
    return np.array(values, dtype=np.int64)
