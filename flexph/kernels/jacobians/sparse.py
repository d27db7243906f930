"""Sparse Jacobian of a step, for large mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...numerics.arrays import Array
from ...numerics.factors.low_rank import without_product
from ..arrays import Arrays
from ..gradient import block_diagonal, placed, product_gradient, pull, spin_block, velocity_count, with_spins
from ..values import Means, Point, SingularStep, Solve
from .blocks import (
    constraint_weights,
    flatten,
    flexible_block,
    following_loads,
    node_blocks,
    node_gradients,
    product_stiffness,
    rigid_blocks,
    unflatten,
    weighted_stack,
)
from .cells import joints_alone, solid_stiffness
from .contacts import contact_stiffness

FEW = 30
"""Largest rank of the product subtracted from a sparse matrix for which Woodbury's formula is used."""


class Extended(NamedTuple):
    """The matrix K − ``left`` ``right`` over (ṙ̄, ω̄, u̇̄ | hλ | end vectors), and the number of rows hλ."""

    K: Any
    left: Any
    right: Any
    rows: int


def sparse_jacobian(a: Arrays, at: Point) -> Extended:
    """Extended system in (ṙ̄, ω̄, u̇̄ | hλ | end vectors), whose blocks are all sparse.

    Vectors of strains, which are many and each depend on few neighbouring nodes, are eliminated.
    """
    nodes = node_gradients(a, at, node_blocks(a, at)[0])
    solid = None
    if a.strains.cells is not None:
        solid = sparse.csr_array(solid_stiffness(a, at, *nodes))
        a, at = joints_alone(a, at)
    stiff = None if at.trial.touch is None else contact_stiffness(a, at, *nodes)
    following, (B, W) = following_loads(a, at, *nodes), (pull(a, rows) for rows in nodes)
    body = _sparse_body(a, at) if following is None else _sparse_body(a, at) - following
    body = body if stiff is None else body + sparse.csr_array(stiff)
    body = body if solid is None else body - solid
    joined, theta = a.dim * _joined(a), product_stiffness(a, at)
    if joined < theta.shape[0]:
        body = body - at.h * (B[joined:].T @ (theta[joined:, joined:] @ W[joined:]))
        B, W, theta = B[:joined], W[:joined], theta[:joined, :joined]
    gradients = (product_gradient(a, vector)[:, :joined] for vector in (at.trial.vector_mean, at.trial.vector))
    mean, last = (weight @ gradient for weight, gradient in zip(constraint_weights(a, at), gradients, strict=True))
    combined, size, n = at.schedule.combined, body.shape[0], a.body_u.size
    acting = combined(with_spins(a, mean @ B, at.trial.inverse.transpose(0, 2, 1)))
    spins = combined(with_spins(a, sparse.csr_array((mean.shape[0], size)), at.start.R))
    last, rows = combined(last), acting.shape[0]
    shift, r = weighted_stack(a.border_stack, a, at), a.border.shape[0]
    K = sparse.block_array(
        [
            [body, -acting.T, -at.h * (B.T @ theta)],
            [spins if a.rolling.spin_row.size else None, None, last],
            [-W, None, sparse.eye_array(W.shape[0])],
        ]
    )
    total = K.shape[0]
    below = sparse.csr_array((total - size, r))
    left = sparse.vstack([sparse.csr_array((size - n, r)), shift, below])
    right = sparse.hstack([sparse.csr_array((r, size - n)), a.border, below.T])
    return Extended(K, left, right, rows)


def sparse_factor(a: Arrays, at: Point) -> Solve:
    """Factor the extended system; the shift φ̄u̇̄ and the borders are included by :func:`_bordered`."""
    (K, left, right, rows), size = sparse_jacobian(a, at), velocity_count(a)
    total = K.shape[0]
    try:
        backward = _bordered(K, left, right)
    except RuntimeError as error:
        raise SingularStep("the Jacobian of the step is singular") from error

    def solve(defect: Means) -> Means:
        rhs = np.zeros(total)
        rhs[:size], rhs[size : size + rows] = flatten(a, defect), defect.lam / at.h
        y = backward(rhs)
        return unflatten(a, y[:size], y[size : size + rows] / at.h)

    return solve


def _joined(a: Arrays) -> int:
    """Number of vectors of joints, springs and loads, which precede those of strains."""
    s = a.strains
    if not s.stress.size:
        return len(a.vector_fixed)
    own = min(int(index[index >= 0].min(initial=a.first.size)) for index in (s.product, s.first, s.second))
    return int(np.minimum(a.first[own:], a.second[own:]).min())


def _bordered(K: Any, left: Any, right: Any) -> Callable[[Array], Array]:
    """Solver for K − left right: by Woodbury's formula for low rank, else by an extended matrix.

    Raises RuntimeError if the matrix is singular.
    """
    size, rank = left.shape
    if rank > FEW:
        whole = sparse.block_array([[K, -left], [-right, sparse.eye_array(rank)]])
        extended = splu(sparse.csc_array(whole), permc_spec="COLAMD")
        return lambda y: extended.solve(np.concatenate([y, np.zeros(rank)]))[:size]
    return without_product(splu(sparse.csc_array(K), permc_spec="COLAMD").solve, left.toarray(), right)


def _sparse_body(a: Arrays, at: Point) -> Any:
    """The velocity block F, without the shift of the flexible coordinates."""
    spin, spin_u, u_spin = rigid_blocks(a, at)
    arm_omega, torque, inverse = node_blocks(a, at)
    rows, inward, moves = placed(a, torque).T, placed(a, inverse), a.translating
    turned = rows @ block_diagonal(at.h * at.trial.end.R[a.node_body])
    w_u = spin_block(a, spin_u) + turned @ a.node_shape - (turned @ moves) @ a.mean
    u_w = spin_block(a, u_spin).T + a.node_shape.T @ inward - a.mean.T @ (moves.T @ inward)
    w_w = block_diagonal(spin[a.turning]) + rows @ placed(a, arm_omega)
    mass = sparse.diags_array(np.repeat(2.0 * a.mass, a.dim))
    return sparse.block_array([[mass, None, None], [None, w_w, w_u], [None, u_w, flexible_block(a, at)]]).tocsr()
