"""Parts of the tangent stiffness: matrices of loads, springs, spins, and inertia forces of a steady motion.

They are over all velocities (n_v, n_v), or over the products that define springs (p, p)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array, dense
from ...numerics.rotations import skew, spin_skew
from ..arrays import Arrays
from ..continuous import assembled, kinetic_gradient, shifted
from ..gradient import blocks_of, diagonal_of, entries_of, is_sparse, kept, scale_rows, spin_block, velocity_count
from ..state import QUARTER_TURN, Configuration, inertia_products, momenta, rotational_inertia


def in_last_velocities(a: Arrays, block: Any) -> Any:
    """Matrix (n_v, n_v) over all velocities that is zero except for a given block in its last rows and columns.

    The block is over u̇, or over the spins of all bodies and u̇.
    """
    size = velocity_count(a)
    return blocks_of(a, (size, size), [(size - block.shape[0], size - block.shape[0], block)])


def on_measures(a: Arrays, length: Array, angle: tuple[Array, Array, Array]) -> Any:
    """Sparse symmetric matrix (p, p) over the products that define the lengths and angles of springs.

    Its diagonal has ``length`` at the products of lengths, and the first two of ``angle`` at the sine and cosine
    products of angles. The third of ``angle`` couples the sine and the cosine product of each angle.
    """
    sine, cosine, mixed = angle
    at, i, j, count = a.springs.length_product, a.springs.sine_product, a.springs.cosine_product, a.first.size
    rows, columns = np.concatenate([at, i, j, i, j]), np.concatenate([at, i, j, j, i])
    values = np.concatenate([length, sine, cosine, mixed, mixed])
    return sparse.coo_array((values, (rows, columns)), shape=(count, count)).tocsr()


def on_vectors(a: Arrays, on_product: Array, pulled: Any) -> Any:
    """Derivative (n_v, n_v), with respect to displacements ξ, of the generalised force of given forces on products.

    The forces on the products, ``on_product`` (p,), are constant; their directions change with the vectors. ``pulled``
    (v·d, n_v) is the Jacobian of the vectors. The sign is that of the force, not of a stiffness.
    """
    if is_sparse(a):
        crossed = np.zeros(on_product.size)
        crossed[a.crossed] = 1.0
        plain, turned = (
            a.select_first.T @ sparse.diags_array(on_product * share) @ a.select_second
            for share in (1.0 - crossed, crossed)
        )
        whole = sparse.kron(plain + plain.T, sparse.eye_array(a.dim))
        if a.crossed.size:
            whole = whole + sparse.kron(turned, QUARTER_TURN.T) + sparse.kron(turned.T, QUARTER_TURN)
        return pulled.T @ whole @ pulled
    loaded = np.flatnonzero(on_product)
    moved, width = pulled.reshape(-1, a.dim, pulled.shape[1]), pulled.shape[1]
    first, second = (moved[side[loaded]] for side in (a.first, a.second))
    if a.crossed.size:
        turned_too = np.isin(loaded, a.crossed)
        first[turned_too] = np.einsum("ij,pjn->pin", QUARTER_TURN, first[turned_too])
    swap = first.reshape(-1, width).T @ (on_product[loaded, None, None] * second).reshape(-1, width)
    return swap + swap.T


def on_spins(a: Arrays, spin_blocks: Array, across: Any, back: Any) -> Any:
    """Matrix (n_v, n_v) over all velocities with blocks on the spins of the bodies, and between spins and u̇.

    ``spin_blocks`` (b, s, s) are diagonal blocks, ``across`` (spins, n) has the rows of the spins and the columns of
    u̇, and ``back`` (n, spins) those of u̇ and the spins.
    """
    n, spins = a.body_u.size, diagonal_of(a, spin_blocks[a.turning])
    at = spins.shape[0]
    return in_last_velocities(a, blocks_of(a, (at + n,) * 2, [(0, 0, spins), (0, at, across), (at, 0, back)]))


def torque_columns(a: Arrays, turned: Array) -> Any:
    """Matrix ψᵀ[τ]× (n, spins): change of generalised forces on u̇ as bodies turn under section torques τ.

    ``turned`` (t, s, s) are the matrices [τ]× of the sections, in body axes.
    """
    s, t = a.n.shape[0], a.torque_body.size
    place = np.full(len(a.mass), -1)
    place[a.turning] = np.arange(a.turning.size)
    rows = np.broadcast_to(np.arange(t * s).reshape(t, s, 1), turned.shape)
    cols = np.broadcast_to(s * place[a.torque_body][:, None, None] + np.arange(s), turned.shape)
    return a.torque_shape.T @ entries_of(a, (t * s, a.turning.size * s), turned, rows, cols)


def following_load_slopes(a: Arrays, motion: Any, sections: Any, inputs: Array) -> Any:
    """Derivative (n_v, n_v), with respect to ξ, of the generalised force of inputs that follow a section.

    ``motion`` (k·d, n_v) is the Jacobian of the nodes and ``sections`` (t·s, n_v) that of section rotations.
    """
    size = motion.shape[1]
    if not a.follow_input.size:
        return kept(a, np.zeros((size, size)))
    change = np.zeros((inputs.size, size))
    for inputs_of, nodes in zip(a.follow_input, a.follow_node, strict=True):
        for value, node in zip(inputs[inputs_of], nodes, strict=True):
            change[inputs_of] += value * dense(motion[node * a.dim + np.arange(a.dim)])
    return (motion.T @ a.input_node + sections.T @ a.input_torque) @ kept(a, change)


def inertia_force(a: Arrays, c: Configuration, centripetal: Array) -> Array:
    """Inertia forces (n_v,) on (ṙ, ω, u̇) in a steady motion: m r̈, −p × ω and −∂T/∂u.

    ``centripetal`` (b, d) are the accelerations r̈ of the centres of mass; p are the angular momenta.
    """
    p_r, _ = momenta(a, c.omega, c.u, c.du)
    turning = -np.matmul(spin_skew(p_r), c.omega[:, :, None])[a.turning, :, 0]
    return np.concatenate([(a.mass[:, None] * centripetal).ravel(), turning.ravel(), -kinetic_gradient(a, c)])


def inertia_force_matrices(a: Arrays, c: Configuration, spin: Array) -> tuple[Any, Any]:
    """Matrices (n_v, n_v) by which inertia forces change with ξ̇ and with ξ about a steady motion with world spin (s,).

    The first is gyroscopic, the second a (centrifugal) stiffness.
    """
    s, n, bodies = a.n.shape[0], a.body_u.size, len(a.mass)
    if not (spin.any() or c.omega.any()):
        none = kept(a, np.zeros((velocity_count(a),) * 2))
        return none, none
    Pu = inertia_products(a, c.u)
    J, w, turning = rotational_inertia(a, c.u, Pu), spin_skew(c.omega), a.turning
    p = spin_skew(np.einsum("bij,bj->bi", J, c.omega))
    coupling, spin_of_u = a.n + Pu[1 : 1 + s], c.omega[a.body_u]
    A = 2.0 * np.einsum("abn,nb->an", a.s + Pu[1 + s :].reshape(s, s, -1), spin_of_u)
    turned = np.einsum("nab,bn->an", w[a.body_u], coupling)  # ω × c
    turned_A = np.einsum("nab,bn->an", w[a.body_u], A)
    frame = np.tile(skew(spin[None], a.dim), (bodies, 1, 1))
    mass = a.mass[:, None, None]
    C_spin, K_spin = (J @ w + w @ J - p)[turning], (w @ J @ w - p @ w)[turning]
    C_across, K_across = spin_block(a, A + turned), spin_block(a, turned_A)
    C_uu, K_uu = (kept(a, np.zeros((n, n))) for _ in range(2))
    for i in range(s if n else 0):
        C_uu = C_uu + scale_rows(shifted(a, 1 + i), 2.0 * spin_of_u[:, i])
        for j in range(s):
            K_uu = K_uu - scale_rows(shifted(a, 1 + s + i * s + j), spin_of_u[:, i] * spin_of_u[:, j])
    K_below = spin_block(a, -np.einsum("an,nab->bn", A, w[a.body_u])).T  # −Aᵀ[ω]×
    C = assembled((diagonal_of(a, 2.0 * mass * frame), diagonal_of(a, C_spin)), (C_across, -C_across.T), C_uu)
    K = assembled((diagonal_of(a, mass * frame @ frame), diagonal_of(a, K_spin)), (K_across, K_below), K_uu)
    return C, K
