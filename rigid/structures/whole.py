"""Multibody systems as port-Hamiltonian systems of a Dirac structure ([rigid] definition 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from flexph.dirac import DiracStructure, LagrangianStorage, PortHamiltonian
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, block_diag

from ..system.system import MultibodySystem
from .dirac import ResistiveRelation, structure_at


@checked
def port_hamiltonian(
    system: MultibodySystem, *, zeta: Array | None = None, momenta: Array | None = None
) -> PortHamiltonian:
    """A multibody system as ``(−ẋ, ∇H, f_R, e_R, F, y) ∈ D(x)`` with x = (ζ, Γ) ([rigid] definition 7).

    D is that of :func:`dirac_structure` and the position constraints enter it by their rate, c'Zϖ = 0: along motions
    that begin at c(ζ) = 0 that is [rigid] eq. (9). ``H = V(ζ) + ½ϖᵀMϖ`` with Γ = Mϖ. Without dissipation there is no
    port ``resistive``.

    Where M is singular, states are ξ = (ζ, M̂ϖ) with M̂ positive definite, ``M̂ = M`` but for the kernel of M, and the
    storage is ``x = (ζ, Mϖ), e = (∇V, ϖ)``.

    :meth:`MultibodySystem.phdae` keeps rotations and positions of constraints to round-off and is the one for long
    runs; this one is for interconnection with other structures, for analysis and as a second route.

    Parameters
    ----------
    system : MultibodySystem
        The system.
    zeta : array, optional
        Positions ζ (n_pot,) of the sample, around which the structure must be continuous; those of the system's sample
        by default. There it is decided which velocities :meth:`PortHamiltonian.phdae` solves the constraints for.
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
    """H and its gradient, or the storage ``x = (ζ, Mϖ), e = (∇V, ϖ)`` where M is singular."""
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
    """Whether Z, G, A and B are constant and no position is constrained."""
    matrices: list[Any] = [system.kinematics, system.gyroscopic, *(a.matrix for a in system.velocity_constraints)]
    matrices += [port.matrix for port in system.ports.values()]
    return not system.constraints and not any(callable(matrix) for matrix in matrices)
