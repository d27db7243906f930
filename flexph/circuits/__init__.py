"""Circuits from a graph: elements between nodes in, port-Hamiltonian descriptor systems out ([survey] example 2.1).

Imports: consistency, dirac, numerics, switching, systems.
"""

from .constraints import Constraint
from .elements import (
    Energy,
    Pulse,
    Resistor,
    Source,
    Storage,
    Switch,
    TwoPort,
    capacitor,
    current_source,
    diode,
    gyrator,
    inductor,
    linear_energy,
    resistor,
    switch,
    terminals,
    transformer,
    voltage_source,
)
from .network import Circuit, circuit

__all__ = [
    "Circuit",
    "Constraint",
    "Energy",
    "Pulse",
    "Resistor",
    "Source",
    "Storage",
    "Switch",
    "TwoPort",
    "capacitor",
    "circuit",
    "current_source",
    "diode",
    "gyrator",
    "inductor",
    "linear_energy",
    "resistor",
    "switch",
    "terminals",
    "transformer",
    "voltage_source",
]
