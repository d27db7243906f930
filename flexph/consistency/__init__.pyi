"""The public names of :mod:`flexph.consistency`: each is loaded when it is asked for."""

from .conditions import Inconsistency as Inconsistency
from .start import consistent as consistent
from .start import inconsistency as inconsistency
