"""Constraint rows, slips and dampers in a steady motion: rates, forces, and their derivatives by displacements.

Displacements ξ = (δr, θ, δu) have δr in axes that turn with the world spin of the motion, θ and δu in the axes of their
bodies. They change the rates of rows, slips and dampers by S ξ̇ + F ξ, with the Jacobian S from velocities to rates and
the matrix F of this module, which depends on the velocities of the motion.

A damper with the coefficient c and the relation ρ has a rate s in the motion if it connects bodies that move relative
to each other, or a moving body with the world. Its force changes by Sᵀ(c + ρ'(s))(S ξ̇ + F ξ), and Sᵀ(c + ρ'(s))F is the
circulatory part of the stiffness; for an isotropic damper to the ground of a mechanism that rotates with Ω it is c Ω×.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array, dense
from ...numerics.rotations import skew, turned_spins
from ..arrays import Arrays
from ..contacts.distances import distance_slope_changes
from ..continuous import spring_rates
from ..gradient import (
    block_diagonal,
    is_sparse,
    kept,
    node_rows,
    product_gradient,
    pull,
    row_weights,
    scale_rows,
    stacked_rows,
    world_spin_levers,
)
from ..rates.slips import slip_forces, slip_gain_slopes, slip_rows
from ..rolling import gain_slopes, gains, weights
from ..ropes import rope_slope_changes
from ..springs import damping_slopes, resisting_forces, tension_factors
from ..state import Configuration, Derived, node_velocities


def vector_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates of the vectors (v, d) at the velocities of a configuration."""
    rates: Array = a.incidence @ node_velocities(a, c, c.R, d.arm)
    return rates


def product_motion(a: Arrays, at: tuple[Configuration, Derived], spin: Array) -> tuple[Any, Array, Any]:
    """Jacobian P (p, n_v) of the products, rates of the products (p,), and matrix F (p, n_v), in a steady motion.

    P is ∂Π/∂ξ. With displacements ξ of the motion the rates change by P ξ̇ + F ξ. ``spin`` (s,) is the world spin.
    """
    c, d = at
    motion = node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body])
    of_vectors = vector_rates(a, c, d)
    gradient, by_rate, moved = product_gradient(a, d.vector), product_gradient(a, of_vectors), pull(a, motion)
    faster = gradient @ pull(a, _sweep_jacobian(a, c, motion, spin)) + by_rate @ moved
    return gradient @ moved, gradient @ of_vectors.ravel(), faster


def _sweep_jacobian(a: Arrays, c: Configuration, motion: Any, spin: Array) -> Any:
    """Jacobian (k·d, n_v) of w × x, with the displacements x of the nodes as bodies are displaced by ξ.

    ``motion`` (k·d, n_v) is the Jacobian of x. For displacements of centres of mass, w is the world ``spin`` (s,), for
    rotations and deformations the spin of the body of the node.
    """
    centres = np.arange(motion.shape[1]) < a.weight.size
    body_spin = skew(turned_spins(c.R, c.omega), a.dim)[a.node_body]
    frame = np.broadcast_to(skew(spin, a.dim), body_spin.shape)
    if is_sparse(a):
        first = motion @ sparse.diags_array(centres.astype(float))
        return sparse.csr_array(block_diagonal(body_spin) @ (motion - first) + block_diagonal(frame.copy()) @ first)
    rows = motion.reshape(len(body_spin), a.dim, motion.shape[1])
    return np.where(centres, frame @ rows, body_spin @ rows).reshape(motion.shape)


def row_slopes(a: Arrays, at: tuple[Configuration, Derived], spin: Array, coefficient: Array) -> Any:
    """Matrix Γ (g, n_v) of the constraint rates, which change by G ξ̇ + Γ ξ about a steady motion with world spin (s,).

    G is the constraint matrix. Terms a·Ω of spins contribute nothing to Γ, as they change by a·Rθ̇ alone. The rows of
    points on curves are zero. Dense or sparse like the arrays.
    """
    change, rate, faster = product_motion(a, at, spin)
    t, product = a.rolling, at[1].product
    matrix = row_weights(a, coefficient)
    if not t.row.size:
        return matrix @ faster
    by_product, across = gain_slopes(a, product, product)  # means of both ends: half of the derivatives at a state
    matrix = matrix + weights(a, gains(a, product, product), t.product)
    moving = 2.0 * rate.take(t.product)
    return matrix @ faster + (weights(a, moving * by_product, t.product) + weights(a, moving * across, t.by)) @ change


def slip_product_forces(a: Arrays, c: Configuration, d: Derived, multipliers: Array) -> Array:
    """Friction forces on the products (p,) of slips at the velocities of a configuration, without slips along curves.

    ``multipliers`` (g,) are those of the constraint rows; they load wheels.
    """
    rows = slip_rows(a.slips, d.product)
    force, _ = slip_forces(a.slips, rows @ _rates(a, c, d), multipliers)
    force[a.slips.curve >= 0] = 0.0
    return rows.T @ force


def _rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    rates: Array = product_gradient(a, d.vector) @ vector_rates(a, c, d).ravel()
    return rates


def slip_matrices(a: Arrays, at: tuple[Configuration, Derived], spin: Array) -> tuple[Any, Any]:
    """Damping matrix C and stiffness matrix K (n_v, n_v) of friction against slips about a steady motion.

    A slip is s = g(Π)·Π̇, and its friction F(s) acts on the products with gᵀF. Slips change by S ξ̇ + Γ ξ as rows do
    in :func:`row_slopes`; then C = −SᵀF'S, and K is −SᵀF'Γ minus the derivative of gᵀF at constant F. ``spin`` (s,) is
    the world spin. The change of these forces as the vectors of the products turn is part of :func:`.tangent.tangent`.
    """
    t, product = a.slips, at[1].product
    change, rate, faster = product_motion(a, at, spin)
    change, faster, rows = dense(change), dense(faster), slip_rows(t, product)
    force, slope = slip_forces(t, rows @ rate)
    on_curve = t.curve >= 0
    force[on_curve], slope[on_curve] = 0.0, 0.0
    bent, turned = np.zeros_like(rows), np.zeros((product.size,) * 2)
    for index, value in slip_gain_slopes(t, product):
        np.add.at(bent, (t.row, index), value * rate.take(t.product))
        np.add.at(turned, (t.product, index), force.take(t.row) * value)
    S, moved = rows @ change, rows @ faster + bent @ change
    return kept(a, -(S.T @ slope @ S)), kept(a, -(S.T @ slope @ moved) - change.T @ turned @ change)


def has_dampers(a: Arrays, c: Configuration) -> bool:
    """True if bodies move in a configuration and there are dampers or force laws, which then may have rates."""
    springs = a.springs
    return bool((springs.damping.any() or springs.relations or springs.force_laws) and (c.v.any() or c.omega.any()))


def steady_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates (springs,) of the lengths, components, angles and ropes of all spring-dampers at a configuration."""
    rates = product_gradient(a, d.vector) @ vector_rates(a, c, d).ravel()
    return np.asarray(spring_rates(a.springs, d.product, rates[:, None]))[:, 0]


def steady_tensions(a: Arrays, c: Configuration, rate: Array) -> Array:
    """Forces and torques c s + ρ(s) (springs,) of the dampers at their rates s (springs,)."""
    tension = tension_factors(a.springs, c.spring) * a.springs.damping * rate
    if a.springs.relations:
        tension[a.springs.resisting] += resisting_forces(a.springs, rate)
    return tension


def circulatory_parts(
    a: Arrays, at: tuple[Configuration, Derived], spin: Array, law_slopes: Array
) -> tuple[Any, Array, Any]:
    """Matrix S (springs, n_v), damping slopes (springs,) and matrix F (springs, n_v) of the dampers in a steady motion.

    With displacements ξ the rates of dampers change by S ξ̇ + F ξ. The slopes are c + ρ'(s), plus ``law_slopes``, the
    derivatives of force laws with respect to the rate. ``spin`` (s,) is the world spin.
    """
    c, d = at
    change, rate, faster = product_motion(a, at, spin)
    speed = np.asarray(spring_rates(a.springs, d.product, rate[:, None]))[:, 0]
    slopes = law_slopes + tension_factors(a.springs, c.spring) * damping_slopes(a.springs, speed)
    rates = spring_rates(a.springs, d.product, change)
    return rates, slopes, spring_rates(a.springs, d.product, faster) + _slope_changes(a, d, rate, change)


def circulatory(a: Arrays, at: tuple[Configuration, Derived], spin: Array, law_slopes: Array) -> Any:
    """Circulatory stiffness Sᵀ(c + ρ'(s))F (n_v, n_v) of dampers in a steady motion, dense or sparse like the arrays.

    The arguments are those of :func:`circulatory_parts`.
    """
    S, slopes, F = circulatory_parts(a, at, spin, law_slopes)
    return S.T @ scale_rows(F, slopes)


def _slope_changes(a: Arrays, d: Derived, rate: Array, change: Any) -> Any:
    """Derivatives (springs, n_v) of the rates ∂ℓ/∂Π Π̇ of spring lengths and angles ℓ, at constant rates of products.

    They are with respect to displacements ξ. ``rate`` (p,) are the rates Π̇, ``change`` (p, n_v) is the Jacobian ∂Π/∂ξ.
    """
    springs, sine, cosine = a.springs, a.springs.sine_product, a.springs.cosine_product
    at = springs.length_product
    length = scale_rows(change[at], -0.25 * d.product[at] ** -1.5 * rate[at])
    s, c, s_rate, c_rate = d.product[sine], d.product[cosine], rate[sine], rate[cosine]
    size = s**2 + c**2
    twist = 2.0 * (c * s_rate - s * c_rate) / size
    by_sine = scale_rows(change[sine], (-c_rate - twist * s) / size)
    by_cosine = scale_rows(change[cosine], (s_rate - twist * c) / size)
    changes = stacked_rows(length, 0.0 * change[springs.component_product], by_sine + by_cosine)
    if springs.ropes.number:
        changes = stacked_rows(changes, rope_slope_changes(springs.ropes, d.product, rate) @ change)
    if springs.distances:
        changes = stacked_rows(changes, distance_slope_changes(springs.distances, d.product, rate) @ change)
    return changes
