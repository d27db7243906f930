"""Matrices of all velocities or of products, from loads, springs and spins; dense or sparse like the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array, dense
from ..arrays import Arrays
from ..gradient import blocks_of, diagonal_of, entries_of, is_sparse, kept, velocity_count


def below(a: Arrays, block: Any) -> Any:
    """Matrix (n_v, n_v) of all velocities with a block in its last rows and columns, of u̇ or of ω and u̇."""
    size = velocity_count(a)
    return blocks_of(a, (size, size), [(size - block.shape[0], size - block.shape[0], block)])


def on_measures(a: Arrays, length: Array, angle: tuple[Array, Array, Array]) -> Any:
    """Symmetric matrix (p, p) of a quadratic form in the products of lengths and angles of springs, sparse.

    ``length`` and the first two of ``angle`` are coefficients of squares (of the length, sine and cosine products), the
    third is that of sine times cosine.
    """
    sine, cosine, mixed = angle
    at, i, j, count = a.springs.length_product, a.springs.sine_product, a.springs.cosine_product, a.first.size
    rows, columns = np.concatenate([at, i, j, i, j]), np.concatenate([at, i, j, j, i])
    values = np.concatenate([length, sine, cosine, mixed, mixed])
    return sparse.coo_array((values, (rows, columns)), shape=(count, count)).tocsr()


def on_vectors(a: Arrays, on_product: Array, pulled: Any) -> Any:
    """Derivative (n_v, n_v) of the generalised force of given forces on products (p,) as the vectors of these move.

    ``pulled`` are the rows (v·d, n_v) of the vectors.
    """
    if is_sparse(a):
        swap = a.select_first.T @ sparse.diags_array(on_product) @ a.select_second
        return pulled.T @ sparse.kron(swap + swap.T, sparse.eye_array(a.dim)) @ pulled
    own = np.flatnonzero(on_product)
    moved, width = pulled.reshape(-1, a.dim, pulled.shape[1]), pulled.shape[1]
    first, second = (moved[side[own]] for side in (a.first, a.second))
    swap = first.reshape(-1, width).T @ (on_product[own, None, None] * second).reshape(-1, width)
    return swap + swap.T


def on_spins(a: Arrays, own: Array, across: Any, back: Any) -> Any:
    """Matrix of all velocities with blocks on the spins of each body (b, s, s), and blocks between spins and u̇."""
    n, spins = a.body_u.size, diagonal_of(a, own[a.turning])
    at = spins.shape[0]
    return below(a, blocks_of(a, (at + n,) * 2, [(0, 0, spins), (0, at, across), (at, 0, back)]))


def torque_columns(a: Arrays, turned: Array) -> Any:
    """Matrix ψᵀ[τ]× (n, spins) from the spins of the bodies to the flexible coordinates at sections with torques."""
    s, t = a.n.shape[0], a.torque_body.size
    place = np.full(len(a.mass), -1)
    place[a.turning] = np.arange(a.turning.size)
    rows = np.broadcast_to(np.arange(t * s).reshape(t, s, 1), turned.shape)
    cols = np.broadcast_to(s * place[a.torque_body][:, None, None] + np.arange(s), turned.shape)
    return a.torque_shape.T @ entries_of(a, (t * s, a.turning.size * s), turned, rows, cols)


def following(a: Arrays, motion: Any, sections: Any, inputs: Array) -> Any:
    """Derivative of loads that rotate with a section, from node rows (k·d, n_v) and section rotations (t·s, n_v)."""
    size = motion.shape[1]
    if not a.follow_input.size:
        return kept(a, np.zeros((size, size)))
    change = np.zeros((inputs.size, size))
    for own, nodes in zip(a.follow_input, a.follow_node, strict=True):
        for value, node in zip(inputs[own], nodes, strict=True):
            change[own] += value * dense(motion[node * a.dim + np.arange(a.dim)])
    return (motion.T @ a.input_node + sections.T @ a.input_torque) @ kept(a, change)
