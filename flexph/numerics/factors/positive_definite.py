"""Large sparse positive definite systems, and condensation of stresses to them."""

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
from .memory_cost import Cost, announced_cost
from .symmetric_factor import SymmetricFactor

PARDISO = find_spec("pypardiso") is not None
SMALL = 600
"""Number of unknowns up to which stresses are not condensed: dense or mixed matrices are more accurate."""
MANY = 1.5
"""Ratio of stresses to velocities from which on condensation pays: for solids, not for beams."""
LOCAL = 200
"""Largest number of coupled stresses for which C is inverted block by block."""
FEW = 5000
"""Number of unknowns up to which SuperLU is fast enough: PARDISO first needs 0.2 to 0.4 s to find its library."""
LOST = 1e-14
"""Pivot, relative to its diagonal entry, that is round-off."""

Solve = Callable[[Array], Array]


class CondensedStiffness(NamedTuple):
    """Stiffness K = DᵀC⁻¹D after elimination of the stresses, and C⁻¹, both sparse."""

    stiffness: Any
    flexibility: Any


def condensed(compliance: Any, strain: Any) -> CondensedStiffness | None:
    """Eliminate the stresses σ = C⁻¹D u: stiffness K = DᵀC⁻¹D and C⁻¹; None if this would not save time.

    It saves time for many stresses that are coupled in small blocks only. C is the compliance, D the strain operator.
    """
    m, n = strain.shape
    if n <= SMALL or m < MANY * n:
        return None
    c, d = sparse.csr_array(compliance), sparse.csr_array(strain)
    _, label = sparse.csgraph.connected_components(c, directed=False)
    if np.bincount(label).max() > LOCAL:
        return None
    inverse = inverse_by_blocks(c)
    return CondensedStiffness(sparse.csr_array(d.T @ (inverse @ d)), inverse)


def positive_solver(matrix: Any) -> Solve:
    """Solver for a symmetric positive definite matrix, by PARDISO (extra ``pardiso``) or SuperLU.

    Memory and time of a large factorisation are announced before it starts. Raises ValueError if the pivots show that
    the matrix is not positive definite, and MemoryError if the factors need more memory than available.
    """
    return prepared_solver(matrix)()


def prepared_solver(matrix: Any) -> Callable[[], Solve]:
    """Function without arguments that factors a matrix and returns its solver, as :func:`positive_solver` does.

    The caller may delete the matrix before it calls this function.
    """
    if PARDISO and matrix.shape[0] > FEW:
        upper = _upper(matrix)
        return lambda: _pardiso(upper)
    return lambda: _superlu(matrix)


def _superlu(matrix: Any) -> Solve:
    advice = "" if PARDISO else "; the extra 'pardiso' needs less of both (pip install 'flexph[pardiso]')"
    try:
        factor = SymmetricFactor(matrix, advice)
    except ValueError:
        raise ValueError("matrix must be positive definite: it is singular") from None
    if np.any(factor.pivots <= LOST * matrix.diagonal()):
        raise ValueError("matrix must be positive definite: a pivot is not positive")
    return factor.solve


def pardiso(kind: int) -> Any:
    """New PARDISO solver for matrices of a kind: 2 for positive definite, 11 for general real ones."""
    solver = copy.copy(_binding(kind))
    solver.pt, solver.iparm = np.zeros_like(solver.pt), np.zeros_like(solver.iparm)
    return solver


@cache
def _binding(kind: int) -> Any:
    """PARDISO binding for matrices of a kind, with its library loaded; cached, as loading takes long."""
    import pypardiso

    return pypardiso.PyPardisoSolver(mtype=kind)


def _upper(matrix: Any) -> Any:
    """Upper triangle of a symmetric matrix in the format of PARDISO."""
    upper = sparse.csr_matrix(compact(sparse.triu(matrix, format="csr")))
    upper.sort_indices()
    return upper


def _pardiso(upper: Any) -> Solve:
    solver = _pardiso_factor(upper, 2)
    solve = lambda y: _phase(solver, upper, 33, np.asfortranarray(y, dtype=float)).reshape(y.shape)  # noqa: E731 - owns
    weakref.finalize(solve, solver.free_memory, everything=True)  # frees the factors
    return solve


def pardiso_negative_pivots(matrix: Any) -> int:
    """Number of negative pivots of a symmetric matrix, which is also its number of negative eigenvalues.

    The pivots are those of PARDISO's Bunch-Kaufman pivoting. Raises ArithmeticError if PARDISO perturbed a pivot.
    """
    try:
        solver = _pardiso_factor(_upper(matrix), -2)
    except ValueError as error:
        raise ArithmeticError(f"eigenvalues cannot be counted by the signs of pivots: {error}") from None
    changed, negative = int(solver.iparm[13]), int(solver.iparm[22])
    solver.free_memory(everything=True)
    if changed:
        raise ArithmeticError(
            f"eigenvalues cannot be counted by the signs of pivots: PARDISO perturbed {changed} of them"
        )
    return negative


def _pardiso_factor(upper: Any, kind: int) -> Any:
    """PARDISO solver with the factor of a symmetric matrix, which is given by its upper triangle.

    Of the phases of PARDISO, 11 analyses and estimates the cost, 22 factors, 33 solves. The binding's own ``solve`` is
    not used, as it compares the whole matrix each time.
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
        with announced_cost(upper.shape[0], Cost(1024.0 * (kept + factors), 1e6 * operations), "PARDISO"):
            _phase(solver, upper, 22, none)
    except PyPardisoError as error:
        raise ValueError(f"matrix must be positive definite: {error}") from None
    return solver


def _phase(solver: Any, upper: Any, number: int, right: Array) -> Array:
    solver.set_phase(number)
    return solver._call_pardiso(upper, right)
