"""Friction against slips, velocities s of one or two components, which are sums of product terms or along a curve.

Over a step the slip is exactly S = Σ gain ΔΠ; the force on a product is its gain times −κ S/h, κ = ρ(|S|/h)/(|S|/h), so
that the loss of a relation ρ is its force times the slip distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...systems.resistive_relations import Relation
from .bearings import Places
from .curves import Curve
from .on_curves import OnCurve, along_slopes
from .terms import Index, term_gains, term_slopes


class Slips(NamedTuple):
    """Terms (w,) of the components of slip, the slip of each component, and the relations of all slips.

    A component without terms is the slip of a port along its curve.
    """

    row: Index  # (w,), component
    product: Index
    by: Index
    weight: Array
    angular: Index
    slip: Index  # (components,)
    curve: Index  # (components,), the curve along which a port slips, or −1
    relations: tuple[Relation, ...]


class Slid(NamedTuple):
    """Slips of a step (components,), friction forces, and gains of the terms (w,)."""

    way: Array
    force: Array
    gain: Array


def slid(t: Slips, products: tuple[Array, Array], change: Array, h: float, places: Places) -> Slid:
    """Slips and forces over a step, from the products at both ends and their mean rates of change (p,).

    The rates come from the mean velocities, as differences of products have the round-off of positions.
    """
    gain = term_gains(t, *products)
    rate = np.zeros(t.slip.size)
    np.add.at(rate, t.row, gain * change.take(t.product))
    for k, (curve, at) in _along_curves(t, places):
        rate[k] = np.vdot(at.along, change[curve.products])
    resistance, _ = _resistances(t, rate)
    return Slid(h * rate, -resistance.take(t.slip) * rate, gain)


def _along_curves(t: Slips, places: Places) -> list[tuple[int, tuple[Curve, OnCurve]]]:
    """Indices of the components along curves, with the curves."""
    return [(int(k), places[t.curve[k]]) for k in np.flatnonzero(t.curve >= 0)]


def _resistances(t: Slips, rate: Array) -> tuple[Array, Array]:
    """Resistances ρ(s)/s and slopes ρ'(s) at the speeds of all slips, (slips,) each."""
    speed = np.sqrt(np.bincount(t.slip, weights=rate**2, minlength=len(t.relations)))
    pairs = list(zip(t.relations, speed, strict=True))
    return np.array([float(r.resistance(s)) for r, s in pairs]), np.array([float(r.slope(s)) for r, s in pairs])


def add_slip_forces(t: Slips, own: Slid, places: Places, on_product: Array) -> None:
    """Add friction forces to the forces on products, in place."""
    np.add.at(on_product, t.product, own.force.take(t.row) * own.gain)
    for k, (curve, at) in _along_curves(t, places):
        np.add.at(on_product, curve.products, own.force[k] * at.along)


def lost_to_slips(t: Slips, own: Slid) -> Array:
    """Energy losses of the slips in a step, (slips,) [J]."""
    return np.bincount(t.slip, weights=-own.force * own.way, minlength=len(t.relations))


def slip_tangent(t: Slips, own: Slid, h: float, products: tuple[Array, Array], places: Places) -> Array:
    """∂(force on products)/∂(products after the step), dense (p, p), from the products at both ends."""
    before, after = products
    along, across = term_slopes(t, before, after)
    change, pushed = (after - before).take(t.product), own.force.take(t.row)
    rows = np.zeros((t.slip.size, after.size))
    acting = np.zeros_like(rows)
    np.add.at(acting, (t.row, t.product), own.gain)
    np.add.at(rows, (t.row, t.product), own.gain + along * change)
    np.add.at(rows, (t.row, t.by), across * change)
    form, means = np.zeros((after.size, after.size)), 0.5 * (before + after)
    for k, (curve, at) in _along_curves(t, places):
        index = curve.products.ravel()
        slopes, turned = along_slopes(curve, at, means, (after - before)[curve.products])
        np.add.at(acting[k], index, at.along.ravel())
        np.add.at(rows[k], index, (at.along + slopes).ravel())
        np.add.at(form, (index[:, None], index), own.force[k] * turned.reshape(index.size, -1))
    stiffness: Array = form - acting.T @ (_force_slopes(t, own.way / h) / h) @ rows
    np.add.at(stiffness, (t.product, t.product), pushed * along)
    np.add.at(stiffness, (t.product, t.by), pushed * across)
    return stiffness


def _force_slopes(t: Slips, rate: Array) -> Array:
    """Derivatives −∂(forces)/∂(rates), (components, components): κ across the slip and ρ' along it."""
    resistance, slope = _resistances(t, rate)
    speed = np.sqrt(np.bincount(t.slip, weights=rate**2, minlength=len(t.relations)))
    direction = rate / np.where(speed > 0.0, speed, 1.0).take(t.slip)
    same = t.slip[:, None] == t.slip
    bent = (slope - resistance).take(t.slip)
    return np.diag(resistance.take(t.slip)) + np.where(same, bent[:, None] * np.outer(direction, direction), 0.0)
