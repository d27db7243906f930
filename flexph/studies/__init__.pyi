"""The public names of :mod:`flexph.studies`: each is loaded when it is asked for."""

from .eigenvalues.buckling_factors import BucklingSensitivities as BucklingSensitivities
from .eigenvalues.buckling_factors import buckling_sensitivities as buckling_sensitivities
from .eigenvalues.frequencies import FrequencySensitivities as FrequencySensitivities
from .eigenvalues.frequencies import frequency_sensitivities as frequency_sensitivities
from .eigenvalues.multipliers import MultiplierSensitivities as MultiplierSensitivities
from .eigenvalues.multipliers import multiplier_sensitivities as multiplier_sensitivities
from .eigenvalues.norms import NormSensitivities as NormSensitivities
from .eigenvalues.norms import PeakSensitivities as PeakSensitivities
from .eigenvalues.norms import h2_sensitivities as h2_sensitivities
from .eigenvalues.norms import hinf_sensitivities as hinf_sensitivities
from .eigenvalues.poles import PoleSensitivities as PoleSensitivities
from .eigenvalues.poles import pole_sensitivities as pole_sensitivities
from .fitting import Fit as Fit
from .fitting import fit as fit
from .optimisation import Optimum as Optimum
from .optimisation import optimise as optimise
from .parameter_derivatives import Sensitivities as Sensitivities
from .parameter_derivatives import sensitivities as sensitivities
from .parameter_study import study as study
from .samples import Samples as Samples
from .samples import grid as grid
from .samples import latin_hypercube as latin_hypercube
from .samples import sobol as sobol
from .samples import table as table
