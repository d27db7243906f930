"""Dry friction of joints under their own force: slips over a step, forces against them, and what presses.

A bearing has up to d − 1 slips S, exact increments over a step: lengths along a guide or a curve, angles times the
radius. A friction force T acts on them with what measures them, so that its work is T ΔS; it is bounded by μ|λ| of
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
"""All curves, and where the ports on them are over a step."""


class Measures(Protocol):
    """Products of lengths, components and angles, see :class:`flexph.kernels.arrays.Springs`."""

    @property
    def length_product(self) -> Index:
        """Those of lengths, which come first and do not slip."""
        ...

    @property
    def component_product(self) -> Index:
        """Components."""
        ...

    @property
    def sine_product(self) -> Index:
        """Sines of angles, which come last."""
        ...

    @property
    def cosine_product(self) -> Index:
        """Their cosines."""
        ...


class Bearings(NamedTuple):
    """Constant data of f bearings with t slips each.

    ``spring`` (t, f) are the measures that slip, with a ``lever`` (t, f), −1 where there is none; ``curve`` (f,) the
    curve along which a port slips, or −1. The multipliers of ``row`` (k,) press the bearings ``owner`` (k,).
    """

    spring: Index
    lever: Array
    curve: Index
    friction: Array
    row: Index
    owner: Index

    @property
    def number(self) -> int:
        """f."""
        return int(self.friction.size)

    def pressed(self, forces: Array) -> Array:
        """|λ| of each bearing (f,), from those of all ``row`` (k,)."""
        squares = np.bincount(self.owner, weights=forces**2, minlength=self.number)
        return np.sqrt(squares)


def no_bearings(dim: int) -> Bearings:
    """No bearings at all."""
    nothing, nowhere = np.zeros((dim - 1, 0)), np.zeros(0, dtype=int)
    return Bearings(np.zeros((dim - 1, 0), dtype=int), nothing, nowhere, nothing[0], nowhere, nowhere)


def tensions(b: Bearings, forces: Array, springs: int) -> Array:
    """Forces (t, f) against slips as tensions of the measures (springs,)."""
    own = b.spring >= 0
    return np.bincount(b.spring[own], weights=-(b.lever * forces)[own], minlength=springs)


def add_curve_friction(b: Bearings, forces: Array, places: Places, on_product: Array) -> None:
    """Add forces (t, f) along curves to those on products (in place)."""
    for i in np.flatnonzero(b.curve >= 0):
        curve, own = places[b.curve[i]]
        np.add.at(on_product, curve.products, forces[0, i] * own.along)


def slipped(b: Bearings, extension: Array, places: Places, change: Array) -> Array:
    """Slips of a step (t, f), from the changes of all measures and of all products (p,)."""
    slips, has = np.zeros(b.spring.shape), b.spring >= 0
    slips[has] = b.lever[has] * extension[b.spring[has]]
    for i in np.flatnonzero(b.curve >= 0):
        curve, own = places[b.curve[i]]
        slips[0, i] = np.vdot(own.along, change[curve.products])
    return slips


def angle_gradients(m: Measures, product: Array) -> tuple[Array, Array]:
    """How angles change with their sines and cosines at a state."""
    sine, cosine = product[m.sine_product], product[m.cosine_product]
    size = sine**2 + cosine**2
    return cosine / size, -sine / size


def slip_weights(b: Bearings, m: Measures, angle: tuple[Array, Array], places: Places, products: int) -> Array:
    """Rows (t·f, products): how slips change with products, and friction acts on them.

    ``angle`` are the gradients of all angles by their sines and cosines, of forces those of the step.
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
