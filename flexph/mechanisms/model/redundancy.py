"""Redundant constraints: which they are, and multipliers of least norm through a basis of the independent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...kernels.constraint_sizes import displacement_sizes, lever
from ...kernels.values import Independent
from ...linear.elimination import explain_redundant, null_space
from ...numerics.arrays import Array, dense
from ...numerics.ranks import singular_vectors

if TYPE_CHECKING:
    from .model import Model

RANK = 1e-6
"""Singular value over the largest one below which a constraint depends on others. Where loops close to round-off, those
that do leave 1e-15, or its square root where they move only because they are singular (Bennett's linkage)."""
FEW = 400
"""Rows of a sparse G up to which their products are looked at densely."""
REGULAR = 1e-4
"""Singular value of constraint rows of length 1 above which they are independent: its square is far above round-off."""


def independent(mechanism: Model, G: Any) -> Independent | None:
    """The independent combinations of the constraints G v = b, None where G has full rank.

    λ = W U μ with W G = U Σ Vᵀ (rank columns) is the solution of least norm ‖W⁻¹λ‖, W the unit of each multiplier:
    a torque counts as the force that has it at the largest distance of a joint from a centre of mass. The independent
    constraints are Uᵀ W G v = Uᵀ W b; the others follow from them as long as the rank stays. Constraints in groups
    without redundancy stay as they are.
    """
    rows, weight, a = G.shape[0], weights(mechanism), mechanism.network.arrays
    moves = displacement_sizes(a, lever(a)) / lever(a)  # the rank depends on no unit of the velocities
    if not sparse.issparse(G) and 0 < rows <= G.shape[1]:
        values = np.linalg.svd(weight[:, None] * G * moves, compute_uv=False)
        if values[-1] > RANK * values[0]:  # those of all groups together
            return None
    g = sparse.csr_array(G)
    link = sparse.block_array([[None, g], [g.T, None]])
    _, label = connected_components(sparse.csr_array(link), directed=False)
    spread, gathered, full = [], [], True
    for group in np.unique(label[:rows]):
        own, touched = np.flatnonzero(label[:rows] == group), np.flatnonzero(label[rows:] == group)
        scaled = weight[own, None] * g[own][:, touched].toarray() * moves[touched]
        left = singular_vectors(scaled, tolerance=RANK, economy=True).range
        if left.shape[1] == own.size:
            left, w = np.eye(own.size), np.ones(own.size)
        else:
            w, full = weight[own], False
        spread.append(_placed(w[:, None] * left, own, rows))
        gathered.append(_placed(left / w[:, None], own, rows))
    if full:
        return None
    to = (lambda blocks: sparse.hstack(blocks).tocsr()) if sparse.issparse(G) else _dense
    return Independent(to(spread), to(gathered).T)


def _dense(blocks: list[Any]) -> Array:
    return sparse.hstack(blocks).toarray()


def _placed(block: Array, rows: Array, height: int) -> Any:
    coo = sparse.coo_array(block)
    return sparse.coo_array((coo.data, (rows[coo.row], coo.col)), shape=(height, block.shape[1]))


def weights(mechanism: Model) -> Array:
    """1 for forces, and for torques the largest distance of a joint from a centre of mass [m]."""
    size = lever(mechanism.network.arrays)
    units = [row.unit for c in mechanism.connections for row in c.rows]
    return np.array([size if unit == "N m" else 1.0 for unit in units])


def explain_redundancy(mechanism: Model, G: Any) -> str:
    """The redundant constraints and what they follow from, in words; empty where G has full rank."""
    if has_full_rank(G):
        return ""
    _, redundant = null_space(G, mechanism.constraint_names)
    return "; ".join(explain_redundant(names) for names in redundant)


def has_full_rank(G: Any) -> bool:
    """Whether G, dense or of few rows, has full rank by far: then no diagonal entry of a pivoted QR is small.

    They are at least the smallest singular value of the rows over their lengths, whose square is an eigenvalue here.
    """
    if not G.shape[0]:
        return True
    if not G.shape[1] or (sparse.issparse(G) and G.shape[0] > FEW):
        return False
    gram = dense(G @ G.T)
    size = np.sqrt(np.where(gram.diagonal() > 0.0, gram.diagonal(), 1.0))
    return bool(np.linalg.eigvalsh(gram / np.outer(size, size))[0] > REGULAR**2)
