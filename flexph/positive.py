"""Large sparse positive definite systems, and bodies whose stresses are condensed to them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .elasticity import inverse_by_blocks
from .space import Array

PARDISO = find_spec("pypardiso") is not None
SMALL = 600
"""Unknowns up to which nothing is condensed: dense algebra, or the mixed matrix, which keeps more digits."""
MANY = 1.5
"""Stresses over velocities from which on it pays to condense them: solids, not beams."""
LOCAL = 200
"""Stresses that hang together, up to which C is inverted block by block."""
FEW = 5000
"""Unknowns up to which SuperLU is faster: the binding of PARDISO looks for its library each time, 0.2 to 0.4 s."""
ANNOUNCED = 20000
"""Unknowns from which on a factorisation is announced (a cube of 26 000: 0.9 s by PARDISO, 5.7 s by SuperLU)."""

Solve = Callable[[Array], Array]
log = logging.getLogger("flexph")


class Condensed(NamedTuple):
    """K = DᵀC⁻¹D and C⁻¹, sparse."""

    stiffness: Any
    flexibility: Any


def condensed(compliance: Any, strain: Any) -> Condensed | None:
    """K = DᵀC⁻¹D of many local stresses; None for few of them, or stresses that hang together."""
    m, n = strain.shape
    if n <= SMALL or m < MANY * n:
        return None
    c, d = sparse.csr_array(compliance), sparse.csr_array(strain)
    _, label = sparse.csgraph.connected_components(c, directed=False)
    if np.bincount(label).max() > LOCAL:
        return None
    inverse = inverse_by_blocks(c)
    return Condensed(sparse.csr_array(d.T @ (inverse @ d)), inverse)


def positive_solver(matrix: Any) -> Solve:
    """Solutions with a symmetric positive definite matrix: by PARDISO (extra ``pardiso``), or by SuperLU.

    Raises ValueError where it is not positive definite, as far as its pivots show.
    """
    n = matrix.shape[0]
    if n >= ANNOUNCED:
        way = "PARDISO" if PARDISO else "SuperLU; the extra 'pardiso' is several times faster"
        log.warning("factoring a matrix of %d unknowns and %d entries by %s", n, matrix.nnz, way)
    clock = time.perf_counter()
    solve = _pardiso(matrix) if PARDISO and n > FEW else _superlu(matrix)
    if n >= ANNOUNCED:
        log.warning("factored in %.1f s", time.perf_counter() - clock)
    return solve


def _superlu(matrix: Any) -> Solve:
    full = sparse.csc_array(matrix)
    try:
        factor = splu(full, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        raise ValueError("matrix must be positive definite: it is singular") from None
    if np.any(factor.U.diagonal() <= 0.0):
        raise ValueError("matrix must be positive definite: a pivot is not positive")
    return lambda y: factor.solve(np.ascontiguousarray(y))


def _pardiso(matrix: Any) -> Solve:
    import pypardiso

    upper = sparse.csr_matrix(sparse.triu(matrix, format="csr"))
    upper.sort_indices()
    solver = pypardiso.PyPardisoSolver(mtype=2)
    try:
        solver.factorize(upper)
    except pypardiso.pardiso_wrapper.PyPardisoError as error:
        raise ValueError(f"matrix must be positive definite: {error}") from None

    def solve(y: Array) -> Array:
        found: Array = solver.solve(upper, np.asfortranarray(y))
        return found.reshape(y.shape)

    return solve
