"""Inertia forces of a steady motion, and their gyroscopic and stiffness matrices (see :mod:`.tangent`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import skew, spin_skew
from ..arrays import Arrays
from ..continuous import assembled, kinetic_gradient, shifted
from ..gradient import diagonal_of, kept, scale_rows, spin_block, velocity_count
from ..state import Configuration, inertia_products, momenta, rotational_inertia


def inertia_force(a: Arrays, c: Configuration, centripetal: Array) -> Array:
    """Inertia forces of a steady motion on (ṙ, ω, u̇): m a, −p × ω, −∂T/∂u; ``centripetal``: accelerations r̈ (b, d)."""
    p_r, _ = momenta(a, c.omega, c.u, c.du)
    turning = -np.matmul(spin_skew(p_r), c.omega[:, :, None])[a.turning, :, 0]
    return np.concatenate([(a.mass[:, None] * centripetal).ravel(), turning.ravel(), -kinetic_gradient(a, c)])


def inertial(a: Arrays, c: Configuration, spin: Array) -> tuple[Any, Any]:
    """Gyroscopic and stiffness matrices (n_v, n_v) of the inertia forces at a steady world spin (s,)."""
    s, n, bodies = a.n.shape[0], a.body_u.size, len(a.mass)
    if not (spin.any() or c.omega.any()):
        none = kept(a, np.zeros((velocity_count(a),) * 2))
        return none, none
    Pu = inertia_products(a, c.u)
    J, w, turning = rotational_inertia(a, c.u, Pu), spin_skew(c.omega), a.turning
    p = spin_skew(np.einsum("bij,bj->bi", J, c.omega))
    coupling, own = a.n + Pu[1 : 1 + s], c.omega[a.body_u]
    A = 2.0 * np.einsum("abn,nb->an", a.s + Pu[1 + s :].reshape(s, s, -1), own)
    turned = np.einsum("nab,bn->an", w[a.body_u], coupling)  # ω × c
    turned_A = np.einsum("nab,bn->an", w[a.body_u], A)
    frame = np.tile(skew(spin[None], a.dim), (bodies, 1, 1))
    mass = a.mass[:, None, None]
    C_spin, K_spin = (J @ w + w @ J - p)[turning], (w @ J @ w - p @ w)[turning]
    C_across, K_across = spin_block(a, A + turned), spin_block(a, turned_A)
    C_uu, K_uu = (kept(a, np.zeros((n, n))) for _ in range(2))
    for i in range(s if n else 0):
        C_uu = C_uu + scale_rows(shifted(a, 1 + i), 2.0 * own[:, i])
        for j in range(s):
            K_uu = K_uu - scale_rows(shifted(a, 1 + s + i * s + j), own[:, i] * own[:, j])
    K_below = spin_block(a, -np.einsum("an,nab->bn", A, w[a.body_u])).T  # −Aᵀ[ω]×
    C = assembled((diagonal_of(a, 2.0 * mass * frame), diagonal_of(a, C_spin)), (C_across, -C_across.T), C_uu)
    K = assembled((diagonal_of(a, mass * frame @ frame), diagonal_of(a, K_spin)), (K_across, K_below), K_uu)
    return C, K
