"""One floating body in the coordinates of [flex]: body point P, body-frame velocities."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from . import checks as check
from .body import Body
from .inertia import Contractions, contract
from .phdae import PHDAE
from .space import Array


def floating_body(
    body: Body,
    *,
    gravity: tuple[float, float] = (0.0, 0.0),
    form: Literal["paper", "canonical"] = "paper",
    name: str = "",
) -> PHDAE:
    """The finite blocks (E, J, R, B) of one planar body, [flex] eq. (36): matrices at any state.

    State x = (r_P, c, s, u, v_P, ω, u̇, σ) with v_P in body axes; costate z = (∂_q H, v_P, ω, u̇, σ);
    ``E = diag(1, M(u), C)`` with M(0) of eq. (33), J of eq. (13)-(14), (34). Every port is a power port in body axes,
    input (F_x, F_y, T), output (v_x, v_y, ω) of the section: ``B_r = [1, τ_CPᵀ]`` and B_f at u = 0, eq. (35), with the
    lever X + φu at other states. A body with ``momenta="constant"`` has M(0), p̃_t = p_t and no coupling of ω with u̇.

    With a ``name``, ports and parts are ``name.port`` and ``name.part``, so that bodies can be interconnected.

    J is not unique, J z is. ``form="paper"`` has the entries of eq. (34), where doubled momenta make up for the missing
    block of u̇ with u̇. ``form="canonical"`` has ``Σ_k (e_k a_kᵀ − a_k e_kᵀ)`` with a_k = (∂M/∂u_k) v, which is what
    system transformations of [dg] sec. 5.1 carry to the centre-of-mass form of :class:`flexph.Mechanism`.
    """
    check.choice("form", form, ("paper", "canonical"))
    if body.dim != 2 or not body.turns:
        raise ValueError("floating_body needs a planar body that turns")
    blocks = _Blocks(body, check.array("gravity", gravity, (2,)), form)
    owner = f"{name}." if name else ""
    ports = {owner + port: slice(3 * i, 3 * i + 3) for i, port in enumerate(body.ports)}
    n, m = body.size, body.stress_size
    edges = np.cumsum([0, 2, 2, n, 2, 1, n, m])
    names = ("position", "rotation", "deformation", "velocity", "spin", "deformation_rate", "stress")
    sample = np.zeros(edges[-1])
    sample[2] = 1.0
    return PHDAE(
        E=blocks.descriptor,
        J=blocks.structure,
        R=blocks.dissipation,
        B=blocks.inputs,
        z=blocks.costate,
        H=blocks.energy,
        sample=sample,
        ports=ports,
        parts={owner + k: slice(int(edges[i]), int(edges[i + 1])) for i, k in enumerate(names)},
    )


class _Blocks:
    """Matrix functions of one body; contractions about P, rows in the order of the state."""

    def __init__(self, body: Body, gravity: Array, form: str) -> None:
        self.body, self.gravity, self.n, self.form = body, gravity, body.size, form
        self.of: Contractions = contract(body.inertia, about_centre=False)
        self.full = body.momenta == "full"

    def split(self, x: Array) -> tuple[Array, ...]:
        n = self.n
        return tuple(np.split(x, np.cumsum([2, 2, n, 2, 1, n])))

    def shape_moment(self, u: Array) -> Array:
        """s_u = ∫ρ(X + φu)."""
        moved = self.body.inertia.shape_first @ u if self.full else 0.0
        return self.body.inertia.first + moved

    def mass(self, u: Array) -> Array:
        """M(u) over (v_P, ω, u̇), eq. (33) at u = 0."""
        n, of, first = self.n, self.of, self.body.inertia.shape_first
        w = u if self.full else np.zeros(n)
        sx, sy = self.shape_moment(u)
        M = np.zeros((3 + n, 3 + n))
        M[:2, :2] = self.body.mass * np.eye(2)
        M[:2, 2] = M[2, :2] = (-sy, sx)
        M[2, 2] = of.J[0, 0] + 2.0 * of.s[0, 0] @ w + w @ (of.K[0][0] @ w)
        M[:2, 3:], M[3:, :2] = first, first.T
        M[2, 3:] = M[3:, 2] = of.n[0] + of.N[0] @ w
        M[3:, 3:] = of.M.toarray()
        return M

    def descriptor(self, x: Array) -> Array:
        elastic = self.body.elasticity
        C = sparse.csr_array((0, 0)) if elastic is None else sparse.csr_array(elastic.compliance)
        return sparse.block_diag([np.eye(4 + self.n), self.mass(self.split(x)[2]), C]).toarray()

    def structure(self, x: Array) -> Array:
        _, (c, s), u, v, omega, du, _ = self.split(x)
        q, n = 4 + self.n, self.n
        Z = np.zeros((q, 3 + n))
        Z[:2, :2] = [[c, -s], [s, c]]
        Z[2:4, 2] = (-s, c)
        Z[4:, 3:] = np.eye(n)
        make = self.canonical if self.form == "canonical" else self.doubled
        gyroscopic = make(u, v, float(omega[0]), du)
        D = self.strain(u)
        D = sparse.hstack([sparse.csr_array((D.shape[0], 3)), D]).toarray()
        return sparse.block_array([[None, Z, None], [-Z.T, gyroscopic, -D.T], [None, D, None]]).toarray()

    def doubled(self, u: Array, v: Array, omega: float, du: Array) -> Array:
        """p̃_t and the coupling of ω with u̇ of eq. (13)-(14), (34)."""
        momentum = self.mass(u)[:2] @ np.concatenate([v, [omega], du])
        if self.full:
            momentum = momentum + self.body.inertia.shape_first @ du
        upper = np.zeros((3 + self.n, 3 + self.n))
        upper[:2, 2] = (momentum[1], -momentum[0])
        upper[2, 3:] = self.coupling(u, v, omega, du)
        return upper - upper.T

    def canonical(self, u: Array, v: Array, omega: float, du: Array) -> Array:
        """[p_t]× and Σ_k (e_k a_kᵀ − a_k e_kᵀ), a_k = (∂M/∂u_k) v."""
        of, first = self.of, self.body.inertia.shape_first
        momentum = self.mass(u)[:2] @ np.concatenate([v, [omega], du])
        upper = np.zeros((3 + self.n, 3 + self.n))
        upper[:2, 2] = (momentum[1], -momentum[0])
        if self.full:
            upper[:2, 3:] = -omega * np.array([-first[1], first[0]])
            upper[2, 3:] = v[0] * first[1] - v[1] * first[0]
            upper[2, 3:] += of.N[0] @ du - 2.0 * omega * (of.s[0, 0] + of.K[0][0] @ u)
            upper[3:, 3:] = -omega * of.N[0].toarray()
        return upper - upper.T

    def coupling(self, u: Array, v: Array, omega: float, du: Array) -> Array:
        """∫{2p_f + ρ v_f} × φ, eq. (14): the row of ω, (n,)."""
        if not self.full:
            return np.zeros(self.n)
        of, first = self.of, self.body.inertia.shape_first
        from_p = v[0] * first[1] - v[1] * first[0]
        from_spin = -omega * (of.s[0, 0] + of.K[0][0] @ u)
        return 2.0 * (from_p + from_spin) + 3.0 * (of.N[0] @ du)

    def strain(self, u: Array) -> Any:
        return self.body.elasticity.operator(u) if self.body.elasticity else sparse.csr_array((0, self.n))

    def dissipation(self, x: Array) -> Array:
        e, u = self.body.elasticity, self.split(x)[2]
        if e is None:
            return np.zeros((x.size, x.size))
        blocks = [np.zeros((7 + self.n,) * 2), e.damping(self.of.M, u), np.zeros((e.size,) * 2)]
        return sparse.block_diag(blocks).toarray()

    def inputs(self, x: Array) -> Array:
        u, n = self.split(x)[2], self.n
        B = np.zeros((x.size, 3 * len(self.body.ports)))
        for i, port in enumerate(self.body.ports.values()):
            px, py = port.position + port.shape @ u
            rows = np.zeros((3, 3 + n))
            rows[:, :3] = [[1.0, 0.0, -py], [0.0, 1.0, px], [0.0, 0.0, 1.0]]  # τ_CP, eq. (35)
            rows[:2, 3:] = port.shape.toarray()
            if port.rotation is not None:
                rows[2, 3:] = port.rotation.toarray()[0]
            B[4 + n : 7 + 2 * n, 3 * i : 3 * i + 3] = rows.T
        return B

    def costate(self, x: Array) -> Array:
        _, (c, s), u, v, omega, du, sigma = self.split(x)
        g, inertia = self.gravity, self.body.inertia
        static = inertia.first + inertia.shape_first @ u
        turned = -np.array([g @ static, g[1] * static[0] - g[0] * static[1]])  # ∂/∂(c, s) of −g·R s_u
        R = np.array([[c, -s], [s, c]])
        by_u = -(R.T @ g) @ inertia.shape_first
        if self.full:
            by_u = by_u + self.kinetic_gradient(u, v, float(omega[0]), du)
        return np.concatenate([-inertia.mass * g, turned, by_u, v, omega, du, sigma])

    def kinetic_gradient(self, u: Array, v: Array, omega: float, du: Array) -> Array:
        """∂T/∂u = ω ∫p_f × φ reversed: [p_f]× ω of [flex] sec. 3.1."""
        of, first = self.of, self.body.inertia.shape_first
        from_p = omega * (v[1] * first[0] - v[0] * first[1])
        return from_p + omega**2 * (of.s[0, 0] + of.K[0][0] @ u) - omega * (of.N[0] @ du)

    def energy(self, x: Array) -> float:
        r, (c, s), u, v, omega, du, sigma = self.split(x)
        speed = np.concatenate([v, omega, du])
        inertia, elastic = self.body.inertia, self.body.elasticity
        R = np.array([[c, -s], [s, c]])
        potential = -self.gravity @ (inertia.mass * r + R @ (inertia.first + inertia.shape_first @ u))
        stored = 0.0 if elastic is None else 0.5 * sigma @ (elastic.compliance @ sigma)
        return float(0.5 * speed @ (self.mass(u) @ speed) + potential + stored)
