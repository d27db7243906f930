"""Matrix functions of one floating body about its point P, in the plane and in space ([flex] sec. 3-4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...numerics.rotations import cross, entries, entry_count, from_entries, skew, spins
from ..body import Body, LoadPort
from ..inertia import Contractions, contract


class State(NamedTuple):
    """The state of one body: r_P (d,), R (d, d), u (n,), v_P (d,), ω (s,), u̇ (n,), σ (m,)."""

    r: Array
    R: Array
    u: Array
    v: Array
    omega: Array
    du: Array
    sigma: Array

    @property
    def w(self) -> Array:
        """Velocities (v_P, ω, u̇)."""
        return np.concatenate([self.v, self.omega, self.du])


class FloatingBlocks:
    """E, J, R, B, z and H of one body; d dimensions, s spins, n flexible coordinates, m stresses.

    Everything contracts the mass integrals about P with ``cross(d)``, so that plane and space are one text. Rows and
    columns of velocities are ordered (v_P, ω, u̇); ``edges`` are the borders of the seven parts of the state.
    """

    def __init__(self, body: Body, gravity: Array, form: str, loads: tuple[LoadPort, ...] = ()) -> None:
        self.body, self.gravity, self.form, self.loads = body, gravity, form, loads
        self.d, self.n, self.basis = body.dim, body.size, cross(body.dim)
        self.spins = spins(self.d)
        self.rigid = self.d + self.spins
        self.of: Contractions = contract(body.inertia, about_centre=False)
        self.full = body.momenta == "full"
        k = entry_count(self.d)
        self.edges = np.cumsum([0, self.d, k, self.n, self.d, self.spins, self.n, body.stress_size])
        self.units = from_entries(np.eye(k), self.d)  # R = Σ_e (kept entry e) units[e]

    def read(self, x: Array) -> State:
        """The parts of a state, the rotation as a matrix."""
        r, kept, *rest = np.split(x, self.edges[1:-1])
        return State(r, from_entries(kept, self.d), *rest)

    def turning(self, field: Array) -> Array:
        """The matrix of ω ↦ ω × field, (d, s)."""
        return (self.basis @ field).T

    def bracket(self, spin: Array) -> Array:
        """[p]× among spins, (s, s): zero in the plane, where spins commute."""
        return np.zeros((1, 1)) if self.d == 2 else skew(spin, 3)

    # --- mass and momenta

    def first_moment(self, u: Array) -> Array:
        """s_u = ∫ρ(X + φu), or s_0 where the momenta are constant."""
        moved = self.body.inertia.shape_first @ u if self.full else 0.0
        return self.body.inertia.first + moved

    def levers(self, u: Array) -> Array:
        """∫ρ(X + φu) × φ with the inertia of sections: n_a + N_a u, (s, n)."""
        return self.of.n + np.array([N @ u for N in self.of.N])

    def widening(self, u: Array) -> Array:
        """½ ∂J(u)_ab/∂u = s_ab + K_ab u, (s, s, n)."""
        return self.of.s + np.array([[K @ u for K in row] for row in self.of.K])

    def mass(self, u: Array) -> Array:
        """M(u) over (v_P, ω, u̇), eq. (10), (33)."""
        d, r, of, first = self.d, self.rigid, self.of, self.body.inertia.shape_first
        w = u if self.full else np.zeros(self.n)
        M = np.zeros((r + self.n, r + self.n))
        M[:d, :d] = self.body.mass * np.eye(d)
        M[:d, d:r] = self.turning(self.first_moment(u))
        M[d:r, :d] = M[:d, d:r].T
        M[d:r, d:r] = of.J + (of.s + self.widening(w)) @ w
        M[:d, r:], M[r:, :d] = first, first.T
        M[d:r, r:] = self.levers(w)
        M[r:, d:r] = M[d:r, r:].T
        M[r:, r:] = of.M.toarray()
        return M

    def by_deformation(self, q: State) -> tuple[Array, Array, Array]:
        """The rows of ω in (∂M/∂u)(v_P, ω, u̇), (s, n) each: from v_P, half of that from ω, and minus that from u̇.

        ``v·cross_a ∫ρφ``, ``ω_b (s_ab + K_ab u)`` and ``N_a u̇``.
        """
        from_p = np.einsum("i,aij,jk->ak", q.v, self.basis, self.body.inertia.shape_first)
        from_spin = np.einsum("b,abk->ak", q.omega, self.widening(q.u))
        return from_p, from_spin, np.array([N @ q.du for N in self.of.N])

    # --- E, J, R, B

    def descriptor(self, x: Array) -> Array:
        """E = diag(1, M(u), C)."""
        elastic = self.body.elasticity
        C = sparse.csr_array((0, 0)) if elastic is None else sparse.csr_array(elastic.compliance)
        return sparse.block_diag([np.eye(int(self.edges[3])), self.mass(self.read(x).u), C]).toarray()

    def structure(self, x: Array) -> Array:
        """J: kinematics Z, momenta Γ and strain rates D(u), eq. (12)."""
        q, d, r = self.read(x), self.d, self.rigid
        rotation, deformation = self.edges[1:3]
        Z = np.zeros((int(self.edges[3]), r + self.n))
        Z[:d, :d] = q.R
        Z[rotation:deformation, d:r] = entries(q.R @ self.basis).T
        Z[deformation:, r:] = np.eye(self.n)
        momenta = (self.canonical if self.form == "canonical" else self.doubled)(q)
        D = self.strain(q.u)
        D = sparse.hstack([sparse.csr_array((D.shape[0], r)), D]).toarray()
        return sparse.block_array([[None, Z, None], [-Z.T, momenta - momenta.T, -D.T], [None, D, None]]).toarray()

    def newton_euler(self, p_t: Array, p_r: Array) -> Array:
        """[[0, [p_t]×], [[p_t]×, [p_r]×]] as an upper part: Γ is it minus its transpose (remark 3)."""
        d, r = self.d, self.rigid
        upper = np.zeros((r + self.n, r + self.n))
        upper[:d, d:r] = -self.turning(p_t)
        upper[d:r, d:r] = 0.5 * self.bracket(p_r)
        return upper

    def doubled(self, q: State) -> Array:
        """p̃_t, p̃_r and the coupling of ω with u̇ of eq. (13)-(14), (34)."""
        d, r, first = self.d, self.rigid, self.body.inertia.shape_first
        p = self.mass(q.u)[:r] @ q.w
        if not self.full:
            return self.newton_euler(p[:d], p[d:])
        levers = self.levers(q.u)
        upper = self.newton_euler(p[:d] + first @ q.du, p[d:] + levers @ q.du)
        from_p, from_spin, from_flexing = self.by_deformation(q)
        # (ω × x) × φ is −from_spin and, by Jacobi's identity, ½ ω × (x × φ), which the plane has not
        upper[d:r, r:] = 3.0 * from_flexing - 2.0 * (from_p + from_spin) + self.bracket(q.omega) @ levers
        return upper

    def canonical(self, q: State) -> Array:
        """[p_t]×, [p_r]× and Σ_k (e_k a_kᵀ − a_k e_kᵀ), a_k = (∂M/∂u_k)(v_P, ω, u̇)."""
        d, r = self.d, self.rigid
        p = self.mass(q.u)[:r] @ q.w
        upper = self.newton_euler(p[:d], p[d:])
        if self.full:
            from_p, from_spin, from_flexing = self.by_deformation(q)
            upper[:d, r:] = -skew(q.omega, d) @ self.body.inertia.shape_first
            upper[d:r, r:] = from_flexing - from_p - 2.0 * from_spin
            upper[r:, r:] = -sum(rate * N.toarray() for rate, N in zip(q.omega, self.of.N, strict=True))
        return upper

    def strain(self, u: Array) -> Any:
        """D(u), sparse (m, n)."""
        return self.body.elasticity.operator(u) if self.body.elasticity else sparse.csr_array((0, self.n))

    def dissipation(self, x: Array) -> Array:
        """R: the damping of the body on u̇."""
        elastic = self.body.elasticity
        R = np.zeros((x.size, x.size))
        if elastic is not None:
            rates = slice(*self.edges[5:7])
            R[rates, rates] = elastic.damping(self.of.M, self.read(x).u).toarray()
        return R

    def inputs(self, x: Array) -> Array:
        """B = [B_∂, B_d]: forces and torques at the ports, eq. (35), and distributed forces, eq. (15), (30)."""
        u, d, r = self.read(x).u, self.d, self.rigid
        B = np.zeros((x.size, r * len(self.body.ports) + sum(load.positions.size for load in self.loads)))
        for i, port in enumerate(self.body.ports.values()):
            rows = np.zeros((r, r + self.n))
            rows[:, :r] = np.eye(r)
            rows[:d, d:r] = self.turning(port.position + port.shape @ u)  # τ_CP
            rows[:d, r:] = port.shape.toarray()
            if port.rotation is not None:
                rows[d:, r:] = port.rotation.toarray()
            B[self.edges[3] : self.edges[6], r * i : r * (i + 1)] = rows.T
        at = r * len(self.body.ports)
        for load in self.loads:
            B[self.edges[3] : self.edges[6], at : at + load.positions.size] = self.distributed(load, u).T
            at += load.positions.size
        return B

    def distributed(self, load: LoadPort, u: Array) -> Array:
        """B_dᵀ of a force density that is constant on each of k elements, (k·d, d + s + n).

        ``∫ [1, [X + φu]×ᵀ, φ]`` over each element: its measure times the mean velocity per unit of (v_P, ω, u̇). The
        means of lever and shape are exact, since the density does not vary.
        """
        lever = load.positions + (load.shapes @ u).reshape(load.positions.shape)
        turning = np.einsum("aij,kj->kia", self.basis, lever).reshape(-1, self.spins)
        means = np.hstack([np.tile(np.eye(self.d), (len(lever), 1)), turning, load.shapes.toarray()])
        return np.repeat(load.measures, self.d)[:, None] * means

    # --- H and z

    def costate(self, x: Array) -> Array:
        """z = (∂_r H, ∂_R H, ∂_u H, v_P, ω, u̇, σ)."""
        q, g, inertia = self.read(x), self.gravity, self.body.inertia
        static = inertia.first + inertia.shape_first @ q.u
        turned = -np.einsum("i,eij,j->e", g, self.units, static)
        by_u = -(q.R.T @ g) @ inertia.shape_first
        if self.full:
            from_p, from_spin, from_flexing = self.by_deformation(q)
            by_u = by_u + q.omega @ (from_p + from_spin - from_flexing)  # ∂T/∂u, [p_f]× ω of sec. 3.1
        return np.concatenate([-inertia.mass * g, turned, by_u, q.w, q.sigma])

    def energy(self, x: Array) -> float:
        """H = ½ wᵀM(u)w − m g·(r_P + R s_u/m) + ½ σᵀCσ, w = (v_P, ω, u̇)."""
        q, inertia, elastic = self.read(x), self.body.inertia, self.body.elasticity
        potential = -self.gravity @ (inertia.mass * q.r + q.R @ (inertia.first + inertia.shape_first @ q.u))
        stored = 0.0 if elastic is None else 0.5 * q.sigma @ (elastic.compliance @ q.sigma)
        return float(0.5 * q.w @ (self.mass(q.u) @ q.w) + potential + stored)
