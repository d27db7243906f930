"""Matrices and forces of the equations of motion in continuous time, at a state and over the velocities (ṙ, ω, u̇).

These are mass, gyroscopic, strain, spring, damping and input matrices. Strain rows are the strains of nodal bodies,
which are functions of products of world vectors (:mod:`flexph.kernels.strains`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array, block_diag, dense_blocks, sparse_block_diag, sparse_blocks
from ..numerics.rotations import spin_skew
from .arrays import Arrays
from .contacts.distances import distance_rows
from .faces import face_matrix
from .gradient import (
    blocks_of,
    diagonal_of,
    is_sparse,
    kept,
    node_rows,
    product_matrix,
    scale_rows,
    section_rows,
    spin_block,
    stacked_rows,
    velocity_count,
    world_spin_levers,
)
from .rates.on_curves import all_at_state, curve_inputs
from .ropes import rope_rows
from .spring_arrays import Springs
from .springs import resistances, tension_factors
from .state import Configuration, Derived, coupled, inertia_products, momenta, products, rotational_inertia
from .strains import gradient, strain_stresses
from .strains import rows as gradient_rows


def shifted(a: Arrays, block: int) -> Any:
    """Inertia matrix about the centres of mass, (n, n), with the number ``block``, dense or sparse like the arrays.

    Number 0 is M, numbers 1 to s are N_a, and the following s² are K_ab, row by row (see :mod:`flexph.kernels.state`).
    """
    n = a.body_u.size
    rows = slice(block * n, (block + 1) * n)
    if not is_sparse(a):
        return a.stack[rows]
    blocks = sparse.csr_array(a.stack[rows])
    return blocks if a.mean is None else blocks - a.border_stack[rows] @ a.border


def assembled(rigid: tuple[Any, Any], coupling: tuple[Any, Any], flexible: Any) -> Any:
    """Matrix over (ṙ, ω, u̇) from its blocks.

    ``rigid`` are the diagonal blocks of ṙ and ω, ``flexible`` is that of u̇, ``coupling`` are the blocks (ω, u̇) and
    (u̇, ω).
    """
    (first, turning), (above, below) = rigid, coupling
    w, u = first.shape[0], first.shape[0] + turning.shape[0]
    blocks = [(0, 0, first), (w, w, turning), (w, u, above), (u, w, below), (u, u, flexible)]
    shape = (u + flexible.shape[0],) * 2
    return (sparse_blocks if any(sparse.issparse(block) for *_, block in blocks) else dense_blocks)(shape, blocks)


def mass_matrix(a: Arrays, u: Array, *, deforming: bool = True) -> Any:
    """Sparse mass matrix diag(m, M(u)) over (ṙ, ω, u̇); unless ``deforming``, its block on u̇, often full, is zero."""
    return sparse.csr_array(mass_of(a, u, deforming=deforming))


def mass_of(a: Arrays, u: Array, *, deforming: bool = True) -> Any:
    """Mass matrix as in :func:`mass_matrix`, dense or sparse like the arrays."""
    s = a.n.shape[0]
    Pu = inertia_products(a, u)
    across = spin_block(a, a.n + Pu[1 : 1 + s])
    flexible = shifted(a, 0) if deforming else _zeros(a, u.size)
    return assembled(_rigid_masses(a, u, Pu), (across, across.T), flexible)


def rigid_mass(a: Arrays, u: Array) -> Any:
    """Mass matrix diag(m, J(u)) in (ṙ, ω), dense or sparse like the arrays."""
    masses = _rigid_masses(a, u, inertia_products(a, u))
    return sparse_block_diag(masses) if is_sparse(a) else block_diag(*masses)


def _rigid_masses(a: Arrays, u: Array, Pu: Array) -> tuple[Any, Any]:
    masses, turning = np.repeat(a.mass, a.dim), rotational_inertia(a, u, Pu)[a.turning]
    return sparse.diags_array(masses) if is_sparse(a) else np.diag(masses), diagonal_of(a, turning)


def _zeros(a: Arrays, size: int) -> Any:
    return sparse.csr_array((size, size)) if is_sparse(a) else np.zeros((size, size))


def structure(a: Arrays, c: Configuration) -> Any:
    """Gyroscopic matrix Γ (n_v, n_v) of the equations of motion in (ṙ, ω, u̇), sparse and skew-symmetric.

    It is Σ_k (e_k a_kᵀ − a_k e_kᵀ) with a_k = (∂M/∂u_k) w, w = (ω, u̇) and the unit vector e_k of u̇_k, plus the block
    [p_r]× on the spins of each body, whose angular momentum is p_r.
    """
    w, flexible = c.omega[a.body_u], sparse.csr_array((a.body_u.size,) * 2)
    for i in range(a.n.shape[0]):
        flexible = flexible - 2.0 * sparse.diags_array(w[:, i]) @ sparse.csr_array(shifted(a, 1 + i))
    return sparse.csr_array(_structure(a, c, flexible))


def gyroscopic_force(a: Arrays, c: Configuration, v: Array) -> Array:
    """Gyroscopic forces Γ v on (ṙ, ω, u̇), with v the velocities of the configuration."""
    n = a.body_u.size
    force: Array = _structure(a, c, _zeros(a, n)) @ v
    turning = inertia_products(a, c.du)[1 : 1 + a.n.shape[0]]
    force[force.size - n :] -= 2.0 * np.einsum("na,an->n", c.omega[a.body_u], turning)
    return force


def _structure(a: Arrays, c: Configuration, flexible: Any) -> Any:
    """Gyroscopic matrix Γ of :func:`structure` with the block ``flexible`` (n, n) over u̇.

    The result is dense or sparse like this block.
    """
    Pu, Pdu = inertia_products(a, c.u), inertia_products(a, c.du)
    across = spin_block(a, coupled(a, Pu, Pdu, c.omega[a.body_u]))
    first = _zeros(a, len(a.mass) * a.dim)
    p_r, _ = momenta(a, c.omega, c.u, c.du, products=(Pu, Pdu))
    spins = spin_skew(p_r[a.turning])
    return assembled((first, diagonal_of(a, spins)), (-across, across.T), flexible)


def kinetic_gradient(a: Arrays, c: Configuration) -> Array:
    """Gradient of the kinetic energy ∂T/∂u = ½ wᵀ(∂M/∂u)w, (n,)."""
    s = a.n.shape[0]
    w = c.omega[a.body_u]
    square = a.s + inertia_products(a, c.u)[1 + s :].reshape(s, s, -1)
    return np.einsum("na,nb,abn->n", w, w, square) - np.einsum("na,an->n", w, inertia_products(a, c.du)[1 : 1 + s])


def strain_of(a: Arrays, u: Array) -> Any:
    """Strain matrix D(u), (m, n), dense or sparse like the arrays."""
    if not is_sparse(a):
        return a.strain + (a.weights * (a.slopes @ u)) @ a.slopes
    if not a.slopes.shape[0]:
        return a.strain
    return a.strain + a.weights @ sparse.diags_array(a.slopes @ u) @ a.slopes


def elastic_stress(a: Arrays, u: Array) -> Array:
    """Elastic stresses σ = C⁻¹ ε(u), (m,)."""
    return a.stiffness @ (a.strain @ u + 0.5 * (a.weights @ (a.slopes @ u) ** 2))


def stiffness_of(a: Arrays, u: Array) -> Any:
    """Tangent stiffness (n, n): D(u)ᵀC⁻¹D(u) plus the geometric stiffness of the stresses C⁻¹ε(u)."""
    D = strain_of(a, u)
    stiffness, tension = D.T @ a.stiffness @ D, a.weights.T @ elastic_stress(a, u)
    if not is_sparse(a):
        return stiffness + (a.slopes.T * tension) @ a.slopes
    if a.slopes.shape[0]:
        stiffness = stiffness + a.slopes.T @ sparse.diags_array(tension) @ a.slopes
    return stiffness


def spring_rates(springs: Springs, product: Array, rates: Any) -> Any:
    """Rates (springs, …) of the lengths, components, angles, rope lengths and distances that spring-dampers act on.

    ``product`` (p,) are the products, ``rates`` (p, …) their rates, or the Jacobian of these. The result is dense or
    sparse like ``rates``.
    """
    length = scale_rows(rates[springs.length_product], 0.5 / np.sqrt(product[springs.length_product]))
    sine, cosine = product[springs.sine_product], product[springs.cosine_product]
    size = sine**2 + cosine**2
    angle = scale_rows(rates[springs.sine_product], cosine / size)
    angle = angle - scale_rows(rates[springs.cosine_product], sine / size)
    measured = stacked_rows(length, rates[springs.component_product], angle)
    if springs.ropes.number:
        measured = stacked_rows(measured, rope_rows(springs.ropes, product) @ rates)
    return stacked_rows(measured, distance_rows(springs.distances, product) @ rates) if springs.distances else measured


def spring_operator(a: Arrays, c: Configuration, d: Derived) -> Any:
    """Matrix S(q) (springs, n_v) from velocities to the rates of the measures of spring-dampers."""
    return spring_rates(a.springs, d.product, product_matrix(a, c.R, d.arm, d.vector))


def curve_slips(a: Arrays, product: Array, rates: Any) -> tuple[Any, Array]:
    """Matrix (slips, n_v) from velocities to slip rates along curves, and slopes at rest of their friction ρ(rate).

    Slip rates are positive towards smaller s. ``rates`` is the matrix (p, n_v) from velocities to the rates of the
    products.
    """
    numbers, at = np.flatnonzero(a.slips.curve >= 0), all_at_state(a.curves, product)
    rows = np.zeros((numbers.size, product.size))
    for row, curve in zip(rows, a.slips.curve[numbers], strict=True):
        np.add.at(row, a.curves[curve].products, at[curve].along)
    steep = np.array([float(a.slips.relations[i].slope(0.0)) for i in a.slips.slip[numbers]])
    return (sparse.csr_array(rows) if sparse.issparse(rates) else rows) @ rates, steep


def strain_rates(a: Arrays, c: Configuration, d: Derived) -> Any:
    """Matrix (e, n_v) from velocities to the rates of the strains of e strain rows, dense or sparse like the arrays."""
    return strain_rows(a, d) @ product_matrix(a, c.R, d.arm, d.vector)


def strain_rows(a: Arrays, d: Derived) -> Any:
    """Sparse matrix (e, p) from the rates of the products to the rates of the strains of e strain rows."""
    return gradient_rows(a.strains, gradient(a.strains, d.product), a.first.size)


def strain_product_force(a: Arrays, d: Derived, stress: Array | None = None, time: float = 0.0) -> Array:
    """Forces on the products (p,) from the stresses (e,) of the strain rows.

    Without ``stress`` the stresses are those of the strains at the state ``d`` and the time.
    """
    stress = strain_stresses(a.strains, d.product, time) if stress is None else stress
    return -(strain_rows(a, d).T @ stress)


def input_matrix(a: Arrays, R: Array, arm: Array, place: Array) -> Any:
    """Matrix (n_v, i) from the external inputs to the generalised forces on (ṙ, ω, u̇).

    It depends on the rotations R of the bodies, and on the arms and positions (``place``) of the nodes. Inputs that
    follow a section are components in the axes of this section.
    """
    nodes = node_rows(a, world_spin_levers(a, R, arm), R[a.node_body])
    count = a.input_node.shape[1]
    if not count:
        return kept(a, np.zeros((nodes.shape[1], 0)))
    columns = nodes.T @ a.input_node + section_rows(a, R).T @ a.input_torque
    columns = columns @ kept(a, np.array([world_loads(a, arm, u) for u in np.eye(count)]).T)
    if any(curve.input >= 0 for curve in a.curves):
        vector = a.incidence @ place + a.vector_fixed
        product = products(a, vector)
        along = curve_inputs(a.curves, all_at_state(a.curves, product), (product.size, count))
        columns = columns + product_matrix(a, R, arm, vector).T @ kept(a, along)
    return columns if a.faces is None else columns + nodes.T @ face_matrix(a.faces, place, count)


def damping_matrix(a: Arrays, c: Configuration, d: Derived, of: Callable[[Springs, Array], Array] = resistances) -> Any:
    """Positive semidefinite damping matrix (n_v, n_v) of bodies, dampers, strain rows and slips along curves.

    Bodies have α M + D(u)ᵀ β C⁻¹ D(u) on u̇. Dampers with coefficient c and resistive force ρ have c + ρ(s)/s at their
    rate s; those of slack ropes do not act. Slips along curves have the slope ρ'(0) of their friction, as at rest.
    With :func:`flexph.kernels.springs.damping_slopes` for ``of`` dampers have the slope c + ρ'(s) instead: the matrix
    is then the derivative of the damping forces with respect to the velocities.
    """
    flexible = a.viscous
    if a.stress_damping.any():
        D = strain_of(a, c.u)
        flexible = flexible + D.T @ scale_rows(a.stiffness @ D, a.stress_damping)
    size, rigid = velocity_count(a), velocity_count(a) - a.body_u.size
    damping = blocks_of(a, (size, size), [(rigid, rigid, flexible)])
    beta = a.stress_damping[a.strains.stress]
    if not (a.springs.damping.any() or a.springs.relations or a.slips.slip.size or beta.any()):
        return damping
    moved = product_matrix(a, c.R, d.arm, d.vector)
    if a.springs.damping.any() or a.springs.relations:
        S = spring_rates(a.springs, d.product, moved)
        rate = S @ np.concatenate([c.v.ravel(), c.omega[a.turning].ravel(), c.du])
        damping = damping + S.T @ scale_rows(S, tension_factors(a.springs, c.spring) * of(a.springs, rate))
    if a.slips.slip.size:
        S, steep = curve_slips(a, d.product, moved)
        damping = damping + S.T @ scale_rows(S, steep)
    if beta.any():
        D = strain_rows(a, d) @ moved
        damping = damping + D.T @ scale_rows(a.strains.of_undeformed @ D, beta)
    return damping


def world_loads(a: Arrays, arm: Array, inputs: Array) -> Array:
    """External inputs (i,) as components in world axes.

    ``arm`` (k, d) are the arms of the nodes. Inputs that follow a section are given in its axes and are converted;
    other inputs are returned unchanged.
    """
    if not a.follow_input.size:
        return inputs
    loads = inputs.copy()
    loads[a.follow_input] = np.einsum("fj,fjd->fd", inputs[a.follow_input], arm[a.follow_node])
    return loads


def section_torques(a: Arrays, loads: Array) -> Array:
    """World torques (t, s) on the sections with torque inputs, from the inputs in world axes, ``loads`` (i,)."""
    return (a.input_torque @ loads).reshape(a.torque_body.size, a.n.shape[0])
