"""Analytic Jacobian of the step residual, and its solution, dense or sparse.

The unknowns are ordered (ṙ̄, ω̄ of turning bodies, u̇̄, hλ); constraint rows are divided by h, so that both
off-diagonal blocks have the size of lengths. With B the discrete gradient of the vectors, W = ∂(end vectors)/∂(mean
velocities), β and γ the gradients of the products at the mean and at the end, Θ the stiffness of the products,

    K = [[F − h Bᵀ Θ W, −(c̄ β B)ᵀ], [c₁ γ W/h, 0]].

Small systems form K. Large ones keep the end vectors and the shift φ̄u̇̄ as further unknowns, which avoids fill-in.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...numerics.arrays import Array
from ..arrays import Arrays
from ..gradient import is_sparse
from ..values import Means, Point, Solve
from .body_blocks import are_apart, body_matrix
from .dense import dense_factor
from .sparse import sparse_factor


def factor(a: Arrays, at: Point) -> Solve:
    """Factor the Jacobian at a trial; returns the map from defects to corrections."""
    all_turn = a.turning.size == len(a.mass)
    if not a.contacts.number and all_turn and are_apart(a) and at.schedule.decay is None:
        return partial(_one_by_one, a, body_matrix(a, at))
    return sparse_factor(a, at) if is_sparse(a) else dense_factor(a, at)


def _one_by_one(a: Arrays, matrices: Array, defect: Means) -> Means:
    """Corrections of unconnected bodies, from their matrices (b, n, n)."""
    d = a.dim
    change = np.linalg.solve(matrices, np.concatenate([defect.v, defect.omega], axis=1)[:, :, None])[:, :, 0]
    return Means(change[:, :d], change[:, d:], defect.du, defect.lam)
