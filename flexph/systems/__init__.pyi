"""The public names of :mod:`flexph.systems`: each is loaded when it is asked for."""

from .derivatives import Derivatives as Derivatives
from .discrete_gradients import Invariants as Invariants
from .linear import LinearPHDAE as LinearPHDAE
from .linear import from_linear as from_linear
from .linear import with_multipliers as with_multipliers
from .nonlinear import PHDAE as PHDAE
from .nonlinear import ValidityWarning as ValidityWarning
from .piecewise import PiecewiseConstant as PiecewiseConstant
from .transformation import transform as transform
