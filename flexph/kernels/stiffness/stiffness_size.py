"""Magnitude of the tangent stiffness: the sum of the absolute values of all its terms.

If terms cancel, the stiffness is small but its round-off is not: |δK| ≤ a few units of round-off times this sum, entry
by entry. Smaller entries count as zero; the sign of larger ones is reliable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import cross, spin_map
from ..arrays import Arrays
from ..contacts.distances import closed_curvature, distance_curvature, distance_rows
from ..continuous import assembled, section_torques, strain_product_force, world_loads
from ..faces import face_matrix, face_tangent
from ..gradient import (
    diagonal_of,
    kept,
    placed,
    product_rows,
    pull,
    scale_rows,
    section_rows,
    stacked_rows,
    vector_forces,
    velocity_count,
)
from ..rates.flows import flow_matrices
from ..ropes import rope_curvature, rope_rows
from ..springs import split
from ..state import Configuration, Derived, inertia_products, places, rotational_inertia
from ..strains import end_stiffness, gradient, rows, second_derivative, strain_stresses
from .forms import (
    following_load_slopes,
    in_last_velocities,
    inertia_force_matrices,
    on_measures,
    on_spins,
    on_vectors,
    torque_columns,
)
from .steady_slopes import circulatory_parts, has_dampers
from .tangent import Forces, node_motion, weighed_stiffness


def stiffness_size(a: Arrays, c: Configuration, d: Derived, forces: Forces, *, spin: Array) -> Any:
    """Entrywise sum of the absolute values of all terms of K, (n_v, n_v), with a symmetric pattern.

    K is the tangent stiffness at a steady motion with world spin (s,).
    """
    motion = abs(node_motion(a, c, d))
    pulled = pull(a._replace(incidence=abs(a.incidence)), motion)
    moved = product_rows(a, abs(d.vector), pulled)
    size = _elastic(a, c) + _products(a, d, forces, (pulled, moved)) + _turning_loads(a, c, d, forces)
    if spin.any():
        size = size + _inertia(a, c, spin)
    if forces.spring.size:
        size = size + _spring_terms(a, d, forces, moved)
    if a.strains.stress.size:
        size = size + _strain_terms(a, d, moved, forces.time)
    if a.flows:
        flow = flow_matrices(a.flows, a.columns.v, velocity_count(a), forces.time, absolute=True)
        size = size + kept(a, flow.stiffness)
    if has_dampers(a, c):
        S, slopes, F = circulatory_parts(a, (c, d), spin, forces.by_rate)
        across = abs(S).T @ scale_rows(abs(F), abs(slopes))
        size = size + across + across.T
    if a.follow_input.size:
        loads = following_load_slopes(_absolute_arrays(a), motion, abs(section_rows(a, c.R)), abs(forces.inputs))
        size = size + loads + loads.T
    if a.faces is not None:
        loads = motion.T @ (abs(face_tangent(a.faces, places(a, c, d), forces.inputs)) @ motion)
        size = size + loads + loads.T
    return size


def _absolute_arrays(a: Arrays) -> Arrays:
    """Copy of the arrays in which input matrices and section shapes have absolute values."""
    names = ("input_node", "input_torque", "torque_shape")
    return a._replace(**{name: abs(getattr(a, name)) for name in names})


def _inertia(a: Arrays, c: Configuration, spin: Array) -> Any:
    """Sum of the absolute values of the centrifugal terms, (n_v, n_v).

    Terms that cancel within a body are bounded by Ω²m and Ω² tr J with the world spin Ω, ``spin`` (s,).
    """
    square = float(spin @ spin)
    J = rotational_inertia(a, c.u, inertia_products(a, c.u))[a.turning]
    d, s, n = a.dim, a.n.shape[0], a.body_u.size
    across = kept(a, np.zeros((a.turning.size * s, n)))
    masses = a.mass[:, None, None] * np.ones((d, d))
    moments = np.trace(J, axis1=1, axis2=2)[:, None, None] * np.ones((s, s))
    terms = assembled((diagonal_of(a, masses), diagonal_of(a, moments)), (across, across.T), kept(a, np.zeros((n, n))))
    return abs(inertia_force_matrices(a, c, spin)[1]) + square * terms


def _elastic(a: Arrays, c: Configuration) -> Any:
    """Sum of the absolute values of the elastic terms |D|ᵀ|C⁻¹||D| and of the geometric stiffness, (n_v, n_v).

    |D| is the sum of the absolute terms of the strain matrix D(u).
    """
    strain, slopes, weights, flexibility = (abs(part) for part in (a.strain, a.slopes, a.weights, a.stiffness))
    slope = abs(a.slopes @ c.u)
    stress = flexibility @ (strain @ abs(c.u) + 0.5 * (weights @ slope**2))
    D = strain + weights @ scale_rows(slopes, slope)
    return in_last_velocities(a, D.T @ (flexibility @ D) + slopes.T @ scale_rows(slopes, weights.T @ stress))


def _spring_terms(a: Arrays, d: Derived, forces: Forces, moved: Any) -> Any:
    """Sum of the absolute values of the terms of springs, (n_v, n_v).

    These are their stiffness, and their tensions times the second derivatives of lengths, angles and ropes with respect
    to the products. ``moved`` (p, n_v) are the absolute derivatives of the products with respect to ξ.
    """
    springs = a.springs
    sine, cosine = abs(d.product[springs.sine_product]), abs(d.product[springs.cosine_product])
    length, size = d.product[springs.length_product], sine**2 + cosine**2
    by_length = scale_rows(moved[springs.length_product], 0.5 / np.sqrt(length))
    by_angle = scale_rows(moved[springs.sine_product], cosine / size)
    by_angle = by_angle + scale_rows(moved[springs.cosine_product], sine / size)
    rates = stacked_rows(by_length, moved[springs.component_product], by_angle)
    tension, _, torque, pull_of_ropes, normal = split(springs, abs(forces.spring))
    bent = torque / size
    second = on_measures(a, 0.25 * length**-1.5 * tension, (bent, bent, bent))
    if springs.ropes.number:
        rates = stacked_rows(rates, rope_rows(springs.ropes, d.product, absolute=True) @ moved)
        second = second + rope_curvature(springs.ropes, d.product, pull_of_ropes, absolute=True)
    if springs.distances:
        rates = stacked_rows(rates, abs(distance_rows(springs.distances, d.product)) @ moved)
        second = second + distance_curvature(springs.distances, d.product, normal, absolute=True)
    return rates.T @ scale_rows(rates, abs(forces.stiffness)) + moved.T @ (second @ moved)


def _strain_terms(a: Arrays, d: Derived, moved: Any, time: float) -> Any:
    """Sum of the absolute values of the terms of strain rows, (n_v, n_v).

    These are their stiffness, and their stresses times the second derivatives of the strains with respect to the
    products. ``moved`` (p, n_v) are the absolute derivatives of the products with respect to ξ.
    """
    strains, stress = a.strains, strain_stresses(a.strains, d.product, time)
    rates = abs(rows(strains, gradient(strains, d.product), a.first.size)) @ moved
    second = abs(second_derivative(strains, d.product, stress))
    return rates.T @ (abs(end_stiffness(strains, d.product, time)) @ rates) + moved.T @ (second @ moved)


def _products(a: Arrays, d: Derived, forces: Forces, motion: tuple[Any, Any]) -> Any:
    """Sum of the absolute values of the geometric stiffness of forces on products, (n_v, n_v).

    ``motion`` are the absolute derivatives, with respect to ξ, of the vectors (v·d, n_v) and of the products (p, n_v).
    """
    pulled, moved = motion
    size = on_vectors(a, _on_products(a, d, forces), pulled)
    if a.closed:
        size = size + moved.T @ (abs(closed_curvature(a.closed, d.product, forces.multipliers)) @ moved)
    if not (a.rolling.row.size or a.curves):
        return size
    weighed = abs(weighed_stiffness(a, d, forces))
    return size + moved.T @ ((weighed + weighed.T) @ moved)


def _on_products(a: Arrays, d: Derived, forces: Forces) -> Array:
    """Sums (p,) of the absolute forces of multipliers, springs and stresses on the products."""
    springs, size = a.springs, abs(forces.product)
    tension, component, torque, pull_of_ropes, normal = split(springs, abs(forces.spring))
    sine, cosine = d.product[springs.sine_product], d.product[springs.cosine_product]
    radius = np.sqrt(sine**2 + cosine**2)
    np.add.at(size, springs.length_product, 0.5 * tension / np.sqrt(d.product[springs.length_product]))
    np.add.at(size, springs.component_product, component)
    np.add.at(size, springs.sine_product, torque / radius)
    np.add.at(size, springs.cosine_product, torque / radius)
    if springs.ropes.number:
        size += rope_rows(springs.ropes, d.product, absolute=True).T @ pull_of_ropes
    if springs.distances:
        size += abs(distance_rows(springs.distances, d.product)).T @ normal
    return size + abs(strain_product_force(a, d, None, forces.time)) if a.strains.stress.size else size


def _turning_loads(a: Arrays, c: Configuration, d: Derived, forces: Forces) -> Any:
    """Sum of the absolute stiffness terms, (n_v, n_v), of forces and torques of constant world directions.

    The forces act on nodes, the torques on sections.
    """
    basis, R, loads = abs(cross(a.dim)), abs(c.R)[a.node_body], abs(world_loads(a, d.arm, forces.inputs))
    on_vector = vector_forces(a, abs(d.vector), _on_products(a, d, forces))
    force = (abs(a.incidence).T @ on_vector).ravel() + abs(a.input_node) @ loads
    if a.faces is not None:
        force = force + abs(face_matrix(a.faces, places(a, c, d), loads.size)) @ abs(forces.inputs)
    body_force = np.einsum("kji,kj->ki", R, force.reshape(-1, a.dim))
    turned = np.einsum("sij,kj->ksi", basis, body_force)
    lever = np.einsum("kji,kj->ki", R, abs(d.arm))
    blocks = np.zeros((len(a.mass), a.n.shape[0], a.n.shape[0]))
    np.add.at(blocks, a.node_body, np.einsum("ksi,bij,kj->ksb", turned, basis, lever))
    torque = _section_torques(a, c, loads)
    np.add.at(blocks, a.torque_body, torque[:, :, None] + torque[:, None, :])
    if a.rolling.spin_row.size:
        torques = np.einsum("bij,bi->bj", abs(spin_map(c.R)), abs(forces.torques(a)))
        blocks += torques[:, :, None] + torques[:, None, :]
    bending = torque_columns(_absolute_arrays(a), torque[:, :, None] + torque[:, None, :]).T
    across = placed(a, turned).T @ _shapes(a) + bending
    return on_spins(a, blocks + blocks.transpose(0, 2, 1), across, across.T)


def _section_torques(a: Arrays, c: Configuration, loads: Array) -> Array:
    """Absolute torques (t, s) on the sections with torque inputs, in body axes, for absolute inputs ``loads`` (i,)."""
    world = abs(section_torques(_absolute_arrays(a), loads))
    return np.einsum("tji,tj->ti", abs(spin_map(c.R))[a.torque_body], world)


def _shapes(a: Arrays) -> Any:
    """Sums |φ| + |φ̄| of the node shapes, (k·d, n)."""
    shape = abs(a.node_shape)
    return shape if a.mean is None else shape + a.translating @ abs(a.mean)
