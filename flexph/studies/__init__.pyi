"""The public names of :mod:`flexph.studies`: each is loaded when it is asked for."""

from .fitting import Fit as Fit
from .fitting import fit as fit
from .optimisation import Optimum as Optimum
from .optimisation import optimise as optimise
from .parameter_derivatives import FrequencySensitivities as FrequencySensitivities
from .parameter_derivatives import Sensitivities as Sensitivities
from .parameter_derivatives import frequency_sensitivities as frequency_sensitivities
from .parameter_derivatives import sensitivities as sensitivities
from .parameter_study import study as study
from .pole_derivatives import NormSensitivities as NormSensitivities
from .pole_derivatives import PoleSensitivities as PoleSensitivities
from .pole_derivatives import h2_sensitivities as h2_sensitivities
from .pole_derivatives import pole_sensitivities as pole_sensitivities
from .samples import Samples as Samples
from .samples import grid as grid
from .samples import latin_hypercube as latin_hypercube
from .samples import sobol as sobol
from .samples import table as table
