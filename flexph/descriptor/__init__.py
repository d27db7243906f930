"""Descriptor matrices of constant rank: decompositions, and the form (38) of [dg] (theorems 8 and 11)."""

from ..methods.parametrized import parametrized_system
from ..methods.structure import ParametrizedDescriptor
from .canonical import CanonicalForm, canonical_form
from .decomposition import Decomposition, Echelon, decompose, echelon

__all__ = [
    "CanonicalForm",
    "Decomposition",
    "Echelon",
    "ParametrizedDescriptor",
    "canonical_form",
    "decompose",
    "echelon",
    "parametrized_system",
]
