"""Smooth decompositions of descriptor matrices ([dg] theorem 11 and corollary 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.memo import Memo, once
from ..numerics.ranks import Subspaces, pivots, rank_of, subspaces

LEFT_OVER = 1e-9
"""Schur complement, relative to its terms, up to which E(x) has the rank of the reference state. It is larger than
round-off, as the inverse may have six correct digits only."""


class Blocks(NamedTuple):
    """Blocks of ``U₀ᵀE(x)V₀ = [[E₁₁, E₁₂], [E₂₁, E₂₂]]``, with regular E₁₁ (r, r); E₂₂ follows as E₂₁E₁₁⁻¹E₁₂."""

    E11: Array
    E12: Array
    E21: Array


@dataclass(frozen=True, eq=False)
class Decomposition(Memo):
    """``U(x)ᵀE(x)V(x) = diag(Σ(x), 0)`` with orthogonal U (m, m), V (n, n) and regular Σ (r, r), near a state x₀.

    By [dg] theorem 11, from orthogonal U₀ and V₀ with U₀ᵀE(x₀)V₀ = diag(Σ₀, 0) and the constant rank r: U, V and Σ
    have as many derivatives as E. They exist in the neighbourhood of x₀ in which E₁₁ of :class:`Blocks` is regular;
    outside of it, and if E(x) has another rank, ValueError is raised. Ranks do not depend on the units of rows and
    columns. ``matrix`` is E as a function of x.
    """

    matrix: Callable[[Array], Any]
    reference: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", check.array("reference", self.reference, (None,)))
        check.two_dimensional("E(x)", dense(self.matrix(self.reference)))

    @once
    def first(self) -> tuple[Array, Array]:
        """Orthogonal U₀ (m, m) and V₀ (n, n): bases of the ranges of E(x₀) and E(x₀)ᵀ, then of their complements."""
        spaces = self._subspaces
        return np.hstack([spaces.range, spaces.left_null]), np.hstack([spaces.rows, spaces.null])

    @once
    def _subspaces(self) -> Subspaces:
        return subspaces(dense(self.matrix(self.reference)))

    @property
    def rank(self) -> int:
        """Rank r of E(x₀)."""
        return int(self._subspaces.range.shape[1])

    def blocks(self, x: Array) -> Blocks:
        """Blocks at a state. Raises ValueError if E₁₁ is singular or the rank is not r."""
        (left, right), r = self.first, self.rank
        given = dense(self.matrix(x))
        turned = left.T @ given @ right
        E11, E12, E21 = turned[:r, :r], turned[:r, r:], turned[r:, :r]
        if r and rank_of(E11) < r:
            raise ValueError(
                f"E₁₁ is singular at x = {x}: the state is too far from the reference of the decomposition"
            )
        quotient = np.linalg.solve(E11, E12)
        terms = np.abs(left[:, r:].T) @ np.abs(given) @ np.abs(right[:, r:]) + np.abs(E21) @ np.abs(quotient)
        if np.any(np.abs(turned[r:, r:] - E21 @ quotient) > LEFT_OVER * terms):
            raise ValueError(f"the rank of E must be constant: it is {r} at the reference, and more at x = {x}")
        return Blocks(E11, E12, E21)

    def at(self, x: Array) -> tuple[Array, Array, Array]:
        """Factors U (m, m), Σ (r, r), V (n, n) at a state. Raises ValueError as :meth:`blocks`."""
        (left, right), blocks, r = self.first, self.blocks(x), self.rank
        below, right_of = _quotients(blocks)
        U = _orthogonal(left @ _lower(below, r))  # Ũᵀ = [[1, 0], [−E₂₁E₁₁⁻¹, 1]] U₀ᵀ
        V = _orthogonal(right @ _lower(right_of.T, r))
        return U, U[:, :r].T @ dense(self.matrix(x)) @ V[:, :r], V

    def left_null(self, x: Array) -> Array:
        """Left null space N (m, m − r), NᵀE = 0: the transpose of ``[−E₂₁E₁₁⁻¹, 1] U₀ᵀ``."""
        below, _ = _quotients(self.blocks(x))
        return self.first[0] @ np.vstack([-below.T, np.eye(len(below))])


@dataclass(frozen=True)
class Echelon(Memo):
    """``U(x)ᵀE(x)Π = [[1, E₁₂(x)], [0, 0]]`` with regular U and a permutation Π of the columns ([dg] corollary 4).

    ``order`` (n,) lists the columns of E in their new order; the first r are chosen at the reference state by a QR
    decomposition with pivoting. Π is the derivative of x ↦ x[order], so that it forms a system transformation with U.
    """

    decomposition: Decomposition

    @once
    def order(self) -> Array:
        """Indices of the columns of E in their new order."""
        d = self.decomposition
        rows = d.first[0][:, : d.rank].T @ dense(d.matrix(d.reference))
        chosen = pivots(rows)
        return np.concatenate([np.sort(chosen[: d.rank]), np.sort(chosen[d.rank :])])

    def at(self, x: Array) -> tuple[Array, Array]:
        """Matrices U (m, m) and E₁₂ (r, n − r) at a state. Raises ValueError if the first columns are dependent."""
        d = self.decomposition
        U, _, _ = d.at(x)
        rows = (U[:, : d.rank].T @ dense(d.matrix(x)))[:, self.order]
        first = rows[:, : d.rank]
        if d.rank and rank_of(first) < d.rank:
            raise ValueError(f"the first columns of E are dependent at x = {x}: it is too far from the reference")
        left = U.copy()
        left[:, : d.rank] = np.linalg.solve(first, U[:, : d.rank].T).T  # U diag(Ê₁₁⁻ᵀ, 1)
        return left, np.linalg.solve(first, rows[:, d.rank :])


@checked
def decompose(matrix: Callable[[Array], Any], reference: Any) -> Decomposition:
    """Decomposition of E(x) near a reference state, see :class:`Decomposition`."""
    return Decomposition(matrix, reference)


@checked
def echelon(matrix: Callable[[Array], Any], reference: Any) -> Echelon:
    """Echelon form of E(x) near a reference state, see :class:`Echelon`."""
    return Echelon(Decomposition(matrix, reference))


def _quotients(blocks: Blocks) -> tuple[Array, Array]:
    """Quotients E₂₁E₁₁⁻¹ and E₁₁⁻¹E₁₂."""
    return np.linalg.solve(blocks.E11.T, blocks.E21.T).T, np.linalg.solve(blocks.E11, blocks.E12)


def _lower(below: Array, r: int) -> Array:
    """Block matrix ``[[1, −Xᵀ], [0, 1]]`` from X (k, r)."""
    lower = np.eye(r + len(below))
    lower[:r, r:] = -below.T
    return lower


def _orthogonal(matrix: Array) -> Array:
    """Factor Q of the QL decomposition with positive diagonal (Gram-Schmidt from the right), smooth like the matrix."""
    q, triangle = np.linalg.qr(matrix[:, ::-1])
    return (q * np.where(np.diag(triangle) < 0.0, -1.0, 1.0))[:, ::-1]
