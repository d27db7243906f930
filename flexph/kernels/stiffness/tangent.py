"""Equations of motion linearised about rest or a steady rotation: mass, gyroscopic and stiffness matrices.

The whole mechanism may rotate steadily with Ω about an axis of the world; the equations are in the rotating frame.
Displacements are ξ = (δr in world axes, θ in body axes with R exp[θ]×, δu). With p = J(u)ω, c = n + Nu,
A = ∂(J(u)ω)/∂u and the spin ω = RᵀΩ of a body in its own axes, the inertia forces on a body are

    m(δr̈ + 2Ω × δṙ + Ω × (Ω × δr)),
    J(θ̈ + ω×θ̇) + Aδu̇ + cδü + ω × (J(θ̇ + ω×θ) + Aδu + cδu̇) − p × (θ̇ + ω×θ),
    cᵀ(θ̈ + ω×θ̇) + 2ω_aN_a δu̇ + Mδü − Aᵀ(θ̇ + ω×θ) − ω_aω_b K_ab δu.

The gyroscopic matrix is skew-symmetric; the stiffness is symmetric if all forces balance and have a potential, and no
damper to the ground has a rate (:mod:`.steady_slopes`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import cross, spin_map, spin_skew
from ..arrays import Arrays, total
from ..contacts.distances import closed_curvature, distance_curvature, distance_rows
from ..continuous import (
    damping_matrix,
    elastic_stress,
    mass_of,
    section_torques,
    spring_rates,
    stiffness_of,
    strain_of,
    strain_product_force,
    strain_rows,
    world_loads,
)
from ..faces import face_forces, face_tangent
from ..gradient import (
    kept,
    node_rows,
    placed,
    product_rows,
    pull,
    scale_rows,
    section_rows,
    vector_forces,
    velocity_count,
    world_spin_levers,
)
from ..rates.flows import flow_forces, flow_matrices
from ..rates.on_curves import add_curve_stiffness
from ..rolling import add_torques, stiffness
from ..ropes import rope_curvature, rope_rows
from ..springs import damping_slopes, split
from ..state import Configuration, Derived, places
from ..strains import end_stiffness, second_derivative
from .forms import (
    following_load_slopes,
    in_last_velocities,
    inertia_force_matrices,
    on_measures,
    on_spins,
    on_vectors,
    torque_columns,
)
from .steady_slopes import circulatory, has_dampers


class Forces(NamedTuple):
    """Forces of constraints, springs and inputs at a state, from which :func:`tangent` computes the stiffness."""

    product: Array  # (p,), forces of constraints on the products; spring forces are not included
    spring: Array  # (springs,), tension or torque of springs and of dampers
    stiffness: Array  # (springs,), stiffness of each spring
    by_rate: Array  # (springs,), derivatives of force laws with respect to the rate, in addition to those of dampers
    inputs: Array
    multipliers: Array  # (g,)
    time: float = 0.0

    def torques(self, a: Arrays) -> Array:
        """World torques (b, s) on the bodies from the spin terms of nonholonomic constraints."""
        torques = np.zeros((len(a.mass), a.n.shape[0]))
        add_torques(a, self.multipliers, torques)
        return torques


class Tangent(NamedTuple):
    """Matrices M, C and K (n_v, n_v) of the linearised forces M ξ̈ + C ξ̇ + K ξ with ξ = (δr, θ, δu).

    C is split into its gyroscopic and its damping matrix.
    """

    mass: Any
    gyroscopic: Any
    damping: Any
    stiffness: Any


class Rows(NamedTuple):
    """Jacobians of nodes (k·d, n_v), vectors (v·d, n_v) and products (p, n_v) with respect to displacements ξ."""

    nodes: Any
    vectors: Any
    products: Any


def motion_rows(a: Arrays, c: Configuration, d: Derived) -> Rows:
    """Jacobians of nodes, vectors and products with respect to displacements ξ at a configuration."""
    nodes = node_motion(a, c, d)
    pulled = pull(a, nodes)
    return Rows(nodes, pulled, product_rows(a, d.vector, pulled))


def node_motion(a: Arrays, c: Configuration, d: Derived) -> Any:
    """Jacobian (k·d, n_v) of the node positions with respect to ξ, dense or sparse like the arrays."""
    return node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body])


def generalised_force(a: Arrays, c: Configuration, d: Derived, forces: Forces) -> Array:
    """Generalised forces (n_v,) on (ṙ, ω, u̇) of constraints, springs, inputs, flows, weights and stresses.

    Those of constraints are the forces on products and the torques of spin terms. Inertia forces are not included.
    """
    loads = world_loads(a, d.arm, forces.inputs)
    force = node_motion(a, c, d).T @ _node_force(a, (c, d), forces, loads)
    if a.torque_body.size:
        force += section_rows(a, c.R).T @ section_torques(a, loads).ravel()
    if a.rolling.spin_row.size:
        spins = a.columns.omega[a.turning]
        force[spins] += np.einsum("bij,bi->bj", spin_map(c.R), forces.torques(a))[a.turning]
    force[: a.weight.size] += a.weight.ravel()
    if a.flows:
        force[a.columns.v.ravel()] += flow_forces(a.flows, c.r, forces.time).ravel()
    force[force.size - a.body_u.size :] -= strain_of(a, c.u).T @ elastic_stress(a, c.u)
    return force


def tangent(a: Arrays, c: Configuration, d: Derived, forces: Forces, *, spin: Array) -> Tangent:
    """Linearised equations of motion about a steady motion with world spin (s,) and u̇ = 0.

    The stresses σ of strain rows are those of the configuration; in an iteration they may differ from C⁻¹ε.
    """
    gyroscopic, centrifugal = inertia_force_matrices(a, c, spin)
    damping = damping_matrix(a, c, d, damping_slopes)
    if a.flows:
        flow = flow_matrices(a.flows, a.columns.v, velocity_count(a), forces.time)
        gyroscopic, damping = gyroscopic + kept(a, flow.gyroscopic), damping + kept(a, flow.damping)
    return Tangent(mass_of(a, c.u), gyroscopic, damping, centrifugal + _acting(a, (c, d), forces, spin))


def tangent_stiffness(a: Arrays, c: Configuration, d: Derived, forces: Forces, *, spin: Array) -> Any:
    """Stiffness matrix K (n_v, n_v) of :func:`tangent`, without the other matrices."""
    acting = _acting(a, (c, d), forces, spin)
    return inertia_force_matrices(a, c, spin)[1] + acting if spin.any() or c.omega.any() else acting


def _acting(a: Arrays, at: tuple[Configuration, Derived], forces: Forces, spin: Array) -> Any:
    """Stiffness matrix (n_v, n_v) of all forces except inertia forces."""
    (c, d), rows = at, motion_rows(a, *at)
    stiffness = in_last_velocities(a, stiffness_of(a, c.u)) - _loads(a, at, forces, rows)
    if forces.spring.size:
        stiffness = stiffness + _springs(a, d, forces, rows.products)
    if a.strains.stress.size:
        stiffness = stiffness + _strained(a, at, rows.products, forces.time)
    if a.flows:
        flow = flow_matrices(a.flows, a.columns.v, velocity_count(a), forces.time)
        stiffness = stiffness + kept(a, flow.stiffness)
    return stiffness + circulatory(a, (c, d), spin, forces.by_rate) if has_dampers(a, c) else stiffness


def _node_force(
    a: Arrays, at: tuple[Configuration, Derived], forces: Forces, loads: Array, *, stress: Array | None = None
) -> Array:
    c, d = at
    on_product = forces.product + _spring_product_force(a, d, forces.spring)
    if a.strains.stress.size:
        on_product = on_product + strain_product_force(a, d, stress, forces.time)
    force = (a.incidence.T @ vector_forces(a, d.vector, on_product)).ravel() + a.input_node @ loads
    return force if a.faces is None else force + face_forces(a.faces, places(a, c, d), loads).ravel()


def _spring_product_force(a: Arrays, d: Derived, spring: Array) -> Array:
    """Forces on the products (p,) from tensions and torques of springs (springs,)."""
    if not spring.size:
        return np.zeros(a.first.size)
    springs, (tension, component, torque, pull_of_ropes, normal) = a.springs, split(a.springs, spring)
    sine, cosine = d.product[springs.sine_product], d.product[springs.cosine_product]
    size = sine**2 + cosine**2
    by_length = 0.5 / np.sqrt(d.product[springs.length_product]) * tension
    places = springs.length_product, springs.component_product, springs.sine_product, springs.cosine_product
    values = by_length, component, cosine / size * torque, -sine / size * torque
    force = total(np.concatenate(places), np.concatenate(values), a.first.size)
    if springs.ropes.number:
        force = force + rope_rows(springs.ropes, d.product).T @ pull_of_ropes
    return -force - distance_rows(springs.distances, d.product).T @ normal if springs.distances else -force


def _springs(a: Arrays, d: Derived, forces: Forces, moved: Any) -> Any:
    """Stiffness matrix (n_v, n_v) of the springs if the Jacobian ``moved`` (p, n_v) of the products is constant.

    It has the material stiffness, and the geometric one from second derivatives with respect to the products.
    """
    springs, S = a.springs, spring_rates(a.springs, d.product, moved)
    tension, _, torque, pull_of_ropes, normal = split(springs, forces.spring)
    sine, cosine = d.product[springs.sine_product], d.product[springs.cosine_product]
    size = (sine**2 + cosine**2) ** 2
    curved, mixed = 2.0 * sine * cosine / size * torque, (sine**2 - cosine**2) / size * torque
    second = on_measures(a, -0.25 * d.product[springs.length_product] ** -1.5 * tension, (-curved, curved, mixed))
    if springs.ropes.number:
        second = second + rope_curvature(springs.ropes, d.product, pull_of_ropes)
    if springs.distances:
        second = second + distance_curvature(springs.distances, d.product, normal)
    return S.T @ scale_rows(S, forces.stiffness) + moved.T @ (second @ moved)


def _strained(a: Arrays, at: tuple[Configuration, Derived], moved: Any, time: float) -> Any:
    """Stiffness matrix (n_v, n_v) of the strain rows if the Jacobian ``moved`` (p, n_v) of the products is constant."""
    c, d = at
    D = strain_rows(a, d) @ moved
    second = second_derivative(a.strains, d.product, c.sigma[a.strains.stress])
    return D.T @ (end_stiffness(a.strains, d.product, time) @ D) + moved.T @ (second @ moved)


def _loads(a: Arrays, at: tuple[Configuration, Derived], forces: Forces, rows: Rows) -> Any:
    """Derivative (n_v, n_v) of generalised forces as nodes, sections and products move with ξ, at constant forces.

    These are forces on nodes, on sections and on products, and loads that follow sections or faces.
    """
    c, d = at
    on_product = forces.product + _spring_product_force(a, d, forces.spring)
    if a.strains.stress.size:
        on_product = on_product + strain_product_force(a, d, c.sigma[a.strains.stress])
    loads = _turning_loads(a, c, d, forces)
    if a.follow_input.size:
        loads = loads + following_load_slopes(a, rows.nodes, section_rows(a, c.R), forces.inputs)
    if a.faces is not None:
        loads = loads + rows.nodes.T @ (face_tangent(a.faces, places(a, c, d), forces.inputs) @ rows.nodes)
    if on_product.size:
        loads = loads + on_vectors(a, on_product, rows.vectors)
    if a.rolling.row.size or a.curves:
        loads = loads + rows.products.T @ (weighed_stiffness(a, d, forces) @ rows.products)
    if a.closed:
        loads = loads + rows.products.T @ (closed_curvature(a.closed, d.product, forces.multipliers) @ rows.products)
    return loads


def weighed_stiffness(a: Arrays, d: Derived, forces: Forces) -> Any:
    """Derivatives (p, p) of forces on products with respect to products, for terms weighted by a product.

    These are velocity terms and points on curves. The functions for a step weigh products by the mean of its two ends,
    and so return half of these derivatives for a single state; their result is doubled here.
    """
    form = stiffness(a, forces.multipliers, d.product, d.product)
    acting = forces.multipliers, forces.inputs
    add_curve_stiffness(a.curves, d.on_curves, acting, means=d.product, form=form)
    return kept(a, 2.0 * form)


def _turning_loads(a: Arrays, c: Configuration, d: Derived, forces: Forces) -> Any:
    """Derivative (n_v, n_v), with respect to ξ, of the generalised force of constant world forces and torques.

    The forces act on nodes, the torques on sections; their levers turn and deform with the bodies.
    """
    basis, loads = cross(a.dim), world_loads(a, d.arm, forces.inputs)
    f = _node_force(a, (c, d), forces, loads, stress=c.sigma[a.strains.stress]).reshape(-1, a.dim)
    body_f = np.einsum("kji,kj->ki", c.R[a.node_body], f)
    local = np.einsum("kji,kj->ki", c.R[a.node_body], d.arm)
    turned = -np.einsum("sij,kj->ksi", basis, body_f)  # f × θ by unit θ
    levered = np.einsum("ksi,bij,kj->kbs", turned, basis, local)
    shape = a.node_shape
    if a.mean is not None:
        shape = shape - a.translating @ a.mean
    lever = placed(a, np.einsum("ki,sij->ksj", body_f, basis)).T @ shape
    back = shape.T @ placed(a, turned)
    blocks = np.zeros((len(a.mass), a.n.shape[0], a.n.shape[0]))
    np.add.at(blocks, a.node_body, levered)
    if a.torque_body.size:
        torque = spin_skew(np.einsum("tji,tj->ti", spin_map(c.R)[a.torque_body], section_torques(a, loads)))
        np.add.at(blocks, a.torque_body, torque)
        back = back + torque_columns(a, torque)
    if a.rolling.spin_row.size:
        blocks += spin_skew(np.einsum("bij,bi->bj", spin_map(c.R), forces.torques(a)))
    return on_spins(a, blocks, lever, back)
