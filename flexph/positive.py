"""Large sparse positive definite systems, and bodies whose stresses are condensed to them."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from .elasticity import inverse_by_blocks
from .factor_cost import Cost, announced
from .space import Array

PARDISO = find_spec("pypardiso") is not None
SMALL = 600
"""Unknowns up to which nothing is condensed: dense algebra, or the mixed matrix, which keeps more digits."""
MANY = 1.5
"""Stresses over velocities from which on it pays to condense them: solids, not beams."""
LOCAL = 200
"""Stresses that hang together, up to which C is inverted block by block."""
FEW = 5000
"""Unknowns up to which SuperLU is fast enough: the binding of PARDISO looks for its library, once, 0.2 to 0.4 s."""
FILL, WORK = 25.0, 2000.0
"""Of SuperLU on solids, within a factor of two (bars, cubes, plates of 9e3 to 1.3e5 unknowns): entries of both factors
over n √b, b the bandwidth by Cuthill and McKee, and operations over entries."""

Solve = Callable[[Array], Array]


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

    Memory and time of a large factorisation are announced before it starts. Raises ValueError where the matrix is not
    positive definite, as far as its pivots show, and MemoryError where the factors need more memory than there is.
    """
    return _pardiso(matrix) if PARDISO and matrix.shape[0] > FEW else _superlu(matrix)


def _superlu(matrix: Any) -> Solve:
    full = sparse.csc_array(matrix)
    advice = "" if PARDISO else "; the extra 'pardiso' takes a part of both (pip install 'flexph[pardiso]')"
    with announced(full.shape[0], _superlu_cost(full), "SuperLU", advice):
        try:
            factor = splu(full, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError:
            raise ValueError("matrix must be positive definite: it is singular") from None
    if np.any(factor.U.diagonal() <= 0.0):
        raise ValueError("matrix must be positive definite: a pivot is not positive")
    return lambda y: factor.solve(np.ascontiguousarray(y))


def _superlu_cost(matrix: Any) -> Cost:
    """What SuperLU is expected to take, which does not say it itself; nothing where it is little."""
    n = matrix.shape[0]
    if n < FEW:
        return Cost(0.0, 0.0)
    place = np.empty(n, dtype=int)
    place[reverse_cuthill_mckee(matrix, symmetric_mode=True)] = np.arange(n)
    entries = sparse.coo_array(matrix)
    bandwidth = np.abs(place[entries.row] - place[entries.col]).max()
    filled = FILL * n * np.sqrt(bandwidth)
    return Cost(memory=12.0 * filled, operations=WORK * filled)


def pardiso(kind: int) -> Any:
    """A fresh solver of PARDISO for a kind of matrix: 2 positive definite, 11 any real one."""
    solver = copy.copy(_binding(kind))
    solver.pt, solver.iparm = np.zeros_like(solver.pt), np.zeros_like(solver.iparm)
    return solver


@cache
def _binding(kind: int) -> Any:
    """The binding of PARDISO with its library found, which takes a while; what factors is a copy of it."""
    import pypardiso

    return pypardiso.PyPardisoSolver(mtype=kind)


def _pardiso(matrix: Any) -> Solve:
    """By the phases of PARDISO: 11 analyses, and says what 22 will take; 33 solves. ``solve`` of the binding compares
    the whole matrix each time."""
    from pypardiso.pardiso_wrapper import PyPardisoError

    upper = sparse.csr_matrix(sparse.triu(matrix, format="csr"))
    upper.sort_indices()
    solver = pardiso(2)
    # own parameters, nested dissection, report entries of factors and 1e6 operations
    for parameter, value in {1: 1, 2: 2, 18: -1, 19: -1}.items():
        solver.set_iparm(parameter, value)
    solver._check_A(upper)

    def phase(number: int, right: Array) -> Array:
        solver.set_phase(number)
        found: Array = solver._call_pardiso(upper, right)
        return found

    none = np.zeros((upper.shape[0], 1))
    phase(11, none)
    kept, factors, _, operations = solver.iparm[15:19].tolist()
    try:
        with announced(upper.shape[0], Cost(1024.0 * (kept + factors), 1e6 * operations), "PARDISO"):
            phase(22, none)
    except PyPardisoError as error:
        raise ValueError(f"matrix must be positive definite: {error}") from None
    solve = lambda y: phase(33, np.asfortranarray(y, dtype=float)).reshape(y.shape)  # noqa: E731 - owns the factors
    weakref.finalize(solve, solver.free_memory, everything=True)
    return solve
