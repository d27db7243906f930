"""Analysis of port-Hamiltonian differential-algebraic systems: index, Casimirs, passivity, stability ([survey] sec. 4).

Imports: consistency, dirac, interconnection, mechanisms, mechanisms.model, mechanisms.poses, numerics,
numerics.factors, switching, systems.
"""

from .casimirs import CasimirReport
from .impasse import ImpassePoint, impasse_points, turning_points
from .index import IndexReport
from .index_one import ReducedLinear, eliminate_index_one
from .kinematic import KinematicSystem, ReducedKinematics, eliminate_kinematics, hidden_constraints
from .passivity import PassivityReport
from .picture import sparsity_figure, sparsity_text
from .report import Analysis, analyze
from .stability import StabilityReport, equilibrium
from .structure import structure_of

__all__ = [
    "Analysis",
    "CasimirReport",
    "ImpassePoint",
    "IndexReport",
    "KinematicSystem",
    "PassivityReport",
    "ReducedKinematics",
    "ReducedLinear",
    "StabilityReport",
    "analyze",
    "eliminate_index_one",
    "eliminate_kinematics",
    "equilibrium",
    "hidden_constraints",
    "impasse_points",
    "sparsity_figure",
    "sparsity_text",
    "structure_of",
    "turning_points",
]
