"""Damping forces of spring-dampers at given rates of extension, their derivatives, and resistances (force over rate).

In a step, the increments of lengths, components and angles are exact functions of increments of products. A component
is a product itself. A length ℓ = √Π has Δℓ = ΔΠ/(ℓ₀ + ℓ₁). An angle α of sine and cosine products (s, c) has Δα =
atan2(Y, X), Y = s₁c₀ − c₁s₀ = c̄Δs − s̄Δc, X = c₀c₁ + s₀s₁, so that Δα = κ(c̄Δs − s̄Δc) with κ = Δα/Y.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from .spring_arrays import Springs

TINY = float(np.finfo(float).tiny)
SUBSTITUTIONS = 100
"""Largest number of successive substitutions for the lengths of springs at collocation points."""
ROUND_OFF = 2e-16
"""Change of a length, relative to the longest one, at which these substitutions end."""


def resisting_forces(springs: Springs, rate: Array, stuck: Array | None = None) -> Array:
    """Resistive forces ρ(s) (relations,) of all relations at the spring rates (springs,).

    Relations in the mask ``stuck`` (relations,) have the viscous force ρ'(0) s instead.
    """
    rates = rate[springs.resisting]
    forces = np.array([float(r.force(s)) for r, s in zip(springs.relations, rates, strict=True)])
    return forces if stuck is None else np.where(stuck, springs.steepness * rates, forces)


def damping_slopes(springs: Springs, rate: Array, stuck: Array | None = None) -> Array:
    """Derivatives c + ρ'(s) (springs,) of the damping forces with respect to the spring rates s (springs,).

    Relations in the mask ``stuck`` (relations,) have c + ρ'(0) instead.
    """
    if not springs.relations:
        return springs.damping
    slope = np.array([float(r.slope(s)) for r, s in zip(springs.relations, rate[springs.resisting], strict=True)])
    slopes = springs.damping.copy()
    slopes[springs.resisting] += slope if stuck is None else np.where(stuck, springs.steepness, slope)
    return slopes


def tension_factors(springs: Springs, states: Array) -> Array:
    """Factors (springs,) of the damping: 0 for a rope whose spring has no tension, else 1; ``states`` (stored,)."""
    factors = np.ones(springs.stiffness.size)
    if springs.ropes.number:
        factors[springs.roped] = states[springs.state[springs.roped]] > 0.0
    return factors


def resistances(springs: Springs, rate: Array) -> Array:
    """Resistances c + ρ(s)/s ≥ 0 (springs,), ratios of damping force and rate, at the spring rates s (springs,)."""
    if not springs.relations:
        return springs.damping
    rates = rate[springs.resisting]
    resistance = springs.damping.copy()
    resistance[springs.resisting] += [float(r.resistance(s)) for r, s in zip(springs.relations, rates, strict=True)]
    return resistance


def split(springs: Springs, values: Array) -> tuple[Array, ...]:
    """Split values of all spring-dampers into those of lengths, components, angles, ropes and distances."""
    ends = [springs.length_product.size, springs.angles.start, springs.angles.stop, springs.roped.stop]
    return tuple(np.split(values, ends))
