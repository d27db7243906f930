"""Mechanical systems with kinematic constraints, and hidden constraints on velocities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import derivative
from ..numerics.subspaces import rank_of
from ..systems.nonlinear import PHDAE, Constant

MatrixFunction = Callable[[Array], Any]
RANK = 1e-10
"""Ratio of a singular value to the largest below which constraints depend on each other."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class KinematicSystem:
    """``q̇ = ∂H/∂p, ṗ = −∂H/∂q + A(q) λ + B(q) u, 0 = A(q)ᵀ∂H/∂p, y = B(q)ᵀ∂H/∂p`` ([survey] eq. (2.38)).

    H = ½ pᵀM(q)⁻¹p + V(q). Matrices are functions of q (n,), or constant. Derivatives that are not given are
    fourth-order differences, accurate to about 1e-10.

    Parameters
    ----------
    mass : callable or array
        M (n, n).
    constraints : callable or array
        A (n, k).
    potential : callable
        V of q.
    gradient : callable
        ∇V (n,) as a function of q.
    sample : array
        q (n,), at which the arguments are checked.
    inputs : callable or array
        B (n, m); none by default.
    mass_slopes : callable, optional
        Derivatives of M, (n, n, n); the last index counts the entries of q.
    basis : callable, optional
        A basis S (n, n − k) of ker Aᵀ.
    basis_slopes : callable, optional
        Derivatives of the basis, (n, n − k, n).
    """

    mass: MatrixFunction | Any
    constraints: MatrixFunction | Any
    potential: Callable[[Array], float]
    gradient: Callable[[Array], Array]
    sample: Array
    inputs: MatrixFunction | Any = None
    mass_slopes: Callable[[Array], Array] | None = None
    basis: MatrixFunction | None = None
    basis_slopes: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        q = check.array("sample", self.sample, (None,))
        object.__setattr__(self, "sample", q)
        given = self.inputs if self.inputs is not None else np.zeros((q.size, 0))
        for name, value in (("mass", self.mass), ("constraints", self.constraints), ("inputs", given)):
            shape = (q.size, q.size) if name == "mass" else (q.size, None)
            if not callable(value):
                value = Constant(check.array(name, value, shape))
            check.array(name, value(q), shape)
            object.__setattr__(self, name, value)
        check.symmetric("mass", self.mass(q))
        A = np.asarray(self.constraints(q), dtype=float)
        if A.shape[1] and rank_of(A.T) < A.shape[1]:
            raise ValueError(f"constraints must have full column rank: rank {rank_of(A.T)} of {A.shape[1]} columns")
        if self.basis is not None:
            S = check.array("basis", self.basis(q), (q.size, q.size - A.shape[1]))
            terms = np.abs(A).T @ np.abs(S)
            defect = float(np.max(np.abs(A.T @ S) / np.where(terms > 0.0, terms, 1.0), initial=0.0))
            if defect > 1e-12:
                raise ValueError(f"basis must span the kernel of Aᵀ: |AᵀS| = {defect:.0e} of its terms")

    def phdae(self, momenta: Array | None = None) -> PHDAE:
        """The constrained system with states (q, p, λ): parts ``q``, ``p``, ``lam``, port ``u``."""
        n, k = self.sample.size, np.asarray(self.constraints(self.sample)).shape[1]
        m = np.asarray(self.inputs(self.sample)).shape[1]
        p0 = np.zeros(n) if momenta is None else check.array("momenta", momenta, (n,))
        q_, p_ = slice(0, n), slice(n, 2 * n)

        def J(x: Array) -> Array:
            A, matrix = self.constraints(x[q_]), np.zeros((2 * n + k,) * 2)
            matrix[q_, p_], matrix[p_, q_] = np.eye(n), -np.eye(n)
            matrix[p_, 2 * n :], matrix[2 * n :, p_] = A, -np.asarray(A).T
            return matrix

        return PHDAE(
            E=np.diag(np.concatenate([np.ones(2 * n), np.zeros(k)])),
            J=J,
            B=lambda x: np.vstack([np.zeros((n, m)), self.inputs(x[q_]), np.zeros((k, m))]),
            z=lambda x: np.concatenate([*self._costates(x[q_], x[p_]), x[2 * n :]]),
            H=lambda x: self.energy(x[q_], x[p_]),
            sample=np.concatenate([self.sample, p0, np.zeros(k)]),
            ports={"u": slice(0, m)} if m else {},
            parts={"q": q_, "p": p_} | ({"lam": slice(2 * n, 2 * n + k)} if k else {}),
        )

    def energy(self, q: Array, p: Array) -> float:
        """Energy H(q, p)."""
        return 0.5 * float(p @ np.linalg.solve(self.mass(q), p)) + float(self.potential(q))

    def _costates(self, q: Array, p: Array) -> tuple[Array, Array]:
        v = np.linalg.solve(self.mass(q), p)
        return self.gradient(q) - 0.5 * np.einsum("i,ijk,j->k", v, self.mass_rates(q), v), v

    def mass_rates(self, q: Array) -> Array:
        """Derivatives ∂M/∂q (n, n, n), given or by differences."""
        if isinstance(self.mass, Constant):
            return np.zeros((q.size,) * 3)
        if self.mass_slopes is not None:
            return np.asarray(self.mass_slopes(q))
        return derivative(lambda at: np.asarray(self.mass(at)), q)


@checked
def hidden_constraints(
    J: MatrixFunction | Any, gradient: Callable[[Array], Array], slopes: MatrixFunction, x: Array
) -> tuple[Array, Array]:
    """Rates ∂φ/∂x J ∇H (k,) of constraints φ(x) = 0 and ``b = −J (∂φ/∂x)ᵀ`` (n, k) ([survey] remark 3.3, eq. (3.24)).

    For φ(q) the rates are the constraints on velocities that ``0 = φ(q)`` hides, and the columns of b are, up to
    sign, the directions of the constraint forces. With ``0 = bᵀ∇H`` instead of ``0 = φ(q)`` the system preserves φ, and
    has index one after elimination of the multipliers.

    Parameters
    ----------
    J : callable or array
        Skew-symmetric (n, n), or a function of x.
    gradient : callable
        ∇H (n,) as a function of x.
    slopes : callable
        ∂φ/∂x (k, n) as a function of x.
    x : array
        State (n,).

    Returns
    -------
    tuple[array, array]
        The rates (k,), and b (n, k).

    Raises
    ------
    ValueError
        If the constraints do not commute, ∂φᵢ J ∂φⱼᵀ ≠ 0: they constrain each other.
    """
    x = check.array("x", x, (None,))
    matrix = check.array("J", J(x) if callable(J) else J, (x.size, x.size))
    rows = check.result_of("slopes", slopes, x, shape=(None, x.size))
    effort = check.result_of("gradient", gradient, x, shape=x.shape)
    commuting = rows @ matrix @ rows.T
    size = np.abs(rows) @ np.abs(matrix) @ np.abs(rows).T
    if np.any(np.abs(commuting) > 1e-10 * np.maximum(size, 1e-300)):
        i, j = np.unravel_index(int(np.argmax(np.abs(commuting))), commuting.shape)
        raise ValueError(f"constraints must commute: ∂φ_{i} J ∂φ_{j}ᵀ = {commuting[i, j]:.3g}")
    return rows @ (matrix @ effort), -matrix @ rows.T
