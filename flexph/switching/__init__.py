"""Switching port-Hamiltonian systems: one Hamiltonian, and a Dirac structure for each mode ([survey] sec. 5).

Imports: consistency, discretisation, integration.general, integration.methods, integration.times, numerics, results,
systems.
"""

from .system import Mode, SwitchingPHDAE
from .trajectory import ModeChange, SwitchingTrajectory
from .transition import At, Every, Guard, Impasse, Reset, Transition

__all__ = [
    "At",
    "Every",
    "Guard",
    "Impasse",
    "Mode",
    "ModeChange",
    "Reset",
    "SwitchingPHDAE",
    "SwitchingTrajectory",
    "Transition",
]
