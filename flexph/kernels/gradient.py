"""Jacobians from velocities to rates of nodes, vectors and products: dense for small mechanisms, sparse for large.

Nodes, vectors and products are defined in :class:`flexph.kernels.arrays.Arrays`. Velocities are, in this order, ṙ of
all centres of mass, the spins ω of bodies that turn (in body axes), and the rates u̇ of the flexible coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array, dense_blocks, sparse_blocks
from ..numerics.rotations import spin_map, unit_sweeps
from .arrays import Arrays, total
from .contacts.distances import closed_rows
from .rates.on_curves import all_at_state, curve_weights
from .rolling import gains, spin_rows, weights
from .state import partners, products


def velocity_count(a: Arrays) -> int:
    """Number n_v of velocities: ṙ of all bodies, ω of bodies that turn, and u̇."""
    return a.weight.size + a.turning.size * a.n.shape[0] + a.body_u.size


def velocity_slices(a: Arrays) -> tuple[slice, slice]:
    """Slices, in the vector of all velocities, of the spins of bodies that turn, and of u̇."""
    first, last = a.weight.size, velocity_count(a)
    return slice(first, last - a.body_u.size), slice(last - a.body_u.size, last)


def is_sparse(a: Arrays) -> bool:
    """True if the arrays have sparse matrices."""
    return sparse.issparse(a.node_shape)


def kept(a: Arrays, matrix: Array) -> Any:
    """Convert a dense matrix to a sparse one if the arrays are sparse; else return it unchanged."""
    return sparse.csr_array(matrix) if is_sparse(a) else matrix


def blocks_of(a: Arrays, shape: tuple[int, int], blocks: Iterable[tuple[int, int, Any]]) -> Any:
    """Matrix that is the sum of blocks, dense or sparse like the arrays.

    Each of ``blocks`` is the first row, the first column and the matrix of a block; ``shape`` is that of the result.
    """
    return (sparse_blocks if is_sparse(a) else dense_blocks)(shape, blocks)


def diagonal_of(a: Arrays, matrices: Array) -> Any:
    """Block-diagonal matrix (k·d, k·d) with the blocks ``matrices`` (k, d, d), dense or sparse like the arrays."""
    if is_sparse(a):
        return block_diagonal(matrices)
    k, d, _ = matrices.shape
    matrix, index = np.zeros((k, d, k, d)), np.arange(k)
    matrix[index, :, index] = matrices
    return matrix.reshape(k * d, k * d)


def stacked_rows(*parts: Any) -> Any:
    """Stack matrices on top of each other, dense or sparse like the first one."""
    return sparse.csr_array(sparse.vstack(parts)) if sparse.issparse(parts[0]) else np.concatenate(parts)


def scale_rows(m: Any, rows: Array) -> Any:
    """Product diag(rows) m, which scales the rows of a matrix."""
    if not sparse.issparse(m):
        return rows[:, None] * m
    scaled = sparse.csr_array(m, copy=True)
    scaled.data = scaled.data * np.repeat(rows, np.diff(scaled.indptr))
    return scaled


def scale_both(m: Any, rows: Array, columns: Array) -> Any:
    """Product diag(rows) m diag(columns), which scales the rows and columns of a matrix."""
    if not sparse.issparse(m):
        return rows[:, None] * m * columns
    scaled = scale_rows(m, rows)
    scaled.data *= columns[scaled.indices]
    return scaled


def body_levers(a: Arrays, inverse: Array, lever: Array) -> Array:
    """Velocities of the nodes for unit spins of their bodies, (k, s, d).

    ``lever`` (k, d) are the lever arms of the nodes in world axes. In space ``inverse`` (b, d, d) are the transposes of
    the matrices that turn the spins ω of the bodies into world spins, Ω = inverseᵀ ω; in the plane Ω = ω.
    """
    levers = unit_sweeps(lever)
    return levers if a.dim == 2 else np.matmul(inverse.take(a.node_body, axis=0), levers)


def node_rows(a: Arrays, spin: Array, frame: Array, scale: float = 1.0) -> Any:
    """Jacobian (k·d, n_v) of the velocities of all nodes with respect to the velocities of the bodies.

    A node has the rows [scale χ 1, spin, frame φ] for (ṙ, ω, u̇) of its body, with χ = 1 for points and 0 for
    directions; ``scale`` is a factor for the columns of ṙ. ``spin`` (k, s, d) are the velocities of the nodes for unit
    spins, and ``frame`` (k, d, d) are matrices that turn the shapes φ of the nodes into world axes.
    """
    if is_sparse(a):
        moves = a.translating
        turned = block_diagonal(frame)
        shape = turned @ a.node_shape
        if a.mean is not None:
            shape = shape - (turned @ moves) @ a.mean
        return sparse.csr_array(sparse.hstack([scale * moves, placed(a, spin), shape]))
    (k, s, d), (omega, u) = spin.shape, velocity_slices(a)
    rows = np.empty((k, d, u.stop))
    rows[:, :, : omega.start] = (scale * a.translating).reshape(k, d, omega.start)
    by_body = spin.transpose(0, 2, 1)[:, :, None] * a.node_turns[:, None, :, None]
    rows[:, :, omega] = by_body.reshape(k, d, a.turning.size * s)
    if a.body_u.size:
        rows[:, :, u] = np.matmul(frame, a.node_shape.reshape(k, d, a.body_u.size))
    return rows.reshape(k * d, u.stop)


def pull(a: Arrays, nodes: Any) -> Any:
    """Jacobian (v·d, n_v) of the vectors between nodes, from the Jacobian (k·d, n_v) of the nodes."""
    if sparse.issparse(nodes):
        return sparse.csr_array(sparse.kron(a.incidence, sparse.eye_array(a.dim)) @ nodes)
    k, width = a.node_body.size, nodes.shape[1]
    return (a.incidence @ nodes.reshape(k, a.dim * width)).reshape(-1, width)


def product_gradient(a: Arrays, vector: Array) -> Any:
    """Gradient of the products V·W with respect to the vectors, (p, v·d)."""
    on_first, on_second = partners(a, vector)
    if is_sparse(a):
        columns = zip(on_first.T, on_second.T, strict=True)
        pieces = [scale_rows(a.select_first, one) + scale_rows(a.select_second, other) for one, other in columns]
        return sum(_on_component(piece, i, a.dim) for i, piece in enumerate(pieces))
    gradient = a.select_first[:, :, None] * on_first[:, None] + a.select_second[:, :, None] * on_second[:, None]
    return gradient.reshape(a.first.size, vector.size)


def product_rows(a: Arrays, vector: Array, rows: Any) -> Any:
    """Jacobian (p, n) of the products, from the Jacobian ``rows`` (v·d, n) of the vectors at ``vector`` (v, d)."""
    if sparse.issparse(rows) or not a.strains.stress.size:
        return product_gradient(a, vector) @ rows
    moved = rows.reshape(len(vector), a.dim, rows.shape[1])  # two vectors a product, of very many
    on_first, on_second = partners(a, vector)
    first = np.matmul(on_first[:, None], moved.take(a.first, axis=0))
    return (first + np.matmul(on_second[:, None], moved.take(a.second, axis=0)))[:, 0]


def _on_component(matrix: Any, axis: int, dim: int) -> Any:
    """Sparse matrix (p, v·d) that applies ``matrix`` (p, v) to component ``axis`` of the vectors only."""
    matrix, (rows, count) = sparse.csr_array(matrix), matrix.shape
    return sparse.csr_array((matrix.data, dim * matrix.indices + axis, matrix.indptr), shape=(rows, dim * count))


def row_weights(a: Arrays, coefficient: Array) -> Any:
    """Matrix (g, p) of the coefficients of the products in the constraint rows, dense or sparse like the arrays.

    ``coefficient`` (t,) has the coefficients of the t terms of all rows.
    """
    rows, shape = a.rolling.free.size, (a.rolling.free.size, a.first.size)
    if is_sparse(a):
        return sparse.csr_array((coefficient, (a.term_row, a.term_product)), shape=shape)
    return total(a.term_row * a.first.size + a.term_product, coefficient, rows * a.first.size).reshape(shape)


def constraint_matrix(
    a: Arrays, R: Array, coefficient: Array, *, arm: Array, vector: Array, by: Array | None = None
) -> Any:
    """Jacobian G(q) of the constraints, (g, n_v): position constraints have ġ = G v + ∂g/∂t, nonholonomic ones 0 = G v.

    It depends on the rotations, arms of the nodes and vectors at q. ``by`` are the products (p,) that weigh the terms
    of :mod:`flexph.kernels.rolling`, by default the products of the vectors.
    """
    if a.joined is not None:
        few, nodes = a.joined
        return constraint_matrix(few, R, coefficient, arm=arm[nodes], vector=vector[: len(few.vector_fixed)], by=by)
    t, moved = a.rolling, product_matrix(a, R, arm, vector)
    matrix = row_weights(a, coefficient)
    if not (t.row.size or a.curves or a.closed):
        return matrix @ moved
    by = products(a, vector) if by is None else by
    if a.closed:
        matrix = matrix + closed_rows(a.closed, by, matrix.shape[0])
    if a.curves:
        of_curves, _ = curve_weights(a.curves, all_at_state(a.curves, by), matrix.shape)
        matrix = matrix + kept(a, of_curves)
    if not t.row.size:
        return matrix @ moved
    matrix = (matrix + weights(a, gains(a, by, by), t.product)) @ moved
    return with_spins(a, matrix, R)


def with_spins(a: Arrays, rows: Any, frame: Array) -> Any:
    """Constraint matrix ``rows`` (g, n_v) plus the spin terms a·(frame ω) of nonholonomic rows.

    ``frame`` (b, d, d) turns the spins ω of the bodies into world spins.
    """
    if not a.rolling.spin_row.size:
        return rows
    return rows + spin_rows(a, frame, *rows.shape)


def product_matrix(a: Arrays, R: Array, arm: Array, vector: Array) -> Any:
    """Jacobian (p, n_v) from velocities to the rates of the products."""
    return product_rows(a, vector, pull(a, node_rows(a, world_spin_levers(a, R, arm), R[a.node_body])))


def vector_forces(a: Arrays, vector: Array, on_product: Array) -> Array:
    """Forces on the vectors (v, d) from forces on their products (p,)."""
    on_first, on_second = (on_product[:, None] * partner for partner in partners(a, vector))
    forces: Array = a.select_first.T @ on_first + a.select_second.T @ on_second
    return forces


def world_spin_levers(a: Arrays, R: Array, arm: Array) -> Array:
    """Velocities of the nodes for unit spins of their bodies in body axes, (k, s, d).

    They are R(e_s × x) with the axes e_s and the arms R x of the nodes, ``arm`` (k, d).
    """
    return body_levers(a, R.transpose(0, 2, 1), arm)


def block_diagonal(matrices: Array) -> Any:
    """Block-diagonal sparse matrix (k·d, k·d) with the blocks ``matrices`` (k, d, d)."""
    k, d, _ = matrices.shape
    return sparse.bsr_array((matrices, np.arange(k), np.arange(k + 1)), shape=(k * d, k * d)).tocsr()


def entries_of(a: Arrays, shape: tuple[int, int], values: Array, rows: Array, columns: Array) -> Any:
    """Matrix of the given shape with ``values`` at ``rows`` and ``columns``, dense or sparse like the arrays.

    Each pair of row and column may occur once.
    """
    if is_sparse(a):
        return sparse.csr_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=shape)
    matrix = np.zeros(shape)
    matrix[rows, columns] = values
    return matrix


def placed(a: Arrays, values: Array) -> Any:
    """Matrix (k·d, spins) with given entries in the d rows of each node and the s columns of the spins of its body.

    ``values`` (k, s, d) are these entries; those of nodes of point masses, which have no spins, are left out. The
    matrix is dense or sparse like the arrays.
    """
    _, cw, _ = a.columns
    first = len(a.mass) * a.dim
    k, s, d = values.shape
    keep = cw[a.node_body, 0] >= 0
    rows = np.broadcast_to(np.arange(k * d).reshape(k, 1, d), values.shape)[keep]
    cols = np.broadcast_to(cw[a.node_body][:, :, None] - first, values.shape)[keep]
    return entries_of(a, (k * d, a.turning.size * s), values[keep], rows, cols)


def spin_block(a: Arrays, values: Array) -> Any:
    """Matrix (spins, n) between the spins of all bodies and the flexible coordinates, dense or sparse like the arrays.

    The column of a flexible coordinate has its ``values`` (s, n) in the rows of the spins of its body, else zeros.
    """
    cv, cw, _ = a.columns
    s, n = values.shape
    rows = (cw[a.body_u] - cv.size).T  # every flexible body has rotations
    return entries_of(a, (a.turning.size * s, n), values, rows, np.broadcast_to(np.arange(n), rows.shape))


def section_rows(a: Arrays, R: Array) -> Any:
    """Jacobian (t·s, n_v) of the world spins R(ω + ψu̇) of the t sections with torque inputs, with frames R (b, d, d).

    ψ are the section rotations for unit flexible coordinates.
    """
    _, cw, _ = a.columns
    s, t = a.n.shape[0], a.torque_body.size
    frame = spin_map(R)[a.torque_body]
    if not is_sparse(a):
        _, u = velocity_slices(a)
        dense = np.zeros((t, s, u.stop))
        np.put_along_axis(dense, np.broadcast_to(cw[a.torque_body][:, None], frame.shape), frame, axis=2)
        dense[:, :, u] = np.matmul(frame, a.torque_shape.reshape(t, s, a.body_u.size))
        return dense.reshape(t * s, u.stop)
    first = len(a.mass) * a.dim
    rows = np.broadcast_to(np.arange(t * s).reshape(t, s, 1), frame.shape)
    cols = np.broadcast_to((cw[a.torque_body] - first)[:, None, :], frame.shape)
    spin = sparse.csr_array((frame.ravel(), (rows.ravel(), cols.ravel())), shape=(t * s, a.turning.size * s))
    return sparse.csr_array(
        sparse.hstack([sparse.csr_array((t * s, first)), spin, block_diagonal(frame) @ a.torque_shape])
    )


class Velocities(NamedTuple):
    """Velocities or displacements of all bodies: ṙ (b, d), ω (b, s) and u̇ (n,)."""

    v: Array
    omega: Array
    du: Array


def flatten(a: Arrays, x: Velocities) -> Array:
    """Velocities as one vector (n_v,)."""
    return np.concatenate([x.v.ravel(), x.omega.take(a.turning, axis=0).ravel(), x.du])


def unflatten(a: Arrays, y: Array) -> Velocities:
    """Split a vector (n_v,) into velocities of bodies and coordinates, the inverse of :func:`flatten`."""
    omega, u = velocity_slices(a)
    spin = np.zeros(a.columns.omega.shape)
    spin[a.turning] = y[omega].reshape(-1, a.n.shape[0])
    return Velocities(y[: omega.start].reshape(a.weight.shape), spin, y[u])
