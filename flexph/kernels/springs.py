"""Spring-dampers: exact increments of lengths, components and angles, and forces with exact work on them.

A component is a product itself. A length ℓ = √Π has Δℓ = ΔΠ/(ℓ₀ + ℓ₁). An angle α of sine and cosine products
(s, c) has Δα = atan2(Y, X), Y = s₁c₀ − c₁s₀ = c̄Δs − s̄Δc, X = c₀c₁ + s₀s₁, so that Δα = κ(c̄Δs − s̄Δc) with κ = Δα/Y.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..numerics.gauss_tableau import Tableau
from ..numerics.step_failed import StepFailed
from .arrays import Springs
from .rates.terms import kappa

TINY = float(np.finfo(float).tiny)
SUBSTITUTIONS = 100
"""Largest number of substitutions for collocated lengths."""
ROUND_OFF = 2e-16
"""Change, relative to the longest, at which the substitutions for collocated lengths end."""


class Measured(NamedTuple):
    """Extensions Δℓ, ΔΠ, Δα over a step, their discrete gradients, and mean tensions or torques."""

    extension: Array
    by_length: Array
    by_sine: Array
    by_cosine: Array
    tension: Array


_NOTHING = Measured(*(np.zeros(0) for _ in Measured._fields))


def measure(
    springs: Springs,
    e0: Array,
    h: float,
    products: tuple[Array, Array],
    *,
    moved: Array | float = 0.0,
    stuck: Array | None = None,
) -> Measured:
    """Extensions over a step from the products at both ends, and mean tensions or torques.

    ``moved`` (springs,): change of the free lengths, which is subtracted from the extensions; ``stuck``: mask of the
    relations replaced by their tangent at rest (see :func:`reversed_rates`).
    """
    if not springs.stiffness.size:
        return _NOTHING
    before, after = products
    by_length = 1.0 / (np.sqrt(before[springs.length_product]) + np.sqrt(after[springs.length_product]))
    stretch = (after - before)[springs.length_product] * by_length
    s0, s1 = before[springs.sine_product], after[springs.sine_product]
    c0, c1 = before[springs.cosine_product], after[springs.cosine_product]
    y, x = s1 * c0 - c1 * s0, c0 * c1 + s0 * s1
    slid = (after - before)[springs.component_product]
    extension = np.concatenate([stretch, slid, np.arctan2(y, x)]) - moved
    _refuse_laws(springs)
    tension = (0.5 * springs.stiffness + springs.damping / h) * extension
    tension[springs.state >= 0] += e0
    if springs.relations:
        tension[springs.resisting] += resisting_forces(springs, extension / h, stuck)
    factor = kappa(y, x)[0]
    return Measured(extension, by_length, 0.5 * factor * (c0 + c1), -0.5 * factor * (s0 + s1), tension)


def _refuse_laws(springs: Springs) -> None:
    """Raise StepFailed for springs with laws, which only compiled steps support."""
    laws = (*springs.laws, *springs.force_laws, *springs.hysteresis)
    if laws:
        names = ", ".join(dict.fromkeys(map(str, laws)))
        raise StepFailed(f"no solution with the laws of springs ({names})", 0, float("nan"))


def resisting_forces(springs: Springs, rate: Array, stuck: Array | None = None) -> Array:
    """Resistive forces ρ(s) of all relations (relations,) at the rates (springs,)."""
    own = rate[springs.resisting]
    forces = np.array([float(r.force(s)) for r, s in zip(springs.relations, own, strict=True)])
    return forces if stuck is None else np.where(stuck, springs.steepness * own, forces)


def damping_slopes(springs: Springs, rate: Array, stuck: Array | None = None) -> Array:
    """Damping slopes c + ρ'(s) at the rates (springs,)."""
    if not springs.relations:
        return springs.damping
    slope = np.array([float(r.slope(s)) for r, s in zip(springs.relations, rate[springs.resisting], strict=True)])
    slopes = springs.damping.copy()
    slopes[springs.resisting] += slope if stuck is None else np.where(stuck, springs.steepness, slope)
    return slopes


def resistances(springs: Springs, rate: Array) -> Array:
    """Resistances c + ρ(s)/s ≥ 0 at the rates (springs,)."""
    if not springs.relations:
        return springs.damping
    own = rate[springs.resisting]
    resistance = springs.damping.copy()
    resistance[springs.resisting] += [float(r.resistance(s)) for r, s in zip(springs.relations, own, strict=True)]
    return resistance


def lost(springs: Springs, rate: Array) -> Array:
    """Dissipated power c s² + s ρ(s) ≥ 0 at the rates (springs,)."""
    power = springs.damping * rate**2
    if springs.relations:
        power[springs.resisting] += rate[springs.resisting] * resisting_forces(springs, rate)
    return power


def reversed_rates(springs: Springs, before: Array, after: Array) -> Array:
    """Mask of relations to be replaced by their tangent at rest, for an iteration that changes rates.

    With the flat tangents far from rest, a Newton iteration can jump across rest and back for ever. With the tangent at
    rest, the steepest one of a friction law, it converges from one side.
    """
    far = [
        s * t < 0.0 and float(r.slope(s)) < 0.5 * steep
        for r, s, t, steep in zip(
            springs.relations, before[springs.resisting], after[springs.resisting], springs.steepness, strict=True
        )
    ]
    return np.array(far, dtype=bool)


def add_forces(springs: Springs, m: Measured, on_product: Array) -> None:
    """Add the forces of spring-dampers to the forces on products, in place."""
    if not springs.stiffness.size:
        return
    length, component, angle = split(springs, m.tension)
    np.add.at(on_product, springs.length_product, -length * m.by_length)
    np.add.at(on_product, springs.component_product, -component)
    np.add.at(on_product, springs.sine_product, -angle * m.by_sine)
    np.add.at(on_product, springs.cosine_product, -angle * m.by_cosine)


def spring_forces(springs: Springs, e0: Array, m: Measured) -> Array:
    """Spring forces or torques at the end of a step."""
    return e0 + (springs.stiffness * m.extension)[springs.state >= 0] if e0.size else e0


def split(springs: Springs, values: Array) -> tuple[Array, ...]:
    """Values split into those of lengths, components and angles."""
    first = springs.length_product.size
    return values[:first], *np.split(values[first:], [springs.component_product.size])


def tangent(
    springs: Springs, m: Measured, h: float, products: tuple[Array, Array], *, stuck: Array | None = None
) -> Array:
    """Derivatives of the forces on products by end products, dense (p, p); arguments as in :func:`measure`."""
    after = products[1]
    stiffness = np.zeros((after.size, after.size))
    damping = damping_slopes(springs, m.extension / h, stuck)
    on_length, on_component, on_angle = split(springs, 0.5 * springs.stiffness + damping / h)
    tension, _, torque = split(springs, m.tension)
    at = springs.length_product
    slope = (on_length * m.by_length - tension * m.by_length**2) / (2.0 * np.sqrt(after[at]))
    np.add.at(stiffness, (at, at), -slope)
    np.add.at(stiffness, (springs.component_product,) * 2, -on_component)
    _add_angles(springs, (torque, on_angle), products, stiffness)
    return stiffness


def _add_angles(
    springs: Springs, torsion: tuple[Array, Array], products: tuple[Array, Array], stiffness: Array
) -> None:
    """Add the stiffness of angles with torque τ, whose forces are −τκc̄ on the sine and τκs̄ on the cosine, in place."""
    i, j, (torque, stiff), (before, after) = springs.sine_product, springs.cosine_product, torsion, products
    s0, s1, c0, c1 = before[i], after[i], before[j], after[j]
    factor, by_y, by_x = kappa(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)
    s_mean, c_mean, size = 0.5 * (s0 + s1), 0.5 * (c0 + c1), s1**2 + c1**2
    for column, turned, changed, ds, dc in (
        (i, c1 / size, by_y * c0 + by_x * s0, 0.5, 0.0),
        (j, -s1 / size, -by_y * s0 + by_x * c0, 0.0, 0.5),
    ):
        gain = stiff * turned * factor + torque * changed
        np.add.at(stiffness, (i, column), -(gain * c_mean + torque * factor * dc))
        np.add.at(stiffness, (j, column), gain * s_mean + torque * factor * ds)


class StageSprings(NamedTuple):
    """Spring-dampers at the nodes of a collocation: rates of their measures, their gradients, forces on products."""

    measure_rate: Array  # (stages, springs)
    gradient: Array  # (stages, springs, p), of the measures by the products
    tension: Array  # (stages, springs)
    rate: Array  # ė (stages, e)
    on_product: Array  # (stages, p)


def stage_springs(
    springs: Springs, tableau: Tableau, start: tuple[Array, Array, float], products: tuple[Array, Array]
) -> StageSprings | None:
    """Spring-dampers at the nodes from the products there and their rates (stages, p); None without any.

    ``start`` are e and the products at the start of the step, and h. Lengths are collocated by ℓ̇ = Π̇/(2ℓ), so that
    ℓ² = Π at its end. Angles have no such rate: their torques use α̇ = (cṡ − sċ)/(s² + c²), which agrees at the end with
    their rate to the order of the method.
    """
    if not springs.stiffness.size:
        return None
    (e0, before, h), (product, rate) = start, products
    stages, held = len(rate), springs.state >= 0
    gradient = np.zeros((stages, springs.stiffness.size, product.shape[1]))
    lengths, first = springs.length_product.size, springs.length_product.size + springs.component_product.size
    gradient[:, np.arange(lengths), springs.length_product] = 0.5 / _lengths(
        tableau, np.sqrt(before[springs.length_product]), 0.5 * h * rate[:, springs.length_product]
    )
    gradient[:, np.arange(lengths, first), springs.component_product] = 1.0
    sine, cosine = product[:, springs.sine_product], product[:, springs.cosine_product]
    size, own = sine**2 + cosine**2, np.arange(first, springs.stiffness.size)
    gradient[:, own, springs.sine_product] = cosine / size
    gradient[:, own, springs.cosine_product] = -sine / size
    measured = np.matvec(gradient, rate)
    grown = (springs.stiffness * measured)[:, held]
    tension = springs.damping * measured
    tension[:, held] += e0 + h * tableau.a @ grown
    return StageSprings(measured, gradient, tension, grown, -np.vecmat(tension, gradient))


def _lengths(tableau: Tableau, start: Array, change: Array) -> Array:
    """Lengths ℓ at the nodes with ℓ̇ = change/(hℓ), (stages, lengths), by a fixed-point iteration."""
    length = np.sqrt(np.maximum(start**2 + 2.0 * tableau.a @ change, TINY))
    for _ in range(SUBSTITUTIONS):
        before, length = length, start + tableau.a @ (change / length)
        if not np.abs(length - before).max(initial=0.0) > ROUND_OFF * start.max(initial=0.0):
            break
    return length
