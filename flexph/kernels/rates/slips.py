"""Friction against slips, velocities s of one or two components: sums of product terms, or along a curve.

Over a step the slip is exactly S = Σ gain ΔΠ; the force on a product is its gain times −κ S/h, κ = ρ(|S|/h)/(|S|/h), so
that the loss of a relation ρ is its force times the slip distance. Gains may have a third factor Π̄_also, as the radius
of a conical wheel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...laws.creep_laws import CreepLaw
from ...laws.resistive_relations import Relation
from ...numerics.arrays import Array
from .terms import Index, term_gains, term_slopes


class Slips(NamedTuple):
    """Terms (w,) of the components of slip, the slip of each component, and the relations of all slips.

    A component without terms is the slip of a port along its curve. The last component of a creep law is the rolling
    speed, against which there is no force.
    """

    row: Index  # (w,), component
    product: Index
    by: Index
    weight: Array
    angular: Index
    also: Index  # a third product Π_also of the gains, or −1
    slip: Index  # (components,)
    curve: Index  # (components,), the curve along which a port slips, or −1
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


def gain_slopes(t: Slips, product: Array) -> list[tuple[Index, Array]]:
    """Derivatives of the gains at a state, as pairs of products (w,) and values (w,).

    There is one pair for the dependence on Π itself, one for Π_by and one for Π_also.
    """
    own, across = term_slopes(t, product, product)
    factors = np.where(t.also >= 0, product.take(t.also), 1.0)
    further = np.where(t.also >= 0, term_gains(t, product, product), 0.0)
    return [(t.product, 2.0 * own * factors), (t.by, 2.0 * across * factors), (np.maximum(t.also, 0), further)]


def slip_forces(t: Slips, rates: Array) -> tuple[Array, Array]:
    """Forces (components,) against slips at their rates, and their derivatives with respect to the rates."""
    force, slope = np.zeros_like(rates), np.zeros((rates.size,) * 2)
    for i, law in enumerate(t.relations):
        own = np.flatnonzero(t.slip == i)
        if isinstance(law, CreepLaw):
            force[own[:-1]] = law.force(rates[own[:-1]], float(rates[own[-1]]))
            slope[np.ix_(own[:-1], own)] = law.slopes(rates[own[:-1]], float(rates[own[-1]]))
        else:
            speed = float(np.linalg.norm(rates[own]))
            resistance, steep = float(law.resistance(speed)), float(law.slope(speed))
            force[own] = -resistance * rates[own]
            along = rates[own] / speed if speed > 0.0 else np.zeros(own.size)
            slope[np.ix_(own, own)] = -resistance * np.eye(own.size) - (steep - resistance) * np.outer(along, along)
    return force, slope
