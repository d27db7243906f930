"""Dense Jacobian of a step, for small mechanisms."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ...numerics.arrays import Array
from ..arrays import Arrays
from ..decay import correction
from ..gradient import (
    product_rows,
    pull,
    velocity_count,
    velocity_slices,
    with_spins,
)
from ..strains import bent, changes, gradient, mean_gradient, mean_stiffness
from ..values import Means, Point, SingularStep, Solve
from .blocks import (
    constraint_weights,
    flexible_block,
    following_loads,
    node_blocks,
    node_gradients,
    parts,
    product_tangent,
    rigid_blocks,
    strain_softening,
    swaps,
    unflatten,
)
from .cells import joints_alone, solid_stiffness
from .contacts import contact_stiffness


def dense_jacobian(a: Arrays, at: Point) -> Array:
    """Jacobian K as a dense matrix."""
    (cv, cw, cu), size = a.columns, velocity_count(a)
    omega, u = velocity_slices(a)
    K = np.zeros((size + at.trial.gap.size,) * 2)
    K[cv, cv] = 2.0 * a.mass[:, None]
    spin, spin_u, u_spin = rigid_blocks(a, at)
    own = cw.take(a.turning, axis=0)
    K[own[:, :, None], own[:, None, :]] = spin.take(a.turning, axis=0)
    if cu.size:
        own_u = cw.take(a.body_u, axis=0).T
        K[u, u], K[own_u, cu], K[cu, own_u] = flexible_block(a, at), spin_u, u_spin
    if at.schedule.decay is not None:
        K[omega.start : size, omega.start : size] += correction(a, at, at.schedule.decay)
    if a.node_body.size:
        add_nodes(a, at, K, size)
    return K


def dense_factor(a: Arrays, at: Point) -> Solve:
    """Solver with the factored dense Jacobian."""
    size = velocity_count(a)
    lu, pivots, info = lapack.dgetrf(dense_jacobian(a, at).T, overwrite_a=True)  # by columns is its transpose by rows
    if info > 0:
        raise SingularStep("the Jacobian of the step is singular")

    def solve(defect: Means) -> Means:
        y, _ = lapack.dgetrs(lu, pivots, np.concatenate([*parts(a, defect), defect.lam / at.h]), trans=1)
        return unflatten(a, y[:size], y[size:] / at.h)

    return solve


def add_nodes(a: Arrays, at: Point, K: Array, size: int) -> None:
    """Add the contributions of node forces and constraints to K, in place."""
    arm_omega, torque, inverse = node_blocks(a, at)
    B, W = node_gradients(a, at, arm_omega)
    if a.strains.cells is not None:
        K[:size, :size] -= solid_stiffness(a, at, B, W)
        a, at = joints_alone(a, at)
    _add_turning(a, K, W, (torque, inverse))
    following = following_loads(a, at, B, W)
    if following is not None:
        K[:size, :size] -= following
    if at.trial.touch is not None:
        stiff = contact_stiffness(a, at, B, W)
        if stiff is not None:
            K[:size, :size] += stiff
    B, W = pull(a, B), pull(a, W)
    beta, gamma = product_rows(a, at.trial.vector_mean, B), product_rows(a, at.trial.vector, W)
    swapped = (swaps(a, at) @ W.reshape(len(a.vector_fixed), a.dim * size)).reshape(W.shape)
    K[:size, :size] -= B.T @ (at.h * swapped)
    springs = product_tangent(a, at)
    if springs is not None:
        K[:size, :size] -= beta.T @ (at.h * springs @ gamma)
    if a.strains.stress.size:
        K[:size, :size] += at.h * _strained(a, at, beta, gamma)
    mean, last = constraint_weights(a, at)
    K[:size, size:] = -at.schedule.combined(with_spins(a, mean @ beta, at.trial.inverse.transpose(0, 2, 1))).T
    K[size:, :size] = at.schedule.combined(with_spins(a, last @ gamma, at.start.R))


def _strained(a: Arrays, at: Point, beta: Array, gamma: Array) -> Array:
    """Stiffness of the strain rows (n, n), from the rows (p, n) of the products at the mean and at the end."""
    s, products = a.strains, (at.known.product, at.trial.product)
    mean, last = changes(s, mean_gradient(s, *products), beta), changes(s, gradient(s, products[1]), gamma)
    curved = beta.T @ (bent(s, products, at.trial.stress[s.stress]) @ gamma)
    stiffness: Array = curved + mean.T @ (mean_stiffness(s, products, strain_softening(a, at)) @ last)
    return stiffness


def _add_turning(a: Arrays, K: Array, W: Array, blocks: tuple[Array, Array]) -> None:
    """Add the derivatives of levers and R̄⁻¹ of rotating bodies under their node forces to K, in place."""
    (omega, u), nodes, (torque, inverse) = velocity_slices(a), a.node_position.shape, blocks
    relative = slice(omega.start, u.stop)
    K[omega, relative] += _by_body(a, np.matmul(torque, W.reshape(*nodes, u.stop)[:, :, relative]))
    if a.body_u.size:
        K[u, omega] += _by_body(a, np.matmul(inverse, a.node_shape.reshape(*nodes, a.body_u.size))).T


def _by_body(a: Arrays, by_node: Array) -> Array:
    """Sums of node rows (k, s, x) by body, as rows (spins, x) of the spins of rotating bodies."""
    k, s, width = by_node.shape
    summed: Array = (a.sum_nodes @ by_node.reshape(k, s * width)).take(a.turning, axis=0)
    return summed.reshape(a.turning.size * s, width)
