"""Displacements of large bodies counted from their frames: what keeps their matrices sparse.

The centre of mass of a body moves with its deformation, r = r_frame + R φ̄u, so over (δr, θ, δu) every node moves by
R(φ − φ̄)δu, and products of such rows fill matrices. Over ξ' = (δr − Rφ̄δu, θ, δu), ξ = T ξ', it moves by Rφδu. Forces
follow as f' = Tᵀf, rows of constraints as G' = G T.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array, sparse_block_diag
from ..numerics.rotations import cross
from .arrays import Arrays
from .gradient import block_diagonal
from .state import Configuration

ROUND_OFF = 1e-13
"""Entry over the largest one of its row below which it is what is left of a sum that cancels."""


def from_frames(a: Arrays) -> Arrays:
    """The arrays without the shift φ̄, of nodes that move with the frames; of mean axes the masses do not know.

    What is at rest does not depend on the masses of its deformation.
    """
    return a._replace(mean=0.0 * a.mean, border_stack=sparse.csr_array(a.border_stack.shape))


def frame_motion(a: Arrays, c: Configuration) -> Any:
    """T, sparse (n_v, n_v)."""
    size, first = len(a.mass) * a.dim + a.turning.size * a.n.shape[0] + a.body_u.size, len(a.mass) * a.dim
    moved = block_diagonal(c.R) @ sparse.csr_array(a.mean)
    above = sparse.hstack([sparse.csr_array((first, size - a.body_u.size)), moved])
    return sparse.eye_array(size) + sparse.vstack([above, sparse.csr_array((size - first, size))]).tocsr()


def frame_rows(G: Any, T: Any) -> Any:
    """G T without the round-off of what cancels."""
    rows = sparse.csr_array(G @ T)
    largest = abs(rows).max(axis=1).toarray().ravel()
    rows.data[np.abs(rows.data) <= ROUND_OFF * np.repeat(largest, np.diff(rows.indptr))] = 0.0
    rows.eliminate_zeros()
    return rows


def weight_stiffness(a: Arrays, c: Configuration) -> Any:
    """Stiffness of the weights over ξ' near an equilibrium: R turns them against φ̄ᵀRᵀmg, sparse (n_v, n_v)."""
    n, first, basis = a.body_u.size, len(a.mass) * a.dim, cross(a.dim)
    weight = np.einsum("bji,bj->bi", c.R, a.weight)
    turns = np.isin(np.arange(len(a.mass)), a.turning)
    block = lambda x, on: x if on else np.zeros((0, a.dim))  # noqa: E731
    levers = np.einsum("bi,sij->bsj", weight, basis)
    lever = sparse_block_diag([block(x, on) for x, on in zip(levers, turns, strict=True)]) @ sparse.csr_array(a.mean)
    spins = lever.shape[0]
    below = -np.einsum("sij,bj->bsi", basis, weight)
    under = sparse_block_diag([block(x, on) for x, on in zip(below, turns, strict=True)]) @ sparse.csr_array(a.mean)
    rest = sparse.block_array([[sparse.csr_array((spins, spins)), lever], [under.T, sparse.csr_array((n, n))]])
    return -sparse_block_diag([sparse.csr_array((first, first)), rest])


def is_parted(a: Arrays, spin: Array) -> bool:
    """Whether the shift is kept apart, and nothing turns: statics of large bodies."""
    return a.mean is not None and not np.any(spin)
