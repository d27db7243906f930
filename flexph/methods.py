"""Methods of :func:`flexph.integrate`: values whose fields are their options."""

from .integration.methods.exact import Decaying, Exact, Exact4, ExactGauss
from .integration.methods.general import BDF, IDA, DiracDissipative, DiscreteGradient, Gauss, Library, Radau
from .integration.methods.method import Completion, GeneralMethod, MechanismMethod, Method
from .integration.methods.names import NAMES, by_name

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
