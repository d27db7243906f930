"""Descriptor matrices of constant rank: decompositions, and the canonical form (38) of [dg] (theorems 8 and 11).

Imports: discretisation, numerics, systems.
"""

from ..discretisation.descriptor_split import ParametrizedDescriptor
from ..discretisation.parametrized import parametrized_system
from .canonical import CanonicalSystem, canonical_form
from .decomposition import Decomposition, Echelon, decompose, echelon

__all__ = [
    "CanonicalSystem",
    "Decomposition",
    "Echelon",
    "ParametrizedDescriptor",
    "canonical_form",
    "decompose",
    "echelon",
    "parametrized_system",
]
