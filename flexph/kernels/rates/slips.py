"""Friction against slips: velocity terms of products and angles, slips along curves, bearings under joint forces.

Over a step the slip is exactly S = Σ gain ΔΠ. Friction has a relation ρ of its magnitude to the slip rate; the force
on a product is its gain times −ρ(|S|/h) S/|S|, so that friction dissipates exactly ρ times the slip distance |S|.
Gains may have a third factor Π̄_also, such as the radius of a conical wheel.

A bearing has up to d − 1 slips S with exact increments over a step: lengths along a guide or a curve, or angles times
the radius. A friction force T acts on the measures of the slips, so that its work is T ΔS; it is bounded by μ|λ| with
multipliers λ of the same joint.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ...laws.creep_laws import CreepLaw
from ...laws.resistive_relations import Relation
from ...numerics.arrays import Array

Index = np.ndarray
_SMALL = 1e-3  # |Y/X| below which κ is taken from its series, whose error is then below 1e-17

ROLLING = 1e-9
"""Slip, relative to the rolling speed, up to which a wheel rolls."""


class Terms(Protocol):
    """Protocol of arrays with w terms, a weight times Π_by Π̇ each, of two products Π and Π_by."""

    @property
    def product(self) -> Index:
        """Indices of the products Π."""
        ...

    @property
    def by(self) -> Index:
        """Indices of the weighting products Π_by."""
        ...

    @property
    def weight(self) -> Array:
        """Weights w of the terms."""
        ...

    @property
    def angular(self) -> Index:
        """1 for each of the two terms of an angle, 0 for other terms."""
        ...


def kappa(y: Array, x: Array) -> tuple[Array, Array, Array]:
    """Ratio κ = atan2(y, x)/y of the increment of an angle to y, and its derivatives with respect to y and to x."""
    near = (np.abs(y) < _SMALL * np.abs(x)) & (x > 0.0)
    q, safe_x, safe_y = y / np.where(x != 0.0, x, 1.0), np.where(near, x, 1.0), np.where(near | (y == 0.0), 1.0, y)
    size = x**2 + y**2
    factor = np.where(near, (1.0 - q**2 / 3.0 + q**4 / 5.0) / safe_x, np.arctan2(y, x) / safe_y)
    by_y = np.where(near, (-2.0 / 3.0 * q + 0.8 * q**3) / safe_x**2, (x / size - factor) / safe_y)
    return factor, by_y, -1.0 / size


def term_gains(t: Terms, before: Array, after: Array) -> Array:
    """Gains (w,) of all terms over a step, from the products (p,) at its start and its end.

    A gain is the factor of the increment ΔΠ: w Π̄_by with the mean of Π_by, and for terms of an angle κ w Π̄_by.
    """
    if not t.by.size:
        return t.weight
    gain: Array = 0.5 * t.weight * (before.take(t.by) + after.take(t.by))
    return gain * _by_angle(t, before, after)[0] if t.angular.any() else gain


def term_slopes(t: Terms, before: Array, after: Array) -> tuple[Array, Array]:
    """Derivatives (w,) of the gains of :func:`term_gains` with respect to Π, and to Π_by, at the end of the step."""
    none: Any = np.zeros(t.by.size)
    if not t.angular.any():
        return none, 0.5 * t.weight
    factor, by_y, by_x = _by_angle(t, before, after)
    p0, q0 = before.take(t.product), before.take(t.by)
    mean = 0.5 * t.weight * (q0 + after.take(t.by))
    return mean * (by_y * q0 + by_x * p0), 0.5 * t.weight * factor + mean * (by_x * q0 - by_y * p0)


def _by_angle(t: Terms, before: Array, after: Array) -> tuple[Array, Array, Array]:
    """Factors κ (w,) of the terms of angles, and their derivatives with respect to Y and X (see kernels.springs).

    For other terms the factor is 1, and the derivatives are zero.
    """
    is_angular = t.angular > 0
    p0, p1, q0, q1 = before.take(t.product), after.take(t.product), before.take(t.by), after.take(t.by)
    y, x = np.where(is_angular, p1 * q0 - q1 * p0, 0.0), np.where(is_angular, q0 * q1 + p0 * p1, 1.0)
    factor, by_y, by_x = kappa(y, x)
    return factor, np.where(is_angular, by_y, 0.0), np.where(is_angular, by_x, 0.0)


class Slips(NamedTuple):
    """Constant data of slips with friction or creep: terms of their components, and relations of force to rate.

    The components are numbered over all slips, and ``slip`` has the number of the slip of each component. A component
    is the sum of terms w Π_by Π_also Π̇, or, without terms, the slip of a port along its curve. The last component of a
    creep law is the rolling speed, which has no friction force.
    """

    row: Index  # (w,), component
    product: Index
    by: Index
    weight: Array
    angular: Index
    also: Index  # a third product Π_also of the gains, or −1
    slip: Index  # (components,)
    curve: Index  # (components,), the curve along which a port slips, or −1
    load: Index  # (slips,), row whose multiplier is the wheel load, or −1
    contact: Index  # (slips,), compliant contact whose normal force is the wheel load, or −1
    relations: tuple[Relation | CreepLaw, ...]


def slip_gains(t: Slips, product: Array) -> Array:
    """Gains w Π_by Π_also of all terms at a state, (w,)."""
    factors = np.where(t.also >= 0, product.take(t.also), 1.0)
    gains: Array = term_gains(t, product, product) * factors
    return gains


def slip_rows(t: Slips, product: Array) -> Array:
    """Matrix (components, p) from rates of products to rates of slip at a state; zero for slips along curves."""
    rows = np.zeros((t.slip.size, product.size))
    np.add.at(rows, (t.row, t.product), slip_gains(t, product))
    return rows


def slip_gain_slopes(t: Slips, product: Array) -> list[tuple[Index, Array]]:
    """Derivatives of the gains w Π_by Π_also (w,) of all terms at a state with respect to products.

    Three pairs of indices of products (w,) and derivatives (w,): for Π itself, for Π_by and for Π_also.
    """
    by_product, across = term_slopes(t, product, product)
    factors = np.where(t.also >= 0, product.take(t.also), 1.0)
    further = np.where(t.also >= 0, term_gains(t, product, product), 0.0)
    return [(t.product, 2.0 * by_product * factors), (t.by, 2.0 * across * factors), (np.maximum(t.also, 0), further)]


def slip_forces(t: Slips, rates: Array, multipliers: Array | None = None) -> tuple[Array, Array]:
    """Forces (components,) that oppose slips at given slip rates, and their derivatives with respect to these rates.

    ``multipliers`` (g,) are those of all constraint rows, which include wheel loads. Without them, a wheel whose law
    depends on its load is accepted only if it rolls without slip, where its force does not depend on the load.

    Raises
    ------
    ValueError
        If no multipliers are given and a wheel slips whose law depends on its load.
    """
    force, slope = np.zeros_like(rates), np.zeros((rates.size,) * 2)
    for i, law in enumerate(t.relations):
        components = np.flatnonzero(t.slip == i)
        if isinstance(law, CreepLaw):
            if law.by_load:
                known = multipliers is not None and t.load[i] >= 0
                law = law.under(float(multipliers[t.load[i]]) if multipliers is not None and known else np.inf)
                slips = np.abs(rates[components[:-1]]).max() > ROLLING * abs(float(rates[components[-1]]))
                if not known and slips:
                    raise ValueError("a wheel with creep(..., friction=μ) slips, and its load is not known here")
            force[components[:-1]] = law.force(rates[components[:-1]], float(rates[components[-1]]))
            slope[np.ix_(components[:-1], components)] = law.slopes(
                rates[components[:-1]], float(rates[components[-1]])
            )
        else:
            speed = float(np.linalg.norm(rates[components]))
            resistance, steep = float(law.resistance(speed)), float(law.slope(speed))
            force[components] = -resistance * rates[components]
            along = rates[components] / speed if speed > 0.0 else np.zeros(components.size)
            slope[np.ix_(components, components)] = -resistance * np.eye(components.size) - (
                steep - resistance
            ) * np.outer(along, along)
    return force, slope


class Bearings(NamedTuple):
    """Constant data of f bearings with friction, with up to t slips each.

    ``spring`` (t, f) are the indices of the spring measures (lengths or angles) whose increments times ``lever`` (t, f)
    are the slips, −1 for none. ``curve`` (f,) is the curve along which a port slips, or −1. ``friction`` (f,) is μ. The
    multipliers of the constraint rows ``row`` (k,) load the bearings ``owner`` (k,). ``rubbing`` (f,) are the numbers
    of the time factors of the friction, −1 for none.
    """

    spring: Index
    lever: Array
    curve: Index
    friction: Array
    row: Index
    owner: Index
    rubbing: Index

    @property
    def number(self) -> int:
        """Number f of bearings."""
        return int(self.friction.size)

    def pressed(self, forces: Array) -> Array:
        """Pressing forces |λ| of the bearings (f,), from the multipliers (k,) of their constraint rows."""
        squares = np.bincount(self.owner, weights=forces**2, minlength=self.number)
        return np.sqrt(squares)


def no_bearings(dim: int) -> Bearings:
    """Empty arrays of bearings."""
    nothing, nowhere = np.zeros((dim - 1, 0)), np.zeros(0, dtype=int)
    return Bearings(np.zeros((dim - 1, 0), dtype=int), nothing, nowhere, nothing[0], nowhere, nowhere, nowhere)
