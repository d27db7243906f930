"""Products and constraint rows in a steady motion: their rates, and the derivatives of these by displacements.

Displacements ξ = (δr, θ, δu) have δr in axes that turn with the world spin of the motion, θ and δu in the axes of their
bodies, which may have spins of their own. A rate changes by its coefficients times ξ̇ plus the matrices here times ξ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...numerics.rotations import skew, turned_spins
from ..arrays import Arrays
from ..gradient import (
    block_diagonal,
    is_sparse,
    node_rows,
    product_gradient,
    pull,
    row_weights,
    world_spin_levers,
)
from ..rolling import gain_slopes, gains, weights
from ..state import Configuration, Derived, node_velocities


def vector_rates(a: Arrays, c: Configuration, d: Derived) -> Array:
    """Rates of the vectors (v, d) at the velocities of a configuration."""
    rates: Array = a.incidence @ node_velocities(a, c, c.R, d.arm)
    return rates


def product_motion(a: Arrays, at: tuple[Configuration, Derived], spin: Array) -> tuple[Any, Array, Any]:
    """Jacobian P = ∂Π/∂ξ (p, n_v) of the products, their rates (p,), and F (p, n_v): a rate changes by P ξ̇ + F ξ."""
    c, d = at
    motion = node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body])
    of_vectors = vector_rates(a, c, d)
    gradient, by_rate, moved = product_gradient(a, d.vector), product_gradient(a, of_vectors), pull(a, motion)
    faster = gradient @ pull(a, _swept(a, c, motion, spin)) + by_rate @ moved
    return gradient @ moved, gradient @ of_vectors.ravel(), faster


def _swept(a: Arrays, c: Configuration, motion: Any, spin: Array) -> Any:
    """Rows w × x (k·d, n_v) of the nodes: w is ``spin`` for displacements of centres, else the spin of their body."""
    centres = np.arange(motion.shape[1]) < a.weight.size
    own = skew(turned_spins(c.R, c.omega), a.dim)[a.node_body]
    frame = np.broadcast_to(skew(spin, a.dim), own.shape)
    if is_sparse(a):
        first = motion @ sparse.diags_array(centres.astype(float))
        return sparse.csr_array(block_diagonal(own) @ (motion - first) + block_diagonal(frame.copy()) @ first)
    rows = motion.reshape(len(own), a.dim, motion.shape[1])
    return np.where(centres, frame @ rows, own @ rows).reshape(motion.shape)


def row_slopes(a: Arrays, at: tuple[Configuration, Derived], spin: Array, coefficient: Array) -> Any:
    """Matrix Γ (g, n_v): the rates of constraint rows change by G ξ̇ + Γ ξ, dense or sparse like the arrays.

    Spins a·Ω change by a·Rθ̇ alone. Points on curves have no rows here.
    """
    change, rate, faster = product_motion(a, at, spin)
    t, product = a.rolling, at[1].product
    matrix = row_weights(a, coefficient)
    if not t.row.size:
        return matrix @ faster
    own, across = gain_slopes(a, product, product)  # means of both ends: half of the derivatives at a state
    matrix = matrix + weights(a, gains(a, product, product), t.product)
    moving = 2.0 * rate.take(t.product)
    return matrix @ faster + (weights(a, moving * own, t.product) + weights(a, moving * across, t.by)) @ change
