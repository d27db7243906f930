"""The lowest modes of a stiffness that is factored, many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular

from .positive import Solve
from .space import Array

SPARE = 4
"""Vectors of a block beyond the modes asked for."""
NOISE = 1e-14
"""Of a solution, over the largest one: what the motions without strain leave on the others."""
BLOCKS = 60
"""Blocks up to which Lanczos' method may go on; five to eight are usual."""
SETTLED = 1e-8
"""Residual of an eigenvalue 1/ω² over it at which a mode is found: the error of the shape; that of ω² is its square."""


def lowest_modes(solve: Solve, mass: Any, count: int, beside: Solve = lambda x: x) -> Array:
    """A basis X (n, count), XᵀMX = 1, of the lowest modes of ``K φ = ω²M φ``, ``solve`` giving K⁻¹.

    Lanczos' method for K⁻¹M by blocks with full reorthogonalisation: factors of large matrices are read once for all
    vectors of a block. ``beside`` takes motions out that are not wanted, an M-orthogonal projection. Raises
    ArithmeticError where modes do not settle.
    """
    n, width = mass.shape[0], count + SPARE
    start = beside(np.random.default_rng(0).standard_normal((n, width)))  # fixed, so that runs repeat
    basis, weighted, _ = _orthonormal(start, mass, np.zeros((n, 0)), np.zeros((n, 0)))
    last, columns = weighted, []
    for _ in range(BLOCKS):
        fresh = beside(solve(last))
        columns.append(weighted.T @ fresh)
        block, last, size = _orthonormal(fresh, mass, basis, weighted)
        values, vectors = np.linalg.eigh(_projected(columns))
        wanted = slice(None, -count - 1, -1)
        left = size @ vectors[-width:, wanted]
        if np.all(np.linalg.norm(left, axis=0) <= SETTLED * values[wanted] + NOISE * values[-1]):
            found: Array = basis @ vectors[:, wanted]
            return found
        basis, weighted = np.hstack([basis, block]), np.hstack([weighted, last])
    raise ArithmeticError(f"the {count} lowest modes did not settle in {BLOCKS} blocks of {width}; ask for fewer")


def _projected(columns: list[Array]) -> Array:
    """The symmetric matrix of which block columns are known down to the diagonal block."""
    size = len(columns[-1])
    upper = np.zeros((size, size))
    at = 0
    for column in columns:
        upper[: len(column), at : at + column.shape[1]] = column
        at += column.shape[1]
    lower = np.tril(upper.T, -1)
    return np.triu(upper) + lower


def _orthonormal(x: Array, mass: Any, basis: Array, weighted: Array) -> tuple[Array, Array, Array]:
    """Q, MQ and S with x = Q S + (in the basis), QᵀMQ = 1, Q beside the basis, whose products with M are ``weighted``.

    QR before Cholesky's factor, since a block may lie in few directions to round-off; what comes in place of the others
    is brought beside the basis after it.
    """
    q, size = qr(x - basis @ (weighted.T @ x), mode="economic", check_finite=False)
    for _ in range(2):
        q = q - basis @ (weighted.T @ q)
    heavy = mass @ q
    root = cholesky(q.T @ heavy)
    own, heavy = (solve_triangular(root, a.T, trans=1).T for a in (q, heavy))
    return own, heavy, root @ size
