"""Constant arrays of the flexible coordinates of bodies: inertia, strain rows and stiffness, on one pattern."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ....bodies.inertia import square_of
from ....kernels.arrays import Arrays
from ....numerics.arrays import Array
from ....numerics.rotations import cross
from ..memory.constants import kinds
from ..memory.data import Elastic, Index, Inertia, Stiffness
from .cached_indices import cached
from .strain_operator import MANY, Entries, StrainOperator, entries_of, pairs_of, ranges_of

if TYPE_CHECKING:
    from ....mechanisms.model.model import Model


class Pattern:
    """Positions (row, column) of the entries of a sparse matrix over the flexible coordinates, sorted by rows."""

    def __init__(self, row: Index, column: Index, size: int) -> None:
        self.size = size
        self.keys, self.row, self.col, self.ptr = _sorted_entries(row, column, size)

    def values(self, entries: Entries) -> Array:
        """Values of a matrix, given by its ``entries``, at all positions of the pattern, which must include them."""
        row, column, value = entries
        return np.bincount(self.find(row, column), value, self.col.size)

    def find(self, row: Index, col: Index) -> Index:
        """Index of each position (row, column) in the pattern, which must include it."""
        return np.searchsorted(self.keys, row.astype(np.int64) * self.size + col)


@cached
def _sorted_entries(row: Index, column: Index, size: int) -> tuple[Index, ...]:
    """Distinct positions in a matrix with ``size`` columns: keys row·size + column, rows, columns, and row ends."""
    keys = np.unique(row.astype(np.int64) * size + column)
    rows, columns = np.divmod(keys, max(size, 1))
    return keys, rows, columns, np.searchsorted(rows, np.arange(size + 1))


def pattern_of(a: Arrays, strain: StrainOperator, full: Index) -> Pattern:
    """Common pattern of the inertia M, of DᵀC⁻¹D, the viscous damping and the diagonal.

    It has all entries of the bodies whose numbers are in ``full``.
    """
    n = a.body_u.size
    stack, viscous, diagonal = entries_of(a.stack), entries_of(a.viscous), np.arange(n)
    coupled = _coupled(strain.ptr, strain.col, *entries_of(a.stiffness)[:2], n)
    row = [coupled[0], viscous[0], stack[0] % max(n, 1), diagonal]
    column = [coupled[1], viscous[1], stack[1], diagonal]
    if full.size:
        coupled = pairs_of(np.searchsorted(a.body_u, np.arange(len(a.mass) + 1)), full, full)
        row.append(coupled[0])
        column.append(coupled[1])
    return Pattern(np.concatenate(row), np.concatenate(column), n)


@cached
def _coupled(ptr: Index, col: Index, i: Index, j: Index, n: int) -> tuple[Index, Index]:
    """Rows and columns of the entries of DᵀC⁻¹D.

    D is given by its row ends and columns, C⁻¹ by the rows i and columns j of its entries; n is the number of
    coordinates.
    """
    stresses = ptr.size - 1
    strain = sparse.csr_array((np.ones(col.size), col, ptr), shape=(stresses, n))
    stiffness = sparse.csr_array((np.ones(i.size), (i, j)), shape=(stresses, stresses))
    product = sparse.coo_array(strain.T @ (stiffness @ strain))
    return product.row, product.col


def without_coordinates(a: Arrays) -> Arrays:
    """Arrays ``a`` with empty matrices of the flexible coordinates, for loops whose matrices Python holds.

    See :mod:`flexph.integration.loops.wide.kept_block`.
    """
    n, stresses = a.body_u.size, a.stress_damping.size
    return a._replace(
        stack=sparse.csr_array(a.stack.shape),
        viscous=sparse.csr_array((n, n)),
        strain=sparse.csr_array((stresses, n)),
        slopes=sparse.csr_array((0, n)),
        weights=sparse.csr_array((stresses, 0)),
    )


def inertia_of(a: Arrays, pattern: Pattern, forms: Array, resolution: Array) -> Inertia:
    """Arrays of the inertia of the bodies and their flexible coordinates.

    ``forms`` are the matrices of :func:`shift_forms`, ``resolution`` the lengths that double precision resolves.
    """
    n, bodies = a.body_u.size, len(a.mass)
    row, column, value = entries_of(a.mean)
    mean = np.zeros((n, a.dim))
    mean[column, row % a.dim] = value
    row, column, value = entries_of(a.stack)
    width = kinds(a.dim)
    places = pattern.find(row % max(n, 1), column) * width + row // max(n, 1)
    val = np.bincount(places, value, pattern.col.size * width).reshape(-1, width)
    turns, first = np.zeros(bodies, dtype=np.int64), np.searchsorted(a.body_u, np.arange(bodies + 1))
    turns[a.turning] = 1
    return Inertia(
        mass=a.mass,
        weight=a.weight,
        J=a.J,
        turns=turns,
        first=first,
        s=a.s.transpose(2, 0, 1),
        n=a.n.T,
        ptr=pattern.ptr,
        col=pattern.col,
        **_shared(val, pattern.ptr[first]),
        mean=mean,
        form=forms,
        is_asked=0,
        resolution=resolution,
    )


def _shared(values: Array, ends: Index) -> dict[str, Array]:
    """Fields ``val`` and ``alike`` of the inertia, in which bodies with equal matrices share their values.

    This reduces memory traffic. The rows of a body in ``values`` lie between two ``ends``.
    """
    known: dict[bytes, int] = {}
    parts, alike, size = [], np.zeros(len(ends) - 1, dtype=np.int64), 0
    for b, (first, last) in enumerate(pairwise(ends.tolist())):
        key = values[first:last].tobytes()
        if key not in known:
            known[key] = size
            parts.append(values[first:last])
            size += last - first
        alike[b] = known[key] - first
    return {"val": np.concatenate(parts), "alike": alike}


def shift_forms(mechanism: Model) -> Array:
    """Matrices Q (d, d) of each body, by which M, N_a and K_ab change by terms φ̄ᵀQφ̄ of the shift φ̄, (b, k d, d).

    φ̄ is the shift of the centre of mass, k the number of the matrices M, N_a and K_ab (see
    mechanisms.arrays.gather).
    """
    basis = cross(mechanism.layout.dim)
    square, dim = square_of(basis), mechanism.layout.dim
    moving = np.concatenate([basis, square.reshape(-1, dim, dim)])
    forms = [
        body.mass * np.concatenate([np.eye(dim)[None], moving * (body.momenta == "full")])
        for body in mechanism.frames.values()
    ]
    return np.array(forms).reshape(len(forms), -1, dim)


@cached
def _in_turn(entry: Index) -> tuple[Index, ...]:
    """Order in which numbers are added to the sums ``entry``, such that successive ones go to different sums.

    Adding to the same sum twice in a row stalls the processor.
    """
    return (np.argsort(np.arange(entry.size) - np.searchsorted(entry, entry), kind="stable"),)


def elastic_of(a: Arrays, strain: StrainOperator, pattern: Pattern) -> Elastic:
    """Arrays of the strain rows of stresses, their stiffness C⁻¹, compliance C and damping."""
    entry, exists = strain.find(strain.G.stress, strain.G.row)
    (turn,) = _in_turn(entry)
    inverse, compliance = rows_of(a.stiffness), rows_of(a.compliance)
    return Elastic(
        ptr=strain.ptr,
        row=strain.row,
        col=strain.col,
        strain=strain.value,
        G_entry=entry[turn],
        G_col=strain.G.col[exists][turn],
        G_val=strain.G.value[exists][turn],
        inverse_ptr=inverse[0],
        inverse_col=inverse[1],
        inverse_val=inverse[2],
        compliance_ptr=compliance[0],
        compliance_col=compliance[1],
        compliance_val=compliance[2],
        damping=a.stress_damping,
        body=a.body_stress,
        viscous=pattern.values(entries_of(a.viscous)),
        is_viscous=int(a.viscous.nnz > 0),
    )


@cached
def _pairs(ptr: Index, i: Index, j: Index) -> tuple[Index, ...]:
    """All pairs of an entry of row i and one of row j, for each of several pairs of rows (i, j).

    Returns the numbers of both entries in a sparse matrix with the row ends ``ptr``, and the number of the pair of
    rows.
    """
    sizes = np.diff(ptr)
    return *pairs_of(ptr, i, j), np.repeat(np.arange(i.size), sizes[i] * sizes[j])


def _constant(strain: StrainOperator, i: Index, j: Index, value: Array) -> Entries:
    """Entries of DᵀC⁻¹D due to strain rows that are constant; C⁻¹ has ``value`` at the rows i and columns j."""
    sizes = np.diff(strain.ptr).astype(float)
    if sizes[i] @ sizes[j] <= MANY:
        first, second, of = _pairs(strain.ptr, i, j)
        return strain.col[first], strain.col[second], value[of] * strain.value[first] * strain.value[second]
    stresses = sizes.size
    D = sparse.csr_array((strain.value, strain.col, strain.ptr), shape=(stresses, strain.size))
    return entries_of(D.T @ (sparse.csr_array((value, (i, j)), shape=(stresses, stresses)) @ D))


@cached
def _blocks(ptr: Index, col: Index, i: Index, j: Index) -> tuple[Index, Index, Index]:
    """Positions of all products of an entry of strain row i and one of row j, in blocks for the pairs (i, j).

    Returns their rows, their columns, and the first position of the block of each pair. Pairs whose rows have the
    same columns share a block.
    """
    patterns: dict[bytes, int] = {}
    number = np.zeros(ptr.size - 1, dtype=np.int64)
    for k in np.unique(np.concatenate([i, j])).tolist():
        number[k] = patterns.setdefault(col[ptr[k] : ptr[k + 1]].tobytes(), len(patterns))
    _, one, of = np.unique(number[i] * len(patterns) + number[j], return_index=True, return_inverse=True)
    sizes, (left, end) = np.diff(ptr), pairs_of(ptr, i[one], j[one])
    ends = np.cumsum(sizes[i[one]] * sizes[j[one]])
    return col[left], col[end], (ends - sizes[i[one]] * sizes[j[one]])[of]


def stiffness_of(a: Arrays, strain: StrainOperator, pattern: Pattern, place: Index) -> Stiffness:
    """Arrays of the stiffness of the stresses: a constant matrix, and data to add the variable part to a Jacobian.

    Pairs of constant strain rows are in the constant matrix. ``place`` are the indices of the entries of the inertia
    in the Jacobian.
    """
    i, j, value = entries_of(a.stiffness)
    bent = strain.curved[i] | strain.curved[j]
    constant = pattern.values(_constant(strain, i[~bent], j[~bent], value[~bent]))
    i, j, value, sizes = i[bent], j[bent], value[bent], np.diff(strain.ptr)
    row, column, block = _blocks(strain.ptr, strain.col, i, j)
    by_body = np.zeros(len(a.mass))
    by_body[a.body_stress] = a.stress_damping
    return Stiffness(
        constant=constant,
        damping=by_body[a.body_u[pattern.row]] * constant + pattern.values(entries_of(a.viscous)),
        left_mean=ranges_of(strain.ptr, i),
        left_val=np.repeat(value, sizes[i]),
        left_damping=np.repeat(a.stress_damping[i], sizes[i]),
        left_ptr=np.append(0, np.cumsum(sizes[i])),
        second=j,
        block=block,
        pair_place=place[pattern.find(row, column)],
        stress_place=place[pattern.find(strain.G.row, strain.G.col)],
        stress=strain.G.stress,
        stress_val=strain.G.value,
    )


def rows_of(matrix: Any) -> tuple[Index, Index, Array]:
    """Ends of the rows, columns and values of the entries of a sparse matrix."""
    row, column, value = entries_of(matrix)
    return np.searchsorted(row, np.arange(matrix.shape[0] + 1)), column, value
