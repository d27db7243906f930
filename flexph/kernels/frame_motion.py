"""Displacements relative to body frames, instead of centres of mass, with which matrices of large bodies are sparse.

The centre of mass of a body moves with its deformation, r = r_frame + R φ̄u. In the displacements (δr, θ, δu) every
node therefore moves by R(φ − φ̄)δu, which leads to full matrices. In ξ' = (δr − Rφ̄δu, θ, δu), with ξ = T ξ', it moves
by Rφδu. Forces transform as f' = Tᵀf, rows of constraints as G' = G T.
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
"""Entry, relative to the largest one of its row, below which it is round-off of a sum that cancels."""


def from_frames(a: Arrays) -> Arrays:
    """Copy of the arrays whose nodes are relative to body frames instead of centres of mass: the shift φ̄ is zero.

    The copy is for statics only: its mass matrices are not those about mean axes or centres of mass.
    """
    return a._replace(mean=0.0 * a.mean, border_stack=sparse.csr_array(a.border_stack.shape))


def frame_motion(a: Arrays, c: Configuration) -> Any:
    """Transformation T from frame-based to mass-based displacements, sparse (n_v, n_v)."""
    size, first = len(a.mass) * a.dim + a.turning.size * a.n.shape[0] + a.body_u.size, len(a.mass) * a.dim
    moved = block_diagonal(c.R) @ sparse.csr_array(a.mean)
    above = sparse.hstack([sparse.csr_array((first, size - a.body_u.size)), moved])
    return sparse.eye_array(size) + sparse.vstack([above, sparse.csr_array((size - first, size))]).tocsr()


def frame_rows(G: Any, T: Any) -> Any:
    """Product G T of constraint rows with the transformation T; entries that are mere round-off are set to zero."""
    rows = sparse.csr_array(G @ T)
    largest = abs(rows).max(axis=1).toarray().ravel()
    rows.data[np.abs(rows.data) <= ROUND_OFF * np.repeat(largest, np.diff(rows.indptr))] = 0.0
    rows.eliminate_zeros()
    return rows


def weight_stiffness(a: Arrays, c: Configuration) -> Any:
    """Stiffness of the weights of the bodies in the frame-based displacements ξ', sparse (n_v, n_v).

    The weight mg of a body has the forces φ̄ᵀRᵀmg on its flexible coordinates, and a moment about its frame. The result
    is minus the derivative of these forces and moments with respect to ξ' near an equilibrium.
    """
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
    """True if statics must use frame-based displacements, as the arrays are sparse (they keep φ̄ separately).

    False for a steady rotation with a nonzero world ``spin``: its inertia forces need matrices about centres of mass.
    """
    return a.mean is not None and not np.any(spin)
