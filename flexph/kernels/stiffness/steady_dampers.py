"""Spring-dampers in a steady motion: their rates, and the derivatives of these by displacements.

All bodies move with v₀ + Ω × r. Dampers between points that rotate together have no rate; dampers to points and
directions of the world have rates s. Displacements ξ are expressed in the rotating axes and change the rates by S ξ̇ +
F ξ, with F at the velocities of the motion. A damper acts with Sᵀ(c + ρ'(s))(S ξ̇ + F ξ), and Sᵀ(c + ρ'(s))F is the
circulatory part of the stiffness; for an isotropic damper this is c Ω×.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ..arrays import Arrays
from ..continuous import spring_rates
from ..gradient import product_gradient, scale_rows, stacked_rows
from ..ropes import rope_slope_changes
from ..springs import damping_slopes, resisting_forces, taut
from ..state import Configuration, Derived
from .row_slopes import product_motion, vector_rates


def has_dampers(a: Arrays, c: Configuration) -> bool:
    """True if a configuration has velocities, and dampers or force laws that may have rates."""
    springs = a.springs
    return bool((springs.damping.any() or springs.relations or springs.force_laws) and (c.v.any() or c.omega.any()))


def steady_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates of all spring-dampers at the velocities of a configuration, (springs,)."""
    rates = product_gradient(a, d.vector) @ vector_rates(a, c, d).ravel()
    return np.asarray(spring_rates(a.springs, d.product, rates[:, None]))[:, 0]


def steady_tensions(a: Arrays, c: Configuration, rate: Array) -> Array:
    """Tensions and torques c s + ρ(s) of the dampers at the rates of a steady motion, (springs,)."""
    tension = taut(a.springs, c.spring) * a.springs.damping * rate
    if a.springs.relations:
        tension[a.springs.resisting] += resisting_forces(a.springs, rate)
    return tension


def circulatory_parts(
    a: Arrays, at: tuple[Configuration, Derived], spin: Array, law_slopes: Array
) -> tuple[Any, Array, Any]:
    """S (springs, n_v), c + ρ'(s) (springs,) and F (springs, n_v) in a steady motion with world spin (s,).

    Rates of the measures change by S ξ̇ + F ξ. ``law_slopes`` are ∂F/∂v of force laws, added to c.
    """
    c, d = at
    change, rate, faster = product_motion(a, at, spin)
    speed = np.asarray(spring_rates(a.springs, d.product, rate[:, None]))[:, 0]
    slopes = law_slopes + taut(a.springs, c.spring) * damping_slopes(a.springs, speed)
    rates = spring_rates(a.springs, d.product, change)
    return rates, slopes, spring_rates(a.springs, d.product, faster) + _slope_changes(a, d, rate, change)


def circulatory(a: Arrays, at: tuple[Configuration, Derived], spin: Array, law_slopes: Array) -> Any:
    """Circulatory stiffness Sᵀ(c + ρ'(s))F, (n_v, n_v), dense or sparse like the arrays."""
    S, slopes, F = circulatory_parts(a, at, spin, law_slopes)
    return S.T @ scale_rows(F, slopes)


def _slope_changes(a: Arrays, d: Derived, rate: Array, change: Any) -> Any:
    """Changes of ∂ℓ/∂Π Π̇ of lengths, angles and ropes with those of the products (p, n_v), at their rates (p,)."""
    springs, sine, cosine = a.springs, a.springs.sine_product, a.springs.cosine_product
    at = springs.length_product
    length = scale_rows(change[at], -0.25 * d.product[at] ** -1.5 * rate[at])
    s, c, s_rate, c_rate = d.product[sine], d.product[cosine], rate[sine], rate[cosine]
    size = s**2 + c**2
    twist = 2.0 * (c * s_rate - s * c_rate) / size
    by_sine = scale_rows(change[sine], (-c_rate - twist * s) / size)
    by_cosine = scale_rows(change[cosine], (s_rate - twist * c) / size)
    changes = stacked_rows(length, 0.0 * change[springs.component_product], by_sine + by_cosine)
    if not springs.ropes.number:
        return changes
    return stacked_rows(changes, rope_slope_changes(springs.ropes, d.product, rate) @ change)
