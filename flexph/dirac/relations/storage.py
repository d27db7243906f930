"""Energy storage: Lagrangian submanifolds of energy variables and efforts ([survey] sec. 2.2, [rigid] definition 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array, block_diag
from ...numerics.differences import derivative, state_sizes
from ...numerics.memo import Remade
from ...systems.nonlinear import Constant
from .lagrangian import LagrangianSubspace, check_lagrangian

SYMPLECTIC = 1e-7
"""Relative defect of X'ᵀε' = ε'ᵀX' that differences with a relative error of 1e-10 may leave."""
SLOPE = 1e-6
"""Relative deviation of a given X' from differences of X that counts as an error."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class LagrangianStorage(Remade):
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
    """Combined storage with parameters (ξ₁, ξ₂), the first ``size`` of them ξ₁."""

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
