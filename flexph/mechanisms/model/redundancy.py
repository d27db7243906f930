"""Independent combinations of redundant constraints, which give multipliers of least norm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...kernels.state import displacement_sizes, lever
from ...numerics.arrays import Array
from ...numerics.ranks import singular_vectors

if TYPE_CHECKING:
    from .model import Model

RANK = 1e-6
"""Singular value, relative to the largest, below which a constraint is redundant. In loops closed to round-off,
redundant constraints have 1e-15, or its square root if they are redundant at special poses only (Bennett's linkage)."""


def independent(mechanism: Model, G: Any) -> Any | None:
    """Matrix U′ = W U (g, r) of independent combinations of the constraints G v = b; None if G has full rank.

    λ = W U μ with W G = U Σ Vᵀ (rank columns) is the solution of least norm ‖W⁻¹λ‖. W scales each multiplier: a torque
    is converted to a force at the largest distance of a joint from a centre of mass. The independent constraints are
    Uᵀ W G v = Uᵀ W b; the others follow from them as long as the rank is constant. Groups of constraints without
    redundancy are unchanged.
    """
    rows, weight, a = G.shape[0], weights(mechanism), mechanism.network.arrays
    moves = displacement_sizes(a, lever(a)) / lever(
        a
    )  # so that the rank does not depend on the units of the velocities
    if not sparse.issparse(G) and 0 < rows <= G.shape[1]:
        values = np.linalg.svd(weight[:, None] * G * moves, compute_uv=False)
        if values[-1] > RANK * values[0]:  # compared over all groups
            return None
    g = sparse.csr_array(G)
    link = sparse.block_array([[None, g], [g.T, None]])
    _, label = connected_components(sparse.csr_array(link), directed=False)
    spread, full = [], True
    for group in np.unique(label[:rows]):
        own, touched = np.flatnonzero(label[:rows] == group), np.flatnonzero(label[rows:] == group)
        scaled = weight[own, None] * g[own][:, touched].toarray() * moves[touched]
        left = singular_vectors(scaled, tolerance=RANK, economy=True).range
        if left.shape[1] == own.size:
            left, w = np.eye(own.size), np.ones(own.size)
        else:
            w, full = weight[own], False
        spread.append(_placed(w[:, None] * left, own, rows))
    if full:
        return None
    return sparse.hstack(spread).tocsr() if sparse.issparse(G) else sparse.hstack(spread).toarray()


def _placed(block: Array, rows: Array, height: int) -> Any:
    coo = sparse.coo_array(block)
    return sparse.coo_array((coo.data, (rows[coo.row], coo.col)), shape=(height, block.shape[1]))


def weights(mechanism: Model) -> Array:
    """Scales of multipliers: 1 for forces, for torques the largest distance of a joint from a centre of mass [m]."""
    size = lever(mechanism.network.arrays)
    units = [row.unit for c in mechanism.connections for row in c.rows]
    return np.array([size if unit == "N m" else 1.0 for unit in units])
