"""The equations of motion at a state: mass, gyroscopic structure, strain and spring operators (continuous time)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array, block_diag, dense_blocks, sparse_block_diag, sparse_blocks
from ..numerics.rotations import spin_skew
from .arrays import Arrays, Springs
from .gradient import block_diagonal, is_sparse, node_rows, product_matrix, section_rows, spin_block, world_spin_levers
from .loads.faces import face_matrix
from .rates.on_curves import all_at_state, curve_inputs
from .springs import resistances
from .state import Configuration, Derived, coupled, inertia_products, momenta, products, rotational_inertia
from .step import world_loads
from .strains import gradient, strain_stresses
from .strains import rows as gradient_rows


def shifted(a: Arrays, block: int) -> Any:
    """M (block 0), N_a (1 …) or K_ab (1 + s …) about the centre of mass, as the arrays are."""
    n = a.body_u.size
    rows = slice(block * n, (block + 1) * n)
    if not is_sparse(a):
        return a.stack[rows]
    blocks = sparse.csr_array(a.stack[rows])
    return blocks if a.mean is None else blocks - a.border_stack[rows] @ a.border


def assembled(rigid: tuple[Any, Any], coupling: tuple[Any, Any], flexible: Any) -> Any:
    """A matrix over (ṙ, ω, u̇) from its blocks on ṙ and ω, above and below the diagonal, and on u̇."""
    (first, turning), (above, below) = rigid, coupling
    w, u = first.shape[0], first.shape[0] + turning.shape[0]
    blocks = [(0, 0, first), (w, w, turning), (w, u, above), (u, w, below), (u, u, flexible)]
    shape = (u + flexible.shape[0],) * 2
    return (sparse_blocks if any(sparse.issparse(block) for *_, block in blocks) else dense_blocks)(shape, blocks)


def mass_matrix(a: Arrays, u: Array, *, deforming: bool = True) -> Any:
    """diag(m, M(u)) over (ṙ, ω, u̇), sparse; without M_uu, which the shift fills, unless ``deforming``."""
    return sparse.csr_array(mass_of(a, u, deforming=deforming))


def mass_of(a: Arrays, u: Array, *, deforming: bool = True) -> Any:
    """The mass matrix, as the arrays are."""
    s = a.n.shape[0]
    Pu = inertia_products(a, u)
    across = _on_spins(a, a.n + Pu[1 : 1 + s])
    flexible = shifted(a, 0) if deforming else _zeros(a, u.size)
    return assembled(_rigid_masses(a, u, Pu), (across, across.T), flexible)


def rigid_mass(a: Arrays, u: Array) -> Any:
    """diag(m, J(u)) over (ṙ, ω), as the arrays are."""
    masses = _rigid_masses(a, u, inertia_products(a, u))
    return sparse_block_diag(masses) if is_sparse(a) else block_diag(*masses)


def _rigid_masses(a: Arrays, u: Array, Pu: Array) -> tuple[Any, Any]:
    masses, turning = np.repeat(a.mass, a.dim), rotational_inertia(a, u, Pu)[a.turning]
    if is_sparse(a):
        return sparse.diags_array(masses), block_diagonal(turning)
    return np.diag(masses), block_diag(*turning)


def _on_spins(a: Arrays, values: Array) -> Any:
    """(s, n) values as a block (spins, n), as the arrays are."""
    if is_sparse(a):
        return spin_block(a, values)
    centres, spins, _ = a.columns
    block = np.zeros((a.turning.size * len(values), a.body_u.size))
    block[spins[a.body_u].T - centres.size, np.arange(a.body_u.size)] = values
    return block


def _zeros(a: Arrays, size: int) -> Any:
    return sparse.csr_array((size, size)) if is_sparse(a) else np.zeros((size, size))


def structure(a: Arrays, c: Configuration) -> Any:
    """Γ = Σ_k (e_k a_kᵀ − a_k e_kᵀ), a_k = (∂M/∂u_k) w, over (ṙ, ω, u̇): skew, sparse, with [p_r]× on ω."""
    w, flexible = c.omega[a.body_u], sparse.csr_array((a.body_u.size,) * 2)
    for i in range(a.n.shape[0]):
        flexible = flexible - 2.0 * sparse.diags_array(w[:, i]) @ sparse.csr_array(shifted(a, 1 + i))
    return sparse.csr_array(_structure(a, c, flexible))


def gyroscopic_force(a: Arrays, c: Configuration, v: Array) -> Array:
    """Γ v of the velocities v of c, over (ṙ, ω, u̇)."""
    n = a.body_u.size
    force: Array = _structure(a, c, _zeros(a, n)) @ v
    turning = inertia_products(a, c.du)[1 : 1 + a.n.shape[0]]
    force[force.size - n :] -= 2.0 * np.einsum("na,an->n", c.omega[a.body_u], turning)
    return force


def _structure(a: Arrays, c: Configuration, flexible: Any) -> Any:
    """Γ with its block over u̇."""
    Pu, Pdu = inertia_products(a, c.u), inertia_products(a, c.du)
    across = _on_spins(a, coupled(a, Pu, Pdu, c.omega[a.body_u]))
    first = _zeros(a, len(a.mass) * a.dim)
    p_r, _ = momenta(a, c.omega, c.u, c.du, products=(Pu, Pdu))
    spins = spin_skew(p_r[a.turning])
    turning = block_diagonal(spins) if is_sparse(a) else block_diag(*spins)
    return assembled((first, turning), (-across, across.T), flexible)


def kinetic_gradient(a: Arrays, c: Configuration) -> Array:
    """∂T/∂u = ½ wᵀ(∂M/∂u)w, (n,)."""
    s = a.n.shape[0]
    w = c.omega[a.body_u]
    square = a.s + inertia_products(a, c.u)[1 + s :].reshape(s, s, -1)
    return np.einsum("na,nb,abn->n", w, w, square) - np.einsum("na,an->n", w, inertia_products(a, c.du)[1 : 1 + s])


def strain_operator(a: Arrays, u: Array) -> Any:
    """D(u), sparse (m, n)."""
    return sparse.csr_array(strain_of(a, u))


def strain_of(a: Arrays, u: Array) -> Any:
    """D(u), as the arrays are."""
    if not is_sparse(a):
        return a.strain + (a.weights * (a.slopes @ u)) @ a.slopes
    if not a.slopes.shape[0]:
        return a.strain
    return a.strain + a.weights @ sparse.diags_array(a.slopes @ u) @ a.slopes


def elastic_stress(a: Arrays, u: Array) -> Array:
    """σ = C⁻¹ ε(u), (m,)."""
    return a.stiffness @ (a.strain @ u + 0.5 * (a.weights @ (a.slopes @ u) ** 2))


def elastic_stiffness(a: Arrays, u: Array) -> Any:
    """D(u)ᵀC⁻¹D(u) and the geometric stiffness of the stresses C⁻¹ε(u), sparse (n, n)."""
    return sparse.csr_array(stiffness_of(a, u))


def stiffness_of(a: Arrays, u: Array) -> Any:
    """The elastic stiffness, as the arrays are."""
    D = strain_of(a, u)
    stiffness, tension = D.T @ a.stiffness @ D, a.weights.T @ elastic_stress(a, u)
    if not is_sparse(a):
        return stiffness + (a.slopes.T * tension) @ a.slopes
    if a.slopes.shape[0]:
        stiffness = stiffness + a.slopes.T @ sparse.diags_array(tension) @ a.slopes
    return stiffness


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


def curve_slips(a: Arrays, product: Array, rates: Any) -> tuple[Any, Array]:
    """Slips along curves at rest with the velocities, sparse (slips, n_v), and ρ'(0) of the friction against them.

    From the products (p,) and their rates with the velocities, sparse (p, n_v).
    """
    own, at = np.flatnonzero(a.slips.curve >= 0), all_at_state(a.curves, product)
    rows = np.zeros((own.size, product.size))
    for row, curve in zip(rows, a.slips.curve[own], strict=True):
        np.add.at(row, a.curves[curve].products, at[curve].along)
    steep = np.array([float(a.slips.relations[i].slope(0.0)) for i in a.slips.slip[own]])
    return sparse.csr_array(rows) @ rates, steep


def strain_rates(a: Arrays, c: Configuration, d: Derived) -> Any:
    """Rates of the strain rows with the velocities, sparse (e, n_v)."""
    return _strain_rows(a, d) @ sparse.csr_array(product_matrix(a, c.R, d.arm, d.vector))


def _strain_rows(a: Arrays, d: Derived) -> Any:
    return gradient_rows(a.strains, gradient(a.strains, d.product), a.first.size)


def strain_product_force(a: Arrays, d: Derived, stress: Array | None = None) -> Array:
    """Forces on the products (p,) of stresses of the strain rows (e,), by default C⁻¹ε at the state."""
    stress = strain_stresses(a.strains, d.product) if stress is None else stress
    return -(_strain_rows(a, d).T @ stress)


def input_matrix(a: Arrays, R: Array, arm: Array, place: Array) -> Any:
    """Forces on (ṙ, ω, u̇) of the external inputs, sparse (n_v, i); those that follow a section in its axes.

    From the rotations, and the arms and places of the nodes.
    """
    nodes = sparse.csr_array(node_rows(a, world_spin_levers(a, R, arm), R[a.node_body]))
    if not a.input_node.shape[1]:
        return sparse.csr_array((nodes.shape[1], 0))
    sections = sparse.csr_array(section_rows(a, R))
    columns = nodes.T @ sparse.csr_array(a.input_node) + sections.T @ sparse.csr_array(a.input_torque)
    count = a.input_node.shape[1]
    world = np.array([world_loads(a, arm, u) for u in np.eye(count)]).reshape(count, count)
    columns = columns @ sparse.csr_array(world.T)
    if any(curve.input >= 0 for curve in a.curves):
        vector = a.incidence @ place + a.vector_fixed
        product = products(a, vector)
        along = curve_inputs(a.curves, all_at_state(a.curves, product), (product.size, count))
        columns = columns + sparse.csr_array(product_matrix(a, R, arm, vector)).T @ sparse.csr_array(along)
    return sparse.csr_array(columns if a.faces is None else columns + nodes.T @ face_matrix(a.faces, place, count))


def damping_matrix(a: Arrays, c: Configuration, d: Derived, of: Callable[[Springs, Array], Array] = resistances) -> Any:
    """R over (ṙ, ω, u̇): α M + D(u)ᵀ β C⁻¹ D(u) on u̇, and the dampers by c + ρ(s)/s; sparse, ⪰ 0.

    With :func:`flexph.kernels.springs.damping_slopes` what small changes of the velocities do.
    """
    D = strain_operator(a, c.u)
    flexible = sparse.csr_array(a.viscous)
    if a.stress_damping.any():
        flexible = flexible + D.T @ sparse.diags_array(a.stress_damping) @ sparse.csr_array(a.stiffness) @ D
    rigid = len(a.mass) * a.dim + a.turning.size * a.n.shape[0]
    damping = sparse_block_diag([sparse.csr_array((rigid, rigid)), flexible])
    if a.springs.damping.any() or a.springs.relations:
        S = spring_operator(a, c, d)
        rate = S @ np.concatenate([c.v.ravel(), c.omega[a.turning].ravel(), c.du])
        damping = damping + S.T @ sparse.diags_array(of(a.springs, rate)) @ S
    if a.slips.slip.size:
        S, steep = curve_slips(a, d.product, sparse.csr_array(product_matrix(a, c.R, d.arm, d.vector)))
        damping = damping + S.T @ sparse.diags_array(steep) @ S
    beta = a.stress_damping[a.strains.stress]
    if beta.any():
        D = strain_rates(a, c, d)
        damping = damping + D.T @ sparse.diags_array(beta) @ sparse.csr_array(a.strains.of_undeformed) @ D
    return damping
