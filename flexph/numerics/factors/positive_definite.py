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

from ..arrays import Array, compact
from .low_rank import inverse_by_blocks
from .memory_cost import Cost, announced
from .symmetric_factor import SymmetricFactor

PARDISO = find_spec("pypardiso") is not None
SMALL = 600
"""Unknowns up to which nothing is condensed: dense algebra, or the mixed matrix, which keeps more digits."""
MANY = 1.5
"""Stresses over velocities from which on it pays to condense them: solids, not beams."""
LOCAL = 200
"""Stresses that hang together, up to which C is inverted block by block."""
FEW = 5000
"""Unknowns up to which SuperLU is fast enough: the binding of PARDISO looks for its library, once, 0.2 to 0.4 s."""
LOST = 1e-14
"""Pivot over its diagonal entry that is round-off: nothing was left of the entry."""

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
    return prepared_solver(matrix)()


def prepared_solver(matrix: Any) -> Callable[[], Solve]:
    """The same in two steps, between which the matrix may go: PARDISO works on a half of it."""
    if PARDISO and matrix.shape[0] > FEW:
        upper = _upper(matrix)
        return lambda: _pardiso(upper)
    return lambda: _superlu(matrix)


def _superlu(matrix: Any) -> Solve:
    advice = "" if PARDISO else "; the extra 'pardiso' takes a part of both (pip install 'flexph[pardiso]')"
    try:
        factor = SymmetricFactor(matrix, advice)
    except ValueError:
        raise ValueError("matrix must be positive definite: it is singular") from None
    if np.any(factor.pivots <= LOST * matrix.diagonal()):
        raise ValueError("matrix must be positive definite: a pivot is not positive")
    return factor.solve


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


def _upper(matrix: Any) -> Any:
    """The upper triangle of a symmetric matrix as PARDISO takes it."""
    upper = sparse.csr_matrix(compact(sparse.triu(matrix, format="csr")))
    upper.sort_indices()
    return upper


def _pardiso(upper: Any) -> Solve:
    solver = _pardiso_factor(upper, 2)
    solve = lambda y: _phase(solver, upper, 33, np.asfortranarray(y, dtype=float)).reshape(y.shape)  # noqa: E731 - owns
    weakref.finalize(solve, solver.free_memory, everything=True)  # the factors
    return solve


def pardiso_negative_pivots(matrix: Any) -> int:
    """Number of negative pivots of a symmetric indefinite matrix, with those of Bunch and Kaufman.

    Raises ArithmeticError where PARDISO had to change a pivot.
    """
    try:
        solver = _pardiso_factor(_upper(matrix), -2)
    except ValueError as error:
        raise ArithmeticError(f"eigenvalues cannot be counted by the signs of pivots: {error}") from None
    changed, negative = int(solver.iparm[13]), int(solver.iparm[22])
    solver.free_memory(everything=True)
    if changed:
        raise ArithmeticError(f"eigenvalues cannot be counted by the signs of pivots: {changed} of them were changed")
    return negative


def _pardiso_factor(upper: Any, kind: int) -> Any:
    """A solver that has factored a symmetric matrix, given by its upper triangle, by the phases of PARDISO.

    11 analyses, and says what 22 will take; 33 solves. ``solve`` of the binding compares the whole matrix each time.
    """
    from pypardiso.pardiso_wrapper import PyPardisoError

    solver = pardiso(kind)
    # own parameters, nested dissection, pivots and their signs, report entries of factors and 1e6 operations
    indefinite = {10: 8, 11: 1, 13: 1, 21: 1} if kind < 0 else {}
    for parameter, value in {1: 1, 2: 2, 18: -1, 19: -1, **indefinite}.items():
        solver.set_iparm(parameter, value)
    solver._check_A(upper)
    none = np.zeros((upper.shape[0], 1))
    _phase(solver, upper, 11, none)
    kept, factors, _, operations = solver.iparm[15:19].tolist()
    try:
        with announced(upper.shape[0], Cost(1024.0 * (kept + factors), 1e6 * operations), "PARDISO"):
            _phase(solver, upper, 22, none)
    except PyPardisoError as error:
        raise ValueError(f"matrix must be positive definite: {error}") from None
    return solver


def _phase(solver: Any, upper: Any, number: int, right: Array) -> Array:
    solver.set_phase(number)
    return solver._call_pardiso(upper, right)
