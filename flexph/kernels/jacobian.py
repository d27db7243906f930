"""Analytic Jacobian of the step residual, and its solution, dense or sparse.

The unknowns are ordered (ṙ̄, ω̄ of turning bodies, u̇̄, hλ); constraint rows are divided by h, so that both
off-diagonal blocks have the size of lengths. With B the discrete gradient of the vectors, W = ∂(end vectors)/∂(mean
velocities), β and γ the gradients of the products at the mean and at the end, Θ the stiffness of the products,

    K = [[F − h Bᵀ Θ W, −(c̄ β B)ᵀ], [c₁ γ W/h, 0]].

Small systems form K. Large ones keep the end vectors and the shift φ̄u̇̄ as further unknowns: nothing is filled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from ..numerics.arrays import Array
from ..numerics.factors.low_rank import without_product
from ..numerics.rotations import cross, mean_rotation, spin_skew, turned_back, unit_sweeps
from .arrays import Arrays
from .decay import correction
from .gradient import (
    block_diagonal,
    body_levers,
    is_sparse,
    node_rows,
    placed,
    product_gradient,
    pull,
    row_weights,
    scale_rows,
    section_rows,
    spin_block,
    velocity_count,
    velocity_slices,
    with_spins,
)
from .rolling import stiffness, weights
from .springs import tangent
from .state import body_spins, contracted, rotational_inertia
from .step import end_momenta, section_torques
from .values import Means, Point, SingularStep, Solve

FEW = 30
"""Rank of the product that is subtracted from a sparse matrix, up to which Woodbury's formula brings it in."""


def factor(a: Arrays, at: Point) -> Solve:
    """Factor the Jacobian at a trial; returns the map from defects to corrections."""
    if at.schedule.block is not None:
        return at.schedule.block.factor(a, at)
    return sparse_factor(a, at) if is_sparse(a) else _dense_factor(a, at)


def flatten(a: Arrays, x: Means) -> Array:
    """Mean velocities as one vector, the spins of point masses left out."""
    return np.concatenate(_parts(a, x))


def _parts(a: Arrays, x: Means) -> list[Array]:
    return [x.v.ravel(), x.omega.take(a.turning, axis=0).ravel(), x.du]


def unflatten(a: Arrays, y: Array, lam: Array) -> Means:
    """The inverse of :func:`flatten`."""
    omega, u = velocity_slices(a)
    spin = np.zeros(a.columns.omega.shape)
    spin[a.turning] = y[omega].reshape(-1, a.n.shape[0])
    return Means(y[: omega.start].reshape(a.weight.shape), spin, y[u], lam)


def _weighted_stack(stack: Any, a: Arrays, at: Point) -> Any:
    """2M + 2hω̄N − ½h²ω₀ω₁K of the stacked inertia products, or of their shift."""
    n, s, h = a.body_u.size, a.n.shape[0], at.h
    w0, w1 = body_spins(a, at.start.omega), body_spins(a, at.trial.end.omega)
    weighted = 2.0 * stack[:n]
    for i in range(s):
        weighted = weighted + scale_rows(stack[(1 + i) * n : (2 + i) * n], h * (w0 + w1)[i])
        for j in range(s):
            k = 1 + s + i * s + j
            weighted = weighted - scale_rows(stack[k * n : (k + 1) * n], 0.5 * h * h * w0[i] * w1[j])
    return weighted


def _flexible(a: Arrays, at: Point) -> Any:
    """∂r_u/∂u̇̄: inertia + h(½h geometric + D̄ᵀ(½h + β)C⁻¹D₁) + hα M."""
    h, t = at.h, at.trial
    mean, stress, stiff = a.strain, a.rise, a.viscous
    if t.slope.size:
        mean = mean + a.weights @ scale_rows(a.slopes, t.slope)
        stress = stress + a.bend @ scale_rows(a.slopes, 2.0 * t.slope - at.known.slope)
        stiff = stiff + a.slopes.T @ scale_rows(a.slopes, 0.5 * h * (a.weights.T @ t.stress))
    softened = scale_rows(stress, 0.5 * h + a.stress_damping)
    if at.schedule.decay is not None:
        softened = softened + h * at.schedule.decay.softening @ stress
    return _weighted_stack(a.stack, a, at) + h * (mean.T @ softened + stiff)


def rigid_blocks(a: Arrays, at: Point) -> tuple[Array, Array, Array]:
    """∂r_ω/∂ω̄ (b, s, s), ∂r_ω/∂u̇̄ (s, n) and ∂r_u/∂ω̄ (s, n), without what changes with node forces."""
    s, h, t = a.n.shape[0], at.h, at.trial
    w0, w1 = body_spins(a, at.start.omega), body_spins(a, t.end.omega)
    square_1 = a.s + t.Pu[1 + s :].reshape(a.s.shape)
    square_mean = a.s + t.Pmean[1 + s :].reshape(a.s.shape)
    coupling = 2.0 * (a.n + t.Pu[1 : 1 + s])
    spin = 2.0 * rotational_inertia(a, t.end.u, t.Pu)
    spin_u = coupling + h * (2.0 * contracted(square_1, w1) - t.Pdu[1 : 1 + s])
    u_spin = coupling - h * (2.0 * contracted(square_mean, w0) - at.known.Pdu[1 : 1 + s])
    if s == 1:
        return spin, spin_u, u_spin
    through = np.eye(s) + 0.5 * h * spin_skew(at.spin)  # p̄_r × ω̄ changes with p_r₁
    turned = 0.5 * (at.known.p_r + end_momenta(a, t)[0]) + 0.5 * h * turned_back(
        at.start.R, t.world_torque
    )  # and R̄⁻¹ too
    spin = through @ spin - h * spin_skew(turned)
    if a.torque_body.size:
        torques = np.einsum("tji,tj->ti", at.start.R[a.torque_body], section_torques(a, t.loads))
        changed = np.einsum("sij,tj->tis", cross(a.dim), torques).reshape(-1, s)
        u_spin = u_spin + 0.5 * h * h * (a.torque_shape.T @ changed).T
    return spin, np.einsum("nab,bn->an", through.take(a.body_u, axis=0), spin_u), u_spin


def _node_blocks(a: Arrays, at: Point) -> tuple[Array, Array, Array]:
    """∂(R₁x₁)/∂ω̄ (k, s, d); torque rows −½h R̄⁻¹(· × f) (k, s, d); −h ∂R̄⁻¹/∂ω̄ f (k, s, d).

    The first is h R̄(e_s × R̄ᵀR₁x₁).
    """
    h, t, R0 = at.h, at.trial, at.start.R
    mean = mean_rotation(R0, 0.5 * h * at.spin).take(a.node_body, axis=0)
    arm_omega = h * np.matmul(unit_sweeps(turned_back(mean, t.arm)), mean.transpose(0, 2, 1))
    body_force = turned_back(R0.take(a.node_body, axis=0), t.node_force)
    return arm_omega, 0.5 * h * body_levers(a, t.inverse, t.node_force), 0.5 * h * h * unit_sweeps(body_force)


def _node_gradients(a: Arrays, at: Point, arm_omega: Array) -> tuple[Any, Any]:
    """Discrete gradient B and end derivative W of the nodes, (k·d, n_v)."""
    t, h = at.trial, at.h
    mean_frame = t.inverse.transpose(0, 2, 1).take(a.node_body, axis=0)
    return (
        node_rows(a, body_levers(a, t.inverse, t.lever), mean_frame),
        node_rows(a, arm_omega, (h * t.end.R).take(a.node_body, axis=0), h),
    )


def _following(a: Arrays, at: Point, B: Any, W: Any) -> Any:
    """h Bᵀ δ(loads that follow their sections), (n_v, n_v), from the node rows B and W; None where there are none.

    A load f on the mean directions ½(d₀ + d₁) of its section changes by ½ Σ f_j δd_j.
    """
    if not a.follow_input.size:
        return None
    change = load_changes(a, 0.5 * at.schedule.inputs, W)
    on_nodes = B.T @ (a.input_node @ change)
    on_sections = _section_rows(a, at).T @ (a.input_torque @ change)
    stiffness = at.h * (on_nodes + on_sections)
    return sparse.csr_array(stiffness) if is_sparse(a) else stiffness


def load_changes(a: Arrays, inputs: Array, moved: Any) -> Any:
    """Σ f_j δd_j of the inputs f that follow a section, (i, n), from the rows (k·d, n) that move its directions d_j."""
    d = a.dim
    rows = (d * a.follow_node[:, :, None] + np.arange(d)).ravel()  # directions j of each load, components i
    cols = np.broadcast_to(a.follow_input[:, None, :], (*a.follow_node.shape, d)).ravel()
    values = np.repeat(inputs[a.follow_input].ravel(), d)
    return sparse.csr_array((values, (cols, rows)), shape=(inputs.size, moved.shape[0])) @ moved


def _section_rows(a: Arrays, at: Point) -> Any:
    """World spins R̄⁻ᵀ(ω + ψu̇) of the sections that take torques, (t·s, n_v)."""
    sections = section_rows(a, np.swapaxes(at.trial.inverse, 1, 2))
    return sections if is_sparse(a) else sections.toarray()


def _swaps(a: Arrays, at: Point) -> Any:
    """Stiffness of the products as vectors, in every direction alike: a force φ on V·W acts with φW on V, (v, v)."""
    swap = a.select_first.T @ scale_rows(a.select_second, 0.5 * at.trial.product_force)
    return swap + swap.T


def _springs(a: Arrays, at: Point) -> Any:
    """Stiffness on the products, (p, p), of the spring-dampers and of weighed forces; None where there are none."""
    if not (a.springs.stiffness.size or a.rolling.row.size):
        return None
    stiffened = tangent(
        a.springs, at.trial.measured, at.h, (at.known.product, at.trial.product), stuck=at.schedule.stuck
    )
    if a.rolling.row.size:
        stiffened += 0.5 * stiffness(a, at.trial.lam)
    return sparse.csr_array(stiffened) if is_sparse(a) else stiffened


def _product_stiffness(a: Arrays, at: Point) -> Any:
    """Θ with δ(force on vectors) = Θ δ(end vectors) at constant multipliers, sparse (v·d, v·d)."""
    t, springs = at.trial, _springs(a, at)
    theta = sparse.kron(_swaps(a, at), np.eye(a.dim))
    if springs is None:
        return theta
    return theta + product_gradient(a, t.vector_mean).T @ springs @ product_gradient(a, t.vector)


def _constraint_weights(a: Arrays, at: Point) -> tuple[Any, Any]:
    """c̄ and c₁/h, (g, p): weights of the forces on products, and of their values at the end."""
    s, t = at.schedule, a.rolling
    mean = row_weights(a, s.coefficient_mean)
    last = row_weights(a, s.coefficient_1 / at.h)
    if not t.row.size:
        return mean, last
    gain, change = at.trial.gain, at.trial.product - at.known.product
    moved, weighed = weights(a, gain, t.product), weights(a, 0.5 * t.weight * change.take(t.product), t.by)
    return mean + moved, last + (moved + weighed) / at.h


def _dense_factor(a: Arrays, at: Point) -> Solve:
    (cv, cw, cu), size = a.columns, velocity_count(a)
    omega, u = velocity_slices(a)
    K = np.zeros((size + at.trial.gap.size,) * 2)
    K[cv, cv] = 2.0 * a.mass[:, None]
    spin, spin_u, u_spin = rigid_blocks(a, at)
    own = cw.take(a.turning, axis=0)
    K[own[:, :, None], own[:, None, :]] = spin.take(a.turning, axis=0)
    if cu.size:
        own_u = cw.take(a.body_u, axis=0).T
        K[u, u], K[own_u, cu], K[cu, own_u] = _flexible(a, at), spin_u, u_spin
    if at.schedule.decay is not None:
        K[omega.start : size, omega.start : size] += correction(a, at, at.schedule.decay)
    if a.node_body.size:
        add_nodes(a, at, K, size)
    lu, pivots, info = lapack.dgetrf(K.T, overwrite_a=True)  # K by columns is its transpose by rows
    if info > 0:
        raise SingularStep("the Jacobian of the step is singular")

    def solve(defect: Means) -> Means:
        y, _ = lapack.dgetrs(lu, pivots, np.concatenate([*_parts(a, defect), defect.lam / at.h]), trans=1)
        return unflatten(a, y[:size], y[size:] / at.h)

    return solve


def add_nodes(a: Arrays, at: Point, K: Array, size: int) -> None:
    """Add what node forces and constraints contribute to K (in place)."""
    arm_omega, torque, inverse = _node_blocks(a, at)
    B, W = _node_gradients(a, at, arm_omega)
    _add_turning(a, K, W, (torque, inverse))
    following = _following(a, at, B, W)
    if following is not None:
        K[:size, :size] -= following
    B, W = pull(a, B), pull(a, W)
    beta, gamma = product_gradient(a, at.trial.vector_mean) @ B, product_gradient(a, at.trial.vector) @ W
    swapped = (_swaps(a, at) @ W.reshape(len(a.vector_fixed), a.dim * size)).reshape(W.shape)
    K[:size, :size] -= B.T @ (at.h * swapped)
    springs = _springs(a, at)
    if springs is not None:
        K[:size, :size] -= beta.T @ (at.h * springs @ gamma)
    mean, last = _constraint_weights(a, at)
    K[:size, size:] = -at.schedule.combined(with_spins(a, mean @ beta, at.trial.inverse.transpose(0, 2, 1))).T
    K[size:, :size] = at.schedule.combined(with_spins(a, last @ gamma, at.start.R))


def _add_turning(a: Arrays, K: Array, W: Array, blocks: tuple[Array, Array]) -> None:
    """Add that the levers and R̄⁻¹ of the bodies that turn change under the forces on their nodes (in place)."""
    (omega, u), nodes, (torque, inverse) = velocity_slices(a), a.node_position.shape, blocks
    relative = slice(omega.start, u.stop)
    K[omega, relative] += _by_body(a, np.matmul(torque, W.reshape(*nodes, u.stop)[:, :, relative]))
    if a.body_u.size:
        K[u, omega] += _by_body(a, np.matmul(inverse, a.node_shape.reshape(*nodes, a.body_u.size))).T


def _by_body(a: Arrays, by_node: Array) -> Array:
    """Rows of the spins of the bodies that turn from those of their nodes, (k, s, x) to (spins, x)."""
    k, s, width = by_node.shape
    summed: Array = (a.sum_nodes @ by_node.reshape(k, s * width)).take(a.turning, axis=0)
    return summed.reshape(a.turning.size * s, width)


def sparse_factor(a: Arrays, at: Point) -> Solve:
    """Extended system in (ṙ̄, ω̄, u̇̄ | hλ | end vectors | φ̄u̇̄ and borders): every block stays sparse.

    The last unknowns are left to :func:`_bordered` where they are few.
    """
    nodes = _node_gradients(a, at, _node_blocks(a, at)[0])
    following, (B, W) = _following(a, at, *nodes), (pull(a, rows) for rows in nodes)
    body = _sparse_body(a, at) if following is None else _sparse_body(a, at) - following
    gradients = (product_gradient(a, vector) for vector in (at.trial.vector_mean, at.trial.vector))
    mean, last = (weight @ gradient for weight, gradient in zip(_constraint_weights(a, at), gradients, strict=True))
    combined, size, n = at.schedule.combined, body.shape[0], a.body_u.size
    acting = combined(with_spins(a, mean @ B, at.trial.inverse.transpose(0, 2, 1)))
    spins = combined(with_spins(a, sparse.csr_array((mean.shape[0], size)), at.start.R))
    last, rows = combined(last), acting.shape[0]
    shift, r = _weighted_stack(a.border_stack, a, at), a.border.shape[0]
    K = sparse.block_array(
        [
            [body, -acting.T, -at.h * (B.T @ _product_stiffness(a, at))],
            [spins if a.rolling.spin_row.size else None, None, last],
            [-W, None, sparse.eye_array(W.shape[0])],
        ]
    )
    total = K.shape[0]
    below = sparse.csr_array((total - size, r))
    left = sparse.vstack([sparse.csr_array((size - n, r)), shift, below])
    right = sparse.hstack([sparse.csr_array((r, size - n)), a.border, below.T])
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


def _bordered(K: Any, left: Any, right: Any) -> Callable[[Array], Array]:
    """Solutions with K − left right: by Woodbury's formula where the rank is low, else by an extended matrix.

    RuntimeError where it is singular.
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
    arm_omega, torque, inverse = _node_blocks(a, at)
    rows, inward, moves = placed(a, torque).T, placed(a, inverse), a.translating
    turned = rows @ block_diagonal(at.h * at.trial.end.R[a.node_body])
    w_u = spin_block(a, spin_u) + turned @ a.node_shape - (turned @ moves) @ a.mean
    u_w = spin_block(a, u_spin).T + a.node_shape.T @ inward - a.mean.T @ (moves.T @ inward)
    w_w = block_diagonal(spin[a.turning]) + rows @ placed(a, arm_omega)
    mass = sparse.diags_array(np.repeat(2.0 * a.mass, a.dim))
    return sparse.block_array([[mass, None, None], [None, w_w, w_u], [None, u_w, _flexible(a, at)]]).tocsr()
