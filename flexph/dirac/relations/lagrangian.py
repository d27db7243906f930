"""Lagrangian subspaces, the tangent spaces of energy storage ([rigid] definition 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.subspaces import MEMBER, principal_angles, rank_of, relative, unit_columns, unit_rows


@checked
@dataclass(frozen=True, eq=False)
class LagrangianSubspace:
    """Subspace ``L = {(P a, S a)} ⊂ ℝⁿ × ℝⁿ``, ``Pᵀ S = Sᵀ P``, ``rank [P; S] = n``: tangent space of a storage.

    All members v, w satisfy v₁ᵀw₂ − w₁ᵀv₂ = 0, and L is maximal with this property ([rigid] definition 5).

    Parameters
    ----------
    P : array_like
        (n, n).
    S : array_like
        (n, n).

    Raises
    ------
    ValueError
        If it is not Lagrangian, with the defect.
    """

    P: Array
    S: Array

    def __post_init__(self) -> None:
        n = check.two_dimensional("P", self.P)[0]
        for name in "PS":
            object.__setattr__(self, name, check.array(name, getattr(self, name), (n, n)))
        check_lagrangian("subspace", self.P, self.S, check.ROUND_OFF * max(n, 1))

    @property
    def size(self) -> int:
        """Dimension n."""
        return len(self.P)

    def defect(self, first: Array, second: Array) -> float:
        """Largest residual of ``Sᵀv₁ − Pᵀv₂ = 0``, the equations of L, relative to the magnitudes of its terms."""
        v, w = check.array("first", first, (self.size,)), check.array("second", second, (self.size,))
        scale = np.abs(self.S.T) @ np.abs(v) + np.abs(self.P.T) @ np.abs(w)
        return relative(self.S.T @ v - self.P.T @ w, scale)

    def contains(self, first: Array, second: Array, *, tolerance: float = MEMBER) -> bool:
        """True if (v₁, v₂) ∈ L."""
        return self.defect(first, second) <= tolerance

    def angles(self, other: LagrangianSubspace) -> Array:
        """Principal angles (n,) to another subspace of the same size [rad], largest first."""
        return principal_angles(np.vstack([self.P, self.S]), np.vstack([other.P, other.S]))

    def distance(self, other: LagrangianSubspace) -> float:
        """Largest principal angle to another subspace [rad], zero if it is the same."""
        return float(self.angles(other).max(initial=0.0))


def check_lagrangian(noun: str, P: Array, S: Array, tolerance: float) -> None:
    """Raise ValueError, with the defect, unless ``PᵀS = SᵀP`` up to a tolerance and ``rank [P; S] = n``.

    Both tests are dimensionless: the form is compared with its terms, in columns of unit energy, and the rank is that
    of rows of unit length.
    """
    letters = "P; S" if noun == "subspace" else "X'; ε'"
    form, terms = P.T @ S, np.abs(P).T @ np.abs(S)
    size = np.sqrt(np.diag(terms))
    size = np.where(size > 0.0, size, 1.0)
    unit = np.outer(size, size)
    defect = check.norm((form - form.T) / unit) / max(check.norm(terms / unit), 1e-300)
    if defect > tolerance:
        raise ValueError(f"a Lagrangian {noun} is symplectic: ‖PᵀS − SᵀP‖ = {defect:.0e} (relative)")
    rank = rank_of(unit_columns(unit_rows(np.vstack([P, S]))).T)
    if rank < len(P):
        raise ValueError(f"a Lagrangian {noun} is maximal: rank [{letters}] = {rank}, it must be {len(P)}")
