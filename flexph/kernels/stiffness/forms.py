"""Matrices over all velocities, or over products, from what loads, springs and spins have of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array, sparse_block_diag, sparse_blocks
from ..arrays import Arrays
from ..gradient import block_diagonal


def below(a: Arrays, block: Any) -> Any:
    """A block that ends with the flexible coordinates, as a matrix over all velocities, sparse (n_v, n_v)."""
    above = len(a.mass) * a.dim + a.turning.size * a.n.shape[0] + a.body_u.size - block.shape[0]
    return sparse_block_diag([sparse.csr_array((above, above)), block])


def on_measures(a: Arrays, length: Array, angle: tuple[Array, Array, Array]) -> Any:
    """A quadratic form over the products of lengths and angles of springs, symmetric, sparse (p, p).

    The coefficients of ``angle`` are those of the squares of sine and cosine, and of their product.
    """
    sine, cosine, mixed = angle
    at, i, j, count = a.springs.length_product, a.springs.sine_product, a.springs.cosine_product, a.first.size
    rows, columns = np.concatenate([at, i, j, i, j]), np.concatenate([at, i, j, j, i])
    values = np.concatenate([length, sine, cosine, mixed, mixed])
    return sparse.coo_array((values, (rows, columns)), shape=(count, count)).tocsr()


def on_vectors(a: Arrays, on_product: Array, pulled: Any) -> Any:
    """What forces on products (p,) change as the vectors of these move, sparse (n_v, n_v)."""
    swap = sparse.csr_array(a.select_first).T @ sparse.diags_array(on_product) @ sparse.csr_array(a.select_second)
    return pulled.T @ sparse.kron(swap + swap.T, sparse.eye_array(a.dim)) @ pulled


def on_spins(a: Arrays, own: Array, across: Any, back: Any) -> Any:
    """A matrix over all velocities from blocks on the spins of each body (b, s, s), across to u, and back."""
    n = a.body_u.size
    spins = block_diagonal(own[a.turning])
    at = spins.shape[0]
    return below(a, sparse_blocks((at + n,) * 2, [(0, 0, spins), (0, at, across), (at, 0, back)]))


def torque_columns(a: Arrays, turned: Array) -> Any:
    """ψᵀ[τ]× of the sections on the spins of their bodies, sparse (n, spins)."""
    s, t = a.n.shape[0], a.torque_body.size
    place = np.full(len(a.mass), -1)
    place[a.turning] = np.arange(a.turning.size)
    rows = np.broadcast_to(np.arange(t * s).reshape(t, s, 1), turned.shape)
    cols = np.broadcast_to(s * place[a.torque_body][:, None, None] + np.arange(s), turned.shape)
    spread = sparse.csr_array((turned.ravel(), (rows.ravel(), cols.ravel())), shape=(t * s, a.turning.size * s))
    return sparse.csr_array(a.torque_shape).T @ spread


def following(a: Arrays, motion: Any, sections: Any, inputs: Array) -> Any:
    """Loads that follow a section turn with it: of motions of nodes (k·d, n_v) and rotations of sections (t·s, n_v)."""
    size = motion.shape[1]
    if not a.follow_input.size:
        return sparse.csr_array((size, size))
    change = sparse.lil_array((inputs.size, size))
    for own, nodes in zip(a.follow_input, a.follow_node, strict=True):
        for value, node in zip(inputs[own], nodes, strict=True):
            change[own] += value * motion[node * a.dim + np.arange(a.dim)]
    on = motion.T @ sparse.csr_array(a.input_node) + sections.T @ sparse.csr_array(a.input_torque)
    return on @ sparse.csr_array(change)
