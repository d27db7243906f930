"""Equations of motion linearised about rest or a steady rotation: mass, gyroscopic and stiffness matrices.

The whole mechanism may turn steadily with Ω about an axis of the world; all is seen in the frame that turns with it.
Displacements are ξ = (δr in world axes, θ in body axes with R exp[θ]×, δu). With p = J(u)ω, c = n + Nu,
A = ∂(J(u)ω)/∂u and the spin ω = RᵀΩ of a body in its own axes, the inertia forces on a body are

    m(δr̈ + 2Ω × δṙ + Ω × (Ω × δr)),
    J(θ̈ + ω×θ̇) + Aδu̇ + cδü + ω × (J(θ̇ + ω×θ) + Aδu + cδu̇) − p × (θ̇ + ω×θ),
    cᵀ(θ̈ + ω×θ̇) + 2ω_aN_a δu̇ + Mδü − Aᵀ(θ̇ + ω×θ) − ω_aω_b K_ab δu.

The gyroscopic matrix is skew; the stiffness is symmetric where all forces balance and have a potential, and no damper
to the ground feels the motion (:mod:`.steady_dampers`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...numerics.rotations import cross, skew, spin_map, spin_skew
from ..arrays import Arrays
from ..continuous import (
    assembled,
    damping_matrix,
    elastic_stiffness,
    elastic_stress,
    kinetic_gradient,
    mass_matrix,
    shifted,
    spring_operator,
    spring_rates,
    strain_operator,
    strain_product_force,
    strain_rates,
)
from ..gradient import (
    block_diagonal,
    node_rows,
    placed,
    product_gradient,
    pull,
    section_rows,
    spin_block,
    world_spin_levers,
)
from ..loads.faces import face_forces, face_tangent
from ..rates.on_curves import add_curve_stiffness
from ..rolling import add_torques, stiffness
from ..springs import damping_slopes, split
from ..state import Configuration, Derived, inertia_products, momenta, places, rotational_inertia
from ..step import section_torques, world_loads
from ..strains import curvature, end_stiffness
from .forms import below, following, on_measures, on_spins, on_vectors, torque_columns
from .steady_dampers import circulatory, has_dampers


class Forces(NamedTuple):
    """What acts on the bodies at a state: forces on products, springs e and inputs in their own axes."""

    product: Array  # (p,), of the multipliers alone
    spring: Array  # (springs,), tension or torque of springs and of dampers
    inputs: Array
    multipliers: Array  # (g,)

    def torques(self, a: Arrays) -> Array:
        """World torques of nonholonomic rows on the bodies, (b, s)."""
        torques = np.zeros((len(a.mass), a.n.shape[0]))
        add_torques(a, self.multipliers, torques)
        return torques


class Tangent(NamedTuple):
    """M ξ̈ + C ξ̇ + K ξ over (δr, θ, δu), sparse; C with its damping part apart."""

    mass: Any
    gyroscopic: Any
    damping: Any
    stiffness: Any


def node_motion(a: Arrays, c: Configuration, d: Derived) -> Any:
    """World displacements of the nodes with ξ, sparse (k·d, n_v)."""
    return sparse.csr_array(node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body]))


def generalised_force(a: Arrays, c: Configuration, d: Derived, forces: Forces) -> Array:
    """Forces of products, springs, inputs, weight and stress on (ṙ, ω, u̇), without inertia forces."""
    loads = world_loads(a, d.arm, forces.inputs)
    force = node_motion(a, c, d).T @ _node_force(a, (c, d), forces, loads)
    force += section_rows(a, c.R).T @ section_torques(a, loads).ravel()
    if a.rolling.spin_row.size:
        spins = a.columns.omega[a.turning]
        force[spins] += np.einsum("bij,bi->bj", spin_map(c.R), forces.torques(a))[a.turning]
    force[: a.weight.size] += a.weight.ravel()
    force[force.size - a.body_u.size :] -= strain_operator(a, c.u).T @ elastic_stress(a, c.u)
    return force


def inertia_force(a: Arrays, c: Configuration, centripetal: Array) -> Array:
    """Inertia forces of a steady motion on (ṙ, ω, u̇): m a, p × ω reversed, −∂T/∂u; centripetal are r̈ (b, d)."""
    p_r, _ = momenta(a, c.omega, c.u, c.du)
    turning = -np.matmul(spin_skew(p_r), c.omega[:, :, None])[a.turning, :, 0]
    return np.concatenate([(a.mass[:, None] * centripetal).ravel(), turning.ravel(), -kinetic_gradient(a, c)])


def tangent(a: Arrays, c: Configuration, d: Derived, forces: Forces, *, spin: Array) -> Tangent:
    """The matrices at a steady motion with world spin (s,), u̇ = 0.

    The stresses σ of strain rows are those of the configuration, which in an iteration run ahead of the strains.
    """
    gyroscopic, stiffness = inertial(a, c, spin)
    stiffness = stiffness + _elastic(a, c) + _springs(a, c, d, forces) - _loads(a, c, d, forces)
    if a.strains.stress.size:
        stiffness = stiffness + _strained(a, c, d)
    if has_dampers(a, c):
        stiffness = stiffness + circulatory(a, c, d, spin)
    return Tangent(
        mass_matrix(a, c.u), gyroscopic, damping_matrix(a, c, d, damping_slopes), sparse.csr_array(stiffness)
    )


def _node_force(
    a: Arrays, at: tuple[Configuration, Derived], forces: Forces, loads: Array, *, stress: Array | None = None
) -> Array:
    c, d = at
    on_product = forces.product + _spring_product_force(a, d, forces.spring)
    if a.strains.stress.size:
        on_product = on_product + strain_product_force(a, d, stress)
    on_vector = sparse.csr_array(product_gradient(a, d.vector)).T @ on_product
    on_vector = np.asarray(on_vector).reshape(-1, a.dim)
    force = (a.incidence.T @ on_vector).ravel() + a.input_node @ loads
    return force if a.faces is None else force + face_forces(a.faces, places(a, c, d), loads).ravel()


def _spring_product_force(a: Arrays, d: Derived, spring: Array) -> Array:
    if not spring.size:
        return np.zeros(a.first.size)
    rates = spring_rates(a.springs, d.product, sparse.eye_array(a.first.size).tocsr())
    return -(rates.T @ spring)


def inertial(a: Arrays, c: Configuration, spin: Array) -> tuple[Any, Any]:
    """Gyroscopic and stiffness matrices of the inertia forces."""
    s, n, bodies = a.n.shape[0], a.body_u.size, len(a.mass)
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
    C_uu, K_uu = sparse.csr_array((n, n)), sparse.csr_array((n, n))
    for i in range(s if n else 0):
        C_uu = C_uu + 2.0 * sparse.diags_array(own[:, i]) @ sparse.csr_array(shifted(a, 1 + i))
        for j in range(s):
            K_uu = K_uu - sparse.diags_array(own[:, i] * own[:, j]) @ sparse.csr_array(shifted(a, 1 + s + i * s + j))
    K_below = spin_block(a, -np.einsum("an,nab->bn", A, w[a.body_u])).T  # −Aᵀ[ω]×
    C = assembled((block_diagonal(2.0 * mass * frame), block_diagonal(C_spin)), (C_across, -C_across.T), C_uu)
    K = assembled((block_diagonal(mass * frame @ frame), block_diagonal(K_spin)), (K_across, K_below), K_uu)
    return C, K


def _elastic(a: Arrays, c: Configuration) -> Any:
    return below(a, elastic_stiffness(a, c.u))


def _springs(a: Arrays, c: Configuration, d: Derived, forces: Forces) -> Any:
    """Stiffness of the springs and the change of their directions at constant products' gradients."""
    if not forces.spring.size:
        return 0.0 * mass_matrix(a, c.u)
    S = spring_operator(a, c, d)
    rates = sparse.csr_array(product_gradient(a, d.vector)) @ sparse.csr_array(pull(a, node_motion(a, c, d)))
    springs = a.springs
    tension, _, torque = split(springs, forces.spring)
    sine, cosine = d.product[springs.sine_product], d.product[springs.cosine_product]
    size = (sine**2 + cosine**2) ** 2
    curved, mixed = 2.0 * sine * cosine / size * torque, (sine**2 - cosine**2) / size * torque
    second = on_measures(a, -0.25 * d.product[springs.length_product] ** -1.5 * tension, (-curved, curved, mixed))
    return S.T @ sparse.diags_array(springs.stiffness) @ S + rates.T @ second @ rates


def _strained(a: Arrays, c: Configuration, d: Derived) -> Any:
    """Stiffness of the strain rows at constant products' gradients."""
    D = strain_rates(a, c, d)
    rates = sparse.csr_array(product_gradient(a, d.vector)) @ sparse.csr_array(pull(a, node_motion(a, c, d)))
    second = curvature(a.strains, d.product, c.sigma[a.strains.stress])
    return D.T @ end_stiffness(a.strains, d.product) @ D + rates.T @ second @ rates


def _loads(a: Arrays, c: Configuration, d: Derived, forces: Forces) -> Any:
    """∂(generalised force)/∂ξ of node forces, section torques and following loads at constant multipliers."""
    motion = node_motion(a, c, d)
    pulled = sparse.csr_array(pull(a, motion))
    on_product = forces.product + _spring_product_force(a, d, forces.spring)
    if a.strains.stress.size:
        on_product = on_product + strain_product_force(a, d, c.sigma[a.strains.stress])
    loads = following(a, motion, sparse.csr_array(section_rows(a, c.R)), forces.inputs)
    if a.faces is not None:
        loads = loads + motion.T @ face_tangent(a.faces, places(a, c, d), forces.inputs) @ motion
    if on_product.size:
        loads = loads + on_vectors(a, on_product, pulled)
    if a.rolling.row.size or a.curves:
        moved = sparse.csr_array(product_gradient(a, d.vector)) @ pulled
        loads = loads + moved.T @ weighed_stiffness(a, d, forces) @ moved
    return loads + _turning_loads(a, c, d, forces)


def weighed_stiffness(a: Arrays, d: Derived, forces: Forces) -> Any:
    """∂(force on products)/∂(products) of multipliers and inputs whose weights change with the pose, sparse (p, p).

    Over a step these are means, which change by half as much with its end.
    """
    form = stiffness(a, forces.multipliers, d.product, d.product)
    acting = forces.multipliers, forces.inputs
    add_curve_stiffness(a.curves, d.on_curves, acting, means=d.product, form=form)
    return sparse.csr_array(2.0 * form)


def _turning_loads(a: Arrays, c: Configuration, d: Derived, forces: Forces) -> Any:
    """∂/∂ξ of node forces and section torques that stay in the world while the body turns under them."""
    basis, loads = cross(a.dim), world_loads(a, d.arm, forces.inputs)
    f = _node_force(a, (c, d), forces, loads, stress=c.sigma[a.strains.stress]).reshape(-1, a.dim)
    body_f = np.einsum("kji,kj->ki", c.R[a.node_body], f)
    local = np.einsum("kji,kj->ki", c.R[a.node_body], d.arm)
    turned = -np.einsum("sij,kj->ksi", basis, body_f)  # f × θ by unit θ
    levered = np.einsum("ksi,bij,kj->kbs", turned, basis, local)
    shape = sparse.csr_array(a.node_shape)
    if a.mean is not None:
        shape = shape - a.translating @ a.mean
    lever = placed(a, np.einsum("ki,sij->ksj", body_f, basis)).T @ shape
    own = np.zeros((len(a.mass), a.n.shape[0], a.n.shape[0]))
    np.add.at(own, a.node_body, levered)
    torque = np.einsum("tji,tj->ti", spin_map(c.R)[a.torque_body], section_torques(a, loads))
    np.add.at(own, a.torque_body, spin_skew(torque))
    if a.rolling.spin_row.size:
        own += spin_skew(np.einsum("bij,bi->bj", spin_map(c.R), forces.torques(a)))
    return on_spins(a, own, lever, shape.T @ placed(a, turned) + torque_columns(a, spin_skew(torque)))
