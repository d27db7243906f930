"""Jacobian rows of dry friction in joints: action on velocities, and slips by velocities."""

from __future__ import annotations

from typing import Any

from ...numerics.arrays import Array, dense
from ..arrays import Arrays
from ..gradient import product_gradient, product_matrix, pull
from ..rates.bearings import angle_gradients, slip_weights
from ..state import Configuration, Derived
from ..values import Point


def bearing_rows(a: Arrays, at: Point, B: Any, W: Any) -> tuple[Array, Array]:
    """Rows (t·f, n_v) of the action of friction in a step, and of the slips by mean velocities, over the step size.

    From the discrete gradient B and the end derivative W of the nodes.
    """
    t, m = at.trial, at.trial.measured
    places, products = tuple(zip(a.curves, t.on_curves, strict=True)), t.product.size
    mean = slip_weights(a.bearings, a.springs, (m.by_sine, m.by_cosine), places, products)
    last = slip_weights(a.bearings, a.springs, angle_gradients(a.springs, t.product), places, products)
    acting = (mean @ product_gradient(a, t.vector_mean)) @ pull(a, B)
    moved = (last @ product_gradient(a, t.vector)) @ pull(a, W)
    return dense(acting), dense(moved) / at.h


def bearing_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates (t·f, n_v) of slips with the velocities at a state."""
    places = tuple(zip(a.curves, d.on_curves, strict=True))
    rows = slip_weights(a.bearings, a.springs, angle_gradients(a.springs, d.product), places, d.product.size)
    return dense(rows @ product_matrix(a, c.R, d.arm, d.vector))
