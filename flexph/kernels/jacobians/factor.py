"""Analytic Jacobian of the step residual, and its solution, dense or sparse.

The unknowns are ordered (ṙ̄, ω̄ of turning bodies, u̇̄, hλ); constraint rows are divided by h, so that both
off-diagonal blocks have the size of lengths. With B the discrete gradient of the vectors, W = ∂(end vectors)/∂(mean
velocities), β and γ the gradients of the products at the mean and at the end, Θ the stiffness of the products,

    K = [[F − h Bᵀ Θ W, −(c̄ β B)ᵀ], [c₁ γ W/h, 0]].

Small systems form K. Large ones keep the end vectors and the shift φ̄u̇̄ as further unknowns: nothing is filled.
"""

from __future__ import annotations

from ..arrays import Arrays
from ..gradient import is_sparse
from ..values import Point, Solve
from .dense import dense_factor
from .sparse import sparse_factor


def factor(a: Arrays, at: Point) -> Solve:
    """Factor the Jacobian at a trial; returns the map from defects to corrections."""
    if at.schedule.block is not None:
        return at.schedule.block.factor(a, at)
    return sparse_factor(a, at) if is_sparse(a) else dense_factor(a, at)
