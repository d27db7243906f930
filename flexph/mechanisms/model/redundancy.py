"""Independent combinations of redundant constraints, which give multipliers of least norm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...kernels.state import displacement_sizes, lever
from ...numerics.arrays import Array, dense
from ...numerics.connected import connected_blocks
from ...numerics.ranks import singular_vectors

if TYPE_CHECKING:
    from .model import Model

RANK = 1e-6
"""Singular value, relative to the largest, below which a constraint is redundant. In loops closed to round-off,
redundant constraints have 1e-15, or its square root if they are redundant at special poses only (Bennett's linkage)."""


def independent(mechanism: Model, G: Any) -> Any | None:
    """Matrix U′ (g, r) that combines the constraints G v = b to r independent ones; None if G has full rank.

    These are U′ᵀG v = U′ᵀb. U′ = W U with W G = U Σ Vᵀ (r columns, the rank), and λ = U′μ is the solution of least norm
    ‖W⁻¹λ‖. W scales each multiplier: a torque is converted to a force at the largest distance of a joint from a centre
    of mass. The other constraints follow from the independent ones as long as the rank is constant. Groups of
    constraints without redundancy are unchanged.
    """
    rows, weight, a = G.shape[0], weights(mechanism), mechanism.network.arrays
    moves = displacement_sizes(a, lever(a)) / lever(
        a
    )  # so that the rank does not depend on the units of the velocities
    if not sparse.issparse(G) and 0 < rows <= G.shape[1]:
        values = np.linalg.svd(weight[:, None] * G * moves, compute_uv=False)
        if values[-1] > RANK * values[0]:  # compared over all groups
            return None
    is_sparse, spread, full = sparse.issparse(G), [], True
    g, entries = (sparse.csr_array(G), sparse.coo_array(G).coords) if is_sparse else (G, np.nonzero(G))
    for block_rows, touched in connected_blocks(entries[0], entries[1], G.shape):
        scaled = weight[block_rows, None] * dense(g[block_rows][:, touched]) * moves[touched]
        left = singular_vectors(scaled, tolerance=RANK, economy=True).range
        if left.shape[1] == block_rows.size:
            left, w = np.eye(block_rows.size), np.ones(block_rows.size)
        else:
            w, full = weight[block_rows], False
        spread.append((block_rows, w[:, None] * left))
    if full:
        return None
    if is_sparse:
        return sparse.hstack([_placed(block, block_rows, rows) for block_rows, block in spread]).tocsr()
    first, basis = 0, np.zeros((rows, sum(block.shape[1] for _, block in spread)))
    for block_rows, block in spread:
        basis[block_rows, first : first + block.shape[1]] = block
        first += block.shape[1]
    return basis


def _placed(block: Array, rows: Array, height: int) -> Any:
    coo = sparse.coo_array(block)
    return sparse.coo_array((coo.data, (rows[coo.row], coo.col)), shape=(height, block.shape[1]))


def weights(mechanism: Model) -> Array:
    """Scales W of the multipliers, (g,).

    They are 1 for forces, and for torques the largest distance [m] of a joint from a centre of mass.
    """
    size = lever(mechanism.network.arrays)
    units = [row.unit for c in mechanism.connections for row in c.rows]
    return np.array([size if unit == "N m" else 1.0 for unit in units])
