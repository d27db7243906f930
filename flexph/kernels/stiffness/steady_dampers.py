"""Spring-dampers in a steady motion: what the motion makes of their rates, and how that changes with displacements.

All bodies move with v₀ + Ω × r. Between points that turn together nothing is stretched. Dampers to points and
directions of the world are, with the rates s of their measures. Displacements ξ are seen in the axes that turn. They
change the rates by S ξ̇ + F ξ, F at the velocities of the motion. A damper acts with Sᵀ(c + ρ'(s))(S ξ̇ + F ξ), and
Sᵀ(c + ρ'(s))F is the circulatory part of the stiffness, for an isotropic damper c Ω× itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...numerics.rotations import skew
from ..arrays import Arrays
from ..continuous import spring_operator, spring_rates
from ..gradient import node_rows, product_gradient, pull, world_spin_levers
from ..springs import damping_slopes, resisting_forces
from ..state import Configuration, Derived, node_velocities


def has_dampers(a: Arrays, c: Configuration) -> bool:
    """Whether a configuration moves, and has dampers that may feel it."""
    springs = a.springs
    return bool((springs.damping.any() or springs.relations) and (c.v.any() or c.omega.any()))


def steady_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates of the measures of all spring-dampers at the velocities of a configuration, (springs,)."""
    rates = product_gradient(a, d.vector) @ _vector_rates(a, c, d).ravel()
    return np.asarray(spring_rates(a.springs, d.product, sparse.csr_array(rates[:, None])).toarray())[:, 0]


def steady_tensions(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Tensions and torques c s + ρ(s) of the dampers at the velocities of a configuration, (springs,)."""
    rate = steady_rates(a, c, d)
    tension = a.springs.damping * rate
    if a.springs.relations:
        tension[a.springs.resisting] += resisting_forces(a.springs, rate)
    return tension


def circulatory_parts(a: Arrays, c: Configuration, d: Derived, spin: Array) -> tuple[Any, Array, Any]:
    """S (springs, n_v), c + ρ'(s) (springs,) and F (springs, n_v), sparse, in a motion with world spin (s,)."""
    slopes = damping_slopes(a.springs, steady_rates(a, c, d))
    return spring_operator(a, c, d), slopes, _rate_changes(a, c, d, spin)


def circulatory(a: Arrays, c: Configuration, d: Derived, spin: Array) -> Any:
    """Sᵀ(c + ρ'(s))F, sparse (n_v, n_v)."""
    S, slopes, F = circulatory_parts(a, c, d, spin)
    return S.T @ sparse.diags_array(slopes) @ F


def _vector_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    rates: Array = a.incidence @ node_velocities(a, c, c.R, d.arm)
    return rates


def _rate_changes(a: Arrays, c: Configuration, d: Derived, spin: Array) -> Any:
    """F: changes of the rates of the measures at the velocities of the motion with ξ, sparse (springs, n_v)."""
    springs, nodes = a.springs, a.node_body.size
    motion = sparse.csr_array(node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body]))
    swept = sparse.kron(sparse.eye_array(nodes), skew(spin, a.dim)) @ motion
    gradient, by_rate = (sparse.csr_array(product_gradient(a, v)) for v in (d.vector, _vector_rates(a, c, d)))
    moved = sparse.csr_array(pull(a, motion))
    change, rate = gradient @ moved, gradient @ _vector_rates(a, c, d).ravel()  # of products, and their rates
    faster = gradient @ sparse.csr_array(pull(a, swept)) + by_rate @ moved
    rows = spring_rates(springs, d.product, faster) + _slope_changes(a, d, rate, change)
    return sparse.csr_array(rows)


def _slope_changes(a: Arrays, d: Derived, rate: Array, change: Any) -> Any:
    """Changes of ∂ℓ/∂Π Π̇ of lengths and angles with those of the products (p, n_v), at their rates (p,)."""
    springs, sine, cosine = a.springs, a.springs.sine_product, a.springs.cosine_product
    components = springs.component_product.size
    at = springs.length_product
    length = sparse.diags_array(-0.25 * d.product[at] ** -1.5 * rate[at]) @ change[at]
    s, c, s_rate, c_rate = d.product[sine], d.product[cosine], rate[sine], rate[cosine]
    size = s**2 + c**2
    twist = 2.0 * (c * s_rate - s * c_rate) / size
    by_sine = sparse.diags_array((-c_rate - twist * s) / size) @ change[sine]
    by_cosine = sparse.diags_array((s_rate - twist * c) / size) @ change[cosine]
    still = sparse.csr_array((components, change.shape[1]))
    return sparse.csr_array(sparse.vstack([length, still, by_sine + by_cosine]))
