"""Impulses of joints at a state: the velocities that they change, by dense or sparse matrices.

Impulses μ of the constraint rows change the velocities by M⁻¹Gᵀμ. With S = G M⁻¹Gᵀ, those of S μ = e remove the
velocity defects e = G v + ∂g/∂t: v′ = v − M⁻¹Gᵀμ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...kernels.arrays import Arrays
from ...kernels.continuous import mass_matrix, mass_of
from ...kernels.gradient import is_sparse, velocity_slices
from ...numerics.arrays import Array
from ...numerics.factors.positive_definite import positive_solver

LARGE = 300
"""Number of flexible coordinates above which shifts of low rank are kept out of their mass matrix."""


def impulses(a: Arrays, u: Array, G: Any, defects: Array) -> Array:
    """Stacked M⁻¹Gᵀμ and μ, (n_v + g, k), with G M⁻¹Gᵀμ = ``defects`` (g, k)."""
    rhs = np.zeros((sum(G.shape), defects.shape[1]))
    rhs[G.shape[1] :] = defects
    if not is_sparse(a):
        solution: Array = np.linalg.solve(np.block([[mass_of(a, u), -G.T], [G, np.zeros((len(G), len(G)))]]), rhs)
        return solution
    G, large = sparse.csr_array(G), a.body_u.size > LARGE
    K = sparse.block_array([[mass_matrix(a, u, deforming=not large), -G.T], [G, None]], format="csr")
    return _bordered(a, K, rhs) if large else splu(sparse.csc_array(K)).solve(rhs)


def _bordered(a: Arrays, K: Any, rhs: Array) -> Array:
    """Solve with K completed by its block M_uu, for right-hand sides that are zero in the rows of u.

    M_uu is factored by itself. Its shifts of low rank, which would fill it, are kept in a border with all other
    unknowns.
    """
    u = np.arange(*velocity_slices(a)[1].indices(len(rhs)))
    rest, shifts = np.delete(np.arange(len(rhs)), u), np.flatnonzero(np.diff(a.border.indptr))
    right = sparse.vstack([K[rest][:, u], a.border[shifts]])
    left = sparse.hstack([K[u][:, rest], -a.border_stack[: u.size][:, shifts]])
    across = positive_solver(a.stack[: u.size])(left.toarray())
    corner = sparse.block_diag([K[rest][:, rest], -sparse.eye_array(shifts.size)]).toarray()
    small = np.linalg.solve(corner - right @ across, np.pad(rhs[rest], ((0, shifts.size), (0, 0))))
    solution = np.empty_like(rhs)
    solution[u], solution[rest] = -across @ small, small[: rest.size]
    return solution
