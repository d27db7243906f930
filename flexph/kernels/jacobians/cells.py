"""Stiffness of solids with finite strain, assembled from cells in a constant sparsity pattern.

At a quadrature point, the derivative of the forces on the columns of the deformation gradient by these columns is a
matrix T (d², d²). The stiffness of a cell is the sum of (C ⊗ 1)ᵀ T (C ⊗ 1) over its points, with C (d, n) the gradients
of its shape functions.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ..arrays import Arrays
from ..strains import NONE, mean_stiffness
from ..values import Point

Index = np.ndarray


class Batch(NamedTuple):
    """Cells with equal numbers of points and nodes: points (E, P), and gradients (E, P, d, n) of shape functions."""

    points: Index
    slopes: Array


class Cells(NamedTuple):
    """Quadrature points of all solids, c strain rows each, and the sparsity pattern of their stiffness over k nodes.

    ``entries``: positions of the values of all batches in the sparse matrix (k·d, k·d) of ``indices`` and ``indptr``.
    """

    batches: tuple[Batch, ...]
    entries: Index
    indices: Index
    indptr: Index


def cells_of(vectors: Any, d: int) -> Cells:
    """The cells of solids from the vectors of their strains (d·p, k), the columns of F point by point."""
    rows = sparse.csr_array(vectors)
    rows.sort_indices()
    places = [np.unique(rows.indices[rows.indptr[d * q] : rows.indptr[d * q + d]]) for q in range(rows.shape[0] // d)]
    cells = [list(own) for _, own in groupby(range(len(places)), key=lambda q: places[q].tobytes())]
    by_size: dict[tuple[int, int], list[list[int]]] = {}
    for own in cells:
        by_size.setdefault((len(own), places[own[0]].size), []).append(own)
    batches, row, column = [], [], []
    for (count, width), alike in by_size.items():
        columns = np.array([places[points[0]] for points in alike])
        at = (d * np.array(alike)[:, :, None] + np.arange(d)).reshape(len(alike), count * d)
        slopes = np.array([rows[i][:, j].toarray() for i, j in zip(at, columns, strict=True)])
        batches.append(Batch(np.array(alike), slopes.reshape(len(alike), count, d, width)))
        scalar = (d * columns[:, :, None] + np.arange(d)).reshape(len(alike), width * d)
        shape = (len(alike), width * d, width * d)
        row.append(np.broadcast_to(scalar[:, :, None], shape).ravel())
        column.append(np.broadcast_to(scalar[:, None, :], shape).ravel())
    size = d * rows.shape[1]
    keys, entries = np.unique(np.concatenate(row) * size + np.concatenate(column), return_inverse=True)
    indptr = np.searchsorted(keys, size * np.arange(size + 1))
    return Cells(tuple(batches), entries, keys % size, indptr)


def cell_stiffness(a: Arrays, at: Point, softened: Array) -> Any:
    """Derivative of the forces on nodes by end positions, sparse (k·d, k·d); ``softened`` as in strains.tangent."""
    cells, values = a.strains.cells, []
    T = _by_gradients(a, at, softened)
    for batch in cells.batches:
        (E, P, d, n), own = batch.slopes.shape, T[batch.points]
        pulled = np.einsum("epka,epkilj->eaiplj", batch.slopes, own, optimize=True)
        pulled = pulled.reshape(E, n * d, P * d, d).swapaxes(2, 3).reshape(E, n * d * d, P * d)
        whole = pulled @ batch.slopes.reshape(E, P * d, n)  # (E, a i j, b)
        values.append(whole.reshape(E, n * d, d, n).swapaxes(2, 3).ravel())
    data = np.bincount(cells.entries, weights=np.concatenate(values), minlength=cells.indices.size)
    size = cells.indptr.size - 1
    return sparse.csr_array((data, cells.indices, cells.indptr), shape=(size, size))


def solid_stiffness(a: Arrays, at: Point, B: Any, W: Any) -> Any:
    """Product h Bᵀ K W (n_v, n_v) of the stiffness of the cells with the rows (k·d, n_v) of all nodes."""
    stiffness = cell_stiffness(a, at, 0.5 + a.stress_damping[a.strains.stress] / at.h)
    own = B.shape[0] - stiffness.shape[0]
    return at.h * (B[own:].T @ (stiffness @ W[own:]))


def joints_alone(a: Arrays, at: Point) -> tuple[Arrays, Point]:
    """The arrays and the point of linearisation without the solids, whose vectors and products come last."""
    p, t = int(a.strains.product.min()), at.trial
    v = int(min(a.first[p:].min(), a.second[p:].min()))
    trial = t._replace(
        vector=t.vector[:v], vector_mean=t.vector_mean[:v], product=t.product[:p], product_force=t.product_force[:p]
    )
    known = at.known._replace(vector=at.known.vector[:v], product=at.known.product[:p])
    arrays = a._replace(
        incidence=a.incidence[:v],
        vector_fixed=a.vector_fixed[:v],
        first=a.first[:p],
        second=a.second[:p],
        select_first=a.select_first[:p, :v],
        select_second=a.select_second[:p, :v],
        pairs=a.pairs[:, :p],
        partners=a.partners[:, :p],
        strains=NONE,
    )
    return arrays, at._replace(trial=trial, known=known)


def _by_gradients(a: Arrays, at: Point, softened: Array) -> Array:
    """Matrices T of all points, (p, d, d, d, d): derivatives of the forces on g_I by g_J."""
    s, t, d = a.strains, at.trial, a.dim
    first, second = a.first[s.product], a.second[s.product]
    start = int(min(first.min(), second.min()))
    points = (len(t.vector) - start) // d
    c = s.product.size // points
    I, J = ((index[:c] - start) % d for index in (first, second))  # the same at every point
    mean, end = (x[start:].reshape(points, d, d) for x in (t.vector_mean, t.vector))
    T = np.zeros((points, d, d, d, d))
    force = 0.5 * t.product_force[s.product].reshape(points, c)
    for k in range(c):
        for i, j in ((I[k], J[k]), (J[k], I[k])):
            T[:, i, np.arange(d), j, np.arange(d)] += force[:, k, None]
    rows = np.arange(s.product.size).reshape(points, c)
    stiffness = sparse.csr_array(mean_stiffness(s, (at.known.product, t.product), softened))
    blocks = np.asarray(stiffness[rows[:, :, None].ravel().repeat(c), np.tile(rows, (1, c)).ravel()])
    weight = s.factor.reshape(points, c)
    blocks = -weight[:, :, None] * blocks.reshape(points, c, c) * weight[:, None, :]
    left, right = (np.zeros((points, c, d, d)) for _ in range(2))
    for k in range(c):
        for side, g in ((left, mean), (right, end)):
            side[:, k, I[k]] += g[:, J[k]]
            side[:, k, J[k]] += g[:, I[k]]
    by_strain = left.reshape(points, c, d * d).swapaxes(1, 2) @ (blocks @ right.reshape(points, c, d * d))
    return T + by_strain.reshape(T.shape)
