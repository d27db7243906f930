"""Methods of integration: values that check themselves at creation and carry only their valid options.

Imports: integration.times, kernels.convergence, numerics.
"""

from .exact import Decaying, Exact, Exact4, ExactGauss
from .general import BDF, IDA, DiracDissipative, DiscreteGradient, Gauss, Library, Radau
from .method import Completion, GeneralMethod, MechanismMethod, Method
from .names import NAMES, by_name

__all__ = [
    "BDF",
    "IDA",
    "NAMES",
    "Completion",
    "Decaying",
    "DiracDissipative",
    "DiscreteGradient",
    "Exact",
    "Exact4",
    "ExactGauss",
    "Gauss",
    "GeneralMethod",
    "Library",
    "MechanismMethod",
    "Method",
    "Radau",
    "by_name",
]
