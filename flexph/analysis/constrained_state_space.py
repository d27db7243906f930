"""Mechanical systems with kinematic constraints on their constrained state space ([survey] eq. (4.12)-(4.17))."""

from __future__ import annotations

import numpy as np

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import derivative
from ..numerics.subspaces import echelon, null_space
from ..systems.nonlinear import PHDAE
from .kinematic import KinematicSystem


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
        rates = 0.5 * np.einsum("i,ijk,j->k", moved, self.system.mass_rates(q), moved)
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
