"""Size of the tangent stiffness: the sum of the absolute values of all terms that it adds up.

Where terms cancel, the stiffness is small and its round-off is not: |δK| ≤ a few units of round-off times this sum,
entry by entry. What is smaller than that is zero; what is larger has a sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...numerics.rotations import cross, spin_map
from ..arrays import Arrays
from ..gradient import placed, product_gradient, section_rows, translating
from ..rolling import stiffness as rolling_stiffness
from ..springs import split
from ..state import Configuration, Derived, inertia_products, rotational_inertia
from ..step import section_torques, world_loads
from .tangent import Forces, inertial, node_motion


def stiffness_size(a: Arrays, c: Configuration, d: Derived, forces: Forces, spin: Array) -> Any:
    """Σ|terms| of K over (δr, θ, δu) at a steady motion with world spin (s,): symmetric pattern, sparse (n_v, n_v)."""
    motion = abs(node_motion(a, c, d))
    pulled = sparse.csr_array(sparse.kron(abs(sparse.csr_array(a.incidence)), sparse.eye_array(a.dim)) @ motion)
    moved = abs(sparse.csr_array(product_gradient(a, d.vector))) @ pulled  # of the products
    size = _inertia(a, c, spin) + _elastic(a, c) + _springs(a, d, forces, moved)
    size = size + _products(a, d, forces, pulled, moved) + _turning_loads(a, c, d, forces)
    return sparse.csr_array(size + _following(a, c, motion, forces.inputs))


def _inertia(a: Arrays, c: Configuration, spin: Array) -> Any:
    """Centrifugal terms; of one body they cancel about its principal axes."""
    square = float(spin @ spin)
    J = rotational_inertia(a, c.u, inertia_products(a, c.u))[a.turning]
    d, s, n = a.dim, a.n.shape[0], a.body_u.size
    blocks = [*(m * np.ones((d, d)) for m in a.mass), *(np.trace(j) * np.ones((s, s)) for j in J)]
    return abs(inertial(a, c, spin)[1]) + square * sparse.block_diag([*blocks, sparse.csr_array((n, n))])


def _elastic(a: Arrays, c: Configuration) -> Any:
    """|D|ᵀ|C⁻¹||D| with the terms of D(u), and what the terms of the stresses add."""
    strain, slopes, weights = (abs(sparse.csr_array(part)) for part in (a.strain, a.slopes, a.weights))
    flexibility = abs(sparse.csr_array(a.stiffness))
    slope = abs(a.slopes @ c.u)
    stress = flexibility @ (strain @ abs(c.u) + 0.5 * (weights @ slope**2))
    D = strain + weights @ sparse.diags_array(slope) @ slopes
    made = D.T @ flexibility @ D + slopes.T @ sparse.diags_array(weights.T @ stress) @ slopes
    rigid = len(a.mass) * a.dim + a.turning.size * a.n.shape[0]
    return sparse.block_diag([sparse.csr_array((rigid, rigid)), made]).tocsr()


def _springs(a: Arrays, d: Derived, forces: Forces, moved: Any) -> Any:
    """Stiffness of the springs, and their tension on the second derivatives of their measures."""
    springs, count = a.springs, a.first.size
    sine, cosine = abs(d.product[springs.sine_product]), abs(d.product[springs.cosine_product])
    length, size = d.product[springs.length_product], sine**2 + cosine**2
    by_length = sparse.diags_array(0.5 / np.sqrt(length)) @ moved[springs.length_product]
    by_angle = sparse.diags_array(cosine / size) @ moved[springs.sine_product]
    by_angle = by_angle + sparse.diags_array(sine / size) @ moved[springs.cosine_product]
    rates = sparse.csr_array(sparse.vstack([by_length, moved[springs.component_product], by_angle]))
    tension, _, torque = split(springs, abs(forces.spring))
    bent = np.concatenate([0.25 * length**-1.5 * tension, *(torque / size for _ in range(4))])
    i, j = springs.sine_product, springs.cosine_product
    at = np.concatenate([springs.length_product, i, j, i, j]), np.concatenate([springs.length_product, i, j, j, i])
    second = sparse.coo_array((bent, at), shape=(count, count)).tocsr()
    return rates.T @ sparse.diags_array(springs.stiffness) @ rates + moved.T @ second @ moved


def _products(a: Arrays, d: Derived, forces: Forces, pulled: Any, moved: Any) -> Any:
    """Forces on products as the vectors of these move."""
    first, second = sparse.csr_array(a.select_first), sparse.csr_array(a.select_second)
    swap = first.T @ sparse.diags_array(_on_products(a, d, forces)) @ second
    made = pulled.T @ sparse.kron(swap + swap.T, sparse.eye_array(a.dim)) @ pulled
    if not a.rolling.row.size:
        return made
    rolling = abs(sparse.csr_array(rolling_stiffness(a, forces.multipliers)))
    return made + moved.T @ (rolling + rolling.T) @ moved


def _on_products(a: Arrays, d: Derived, forces: Forces) -> Array:
    """Sizes of the forces of multipliers and springs on the products, (p,)."""
    springs, size = a.springs, abs(forces.product)
    tension, component, torque = split(springs, abs(forces.spring))
    sine, cosine = d.product[springs.sine_product], d.product[springs.cosine_product]
    radius = np.sqrt(sine**2 + cosine**2)
    np.add.at(size, springs.length_product, 0.5 * tension / np.sqrt(d.product[springs.length_product]))
    np.add.at(size, springs.component_product, component)
    np.add.at(size, springs.sine_product, torque / radius)
    np.add.at(size, springs.cosine_product, torque / radius)
    return size


def _turning_loads(a: Arrays, c: Configuration, d: Derived, forces: Forces) -> Any:
    """Forces on nodes and torques on sections that stay in the world while the body turns under them."""
    basis, R, loads = abs(cross(a.dim)), abs(c.R)[a.node_body], abs(world_loads(a, d.arm, forces.inputs))
    on_vector = abs(sparse.csr_array(product_gradient(a, d.vector))).T @ _on_products(a, d, forces)
    force = (abs(a.incidence).T @ on_vector.reshape(-1, a.dim)).ravel() + abs(a.input_node) @ loads
    body_force = np.einsum("kji,kj->ki", R, force.reshape(-1, a.dim))
    turned = np.einsum("sij,kj->ksi", basis, body_force)
    lever = np.einsum("kji,kj->ki", R, abs(d.arm))
    own = np.zeros((len(a.mass), a.n.shape[0], a.n.shape[0]))
    np.add.at(own, a.node_body, np.einsum("ksi,bij,kj->ksb", turned, basis, lever))
    torque = _section_torques(a, c, loads)
    np.add.at(own, a.torque_body, torque[:, :, None] + torque[:, None, :])
    if a.rolling.spin_row.size:
        torques = np.einsum("bij,bi->bj", abs(spin_map(c.R)), abs(forces.torques(a)))
        own += torques[:, :, None] + torques[:, None, :]
    across = placed(a, turned).T @ _shapes(a) + _bending(a, torque)
    n, rigid = a.body_u.size, len(a.mass) * a.dim
    spins = sparse.block_diag([sparse.csr_array((0, 0)), *(own + own.transpose(0, 2, 1))[a.turning]])
    rest = sparse.block_array([[spins, across], [across.T, sparse.csr_array((n, n))]])
    return sparse.block_diag([sparse.csr_array((rigid, rigid)), rest]).tocsr()


def _section_torques(a: Arrays, c: Configuration, loads: Array) -> Array:
    """Sizes of the torques on sections in body axes, (t, s)."""
    world = abs(section_torques(a._replace(input_torque=abs(a.input_torque)), loads))
    return np.einsum("tji,tj->ti", abs(spin_map(c.R))[a.torque_body], world)


def _shapes(a: Arrays) -> Any:
    """|φ| + |φ̄| of the nodes, sparse (k·d, n)."""
    shape = abs(sparse.csr_array(a.node_shape))
    return shape if a.mean is None else shape + translating(a) @ abs(sparse.csr_array(a.mean))


def _bending(a: Arrays, torque: Array) -> Any:
    """Torques (t, s) on the rotations ψ of sections as the spins of their bodies turn them, sparse (spins, n)."""
    s, t = a.n.shape[0], a.torque_body.size
    place = np.full(len(a.mass), -1)
    place[a.turning] = np.arange(a.turning.size)
    values = torque[:, :, None] + torque[:, None, :]
    rows = np.broadcast_to(s * place[a.torque_body][:, None, None] + np.arange(s)[:, None], values.shape)
    columns = np.broadcast_to(np.arange(t * s).reshape(t, 1, s), values.shape)
    spread = sparse.csr_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=(a.turning.size * s, t * s))
    return spread @ abs(sparse.csr_array(a.torque_shape))


def _following(a: Arrays, c: Configuration, motion: Any, inputs: Array) -> Any:
    """Loads that turn with a section."""
    size = motion.shape[1]
    if not a.follow_input.size:
        return sparse.csr_array((size, size))
    change = sparse.lil_array((inputs.size, size))
    for own, nodes in zip(a.follow_input, a.follow_node, strict=True):
        for value, node in zip(abs(inputs[own]), nodes, strict=True):
            change[own] += value * motion[node * a.dim + np.arange(a.dim)]
    on = motion.T @ abs(sparse.csr_array(a.input_node))
    on = on + abs(section_rows(a, c.R)).T @ abs(sparse.csr_array(a.input_torque))
    made = on @ sparse.csr_array(change)
    return made + made.T
