"""Dirac structure and resistive relation of a multibody system ([rigid] definition 7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexph.dirac import DiracStructure, Resistance
from flexph.numerics import checks as check
from flexph.numerics import spans
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.memo import Remade
from flexph.numerics.subspaces import relative

from ..system.resistance import resistance
from ..system.system import MultibodySystem
from ..system.terms import Damper
from .lagrangian import MEMBER, largest

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
    """D(ζ, Γ) with ``rows`` (l, n_kin) as constraints on the velocities."""
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
class ResistiveRelation(Remade, Resistance):
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
        """|f_R + τ_d(ζ, e_R)| relative to the larger of both; infinite if power is generated."""
        flow, effort = (check.array(*given, (self.size,)) for given in (("flow", flow), ("effort", effort)))
        wanted = -self.system.tau_d(self.zeta, effort)
        power, scale = float(wanted @ effort), float(np.abs(wanted) @ np.abs(effort))
        if power > check.ROUND_OFF * scale:
            return np.inf
        return relative(flow - wanted, largest(flow, wanted))

    def contains(self, flow: Array, effort: Array, *, tolerance: float = MEMBER) -> bool:
        """True if (f_R, e_R) ∈ R_ζ, which then dissipates."""
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
