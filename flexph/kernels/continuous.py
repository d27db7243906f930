"""The equations of motion at a state: mass, gyroscopic structure, strain and spring operators (continuous time)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array
from ..numerics.rotations import cross, entries, entry_count, from_entries, spin_skew
from .arrays import Arrays, Index, Springs
from .gradient import columns, node_rows, product_matrix, section_rows, velocity_count, world_spin_levers
from .springs import resistances
from .state import Configuration, Derived, inertia_products, momenta, rotational_inertia
from .step import world_loads


def shifted(a: Arrays, block: int) -> Any:
    """M (block 0), N_a (1 …) or K_ab (1 + s …) about the centre of mass, sparse."""
    n = a.body_u.size
    rows = slice(block * n, (block + 1) * n)
    blocks = sparse.csr_array(a.stack[rows])
    return blocks if a.mean is None else blocks - a.border_stack[rows] @ a.border


def spin_rows(a: Arrays, values: Array) -> Any:
    """(s, n) values as a block (spins, n): the spin rows of the body of each coordinate."""
    cv, cw, _ = columns(a)
    s, n = values.shape
    rows = (cw[a.body_u] - cv.size).T.ravel()  # every flexible body turns
    return sparse.csr_array((values.ravel(), (rows, np.tile(np.arange(n), s))), shape=(a.turning.size * s, n))


def _assemble(first: Any, turning: Any, across: Any, below: Any, flexible: Any) -> Any:
    return sparse.block_array([[first, None, None], [None, turning, across], [None, below, flexible]]).tocsr()


def mass_matrix(a: Arrays, u: Array, *, deforming: bool = True) -> Any:
    """diag(m, M(u)) over (ṙ, ω, u̇), sparse; without M_uu, which the shift fills, unless ``deforming``."""
    s = a.n.shape[0]
    Pu = inertia_products(a, u)
    across = spin_rows(a, a.n + Pu[1 : 1 + s])
    flexible = shifted(a, 0) if deforming else sparse.csr_array((u.size,) * 2)
    return _assemble(*_rigid_masses(a, u, Pu), across, across.T, flexible)


def rigid_mass(a: Arrays, u: Array) -> Any:
    """diag(m, J(u)) over (ṙ, ω), sparse."""
    return sparse.block_diag(_rigid_masses(a, u, inertia_products(a, u))).tocsr()


def _rigid_masses(a: Arrays, u: Array, Pu: Array) -> tuple[Any, Any]:
    turning = sparse.block_diag([sparse.csr_array((0, 0)), *rotational_inertia(a, u, Pu)[a.turning]])
    return sparse.diags_array(np.repeat(a.mass, a.dim)), turning


def structure(a: Arrays, c: Configuration) -> Any:
    """Γ = Σ_k (e_k a_kᵀ − a_k e_kᵀ), a_k = (∂M/∂u_k) w, over (ṙ, ω, u̇): skew, sparse, with [p_r]× on ω."""
    w, flexible = c.omega[a.body_u], sparse.csr_array((a.body_u.size,) * 2)
    for i in range(a.n.shape[0]):
        flexible = flexible - 2.0 * sparse.diags_array(w[:, i]) @ shifted(a, 1 + i)
    return _structure(a, c, flexible)


def gyroscopic_force(a: Arrays, c: Configuration, v: Array) -> Array:
    """Γ v of the velocities v of c, over (ṙ, ω, u̇)."""
    n = a.body_u.size
    force: Array = _structure(a, c, sparse.csr_array((n, n))) @ v
    turning = inertia_products(a, c.du)[1 : 1 + a.n.shape[0]]
    force[force.size - n :] -= 2.0 * np.einsum("na,an->n", c.omega[a.body_u], turning)
    return force


def _structure(a: Arrays, c: Configuration, flexible: Any) -> Any:
    """Γ with its block over u̇."""
    s = a.n.shape[0]
    w = c.omega[a.body_u]
    spin = 2.0 * np.einsum("abn,nb->an", a.s + inertia_products(a, c.u)[1 + s :].reshape(s, s, -1), w)
    spin -= inertia_products(a, c.du)[1 : 1 + s]
    across = spin_rows(a, spin)
    first = sparse.csr_array((len(a.mass) * a.dim,) * 2)
    p_r, _ = momenta(a, c.omega, c.u, c.du)
    turning = sparse.block_diag([sparse.csr_array((0, 0)), *spin_skew(p_r[a.turning])])
    return _assemble(first, turning, -across, across.T, flexible)


def kinetic_gradient(a: Arrays, c: Configuration) -> Array:
    """∂T/∂u = ½ wᵀ(∂M/∂u)w, (n,)."""
    s = a.n.shape[0]
    w = c.omega[a.body_u]
    square = a.s + inertia_products(a, c.u)[1 + s :].reshape(s, s, -1)
    return np.einsum("na,nb,abn->n", w, w, square) - np.einsum("na,an->n", w, inertia_products(a, c.du)[1 : 1 + s])


def strain_operator(a: Arrays, u: Array) -> Any:
    """D(u), sparse (m, n)."""
    slopes = sparse.csr_array(a.slopes)
    if not slopes.shape[0]:
        return sparse.csr_array(a.strain)
    return sparse.csr_array(a.strain) + sparse.csr_array(a.weights) @ sparse.diags_array(a.slopes @ u) @ slopes


def elastic_stress(a: Arrays, u: Array) -> Array:
    """σ = C⁻¹ ε(u), (m,)."""
    return a.stiffness @ (a.strain @ u + 0.5 * (a.weights @ (a.slopes @ u) ** 2))


def elastic_stiffness(a: Arrays, u: Array) -> Any:
    """D(u)ᵀC⁻¹D(u) and the geometric stiffness of the stresses C⁻¹ε(u), sparse (n, n)."""
    D, slopes = strain_operator(a, u), sparse.csr_array(a.slopes)
    stiffness = D.T @ sparse.csr_array(a.stiffness) @ D
    if slopes.shape[0]:
        stiffness = stiffness + slopes.T @ sparse.diags_array(a.weights.T @ elastic_stress(a, u)) @ slopes
    return sparse.csr_array(stiffness)


def spring_rates(springs: Springs, product: Array, rates: Any) -> Any:
    """Rates of lengths, components and angles of the spring-dampers from those of the products, sparse (springs, …)."""
    length = sparse.diags_array(0.5 / np.sqrt(product[springs.length_product])) @ rates[springs.length_product]
    sine, cosine = product[springs.sine_product], product[springs.cosine_product]
    size = sine**2 + cosine**2
    angle = sparse.diags_array(cosine / size) @ rates[springs.sine_product]
    angle = angle - sparse.diags_array(sine / size) @ rates[springs.cosine_product]
    return sparse.csr_array(sparse.vstack([length, rates[springs.component_product], angle]))


def spring_operator(a: Arrays, c: Configuration, d: Derived) -> Any:
    """S(q): rates of the lengths and angles of the spring-dampers with the velocities, sparse (springs, n_v)."""
    return spring_rates(a.springs, d.product, sparse.csr_array(product_matrix(a, c.R, d.arm, d.vector)))


def input_matrix(a: Arrays, c: Configuration, d: Derived) -> Any:
    """Forces on (ṙ, ω, u̇) of the external inputs, sparse (n_v, i); those that follow a section in its axes."""
    nodes = sparse.csr_array(node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body]))
    columns = nodes.T @ sparse.csr_array(a.input_node) + section_rows(a, c.R).T @ sparse.csr_array(a.input_torque)
    count = a.input_node.shape[1]
    world = np.array([world_loads(a, d.arm, u) for u in np.eye(count)]).reshape(count, count)
    return sparse.csr_array(columns @ sparse.csr_array(world.T))


def damping_matrix(a: Arrays, c: Configuration, d: Derived, of: Callable[[Springs, Array], Array] = resistances) -> Any:
    """R over (ṙ, ω, u̇): α M + D(u)ᵀ β C⁻¹ D(u) on u̇, and the dampers by c + ρ(s)/s; sparse, ⪰ 0.

    With :func:`flexph.kernels.springs.damping_slopes` what small changes of the velocities do.
    """
    D = strain_operator(a, c.u)
    flexible = sparse.csr_array(a.viscous)
    if a.stress_damping.any():
        flexible = flexible + D.T @ sparse.diags_array(a.stress_damping) @ sparse.csr_array(a.stiffness) @ D
    rigid = len(a.mass) * a.dim + a.turning.size * a.n.shape[0]
    damping = sparse.block_diag([sparse.csr_array((rigid, rigid)), flexible]).tocsr()
    if a.springs.damping.any() or a.springs.relations:
        S = spring_operator(a, c, d)
        rate = S @ np.concatenate([c.v.ravel(), c.omega[a.turning].ravel(), c.du])
        damping = damping + S.T @ sparse.diags_array(of(a.springs, rate)) @ S
    return damping


# --- dense equations of small mechanisms, in coordinates q = (r, ρ, u) ------------------------------------------------


class Coordinates(NamedTuple):
    """Where q = (r, ρ, u) and v = (ṙ, ω, u̇) are, and how rotations are made of their kept entries, R = Σ_e ρ_e basis_e.

    With t bodies that turn, e entries of a rotation: ``turned[s, f]`` (e,) are the entries of basis_f [e_s]×.
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


def coordinates(a: Arrays) -> Coordinates:
    """The coordinates of a mechanism."""
    cv, cw, cu = columns(a)
    kept, s, n = entry_count(a.dim), a.n.shape[0], a.body_u.size
    positions = cv.size + kept * a.turning.size + n
    basis = np.array([from_entries(e, a.dim) for e in np.eye(kept)])
    entry = np.full((len(a.mass), kept), -1)
    entry[a.turning] = cv.size + np.arange(kept * a.turning.size).reshape(-1, kept)
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


def rotations(k: Coordinates, rho: Array) -> Array:
    """R of kept entries ρ (t, e), (t, d, d)."""
    d = k.basis.shape[1]
    return (rho @ k.basis.reshape(-1, d * d)).reshape(-1, d, d)


def rates(k: Coordinates, rho: Array) -> Array:
    """Z(q) with q̇ = Z v, (n_q, n_v), at entries ρ (t, e)."""
    rate = k.level.copy()
    rate[k.entry[:, :, None], k.spin[:, None, :]] = np.einsum("sfe,tf->tes", k.turned, rho)
    return rate


def rates_along(k: Coordinates, v: Array) -> Array:
    """∂(Z v)/∂q at constant v, (n_q, n_q)."""
    slope = np.zeros((k.positions,) * 2)
    slope[k.entry[:, :, None], k.entry[:, None, :]] = np.einsum("sfe,ts->tef", k.turned, v[k.spin])
    return slope


def rates_across(k: Coordinates, g: Array) -> Array:
    """∂(Zᵀg)/∂q at constant g (n_q,), (n_v, n_q)."""
    slope = np.zeros((k.velocities, k.positions))
    slope[k.spin[:, :, None], k.entry[:, None, :]] = np.einsum("sfe,te->tsf", k.turned, g[k.entry])
    return slope


def node_slopes(a: Arrays, k: Coordinates, R: Array, local: Array, moves: Array | None = None) -> Array:
    """∂/∂q of R (local + φu) of all nodes at q, (k, d, n_q): R (b, d, d), local (k, d) with what φu adds.

    ``moves`` are the columns of r; none where the nodes do not move with the centre.
    """
    slope = np.zeros(k.moves.shape) if moves is None else moves.copy()
    slope[k.node[:, None], :, k.node_entry] = np.einsum("eij,kj->kei", k.basis, local[k.node])
    if k.flexible:
        slope[:, :, -k.flexible :] = R[a.node_body] @ a.node_shape.reshape(-1, a.dim, k.flexible)
    return slope


def turned_forces(a: Arrays, k: Coordinates, force: Array) -> Array:
    """∂²(Σ f·x)/∂q² at constant node forces (k, d), (n_q, n_q): x = r + R(X + φu) is bilinear in ρ and u."""
    slope = np.zeros((k.positions,) * 2)
    if k.flexible and k.node.size:
        shape = a.node_shape.reshape(-1, a.dim, k.flexible)[k.node]
        block = np.einsum("ki,eij->kej", force[k.node], k.basis) @ shape
        np.add.at(slope[:, -k.flexible :], k.node_entry, block)
        slope[-k.flexible :] += slope[:, -k.flexible :].T
    return slope


def product_rows(a: Arrays, vector: Array, moved: Array) -> Array:
    """V·δW + δV·W of all products, (p, n), for vectors (v, d) and what moves them, δ (v, d, n)."""
    first = vector[a.second][:, None] @ moved[a.first]
    return (first + vector[a.first][:, None] @ moved[a.second])[:, 0]


class Rows(NamedTuple):
    """Rows A(π) of what is made of products π, with A π̇ the rate of a constraint or of a spring-damper.

    A is ``fixed``, of lengths √π ``½/√π``; of an angle of sine s and cosine c, ρ² = s² + c², it is (c, −s)/ρ^m with
    m = 2, and m = 1 where a drive takes its coefficients from the pose. ``bent`` has the terms of a driven rotation and
    of rows on velocities: to entry (i, j) of A adds ``value`` times π_k.
    """

    fixed: Array  # (rows, p)
    length: tuple[Index, Index]  # row, product
    angle: tuple[Index, Index, Index, Index]  # row, sine, cosine, power m
    bent: tuple[Index, Index, Index, Array]  # i, j, k, value


def weights(rows: Rows, product: Array) -> Array:
    """A(π), (rows, p)."""
    weight = rows.fixed.copy()
    i, at = rows.length
    weight[i, at] = 0.5 / np.sqrt(product[at])
    i, sine, cosine, power = rows.angle
    if i.size:
        s, c = product[sine], product[cosine]
        scale = (s * s + c * c) ** (-0.5 * power)
        weight[i, sine], weight[i, cosine] = c * scale, -s * scale
    i, j, k, value = rows.bent
    if i.size:
        np.add.at(weight, (i, j), value * product[k])
    return weight


def weight_slopes(rows: Rows, product: Array) -> tuple[Index, Index, Index, Array]:
    """∂A_ij/∂π_k as entries (i, j, k, value)."""
    at = rows.length
    i, sine, cosine, power = rows.angle
    s, c = product[sine], product[cosine]
    size = s * s + c * c
    scale = size ** (-0.5 * power - 1.0)
    mixed, along, across = power * s * c * scale, (size - power * c * c) * scale, (power * s * s - size) * scale
    parts = (
        (at[0], at[1], at[1], -0.25 * product[at[1]] ** -1.5),
        (i, sine, sine, -mixed),
        (i, sine, cosine, along),
        (i, cosine, sine, across),
        (i, cosine, cosine, mixed),
        rows.bent,
    )
    first, second, third, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    return first, second, third, values


def coupled(a: Arrays, Pu: Array, Pdu: Array, w: Array) -> Array:
    """a_k = (∂M/∂u_k) w on the spins, (s, n): 2 (s_ab + K_ab u) ω_b − N_a u̇, with ω (n, s) of the body of each u."""
    s = a.n.shape[0]
    square = a.s + Pu[1 + s :].reshape(s, s, -1)
    return 2.0 * np.einsum("abn,nb->an", square, w) - Pdu[1 : 1 + s]


def turns(a: Arrays, w: Array) -> Array:
    """Σ_a w_a N_a, (n, n), with w (n, s)."""
    n = a.body_u.size
    return sum((w[:, [i]] * a.stack[(1 + i) * n : (2 + i) * n] for i in range(w.shape[1])), start=np.zeros((n, n)))


def squares(a: Arrays, w: Array, other: Array) -> Array:
    """Σ_ab w_a o_b K_ab, (n, n), with w, o (n, s)."""
    n, s = a.body_u.size, w.shape[1]
    form = np.zeros((n, n))
    for i in range(s):
        for j in range(s):
            block = 1 + s + i * s + j
            form += (w[:, i] * other[:, j])[:, None] * a.stack[block * n : (block + 1) * n]
    return form
