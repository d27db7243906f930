"""Coordinates q = (r, ρ, u) and velocities v = (ṙ, ω, u̇) of a small mechanism, and derivatives of its nodes; dense.

A rotation is linear in its stored entries ρ, so that positions r + R(X + φu) of nodes are bilinear in ρ and u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.arrays import Arrays, Index
from ...kernels.gradient import velocity_count
from ...kernels.state import partners
from ...numerics.arrays import Array
from ...numerics.rotations import cross, entries, entry_count, from_entries


class Coordinates(NamedTuple):
    """Indices of r, ρ, u in q and of ṙ, ω, u̇ in v, and the matrices basis_e that give rotations R = Σ_e ρ_e basis_e.

    There are t turning bodies, and e entries of each rotation; ``turned[s, f]`` (e,) are the entries of basis_f [e_s]×,
    with which the spin about axis s changes the entry f.
    """

    positions: int  # n_q
    velocities: int  # n_v
    flexible: int  # n, the last of both
    entry: Index  # (t, e) columns of ρ in q
    spin: Index  # (t, s) columns of ω in v
    own: Index  # (s, n) columns of the ω that belong to each u̇
    basis: Array  # (e, d, d)
    turned: Array  # (s, e, e)
    node: Index  # (k',) nodes on bodies that turn
    node_entry: Index  # (k', e) columns of their ρ in q
    moves: Array  # (k, d, n_q), ∂x/∂r of all nodes
    level: Array  # (n_q, n_v), Z without spins

    def rotations(self, rho: Array) -> Array:
        """Rotation matrices (t, d, d) of the t bodies that turn, from their entries ρ (t, e) in the coordinates q."""
        d = self.basis.shape[1]
        return (rho @ self.basis.reshape(-1, d * d)).reshape(-1, d, d)

    def rates(self, rho: Array) -> Array:
        """Kinematic matrix Z (n_q, n_v) that maps velocities v to rates q̇ = Z v of the coordinates.

        It depends on the rotations alone, given by their entries ρ (t, e).
        """
        rate = self.level.copy()
        rate[self.entry[:, :, None], self.spin[:, None, :]] = np.einsum("sfe,tf->tes", self.turned, rho)
        return rate

    def rates_along(self, v: Array) -> Array:
        """Derivative ∂(Z v)/∂q (n_q, n_q) with respect to the coordinates q, at constant velocities v (n_v,)."""
        slope = np.zeros((self.positions,) * 2)
        slope[self.entry[:, :, None], self.entry[:, None, :]] = np.einsum("sfe,ts->tef", self.turned, v[self.spin])
        return slope

    def rates_across(self, g: Array) -> Array:
        """Derivative ∂(Zᵀg)/∂q (n_v, n_q) with respect to the coordinates q, at constant g (n_q,).

        g may be a gradient of the energy with respect to q.
        """
        slope = np.zeros((self.velocities, self.positions))
        slope[self.spin[:, :, None], self.entry[:, None, :]] = np.einsum("sfe,te->tsf", self.turned, g[self.entry])
        return slope


def coordinates(a: Arrays) -> Coordinates:
    """Indices and constant matrices of the coordinates q and velocities v of a mechanism, from its kernel arrays."""
    cv, cw, cu = a.columns
    count, s, n = entry_count(a.dim), a.n.shape[0], a.body_u.size
    positions = cv.size + count * a.turning.size + n
    basis = np.array([from_entries(e, a.dim) for e in np.eye(count)])
    entry = np.full((len(a.mass), count), -1)
    entry[a.turning] = cv.size + np.arange(count * a.turning.size).reshape(-1, count)
    node = np.flatnonzero(entry[a.node_body, 0] >= 0)
    moves = np.zeros((a.node_body.size, a.dim, positions))
    for i in range(a.dim):
        moves[np.arange(a.node_body.size), i, cv[a.node_body, i]] = a.node_moves
    level = np.zeros((positions, velocity_count(a)))
    level[cv, cv] = 1.0
    level[positions - n + np.arange(n), cu] = 1.0
    return Coordinates(
        positions=positions,
        velocities=level.shape[1],
        flexible=n,
        entry=entry[a.turning],
        spin=cw[a.turning],
        own=cw[a.body_u].T.reshape(s, n),
        basis=basis,
        turned=np.moveaxis(np.array([[entries(f @ x) for x in cross(a.dim)] for f in basis]), 0, 1),
        node=node,
        node_entry=entry[a.node_body[node]],
        moves=moves,
        level=level,
    )


def node_slopes(a: Arrays, k: Coordinates, R: Array, local: Array, *, moves: Array | None = None) -> Array:
    """Derivatives of r + R (X + φu) with respect to q for all k nodes, (k, d, n_q).

    R (b, d, d) are the rotations, ``local`` = X + φu (k, d). ``moves`` are the derivatives with respect to r; by
    default zero, as for vectors that do not move with the centre.
    """
    slope = np.zeros(k.moves.shape) if moves is None else moves.copy()
    slope[k.node[:, None], :, k.node_entry] = np.einsum("eij,kj->kei", k.basis, local[k.node])
    if k.flexible:
        slope[:, :, -k.flexible :] = R[a.node_body] @ a.node_shape.reshape(-1, a.dim, k.flexible)
    return slope


def turned_forces(a: Arrays, k: Coordinates, force: Array) -> Array:
    """Second derivative (n_q, n_q) with respect to q of Σ f·x, with constant forces f (k, d) on the nodes x."""
    slope = np.zeros((k.positions,) * 2)
    if k.flexible and k.node.size:
        shape = a.node_shape.reshape(-1, a.dim, k.flexible)[k.node]
        block = np.einsum("ki,eij->kej", force[k.node], k.basis) @ shape
        np.add.at(slope[:, -k.flexible :], k.node_entry, block)
        slope[-k.flexible :] += slope[:, -k.flexible :].T
    return slope


def product_rows(a: Arrays, vector: Array, moved: Array) -> Array:
    """Variations V·δW + δV·W of all products, (p, n), from the vectors (v, d) and their n variations δ (v, d, n)."""
    on_first, on_second = partners(a, vector)
    return (on_first[:, None] @ moved[a.first] + on_second[:, None] @ moved[a.second])[:, 0]
