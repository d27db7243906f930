"""Elimination of the algebraic constraints of linear systems of index one ([survey] sec. 4.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.factors.signature import check_semi_definite
from ..numerics.subspaces import left_null, rank_of, unit_columns


@dataclass(frozen=True, eq=False)
class ReducedLinear:
    """``ż₁ = (J − R) Q z₁ + g u, y = gᵀQ z₁``, H = ½ z₁ᵀQ z₁, on the constrained state space ([survey] eq. (4.8)).

    Attributes
    ----------
    J : array
        Skew-symmetric structure matrix (n − k, n − k).
    R : array
        Dissipation matrix (n − k, n − k).
    Q : array
        Hessian of H (n − k, n − k).
    g : array
        Input matrix (n − k, m).
    lift : array
        Matrix with x = ``lift`` z₁ for the consistent state of z₁.
    project : array
        Matrix with z₁ = ``project`` x.
    """

    J: Array
    R: Array
    Q: Array
    g: Array
    lift: Array
    project: Array


@checked
def eliminate_index_one(J: Any, Q: Any, G: Any, *, R: Any = None, g: Any = None) -> ReducedLinear:
    """Eliminate the constraints of ``ẋ = (J − R) Q x + g u + G λ, 0 = GᵀQ x`` ([survey] eq. (4.4)-(4.8)).

    With ``V = [G^⊥; Gᵀ]``, z = V x: J̃ = V J Vᵀ, Q̃ = V⁻ᵀ Q V⁻¹, the constraint is (Q̃z)₂ = 0 and
    ``ż₁ = J̃₁₁ (Q̃₁₁ − Q̃₁₂ Q̃₂₂⁻¹ Q̃₂₁) z₁``. J = −Jᵀ, Q = Qᵀ, R = Rᵀ ⪰ 0 (n, n), g (n, m), G (n, k) of full rank.

    Parameters
    ----------
    J
        Skew-symmetric (n, n).
    Q
        Symmetric (n, n).
    G
        Constraints (n, k), of full rank.
    R
        Symmetric positive semi-definite (n, n); zero by default.
    g
        Inputs (n, m); none by default.

    Returns
    -------
    ReducedLinear
        The system in z₁ with the map back to x.

    Raises
    ------
    ValueError
        If GᵀQG is singular: the index is then above one (without multipliers), and further states must be
        constrained.
    """
    n, k = check.two_dimensional("G", G)
    J, Q, R = (
        check.array(name, np.zeros((n, n)) if a is None else a, (n, n))
        for name, a in zip("JQR", (J, Q, R), strict=True)
    )
    G, g = check.array("G", G, (n, k)), check.array("g", np.zeros((n, 0)) if g is None else g, (n, None))
    check.skew("J", J)
    check.symmetric("Q", Q)
    check.symmetric("R", R)
    check_semi_definite("R", R)
    if rank_of(G.T) < k:
        raise ValueError(f"G must have full column rank, got rank {rank_of(G.T)} of {k} columns")
    _check_index(G.T @ Q @ G)
    rows = left_null(unit_columns(G))
    inverse = np.linalg.inv(np.vstack([rows, G.T]))
    whole = inverse.T @ Q @ inverse
    one, two = slice(0, n - k), slice(n - k, n)
    inner = np.linalg.solve(whole[two, two], whole[two, one])
    reduced = whole[one, one] - whole[one, two] @ inner
    lift = inverse @ np.vstack([np.eye(n - k), -inner])
    return ReducedLinear(rows @ J @ rows.T, rows @ R @ rows.T, 0.5 * (reduced + reduced.T), rows @ g, lift, rows)


def _check_index(matrix: Array) -> None:
    """Refuse a singular GᵀQG, which [survey] eq. (4.5) requires to be regular."""
    rank = rank_of(matrix)
    if rank < len(matrix):
        raise ValueError(
            f"GᵀQG must have full rank for index one ([survey] eq. (4.5)): its rank is {rank} of {len(matrix)}"
        )
