"""The public names of :mod:`flexph.systems`: each is loaded when it is asked for."""

from .as_nonlinear import from_linear as from_linear
from .as_nonlinear import with_multipliers as with_multipliers
from .derivatives import Derivatives as Derivatives
from .discrete_gradients import Invariants as Invariants
from .linear import LinearPHDAE as LinearPHDAE
from .nonlinear import PHDAE as PHDAE
from .transformation import transform as transform
from .validity import ValidityWarning as ValidityWarning
