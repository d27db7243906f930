"""Mechanical systems with kinematic constraints, reduced to the constrained state space ([survey] sec. 4.1.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import derivative
from ..numerics.subspaces import echelon, null_space, rank_of
from ..systems.nonlinear import PHDAE, Constant

MatrixFunction = Callable[[Array], Any]
RANK = 1e-10
"""Singular value over the largest below which constraints depend on each other."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class KinematicSystem:
    """``q̇ = ∂H/∂p, ṗ = −∂H/∂q + A(q) λ + B(q) u, 0 = A(q)ᵀ∂H/∂p, y = B(q)ᵀ∂H/∂p`` ([survey] eq. (2.38)).

    H = ½ pᵀM(q)⁻¹p + V(q). Matrices are functions of q (n,), or constant. Rates that are not given are differences of
    fourth order, accurate to about 1e-10.

    Parameters
    ----------
    mass : callable or array
        M (n, n).
    constraints : callable or array
        A (n, k).
    potential : callable
        V of q.
    gradient : callable
        ∇V (n,) of q.
    sample : array
        q (n,), at which the conditions are checked.
    inputs : callable or array
        B (n, m); none by default.
    mass_slopes : callable, optional
        Rates of M, (n, n, n) with the last index that of q.
    basis : callable, optional
        A basis S (n, n − k) of ker Aᵀ.
    basis_slopes : callable, optional
        Its rates (n, n − k, n).
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
        """H."""
        return 0.5 * float(p @ np.linalg.solve(self.mass(q), p)) + float(self.potential(q))

    def _costates(self, q: Array, p: Array) -> tuple[Array, Array]:
        v = np.linalg.solve(self.mass(q), p)
        return self.gradient(q) - 0.5 * np.einsum("i,ijk,j->k", v, self._mass_rates(q), v), v

    def _mass_rates(self, q: Array) -> Array:
        if isinstance(self.mass, Constant):
            return np.zeros((q.size,) * 3)
        if self.mass_slopes is not None:
            return np.asarray(self.mass_slopes(q))
        return derivative(lambda at: np.asarray(self.mass(at)), q)


class ReducedKinematics:
    """``(q̇, ṗ̃) = J_c ∇H_c + (0, B_c) u`` with p̃ = S(q)ᵀp ([survey] eq. (4.12)-(4.17)); S, v, p of (q, p̃) at hand.

    Parameters
    ----------
    system : KinematicSystem
        The constrained system.
    """

    def __init__(self, system: KinematicSystem) -> None:
        self.system, self.n = system, system.sample.size
        here = null_space(np.asarray(system.constraints(system.sample)).T)
        self.k, self.pivots = here.shape[1], echelon(here)[1]

    def basis(self, q: Array) -> Array:
        """S(q) (n, n − k): the given one, or that with a unit matrix in rows chosen at the sample."""
        if self.system.basis is not None:
            return np.asarray(self.system.basis(q), dtype=float)
        rows, n = np.asarray(self.system.constraints(q), dtype=float).T, self.n
        others = np.setdiff1d(np.arange(n), self.pivots)
        basis = np.zeros((n, self.k))
        basis[self.pivots] = np.eye(self.k)
        left, right = rows[:, others], -rows[:, self.pivots]
        square = left.shape[0] == left.shape[1]
        basis[others] = np.linalg.solve(left, right) if square else np.linalg.lstsq(left, right)[0]
        return basis

    def basis_rates(self, q: Array) -> Array:
        """∂S/∂q (n, n − k, n)."""
        if self.system.basis_slopes is not None:
            return np.asarray(self.system.basis_slopes(q), dtype=float)
        return derivative(self.basis, q)

    def brackets(self, q: Array) -> Array:
        """The Lie brackets ``[S_i, S_j]`` (n, n − k, n − k) of the columns of S ([survey] eq. (4.15))."""
        S, dS = self.basis(q), self.basis_rates(q)
        along = np.einsum("ajl,li->aij", dS, S)
        return along - along.transpose(0, 2, 1)

    def velocity(self, q: Array, p: Array) -> Array:
        """v (n − k,) with q̇ = S v and p̃ = SᵀMS v."""
        S = self.basis(q)
        return np.linalg.solve(S.T @ self.system.mass(q) @ S, p)

    def momenta(self, q: Array, p: Array) -> Array:
        """p (n,) on the constrained state space, p = M S v."""
        return self.system.mass(q) @ (self.basis(q) @ self.velocity(q, p))

    def structure(self, x: Array) -> Array:
        """J_c of [survey] eq. (4.17)."""
        q, p = x[: self.n], x[self.n :]
        S = self.basis(q)
        structure = np.zeros((x.size, x.size))
        structure[: self.n, self.n :], structure[self.n :, : self.n] = S, -S.T
        structure[self.n :, self.n :] = -np.einsum("a,aij->ij", self.momenta(q, p), self.brackets(q))
        return structure

    def energy(self, x: Array) -> float:
        """H_c = ½ p̃ᵀ(SᵀMS)⁻¹p̃ + V."""
        q, p = x[: self.n], x[self.n :]
        return 0.5 * float(p @ self.velocity(q, p)) + float(self.system.potential(q))

    def gradient(self, x: Array) -> Array:
        """∇H_c, with the rates of SᵀMS."""
        q, p = x[: self.n], x[self.n :]
        v = self.velocity(q, p)
        moved = self.basis(q) @ v
        rates = 0.5 * np.einsum("i,ijk,j->k", moved, self.system._mass_rates(q), moved)
        rates = rates + np.einsum("a,ajk,j->k", self.system.mass(q) @ moved, self.basis_rates(q), v)
        return np.concatenate([self.system.gradient(q) - rates, v])

    def inputs(self, x: Array) -> Array:
        """(0, SᵀB)."""
        B = np.asarray(self.system.inputs(x[: self.n]))
        return np.vstack([np.zeros((self.n, B.shape[1])), self.basis(x[: self.n]).T @ B])


@checked
def eliminate_kinematics(system: KinematicSystem) -> PHDAE:
    """The system on its constrained state space, an ordinary one with states (q, p̃), p̃ = S(q)ᵀp ([survey] (4.16)).

    ``J_c = [[0, S], [−Sᵀ, −pᵀ[S_i, S_j]]]``, ``H_c(q, p̃) = ½ p̃ᵀ(SᵀMS)⁻¹p̃ + V(q)``, ``B_c = SᵀB``. J_c is a Poisson
    structure if and only if the constraints are holonomic (:func:`flexph.dirac.jacobi_identity`).

    Parameters
    ----------
    system : KinematicSystem
        A mechanical system with constraints on its velocities.

    Returns
    -------
    PHDAE
        Its equations in (q, p̃), without constraints.
    """
    reduced = ReducedKinematics(system)
    m, k = np.asarray(system.inputs(system.sample)).shape[1], reduced.k
    return PHDAE(
        E=np.eye(reduced.n + k),
        J=reduced.structure,
        B=reduced.inputs,
        z=reduced.gradient,
        H=reduced.energy,
        sample=np.concatenate([system.sample, np.zeros(k)]),
        ports={"u": slice(0, m)} if m else {},
        parts={"q": slice(0, reduced.n), "p": slice(reduced.n, reduced.n + k)},
    )


@checked
def hidden_constraints(
    J: MatrixFunction | Any, gradient: Callable[[Array], Array], slopes: MatrixFunction, x: Array
) -> tuple[Array, Array]:
    """Rates ∂φ/∂x J ∇H (k,) of constraints φ(x) = 0 and ``b = −J (∂φ/∂x)ᵀ`` (n, k) ([survey] remark 3.3, eq. (3.24)).

    Of positions φ(q) these are the constraints on velocities that ``0 = φ(q)`` hides, and their multipliers' forces up
    to sign: the system with ``0 = bᵀ∇H`` in their place has index one without multipliers and keeps φ.

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
        Where the constraints do not commute, ∂φᵢ J ∂φⱼᵀ ≠ 0: they constrain each other.
    """
    x = check.array("x", x, (None,))
    matrix = check.array("J", J(x) if callable(J) else J, (x.size, x.size))
    rows = check.answer("slopes", slopes, x, shape=(None, x.size))
    effort = check.answer("gradient", gradient, x, shape=x.shape)
    commuting = rows @ matrix @ rows.T
    size = np.abs(rows) @ np.abs(matrix) @ np.abs(rows).T
    if np.any(np.abs(commuting) > 1e-10 * np.maximum(size, 1e-300)):
        i, j = np.unravel_index(int(np.argmax(np.abs(commuting))), commuting.shape)
        raise ValueError(f"constraints must commute: ∂φ_{i} J ∂φ_{j}ᵀ = {commuting[i, j]:.3g}")
    return rows @ (matrix @ effort), -matrix @ rows.T
