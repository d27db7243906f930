"""Systems on their constrained state space, with kinematic constraints, or linear algebraic ones of index one.

See [survey] eq. (4.12)-(4.17) and sec. 4.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.checks import array
from ..numerics.differences import derivative
from ..numerics.factors.signature import check_semi_definite
from ..numerics.step_failed import StepFailed
from ..numerics.subspaces import echelon, left_null, null_space, rank_of, unit_columns
from ..systems.nonlinear import PHDAE
from .kinematic import KinematicSystem

CHART = 20.0
"""Largest entry of a basis S with a unit matrix in chosen rows, at which these coordinates end. For motion on a circle
that is 3 degrees before the velocities in these rows vanish."""
DEPENDENT = 1e12
"""Condition number of SᵀMS, scaled to a unit diagonal, from which the columns of S count as dependent."""


class ReducedKinematics:
    """``(q̇, ṗ̃) = J_c ∇H_c + (0, B_c) u`` with p̃ = S(q)ᵀp ([survey] eq. (4.12)-(4.17)), and S, v and p at (q, p̃).

    Parameters
    ----------
    system : KinematicSystem
        The constrained system.
    """

    def __init__(self, system: KinematicSystem) -> None:
        self.system, self.n = system, system.sample.size
        here = null_space(np.asarray(system.constraints(system.sample)).T)
        self.k, self.pivots = here.shape[1], echelon(here)[1]
        self.others = np.setdiff1d(np.arange(self.n), self.pivots)
        self.sense = np.linalg.slogdet(np.asarray(system.constraints(system.sample), dtype=float)[self.others])[0]

    def basis(self, q: Array) -> Array:
        """Basis S(q) (n, n − k): the given one, or one with a unit matrix in fixed rows.

        These rows are chosen at the ``sample`` of the system. Raises StepFailed at the end of the chart, where the
        velocities in these rows do not determine all velocities.
        """
        if self.system.basis is not None:
            return np.asarray(self.system.basis(q), dtype=float)
        rows = np.asarray(self.system.constraints(q), dtype=float).T
        basis = np.zeros((self.n, self.k))
        basis[self.pivots] = np.eye(self.k)
        left = rows[:, self.others]
        if np.linalg.slogdet(left)[0] != self.sense:
            raise self._ended(q)
        basis[self.others] = np.linalg.solve(left, -rows[:, self.pivots])
        if not np.abs(basis).max(initial=0.0) <= CHART:
            raise self._ended(q)
        return basis

    def _ended(self, q: Array) -> StepFailed:
        chart = f"in rows {self.pivots.tolist()}"
        return StepFailed(
            f"the chart with a unit matrix {chart} of S, chosen at the sample q = {self.system.sample}, ends near "
            f"q = {q}: give KinematicSystem(basis=...) that is regular on the whole motion, or continue in a new one "
            "from the last state, flexph.analysis.change_chart(system, x)",
            0,
            0.0,
        )

    def basis_rates(self, q: Array) -> Array:
        """Derivative ∂S/∂q (n, n − k, n)."""
        if self.system.basis_slopes is not None:
            return np.asarray(self.system.basis_slopes(q), dtype=float)
        return derivative(self.basis, q)

    def brackets(self, q: Array) -> Array:
        """Lie brackets ``[S_i, S_j]`` (n, n − k, n − k) of the columns of S ([survey] eq. (4.15))."""
        S, dS = self.basis(q), self.basis_rates(q)
        along = np.einsum("ajl,li->aij", dS, S)
        return along - along.transpose(0, 2, 1)

    def velocity(self, q: Array, p: Array) -> Array:
        """Velocity v (n − k,) of momenta p̃ (``p``): q̇ = S v and p̃ = SᵀMS v.

        Raises StepFailed if the columns of S depend on each other.
        """
        S = self.basis(q)
        inertia = S.T @ self.system.mass(q) @ S
        size = np.sqrt(np.abs(np.diag(inertia)))
        scaled = inertia / np.outer(size, size) if np.all(size > 0.0) else np.zeros_like(inertia)
        if p.size and not np.linalg.cond(scaled) < DEPENDENT:
            raise StepFailed(f"the columns of the basis S depend on each other near q = {q}", 0, 0.0)
        return np.linalg.solve(scaled, p / size) / size

    def momenta(self, q: Array, p: Array) -> Array:
        """Momenta p = M S v (n,) with the mass matrix M on the constrained state space, from ``p``, p̃ (n − k,)."""
        return self.system.mass(q) @ (self.basis(q) @ self.velocity(q, p))

    def structure(self, x: Array) -> Array:
        """Structure matrix J_c of [survey] eq. (4.17)."""
        q, p = x[: self.n], x[self.n :]
        S = self.basis(q)
        structure = np.zeros((x.size, x.size))
        structure[: self.n, self.n :], structure[self.n :, : self.n] = S, -S.T
        structure[self.n :, self.n :] = -np.einsum("a,aij->ij", self.momenta(q, p), self.brackets(q))
        return structure

    def energy(self, x: Array) -> float:
        """Energy H_c = ½ p̃ᵀ(SᵀMS)⁻¹p̃ + V."""
        q, p = x[: self.n], x[self.n :]
        return 0.5 * float(p @ self.velocity(q, p)) + float(self.system.potential(q))

    def gradient(self, x: Array) -> Array:
        """Gradient ∇H_c, including the derivatives of SᵀMS."""
        q, p = x[: self.n], x[self.n :]
        v = self.velocity(q, p)
        moved = self.basis(q) @ v
        rates = 0.5 * np.einsum("i,ijk,j->k", moved, self.system.mass_rates(q), moved)
        rates = rates + np.einsum("a,ajk,j->k", self.system.mass(q) @ moved, self.basis_rates(q), v)
        return np.concatenate([self.system.gradient(q) - rates, v])

    def inputs(self, x: Array) -> Array:
        """Input matrix (0, SᵀB)."""
        B = np.asarray(self.system.inputs(x[: self.n]))
        return np.vstack([np.zeros((self.n, B.shape[1])), self.basis(x[: self.n]).T @ B])


@checked
def eliminate_kinematics(system: KinematicSystem) -> PHDAE:
    """The system on its constrained state space: explicit, with states (q, p̃), p̃ = S(q)ᵀp ([survey] (4.16)).

    ``J_c = [[0, S], [−Sᵀ, −pᵀ[S_i, S_j]]]``, ``H_c(q, p̃) = ½ p̃ᵀ(SᵀMS)⁻¹p̃ + V(q)``, ``B_c = SᵀB``. J_c is a Poisson
    structure if and only if the constraints are holonomic (:func:`flexph.dirac.jacobi_identity`).

    Unless the system gives a basis, S(q) has a unit matrix in rows that are chosen at its ``sample``. Such a chart
    ends where the velocities of these rows no longer determine all others: for a knife edge after a quarter turn at
    most. A run ends there with an error that states the time; :func:`change_chart` lets it continue in another chart.

    Parameters
    ----------
    system : KinematicSystem
        A mechanical system with constraints on its velocities.

    Returns
    -------
    PHDAE
        The equations in (q, p̃), without constraints.
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
def change_chart(system: KinematicSystem, x: Array) -> tuple[KinematicSystem, Array]:
    """The system in the chart chosen at a state x = (q, p̃), and the state in that chart.

    Both have the same q and the same velocity q̇ = S v: ``p̃' = S'ᵀM S v``, and the energy is the same.

    Parameters
    ----------
    system : KinematicSystem
        A mechanical system with constraints on its velocities.
    x : array
        State (2n − k,) of the system that :func:`eliminate_kinematics` returns.

    Returns
    -------
    tuple[KinematicSystem, array]
        The system with the sample q, for :func:`eliminate_kinematics`, and the state (q, p̃') in its chart.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph.analysis import KinematicSystem, change_chart
    >>> edge = KinematicSystem(  # moves along its blade
    ...     mass=np.eye(3), constraints=lambda q: np.array([[-np.sin(q[2])], [np.cos(q[2])], [0.0]]),
    ...     potential=lambda q: 0.0, gradient=lambda q: np.zeros(3), sample=np.zeros(3),
    ... )  # fmt: skip
    >>> there, x = change_chart(edge, np.array([0.0, 0.0, np.pi / 3.0, 1.0, 0.5]))
    >>> x[3:].round(12).tolist()  # along y now: p̃' = ẏ (1 + cot²), where it was ẋ (1 + tan²) = 1
    [0.57735026919, 0.5]
    """
    here = ReducedKinematics(system)
    x = array("x", x, (here.n + here.k,))
    q = x[: here.n]
    there = replace(system, sample=q)
    momenta = here.momenta(q, x[here.n :])
    return there, np.concatenate([q, ReducedKinematics(there).basis(q).T @ momenta])


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
    """Raise ValueError if GᵀQG is singular, as [survey] eq. (4.5) requires a regular one."""
    rank = rank_of(matrix)
    if rank < len(matrix):
        raise ValueError(
            f"GᵀQG must have full rank for index one ([survey] eq. (4.5)): its rank is {rank} of {len(matrix)}"
        )
