"""Matrices that are functions of positions, or constant: with derivatives, in blocks, and gyroscopic ones."""

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
    """A function of positions with its derivatives ``∂f/∂ζ_k`` by each of them, stacked: (n_pot, …).

    Parameters
    ----------
    value : callable
        f of ζ.
    slopes : callable
        (n_pot, …) of ζ.
    """

    value: MatrixFunction
    slopes: MatrixFunction

    def __call__(self, zeta: Array) -> Array:
        """f(ζ)."""
        return self.value(zeta)


def mapped(linear: Callable[[Array], Array], matrix: MatrixFunction) -> MatrixFunction:
    """A linear function of matrices, or of stacks of them, after a matrix function."""
    if not isinstance(matrix, Differentiable):
        return lambda zeta: linear(matrix(zeta))
    slopes = matrix.slopes
    return Differentiable(lambda zeta: linear(matrix(zeta)), lambda zeta: linear(slopes(zeta)))


@dataclass(frozen=True, eq=False)
class Gyroscopic:
    """``G(Γ) = Σ Γ_a G_a`` with constant skew matrices G_a, stacked: (n_kin, n_kin, n_kin)."""

    stack: Array

    def __call__(self, zeta: Array, momenta: Array) -> Array:
        """G at any positions."""
        return np.tensordot(momenta, self.stack, 1)


@dataclass(frozen=True, eq=False)
class BlockMatrix:
    """A matrix function (shape) of blocks, each at rows and columns and a function of a slice of the positions."""

    shape: tuple[int, int]
    blocks: tuple[tuple[slice, slice, slice, Any], ...]

    def __call__(self, zeta: Array) -> Array:
        """The matrix at positions."""
        matrix = np.zeros(self.shape)
        for rows, columns, span, block in self.blocks:
            matrix[rows, columns] = at(block, zeta[span])
        return matrix


@dataclass(frozen=True, eq=False)
class BlockGyroscopic:
    """G of blocks, each with a slice of the velocities and of the positions, and a function of these or constant."""

    velocities: int
    blocks: tuple[tuple[slice, slice, Any], ...]

    def __call__(self, zeta: Array, momenta: Array) -> Array:
        """G at positions and momenta."""
        matrix = np.zeros((self.velocities, self.velocities))
        for own, span, block in self.blocks:
            matrix[own, own] = block(zeta[span], momenta[own]) if callable(block) else block
        return matrix


def at(matrix: Any, zeta: Array) -> Array:
    """A matrix that is a function of ζ, or constant, at ζ."""
    given = matrix(zeta) if callable(matrix) else matrix
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"a matrix must be numbers, got {check.shown(given)}") from None
