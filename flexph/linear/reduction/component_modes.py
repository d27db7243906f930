"""Craig-Bampton bases of substructures."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.factors.singular_systems import solve_regular
from ...systems.linear import LinearPHDAE
from ..eigenmodes import modes as spectrum
from ..elimination import eliminate, null_space_and_redundancy, project
from ..shifted import Split, split
from .bases import split_basis


@checked
def craig_bampton(system: LinearPHDAE, ports: Collection[str], *, modes: int) -> LinearPHDAE:
    """Reduce a block to its static constraint modes Ψ and its lowest ``modes`` fixed-interface normal modes Φ.

    With velocities v, stresses σ and K = DᵀC⁻¹D, and B_i the columns of B of the interface ``ports``:

        K Ψ = B_i Λ, B_iᵀΨ = 1 (unit motions of each port with the others held),
        K φ = ω²M φ, B_iᵀφ = 0 (free vibrations with all of them held),
        v = [Ψ Φ] v̂,  σ = Σ σ̂,  range Σ = range C⁻¹D [Ψ Φ], ΣᵀCΣ = 1

    (Craig, Bampton, AIAA J. 6 (1968) 1313). As a congruent projection it keeps the form of E, J, R, B, ports and parts;
    rigid motions and the static stiffness between the interface ports are exact, and the block can be joined as before.
    The result is dense, with m + ``modes`` velocities, m the rank of B_i, and as many stresses minus the rigid motions.
    Constraints of the system are eliminated first.

    Parameters
    ----------
    system : LinearPHDAE
        System of velocities and stresses, with ports that take forces.
    ports : sequence of str
        Interface ports, at which the block is joined.
    modes : int
        Number of fixed-interface modes.

    Returns
    -------
    LinearPHDAE
        Dense system with m + ``modes`` velocities.

    Raises
    ------
    ValueError
        If the system does not split into velocities and stresses (:func:`flexph.linear.shifted.split`), a port is
        unknown or takes a velocity, holding the ports leaves a rigid motion, or there are fewer modes.
    """
    check.count("modes", modes, 0)
    if not ports or isinstance(ports, str):
        raise ValueError(f"ports must be names of at least one port, such as ('root', 'tip'), got {ports!r}")
    for port in ports:
        check.lookup("port", port, system.ports)
    free = eliminate(system)
    parts = split(free)
    if parts is None or check.norm(parts.Jv):
        raise ValueError(
            "craig_bampton needs a system of velocities and stresses, with kinetic= given, E = diag(M, C), "
            "J = [[0, −Dᵀ], [D, 0]], and forces as inputs of its ports"
        )
    columns = np.concatenate([np.arange(free.B.shape[1])[free.ports[port]] for port in ports])
    interface = _independent(parts.B[:, columns])
    static = _constraint_modes(parts, interface, ports)
    normal = _normal_modes(parts, interface, modes, ports)
    basis, kinetic = split_basis(parts, np.hstack([static, normal]))
    return project(free, basis, kinetic=kinetic)


def _independent(b: Any) -> Any:
    """Linearly independent columns of the port matrix B_i; two ports at the same point have equal columns."""
    dependent = [next(iter(weights)) for weights in null_space_and_redundancy(sparse.csr_array(b).T)[1]]
    return sparse.csc_array(b)[:, np.setdiff1d(np.arange(b.shape[1]), dependent)]


def _constraint_modes(parts: Split, b: Any, ports: Collection[str]) -> Array:
    """Constraint modes Ψ (n, m): static displacements for a unit motion of each port with the others held.

    They solve [[0, Dᵀ, −B], [D, −C, 0], [Bᵀ, 0, 0]] (Ψ, σ, Λ) = (0, 0, 1), with B the port matrix ``b`` (n, m),
    stresses σ and port forces Λ; C⁻¹ is never formed. Raises ValueError, naming the ports, if a rigid motion is
    possible with these held.
    """
    n, m = b.shape
    D = sparse.csr_array(parts.D)
    matrix = sparse.block_array([[None, D.T, -b], [D, -sparse.csr_array(parts.C), None], [b.T, None, None]])
    load = np.zeros((matrix.shape[0], m + 1))
    load[n + D.shape[0] :, :m] = np.eye(m)
    load[:n, m] = np.random.default_rng(0).standard_normal(n)  # excites a rigid motion, which unit motions may not
    solution = solve_regular(matrix, load)
    if solution is None:
        raise ValueError(_loose(ports, "a rigid motion"))
    return solution[:n, :m]


def _loose(ports: Collection[str], what: str) -> str:
    return f"the interface {', '.join(map(repr, ports))} leaves {what} if held: add ports that hold it"


def _normal_modes(parts: Split, b: Any, count: int, ports: Collection[str]) -> Array:
    """Lowest ``count`` velocity shapes (n, count) of free vibrations with the interface ports held, φᵀMφ = 1.

    ``b`` are the independent columns of the ports. Raises ValueError if a motion stays rigid or there are fewer modes.
    """
    n, size = parts.velocities.size, parts.velocities.size + parts.stresses.size
    if not count:
        return np.zeros((n, 0))
    D = sparse.csr_array(parts.D)
    held = LinearPHDAE(
        E=sparse.block_diag([parts.M, parts.C]).tocsr(),
        J=sparse.csr_array(sparse.block_array([[None, -D.T], [D, None]])),
        G=sparse.hstack([sparse.csr_array(b.T), sparse.csr_array((b.shape[1], size - n))]).tocsr(),
        kinetic=np.arange(size) < n,
    )
    normal = spectrum.modes(held, count)
    if normal.rigid:
        raise ValueError(_loose(ports, f"{normal.rigid} rigid motions"))
    if normal.frequencies.size < count:
        raise ValueError(f"modes must be at most {normal.frequencies.size} with the interface held, got {count}")
    return normal.shapes[:n].real
