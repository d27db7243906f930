"""Interconnection of port-Hamiltonian systems: composed structures and added energies ([survey] sec. 6.2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .composition import compose
from .relations.resistance import ModulatedResistance, Resistance
from .relations.storage import side_by_side
from .structure import DiracStructure
from .system import PortHamiltonian


@checked
def interconnect(
    first: PortHamiltonian,
    second: PortHamiltonian,
    *,
    ports: Mapping[str, str] | None = None,
    gyrative: bool = False,
) -> PortHamiltonian:
    """Interconnection of two systems: ``D(x₁, x₂) = D₁(x₁) ∥ D₂(x₂)``, H = H₁ + H₂ ([survey] sec. 6.2).

    External ports are connected by ``u₁ = −u₂, y₁ = y₂``, or gyrative by ``u₁ = y₂, u₂ = −y₁``; names are given as in
    :func:`flexph.dirac.compose`. Elements can be composed with one of the structures before.

    Parameters
    ----------
    first : PortHamiltonian
        System.
    second : PortHamiltonian
        Another system.
    ports : mapping, optional
        External ports of the second system by those of the first; by default ports of equal names.
    gyrative : bool
        True to connect by ``u₁ = y₂, u₂ = −y₁``.

    Returns
    -------
    PortHamiltonian
        Combined system, with the remaining external ports.
    """
    n = first.size
    inner = {*first.storage, *first.resistive} | {*second.storage, *second.resistive}
    for name in inner & ({*(ports or {})} | {*(ports or {}).values()}):
        raise ValueError(f"port {name!r} is not external: it stores energy or resists")
    if ports is None:
        ports = {name: name for name in first.external if name in second.external}

    def whole(x: Array) -> DiracStructure:
        return compose(first.at(x[:n]), second.at(x[n:]), ports=ports, gyrative=gyrative)

    def relation(given: Resistance, own: slice) -> Resistance:
        """Relation whose modulation depends on the energy variables of its subsystem."""
        if not isinstance(given, ModulatedResistance):
            return given
        return ModulatedResistance(lambda x: given.at(x[own]), energy.states(sample))

    energy = side_by_side(first.energy, second.energy, n)
    sample = np.concatenate([first.sample, second.sample])
    usual = first.lagrangian is None and second.lagrangian is None
    stored = {"H": energy.H, "gradient": energy.efforts, "hessian": energy.slopes} if usual else {"lagrangian": energy}
    return PortHamiltonian(
        structure=whole(energy.states(sample)) if first.is_constant and second.is_constant else whole,
        sample=sample,
        storage=(*first.storage, *second.storage),
        resistive={
            **{name: relation(r, slice(0, n)) for name, r in first.resistive.items()},
            **{name: relation(r, slice(n, None)) for name, r in second.resistive.items()},
        },
        **stored,
    )
