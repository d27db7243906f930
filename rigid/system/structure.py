"""Multibody systems as Dirac structure, Lagrangian submanifold and resistive relation ([rigid] definitions 3-7).

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.dirac import DiracStructure, LagrangianStorage, LagrangianSubspace, PortHamiltonian, Resistance
from flexph.numerics import checks as check
from flexph.numerics import spans
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, block_diag
from flexph.numerics.differences import CENTRAL, central
from flexph.numerics.memo import PickledByCall
from flexph.numerics.ranks import kernel, rank_of
from flexph.numerics.subspaces import relative

from .equations import resistance
from .system import MultibodySystem
from .terms import Damper

MEMBER = 1e-10
"""Relative residual up to which values belong to a relation."""
STORED = ("positions", "momenta", "resistive")


@checked
def dirac_structure(system: MultibodySystem, zeta: Array, momenta: Array) -> DiracStructure:
    """Dirac structure D(ζ, Γ) of [rigid] eq. (7), at positions ζ (n_pot,) and momenta Γ = Mϖ (n_kin,).

        −ζ̇ = −Z ϖ,  e_R = ϖ,  y = Bᵀϖ,  A ϖ = 0
        ∃μ :  −Γ̇ = Zᵀτ + G ϖ + Aᵀμ − f_R − B F

    Signs follow :class:`flexph.dirac.PortHamiltonian`. The ports, with flow and effort, are ``positions``
    (−ζ̇, τ), ``momenta`` (−Γ̇, ϖ), ``resistive`` (f_R, e_R) = (−τ_d, ϖ) and the external ones by their names, (F, y),
    with the columns of the system. Then fᵀe = 0 is dH/dt = yᵀF − ϖᵀτ_d. [rigid] has the flows (ζ̇, Γ̇), the pair
    (ϖ, τ_d) and (y, τ_ext) with τ_ext = −F. A may have dependent rows.

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
        The structure with the ports named above.
    """
    zeta = check.array("zeta", zeta, (system.positions,))
    momenta = check.array("momenta", momenta, (system.velocities,))
    return structure_at(system, zeta, momenta, system.A(zeta))


def structure_at(system: MultibodySystem, zeta: Array, momenta: Array, rows: Array) -> DiracStructure:
    """Dirac structure D(ζ, Γ) with ``rows`` (l, n_kin) as constraints on the velocities."""
    Z, B, n, k = system.Z(zeta), system.B(zeta), system.positions, system.velocities
    ports = _ports(system)
    size = n + 2 * k + B.shape[1]
    J, constraints = np.zeros((size, size)), np.zeros((len(rows), size))
    moving = slice(n, n + k)
    J[moving, moving], constraints[:, moving] = system.G(zeta, momenta), rows
    for other, block in ((slice(0, n), -Z), (slice(n + k, n + 2 * k), np.eye(k)), (slice(n + 2 * k, None), B.T)):
        J[other, moving], J[moving, other] = block, -block.T
    return DiracStructure.from_hybrid(J, np.arange(size) >= n + k, ports).constrained(constraints)


def _ports(system: MultibodySystem) -> dict[str, slice]:
    twice = sorted(set(STORED) & set(system.ports))
    if twice:
        raise ValueError(f"ports must not have the names of the storage ports, {', '.join(STORED)}: got {twice}")
    sizes = dict(zip(STORED, (system.positions, system.velocities, system.velocities), strict=True))
    return spans.consecutive(sizes | spans.widths(system.port_slices))


@dataclass(frozen=True, eq=False)
class ResistiveRelation(PickledByCall, Resistance):
    """Resistive relation ``R_ζ = {(f_R, e_R) : f_R = −τ_d(ζ, e_R)}`` of a system ([rigid] eq. (8) with τ_R = −f_R).

    It is resistive, e_Rᵀf_R ≤ 0 ([rigid] definition 6), and terminates the port ``resistive`` of a
    :class:`flexph.dirac.PortHamiltonian`.

    Parameters
    ----------
    system : MultibodySystem
        The system.
    zeta : array
        Positions ζ (n_pot,).
    """

    system: MultibodySystem
    zeta: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_reciprocal", all(isinstance(d, Damper) for d in self.system.dissipation))

    @property
    def size(self) -> int:
        """Number n_kin of flows."""
        return self.system.velocities

    def matrices(self, x: Array, efforts: Array) -> tuple[Array, Array]:
        """Matrices R and S (n_kin, n_kin) of ``f_R = −(R + S) e_R``."""
        R, S = resistance(self.system, self.zeta, efforts)
        return R, np.zeros_like(R) if S is None else S

    def defect(self, flow: Array, effort: Array) -> float:
        """Relative residual of f_R = −τ_d(ζ, e_R); infinite if power is generated."""
        flow, effort = (check.array(*given, (self.size,)) for given in (("flow", flow), ("effort", effort)))
        wanted = -self.system.tau_d(self.zeta, effort)
        power, scale = float(wanted @ effort), float(np.abs(wanted) @ np.abs(effort))
        if power > check.ROUND_OFF * scale:
            return np.inf
        return relative(flow - wanted, largest(flow, wanted))

    def contains(self, flow: Array, effort: Array, *, tolerance: float = MEMBER) -> bool:
        """True if the flow and effort satisfy the relation R_ζ; they then dissipate energy."""
        return self.defect(flow, effort) <= tolerance


@checked
def resistive_relation(system: MultibodySystem, zeta: Array) -> ResistiveRelation:
    """Resistive relation R_ζ of a system ([rigid] eq. (8)).

    Parameters
    ----------
    system : MultibodySystem
        The system.
    zeta : array
        Positions ζ (n_pot,).

    Returns
    -------
    ResistiveRelation
        Dissipation as a relation of flows and efforts.
    """
    return ResistiveRelation(system, check.array("zeta", zeta, (system.positions,)))


RANK = 1e-10
"""Ratio of a singular value to the largest one below which M, or c', counts as singular."""
SYMMETRIC = 1e-6
"""Relative asymmetry of a Hessian by differences above which the given gradient is not that of any function."""


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
        """Multipliers λ (k,) of given efforts τ = ∇V(ζ) + c'(ζ)ᵀλ, by least squares."""
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


@checked
def port_hamiltonian(
    system: MultibodySystem, *, zeta: Array | None = None, momenta: Array | None = None
) -> PortHamiltonian:
    """Multibody system as ``(−ẋ, ∇H, f_R, e_R, F, y) ∈ D(x)`` with x = (ζ, Γ) ([rigid] definition 7).

    D is given by :func:`dirac_structure`; position constraints enter it by their rate, c'Zϖ = 0: for motions that
    begin at c(ζ) = 0 this is [rigid] eq. (9). ``H = V(ζ) + ½ϖᵀMϖ`` with Γ = Mϖ. Without dissipation there is no port
    ``resistive``.

    For singular M the states are ξ = (ζ, M̂ϖ) with a positive definite M̂, equal to M except on its kernel, and the
    storage is ``x = (ζ, Mϖ), e = (∇V, ϖ)``.

    :meth:`MultibodySystem.phdae` preserves rotations and position constraints to round-off and is preferable for
    long runs; this system is for interconnection with other structures, for analysis and for comparison.

    Parameters
    ----------
    system : MultibodySystem
        The system.
    zeta : array, optional
        Positions ζ (n_pot,) of the sample, around which the structure must be continuous; by default those of the
        system's sample. They decide for which velocities :meth:`PortHamiltonian.phdae` solves the constraints.
    momenta : array, optional
        Γ (n_kin,) of the sample; zero by default.

    Returns
    -------
    PortHamiltonian
        With the ports ``positions``, ``momenta``, ``resistive`` and those of the system.

    Examples
    --------
    >>> import numpy as np
    >>> from rigid import ExternalPort, MultibodySystem, port_hamiltonian
    >>> push = {"push": ExternalPort(np.eye(2)[:, :1])}
    >>> system = port_hamiltonian(MultibodySystem(mass=2.0 * np.eye(2), sample=np.zeros(2), ports=push))
    >>> system.storage, system.external
    (('positions', 'momenta'), ('push',))
    >>> system.phdae().B(system.sample)[2].tolist()  # acts on the momenta as in the multibody system
    [1.0]
    """
    n, k = system.positions, system.velocities
    zeta = system.sample if zeta is None else check.array("zeta", zeta, (n,))
    momenta = np.zeros(k) if momenta is None else check.array("momenta", momenta, (k,))
    resistive: dict[str, Callable[[Array], Any]] = {}
    if system.dissipation:
        resistive["resistive"] = lambda x: ResistiveRelation(system, x[:n])

    def structure(x: Array) -> DiracStructure:
        D = structure_at(system, x[:n], x[n:], system.constraint_rows(x[:n]))
        return D if resistive else D.closed(flows=["resistive"])

    sample = np.concatenate([zeta, momenta])
    return PortHamiltonian(
        structure=structure(sample) if _constant(system) else structure,
        sample=sample,
        storage=("positions", "momenta"),
        resistive=resistive,
        **_storage(system),
    )


def _storage(system: MultibodySystem) -> dict[str, Any]:
    """Arguments of :class:`PortHamiltonian` for the energy: H and its gradient.

    For singular M instead the storage ``x = (ζ, Mϖ), e = (∇V, ϖ)``.
    """
    n = system.positions
    inverse = np.linalg.inv(system.completed_mass)
    inverse = 0.5 * (inverse + inverse.T)

    def energy(xi: Array) -> float:
        return system.energy(xi[:n], inverse @ xi[n:])

    def efforts(xi: Array) -> Array:
        return np.concatenate([system.V_gradient(xi[:n]), inverse @ xi[n:]])

    if not system.massless.size:
        return {"H": energy, "gradient": efforts}
    carried = block_diag(np.eye(n), system.mass @ inverse)
    return {
        "lagrangian": LagrangianStorage(states=lambda xi: carried @ xi, descriptor=carried, efforts=efforts, H=energy)
    }


def _constant(system: MultibodySystem) -> bool:
    """True if Z, G, A and B are constant and no position is constrained: the Dirac structure is then constant."""
    matrices: list[Any] = [system.kinematics, system.gyroscopic, *(a.matrix for a in system.velocity_constraints)]
    matrices += [port.matrix for port in system.ports.values()]
    return not system.constraints and not any(callable(matrix) for matrix in matrices)
