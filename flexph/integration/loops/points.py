"""Cables in the compiled loops: unknowns (rates of positions and slopes), and joint points that are weighted means.

The position of a port between the points of a cable is a weighted mean of several points of the cable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import NodalBody
from ...numerics.arrays import Array
from .memory.data import Index, Points

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model

ROUND_OFF = 1e-9
"""Size of an entry, relative to the largest one of its row, below which it is round-off of an inverse matrix."""


class JointSizes(NamedTuple):
    """Numbers of nodes, vectors and products of joints and loads; the nodes, vectors and products of strains follow."""

    nodes: int
    vectors: int
    products: int


def joint_sizes(mechanism: Model) -> JointSizes:
    """Numbers of nodes, vectors and products that belong to joints and loads, not to strains."""
    a = mechanism.network.arrays
    strains = [b.elasticity for b in mechanism.bodies.values() if isinstance(b, NodalBody)]
    shapes = np.array([[e.vectors.shape[1], e.vectors.shape[0], e.first.size] for e in strains], dtype=int).reshape(
        -1, 3
    )
    return JointSizes(*(np.array([a.node_body.size, len(a.vector_fixed), a.first.size]) - shapes.sum(axis=0)))


def cleared(matrix: Any) -> Any:
    """Sparse copy of a matrix without the entries that are round-off of the largest one in their row."""
    rows = sparse.csr_array(matrix)
    largest = np.repeat(abs(rows).max(axis=1).toarray().ravel(), np.diff(rows.indptr))
    rows.data[np.abs(rows.data) <= ROUND_OFF * largest] = 0.0
    rows.eliminate_zeros()
    return rows


def ends_of(sizes: Any) -> Index:
    """First index of each of consecutive parts with the given sizes, followed by the end of the last part."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def basis_of_points(mechanism: Model) -> Any:
    """Sparse matrix T (b, b) that gives the velocities v = T x of all frames from the unknowns x.

    x are rates of positions and slopes for cables, and the velocities themselves for others.
    """
    return sparse.block_diag([_points_by_coordinates(body) for body in mechanism.bodies.values()], format="csr")


def _points_by_coordinates(body: Any) -> Any:
    if not isinstance(body, NodalBody) or body.coordinates is None:
        return sparse.eye_array(len(body.frames))
    return cleared(np.linalg.inv(body.coordinates).T).T


def point_coordinates(mechanism: Model) -> Points:
    """Arrays of the points of cables, and of joint and load points that are weighted means of points of a body."""
    if not (_has_points(mechanism) or mechanism.network.means):
        return _no_points(len(mechanism.frames))
    a, basis = mechanism.network.arrays, basis_of_points(mechanism)
    counts = [len(body.frames) for body in mechanism.bodies.values()]
    is_cable = [isinstance(b, NodalBody) and b.coordinates is not None for b in mechanism.bodies.values()]
    of_cables = np.repeat(np.array(is_cable, dtype=np.int64), counts)
    frame = np.flatnonzero(of_cables)
    rows, mass = (
        sparse.csr_array(basis[frame]),
        sparse.coo_array(basis.T @ sparse.diags_array(of_cables * a.mass) @ basis),
    )
    size = np.sqrt(mass.diagonal())
    kept, means = np.abs(mass.data) > ROUND_OFF * size[mass.row] * size[mass.col], mechanism.network.means
    return Points(
        own=of_cables,
        frame=frame,
        ptr=rows.indptr,
        col=rows.indices,
        val=rows.data,
        mass_row=mass.row[kept],
        mass_col=mass.col[kept],
        mass_val=mass.data[kept],
        node=np.array([m.place for m in means], dtype=np.int64),
        node_ptr=ends_of([len(m.weights) for m in means]),
        node_frame=np.concatenate([np.zeros(0, int), *(m.frame + np.arange(len(m.weights)) for m in means)]),
        node_weight=np.concatenate([np.zeros(0), *(m.weights for m in means)]),
    )


def _has_points(mechanism: Model) -> bool:
    """True if the mechanism has cables."""
    return any(isinstance(b, NodalBody) and b.coordinates is not None for b in mechanism.bodies.values())


def _no_points(frames: int) -> Points:
    whole, real, first = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(1, dtype=np.int64)
    zeros = np.zeros(frames, dtype=np.int64)
    return Points(zeros, whole, first, whole, real, whole, whole, real, whole, first, whole, real)


def node_sides(mechanism: Model) -> Index:
    """Index of the frame to which each node belongs; weighted means of points are numbered after all frames."""
    sides: Index = mechanism.network.arrays.node_body.copy()
    means = [mean.place for mean in mechanism.network.means]
    sides[means] = len(mechanism.frames) + np.arange(len(means))
    return sides


class MovedMeans(NamedTuple):
    """Weights of the unknowns of frames in the velocity of each weighted mean of points.

    ``first`` is the frame with the largest weight, ``weight``; the frames ``others`` have the weights
    ``others_weight``.
    """

    first: Index  # (n,)
    weight: Array
    others: list[Index]
    others_weight: list[Array]


def moved_means(mechanism: Model) -> MovedMeans:
    """Weights of the unknowns (for cables rates of positions and slopes) in the velocities of means of points."""
    means, parts = mechanism.network.means, []
    basis: Any = sparse.csr_array(basis_of_points(mechanism)) if means else None
    for m in means:
        weights = m.weights @ basis[m.frame : m.frame + len(m.weights)]
        order = np.argsort(-np.abs(weights), kind="stable")
        kept = order[np.abs(weights[order]) > ROUND_OFF * np.abs(weights).max()]
        parts.append((kept, weights[kept]))
    return MovedMeans(
        first=np.array([frames[0] for frames, _ in parts], dtype=int),
        weight=np.array([weights[0] for _, weights in parts]),
        others=[frames[1:] for frames, _ in parts],
        others_weight=[weights[1:] for _, weights in parts],
    )
