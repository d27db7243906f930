"""Spring-dampers of measures: lengths ℓ = √Π, components Π, angles α with sine and cosine products, ropes.

    Δℓ = ΔΠ/(ℓ₀ + ℓ₁),    Δα = κ(c̄Δs − s̄Δc),  κ = Δα/(s₁c₀ − c₁s₀)

The length of a rope is a sum of f(Π) = ℓ + δ atan2(δ, ℓ), ℓ = √(Π − δ²), with Δf/ΔΠ, and of angles times ±ρ;
its damping acts on the change of max(x, 0), as far as the rope does not push.

The tension e̅ + c Δℓ/h + ρ(Δℓ/h), with e₁ = e₀ + kΔℓ, acts on the products by these exact gradients. A law V(x) of the
extension has ΔV/Δx in place of e̅, one of a function F(x, v, t) its value in the middle, one with hysteresis the mean of
its force along the slip.
"""

from typing import Any, NamedTuple

import numpy as np

from .hysteresis import followed
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
    last = second + len(angle)
    gradient[rows[first:second], springs.component_product] = 1.0
    gradient[rows[second:last], springs.sine_product] = kappa * c.mean
    gradient[rows[second:last], springs.cosine_product] = -kappa * s.mean
    length, component = product.change[springs.length_product], product.change[springs.component_product]
    wound = rope_gradient(springs.ropes, product, gradient[last:])
    return Measured(np.concatenate([length * by_length, component, angle, wound]), gradient)


def rope_gradient(ropes, product, gradient):
    """Add the gradients of ropes (in place); the changes (ropes,) of their lengths."""
    change = np.zeros(ropes.number, dtype=product.after.dtype)
    for rope, p, offset in zip(ropes.span_rope, ropes.square, ropes.offset, strict=True):
        first, last = (np.sqrt(value[p] - offset**2) for value in product[:2])
        kappa = turn(offset * (first - last), first * last + offset**2)[1]
        slope = (1.0 - offset**2 * kappa) / (first + last)
        gradient[rope, p] += slope
        change[rope] += slope * product.change[p]
    for rope, i, j, radius in zip(ropes.angle_rope, ropes.sine, ropes.cosine, ropes.radius, strict=True):
        (s0, c0), (s1, c1) = ((value[i], value[j]) for value in product[:2])
        angle, kappa = turn(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)
        gradient[rope, i] += radius * kappa * 0.5 * (c0 + c1)
        gradient[rope, j] -= radius * kappa * 0.5 * (s0 + s1)
        change[rope] += radius * angle
    return change


def tensions(springs, given, spring, change):
    """Mean tensions (springs,), and states of springs and anchors at the end of the step, from those at its start.

    The state of a spring is its force e, of which ½e²/k is stored, or with a law V or F its extension x,
    or with hysteresis its inner extension z.
    """
    extension, stored = change - given.moved, np.flatnonzero(springs.state >= 0)
    rate, elastic = extension / given.h, springs.stiffness * extension
    tension, grown = 0.5 * elastic + springs.damping * rate, elastic.copy()
    for i in stored:
        tension[i] += 0.0 if i in (*springs.lawful, *springs.forced, *springs.hysteretic) else spring[springs.state[i]]
    for i, law in zip(springs.lawful, springs.laws, strict=True):
        x0, grown[i] = spring[springs.state[i]], extension[i]
        mean = (stored_by(law, x0 + extension[i]) - stored_by(law, x0)) / extension[i]
        tension[i] += 0.5 * (given.factor.before[i] + given.factor.after[i]) * mean
    for i in range(springs.roped.start, len(tension)):
        x0, c = spring[springs.state[i]], springs.damping[i]
        force = tension[i] - c * rate[i]
        damped = c / given.h * (positive(x0 + extension[i]) - positive(x0))
        tension[i] = force + (damped if damped.real > -max(force.real, 0.0) else -positive(force))
    for i, law in zip(springs.forced, springs.force_laws, strict=True):
        grown[i] = extension[i]
        tension[i] += law.function(spring[springs.state[i]] + 0.5 * extension[i], rate[i], given.time)
    for i, law in zip(springs.hysteretic, springs.hysteresis, strict=True):
        z = spring[springs.state[i]]
        force, end = followed(law, z, extension[i], given.h)
        grown[i] = end - z
        tension[i] += force
    for i, relation in zip(springs.resisting, springs.relations, strict=True):
        s, level = rate[i], 0.5 * (given.rubbing.before[i] + given.rubbing.after[i])
        tension[i] += level * lifted(relation.force(float(s.real)), relation.slope(float(s.real)), s)
    return tension, np.concatenate([spring[: stored.size] + grown[stored], spring[stored.size :]])


def stored_by(law, x):
    """V(x) of a law."""
    return lifted(law.energy(x.real), law.force(x.real), x)


def positive(x):
    """max(x, 0) of a number that may be complex."""
    return x if x.real > 0.0 else 0.0 * x
