"""Matrices that are constant or functions of positions: differentiable, in blocks, gyroscopic.

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

MatrixFunction = Callable[[Array], Array]


@checked
@dataclass(frozen=True, eq=False)
class Differentiable:
    """A function of positions with its derivatives ``∂f/∂ζ_k``, stacked: (n_pot, …).

    Parameters
    ----------
    value : callable
        f as a function of ζ.
    slopes : callable
        Derivatives (n_pot, …) as a function of ζ.
    """

    value: MatrixFunction
    slopes: MatrixFunction

    def __call__(self, zeta: Array) -> Array:
        """Value f(ζ)."""
        return self.value(zeta)


def mapped(linear: Callable[[Array], Array], matrix: MatrixFunction) -> MatrixFunction:
    """Matrix function ``linear(matrix(ζ))`` for a linear function; with derivatives if ``matrix`` has them."""
    if not isinstance(matrix, Differentiable):
        return lambda zeta: linear(matrix(zeta))
    slopes = matrix.slopes
    return Differentiable(lambda zeta: linear(matrix(zeta)), lambda zeta: linear(slopes(zeta)))


@dataclass(frozen=True, eq=False)
class Gyroscopic:
    """Gyroscopic matrix ``G(Γ) = Σ Γ_a G_a`` with constant skew matrices G_a, stacked: (n_kin, n_kin, n_kin)."""

    stack: Array

    def __call__(self, zeta: Array, momenta: Array) -> Array:
        """Matrix G at momenta Γ; it does not depend on positions."""
        return np.tensordot(momenta, self.stack, 1)


@dataclass(frozen=True, eq=False)
class BlockMatrix:
    """Matrix function of positions with the given shape, made of blocks, and zero elsewhere.

    A block is (slice of the rows, slice of the columns, slice of the positions, matrix or function of these positions).
    """

    shape: tuple[int, int]
    blocks: tuple[tuple[slice, slice, slice, Any], ...]

    def __call__(self, zeta: Array) -> Array:
        """Matrix at positions."""
        matrix = np.zeros(self.shape)
        for rows, columns, span, block in self.blocks:
            matrix[rows, columns] = at(block, zeta[span])
        return matrix


@dataclass(frozen=True, eq=False)
class BlockGyroscopic:
    """Gyroscopic matrix made of diagonal blocks, with ``velocities`` rows and columns.

    A block is (slice of the velocities, slice of the positions, matrix or function of these positions and momenta).
    """

    velocities: int
    blocks: tuple[tuple[slice, slice, Any], ...]

    def __call__(self, zeta: Array, momenta: Array) -> Array:
        """Matrix G at positions and momenta."""
        matrix = np.zeros((self.velocities, self.velocities))
        for rows, span, block in self.blocks:
            matrix[rows, rows] = block(zeta[span], momenta[rows]) if callable(block) else block
        return matrix


def at(matrix: Any, zeta: Array) -> Array:
    """Value at ζ of a matrix that is constant or a function of ζ. Raises ValueError unless it holds numbers."""
    given = matrix(zeta) if callable(matrix) else matrix
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"a matrix of the system must hold numbers, got {check.shown(given)}") from None
