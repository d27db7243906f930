"""Constraints that may depend on others, and work space to find the dependent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...kernels.state import displacement_sizes, lever
from ...mechanisms.model.redundancy import weights
from ...numerics.loops.views import stored
from .memory.connection_data import Redundancy
from .memory.constants import Constants
from .memory.data import Index
from .memory.run_space import NullSpace
from .memory.sliding import products_of_rows

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model

MOST_DEPENDENT = 500
"""Largest number of dependent constraints in steps; the memory of mechanisms with redundant ones grows with it."""


def no_redundancy(rows: int) -> Redundancy:
    """Empty arrays of redundancy, for a mechanism whose ``rows`` constraints are independent."""
    none, one = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return Redundancy(np.full(rows, -1), none, np.zeros(0), none, one, none, none, none, np.zeros(0))


def redundancy(mechanism: Model, k: Constants) -> Redundancy:
    """Arrays of the constraints that may depend on others, which are those in closed loops of bodies.

    Constraints of joints in a tree of bodies are independent.
    """
    a, size = mechanism.network.arrays, int(k.border.size[0])
    touched = sparse.csr_array(_touched(k))
    kept = np.flatnonzero(_in_loops(mechanism, touched))
    label = _groups(touched[kept])
    kept = kept[np.argsort(label, kind="stable")]
    label = np.sort(label)
    groups = int(label.max(initial=-1)) + 1
    number, column, counts = (
        np.full(len(mechanism.constraint_names), -1),
        np.full(size, -1),
        np.zeros(groups, dtype=int),
    )
    number[kept] = np.arange(kept.size)
    for group in range(groups):
        bodies = np.unique(touched[kept[label == group]].indices)
        masters = k.border.master[np.isin(a.body_u[k.border.master], bodies)]
        unknowns = np.concatenate([k.border.v[bodies].ravel(), k.border.w[bodies].ravel(), k.border.m[masters]])
        unknowns = unknowns[unknowns >= 0]
        column[unknowns], counts[group] = np.arange(unknowns.size), unknowns.size
    heights = np.bincount(label, minlength=groups)
    starts = np.concatenate([[0], np.cumsum(heights * counts)[:-1]]) if groups else np.zeros(0)
    return Redundancy(
        own=number,
        row=kept,
        weight=weights(mechanism)[kept],
        group=label,
        first=np.concatenate([[0], np.cumsum(heights)]),
        columns=counts,
        block=starts,
        column=column,
        scale=_scales(mechanism, k),
    )


def null_space(k: Constants) -> NullSpace:
    """Work space for the null space of redundant constraints, all zeros."""
    z, r = np.zeros, k.redundancy
    rows, size = r.row.size, int(k.border.size[0])
    most, whole = min(rows, MOST_DEPENDENT), lambda count: np.zeros(count, dtype=np.int64)
    height = int(np.diff(r.first).max(initial=0))
    entries = int((np.diff(r.first) * r.columns).sum())
    return NullSpace(
        *(whole(1), whole(most), whole(2 * most), z((most, rows)), z((most, rows)), z(height**2), z(entries)),
        *(z(rows), z(int(r.columns.max(initial=0))), z(most), z((2 * most, size if most else 0))),
        *(z((2 * most, stored(2 * most))), z(2 * most)),
    )


def _touched(k: Constants) -> sparse.coo_array:
    """Sparse matrix (g, b) with an entry for each constraint and each body on which it acts."""
    rows, nodes = [], []
    of_row = [(k.joints.term_row, k.joints.term_product)]
    of_row += [(k.rolling.row, k.rolling.product), (k.rolling.row, k.rolling.by), products_of_rows(k.curves)]
    for row, product in of_row:
        for vector in (k.joints.first, k.joints.second):
            for end in (k.joints.plus, k.joints.minus):
                rows.append(row)
                nodes.append(end[vector[product.astype(np.int64)].astype(np.int64)])
    row, node = np.concatenate(rows).astype(np.int64), np.concatenate(nodes)
    row, body = row[node >= 0], k.nodes.body[node[node >= 0]]
    row = np.concatenate([row, k.rolling.spin_row.astype(np.int64)])
    body = np.concatenate([body, k.rolling.spin_body.astype(np.int64)])
    return sparse.coo_array((np.ones(row.size), (row, body)), shape=(k.border.l.size, len(k.inertia.mass)))


def _in_loops(mechanism: Model, touched: sparse.csr_array) -> np.ndarray:
    """Mask (g,) of constraints in closed loops: those left after bodies with a single joint are removed in turn."""
    joints = len(mechanism.connections)
    joint = np.repeat(np.arange(joints), [len(c.rows) for c in mechanism.connections])
    owner = sparse.csr_array((np.ones(joint.size), (joint, np.arange(joint.size))), shape=(joints, joint.size))
    links = np.asarray((owner @ touched).toarray() > 0.0, dtype=bool)
    while True:
        single = links & (links.sum(axis=0) == 1)
        ends = single.any(axis=1)
        if not ends.any():
            return np.asarray(links.any(axis=1))[joint]
        links[ends] = False


def _groups(touched: sparse.csr_array) -> Index:
    """Number of the group to which each constraint belongs; constraints that act on a common body are in one group."""
    graph = sparse.block_array([[None, touched], [touched.T, None]])
    return connected_components(sparse.csr_array(graph), directed=False)[1][: touched.shape[0]].astype(np.int64)


def _scales(mechanism: Model, k: Constants) -> np.ndarray:
    """Units of the velocities among the unknowns of the border of the Jacobian, (N,), by which they are compared."""
    a, border = mechanism.network.arrays, k.border
    size, sizes = lever(a), displacement_sizes(a, lever(a)) / lever(a)
    centres, _, flexible = a.columns
    scales = np.zeros(int(border.size[0]))
    scales[border.v] = sizes[centres].reshape(border.v.shape)
    scales[border.w[border.w >= 0]] = 1.0 / size
    scales[border.m[border.master]] = sizes[flexible][border.master]
    return scales
