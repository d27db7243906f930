"""Linear systems that may be singular, with undetermined freedoms or multipliers, and least-energy changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..arrays import Array, dense
from .positive_definite import FEW, PARDISO, pardiso

NOISE = 1e-15
"""Entry, relative to the largest one, below which a row or column is round-off and not scaled."""
LOOSE = 1e8
"""Growth of a solution relative to its right-hand side, both scaled, above which a system counts as singular."""
SMALL = 200
"""Number of unknowns up to which dense factors are faster than sparse ones for any pattern."""
DENSE = 8000
"""Number of unknowns up to which a least-norm solution is computed (0.5 GB for each copy of the matrix)."""
LOOSEST = 1e13
"""Growth of a solution above which a system is singular to round-off: 1/eps minus three digits."""


def solve_saddle(matrix: Any, rhs: Array, *, meshed: bool = False) -> Array:
    """Solution of a square system, or if that is singular its solution of least norm.

    By LU of the scaled matrix. ``meshed`` means that most unknowns belong to solids or plates, not chains, and selects
    another ordering, or PARDISO if installed. Raises ArithmeticError for a singular system too large for a least-norm
    solution, which is dense.
    """
    if not sparse.issparse(matrix) or matrix.shape[0] <= SMALL:
        return _solve_dense(dense(matrix), rhs)
    row, column = scales(abs(sparse.csr_array(matrix)))
    scaled = sparse.csc_array(sparse.diags_array(row) @ matrix @ sparse.diags_array(column))
    right = row * rhs
    try:
        if meshed and PARDISO and scaled.shape[0] > FEW:
            solution = _by_pardiso(scaled, right)
        else:
            solution = splu(scaled, permc_spec="MMD_AT_PLUS_A" if meshed else "COLAMD").solve(right)
    except RuntimeError:  # exactly singular
        return _dense_least_norm(matrix, rhs)
    return column * solution if _is_regular(scaled, solution, right) else _dense_least_norm(matrix, rhs)


def _solve_dense(matrix: Array, rhs: Array) -> Array:
    """Solution of a small system by dense factors, or if that is singular its solution of least norm."""
    row, column = scales(np.abs(matrix))
    scaled, right = row[:, None] * matrix * column, row * rhs
    try:
        solution: Array = np.linalg.solve(scaled, right)
    except np.linalg.LinAlgError:  # exactly singular
        return least_norm(matrix, rhs)
    return column * solution if _is_regular(scaled, solution, right) else least_norm(matrix, rhs)


def _is_regular(scaled: Any, solution: Array, right: Array) -> bool:
    """True if a solution satisfies the scaled equations and is not so large that they count as singular."""
    top = np.abs(right).max(initial=0.0)
    if not np.all(np.isfinite(solution)) or np.abs(solution).max(initial=0.0) > LOOSE * top:
        return False
    return bool(np.abs(scaled @ solution - right).max(initial=0.0) <= 1e-10 * top)


def _by_pardiso(scaled: Any, right: Array) -> Array:
    from pypardiso.pardiso_wrapper import PyPardisoError

    solver = pardiso(11)
    try:
        solution: Array = solver.solve(sparse.csr_matrix(scaled), right)
    except PyPardisoError as error:
        raise RuntimeError(str(error)) from None
    finally:
        solver.free_memory(everything=True)
    return solution.reshape(right.shape)


def _dense_least_norm(matrix: Any, rhs: Array) -> Array:
    if matrix.shape[0] > DENSE:
        raise ArithmeticError(
            f"a system of {matrix.shape[0]} unknowns is singular: a motion has no stiffness, or joints are "
            f"redundant; least-norm solutions are available up to {DENSE} unknowns"
        )
    return least_norm(matrix.toarray(), rhs)


def solve_regular(matrix: Any, rhs: Array) -> Array | None:
    """Solution of a square sparse system with one or many right-hand sides; None if it is singular.

    By LU of the scaled matrix, refined once. A system counts as singular if a solution exceeds its right-hand side by
    more than ``LOOSEST`` (for right-hand sides with a component in the singular direction) or leaves a residual.
    """
    row, column = scales(abs(sparse.csr_array(matrix)))
    scaled = sparse.csc_array(sparse.diags_array(row) @ matrix @ sparse.diags_array(column))
    right = (rhs.T * row).T
    try:
        factor = splu(scaled, permc_spec="COLAMD")
    except RuntimeError:  # exactly singular
        return None
    solution = factor.solve(right)
    solution = solution + factor.solve(right - scaled @ solution)
    top, defect = np.abs(right).max(initial=0.0), np.abs(scaled @ solution - right).max(initial=0.0)
    terms = (abs(scaled) @ np.abs(solution)).max(initial=0.0)
    if not np.all(np.isfinite(solution)) or defect > 1e-12 * terms or np.abs(solution).max(initial=0.0) > LOOSEST * top:
        return None
    return (solution.T * column).T


def scales(size: Any) -> tuple[Array, Array]:
    """Factors of the rows and of the columns that bring the largest entry of each to about one.

    ``size`` are the absolute values of the entries, sparse or dense. Rows and columns of round-off are not brought to
    one.
    """
    largest = float(size.max()) if size.size else 1.0
    whole = (
        1.0 / np.sqrt(largest) if largest > 0.0 else 1.0
    )  # rows of round-off keep their size relative to the largest entry
    row, column = np.full(size.shape[0], whole), np.full(size.shape[1], whole)
    rows, columns = (_tops(size, axis) > NOISE * largest for axis in (1, 0))
    for _ in range(4):
        lean = sparse.issparse(size)
        scaled = sparse.diags_array(row) @ size @ sparse.diags_array(column) if lean else row[:, None] * size * column
        for scale, axis, seen in ((row, 1, rows), (column, 0, columns)):
            scale /= np.sqrt(np.where(seen, _tops(scaled, axis), 1.0))
    return row, column


def _tops(size: Any, axis: int) -> Array:
    """Largest entry of each row (axis 1) or column (axis 0) of a matrix of absolute values, sparse or dense."""
    return size.max(axis=axis).toarray().ravel() if sparse.issparse(size) else size.max(axis=axis, initial=0.0)


def least_norm(matrix: Array, rhs: Array) -> Array:
    """Least-squares solution of a system with scaled rows and columns, of least norm in the scaled unknowns.

    Scaling is needed, as the units of the unknowns differ by many orders of magnitude.
    """
    row, column = scales(np.abs(matrix))
    return column * np.linalg.lstsq(row[:, None] * matrix * column, row * rhs, rcond=1e-12)[0]


REGULAR = 1e8
"""Growth of solutions of the scaled equations, the inverse square of a singular value of the conditions, up to which
these are certainly independent: dense decompositions call singular values below 1e-10 dependent."""
ROUNDS = 3
"""Number of inverse iterations to estimate the growth."""
SHORT = 1e-9
"""Length of a row, relative to the longest one, below which it may be round-off."""
EXACT = 1e-13
"""Largest defect of a refined solution, relative to its terms."""


def nearest_change(mass: Any, rows: Any, rates: Array) -> Array | None:
    """Change δ (n,) of velocities that satisfies A δ = r with the least energy ½δᵀMδ; None if ill-conditioned.

    ``mass`` is M (n, n), sparse and positive definite, ``rows`` is A (k, n), and ``rates`` is r. δ is the stationary
    point of ½δᵀMδ + μᵀ(r − Aδ), with rows and columns scaled; rows of zeros are left out. None is returned unless
    the other rows clearly have full rank: the caller must then decide by a dense decomposition.
    """
    diagonal = mass.diagonal()
    if not np.all(diagonal > 0.0):
        return None
    unit = 1.0 / np.sqrt(diagonal)
    A = sparse.csr_array(sparse.csr_array(rows) @ sparse.diags_array(unit))
    length = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    nonzero, n = np.flatnonzero(length > 0.0), len(unit)
    if not nonzero.size:
        return np.zeros(n)
    if nonzero.size > n or length[nonzero].min() < SHORT * length.max():
        return None
    A, right = (
        sparse.diags_array(1.0 / length[nonzero]) @ A[nonzero],
        np.concatenate([np.zeros(n), rates[nonzero] / length[nonzero]]),
    )
    M = sparse.diags_array(unit) @ mass @ sparse.diags_array(unit)
    matrix = sparse.csc_array(sparse.block_array([[M, A.T], [A, None]]))
    try:
        factor = splu(matrix)
    except RuntimeError:  # exactly singular
        return None
    if not _growth(factor, matrix.shape[0]) <= REGULAR:
        return None
    solution = factor.solve(right)
    solution = solution + factor.solve(right - matrix @ solution)
    terms = abs(matrix) @ np.abs(solution) + np.abs(right)
    if np.abs(right - matrix @ solution).max() > EXACT * terms.max():
        return None
    return np.asarray(unit * solution[:n])


def _growth(factor: Any, size: int) -> float:
    """Lower estimate of the norm of the inverse of a matrix (size, size) from its factor; infinite if singular."""
    x, growth = np.random.default_rng(0).standard_normal(size), 0.0
    for _ in range(ROUNDS):
        y = factor.solve(x / np.linalg.norm(x))
        growth = float(np.linalg.norm(y))
        if not 0.0 < growth < np.inf:
            return np.inf
        x = factor.solve(y / growth, trans="T")
    return growth
