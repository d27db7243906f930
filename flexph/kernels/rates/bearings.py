"""Dry friction of joints under their own constraint forces: slips over a step, friction forces, normal forces.

A bearing has up to d − 1 slips S with exact increments over a step: lengths along a guide or a curve, or angles times
the radius. A friction force T acts on the measures of the slips, so that its work is T ΔS; it is bounded by μ|λ| with
multipliers λ of the same joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ...numerics.arrays import Array
from .curves import Curve
from .on_curves import OnCurve

Index = np.ndarray
Places = Sequence[tuple[Curve, OnCurve]]
"""All curves, with the positions of the ports on them over a step."""


class Measures(Protocol):
    """Protocol of the measures: products of lengths, components and angles (:class:`flexph.kernels.arrays.Springs`)."""

    @property
    def length_product(self) -> Index:
        """Products of lengths, which come first and have no slip."""
        ...

    @property
    def component_product(self) -> Index:
        """Products of components."""
        ...

    @property
    def sine_product(self) -> Index:
        """Products of the sines of angles, which come last."""
        ...

    @property
    def cosine_product(self) -> Index:
        """Products of the cosines of angles."""
        ...


class Bearings(NamedTuple):
    """Constant data of f bearings with t slips each.

    ``spring`` (t, f): measures of the slips, −1 for none, with a ``lever`` (t, f); ``curve`` (f,): curve along which a
    port slips, or −1. The multipliers of the rows ``row`` (k,) load the bearings ``owner`` (k,).
    """

    spring: Index
    lever: Array
    curve: Index
    friction: Array
    row: Index
    owner: Index

    @property
    def number(self) -> int:
        """Number f of bearings."""
        return int(self.friction.size)

    def pressed(self, forces: Array) -> Array:
        """Loads |λ| of the bearings (f,), from the multipliers of all ``row`` (k,)."""
        squares = np.bincount(self.owner, weights=forces**2, minlength=self.number)
        return np.sqrt(squares)


def no_bearings(dim: int) -> Bearings:
    """Empty arrays of bearings."""
    nothing, nowhere = np.zeros((dim - 1, 0)), np.zeros(0, dtype=int)
    return Bearings(np.zeros((dim - 1, 0), dtype=int), nothing, nowhere, nothing[0], nowhere, nowhere)


def tensions(b: Bearings, forces: Array, springs: int) -> Array:
    """Tensions of the measures (springs,) from friction forces (t, f)."""
    own = b.spring >= 0
    return np.bincount(b.spring[own], weights=-(b.lever * forces)[own], minlength=springs)


def add_curve_friction(b: Bearings, forces: Array, places: Places, on_product: Array) -> None:
    """Add friction forces (t, f) along curves to the forces on products, in place."""
    for i in np.flatnonzero(b.curve >= 0):
        curve, own = places[b.curve[i]]
        np.add.at(on_product, curve.products, forces[0, i] * own.along)


def slipped(b: Bearings, extension: Array, places: Places, change: Array) -> Array:
    """Slips (t, f) of a step, from the changes of all measures and of all products (p,)."""
    slips, has = np.zeros(b.spring.shape), b.spring >= 0
    slips[has] = b.lever[has] * extension[b.spring[has]]
    for i in np.flatnonzero(b.curve >= 0):
        curve, own = places[b.curve[i]]
        slips[0, i] = np.vdot(own.along, change[curve.products])
    return slips


def angle_gradients(m: Measures, product: Array) -> tuple[Array, Array]:
    """Derivatives of the angles by their sines and cosines at a state."""
    sine, cosine = product[m.sine_product], product[m.cosine_product]
    size = sine**2 + cosine**2
    return cosine / size, -sine / size


def slip_weights(b: Bearings, m: Measures, angle: tuple[Array, Array], places: Places, products: int) -> Array:
    """Rows (t·f, products) of the derivatives of slips by products, by which friction acts on the products.

    ``angle``: derivatives of all angles by their sines and cosines; for forces the discrete ones of the step.
    """
    first = m.length_product.size + m.component_product.size
    rows = np.zeros((*b.spring.shape, products))
    for t, i in np.argwhere(b.spring >= 0):
        spring, lever = b.spring[t, i], b.lever[t, i]
        k = spring - first
        if k < 0:
            rows[t, i, m.component_product[spring - m.length_product.size]] += lever
        else:
            rows[t, i, m.sine_product[k]] += lever * angle[0][k]
            rows[t, i, m.cosine_product[k]] += lever * angle[1][k]
    for i in np.flatnonzero(b.curve >= 0):
        curve, own = places[b.curve[i]]
        np.add.at(rows[0, i], curve.products, own.along)
    return rows.reshape(-1, products)
