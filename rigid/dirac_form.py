"""What a multibody system is made of as a port-Hamiltonian system ([rigid] definition 7): D, L and R of its states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexph.dirac import DiracStructure, LagrangianSubspace
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.differences import CENTRAL, central
from flexph.numerics.memo import Remade
from flexph.numerics.ranks import kernel, rank_of
from flexph.numerics.subspaces import relative

from .system.matrix_functions import at
from .system.system import MultibodySystem

RANK = 1e-10
"""Singular value over the largest one below which M, or c', counts as singular."""
MEMBER = 1e-10
"""Relative residual up to which a state counts as a member."""
SYMMETRIC = 1e-6
"""Relative defect of a Hessian by differences beyond which its gradient is none."""
STORED = ("positions", "momenta", "resistive")


@checked
def dirac_structure(system: MultibodySystem, zeta: Array, momenta: Array) -> DiracStructure:
    """D(ζ, Γ) of [rigid] eq. (7), in kernel form, at positions ζ (n_pot,) and momenta Γ = Mϖ (n_kin,).

        ϖ_Lf = Z ϖ_Le,  ϖ_R = ϖ_Le,  ϖ_ext = Bᵀϖ_Le,  A ϖ_Le = 0
        ∃μ :  τ_Lf + Zᵀτ_Le + G ϖ_Le + τ_R + B τ_ext + Aᵀμ = 0

    Its ports, with flow and effort, are ``positions`` (ϖ_Lf, τ_Le), ``momenta`` (τ_Lf, ϖ_Le), ``resistive`` (ϖ_R, τ_R)
    and the external ones by their own names (ϖ_ext, τ_ext), τ_ext = −F: along solutions (ζ̇, τ), (Γ̇, ϖ), (ϖ, τ_d),
    (y, −F). By it, fᵀe = 0 is dH/dt + ϖᵀτ_d − yᵀF = 0. A may have dependent rows.

    Parameters
    ----------
    system : MultibodySystem
        The system.
    zeta : array
        Positions ζ (n_pot,).
    momenta : array
        Γ = Mϖ (n_kin,).

    Returns
    -------
    DiracStructure
        With the ports that are named above.
    """
    zeta = check.array("zeta", zeta, (system.positions,))
    momenta = check.array("momenta", momenta, (system.velocities,))
    Z, B, n, k = system.Z(zeta), system.B(zeta), system.positions, system.velocities
    ports = _ports(system)
    J = np.zeros((n + 2 * k + B.shape[1],) * 2)
    stored, moving, resistive, outer = slice(0, n), slice(n, n + k), slice(n + k, n + 2 * k), slice(n + 2 * k, None)
    J[moving, moving] = -system.G(zeta, momenta)
    for other, block in ((stored, Z), (resistive, np.eye(k)), (outer, B.T)):
        J[other, moving], J[moving, other] = block, -block.T
    rows = np.zeros((len(A := system.A(zeta)), len(J)))
    rows[:, moving] = A
    return DiracStructure.from_skew(J, ports).constrained(rows)


def _ports(system: MultibodySystem) -> dict[str, slice]:
    twice = sorted(set(STORED) & set(system.ports))
    if twice:
        raise ValueError(f"ports must not be named like those of the storage, {', '.join(STORED)}: got {twice}")
    sizes = [system.positions, system.velocities, system.velocities]
    sizes += [at(p.matrix, system.sample).shape[1] for p in system.ports.values()]
    ends = np.cumsum(sizes).tolist()
    return {name: slice(end - size, end) for name, size, end in zip([*STORED, *system.ports], sizes, ends, strict=True)}


@dataclass(frozen=True)
class LagrangianSubmanifold:
    """``L = {(ζ, Γ, τ, ϖ) : Mϖ = Γ, c(ζ) = 0, ∃λ : τ = ∇V(ζ) + c'(ζ)ᵀλ}`` ([rigid] eq. (9)) of a system.

    It is ``{(x, ∇H(x) + d'(x)ᵀλ) : d(x) = 0}`` with x = (ζ, Γ), H = ½ΓᵀM⁺Γ + V and d = (c, WΓ), im Wᵀ = ker M: M may be
    singular ([rigid] sec. 3 and proposition 5).

    Parameters
    ----------
    system : MultibodySystem
        The system.
    """

    system: MultibodySystem

    def multipliers(self, zeta: Array, tau: Array) -> Array:
        """λ (k,) of τ = ∇V + c'ᵀλ in the sense of least squares."""
        zeta, tau = self._checked(zeta=zeta, tau=tau)
        slope = self.system.c_jacobian(zeta)
        return np.linalg.lstsq(slope.T, tau - self.system.V_gradient(zeta), rcond=None)[0]

    def defect(self, zeta: Array, momenta: Array, tau: Array, omega: Array) -> float:
        """Largest residual of the three equations, each relative to the largest entry of what is compared.

        Rows of c(ζ) are compared with ‖cᵢ'‖ times the largest position.
        """
        zeta, tau, momenta, omega = self._checked(zeta=zeta, tau=tau, momenta=momenta, omega=omega)
        s = self.system
        slope, force, moved = s.c_jacobian(zeta), s.V_gradient(zeta), s.mass @ omega
        held = slope.T @ self.multipliers(zeta, tau)
        return max(
            relative(moved - momenta, _largest(moved, momenta)),
            relative(s.c(zeta), np.linalg.norm(slope, axis=1) * _largest(zeta)),
            relative(tau - force - held, _largest(tau, force, held)),
        )

    def contains(self, zeta: Array, momenta: Array, tau: Array, omega: Array, *, tolerance: float = MEMBER) -> bool:
        """Whether (ζ, Γ, τ, ϖ) ∈ L."""
        return self.defect(zeta, momenta, tau, omega) <= tolerance

    def tangent(self, zeta: Array, tau: Array) -> LagrangianSubspace:
        """The tangent space at (ζ, Γ, τ, ϖ), the same at all Γ: ``{(v₁, v₂) : d'v₁ = 0, v₂ − Hess v₁ ∈ im d'ᵀ}``.

        Hess is that of H + dᵀλ ([rigid] proposition 5), by central differences of ∇V + c'ᵀλ. Raises ValueError where c'
        has not full row rank, or ∇V and c' are not slopes of functions: their differences are not symmetric.
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
        """ζ and τ (n_pot,), Γ and ϖ (n_kin,)."""
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
    """L of a system ([rigid] eq. (9)).

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


@dataclass(frozen=True, eq=False)
class ResistiveRelation(Remade):
    """``R_ζ = {(τ, ϖ) : τ = τ_d(ζ, ϖ)}`` at positions ζ ([rigid] eq. (8)), resistive: τᵀϖ ≥ 0 (definition 6).

    Parameters
    ----------
    force : callable
        τ_d (n_kin,) of ϖ.
    """

    force: Callable[[Array], Array]

    def defect(self, tau: Array, omega: Array) -> float:
        """|τ − τ_d(ζ, ϖ)| relative to the larger of both; infinite where power is generated."""
        wanted = self.force(omega)
        tau = check.array("tau", tau, wanted.shape)
        power, scale = float(wanted @ omega), float(np.abs(wanted) @ np.abs(omega))
        if power < -check.ROUND_OFF * scale:
            return np.inf
        return relative(tau - wanted, _largest(tau, wanted))

    def contains(self, tau: Array, omega: Array, *, tolerance: float = MEMBER) -> bool:
        """Whether (τ, ϖ) ∈ R_ζ, and dissipates."""
        return self.defect(tau, omega) <= tolerance


@checked
def resistive_relation(system: MultibodySystem, zeta: Array) -> ResistiveRelation:
    """R_ζ of a system ([rigid] eq. (8)).

    Parameters
    ----------
    system : MultibodySystem
        The system.
    zeta : array
        Positions ζ (n_pot,).

    Returns
    -------
    ResistiveRelation
        What dissipates, as a relation of flows and efforts.
    """
    here = check.array("zeta", zeta, (system.positions,))
    return ResistiveRelation(lambda omega: system.tau_d(here, check.array("omega", omega, (system.velocities,))))


def _largest(*values: Array) -> float:
    return max(float(np.abs(v).max(initial=0.0)) for v in values)


def _check_full(slope: Array) -> None:
    rank = rank_of(slope, tolerance=RANK)
    if rank < len(slope):
        raise ValueError(f"c' must have full row rank where L is a submanifold: rank {rank} of {len(slope)} rows")


def _inverse(mass: Array) -> tuple[Array, Array]:
    """A symmetric M⁺ with M M⁺M = M and W with im Wᵀ = ker M; the rank is that of M with a unit diagonal."""
    diagonal = np.abs(np.diag(mass))
    size = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(mass / np.outer(size, size))
    regular = np.abs(values) > RANK * np.abs(values).max(initial=0.0)
    kept = vectors[:, regular] / size[:, None]
    return (kept / values[regular]) @ kept.T, vectors[:, ~regular].T / size
