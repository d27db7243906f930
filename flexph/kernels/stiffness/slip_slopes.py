"""Slips in a steady motion: forces on products, and their damping and stiffness matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.arrays import Array, dense
from ..arrays import Arrays
from ..gradient import kept, product_gradient
from ..rates.slips import gain_slopes, slip_forces, slip_rows
from ..state import Configuration, Derived
from .row_slopes import product_motion, vector_rates


def slip_product_forces(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Forces on the products (p,) against slips at the velocities of a configuration, without those along curves."""
    rows = slip_rows(a.slips, d.product)
    force, _ = slip_forces(a.slips, rows @ _rates(a, c, d))
    force[a.slips.curve >= 0] = 0.0
    return rows.T @ force


def _rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    rates: Array = product_gradient(a, d.vector) @ vector_rates(a, c, d).ravel()
    return rates


def slip_matrices(a: Arrays, at: tuple[Configuration, Derived], spin: Array) -> tuple[Any, Any]:
    """Matrices C and K (n_v, n_v) of the forces against slips, linearised about a steady motion with world spin (s,).

    A slip is s = g(Π)·Π̇; its friction F(s) acts on the products with gᵀF. In C = −SᵀF'S and K = −SᵀF'Γ − ∂(gᵀF)/∂Π the
    slips change by S ξ̇ + Γ ξ, as in :mod:`.row_slopes`. The change of these forces as the vectors of the products turn
    is part of :func:`.tangent.tangent`.
    """
    t, product = a.slips, at[1].product
    change, rate, faster = product_motion(a, at, spin)
    change, faster, rows = dense(change), dense(faster), slip_rows(t, product)
    force, slope = slip_forces(t, rows @ rate)
    on_curve = t.curve >= 0
    force[on_curve], slope[on_curve] = 0.0, 0.0
    bent, turned = np.zeros_like(rows), np.zeros((product.size,) * 2)
    for index, value in gain_slopes(t, product):
        np.add.at(bent, (t.row, index), value * rate.take(t.product))
        np.add.at(turned, (t.product, index), force.take(t.row) * value)
    S, moved = rows @ change, rows @ faster + bent @ change
    return kept(a, -(S.T @ slope @ S)), kept(a, -(S.T @ slope @ moved) - change.T @ turned @ change)
