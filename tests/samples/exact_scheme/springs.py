"""Spring-dampers of measures: lengths ℓ = √Π, components Π, angles α with sine and cosine products.

    Δℓ = ΔΠ/(ℓ₀ + ℓ₁),    Δα = κ(c̄Δs − s̄Δc),  κ = Δα/(s₁c₀ − c₁s₀)

The tension e̅ + c Δℓ/h + ρ(Δℓ/h), with e₁ = e₀ + kΔℓ, acts on the products by these exact gradients.
"""

from typing import Any, NamedTuple

import numpy as np

from .numbers import lifted, turn


class Measured(NamedTuple):
    """Changes (springs,) of the measures over a step, and their exact gradients by the products, (springs, p)."""

    change: Any
    gradient: Any


def measured(springs, product):
    """Changes of all measures from the products at both ends."""
    lengths = np.sqrt(product.before[springs.length_product]), np.sqrt(product.after[springs.length_product])
    by_length = 1.0 / (lengths[0] + lengths[1])
    s, c = (
        type(product)(product.before[own], product.after[own]) for own in (springs.sine_product, springs.cosine_product)
    )
    angle, kappa = turn(s.after * c.before - c.after * s.before, c.before * c.after + s.before * s.after)
    first, second = len(by_length), len(by_length) + springs.component_product.size
    gradient = np.zeros((springs.stiffness.size, product.after.size), dtype=product.after.dtype)
    rows = np.arange(len(gradient))
    gradient[rows[:first], springs.length_product] = by_length
    gradient[rows[first:second], springs.component_product] = 1.0
    gradient[rows[second:], springs.sine_product] = kappa * c.mean
    gradient[rows[second:], springs.cosine_product] = -kappa * s.mean
    length, component = product.change[springs.length_product], product.change[springs.component_product]
    return Measured(np.concatenate([length * by_length, component, angle]), gradient)


def tensions(springs, h, spring, extension):
    """Mean tensions (springs,), and forces of springs and anchors at the end of the step, from those at its start."""
    rate, stored = extension / h, np.flatnonzero(springs.state >= 0)
    elastic = springs.stiffness * extension
    tension = 0.5 * elastic + springs.damping * rate
    tension[stored] += spring[: stored.size]
    for i, relation in zip(springs.resisting, springs.relations, strict=True):
        s = rate[i]
        tension[i] += lifted(relation.force(float(s.real)), relation.slope(float(s.real)), s)
    return tension, np.concatenate([spring[: stored.size] + elastic[stored], spring[stored.size :]])
