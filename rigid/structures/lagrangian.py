"""Lagrangian submanifold of a multibody system: its energy ([rigid] definition 5, eq. (9))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexph.dirac import LagrangianSubspace
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.differences import CENTRAL, central
from flexph.numerics.ranks import kernel, rank_of
from flexph.numerics.subspaces import relative

from ..system.system import MultibodySystem

RANK = 1e-10
"""Ratio of a singular value to the largest one below which M, or c', counts as singular."""
MEMBER = 1e-10
"""Relative residual up to which a state counts as a member."""
SYMMETRIC = 1e-6
"""Relative defect of a Hessian by differences above which its gradient is not one."""


@dataclass(frozen=True)
class LagrangianSubmanifold:
    """Lagrangian submanifold ``L = {(ζ, Γ, τ, ϖ) : Mϖ = Γ, c(ζ) = 0, ∃λ : τ = ∇V(ζ) + c'(ζ)ᵀλ}`` ([rigid] eq. (9)).

    It is ``{(x, ∇H(x) + d'(x)ᵀλ) : d(x) = 0}`` with x = (ζ, Γ), H = ½ΓᵀM⁺Γ + V and d = (c, WΓ), im Wᵀ = ker M: M may be
    singular ([rigid] sec. 3 and proposition 5).

    Parameters
    ----------
    system : MultibodySystem
        The system.
    """

    system: MultibodySystem

    def multipliers(self, zeta: Array, tau: Array) -> Array:
        """Multipliers λ (k,) of τ = ∇V + c'ᵀλ by least squares."""
        zeta, tau = self._checked(zeta=zeta, tau=tau)
        slope = self.system.c_jacobian(zeta)
        return np.linalg.lstsq(slope.T, tau - self.system.V_gradient(zeta), rcond=None)[0]

    def defect(self, zeta: Array, momenta: Array, tau: Array, omega: Array) -> float:
        """Largest residual of the three equations, each relative to the largest entry of its terms.

        Rows of c(ζ) are relative to ‖cᵢ'‖ times the largest position.
        """
        zeta, tau, momenta, omega = self._checked(zeta=zeta, tau=tau, momenta=momenta, omega=omega)
        s = self.system
        slope, force, moved = s.c_jacobian(zeta), s.V_gradient(zeta), s.mass @ omega
        held = slope.T @ self.multipliers(zeta, tau)
        return max(
            relative(moved - momenta, largest(moved, momenta)),
            relative(s.c(zeta), np.linalg.norm(slope, axis=1) * largest(zeta)),
            relative(tau - force - held, largest(tau, force, held)),
        )

    def contains(self, zeta: Array, momenta: Array, tau: Array, omega: Array, *, tolerance: float = MEMBER) -> bool:
        """True if (ζ, Γ, τ, ϖ) ∈ L."""
        return self.defect(zeta, momenta, tau, omega) <= tolerance

    def tangent(self, zeta: Array, tau: Array) -> LagrangianSubspace:
        """Tangent space at (ζ, Γ, τ, ϖ), equal at all Γ: ``{(v₁, v₂) : d'v₁ = 0, v₂ − Hess v₁ ∈ im d'ᵀ}``.

        Hess is that of H + dᵀλ ([rigid] proposition 5), by central differences of ∇V + c'ᵀλ. Raises ValueError if c'
        has not full row rank, or if ∇V and c' are not derivatives of functions: their differences are not symmetric.
        """
        zeta, tau = self._checked(zeta=zeta, tau=tau)
        s, slope = self.system, self.system.c_jacobian(zeta)
        _check_full(slope)
        inverse, left_null = _inverse(s.mass)
        n, k = s.positions, s.velocities
        rows = np.zeros((len(slope) + len(left_null), n + k))
        rows[: len(slope), :n], rows[len(slope) :, n:] = slope, left_null
        hessian = np.zeros((n + k, n + k))
        hessian[:n, :n] = self._hessian(zeta, self.multipliers(zeta, tau))
        hessian[n:, n:] = inverse
        free = kernel(rows)
        return LagrangianSubspace(
            np.hstack([free, np.zeros_like(rows.T)]),
            np.hstack([hessian @ free, rows.T]),
        )

    def _checked(self, **given: Array) -> list[Array]:
        """Arrays of given values in their order; raise ValueError unless ζ and τ are (n_pot,), Γ and ϖ (n_kin,)."""
        s = self.system
        sizes = {"zeta": s.positions, "tau": s.positions, "momenta": s.velocities, "omega": s.velocities}
        return [check.array(name, value, (sizes[name],)) for name, value in given.items()]

    def _hessian(self, zeta: Array, lam: Array) -> Array:
        s = self.system

        def force(at_zeta: Array) -> Array:
            return s.V_gradient(at_zeta) + s.c_jacobian(at_zeta).T @ lam

        largest = float(np.abs(zeta).max(initial=0.0)) or 1.0
        steps = CENTRAL * np.where(zeta != 0.0, np.abs(zeta), largest)
        hessian = np.array([central(force, zeta, move) for move in np.diag(steps)]) / steps[:, None]
        size, skew = float(np.abs(hessian).max(initial=0.0)), float(np.abs(hessian - hessian.T).max(initial=0.0))
        noise = CENTRAL**2 * float(np.abs(force(zeta)).max(initial=0.0))
        if skew > SYMMETRIC * size + noise:
            raise ValueError(
                f"∇V + c'ᵀλ must be the gradient of a function: its slopes differ from their transpose by {skew:.1e} "
                f"of {size:.1e}"
            )
        return 0.5 * (hessian + hessian.T)


@checked
def lagrangian_submanifold(system: MultibodySystem) -> LagrangianSubmanifold:
    """Lagrangian submanifold L of a system ([rigid] eq. (9)).

    Parameters
    ----------
    system : MultibodySystem
        The system.

    Returns
    -------
    LagrangianSubmanifold
        The energy as a relation of positions and momenta with their efforts.
    """
    return LagrangianSubmanifold(system)


def largest(*values: Array) -> float:
    """Largest magnitude of an entry of several arrays."""
    return max(float(np.abs(v).max(initial=0.0)) for v in values)


def _check_full(slope: Array) -> None:
    rank = rank_of(slope, tolerance=RANK)
    if rank < len(slope):
        raise ValueError(f"c' must have full row rank for L to be a submanifold: rank {rank} of {len(slope)} rows")


def _inverse(mass: Array) -> tuple[Array, Array]:
    """Symmetric M⁺ with M M⁺M = M, and W with im Wᵀ = ker M.

    The rank is that of M scaled to a unit diagonal.
    """
    diagonal = np.abs(np.diag(mass))
    size = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(mass / np.outer(size, size))
    regular = np.abs(values) > RANK * np.abs(values).max(initial=0.0)
    kept = vectors[:, regular] / size[:, None]
    return (kept / values[regular]) @ kept.T, vectors[:, ~regular].T / size
