"""Energy storage: Lagrangian subspaces and submanifolds of energy variables and efforts.

[survey] sec. 2.2, [rigid] definition 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, block_diag
from ..numerics.differences import derivative, state_sizes
from ..numerics.memo import PickledByCall
from ..numerics.subspaces import (
    MEMBER,
    principal_angles,
    rank_of,
    relative,
    unit_columns,
    unit_rows,
)
from ..systems.nonlinear import Constant


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
        If it is not Lagrangian; the message has the defect.
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
        """True if (v₁, v₂) ∈ L, with :meth:`defect` up to a tolerance."""
        return self.defect(first, second) <= tolerance

    def angles(self, other: LagrangianSubspace) -> Array:
        """Principal angles (n,) to another subspace of the same size [rad], largest first."""
        return principal_angles(np.vstack([self.P, self.S]), np.vstack([other.P, other.S]))

    def distance(self, other: LagrangianSubspace) -> float:
        """Largest principal angle to another subspace [rad], zero if it is the same."""
        return float(self.angles(other).max(initial=0.0))


def check_lagrangian(noun: str, P: Array, S: Array, tolerance: float) -> None:
    """Raise ValueError, with the defect, unless ``PᵀS = SᵀP`` up to a tolerance and ``rank [P; S] = n``.

    Both tests are dimensionless: PᵀS − SᵀP is compared with its terms in scaled columns, the rank is that of rows of
    unit length. ``noun``, such as "subspace", is what the message calls it.
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


SYMPLECTIC = 1e-7
"""Relative defect of X'ᵀε' = ε'ᵀX' that differences with a relative error of 1e-10 may leave."""
SLOPE = 1e-6
"""Relative deviation of a given X' from differences of X that counts as an error."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class LagrangianStorage(PickledByCall):
    """Storage ``L = {(x, e) : x = X(ξ), e = ε(ξ)}`` with ``X'(ξ)ᵀ ε(ξ) = ∇H(ξ)`` and ``rank [X'; ε'] = n``.

    The parameters ξ (n,) determine the energy variables x (n,) and the efforts e (n,): ẋ = X'(ξ) ξ̇, and dH/dt = eᵀẋ.
    As ∇²H is symmetric, so is X'ᵀε', and tangent spaces are Lagrangian subspaces ([rigid] definition 5). X(ξ) = ξ gives
    the usual storage e = ∇H(x) ([survey] eq. (2.6)). If X' is singular, energy variables are constrained, as in an
    element that stores nothing, or a rigid one.

    Parameters
    ----------
    states : callable
        X as a function of ξ.
    descriptor : callable or matrix
        X' (n, n) as a function of ξ, or constant.
    efforts : callable
        ε as a function of ξ.
    H : callable
        Energy as a function of ξ.
    slopes : callable, optional
        ε' (n, n) as a function of ξ.
    """

    states: Callable[[Array], Array]
    descriptor: Any
    efforts: Callable[[Array], Array]
    H: Callable[[Array], float]
    slopes: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        if not callable(self.descriptor):
            matrix = check.array("descriptor", self.descriptor, (None, None))
            object.__setattr__(self, "descriptor", Constant(check.array("descriptor", matrix, (len(matrix),) * 2)))

    @classmethod
    @checked
    def of_energy(
        cls,
        H: Callable[[Array], float],
        gradient: Callable[[Array], Array],
        size: int,
        hessian: Callable[[Array], Array] | None = None,
    ) -> LagrangianStorage:
        """Graph of ∇H: X(ξ) = ξ, ε = ∇H, with ``size`` energy variables."""
        return cls(states=_same, descriptor=np.eye(check.count("size", size, 0)), efforts=gradient, H=H, slopes=hessian)

    @classmethod
    def of_subspace(cls, subspace: LagrangianSubspace) -> LagrangianStorage:
        """Storage of a subspace ``{(P ξ, S ξ)}``: H = ½ ξᵀPᵀS ξ."""
        P, S = subspace.P, subspace.S
        quadratic = 0.5 * P.T @ S
        return cls(
            states=lambda xi: P @ xi,
            descriptor=P,
            efforts=lambda xi: S @ xi,
            H=lambda xi: float(xi @ quadratic @ xi),
            slopes=lambda xi: S,
        )

    @property
    def is_constant(self) -> bool:
        """True if X' is a constant matrix."""
        return isinstance(self.descriptor, Constant)

    def check(self, xi: Array) -> None:
        """Raise ValueError with the defect unless X' is the Jacobian of X, and L Lagrangian, at parameters ξ."""
        n = xi.size
        x, _ = (check.array(name, getattr(self, name)(xi), (n,)) for name in ("states", "efforts"))
        P = check.array("descriptor", self.descriptor(xi), (n, n))
        wrong = np.abs(P - derivative(self.states, xi)) * state_sizes(xi)
        if np.any(wrong.max(axis=1, initial=0.0) > SLOPE * ((np.abs(P) * state_sizes(xi)).sum(axis=1) + np.abs(x))):
            raise ValueError("descriptor must be the Jacobian of states, it is not at the sample")
        S = derivative(self.efforts, xi) if self.slopes is None else check.array("slopes", self.slopes(xi), (n, n))
        check_lagrangian("storage", P, S, SYMPLECTIC)


def _same(xi: Array) -> Array:
    return xi


def side_by_side(first: LagrangianStorage, second: LagrangianStorage, size: int) -> LagrangianStorage:
    """Storage of two systems together, with parameters (ξ₁, ξ₂); ``size`` is the number of parameters ξ₁."""

    def joined(name: str) -> Callable[[Array], Array]:
        one, other = getattr(first, name), getattr(second, name)
        return lambda xi: np.concatenate([one(xi[:size]), other(xi[size:])])

    def blocks(name: str) -> Callable[[Array], Array]:
        one, other = getattr(first, name), getattr(second, name)
        return lambda xi: block_diag(one(xi[:size]), other(xi[size:]))

    constant = first.is_constant and second.is_constant
    return LagrangianStorage(
        states=joined("states"),
        descriptor=block_diag(first.descriptor.matrix, second.descriptor.matrix) if constant else blocks("descriptor"),
        efforts=joined("efforts"),
        H=lambda xi: float(first.H(xi[:size])) + float(second.H(xi[size:])),
        slopes=None if first.slopes is None or second.slopes is None else blocks("slopes"),
    )
