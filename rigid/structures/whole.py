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
    """True if Z, G, A and B are constant and no position is constrained."""
    matrices: list[Any] = [system.kinematics, system.gyroscopic, *(a.matrix for a in system.velocity_constraints)]
    matrices += [port.matrix for port in system.ports.values()]
    return not system.constraints and not any(callable(matrix) for matrix in matrices)
