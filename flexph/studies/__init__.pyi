"""The public names of :mod:`flexph.studies`: each is loaded when it is asked for."""

from .parameter_study import study as study
from .samples import Samples as Samples
from .samples import grid as grid
from .samples import latin_hypercube as latin_hypercube
from .samples import sobol as sobol
from .samples import table as table
