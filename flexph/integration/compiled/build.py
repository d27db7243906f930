"""From a mechanism to the flat arrays of the compiled kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...bodies.inertia import square_of
from ...bodies.nodal_body import nodes_of
from ...joints.rows.connection import measures
from ...kernels.arrays import Arrays
from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.gather import elastic_arrays, inertia_arrays
from ...numerics.arrays import Array, dense
from ...numerics.rotations import cross
from .border import make_border
from .loops.relations import resisting
from .memory.data import (
    Constants,
    Elastic,
    Index,
    Inertia,
    Joints,
    LedgerColumns,
    Loads,
    Nodes,
    Points,
    Rolling,
    Stiffness,
    Vibration,
)
from .memory.simd import kinds
from .points import JointSizes, followed, joint_sizes, point_coordinates
from .redundancy import no_redundancy
from .strains import in_the_border, no_strains, strain_rows
from .vibration import no_vibration, vibration

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


SMALL = 100_000
"""Entries up to which a sparse matrix is written out where its rows are asked for one by one."""


def constants(mechanism: Model) -> Constants:
    """Constant arrays of a mechanism, converted by ``pack``; the shift to the centre of mass stays outside."""
    return _constants(mechanism, no_vibration(len(mechanism.network.arrays.mass)))


def constants_of_decaying(mechanism: Model) -> Constants:
    """Those of a mechanism whose steps lose energy, with full matrices of its bodies."""
    return _constants(mechanism, vibration(mechanism.network.arrays))


def _constants(mechanism: Model, vibrating: Vibration) -> Constants:
    a = mechanism.network.arrays
    resolution = a.resolution
    if not a.body_u.size:  # nothing is shifted
        a = a._replace(mean=sparse.csr_array((a.weight.size, 0)), viscous=sparse.csr_array(a.viscous))
    elif a.mean is None:
        apart = inertia_arrays(mechanism.frames, mechanism.gravity, False)
        own = {"stack": apart["stack"], "mean": apart["mean"], "node_shape": mechanism.network.raw_shape}
        a = a._replace(**own, **elastic_arrays(mechanism.bodies))
    strain = _StrainRows(a)
    pattern = _pattern(a, strain, full=bool(vibrating.size.any()))
    inertia = _inertia(a, pattern, _forms(mechanism), resolution)
    points, sizes = point_coordinates(mechanism), joint_sizes(mechanism)
    nodes = _nodes(a, points, followed(mechanism), sizes.nodes)
    joints = _joints(a, [name for name, _ in measures(mechanism.connections)], sizes)
    rolling = Rolling(*(getattr(a.rolling, name) for name in Rolling._fields))
    strains = strain_rows(mechanism) if a.strains.stress.size else no_strains()
    border = make_border(inertia, nodes, (joints, rolling, strains), mechanism.layout.multipliers)
    return Constants(
        inertia=inertia,
        elastic=_elastic(a, strain, pattern),
        stiffness=_stiffness(a, strain, pattern, border.place),
        nodes=nodes,
        joints=joints,
        rolling=rolling,
        loads=_loads(a, sizes.nodes),
        border=border,
        strains=in_the_border(strains, border),
        points=points,
        ledger=_ledger_columns(mechanism),
        redundancy=no_redundancy(mechanism.layout.multipliers),
        vibration=vibrating,
    )


class _Second(NamedTuple):
    """Entries of the matrix G_i of a strain row, sorted by rows."""

    row: Index
    col: Index
    value: Array


class _StrainRows:
    """D(u) = strain + weights diag(slopes u) slopes by rows: D_i(u) = strain_i + G_i u on one pattern."""

    def __init__(self, a: Arrays) -> None:
        strain, slopes, weights = (sparse.csr_array(m) for m in (a.strain, a.slopes, a.weights))
        self.curved = np.diff(weights.indptr) > 0
        strain.sort_indices()
        self.G = {i: self._second(slopes, weights, i) for i in np.flatnonzero(self.curved).tolist()}
        self.columns, self.values = [], []
        for i in range(strain.shape[0]):
            own = slice(strain.indptr[i], strain.indptr[i + 1])
            if not self.curved[i]:
                self.columns.append(strain.indices[own].astype(int))
                self.values.append(strain.data[own])
                continue
            second = self.G[i]
            columns = np.union1d(strain.indices[own], second.row[second.value != 0.0]).astype(int)
            row = np.zeros(columns.size)
            row[np.searchsorted(columns, strain.indices[own])] = strain.data[own]
            self.columns.append(columns)
            self.values.append(row)
        self.ptr = np.concatenate([[0], np.cumsum([c.size for c in self.columns])]).astype(int)

    @staticmethod
    def _second(slopes: Any, weights: Any, i: int) -> _Second:
        own = slice(weights.indptr[i], weights.indptr[i + 1])
        taken = [slice(*slopes.indptr[k : k + 2]) for k in weights.indices[own]]
        columns = np.unique(np.concatenate([slopes.indices[k] for k in taken]))
        rows, seen = np.zeros((2, len(taken), columns.size))
        for values, touched, own_entries in zip(rows, seen, taken, strict=True):
            at = np.searchsorted(columns, slopes.indices[own_entries])
            values[at], touched[at] = slopes.data[own_entries], 1.0
        row, col = np.nonzero(seen.T @ seen)
        return _Second(columns[row], columns[col], ((rows.T * weights.data[own]) @ rows)[row, col])


class _Pattern:
    """Entries (row, column) of a sparse matrix of the flexible coordinates, sorted by rows."""

    def __init__(self, matrix: Any) -> None:
        rows = sparse.csr_array(matrix)
        rows.sort_indices()
        self.ptr, self.col = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
        self.shape = rows.shape
        self.keys = np.repeat(np.arange(self.shape[0]), np.diff(self.ptr)) * self.shape[1] + self.col

    def values(self, matrix: Any) -> Array:
        """The entries of a matrix that has no others."""
        m = sparse.coo_array(matrix)
        entries = np.zeros(self.col.size)
        np.add.at(entries, self.find(m.row, m.col), m.data)
        return entries

    def find(self, row: Index, col: Index) -> Index:
        """Numbers of the entries."""
        return np.searchsorted(self.keys, row.astype(np.int64) * self.shape[1] + col)


def _pattern(a: Arrays, strain: _StrainRows, *, full: bool) -> _Pattern:
    n = a.body_u.size
    ones = lambda m: sparse.csr_array((np.ones(m.nnz), m.indices, m.indptr), shape=m.shape)  # noqa: E731
    rows = sparse.csr_array(
        (np.ones(strain.ptr[-1]), np.concatenate([np.zeros(0, int), *strain.columns]), strain.ptr),
        shape=(len(strain.columns), n),
    )
    stack, product = sparse.coo_array(a.stack), (rows.T @ ones(sparse.csr_array(a.stiffness)) @ rows).tocoo()
    viscous, diagonal = sparse.coo_array(a.viscous), np.arange(n)
    coupled = np.argwhere(a.body_u[:, None] == a.body_u) if full else np.zeros((0, 2), dtype=int)
    row = np.concatenate([product.row, viscous.row, stack.row % max(n, 1), diagonal, coupled[:, 0]])
    column = np.concatenate([product.col, viscous.col, stack.col, diagonal, coupled[:, 1]])
    return _Pattern(sparse.coo_array((np.ones(row.size), (row, column)), shape=(n, n)))


def _inertia(a: Arrays, pattern: _Pattern, forms: Array, resolution: Array) -> Inertia:
    n, bodies = a.body_u.size, len(a.mass)
    shape, mean = sparse.coo_array(a.mean), np.zeros((n, a.dim))
    mean[shape.col, shape.row % a.dim] = shape.data
    val = np.zeros((pattern.col.size, kinds(a.dim)))
    stack = sparse.coo_array(a.stack)
    np.add.at(val, (pattern.find(stack.row % max(n, 1), stack.col), stack.row // max(n, 1)), stack.data)
    turns = np.zeros(bodies, dtype=np.int64)
    turns[a.turning] = 1
    return Inertia(
        mass=a.mass,
        weight=a.weight,
        J=a.J,
        turns=turns,
        first=np.searchsorted(a.body_u, np.arange(bodies + 1)),
        s=a.s.transpose(2, 0, 1),
        n=a.n.T,
        ptr=pattern.ptr,
        col=pattern.col,
        val=val,
        mean=mean,
        form=forms,
        resolution=resolution,
    )


def _forms(mechanism: Model) -> Array:
    """How the shift φ̄ enters M, N_a and K_ab of each body (see gather.inertia_arrays): (b, K d, d)."""
    basis = cross(mechanism.layout.dim)
    square, dim = square_of(basis), mechanism.layout.dim
    moving = np.concatenate([basis, square.reshape(-1, dim, dim)])
    forms = [
        body.mass * np.concatenate([np.eye(dim)[None], moving * (body.momenta == "full")])
        for body in mechanism.frames.values()
    ]
    return np.array(forms).reshape(len(forms), -1, dim)


def _elastic(a: Arrays, strain: _StrainRows, pattern: _Pattern) -> Elastic:
    entry, col, val, turn = [], [], [], []
    for i, second in strain.G.items():
        place = np.searchsorted(strain.columns[i], second.row)
        own = np.append(strain.columns[i], -1)[place] == second.row
        col.append(second.col[own])
        val.append(second.value[own])
        entry.append(strain.ptr[i] + place[own])
        turn.append(np.arange(own.sum()) - np.searchsorted(place[own], place[own]))
    # one of each entry in turn: a sum that is continued at once waits for the last one to be written
    order = np.argsort(_whole(turn), kind="stable")
    inverse, compliance = _rows(a.stiffness), _rows(a.compliance)
    return Elastic(
        ptr=strain.ptr,
        row=np.repeat(np.arange(strain.ptr.size - 1), np.diff(strain.ptr)),
        col=_whole(strain.columns),
        strain=_real(strain.values),
        G_entry=_whole(entry)[order],
        G_col=_whole(col)[order],
        G_val=_real(val)[order],
        inverse_ptr=inverse[0],
        inverse_col=inverse[1],
        inverse_val=inverse[2],
        compliance_ptr=compliance[0],
        compliance_col=compliance[1],
        compliance_val=compliance[2],
        damping=a.stress_damping,
        body=a.body_stress,
        viscous=pattern.values(a.viscous),
        is_viscous=int(a.viscous.nnz > 0),
    )


def _stiffness(a: Arrays, strain: _StrainRows, pattern: _Pattern, place: Index) -> Stiffness:
    """Pairs of stresses that are both straight make a constant matrix; the others are summed at every factorisation."""
    inverse = sparse.coo_array(a.stiffness)
    straight = ~strain.curved[inverse.row] & ~strain.curved[inverse.col]
    fixed = sparse.coo_array((inverse.data[straight], (inverse.row[straight], inverse.col[straight])), inverse.shape)
    rows = sparse.csr_array(a.strain)
    constant = pattern.values(rows.T @ fixed @ rows)
    pairs, left, end, mean, val, damping = [np.zeros((2, 0))], [], [], [], [], []
    count = 0
    for i, j, value in zip(inverse.row[~straight], inverse.col[~straight], inverse.data[~straight], strict=True):
        rows, columns = strain.columns[i], strain.columns[j]
        pairs.append(np.array([np.repeat(rows, columns.size), np.tile(columns, rows.size)]))
        left.append(count + np.repeat(np.arange(rows.size), columns.size))
        end.append(np.tile(strain.ptr[j] + np.arange(columns.size), rows.size))
        mean.append(strain.ptr[i] + np.arange(rows.size))
        val.append(np.full(rows.size, value))
        damping.append(np.full(rows.size, a.stress_damping[i]))
        count += rows.size
    bent, geometric = np.flatnonzero(strain.curved), list(strain.G.values())
    by_body = np.zeros(len(a.mass))
    by_body[a.body_stress] = a.stress_damping
    return Stiffness(
        constant=constant,
        damping=np.repeat(by_body[a.body_u], np.diff(pattern.ptr)) * constant + pattern.values(a.viscous),
        left_mean=_whole(mean),
        left_val=_real(val),
        left_damping=_real(damping),
        pair_place=place[pattern.find(*np.hstack(pairs).astype(np.int64))],
        pair_left=_whole(left),
        pair_end=_whole(end),
        stress_place=place[pattern.find(_whole([g.row for g in geometric]), _whole([g.col for g in geometric]))],
        stress=np.repeat(bent, np.array([g.row.size for g in geometric], dtype=int)),
        stress_val=_real([g.value for g in geometric]),
    )


def _nodes(a: Arrays, points: Points, frames: Index, count: int) -> Nodes:
    """The nodes of joints and loads; those that are means of points belong to the ``frames`` that they follow."""
    ptr, col, val = _shapes(sparse.csr_array(a.node_shape)[: count * a.dim], count, a.dim)
    body, moves, position = (part[:count].copy() for part in (a.node_body, a.node_moves, a.node_position))
    body[points.node], follows = frames, moves.copy()
    follows[points.node] = 1.0
    return Nodes(body, moves, follows, position, ptr, col, val)


def _shapes(matrix: Any, count: int, width: int) -> tuple[Index, Index, Array]:
    """(count·width, n) by groups of ``width`` rows: columns where any of them has an entry, values (entries, width)."""
    rows = sparse.csr_array(matrix)
    rows, col, val = rows.toarray() if count * width * rows.shape[1] <= SMALL else rows, [], []
    for k in range(count):
        own = dense(rows[k * width : (k + 1) * width])
        used = np.flatnonzero(own.any(axis=0))
        col.append(used)
        val.append(own[:, used].T)
    ptr = np.concatenate([[0], np.cumsum([c.size for c in col])]).astype(int)
    return ptr, _whole(col), np.concatenate([np.zeros((0, width)), *val])


def _joints(a: Arrays, measured: list[str], sizes: JointSizes) -> Joints:
    ends = sparse.coo_array(sparse.csr_array(a.incidence)[: sizes.vectors, : sizes.nodes])
    plus, minus = (np.full(sizes.vectors, -1, dtype=np.int64) for _ in range(2))
    plus[ends.row[ends.data > 0.0]] = ends.col[ends.data > 0.0]
    minus[ends.row[ends.data < 0.0]] = ends.col[ends.data < 0.0]
    names = ("length_product", "component_product", "sine_product", "cosine_product", "stiffness", "damping", "state")
    springs = {k: getattr(a.springs, k) for k in names}
    springs.update(resisting(a.springs, measured)._asdict())
    springs.update(joins_points=a.joins_points[: sizes.vectors], holds_points=a.holds_points, lengths=a.lengths)
    pairs = a.first[: sizes.products], a.second[: sizes.products]
    return Joints(plus, minus, a.vector_fixed[: sizes.vectors], *pairs, a.term_row, a.term_product, **springs)


def _loads(a: Arrays, nodes: int) -> Loads:
    node, torque = sparse.coo_array(sparse.csr_array(a.input_node)[: nodes * a.dim]), sparse.coo_array(a.input_torque)
    ptr, col, val = _shapes(a.torque_shape, a.torque_body.size, a.n.shape[0])
    return Loads(
        node_row=node.row,
        node_input=node.col,
        node_val=node.data,
        torque_row=torque.row,
        torque_input=torque.col,
        torque_val=torque.data,
        torque_body=a.torque_body,
        torque_ptr=ptr,
        torque_col=col,
        torque_shape=val,
        follow_input=a.follow_input,
        follow_node=a.follow_node,
    )


def _ledger_columns(mechanism: Model) -> LedgerColumns:
    """Where the accounts of the ledger stand: works of ports and drives, of ideal joints, dissipation."""
    accounts, slices = mechanism.once(Accounts), mechanism.network.input_slices.values()
    bodies, springs = len(mechanism.bodies), mechanism.network.arrays.springs.damping.size
    owner = np.repeat(np.arange(bodies), [len(nodes_of(body)) for body in mechanism.bodies.values()])
    works, ideal, elastic = len(accounts.work), len(accounts.joint_work), accounts.elastic.size
    return LedgerColumns(
        input=np.repeat(np.arange(len(slices)), np.array([part.stop - part.start for part in slices], dtype=int)),
        reference=_columns(accounts.references, springs, len(slices)),
        row=len(slices) + accounts.references.size + accounts.row_joint,
        body=_columns(accounts.damped, bodies, works + ideal)[owner],
        damper=_columns(accounts.dampers, springs, works + ideal + accounts.damped.size),
        kinetic=owner,
        elastic=_columns(accounts.elastic, bodies, bodies)[owner],
        potential=_columns(accounts.heavy, bodies, bodies + elastic)[owner],
        spring=bodies + elastic + accounts.heavy.size,
        earned=works,
        lost=works + ideal,
    )


def _columns(owners: Index, count: int, first: int) -> Index:
    """Columns of ``count`` bodies or dampers: those that have one from the first one on, −1 for the others."""
    columns = np.full(count, -1)
    columns[owners] = first + np.arange(owners.size)
    return columns


def _rows(matrix: Any) -> tuple[Index, Index, Array]:
    rows = sparse.csr_array(matrix)
    return rows.indptr, rows.indices, rows.data


def _whole(pieces: list[Any]) -> Index:
    return np.concatenate([np.zeros(0), *pieces]).astype(np.int64)


def _real(pieces: list[Any]) -> Array:
    return np.concatenate([np.zeros(0), *pieces])
