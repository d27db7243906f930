"""Dirac structure of a circuit from Kirchhoff's laws and its two-ports, and its port-Hamiltonian system.

It is [survey] example 2.1 in the form of sec. 2.5, a derivation independent of the tree of the graph.

Q are charges, φ fluxes, v voltages and i currents of elements, e potentials of nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dirac.composition import compose
from ..dirac.elements import gyrator_structure, kirchhoff, transformer_structure
from ..dirac.structure import DiracStructure
from ..dirac.system import PortHamiltonian
from ..numerics.arrays import Array
from .elements import Element, Resistor, Source, Storage, TwoPort
from .systems import Storing
from .tree import Edge


def to_structure(elements: Mapping[str, Element], edges: tuple[Edge, ...], incidence: Array) -> DiracStructure:
    """Dirac structure of a circuit; see :meth:`flexph.circuits.Circuit.structure`."""
    names = [_port(edge, elements) for edge in edges]
    D = kirchhoff(-incidence, names)  # flows are currents, efforts are voltages
    for name, element in elements.items():
        if isinstance(element, TwoPort):
            one, two, n = f"{name}.1", f"{name}.2", element.ratio
            # at its ports the flow is −i: v₁ = n v₂, i₂ = −n i₁, or v₁ = −r i₂, v₂ = r i₁
            D = compose(D, transformer_structure((two, one), [[n]]) if element.kind == "transformer"
                        else gyrator_structure((one, two), [[-1.0 / n]]))  # fmt: skip
    closed, opened = ([edge.name for edge in edges if edge.role == role] for role in ("closed", "open"))
    D = D.closed(flows=opened, efforts=closed)
    F, E = D.F.copy(), D.E.copy()
    for name, span in D.ports.items():
        of_current, of_voltage = D.F[:, span], D.E[:, span]
        if _has_current_effort(elements[name]):  # (f, e) = (−v, i), for sources with both signs reversed
            F[:, span], E[:, span] = -of_voltage, of_current
        else:  # (f, e) = (−i, v)
            F[:, span] = -of_current
        if elements[name].kind == "voltage source":
            F[:, span], E[:, span] = -F[:, span], -E[:, span]
    return DiracStructure(F, E, D.ports)


def to_port_hamiltonian(elements: Mapping[str, Element], D: DiracStructure) -> PortHamiltonian:
    """Port-Hamiltonian system with the Dirac structure D; see :meth:`flexph.circuits.Circuit.port_hamiltonian`."""
    energies = {name: element.energy for name, element in elements.items() if isinstance(element, Storage)}
    storing = Storing(len(energies), dict(enumerate(energies.values())))
    resistors = {name: element for name, element in elements.items() if isinstance(element, Resistor)}
    return PortHamiltonian(
        structure=D,
        H=storing.energy,
        gradient=storing.costates,
        hessian=storing.slopes,
        sample=storing.sample,
        storage=tuple(energies),
        resistive={name: _relation(element) for name, element in resistors.items()},
    )


def _port(edge: Edge, elements: Mapping[str, Element]) -> str:
    return f"{edge.name}.{edge.pair + 1}" if isinstance(elements[edge.name], TwoPort) else edge.name


def _has_current_effort(element: Element) -> bool:
    """True if the effort of an element is a current: inductors, current-controlled resistors, voltage sources."""
    if isinstance(element, Storage):
        return element.kind == "inductor"
    if isinstance(element, Source):
        return element.kind == "voltage source"
    return isinstance(element, Resistor) and element.control == "current"


def _relation(element: Resistor) -> Any:
    """Resistive relation of a resistor for :class:`PortHamiltonian`; for a linear one its conductance, (1, 1)."""
    return np.array([[1.0 / element.relation.parameters[0]]]) if element.control == "either" else element.relation
