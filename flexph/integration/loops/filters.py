"""Filter: arrays for the energy loss of banded bodies in steps of the decaying scheme.

The arrays select these bodies, order their unknowns, and provide the work space."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...numerics.arrays import Array
from ...numerics.loops.views import padded, stored
from .flexible.cached_indices import cached
from .memory.constants import Constants
from .memory.data import Filter, Index
from .memory.run_space import FilterSpace

NARROW = 4
"""Number of coordinates of a body, divided by its bandwidth, above which banded matrices cost less than full ones."""
UNKNOWNS = 4
"""Number of unknowns of a coordinate: τ, y, z and u̇̄ (see loops.decay.banded_jacobian)."""


def is_banded(k: Constants) -> Array:
    """Mask (b,) of bodies with so narrow bands that the decaying scheme computes their energy loss by banded matrices.

    ``k`` are the constants of the mechanism without this loss.
    """
    return np.array([_ordered(k, b)[0].size > NARROW * (_ordered(k, b)[1] + 1) for b in range(len(k.inertia.mass))])


def _ordered(k: Constants, b: int) -> tuple[Index, int]:
    """Order of the coordinates of body b with which its matrices have the least bandwidth, and this bandwidth."""
    coordinates = slice(int(k.inertia.first[b]), int(k.inertia.first[b + 1]))
    size = coordinates.stop - coordinates.start
    if not size:
        return np.zeros(0, dtype=np.int64), 0
    entries = slice(int(k.inertia.ptr[coordinates.start]), int(k.inertia.ptr[coordinates.stop]))
    ptr, col = (
        k.inertia.ptr[coordinates.start : coordinates.stop + 1] - entries.start,
        k.inertia.col[entries] - coordinates.start,
    )
    return _least_width(ptr, col)


@cached
def _least_width(ptr: Index, col: Index) -> tuple[Index, int]:
    size = ptr.size - 1
    order = reverse_cuthill_mckee(
        sparse.csr_array((np.ones(col.size), col, ptr), shape=(size, size)), symmetric_mode=True
    )
    place, row = np.argsort(order), np.repeat(np.arange(size), np.diff(ptr))
    return order, int(np.abs(place[row] - place[col]).max(initial=0))


def no_filter(bodies: int) -> Filter:
    """Empty arrays of the filter, for a mechanism without bodies selected by :func:`is_banded`."""
    none, whole = np.zeros(bodies, dtype=np.int64), np.zeros(0, dtype=np.int64)
    given: Any = (*([none] * 7), np.zeros((0, UNKNOWNS), dtype=np.int64), whole, *([none] * 3), np.zeros(0))
    return Filter(*given)


def make_filter(k: Constants, banded: Array) -> Filter:
    """Arrays of the filter of the bodies marked in ``banded`` (b,), from the constants of a mechanism."""
    bodies, d = k.inertia.weight.shape
    s, n = k.inertia.J.shape[1], int(k.inertia.first[-1])
    if not banded.any():
        return no_filter(bodies)
    place, plain_width = np.zeros(n, dtype=np.int64), np.zeros(bodies, dtype=np.int64)
    number, rows, width = np.zeros((n, UNKNOWNS), dtype=np.int64), *np.zeros((2, bodies), dtype=np.int64)
    for b in np.flatnonzero(banded).tolist():
        coordinates = slice(int(k.inertia.first[b]), int(k.inertia.first[b + 1]))
        entries = slice(int(k.inertia.ptr[coordinates.start]), int(k.inertia.ptr[coordinates.stop]))
        ptr, col = (
            k.inertia.ptr[coordinates.start : coordinates.stop + 1] - entries.start,
            k.inertia.col[entries] - coordinates.start,
        )
        size = coordinates.stop - coordinates.start
        order, plain_width[b] = _ordered(k, b)
        place[coordinates] = np.argsort(order)
        row = np.repeat(np.arange(size), np.diff(ptr))
        number[coordinates], rows[b] = _numbers(order, k.border.local[coordinates], s + d)
        inner = np.where(number[coordinates] < rows[b], number[coordinates], -1)
        width[b] = _width(inner[row], inner[col])
    columns = np.where(banded, padded(s + d + np.diff(k.border.masters) + 3 * (s + d)), 0)
    plain_stored, n_b = np.where(banded, stored(plain_width), 0), np.diff(k.inertia.first)
    kept = np.where(banded, stored(width), 0)
    return Filter(
        rows=rows,
        width=width,
        stored=kept,
        band=_starts(rows * kept),
        columns=columns,
        reduced=_starts(rows * columns),
        corner=_starts(columns**2),
        number=number,
        place=place,
        plain_width=plain_width,
        plain_stored=plain_stored,
        plain_band=_starts(n_b * plain_stored),
        stiffness=_stiffness(k),
    )


def _numbers(order: Index, local: Index, first: int) -> tuple[Index, int]:
    """Numbers (n, 4) of the unknowns in the banded matrix of a body of n coordinates, and the number of its rows.

    Each coordinate has the unknowns τ, y, z, u̇̄ of decay.banded_jacobian. ``order`` is the order of the coordinates. A
    master has a number ``local`` of at least 0: its u̇̄ is a column of the border instead of a row of the matrix. The
    masters' columns begin ``first`` columns after the start of the border.
    """
    is_inner = np.ones((order.size, UNKNOWNS), dtype=bool)
    is_inner[:, -1] = local[order] < 0
    ahead = np.cumsum(is_inner.ravel()).reshape(is_inner.shape) - 1
    number, rows = np.empty_like(ahead), int(is_inner.sum())
    number[order] = ahead
    masters = local >= 0
    number[masters, -1] = rows + first + local[masters]
    return number, rows


def _width(row: Index, col: Index) -> int:
    """Bandwidth of a matrix with entries between the unknowns of e pairs of coordinates, which have four unknowns each.

    ``row`` and ``col`` (e, 4) are the numbers of these unknowns; −1 stands for one in the border of the band matrix,
    which does not count.
    """
    i, j = row[:, :, None], col[:, None, :]
    return int(np.abs(np.where((i >= 0) & (j >= 0), i - j, 0)).max(initial=0))


def _stiffness(k: Constants) -> Array:
    """Stiffness K = D₀ᵀC⁻¹D₀ of all bodies, as values at the entries of the inertia.

    C is the compliance, D₀ the strain rows without deformation.
    """
    n, m = int(k.inertia.first[-1]), k.elastic.body.size
    strain = sparse.csr_array((k.elastic.strain, k.elastic.col, k.elastic.ptr), shape=(m, n))
    inverse = sparse.csr_array((k.elastic.inverse_val, k.elastic.inverse_col, k.elastic.inverse_ptr), shape=(m, m))
    stiffness = sparse.coo_array(strain.T @ (inverse @ strain))
    row = np.repeat(np.arange(n), np.diff(k.inertia.ptr))
    at = np.searchsorted(row * n + k.inertia.col, stiffness.row.astype(np.int64) * n + stiffness.col)
    return np.bincount(at, stiffness.data, k.inertia.col.size)


def filter_space(k: Constants) -> FilterSpace:
    """Work space of the filter, all zeros."""
    f, z, (bodies, d) = k.filter, np.zeros, k.inertia.weight.shape
    s, largest = k.inertia.J.shape[1], int(np.diff(k.inertia.first)[f.rows > 0].max(initial=0))
    n, last, columns = f.place.size, 3 * (s + d), int(f.columns.max(initial=0))
    count, reduced = bodies if f.rows.any() else 0, int(f.rows @ f.columns)
    whole = lambda size: z(size, dtype=np.int64)  # noqa: E731
    return FilterSpace(
        factors=z(3 * int(np.diff(k.inertia.first) @ f.plain_stored)),
        pivot=whole(3 * n),
        answers=z((3 * n, int(padded(s + d)))),
        small=z(3 * count * (s + d) ** 2),
        small_pivot=whole(3 * count * (s + d)),
        strain=z(k.elastic.body.size if count else 0),
        x=z((2 * s + 1, s + largest)),
        y=z(s + largest),
        feedback=z((2 * s, 2 * s)),
        feedback_pivot=whole(2 * s),
        gain=z(2 * s),
        band=z(int(f.rows @ f.stored)),
        band_pivot=whole(UNKNOWNS * n),
        reduced=z(reduced),
        left=z(reduced),
        corner=z(int((f.columns**2).sum())),
        rest=z(columns**2),
        last=z(count * last**2),
        last_pivot=whole(count * last),
        border=z(last),
        inner=z(int(f.rows.max(initial=0))),
        done=z(columns),
        turn=z((2 * d, d)),
        spin=z((s, s)),
    )


def _starts(sizes: Index) -> Index:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
