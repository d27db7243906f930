"""The public names of :mod:`flexph.studies`: each is loaded when it is asked for."""

from .fitting import Fit as Fit
from .fitting import fit as fit
from .optimisation import Optimum as Optimum
from .optimisation import optimise as optimise
from .parameter_study import study as study
from .samples import Samples as Samples
from .samples import grid as grid
from .samples import latin_hypercube as latin_hypercube
from .samples import sobol as sobol
from .samples import table as table
from .sensitivities import FrequencySensitivities as FrequencySensitivities
from .sensitivities import Sensitivities as Sensitivities
from .sensitivities import frequency_sensitivities as frequency_sensitivities
from .sensitivities import sensitivities as sensitivities
