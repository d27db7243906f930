"""Spring-dampers of measures: lengths ℓ = √Π, components Π, angles α with sine and cosine products.

    Δℓ = ΔΠ/(ℓ₀ + ℓ₁),    Δα = κ(c̄Δs − s̄Δc),  κ = Δα/(s₁c₀ − c₁s₀)

The tension e̅ + c Δℓ/h + ρ(Δℓ/h), with e₁ = e₀ + kΔℓ, acts on the products by these exact gradients. A law V(x) of the
extension has ΔV/Δx in place of e̅, one of a function F(x, v, t) its value in the middle.
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


def tensions(springs, given, spring, change):
    """Mean tensions (springs,), and states of springs and anchors at the end of the step, from those at its start.

    The state of a spring is its force e, of which ½e²/k is stored, or with a law V or F its extension x.
    """
    if springs.hysteretic.size:
        raise NotImplementedError("springs with hysteresis are not in the oracle")
    extension, stored = change - given.moved, np.flatnonzero(springs.state >= 0)
    rate, elastic = extension / given.h, springs.stiffness * extension
    tension, grown = 0.5 * elastic + springs.damping * rate, elastic.copy()
    for i in stored:
        tension[i] += 0.0 if i in (*springs.lawful, *springs.forced) else spring[springs.state[i]]
    for i, law in zip(springs.lawful, springs.laws, strict=True):
        x0, grown[i] = spring[springs.state[i]], extension[i]
        tension[i] += (stored_by(law, x0 + extension[i]) - stored_by(law, x0)) / extension[i]
    for i, law in zip(springs.forced, springs.force_laws, strict=True):
        grown[i] = extension[i]
        tension[i] += law.function(spring[springs.state[i]] + 0.5 * extension[i], rate[i], given.time)
    for i, relation in zip(springs.resisting, springs.relations, strict=True):
        s = rate[i]
        tension[i] += lifted(relation.force(float(s.real)), relation.slope(float(s.real)), s)
    return tension, np.concatenate([spring[: stored.size] + grown[stored], spring[stored.size :]])


def stored_by(law, x):
    """V(x) of a law."""
    return lifted(law.energy(x.real), law.force(x.real), x)
