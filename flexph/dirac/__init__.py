"""Dirac structures: their forms, composition and modulation ([survey] sec. 2, 3, 6, 7).

Imports: dirac.relations, numerics, numerics.factors, systems.
"""

from .composition import compose, product
from .coordinates import CanonicalCoordinates
from .elements import (
    common_effort,
    common_flow,
    feedback_structure,
    gyrator_structure,
    kirchhoff,
    symplectic_gyrator,
    transformer_structure,
)
from .forms import ConstrainedForm, KernelForm
from .holonomic import holonomic_coordinates
from .input_state_output import InputStateOutput, input_state_output
from .interconnection import interconnect
from .modulated import Integrability, ModulatedDirac, closedness, integrability, jacobi_identity
from .regularity import Regularity, regularity
from .relations.characteristic import Characteristic, MultiportCharacteristic
from .relations.lagrangian import LagrangianSubspace
from .relations.resistance import LinearResistance, ModulatedResistance, Resistance
from .relations.storage import LagrangianStorage
from .representations import CanonicalForm
from .structure import DiracStructure
from .system import PortHamiltonian

__all__ = [
    "CanonicalCoordinates",
    "CanonicalForm",
    "Characteristic",
    "ConstrainedForm",
    "DiracStructure",
    "InputStateOutput",
    "Integrability",
    "KernelForm",
    "LagrangianStorage",
    "LagrangianSubspace",
    "LinearResistance",
    "ModulatedDirac",
    "ModulatedResistance",
    "MultiportCharacteristic",
    "PortHamiltonian",
    "Regularity",
    "Resistance",
    "closedness",
    "common_effort",
    "common_flow",
    "compose",
    "feedback_structure",
    "gyrator_structure",
    "holonomic_coordinates",
    "input_state_output",
    "integrability",
    "interconnect",
    "jacobi_identity",
    "kirchhoff",
    "product",
    "regularity",
    "symplectic_gyrator",
    "transformer_structure",
]
